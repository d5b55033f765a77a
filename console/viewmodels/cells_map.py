"""The map of cells: what each hexagon says and how it looks, at three zooms. Counts in digits, never a pin. Pure.

A plan is geometry only (which cell covers which column of which line); readings are put on it when a line is drawn."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from console.viewmodels.rows import CellRow, CellsRow

At: TypeAlias = tuple[int, int]
NOWHERE: At = (-(10**6), 0)
PITCH = ((4, 1), (6, 2), (8, 3))
"""(columns, lines) from one hexagon to the next in its row and below it, by zoom."""
ZOOMS = len(PITCH)
HEX = ((3, 5), (1, 7), (0, 8), (0, 8), (0, 8), (0, 8), (1, 7), (3, 5))
"""An 8 × 8 pixel hexagon, point upwards: (from, to) by line; rows interlock every 6 lines."""
ROW_PX = 6
MANY = 9


@dataclass(frozen=True, slots=True)
class Run:
    """``n`` columns of one line: the cell of the upper and of the lower half; ``label``: which line of its words."""

    n: int
    top: At
    bottom: At
    label: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Lines of runs. ``left``, ``above``: the lattice place of the first column and line."""

    zoom: int
    left: int
    above: int
    width: int
    lines: tuple[tuple[Run, ...], ...]

    def spot(self, at: At) -> tuple[int, int]:
        """(column, line) at which a cell begins."""
        across, down = PITCH[self.zoom]
        return (at[0] - self.left) * across // 2, (at[1] - self.above) * down

    def under(self, column: int, line: int) -> At | None:
        """The cell drawn there."""
        if not 0 <= line < len(self.lines):
            return None
        for run in self.lines[line]:
            if column < run.n:
                return next((each for each in (run.bottom, run.top) if each != NOWHERE), None)
            column -= run.n
        return None


def within(cell: str, wide: str) -> bool:
    """Whether a cell lies in another of the same or a coarser resolution (both H3, hexadecimal)."""
    if not cell or not wide:
        return False
    resolution = int(wide, 16) >> 52 & 0xF
    return _coarser(int(cell, 16), resolution) == int(wide, 16)


def _coarser(cell: int, resolution: int) -> int:
    """H3 writes the resolution into bits 52 to 55, and 7 for each digit that is not used."""
    return cell & ~(0xF << 52) | resolution << 52 | (1 << 3 * (15 - resolution)) - 1


def framed(cells: CellsRow) -> tuple[int, int, int, int]:
    """(left, top, right, bottom) of the lattice: what holds something, with a margin of one."""
    xs = [each.x for each in cells.cells] or [0]
    ys = [each.y for each in cells.cells] or [0]
    return min(xs) - 2, min(ys) - 1, max(xs) + 2, max(ys) + 1


def fits(frame: tuple[int, int, int, int], zoom: int, width: int, height: int) -> bool:
    """Whether the whole frame is in sight in a pane of this size."""
    left, above, right, below = frame
    across, down = PITCH[zoom]
    return (right - left + 2) * across // 2 <= width and (below - above + 1) * down + (zoom == ZOOMS - 1) <= height


@lru_cache(maxsize=12)
def plan(frame: tuple[int, int, int, int], zoom: int) -> Plan:
    left, above, right, below = frame
    across, down = PITCH[zoom]
    width = (right - left + 2) * across // 2
    height = (below - above + 1) * down + (zoom == ZOOMS - 1)
    places = [(x, y) for y in range(above, below + 1) for x in range(left, right + 1) if (x - y) % 2 == 0]
    if zoom < ZOOMS - 1:
        lines = tuple(_bricks(places, frame, zoom, line, width) for line in range(height))
    else:
        lines = tuple(_halves(places, frame, line, width) for line in range(height))
    return Plan(zoom=zoom, left=left, above=above, width=width, lines=lines)


def _bricks(places: list[At], frame: tuple[int, int, int, int], zoom: int, line: int, width: int) -> tuple[Run, ...]:
    """Rows of boxes, each set off by half a box: a column of gap between two."""
    across, down = PITCH[zoom]
    row, label = divmod(line, down)
    columns: list[At] = [NOWHERE] * width
    for at in places:
        if at[1] - frame[1] == row:
            begins = (at[0] - frame[0]) * across // 2
            columns[begins : begins + across - 1] = [at] * (across - 1)
    return _runs([(each, each, None if each == NOWHERE else label) for each in columns])


