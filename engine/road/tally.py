"""Counts of road calls over the last minutes (five, where the site says nothing else), in steps of ten seconds."""

import threading
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

SPAN_S = 300
STEP_S = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """``timeouts`` are among the ``failures``, failures among the ``calls``; ``shed`` were never sent."""

    calls: int = 0
    timeouts: int = 0
    failures: int = 0
    shed: int = 0


@dataclass(slots=True, kw_only=True, eq=False)
class Tally:
    clock: Callable[[], float]
    span_s: int = SPAN_S
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _steps: deque[tuple[int, Counter[str]]] = field(default_factory=deque[tuple[int, Counter[str]]])

    def add(self, *names: str) -> None:
        """Count one of each of ``names``: fields of Counts."""
        with self._lock:
            step = int(self.clock() // STEP_S)
            if not self._steps or self._steps[-1][0] != step:
                self._steps.append((step, Counter()))
            self._steps[-1][1].update(names)
            self._forget(step)

    def counts(self) -> Counts:
        with self._lock:
            self._forget(int(self.clock() // STEP_S))
            total: Counter[str] = Counter()
            for _, each in self._steps:
                total.update(each)
        return Counts(calls=total["calls"], timeouts=total["timeouts"], failures=total["failures"], shed=total["shed"])

    def _forget(self, step: int) -> None:
        while self._steps and self._steps[0][0] <= step - self.span_s // STEP_S:
            self._steps.popleft()


@dataclass(slots=True, kw_only=True, eq=False)
class Pace:
    """At most ``per_s_max`` calls in each second of the clock: a town's router is not ours to drown."""

    per_s_max: int
    clock: Callable[[], float]
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _second: int = -1
    _used: int = 0

    def take(self) -> bool:
        with self._lock:
            second = int(self.clock())
            if second != self._second:
                self._second, self._used = second, 0
            self._used += 1
            return self._used <= self.per_s_max
