"""The alert queue: severity, then deadline; acknowledged ones below, snoozed ones away. One line a cause."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from rich.cells import cell_len

from console.viewmodels.cells import ALARM, ALERT, DIM, PLAIN, WARN, Column, Line, columns_for, fit
from console.viewmodels.hanging import hung
from console.viewmodels.rows import AlertRow
from console.viewmodels.times import hm, left, span
from console.words import inert

NEVER_MS = 2**62
KIND, KIND_MAX, KIND_MAX_NARROW = 10, 16, 14
WIDE = 64
LEAD = 3
WHY_MIN = 24
COLUMNS = (
    Column(name="!", width=2),
    Column(name="KIND", width=KIND),
    Column(name="JOB", width=9, from_width=34),
    Column(name="WHY", width=4, from_width=30, grow=1),
    Column(name="DUE", width=5, from_width=52, right=True),
    Column(name="AGE", width=5, right=True),
    Column(name="STATUS", width=12, from_width=84),
)


@lru_cache(maxsize=64)
def shown_columns(width: int, kind: int = KIND) -> tuple[Column, ...]:
    """``kind``: the cells that the longest kind shown wants."""
    kind = max(KIND, min(kind, KIND_MAX if width >= WIDE else KIND_MAX_NARROW))
    fitting = (Column(name="KIND", width=kind) if each.name == "KIND" else each for each in COLUMNS)
    return columns_for(tuple(fitting), width)


def kind_cells(alerts: Iterable[AlertRow]) -> int:
    return max((len(_kind(each)) for each in alerts), default=KIND)


def _kind(row: AlertRow) -> str:
    return row.kind.replace("_", " ").upper()


def arrange(alerts: Iterable[AlertRow], now_ms: int) -> list[str]:
    """Severity, then deadline; acknowledged ones below. Snoozed ones are not there until they are due again."""
    shown = [each for each in alerts if each.snoozed_until_ms <= now_ms]
    return [each.id for each in sorted(shown, key=_place)]


def _place(each: AlertRow) -> tuple[bool, int, int, int, str]:
    due_ms = each.due_ms if each.due_ms is not None else NEVER_MS
    return bool(each.acked_by), each.severity, due_ms, each.opened_ms, each.id


def title(alerts: Iterable[AlertRow], now_ms: int, lately: int, budget: int) -> str:
    """What stands beside the pane's title: how many are hidden, and how many came of those one person can take in."""
    snoozed = sum(each.snoozed_until_ms > now_ms for each in alerts)
    hidden = f"{snoozed} snoozed · " if snoozed else ""
    return f"{hidden}{lately} new in 10 min, budget {budget}" + (" !" if lately > budget else "")


@dataclass(slots=True, kw_only=True)
class Bell:
    """Rings once for each new alert of severity 1, never for those that stood when the desk was opened."""

    muted: bool = False
    heard: frozenset[str] | None = None

    def rings(self, alerts: Iterable[AlertRow], now_ms: int) -> bool:
        loud = frozenset(each.id for each in alerts if each.severity == 1 and each.snoozed_until_ms <= now_ms)
        known, self.heard = self.heard, loud | (self.heard or frozenset())
        return known is not None and not self.muted and bool(loud - known)


def pressing(alerts: Iterable[AlertRow], now_ms: int) -> int:
    """How many nobody has taken: neither acknowledged nor snoozed."""
    return sum(not each.acked_by and each.snoozed_until_ms <= now_ms for each in alerts)


def rows(row: AlertRow, width: int, now_ms: int, zone: str, kind: int = KIND) -> list[Line]:
    """The alert with its details whole: where they do not fit into their column they go on below it, and where that
    is narrow they stand below the alert."""
    first = line(row, width, now_ms, zone, kind)
    columns = shown_columns(width, kind)
    at = next((n for n, each in enumerate(columns) if each.name == "WHY"), None)
    room = columns[at].width if at is not None else 0
    detail, look = inert(_detail(row)), DIM if row.snoozed_until_ms > now_ms or row.acked_by else PLAIN
    if cell_len(detail) <= room or width <= LEAD + 1:
        return [first]
    if at is None or room < WHY_MIN:
        told = hung(((detail, look),), width - LEAD - 1, 0)
        head = first if at is None else (*first[:at], (" " * (room + 1), look), *first[at + 1 :])
        return [head, *(((" " * LEAD, PLAIN), *each) for each in told)]
    indent = sum(each.width + 1 for each in columns[:at])
    told = hung(((detail, look),), room, 0)
    head = (*first[:at], (fit(told[0][0][0], room) + " ", look), *first[at + 1 :])
    return [head, *(((" " * indent, PLAIN), *each) for each in told[1:])]


def _detail(row: AlertRow) -> str:
    """Of an alert without a job: of whom."""
    told = f"{row.worker}: {row.detail}" if row.worker and row.job_id is None else row.detail
    return f"×{row.seen} {told}" if row.seen > 1 else told


def line(row: AlertRow, width: int, now_ms: int, zone: str, kind: int = KIND) -> Line:
    snoozed = row.snoozed_until_ms > now_ms
    quiet = snoozed or bool(row.acked_by)
    mark, look = ("!!", ALARM) if row.severity == 1 else ("!", WARN) if row.severity == 2 else ("·", PLAIN)
    said = {
        "!": ("  " if quiet else mark, DIM if quiet else look),
        "KIND": (_kind(row), DIM if quiet else ALERT if row.severity == 1 else PLAIN),
        "JOB": (row.job_id or "", DIM if quiet else PLAIN),
        "WHY": (_detail(row), DIM if quiet else PLAIN),
        "DUE": ("" if row.due_ms is None else left(row.due_ms - now_ms), DIM if quiet else PLAIN),
        "AGE": (span(now_ms - row.opened_ms), DIM),
        "STATUS": (_status(row, snoozed, zone), DIM if quiet else PLAIN),
    }
    return tuple(
        (fit(said[each.name][0], each.width, right=each.right) + " ", said[each.name][1])
        for each in shown_columns(width, kind)
    )


def _status(row: AlertRow, snoozed: bool, zone: str) -> str:
    if snoozed:
        return f"until {hm(row.snoozed_until_ms, zone)}"
    if row.owner:
        return f"own {row.owner}"
    if row.acked_by:
        return f"ack {row.acked_by}"
    return "new" if not row.escalated else "escalated"
