"""The circuit breaker: closed until the router fails too often, then open, then one probe decides."""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum


class BreakerState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Permit:
    """Leave to make one call. ``era`` tells an answer from before an opening from one after it."""

    era: int
    probe: bool


@dataclass(slots=True, kw_only=True, eq=False)
class Breaker:
    """Opens on ``failures`` failures within ``window_s`` seconds that are also ``share`` of the calls or more.

    The share keeps a busy desk from opening on the rare slow call. Each failed probe doubles the open time up to
    ``open_max_s``: that is the back-off. ``clock`` gives seconds and never steps back. Safe from any thread.
    """

    failures: int
    window_s: float
    open_s: float
    clock: Callable[[], float]
    share: float = 0.5
    open_max_s: float = 60.0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _recent: deque[tuple[float, bool]] = field(default_factory=deque[tuple[float, bool]])
    _failed: int = 0
    _era: int = 0
    _state: BreakerState = BreakerState.CLOSED
    _retry_at: float = 0.0
    _wait_s: float = 0.0

    def ask(self) -> Permit | None:
        """Leave to call, or None: do not even try."""
        with self._lock:
            if self._state is BreakerState.CLOSED:
                return Permit(era=self._era, probe=False)
            if self.clock() < self._retry_at:
                return None
            self._state = BreakerState.HALF_OPEN
            # A probe that is never reported must not close the door for good: after this another one may go.
            self._retry_at = self.clock() + self.open_s
            self._era += 1
            return Permit(era=self._era, probe=True)

    def report(self, permit: Permit, *, ok: bool) -> None:
        """How the permitted call went. Calls that set out before the last opening no longer count."""
        with self._lock:
            if permit.era != self._era:
                return
            if permit.probe:
                self._close() if ok else self._open(min(self._wait_s * 2, self.open_max_s))
            elif self._state is BreakerState.CLOSED:
                self._count(ok)

    def state(self) -> BreakerState:
        with self._lock:
            if self._state is BreakerState.OPEN and self.clock() >= self._retry_at:
                return BreakerState.HALF_OPEN
            return self._state

    def _count(self, ok: bool) -> None:
        now = self.clock()
        self._recent.append((now, ok))
        self._failed += not ok
        while self._recent[0][0] <= now - self.window_s:
            self._failed -= not self._recent.popleft()[1]
        if not ok and self._failed >= self.failures and self._failed >= self.share * len(self._recent):
            self._open(self.open_s)

    def _open(self, wait_s: float) -> None:
        self._state = BreakerState.OPEN
        self._era += 1
        self._wait_s = wait_s
        self._retry_at = self.clock() + wait_s
        self._recent.clear()
        self._failed = 0

    def _close(self) -> None:
        self._state = BreakerState.CLOSED
        self._era += 1
