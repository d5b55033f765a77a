"""Where a job fits in a worker's schedule: between bookings and around absences, with the travel on both sides.

A worker has one lane per unit of capacity; jobs in one lane follow each other, jobs in different lanes may overlap.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine.rules.nouns import Booking, Interval, Job, Point, Refusal, Worker
from engine.rules.steps import Slot

MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """Why a job does not fit one slot."""

    reason: Refusal
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Free time of one lane from ``free_ms`` at ``origin`` until the booking ``before`` (None: open).

    ``after``: the booking that ends where the gap begins."""

    lane: int
    origin: Point
    free_ms: int
    after: Booking | None
    before: Booking | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Time in which work can be done. ``then``: why it ends, ``off_shift`` or ``absent``."""

    starts_ms: int
    ends_ms: int
    then: Refusal = Refusal.OFF_SHIFT


def gaps(worker: Worker, here: Point, now_ms: int) -> Iterator[Gap]:
    """The gaps of every lane in order of time; the first of a lane with nothing begun starts ``here`` and now."""
    for lane in range(worker.capacity):
        origin, free_ms, after = here, now_ms, None
        for booking in sorted((each for each in worker.bookings if each.lane == lane), key=lambda each: each.starts_ms):
            if booking.started_ms is None and booking.starts_ms > now_ms:
                yield Gap(lane=lane, origin=origin, free_ms=free_ms, after=after, before=booking)
            origin, free_ms, after = booking.place, max(free_ms, ends_ms(booking, now_ms)), booking
        yield Gap(lane=lane, origin=origin, free_ms=free_ms, after=after, before=None)


def ends_ms(booking: Booking, now_ms: int) -> int:
    """When a booking will really end: begun late, or not yet begun in its time, it runs its full length from there.

    Begun early it keeps its booked end, which the database holds until it is finished."""
    length_ms = booking.ends_ms - booking.starts_ms
    if booking.started_ms is not None:
        return max(booking.started_ms + length_ms, booking.ends_ms, now_ms)
    if booking.starts_ms <= now_ms:
        return now_ms + length_ms
    return booking.ends_ms


def slot_of(gap: Gap, stretch: Stretch) -> Slot | None:
    """The part of a gap that lies in a stretch of work; None when they do not meet."""
    depart_ms = max(gap.free_ms, stretch.starts_ms)
    if depart_ms >= stretch.ends_ms:
        return None
    return Slot(
        lane=gap.lane,
        origin=gap.origin,
        depart_ms=depart_ms,
        ends_by_ms=stretch.ends_ms,
        then=stretch.then,
        next_place=gap.before.place if gap.before else None,
        next_starts_ms=gap.before.starts_ms if gap.before else None,
    )


def joined(shifts: Iterable[Interval]) -> list[Interval]:
    """Shifts in order of time, those that touch as one: whoever works both works through."""
    found: list[Interval] = []
    for shift in sorted(shifts, key=lambda each: each.starts_ms):
        if found and shift.starts_ms <= found[-1].ends_ms:
            before = found.pop()
            shift = Interval(starts_ms=before.starts_ms, ends_ms=max(before.ends_ms, shift.ends_ms))
        found.append(shift)
    return found


def stretches(shifts: Iterable[Interval], absences: Iterable[Interval]) -> tuple[Stretch, ...]:
    """What the absences leave of the shifts: whoever comes back in time can still leave for the job."""
    away = joined(absences)
    return tuple(stretch for shift in joined(shifts) for stretch in _left_of(shift, away))


def _left_of(shift: Interval, away: Iterable[Interval]) -> Iterator[Stretch]:
    starts_ms = shift.starts_ms
    for absence in away:
        if absence.ends_ms <= starts_ms or absence.starts_ms >= shift.ends_ms:
            continue
        if absence.starts_ms > starts_ms:
            yield Stretch(starts_ms=starts_ms, ends_ms=absence.starts_ms, then=Refusal.ABSENT)
        starts_ms = absence.ends_ms
    if starts_ms < shift.ends_ms:
        yield Stretch(starts_ms=starts_ms, ends_ms=shift.ends_ms)


def arrival_ms(slot: Slot, travel_s: int) -> int:
    return slot.depart_ms + travel_s * 1000


def service(job: Job, arrive_ms: int) -> Interval:
    """The interval the job will take of the worker: from arrival or the window's opening, whichever is later."""
    starts_ms = max(arrive_ms, job.not_before_ms)
    return Interval(starts_ms=starts_ms, ends_ms=starts_ms + job.duration_ms)


def misfit(slot: Slot, job: Job, travel_s: int, onward_s: int) -> Misfit | None:
    """The first thing that stands against doing the job in this slot with these travel times; None when it fits.

    ``onward_s``: from the job to the slot's next booking (ignored where there is none)."""
    arrive_ms = arrival_ms(slot, travel_s)
    if arrive_ms > job.due_by_ms:
        return Misfit(reason=Refusal.LATE, detail=f"arrives {minutes(arrive_ms - job.due_by_ms)} after due_by")
    work = service(job, arrive_ms)
    if work.ends_ms > slot.ends_by_ms:
        over_ms = work.ends_ms - slot.ends_by_ms
        after = "an absence begins" if slot.then is Refusal.ABSENT else "the shift"
        return Misfit(reason=slot.then, detail=f"would end {minutes(over_ms)} after {after}")
    if slot.next_starts_ms is not None:
        short_ms = work.ends_ms + onward_s * 1000 - slot.next_starts_ms
        if short_ms > 0:
            return Misfit(reason=Refusal.OVERLAP, detail=f"{minutes(short_ms)} too late for the booking after it")
    return None


def minutes(span_ms: int) -> str:
    """A span in words, rounded up: "12 min", or "45 s" below a minute."""
    return f"{-(-span_ms // MINUTE_MS)} min" if span_ms >= MINUTE_MS else f"{-(-span_ms // 1000)} s"
