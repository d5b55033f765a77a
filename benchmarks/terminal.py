"""A command on a terminal of its own that somebody reads."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIZE = (200, 50)
PAGE = 4096


@contextmanager
def on_a_terminal(command: list[str], env: Mapping[str, str]) -> Generator[tuple[subprocess.Popen[bytes], int]]:
    """The process and the terminal's other end. It is ended by its pid where it has not ended by itself."""
    other, ours = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))
    told = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "CALLBOARD_NO_VENV": "1", **env}
    desk = subprocess.Popen([sys.executable, *command], cwd=ROOT, env=told, stdin=ours, stdout=ours, stderr=ours,
                            start_new_session=True)  # fmt: skip
    try:
        yield desk, other
    finally:
        desk.terminate()
        drained = threading.Thread(target=drain, args=(other,), daemon=True)
        drained.start()
        desk.wait(10)
        os.close(ours)
        drained.join(1)
        os.close(other)


def drain(terminal: int) -> None:
    try:
        while os.read(terminal, 65_536):
            pass
    except OSError:
        return


def rss_mb(pid: int) -> float:
    """What the process holds in memory now."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE / 1e6