def _halves(places: list[At], frame: tuple[int, int, int, int], line: int, width: int) -> tuple[Run, ...]:
    """Hexagons drawn in half blocks; two lines of each are whole and carry its words."""
    top, bottom = _pixels(places, frame, 2 * line, width), _pixels(places, frame, 2 * line + 1, width)
    columns: list[tuple[At, At, int | None]] = []
    for (a, row_a), (b, _) in zip(top, bottom, strict=True):
        columns.append((a, b, row_a // 2 - 1 if a == b != NOWHERE and row_a in (2, 4) else None))
    return _runs(columns)


def _pixels(places: list[At], frame: tuple[int, int, int, int], pixel: int, width: int) -> list[tuple[At, int]]:
    line: list[tuple[At, int]] = [(NOWHERE, 0)] * width
    for at in places:
        inner = pixel - ROW_PX * (at[1] - frame[1])
        if 1 <= inner < len(HEX):
            begins = (at[0] - frame[0]) * 4
            start, end = HEX[inner]
            start, end = (start + 1, end - 1) if inner == 1 else (start, end - (inner in (2, 3, 4, 5)))
            line[begins + start : begins + end] = [(at, inner)] * (end - start)
    return line


def _runs(columns: list[tuple[At, At, int | None]]) -> tuple[Run, ...]:
    runs: list[Run] = []
    for top, bottom, label in columns:
        last = runs[-1] if runs else None
        if last is not None and (last.top, last.bottom, last.label) == (top, bottom, label):
            runs[-1] = Run(last.n + 1, top, bottom, label)
        else:
            runs.append(Run(1, top, bottom, label))
    return tuple(runs)


# --- what a hexagon says -----------------------------------------------------------------------------------------


def words(row: CellRow | None, zoom: int, line: int, room: int) -> str:
    """One line of a hexagon in exactly so many columns: workers, `~` stale ones, jobs looked for, `!` alerts."""
    if row is None:
        return ("·" if line == 0 and zoom < ZOOMS - 1 else "").center(room)
    staff = row.fresh + row.stale
    if zoom == 0:
        mark = "!" if row.alerts else "~" if row.stale else " "
        return f"{_digit(staff)}{mark}{_digit(row.jobs)}".center(room)[:room]
    if line == 0:
        stale = "" if not row.stale else "~" if zoom == 1 else f" {row.stale}~"
        said = f"{staff}w{stale}" if staff else ""
    else:
        alerts = "" if not row.alerts else "!" if zoom == 1 else f" {row.alerts}!"
        said = f"{row.jobs}j{alerts}" if row.jobs else ""
    return (said if len(said) <= room else said[: room - 1] + "…").center(room)


def _digit(n: int) -> str:
    return "·" if not n else str(n) if n <= MANY else "+"


def look(row: CellRow | None) -> str:
    """Which fill it has: alert, stale (nobody fresh), then by how many workers; jobs without a worker are `want`."""
    if row is None:
        return "none"
    if row.alerts:
        return "alert"
    if row.fresh:
        return f"load{min(4, 1 + row.fresh // 2)}"
    return "stale" if row.stale else "want"


def nearest(cells: Mapping[At, CellRow], frame: tuple[int, int, int, int]) -> At:
    """Where the cursor starts: the busiest cell with an alert, else the middle of those that hold something."""
    alerts = [each for each in cells.values() if each.alerts]
    if alerts:
        worst = max(alerts, key=lambda each: (each.alerts, -each.y, -each.x))
        return worst.x, worst.y
    middle = (frame[0] + frame[2]) / 2, (frame[1] + frame[3]) / 2
    return min(cells, key=lambda at: ((at[0] - middle[0]) ** 2 + (at[1] - middle[1]) ** 2, at), default=(0, 0))


def compass(cells: CellsRow) -> str:
    """Where north is on this lattice; it says so where there is no map."""
    if not cells.unfolded:
        return "a list, no map"
    return f"N ↑ {cells.turn_deg:+}°" if cells.turn_deg else "N ↑"


def told_short(row: CellRow | None) -> str:
    """The same where there is little room: `3w 1~ 2j 1!`."""
    if row is None:
        return "empty"
    parts = ((row.fresh + row.stale, "w"), (row.stale, "~"), (row.jobs, "j"), (row.alerts, "!"))
    return " ".join(f"{n}{word}" for n, word in parts if n or word in "wj")


def told(row: CellRow | None) -> str:
    """The cell under the cursor in words."""
    if row is None:
        return "empty"
    staff = row.fresh + row.stale
    parts = [f"{staff} worker{'' if staff == 1 else 's'}" + (f" ({row.stale} stale)" if row.stale else "")]
    parts.append(f"{row.jobs} open job{'' if row.jobs == 1 else 's'}")
    if row.alerts:
        parts.append(f"{row.alerts} unassigned!")
    return " · ".join(parts)
