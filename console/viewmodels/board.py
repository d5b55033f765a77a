"""The board: which jobs it shows, in which order, and what each line says. The cursor is a job's id, never a place."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from console.viewmodels.cells import ALARM, ALERT, BOLD, DIM, PLAIN, WARN, Column, Line, columns_for, fit
from console.viewmodels.filters import Filter
from console.viewmodels.rows import (
    ACCEPTED,
    CANCELLED,
    DONE,
    IN_PROGRESS,
    OFFERED,
    OPEN,
    TERMINAL,
    UNASSIGNED,
    WAITING,
    JobRow,
)
from console.viewmodels.times import day_hm, hm, left

SortKey: TypeAlias = tuple[int | str, ...]
URGENT = {UNASSIGNED: 0, OPEN: 1, OFFERED: 1, ACCEPTED: 3, IN_PROGRESS: 4, DONE: 8, CANCELLED: 9}
STATES = {
    UNASSIGNED: ("!!", "UNASSIGNED", ALERT),
    OPEN: ("·", "OPEN", BOLD),
    OFFERED: (">", "OFFERED", PLAIN),
    ACCEPTED: ("=", "ACCEPTED", PLAIN),
    IN_PROGRESS: ("*", "IN PROGRESS", PLAIN),
    DONE: ("✓", "DONE", DIM),
    CANCELLED: ("x", "CANCELLED", DIM),
}
DUE_SOON_MS = 15 * 60_000

ORDERS: dict[str, Callable[[JobRow], SortKey]] = {
    "urgency": lambda row: (URGENT.get(row.state, 7), row.due_by_ms, -row.priority, row.id),
    "due": lambda row: (row.due_by_ms, row.id),
    "priority": lambda row: (-row.priority, URGENT.get(row.state, 7), row.due_by_ms, row.id),
    "job": lambda row: (row.id,),
}

COLUMNS = (
    Column(name="S", width=2),
    Column(name="P", width=1, from_width=48),
    Column(name="JOB", width=10, grow=1),
    Column(name="STATE", width=11),
    Column(name="TYPE", width=9, from_width=84, grow=2),
    Column(name="SKILL", width=9, from_width=64, grow=2),
    Column(name="WINDOW", width=11, from_width=92),
    Column(name="DUE", width=9, from_width=44),
    Column(name="LEFT", width=5, right=True),
    Column(name="WORKER", width=10, from_width=57, grow=2),
    Column(name="ADDRESS", width=14, from_width=112, grow=2),
)
"""Where it is narrow, address drops first, then window, type, skill, worker, priority, due. Job, state, left stay."""


@lru_cache(maxsize=64)
def shown_columns(width: int) -> tuple[Column, ...]:
    return columns_for(COLUMNS, width)


def arrange(
    rows: Mapping[str, JobRow],
    old: Sequence[str],
    kept: Filter,
    order: str,
    *,
    cursor: str | None,
    resort: bool,
) -> list[str]:
    """The ids to show. The cursor's job always stays; without ``resort`` those shown before keep their order among
    themselves, and arrivals are put in where they belong."""
    key = ORDERS[order]
    wanted = {each for each, row in rows.items() if each == cursor or kept.keeps(row)}
    if resort:
        return sorted(wanted, key=lambda each: key(rows[each]))
    stay = [each for each in old if each in wanted]
    fresh = sorted(wanted.difference(stay), key=lambda each: key(rows[each]))
    return _merged(stay, fresh, lambda each: key(rows[each]))


def _merged(stay: list[str], fresh: list[str], key: Callable[[str], SortKey]) -> list[str]:
    if not fresh:
        return stay
    merged: list[str] = []
    coming = iter(fresh)
    following = next(coming, None)
    for each in stay:
        while following is not None and key(following) < key(each):
            merged.append(following)
            following = next(coming, None)
        merged.append(each)
    if following is not None:
        merged += [following, *coming]
    return merged


def header(width: int) -> Line:
    return tuple((fit(each.name, each.width, right=each.right) + " ", "head") for each in shown_columns(width))


def line(row: JobRow, width: int, now_ms: int, zone: str) -> Line:
    glyph, word, look = STATES.get(row.state, ("?", row.state, PLAIN))
    if row.gone:
        glyph, word, look = "-", "GONE", DIM
    left_ms = row.due_by_ms - now_ms
    calm = DIM if row.state in TERMINAL or row.gone else PLAIN
    said: dict[str, tuple[Callable[[], str], str]] = {
        "S": (lambda: glyph, ALARM if row.state == UNASSIGNED and not row.gone else look),
        "P": (lambda: str(row.priority), BOLD if row.priority >= 4 else calm),
        "JOB": (lambda: row.id, calm),
        "STATE": (lambda: word, look),
        "TYPE": (lambda: row.type, calm),
        "SKILL": (lambda: row.skills, calm),
        "WINDOW": (lambda: f"{hm(row.not_before_ms, zone)}–{hm(row.due_by_ms, zone)}", calm),
        "DUE": (lambda: day_hm(row.due_by_ms, now_ms, zone), calm),
        "LEFT": (lambda: _left(row, left_ms), _left_look(row, left_ms, calm)),
        "WORKER": (lambda: row.worker or "-", calm),
        "ADDRESS": (lambda: row.address, DIM),
    }
    pieces: list[tuple[str, str]] = []
    for column in shown_columns(width):
        text, named = said[column.name]
        pieces.append((fit(text(), column.width, right=column.right) + " ", named))
    return tuple(pieces)


def marked(line: Line) -> Line:
    """The line of a job that is marked for an act on many: its sign gives way to a mark, its state is in words."""
    return (("■ " + line[0][0][2:], BOLD), *line[1:])


def _left(row: JobRow, left_ms: int) -> str:
    """Deadlines stop at terminal states, and mean nothing any more once the worker is there."""
    return "" if row.gone or row.state in TERMINAL or row.state == IN_PROGRESS else left(left_ms)


def _left_look(row: JobRow, left_ms: int, calm: str) -> str:
    if row.state not in (*WAITING, OFFERED):
        return calm
    return ALERT if left_ms < 0 else WARN if left_ms < DUE_SOON_MS else PLAIN


def counts(rows: Iterable[JobRow]) -> tuple[int, int, int]:
    """(live, waiting, offered)"""
    live = waiting = offered = 0
    for row in rows:
        live += row.state not in TERMINAL and not row.gone
        waiting += row.state in WAITING
        offered += row.state == OFFERED
    return live, waiting, offered
