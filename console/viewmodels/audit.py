"""The audit, newest first: who did what to which job, and why. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from console.viewmodels.cells import ALARM, ALERT, BOLD, DIM, HEAD, OK, PLAIN, Column, Line, columns_for, fit
from console.viewmodels.times import clock, day_hm
from console.words import inert

HASH_SHOWN = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    seq: int
    at_ms: int
    actor: str
    role: str
    act: str
    job_id: str
    worker_id: str
    offer_id: str
    reason: str
    words: str
    detail: str
    hash: str

    @property
    def key(self) -> str:
        return str(self.seq)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """``first_bad``: the first row that was edited, deleted, put in or cut off; None: the chain is whole."""

    rows: int
    head: str
    first_bad: int | None


COLUMNS = (
    Column(name="SEQ", width=6, from_width=50, right=True),
    Column(name="AT", width=8),
    Column(name="ACTOR", width=12, from_width=58),
    Column(name="ACT", width=16),
    Column(name="JOB", width=10),
    Column(name="WORKER", width=10, from_width=78),
    Column(name="OFFER", width=11, from_width=130),
    Column(name="REASON", width=14, from_width=96),
    Column(name="WORDS", width=10, from_width=72, grow=2),
)


@lru_cache(maxsize=64)
def shown_columns(width: int) -> tuple[Column, ...]:
    return columns_for(COLUMNS, width)


def arrange(rows: Mapping[str, AuditEntry], text: str) -> list[str]:
    words = text.casefold().split()
    kept = (each for each in rows.values() if not words or _keeps(each, words))
    return [each.key for each in sorted(kept, key=lambda each: -each.seq)]


def _keeps(row: AuditEntry, words: list[str]) -> bool:
    parts = (row.act, row.actor, row.job_id, row.worker_id, row.offer_id, row.reason, row.words, row.detail, row.key)
    hay = "\n".join(parts).casefold()
    return all(word in hay for word in words)


def header(width: int) -> Line:
    return tuple((fit(each.name, each.width, right=each.right) + " ", HEAD) for each in shown_columns(width))


def line(row: AuditEntry, width: int, zone: str) -> Line:
    by_hand = not row.actor.startswith("auto:") and row.role != "automatic"
    said = {
        "SEQ": (row.key, DIM),
        "AT": (clock(row.at_ms, zone), PLAIN),
        "ACTOR": (row.actor, PLAIN if by_hand else DIM),
        "ACT": (row.act.replace("_", " "), BOLD if by_hand else PLAIN),
        "JOB": (row.job_id, PLAIN),
        "WORKER": (row.worker_id, PLAIN),
        "OFFER": (row.offer_id, DIM),
        "REASON": (row.reason.replace("_", " "), PLAIN),
        "WORDS": (row.words, PLAIN),
    }
    return tuple(
        (fit(said[each.name][0], each.width, right=each.right) + " ", said[each.name][1])
        for each in shown_columns(width)
    )


def told(row: AuditEntry, now_ms: int, zone: str) -> list[Line]:
    """One row in full."""
    when = f"{day_hm(row.at_ms, now_ms, zone)} ({clock(row.at_ms, zone)})"
    about = " · ".join(
        f"{name} {value}"
        for name, value in (("job", row.job_id), ("worker", row.worker_id), ("offer", row.offer_id))
        if value
    )
    lines: list[Line] = [
        (
            (f"{row.seq} ", DIM),
            (inert(row.act.replace("_", " ")), BOLD),
            (f"  {when} ", PLAIN),
            (inert(f"by {row.actor} ({row.role})"), PLAIN),
        ),
        ((inert(about) or "about no one job", PLAIN),),
    ]
    if row.reason or row.words:
        lines.append(
            ((inert(row.reason.replace("_", " ")), BOLD), (inert(f": {row.words}" if row.words else ""), PLAIN))
        )
    if row.detail not in ("", "{}"):
        lines.append(((inert(row.detail), DIM),))
    lines.append(((f"hash {inert(row.hash)}", DIM),))
    return lines


def verdict(found: Verdict | None, *, asked: bool) -> Line:
    """Whether the chain is whole, as last verified."""
    if found is None:
        return (("verifying the chain…" if asked else "v verifies the chain", DIM),)
    if found.first_bad is None:
        return ((f"✓ the chain is whole: {found.rows} rows, head {inert(found.head[:HASH_SHOWN])}…", OK),)
    return (
        ("×", ALARM),
        (
            f" THE CHAIN IS BROKEN at row {found.first_bad}: edited, deleted, put in or cut off after it was written",
            ALERT,
        ),
    )
