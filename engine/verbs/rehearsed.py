"""A rehearsal in words: each statement with its bindings, each row before and after, and the rule that decided."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine.rules.days import local
from engine.rules.rehearsal import Act, Change, Moved, Phase
from engine.verbs.rehearse import CLOCK, Rehearsal, Step

STATEMENTS = {
    "begin": "begin: from here to the end nobody else can write",
    "commit": "commit: all of it at once, for everybody to see",
    "read_clock": "what time is it in the database, and in which zone?",
    "hold_epoch": "is region {region_id} still mine under epoch {epoch}?",
    "read_epoch": "which epoch is in force in region {region_id}?",
    "raise_epoch": "raise the epoch of {region_id} from {epoch}, holder {holder}",
    "list_live_offers_of_region": "which live offers has region {region_id}?",
    "adopt_offer": "keep offer {offer_id} under epoch {epoch}",
    "claim_job": "claim {job_id} for offer {offer_id}, if it is waiting and in {region_id}",
    "claim_worker": "claim {worker_id} for offer {offer_id}, if free, in {region_id}, of generation {generation}",
    "check_room": "has {worker_id} room on lane {lane} from {starts_ms} to {ends_ms}?",
    "write_offer": "write offer {offer_id}: {job_id} to {worker_id}, for {ttl_ms}",
    "write_attempt": "note that {job_id} and {worker_id} met ({kind}): the cooldown counts from here",
    "forget_attempt": "forget that {job_id} was offered to {worker_id}: no cooldown",
    "accept_offer": "answer {offer_id} with yes, if live, unexpired, {worker_id}'s, of epoch and generation in force",
    "decline_offer": "answer {offer_id} with no, if live, unexpired and {worker_id}'s",
    "expire_offer": "end offer {offer_id}, if live and its time is up (or lies in the future)",
    "withdraw_offer": "take offer {offer_id} back, if it is live",
    "book_time": "book {worker_id}'s time as offer {offer_id} promised it",
    "take_job": "give {job_id} to {worker_id}, if offer {offer_id} is the one that stands on it",
    "free_worker": "free {worker_id} of offer {offer_id}",
    "credit_day": "count one more job for {worker_id} on {day}",
    "debit_day": "count one job less for {worker_id} on {day}",
    "list_open_alerts_of_job": "which alerts stand on {job_id}?",
    "resolve_alert": "alert {alert_id} has its answer",
    "reopen_job": "open {job_id} again, if offer {offer_id} is the one that stands on it",
    "start_job": "{worker_id} begins {job_id}, if assignment {offer_id} still stands",
    "finish_job": "{worker_id} ends {job_id}, if assignment {offer_id} still stands",
    "release_job": "take {job_id} back, if assignment {offer_id} still stands and is not begun",
    "unbook_time": "give the time booked by {offer_id} back",
    "touch_idle": "{worker_id} is idle from now on",
    "read_job": "how does {job_id} stand?",
    "cancel_job": "cancel {job_id}, if its assignment is {aimed_at}",
    "move_worker": "move {worker_id} to {region_id} and raise the generation from {generation}, if no live offer binds "
                   "them",
    "list_bookings": "which bookings has {worker_id}?",
    "move_job": "move {job_id} with {worker_id} to {region_id}",
    "ask_handoff": "{worker_id} is to move to {region_id}: no new offer from here on",
    "check_asked": "is {worker_id} still to move to {region_id}?",
    "take_back_handoff": "{worker_id} is to move to {region_id} no longer",
    "alert_job": "nobody is left for {job_id}: an alert, if it has not changed meanwhile",
    "calm_job": "{job_id} is merely open again, if it has not changed meanwhile",
    "mark_late": "{job_id} was begun after due_by: the miss is noted",
    "miss_job": "due_by of {job_id} has passed: it is missed",
    "read_open_alert": "does an alert {kind} stand for {cause}?",
    "touch_alert": "alert {alert_id} is seen again",
    "take_number": "the next number for: {kind}",
    "write_alert": "raise alert {alert_id}: {kind} for {cause}",
    "read_audit_head": "where does the audit end?",
    "move_audit_head": "the audit grows to {seq} + 1, if nobody wrote meanwhile",
    "write_audit": "write the audit: {act} by {actor}",
}  # fmt: skip
"""Every statement that a lease program may yield, as a question or an act with its condition."""

RULES = {
    "claim_job": "a job can be claimed only while it waits, and whoever is first ends that",
    "claim_worker": "a worker can be claimed only while free, in the region, and of the generation that was looked at",
    "check_room": "a worker's time is booked once a lane, and there are as many lanes as their capacity",
    "accept_offer": "an offer can be accepted only while it is live and unexpired (now = its end is expired), and of "
                    "the epoch and generation in force",
    "decline_offer": "an offer can be declined only while it is live and unexpired",
    "expire_offer": "an offer can be expired only once, and only after its time (or when it comes from the future)",
    "withdraw_offer": "only a live offer can be taken back",
    "hold_epoch": "an automatic act counts only under the epoch in force: who was overtaken is fenced",
    "raise_epoch": "the epoch is raised from the one that was looked at, so of two takeovers one wins",
    "start_job": "work begins only on the assignment that still stands",
    "release_job": "only an assignment that stands and has not begun can be released",
    "cancel_job": "a cancel is aimed at the assignment it saw, and never clears a newer one",
    "take_job": "a job goes only to the offer that stands on it",
    "move_worker": "a worker moves only without a live offer, and from the generation that was looked at",
    "outrank_job": "only a job of higher priority may preempt",
}  # fmt: skip
"""What a lost statement means: the rule that decided."""


NO_WORDS: Mapping[str, str] = {}


def statement(moved: Moved, more: Mapping[str, str] = NO_WORDS) -> str:
    """The move as a sentence. ``more``: of statements that are none of the engine's. One without words is named."""
    if moved.done == "call":
        return moved.title
    if moved.done == CLOCK:
        return moved.said
    return _worded(moved.done, moved.binds, more)


