"""The list of workers: shift, presence and load in columns, and the bookings of each on one time axis. Pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from console.viewmodels.cells import ALERT, BOLD, DIM, HEAD, OK, PLAIN, WARN, Column, Line, columns_for, fit
from console.viewmodels.times import HOUR_MS, countdown, day_hm, hm, span
from console.words import inert
from engine.rules.days import local

AXIS_MIN, AXIS_MAX_MS = 12, 24 * HOUR_MS
EVERY_H, HOUR_ROOM = (1, 2, 3, 4, 6, 12), 4
FREE, PARTLY, FULL, NOW = "·", "▄", "█", "│"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One booking. ``started``: the worker is there."""

    job_id: str
    starts_ms: int
    ends_ms: int
    arrival_ms: int
    started: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRow:
    """``presence``: fresh, stale or silent; the ages are None where nothing was heard. Ages as of the read.

    ``offer_from_ms``, ``offer_until_ms``: outside of them the offer has lapsed, though nobody may have swept yet."""

    id: str
    name: str
    skills: str
    region: str
    moving_to: str
    capacity: int
    area: str
    starts_ms: int | None
    ends_ms: int | None
    on_shift: bool
    absent: bool
    presence: str
    cell: str
    seen_ms: int | None
    heard_ms: int | None
    jobs_today: int
    offer_id: str
    offer_job: str
    offer_from_ms: int
    offer_until_ms: int
    slots: tuple[Slot, ...]


COLUMNS = (
    Column(name="S", width=1),
    Column(name="WORKER", width=16, grow=1),
    Column(name="ID", width=6, from_width=100),
    Column(name="SHIFT", width=11, from_width=60),
    Column(name="TODAY", width=5, right=True),
    Column(name="CAP", width=3, from_width=72, right=True),
    Column(name="SEEN", width=5, right=True),
    Column(name="HEARD", width=5, from_width=50, right=True),
    Column(name="OFFER", width=11, from_width=90),
    Column(name="CELL", width=15, from_width=132),
    Column(name="SKILLS", width=12, from_width=170),
    Column(name="BOOKED", width=AXIS_MIN, from_width=66, grow=2),
)
ORDERS: dict[str, Callable[[WorkerRow], tuple[int | str, ...]]] = {
    "shift": lambda row: (not row.on_shift, row.absent, row.name.casefold(), row.id),
    "today": lambda row: (-row.jobs_today, row.name.casefold(), row.id),
    "seen": lambda row: (not row.on_shift, -(row.seen_ms if row.seen_ms is not None else 2**60), row.id),
    "name": lambda row: (row.name.casefold(), row.id),
}


@lru_cache(maxsize=64)
def shown_columns(width: int) -> tuple[Column, ...]:
    return columns_for(COLUMNS, width)


def arrange(rows: Mapping[str, WorkerRow], text: str, order: str) -> list[str]:
    words = text.casefold().split()
    kept = [each for each in rows.values() if _keeps(each, words)] if words else list(rows.values())
    return [each.id for each in sorted(kept, key=ORDERS[order])]


def _keeps(row: WorkerRow, words: list[str]) -> bool:
    booked = " ".join(each.job_id for each in row.slots)
    parts = (row.id, row.name, row.skills, row.region, row.area, row.cell, row.offer_job, booked, state(row)[1])
    hay = "\n".join(parts).casefold()
    return all(word in hay for word in words)


@dataclass(frozen=True, slots=True)
class Axis:
    """The time that the bookings of all rows are drawn on."""

    from_ms: int
    to_ms: int

    def column(self, at_ms: int, width: int) -> int:
        return (at_ms - self.from_ms) * width // max(1, self.to_ms - self.from_ms)


