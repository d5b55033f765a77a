"""Which promises a change of a worker's hours is in the way of."""

from collections.abc import Iterable
from dataclasses import dataclass

from engine.rules.nouns import Interval
from engine.rules.schedule import joined


@dataclass(frozen=True, slots=True, kw_only=True)
class Promised:
    """A job booked or on a live offer. ``span``: from the departure for it to its end."""

    job_id: str
    span: Interval


def met(promised: Iterable[Promised], away: Interval) -> tuple[str, ...]:
    """The jobs whose travel or service lies in an absence; both are half-open."""
    return tuple(
        each.job_id for each in promised if each.span.starts_ms < away.ends_ms and away.starts_ms < each.span.ends_ms
    )


def uncovered(promised: Iterable[Promised], before: Iterable[Interval], after: Iterable[Interval]) -> tuple[str, ...]:
    """The jobs that a shift covered and none does any longer: what was overruled before is nobody's news."""
    had, has = joined(before), joined(after)
    return tuple(each.job_id for each in promised if _covered(each.span, had) and not _covered(each.span, has))


def _covered(span: Interval, shifts: Iterable[Interval]) -> bool:
    return any(each.starts_ms <= span.starts_ms and span.ends_ms <= each.ends_ms for each in shifts)
