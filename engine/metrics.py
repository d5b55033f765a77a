"""Counters and recent durations of this process, for `figures` and /metrics. Thread-safe, bounded."""

import threading
from collections import Counter, deque
from dataclasses import dataclass, field


@dataclass(slots=True)
class Metrics:
    """``counts`` since start by name; the last ``kept`` durations (µs) by name."""

    kept: int = 2_000
    _counts: Counter[str] = field(default_factory=Counter[str])
    _durations: dict[str, deque[int]] = field(default_factory=dict[str, deque[int]])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, name: str, n: int = 1) -> None:
        with self._lock:
            self._counts[name] += n

    def took(self, name: str, duration_us: int) -> None:
        with self._lock:
            self._durations.setdefault(name, deque(maxlen=self.kept)).append(duration_us)

    def counts(self) -> dict[str, int]:
        with self._lock:
            return dict(self._counts)

    def taken(self, name: str) -> int:
        """How many recent durations are kept of it."""
        with self._lock:
            return len(self._durations.get(name, ()))

    def quantile_us(self, name: str, share: float) -> int | None:
        """The duration that ``share`` of the recent ones do not pass; None before the first."""
        with self._lock:
            taken = sorted(self._durations.get(name, ()))
        return taken[min(len(taken) - 1, int(len(taken) * share))] if taken else None