def upcoming(act: Act, more: Mapping[str, str] = NO_WORDS) -> str:
    """What a session would do next, as a sentence: for a lane on a screen."""
    return _worded(act.statement, act.binds, more) if act.statement else act.title


def _worded(name: str, binds: tuple[tuple[str, str], ...], more: Mapping[str, str]) -> str:
    words = STATEMENTS.get(name) or more.get(name)
    if words is None:
        return f"{name} {', '.join(f'{bind} {value}' for bind, value in binds)}".strip()
    return words.format_map({bind: value or "none" for bind, value in binds})


def happened(moved: Moved) -> str:
    """What came of it, in a word or two: 1 row, <waiting>, rolled back "lost at …", committed."""
    if moved.waiting:
        return "<waiting>"
    if moved.outcome.startswith("lost at"):
        return f'0 rows, rolled back "{moved.outcome}"'
    if moved.outcome.startswith("refused"):
        return moved.outcome
    if moved.done == "commit":
        return "committed"
    if moved.rows is None:
        return ""
    return "1 row" if moved.rows == 1 else f"{moved.rows} rows"


def change(each: Change) -> str:
    """``job j1: state OPEN → OFFERED, live offer - → o1``."""
    if not each.before:
        return f"+ {each.table} {each.key}: {_cells(each.after)}"
    if not each.after:
        return f"- {each.table} {each.key}: {_cells(each.before)}"
    after = dict(each.after)
    return f"{each.table} {each.key}: " + ", ".join(
        f"{_word(column)} {text} → {after.get(column, '-')}" for column, text in each.before
    )


