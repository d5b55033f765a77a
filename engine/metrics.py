"""Counters and recent durations of this process, for `figures` and /metrics. Thread-safe, bounded."""

import threading
from collections import Counter, deque
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

SLOT_MS, SLOTS = 5_000, 12


@dataclass(slots=True)
class Metrics:
    """``counts`` since start by name; the last ``kept`` durations (µs) by name; flows of the last minute by name."""

    kept: int = 2_000
    _counts: Counter[str] = field(default_factory=Counter[str])
    _durations: dict[str, deque[int]] = field(default_factory=dict[str, deque[int]])
    _flows: dict[str, Counter[int]] = field(default_factory=dict[str, Counter[int]])
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

    @contextmanager
    def answering(self, name: str, refusals: tuple[type[Exception], ...]) -> Generator[None]:
        """Count an act as asked, and as failed where it ended in anything but an answer: ``refusals`` are answers."""
        self.count(f"{name} asked")
        try:
            yield
        except refusals:
            raise
        except Exception:
            self.count(f"{name} failed")
            raise

    def flowed(self, name: str, n: int, at_ms: int) -> None:
        """So many came at this moment of a clock that does not jump."""
        with self._lock:
            slots = self._flows.setdefault(name, Counter[int]())
            slots[at_ms // SLOT_MS] += n
            if len(slots) > SLOTS:
                for old in sorted(slots)[:-SLOTS]:
                    del slots[old]

    def last_minute(self, name: str, now_ms: int) -> int:
        """How many came in the last 60 s, to 5 s."""
        since = now_ms // SLOT_MS - SLOTS
        with self._lock:
            slots = self._flows.get(name, Counter[int]())
            return sum(n for slot, n in slots.items() if slot > since)