def axis(rows: Iterable[WorkerRow], now_ms: int) -> Axis:
    """From the first present shift's start to the last one's end, a day at most, on whole hours."""
    spans = [(each.starts_ms, each.ends_ms) for each in rows if each.on_shift]
    known = [(begins, ends) for begins, ends in spans if begins is not None and ends is not None]
    begins = max(min((each for each, _ in known), default=now_ms), now_ms - AXIS_MAX_MS // 3)
    ends = min(max((each for _, each in known), default=now_ms + 8 * HOUR_MS), begins + AXIS_MAX_MS)
    return Axis(begins // HOUR_MS * HOUR_MS, -(-max(ends, now_ms + HOUR_MS) // HOUR_MS) * HOUR_MS)


def header(width: int, on: Axis, zone: str) -> Line:
    return tuple(
        (
            (hours(on, each.width, zone) if each.name == "BOOKED" else fit(each.name, each.width, right=each.right))
            + " ",
            HEAD,
        )
        for each in shown_columns(width)
    )


def hours(on: Axis, width: int, zone: str) -> str:
    """Hours of the site's clock above the axis, evenly: each, or every second, third, … as there is room."""
    letters = [" "] * width
    cells = width * HOUR_MS / max(1, on.to_ms - on.from_ms)
    every = next((each for each in EVERY_H if each * cells >= HOUR_ROOM), EVERY_H[-1])
    for at_ms in range(on.from_ms, on.to_ms, HOUR_MS):
        column, hour = on.column(at_ms, width), local(at_ms, zone).hour
        if hour % every == 0 and column + 2 <= width:
            letters[column : column + 2] = f"{hour:02d}"
    return "".join(letters)


def booked(row: WorkerRow, on: Axis, now_ms: int, width: int) -> str:
    """One cell a slice of time: blank off shift, · free, ▄ some room left, █ full, │ now."""
    letters: list[str] = []
    now = on.column(now_ms, width)
    for at in range(width):
        starts_ms = on.from_ms + (on.to_ms - on.from_ms) * at // width
        ends_ms = on.from_ms + (on.to_ms - on.from_ms) * (at + 1) // width
        held = sum(each.starts_ms < ends_ms and starts_ms < each.ends_ms for each in row.slots)
        works = row.starts_ms is not None and row.ends_ms is not None and row.starts_ms < ends_ms <= row.ends_ms
        letters.append(
            FULL if held >= row.capacity and held else PARTLY if held else NOW if at == now else FREE if works else " "
        )
    return "".join(letters)


def state(row: WorkerRow) -> tuple[str, str, str]:
    """(sign, word, look)"""
    if row.absent:
        return "a", "absent", DIM
    if not row.on_shift:
        return "-", "off shift", DIM
    return {"fresh": ("●", "fresh", OK), "stale": ("~", "stale", WARN)}.get(row.presence, ("×", "silent", ALERT))


def line(row: WorkerRow, width: int, on: Axis, now_ms: int, zone: str) -> Line:
    sign, _, look = state(row)
    calm = PLAIN if row.on_shift and not row.absent else DIM
    shift = (
        "none" if row.starts_ms is None or row.ends_ms is None else f"{hm(row.starts_ms, zone)}–{hm(row.ends_ms, zone)}"
    )
    said = {
        "S": (sign, look),
        "WORKER": (row.name, calm),
        "ID": (row.id, DIM),
        "SHIFT": (shift, calm),
        "TODAY": (str(row.jobs_today), BOLD if row.jobs_today else calm),
        "CAP": (str(row.capacity), calm),
        "SEEN": (age(row.seen_ms), look if row.on_shift else DIM),
        "HEARD": (age(row.heard_ms), calm),
        "OFFER": _offer(row, now_ms),
        "CELL": (row.cell or "-", DIM),
        "SKILLS": (row.skills, DIM),
    }
    pieces: list[tuple[str, str]] = []
    for column in shown_columns(width):
        if column.name == "BOOKED":
            pieces.append((booked(row, on, now_ms, column.width) + " ", "bar" if row.slots else DIM))
        else:
            text, named = said[column.name]
            pieces.append((fit(text, column.width, right=column.right) + " ", named))
    return tuple(pieces)


def _offer(row: WorkerRow, now_ms: int) -> tuple[str, str]:
    if not row.offer_id:
        return "-", DIM
    if has_lapsed(row, now_ms):
        return f"LAPSED {row.offer_job}", ALERT
    return f"{countdown(row.offer_until_ms - now_ms)} {row.offer_job}", PLAIN


def has_lapsed(row: WorkerRow, now_ms: int) -> bool:
    return not row.offer_from_ms <= now_ms < row.offer_until_ms


def age(ms: int | None) -> str:
    return "-" if ms is None else span(ms)


def told(row: WorkerRow, now_ms: int, zone: str) -> list[Line]:
    """One worker in full."""
    sign, word, look = state(row)
    moving = f" · moving to {row.moving_to}" if row.moving_to else ""
    shift = (
        "no shift ahead"
        if row.starts_ms is None or row.ends_ms is None
        else (f"shift {day_hm(row.starts_ms, now_ms, zone)}–{day_hm(row.ends_ms, now_ms, zone)}")
    )
    lines: list[Line] = [
        ((inert(f"{row.name} {row.id}"), BOLD), (f"  {sign} {word}", look), (f"  {shift}", PLAIN)),
        ((inert(f"skills {row.skills or 'none'} · region {row.region}{moving} · area {row.area or 'any'}"), PLAIN),),
        (
            (
                f"cell {row.cell or 'unknown'} · position {age(row.seen_ms)} old · contact {age(row.heard_ms)} ago · ",
                PLAIN,
            ),
            (f"{row.jobs_today} job{'' if row.jobs_today == 1 else 's'} today · capacity {row.capacity}", PLAIN),
        ),
    ]
    if row.offer_id:
        left = f"{countdown(row.offer_until_ms - now_ms)} left"
        over = has_lapsed(row, now_ms)
        told = "LAPSED, waits for the sweep" if over else left
        lines.append(((inert(f"offered {row.offer_job} ({row.offer_id}), {told}"), ALERT if over else WARN),))
    lines += [
        (
            (inert(f"{'in progress' if each.started else 'booked'} {each.job_id}"), PLAIN),
            (
                (
                    f"  {day_hm(each.starts_ms, now_ms, zone)}–{hm(each.ends_ms, zone)}, "
                    f"arrival {hm(each.arrival_ms, zone)}"
                ),
                PLAIN,
            ),
        )
        for each in row.slots
    ] or [(("no bookings", DIM),)]
    return lines


def summary(rows: Iterable[WorkerRow]) -> str:
    words = [state(each)[1] for each in rows]
    on = [each for each in words if each in ("fresh", "stale", "silent")]
    parts = [f"{len(words)} workers", f"{len(on)} on shift"]
    parts += [f"{on.count(each)} {each}" for each in ("fresh", "stale", "silent") if on.count(each)]
    return " · ".join(parts)
