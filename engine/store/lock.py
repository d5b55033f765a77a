"""The writer lock: one writer of the process, then one among the processes, before SQLite is asked.

SQLite's own busy handler is unfair (waits of seconds under load); this lock is not. The lock file lies beside the
database and is never the database: opening and closing that would drop SQLite's own locks.
"""

import fcntl
import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from engine.ports import Busy, ReadOnly

WAIT_S = 5.0


class WriterLock:
    """Held for one transaction. A lock not had in WAIT_S raises Busy."""

    def __init__(self, database: Path) -> None:
        self._file = database.with_name(database.name + ".lock")
        self._turn = threading.Lock()
        self._fd: int | None = None

    @contextmanager
    def held(self) -> Generator[None]:
        deadline = time.monotonic() + WAIT_S
        if not self._turn.acquire(timeout=WAIT_S):
            raise Busy("another act of this program has held the database for 5 s; try again")
        try:
            self._lock_file(deadline)
            try:
                yield
            finally:
                fcntl.flock(self._open(), fcntl.LOCK_UN)
        finally:
            self._turn.release()

    def _open(self) -> int:
        if self._fd is None:
            try:
                self._fd = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError as error:
                raise ReadOnly(
                    f"{self._file.name} cannot be written ({error.strerror}): nothing was changed"
                ) from error
        return self._fd

    def _lock_file(self, deadline: float) -> None:
        pause_s = 0.0001
        while True:
            try:
                fcntl.flock(self._open(), fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise Busy("another program has held the database for 5 s; try again") from None
                time.sleep(pause_s)
                pause_s = min(pause_s * 1.5, 0.002)

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
