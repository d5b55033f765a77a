"""Short lives of real processes: the nursery has everything imported and nothing open, and each life is a fork of it.

A life is a function of another module here; it works on a file, may be killed at any moment, and what it returned
(JSON) can be asked for when it ended by itself.
"""

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True, slots=True)
class Ended:
    """``code``: 0, or minus the signal. ``told``: what the life returned; None where it was killed."""

    code: int
    told: object


class Nursery:
    """Starts lives (``module:function``), kills them by their number, and buries them."""

    def __init__(self, *modules: str, environment: Mapping[str, str] | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory()
        command = [sys.executable, "-m", "tests.adversity.nursery", self._folder.name, *modules]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **(environment or {})},
        )  # fmt: skip
        self._living: set[int] = set()

    def _ask(self, *words: object) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def start(self, life: str, *arguments: object) -> int:
        """Answers the process's number; it stays that one's own until ``wait`` (the dead are not buried before)."""
        pid = self._ask("start", life, *arguments)
        self._living.add(pid)
        return pid

    def wait(self, pid: int) -> Ended:
        """Until the life has ended."""
        code = self._ask("wait", pid)
        self._living.discard(pid)
        told = Path(self._folder.name, f"{pid}.json")
        return Ended(code, json.loads(told.read_text()) if told.exists() else None)

    def kill(self, pid: int) -> Ended:
        os.kill(pid, signal.SIGKILL)
        return self.wait(pid)

    def run(self, life: str, *arguments: object) -> Ended:
        return self.wait(self.start(life, *arguments))

    def tell(self, life: str, *arguments: object) -> object:
        """Run a life that has to end well; answers what it returned."""
        ended = self.run(life, *arguments)
        assert ended.code == 0, ended
        return ended.told

    def close(self) -> None:
        for pid in list(self._living):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            self.wait(pid)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()
        self._folder.cleanup()


# --- in the nursery --------------------------------------------------------------------------------------------------


def _live(folder: str, life: str, arguments: list[object]) -> None:
    """In the child. Its stdout is the nursery's answer channel and not its to write to."""
    code = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        module, name = life.split(":")
        told = getattr(importlib.import_module(module), name)(*arguments)
        part = Path(folder, f"{os.getpid()}.part")
        part.write_text(json.dumps(told))
        part.rename(part.with_suffix(".json"))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _serve(folder: str) -> None:
    for line in sys.stdin:
        word, first, *rest = json.loads(line)
        if word == "wait":
            answer = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
        else:
            answer = os.fork()
            if answer == 0:
                _live(folder, first, rest)
        print(answer, flush=True)


if __name__ == "__main__":
    for name in sys.argv[2:]:
        importlib.import_module(name)
    _serve(sys.argv[1])
