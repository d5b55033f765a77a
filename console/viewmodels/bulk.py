"""One act on many jobs: what would happen to each, what did, and honest counts. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from console.viewmodels.cells import ALERT, BOLD, DIM, OK, PLAIN, WARN, Line, fit
from console.viewmodels.rows import JobRow

LABELS = {"assign": "Assign", "withdraw": "Withdraw the offers of", "release": "Release", "reassign": "Reassign",
          "cancel": "Cancel"}  # fmt: skip
WOULD, LEFT_OUT, APPLIED, REFUSED, NOT_TRIED = "would", "left out", "applied", "refused", "not tried"
LOOKS = {WOULD: BOLD, LEFT_OUT: DIM, APPLIED: OK, REFUSED: ALERT, NOT_TRIED: WARN}


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkRow:
    """``job``: as it was shown when the act was begun; it is what the act is aimed at."""

    job: JobRow
    state: str
    words: str


def planned(verb: str, jobs: Sequence[JobRow], refusal: Callable[[JobRow], str | None]) -> tuple[BulkRow, ...]:
    """The dry run: each job with what would happen to it, or why it is left out."""
    return tuple(
        BulkRow(job=each, state=LEFT_OUT, words=reason)
        if (reason := refusal(each)) is not None
        else BulkRow(job=each, state=WOULD, words=_would(verb, each))
        for each in jobs
    )


def _would(verb: str, job: JobRow) -> str:
    holder = f"; {job.worker} is freed" if job.worker else ""
    return {
        "assign": "is offered to the best eligible worker",
        "withdraw": f"the offer to {job.worker} is taken back",
        "release": f"{job.worker} loses it; it is offered on",
        "reassign": f"{job.worker} loses it; the best other worker is asked",
        "cancel": f"ends for good{holder}",
    }[verb]


def jobs_word(count: int) -> str:
    return f"{count} job" if count == 1 else f"{count} jobs"


def title(verb: str, rows: Sequence[BulkRow]) -> str:
    """ "Cancel 3 jobs", and how many of those marked are left out."""
    going = sum(each.state == WOULD for each in rows)
    out = len(rows) - going
    return f"{LABELS[verb]} {jobs_word(going)}" + (f" ({out} of {len(rows)} marked left out)" if out else "")


def outcome(verb: str, rows: Sequence[BulkRow]) -> str:
    """ "cancel: 2 applied, 1 refused", counting every row that was marked."""
    counts = {state: sum(each.state == state for each in rows) for state in LOOKS}
    told = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    return f"{verb} {jobs_word(len(rows))}: {told}"


def line(row: BulkRow, width: int, names: Mapping[str, str] | None = None) -> Line:
    return (
        (fit(row.job.id, 10) + " ", PLAIN),
        (fit(row.job.state.replace("_", " ").lower(), 16) + " ", DIM),
        (fit(row.state, 9) + " ", LOOKS[row.state]),
        (fit(row.words, max(0, width - 38)), PLAIN),
    )