def _cells(cells: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(f"{_word(column)} {text}" for column, text in cells)


def _word(column: str) -> str:
    return column.removesuffix("_id").removesuffix("_ms").replace("_", " ")


# --- the transcript --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a transcript. ``kind``: begin, step, waiting, won, lost, said, change, end or rule (for colours).

    ``begins``: how many letters stand before its words, for whoever wraps it below them."""

    text: str
    kind: str
    lane: str = ""
    begins: int = 2


def transcript(shown: Rehearsal, zone: str, rule: str, words: Mapping[str, str] = NO_WORDS) -> Iterator[Line]:
    """Every step one has gone through, and at the end who won and why. The same moves give the same lines.

    ``rule``: the scenario's own sentence, said where its schedule was kept to; ``words``: see ``statement``."""
    steps = shown.steps[: shown.position]
    columns = _Columns(
        lane=max(len(CLOCK), *(len(each.name) for each in shown.opening.lanes)),
        clock=max((len(clock(each.at_ms, zone)) for each in steps), default=0), zone=zone, words=words,
    )  # fmt: skip
    for number, step in enumerate(steps, start=1):
        yield from _step(number, step, columns)
    if shown.over:
        yield Line(text="", kind="end")
        yield from ending(shown, rule)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    lane: int
    clock: int
    zone: str
    words: Mapping[str, str]


def _step(number: int, step: Step, columns: _Columns) -> Iterator[Line]:
    moved, lane = step.moved, step.moved.lane
    came, at = happened(moved), clock(step.at_ms, columns.zone)
    before = f"{number:>3}  {at:<{columns.clock}}  {lane:<{columns.lane}}  "
    head = before + statement(moved, columns.words)
    if moved.done == "begin":
        head += f" [{moved.title}]"
    yield Line(text=head + (f" → {came}" if came else ""), kind=_kind(moved), lane=lane, begins=len(before))
    pad = " " * (columns.lane + columns.clock + 9)
    inner = len(pad) + 2
    if moved.done == "call" and not moved.waiting:
        said = moved.said.split("; ")
        yield from (Line(text=f"{pad}= {part}", kind="said", lane=lane, begins=inner) for part in said)
    for each in moved.changes:
        yield Line(text=pad + change(each), kind="change", lane=lane, begins=inner)


def _kind(moved: Moved) -> str:
    if moved.waiting:
        return "waiting"
    if moved.lost_at:
        return "lost"
    return "won" if moved.done == "commit" else "begin" if moved.done == "begin" else "step"


def clock(at_ms: int, zone: str) -> str:
    """The training clock: hours, minutes, seconds; tenths and less only where there are any."""
    shown = f"{local(at_ms, zone):%H:%M:%S}"
    return shown if at_ms % 1000 == 0 else f"{shown}.{at_ms % 1000:03}"


BELIEVED = (
    "Each line is what the sessions believe at the end; whether anything is promised or booked twice is asked of the "
    "committed rows."
)


def schedule(text: str, zone: str) -> str:
    """One schedule in a line, where the training clock told milliseconds since 1970."""
    return re.sub(r"the clock shows (\d{12,14})", lambda found: f"it shows {clock(int(found[1]), zone)}", text)


def ending(shown: Rehearsal, rule: str) -> Iterator[Line]:
    """How each session ended, who has which job now, and the rule that decided."""
    for lane in shown.scene.lanes:
        yield Line(text=f"{lane.name}: {lane.outcome.split('; ')[0]}", kind="end", lane=lane.name)
    for row in shown.scene.rows:
        if row.table in ("job", "booking") or "state OFFERED" in row.text:
            yield Line(text=f"{row.table} {row.key}: {row.text}", kind="end")
    if winner := won(shown):
        yield Line(text=winner, kind="end")
    for each in shown.scene.doubles:
        yield Line(text=f"double booking: {each}", kind="lost")
    yield Line(text=f"rule: {rule if shown.as_planned else decided(shown)}", kind="rule", begins=6)


def won(shown: Rehearsal) -> str:
    """Who won against whom; nothing where nobody lost."""
    lanes = shown.scene.lanes
    lost = [each.name for each in lanes if each.phase in (Phase.LOST, Phase.FAULT)]
    winners = [each.name for each in lanes if each.phase is Phase.DONE]
    return f"won: {', '.join(winners) or 'nobody'}; lost: {', '.join(lost)}" if lost else ""


def decided(shown: Rehearsal) -> str:
    """The rule behind the last statement that was lost, in an order that the scenario did not foresee."""
    lost = [each.moved.lost_at for each in shown.steps[: shown.position] if each.moved.lost_at in RULES]
    return RULES[lost[-1]] if lost else "nobody was in another's way"
