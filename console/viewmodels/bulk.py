"""One act on many jobs: what would happen to each, what did, and honest counts. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from console.viewmodels.cells import ALERT, BOLD, DIM, OK, PLAIN, WARN, Line, fit
from console.viewmodels.rows import AlertRow, JobRow

Item: TypeAlias = JobRow | AlertRow

LABELS = {"assign": "Assign", "withdraw": "Withdraw the offers of", "release": "Release", "reassign": "Reassign",
          "cancel": "Cancel", "acknowledge": "Acknowledge", "own": "Own", "snooze": "Snooze", "escalate": "Escalate",
          "resolve": "Resolve"}  # fmt: skip
REASONED = frozenset({"withdraw", "release", "reassign", "cancel", "resolve"})
WOULD, LEFT_OUT, APPLIED, REFUSED, NOT_TRIED = "would", "left out", "applied", "refused", "not tried"
LOOKS = {WOULD: BOLD, LEFT_OUT: DIM, APPLIED: OK, REFUSED: ALERT, NOT_TRIED: WARN}


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkRow:
    """``item``: as it was shown when the act was begun; it is what the act is aimed at."""

    item: Item
    state: str
    words: str


def planned(
    verb: str, items: Sequence[Item], refusal: Callable[[Item], str | None], minutes: int = 0
) -> tuple[BulkRow, ...]:
    """The dry run: each with what would happen to it, or why it is left out. ``minutes``: to snooze for."""
    return tuple(
        BulkRow(item=each, state=LEFT_OUT, words=reason)
        if (reason := refusal(each)) is not None
        else BulkRow(item=each, state=WOULD, words=_would(verb, each, minutes))
        for each in items
    )


def _would(verb: str, item: Item, minutes: int) -> str:
    return _would_alert(verb, item, minutes) if isinstance(item, AlertRow) else _would_job(verb, item)


def _would_alert(verb: str, alert: AlertRow, minutes: int) -> str:
    instead = f" instead of {alert.owner}'s" if alert.owner else ""
    return {
        "acknowledge": "is acknowledged",
        "own": f"is yours to solve{instead}",
        "snooze": f"is hidden for {minutes} min",
        "escalate": "goes to severity 1" if alert.severity > 1 else "is of severity 1 already; escalated once more",
        "resolve": "is closed; it comes again if its cause is still there",
    }[verb]


def _would_job(verb: str, job: JobRow) -> str:
    holder = f"; {job.worker} is freed" if job.worker else ""
    return {
        "assign": "is offered to the best eligible worker",
        "withdraw": f"the offer to {job.worker} is taken back",
        "release": f"{job.worker} loses it; it is offered on",
        "reassign": f"{job.worker} loses it; the best other worker is asked",
        "cancel": f"ends for good{holder}",
    }[verb]


def counted(items: Sequence[Item], count: int | None = None) -> str:
    """ "3 jobs", "1 alert": so many of what these are."""
    word = "alert" if items and isinstance(items[0], AlertRow) else "job"
    count = len(items) if count is None else count
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def marks(jobs: int, alerts: int) -> str:
    """ "3 alerts, 1 job marked": said wherever a key would act on them, whether they are in sight or not."""
    parts = [f"{n} {word}{'' if n == 1 else 's'}" for n, word in ((alerts, "alert"), (jobs, "job")) if n]
    return f"{', '.join(parts)} marked" if parts else ""


def title(verb: str, rows: Sequence[BulkRow]) -> str:
    """ "Cancel 3 jobs", and how many of those marked are left out."""
    going = sum(each.state == WOULD for each in rows)
    out = len(rows) - going
    return f"{LABELS[verb]} {counted([each.item for each in rows], going)}" + (
        f" ({out} of {len(rows)} marked left out)" if out else ""
    )


def outcome(verb: str, rows: Sequence[BulkRow]) -> str:
    """ "cancel: 2 applied, 1 refused", counting every row that was marked."""
    counts = {state: sum(each.state == state for each in rows) for state in LOOKS}
    told = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    return f"{verb} {counted([each.item for each in rows])}: {told}"


def _stands(item: Item) -> str:
    word = (item.kind if isinstance(item, AlertRow) else item.state).replace("_", " ").lower()
    return f"{word} {item.job_id or item.worker}" if isinstance(item, AlertRow) else word


def line(row: BulkRow, width: int, names: Mapping[str, str] | None = None) -> Line:
    return (
        (fit(row.item.id, 10) + " ", PLAIN),
        (fit(_stands(row.item), 16) + " ", DIM),
        (fit(row.state, 9) + " ", LOOKS[row.state]),
        (fit(row.words, max(0, width - 38)), PLAIN),
    )
