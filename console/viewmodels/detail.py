"""One job told in full: what it wants, where it stands, who was asked, and why."""

from collections.abc import Iterator

from console.viewmodels.cells import ALERT, BOLD, DIM, HEAD, PLAIN, WARN, Line, bar
from console.viewmodels.rows import OFFERED, UNASSIGNED, AttemptRow, DecisionRow, Detail, JobRow, OverrulingRow
from console.viewmodels.times import clock, countdown, day_hm, hm, left, span
from console.words import inert

ATTEMPTS_SHOWN = 12


def lines(row: JobRow, detail: Detail | None, now_ms: int, zone: str) -> list[Line]:
    told = [*_wants(row, now_ms, zone), *_stands(row, detail, now_ms, zone)]
    if detail is None:
        return [*told, (("reading…", DIM),)]
    return [*told, *_attempts(detail.attempts, now_ms, zone), *_why(detail.decision, zone), *_rest(row)]


def _wants(row: JobRow, now_ms: int, zone: str) -> Iterator[Line]:
    yield (
        (inert(row.id), BOLD),
        (f"  {inert(row.type)} · {row.duration_ms // 60_000} min · priority {row.priority}", PLAIN),
    )
    yield ((f"skills {inert(row.skills) or 'none'} · region {inert(row.region)}", PLAIN),)
    if row.address:
        yield ((inert(row.address), PLAIN),)
    window = f"window {day_hm(row.not_before_ms, now_ms, zone)}–{day_hm(row.due_by_ms, now_ms, zone)}"
    yield ((window, PLAIN),)


def _stands(row: JobRow, detail: Detail | None, now_ms: int, zone: str) -> Iterator[Line]:
    left_ms = row.due_by_ms - now_ms
    word = row.state.replace("_", " ")
    if row.gone:
        yield (("GONE: no longer in the list", WARN),)
    elif row.state == OFFERED:
        yield from _offered(row, detail, now_ms, zone)
    elif row.state == UNASSIGNED:
        yield ((f"!! {word}", ALERT), (f"  due {left(left_ms)}{' · missed' if row.missed else ''}", PLAIN))
    else:
        holder = f" · {inert(row.worker)}" if row.worker else ""
        due = f" · due {left(left_ms)}" if row.state in ("OPEN", "ACCEPTED") else ""
        yield ((word, BOLD), (f"{holder}{due}{' · missed' if row.missed else ''}", PLAIN))
    if detail is not None and detail.completes_ms is not None and not row.gone:
        yield (_completes(detail.completes_ms, now_ms, zone),)


def _completes(at_ms: int, now_ms: int, zone: str) -> tuple[str, str]:
    if at_ms < now_ms:
        return f"should have been complete at {hm(at_ms, zone)}, {span(now_ms - at_ms)} ago", WARN
    return f"complete in {span(at_ms - now_ms)}, at {hm(at_ms, zone)}", PLAIN


def _offered(row: JobRow, detail: Detail | None, now_ms: int, zone: str) -> Iterator[Line]:
    live = (
        next((each.offer for each in detail.attempts if each.offer.id == row.live_offer_id), None) if detail else None
    )
    if live is None:
        yield (("OFFERED", BOLD), (f" to {inert(row.worker)}", PLAIN))
        return
    left_ms = live.expires_ms - now_ms
    whole = live.expires_ms - live.created_ms
    yield (
        ("OFFERED", BOLD),
        (f" to {inert(live.worker)}, ", PLAIN),
        (f"{countdown(left_ms)} left " if left_ms > 0 else "LAPSED ", PLAIN if left_ms > 10_000 else WARN),
        (bar(left_ms, whole, 8), PLAIN if left_ms > 10_000 else WARN),
    )
    yield ((f"ETA {hm(live.band_from_ms, zone)}–{hm(live.band_to_ms, zone)} {live.confidence}", PLAIN),)


def _attempts(attempts: tuple[AttemptRow, ...], now_ms: int, zone: str) -> Iterator[Line]:
    yield ((f"attempts {len(attempts)}", HEAD),)
    for each in reversed(attempts[-ATTEMPTS_SHOWN:]):
        at_ms = each.answered_ms if each.answered_ms is not None else each.offer.created_ms
        yield ((f" {clock(at_ms, zone)} {inert(each.offer.worker)} {each.state.lower()}{_by(each)}", PLAIN),)
        if each.overruling is not None:
            yield from overruled(each.overruling, zone)
    if len(attempts) > ATTEMPTS_SHOWN:
        yield ((f" and {len(attempts) - ATTEMPTS_SHOWN} before", DIM),)


def _by(each: AttemptRow) -> str:
    """Who ended an offer; of one that nobody has answered, which person made it."""
    if each.ended:
        return f" {inert(each.ended)}"
    return (
        "" if each.made_by.startswith("auto:") or each.answered_ms is not None else f", made by {inert(each.made_by)}"
    )


def overruled(each: OverrulingRow, zone: str, indent: str = "   ") -> Iterator[Line]:
    """Who chose the worker, when, why, and what that went against."""
    forced = ", accepted on their behalf" if each.force else ""
    yield ((f"{indent}override by {inert(each.actor)} {clock(each.at_ms, zone)}{forced}", WARN),)
    yield ((f"{indent}{inert(each.reason.replace('_', ' '))}: {inert(each.words)}", PLAIN),)
    over = "; ".join(map(inert, each.overruled)) or "nothing"
    late = f" · due_by missed by {span(each.late_ms)}" if each.late_ms > 0 else ""
    yield ((f"{indent}overrules {over}{late}", PLAIN),)


def _why(made: DecisionRow | None, zone: str) -> Iterator[Line]:
    yield (("why", HEAD),)
    if made is None:
        yield ((" no decision yet", DIM),)
        return
    looked = made.ranked + sum(n for _, n in made.refused)
    refused = " · ".join(f"{n} {reason.replace('_', ' ')}" for reason, n in made.refused)
    yield ((f" {clock(made.made_ms, zone)} {made.outcome.replace('_', ' ')} {inert(made.worker)}".rstrip(), PLAIN),)
    yield ((f" {looked} looked at · {made.ranked} ranked{' · ' if refused else ''}{refused}", PLAIN),)
    yield ((f" policy {made.policy} · {made.total_us / 1000:.1f} ms · w tells it all", DIM),)


def _rest(row: JobRow) -> Iterator[Line]:
    if row.notes:
        yield (("notes ", HEAD), (inert(row.notes), PLAIN))
    if row.attachments not in ("", "{}"):
        yield (("attached ", HEAD), (inert(row.attachments), DIM))
