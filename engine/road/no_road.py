"""A site without a router."""

from collections.abc import Iterable, Sequence

from engine.ports import RoadState
from engine.road.memo import Memo, Row, pair_of
from engine.road.urls import on_earth
from engine.rules.nouns import Leg, NoAnswer, Point, RoadAnswer, Unreachable


class NoRoad:
    """Never an answer, but what was once learned is still remembered."""

    def __init__(self, *, memory_pairs_max: int = 200_000) -> None:
        self._memo = Memo(pairs_max=memory_pairs_max)

    def times(self, legs: Sequence[Leg], *, budget_ms: int | None = None) -> Sequence[RoadAnswer]:
        return (NoAnswer(reason="no_router"),) * len(legs)

    def table(
        self, origins: Sequence[Point], destinations: Sequence[Point], *, budget_ms: int
    ) -> Sequence[Sequence[RoadAnswer]]:
        return ((NoAnswer(reason="no_router"),) * len(destinations),) * len(origins)

    def remembered(self, leg: Leg) -> int | Unreachable | None:
        known = on_earth(leg.origin) and on_earth(leg.destination)
        return self._memo.remembered(pair_of(leg)) if known else None

    def state(self) -> RoadState:
        return RoadState(breaker="none", calls=0, timeouts=0, failures=0, last_error="")

    def self_test(self, around: Point | None = None) -> list[tuple[str, bool, str]]:
        return [("router", True, "none configured: ETAs are stand-ins of low confidence")]

    def snapshot(self) -> tuple[Row, ...]:
        return self._memo.snapshot()

    def load(self, rows: Iterable[Row]) -> None:
        self._memo.load(rows)

    def close(self) -> None:
        """Nothing to end."""
