"""What the road said last, by pair of cells: a cache for two minutes, a memory through an outage."""

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.rules.nouns import Driven, Leg, Unreachable
from engine.rules.place import cell

RESOLUTION = 10  # at 8 both banks of a river share one cell

Pair = tuple[int, int]
Row = tuple[int, int, int | None]


def pair_of(leg: Leg) -> Pair:
    """(origin cell, destination cell): directional, as one-way streets are."""
    return cell(leg.origin, RESOLUTION), cell(leg.destination, RESOLUTION)


@dataclass(slots=True, kw_only=True, eq=False)
class Memo:
    """At most ``pairs_max`` pairs, the longest unused forgotten first. Safe from any thread."""

    pairs_max: int
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _known: OrderedDict[Pair, tuple[int | None, int]] = field(default_factory=OrderedDict[Pair, tuple[int | None, int]])

    def keep(self, pair: Pair, answer: Driven | Unreachable, bucket: int) -> None:
        """Remember an answer of the time ``bucket``. Within one cell, and a time of zero, say nothing of the pair."""
        if pair[0] == pair[1] or answer == Driven(duration_s=0):
            return
        seconds = answer.duration_s if isinstance(answer, Driven) else None
        with self._lock:
            self._put(pair, seconds, bucket)

    def fresh(self, pair: Pair, bucket: int) -> Driven | Unreachable | None:
        """The answer of this very ``bucket``, as good as asking again."""
        with self._lock:
            known = self._known.get(pair)
            if known is None or known[1] != bucket:
                return None
            self._known.move_to_end(pair)
        return Unreachable() if known[0] is None else Driven(duration_s=known[0])

    def remembered(self, pair: Pair) -> int | Unreachable | None:
        """Seconds or Unreachable, however old; None where nothing is known."""
        with self._lock:
            known = self._known.get(pair)
            if known is None:
                return None
            self._known.move_to_end(pair)
        return Unreachable() if known[0] is None else known[0]

    def snapshot(self) -> tuple[Row, ...]:
        """(origin cell, destination cell, seconds or None = unreachable), longest unused first."""
        with self._lock:
            return tuple((*pair, seconds) for pair, (seconds, _) in self._known.items())

    def load(self, rows: Iterable[Row]) -> None:
        """Take a snapshot back: remembered, never fresh. What was learned since stays."""
        with self._lock:
            learned = list(self._known.items())
            for origin, destination, seconds in rows:
                self._put((origin, destination), seconds, -1)
            for pair, (seconds, bucket) in learned:
                self._put(pair, seconds, bucket)

    def __len__(self) -> int:
        return len(self._known)

    def _put(self, pair: Pair, seconds: int | None, bucket: int) -> None:
        self._known[pair] = (seconds, bucket)
        self._known.move_to_end(pair)
        while len(self._known) > self.pairs_max:
            self._known.popitem(last=False)
