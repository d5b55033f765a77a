"""Many times at once, for a planner: the matrix cut into blocks that a router accepts, and each block read (B089)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.road.answers import Json, complaint, lists, number, objects, parse, read_duration
from engine.rules.nouns import Leg, NoAnswer, Point, RoadAnswer

COORDINATES_MAX = 100  # osrm-routed's own default; at 22 letters each the URL stays far below 8 kB


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A rectangle of the matrix: rows are origins, columns destinations, half-open."""

    rows: range
    columns: range

    def halves(self) -> tuple["Block", ...]:
        """Cut across its longer side; nothing for a single cell."""
        if len(self.rows) == len(self.columns) == 1:
            return ()
        if len(self.rows) >= len(self.columns):
            middle = len(self.rows) // 2
            return tuple(Block(rows=part, columns=self.columns) for part in (self.rows[:middle], self.rows[middle:]))
        middle = len(self.columns) // 2
        return tuple(Block(rows=self.rows, columns=part) for part in (self.columns[:middle], self.columns[middle:]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One block read: its cells, or why there are none. ``smaller``: the same may do when asked in smaller pieces."""

    cells: tuple[tuple[RoadAnswer, ...], ...] = ()
    reason: str = ""
    faulty: bool = False
    smaller: bool = False


def blocks(rows: int, columns: int, *, coordinates_max: int = COORDINATES_MAX) -> Iterator[Block]:
    """The whole matrix, at most ``coordinates_max`` places a block: a short side leaves the long one more room."""
    half = coordinates_max // 2
    high = min(rows, max(half, coordinates_max - columns))
    wide = min(columns, coordinates_max - high)
    for row in range(0, rows, high or 1):
        for column in range(0, columns, wide or 1):
            yield Block(rows=range(row, min(row + high, rows)), columns=range(column, min(column + wide, columns)))


def read_table(
    status: int, body: bytes, origins: Sequence[Point], destinations: Sequence[Point], *, snap_max_m: float
) -> Page:
    """One `/table` reply. A null is unreachable; each place is judged by its own snap."""
    said = parse(body)
    code = said.get("code") if said else None
    if status == 414 or code in ("TooBig", "NoSegment"):  # one place without a road spoils the whole block
        return Page(reason=complaint(said) if said else "http_414", smaller=True)
    if status not in (200, 400):
        return Page(reason=f"http_{status}", faulty=True)
    if said is None or not isinstance(code, str):
        return Page(reason="not_json" if said is None else "not_osrm", faulty=True)
    if code != "Ok":
        return Page(reason=complaint(said))
    return _cells(said, origins, destinations, snap_max_m)


def _cells(said: Json, origins: Sequence[Point], destinations: Sequence[Point], snap_max_m: float) -> Page:
    durations = _matrix(said.get("durations"), len(origins), len(destinations))
    starts, ends = _snaps(said.get("sources")), _snaps(said.get("destinations"))
    if durations is None or len(starts) != len(origins) or len(ends) != len(destinations):
        return Page(reason="not_osrm", faulty=True)
    return Page(
        cells=tuple(
            tuple(
                read_duration(seconds, Leg(origin=a, destination=b), (start, end), snap_max_m)
                for seconds, b, end in zip(line, destinations, ends, strict=True)
            )
            for line, a, start in zip(durations, origins, starts, strict=True)
        )
    )


def _matrix(value: object, rows: int, columns: int) -> list[list[object]] | None:
    lines = [each for each in lists(value) if len(each) == columns]
    return lines if len(lines) == rows else None


def _snaps(value: object) -> list[float]:
    return [number(each.get("distance")) for each in objects(value)]


def unanswered(reason: str, block: Block) -> tuple[tuple[RoadAnswer, ...], ...]:
    return ((NoAnswer(reason=reason),) * len(block.columns),) * len(block.rows)
