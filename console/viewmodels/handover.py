"""The handover digest: what who comes next must know, as plain lines of text to copy. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from console.viewmodels.alerts import NEVER_MS
from console.viewmodels.rows import ACCEPTED, OFFERED, WAITING, AlertRow, JobRow
from console.viewmodels.times import HOUR_MS, clock, day_hm, hm, left, span, zone_word
from console.words import inert
from engine.rules.days import local_day

SHIFT_MS = 12 * HOUR_MS
SOON_MS = HOUR_MS
LISTED_MAX = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Overruled:
    """An override made in the last twelve hours."""

    at_ms: int
    actor: str
    job_id: str
    worker: str
    reason: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """``slack_ms``: due_by − promised arrival of accepted jobs; ``overrides``: newest first."""

    site: str
    zone: str
    now_ms: int
    actor: str
    alerts: tuple[AlertRow, ...]
    jobs: tuple[JobRow, ...]
    slack_ms: dict[str, int]
    overrides: tuple[Overruled, ...]
    top_decile_share: float | None
    top_decile_limit: float
    on_shift: int
    fresh: int


def digest(found: Handover) -> list[str]:
    """Every line inert, so that it may be copied anywhere."""
    return [inert(each) for each in _lines(found)]


def _lines(found: Handover) -> Iterator[str]:
    now_ms, zone = found.now_ms, found.zone
    day = day_hm(now_ms, now_ms + 30 * 24 * HOUR_MS, zone)
    yield f"HANDOVER {found.site} · {day} ({clock(now_ms, zone)} {zone_word(now_ms, zone)}) · by {found.actor}"
    waiting = sum(each.state in WAITING for each in found.jobs)
    held = sum(each.state == ACCEPTED for each in found.jobs)
    yield f"{waiting} jobs waiting, {held} accepted; {found.on_shift} workers on shift, {found.fresh} of them fresh"
    yield ""
    ordered = sorted(found.alerts, key=lambda each: (each.severity, each.due_ms or NEVER_MS, each.opened_ms, each.id))
    yield from _listed("OPEN ALERTS", [_alert(each, now_ms, zone) for each in ordered])
    snoozed = sorted((each for each in found.alerts if each.snoozed_until_ms > now_ms), key=_until)
    yield from _listed("SNOOZES ENDING", [f"{hm(each.snoozed_until_ms, zone)} {_cause(each)}" for each in snoozed])
    yield from _listed("JOBS AT RISK", at_risk(found))
    yield from _listed("OVERRIDES, 12 h", [_override(each, now_ms, zone) for each in found.overrides])
    share = "no jobs today" if found.top_decile_share is None else f"{found.top_decile_share:.0%} of today's jobs"
    over = found.top_decile_share is not None and found.top_decile_share > found.top_decile_limit
    yield f"TOP TENTH OF WORKERS: {share} (alarm above {found.top_decile_limit:.0%}){' !' if over else ''}"


def _listed(title: str, lines: list[str]) -> Iterator[str]:
    yield f"{title}: {len(lines) or 'none'}"
    for each in lines[:LISTED_MAX]:
        yield f"  {each}"
    if len(lines) > LISTED_MAX:
        yield f"  and {len(lines) - LISTED_MAX} more"
    yield ""


def _until(each: AlertRow) -> int:
    return each.snoozed_until_ms


def _cause(each: AlertRow) -> str:
    about = each.job_id or each.worker
    return f"{each.kind.replace('_', ' ').upper()} {about}".rstrip()


def _alert(each: AlertRow, now_ms: int, zone: str) -> str:
    owner = f"owner {each.owner}" if each.owner else f"ack {each.acked_by}" if each.acked_by else "NOBODY'S"
    due = f" · due {left(each.due_ms - now_ms)}" if each.due_ms is not None else ""
    more = " · escalated" if each.escalated else ""
    more += f" · snoozed until {hm(each.snoozed_until_ms, zone)}" if each.snoozed_until_ms > now_ms else ""
    mark, old = "!" * max(1, 3 - each.severity), span(now_ms - each.opened_ms)
    return f"{mark} {_cause(each)} · {each.detail}{due} · {old} old · {owner}{more}"


def at_risk(found: Handover) -> list[str]:
    """Nobody has it and it is due within the hour or already missed; or who has it is promised too late."""
    lines: list[tuple[int, str]] = []
    for each in found.jobs:
        left_ms = each.due_by_ms - found.now_ms
        slack_ms = found.slack_ms.get(each.id)
        if each.state in (*WAITING, OFFERED) and left_ms <= SOON_MS:
            who = f"offered to {each.worker}" if each.state == OFFERED else "nobody has it"
        elif each.state == ACCEPTED and slack_ms is not None and slack_ms < 0:
            who = f"{each.worker} arrives {span(slack_ms)} late"
        else:
            continue
        missed = " · MISSED" if each.missed or left_ms < 0 else ""
        lines.append(
            (
                each.due_by_ms,
                f"{each.id} {each.type} due {hm(each.due_by_ms, found.zone)} ({left(left_ms)}) · {who}{missed}",
            )
        )
    return [line for _, line in sorted(lines)]


def _override(each: Overruled, now_ms: int, zone: str) -> str:
    why = f"{each.reason.replace('_', ' ')}: {each.words}"
    return f"{day_hm(each.at_ms, now_ms, zone)} {each.actor}: {each.job_id} to {each.worker} · {why}"


def file_name(site_file: str, now_ms: int, zone: str) -> str:
    day = clock(now_ms, zone).replace(":", "")
    return f"{site_file}.handover-{local_day(now_ms, zone)}-{day}.txt"
