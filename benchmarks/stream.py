"""The engine as it runs: fixes come from another process and are taken by a thread of their own; the rounds ring."""

import struct
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

from benchmarks.city import wall_ms
from benchmarks.figures import Figure, Progress, at_least, plain, quantile
from engine.ports import Engine
from engine.rounds import Rounds
from engine.verbs import ingest
from engine.verbs.fix_lines import read_lines

ROOT = Path(__file__).resolve().parent.parent
PEAK = 20_000
WARM_S = 2.0


class Stream:
    """What arrived while it ran: fixes kept, and how old each batch was when it was in the index."""

    def __init__(self, engine: Engine, rounds: Rounds, pipe: IO[bytes]) -> None:
        self._engine, self._pipe, self._archive = engine, pipe, rounds.desk.archive
        self._kept, self._sent = 0, 0
        self._lags_ms: list[float] = []
        self._since = time.monotonic()

    def drink(self) -> None:
        """Until the pipe ends. Runs in its own thread."""
        while head := self._pipe.read(4):
            size: int = struct.unpack("!I", head)[0]
            raw = self._pipe.read(size)
            if len(raw) < size:
                return  # the sender was ended in the middle of a batch
            batch = read_lines(raw)
            done = ingest.report(self._engine, batch, received_ms=wall_ms(), archive=self._archive)
            self._kept += done.kept
            self._sent += len(batch)
            self._lags_ms.append(wall_ms() - batch[-1].device_ms)

    def begin(self) -> None:
        """Count from now on: what came before was the start."""
        self._kept = self._sent = 0
        self._lags_ms = []
        self._since = time.monotonic()

    def figures(self, title: str, rate: int) -> list[Figure]:
        """``rate``: what was sent; at least 98 % of it must have been taken, or the rest was not measured under it."""
        took_s = time.monotonic() - self._since
        lags = self._lags_ms or [float("nan")]
        return [
            at_least(f"{title}: fixes taken meanwhile", self._sent / took_s, "/s", 0.98 * rate),
            plain(f"{title}: fixes kept of those", 100 * self._kept / max(1, self._sent), "%"),
            plain(f"{title}: from the phone into the index, p99", quantile(lags, 0.99), "ms"),
        ]


@contextmanager
def busy(engine: Engine, count: int, rate: int, progress: Progress) -> Generator[Stream]:
    """A running engine under a stream of fixes. The sender is ended by its pid."""
    rounds = Rounds(engine, said=progress)
    command = [sys.executable, "-m", "benchmarks.sender", str(count), str(rate)]
    sender = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    stream = Stream(engine, rounds, cast(IO[bytes], sender.stdout))
    reader = threading.Thread(target=stream.drink, name="fixes", daemon=True)
    try:
        rounds.start()
        reader.start()
        time.sleep(WARM_S)
        stream.begin()
        yield stream
    finally:
        sender.terminate()
        sender.wait()
        reader.join()
        with suppress(OSError):
            cast(IO[bytes], sender.stdout).close()
        rounds.stop()
