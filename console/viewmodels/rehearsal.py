"""A rehearsal as the screen shows it: lanes, rows, the run so far, who won. Pure; its texts are the transcript's."""

from collections.abc import Mapping
from dataclasses import dataclass

from console.viewmodels.cells import ACCENT, ALARM, ALERT, BOLD, DIM, HEAD, OK, PLAIN, WARN, Line
from console.viewmodels.times import zone_word
from console.words import inert
from engine.rules.rehearsal import LaneView, Phase, Row, Scene, Tally
from engine.verbs import rehearsed
from engine.verbs.rehearse import CLOCK, Cue, Rehearsal, Step

NARROW = 60
LOOKS: Mapping[str, str] = {"begin": BOLD, "waiting": WARN, "won": OK, "lost": ALERT, "change": DIM, "said": ACCENT,
                            "rule": HEAD, "step": PLAIN, "end": PLAIN}  # fmt: skip
PHASES: Mapping[Phase, tuple[str, str]] = {
    Phase.READY: ("· ready", DIM), Phase.RUNNING: ("* in transaction", ACCENT), Phase.DONE: ("✓ done", OK),
    Phase.LOST: ("x lost", ALERT), Phase.FAULT: ("x refused by the database", ALERT), Phase.KILLED: ("x died", ALERT),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the screen needs to word a run. ``kind``: which programs; ``words``: of statements not the engine's."""

    now: Rehearsal
    zone: str
    rule: str
    words: Mapping[str, str]


def lines_of(told: Told) -> list[rehearsed.Line]:
    """The run up to where one looks, as `--plain` prints it."""
    return list(rehearsed.transcript(told.now, told.zone, told.rule, told.words))


def run(told: Told, *, whole: bool = True) -> list[Line]:
    """As lines whose last piece is the words: what does not fit goes on below those. Not ``whole``: without what the
    verdict tells beside it."""
    found: list[Line] = []
    lines = lines_of(told)
    for each in lines if whole else lines[: len(lines) - len(verdict(told))]:
        look = LOOKS.get(each.kind, PLAIN)
        found.append(((inert(each.text[: each.begins]), look), (inert(each.text[each.begins :]), look)))
    return found or [((f"Nobody has moved yet: {lanes_said(told.now)}.", DIM),)]


def lanes_said(now: Rehearsal) -> str:
    return ", ".join(f"{number} {inert(each.name)}" for number, each in enumerate(now.scene.lanes, start=1))


# --- lanes -----------------------------------------------------------------------------------------------------------


def last_of(now: Rehearsal, lane: str) -> Step | None:
    """The step this session took last, up to where one looks."""
    return next((each for each in reversed(now.steps[: now.position]) if each.moved.lane == lane), None)


def last_moved(now: Rehearsal, following: Cue | None, most: int) -> frozenset[str]:
    """So many sessions: those that moved last, up to where one looks, then whoever is to move, then the first ones."""
    moved = [each.moved.lane for each in reversed(now.steps[: now.position])]
    ahead = [following.lane] if following is not None else []
    known = [each.name for each in now.scene.lanes]
    ordered = dict.fromkeys(each for each in (*moved, *ahead, *known) if each in known)
    return frozenset(list(ordered)[:most])


def lane(told: Told, view: LaneView, following: Cue | None) -> list[Line]:
    """One session: its program, what it did last and what that changed, and what it would do next."""
    last = last_of(told.now, view.name)
    made: list[Line] = [_program(view, last)]
    if last is not None:
        made += _did(told, last)
    if view.next is not None:
        mark = "▶ next: " if following is not None and following.lane == view.name else "  then: "
        made.append(((mark, HEAD if mark.startswith("▶") else DIM), (_upcoming(told, view, last), PLAIN)))
    return made


def title(number: int, view: LaneView, waiting: bool) -> tuple[str, str]:
    """The border of a lane, and its look."""
    words, look = ("<waiting>", WARN) if waiting else PHASES[view.phase]
    return f"{number} {inert(view.name)} {words}", look


def waits(now: Rehearsal, lane_name: str) -> bool:
    """It found the database held, and whoever holds it has not committed yet."""
    last = last_of(now, lane_name)
    held = any(each.phase is Phase.RUNNING and each.name != lane_name for each in now.scene.lanes)
    return held and last is not None and last.moved.waiting


def _program(view: LaneView, last: Step | None) -> Line:
    """The act that was moved last, with its end where it has ended; else the one to come."""
    name = last.moved.title if last and last.moved.title else view.next.title if view.next else ""
    ended = bool(last and last.moved.outcome)
    return ((inert(name), BOLD), (f"  {inert(view.outcome)}" if ended else "", _outcome_look(view)))


def _outcome_look(view: LaneView) -> str:
    return ALERT if view.phase in (Phase.LOST, Phase.FAULT, Phase.KILLED) else OK


def _upcoming(told: Told, view: LaneView, last: Step | None) -> str:
    assert view.next is not None
    act = f"[{view.next.title}] " if last and last.moved.outcome and view.next.statement else ""
    return inert(act + rehearsed.upcoming(view.next, told.words))


def _did(told: Told, last: Step) -> list[Line]:
    came = rehearsed.happened(last.moved)
    look = ALERT if last.moved.lost_at else WARN if last.moved.waiting else OK
    arrow = f"→\u00a0{inert(came)}" if came else ""  # the arrow does not stand alone on a line
    made: list[Line] = [((f"{inert(rehearsed.statement(last.moved, told.words))} ", PLAIN), (arrow, look))]
    if last.moved.said and last.moved.done == "call":
        made.append(((f"= {inert(last.moved.said)}", ACCENT),))
    made += [((inert(rehearsed.change(each)), ACCENT),) for each in last.moved.changes]
    return made


# --- rows ------------------------------------------------------------------------------------------------------------


def rows(now: Rehearsal) -> list[Line]:
    """What is committed: jobs, workers, offers, bookings; with * what the last step changed for everybody."""
    before = now.steps[now.position - 2].scene if now.position > 1 else now.opening
    known = {(each.table, each.key): each.text for each in before.rows}
    made: list[Line] = []
    for each in now.scene.rows:
        changed = now.position > 0 and known.get((each.table, each.key)) != each.text
        made.append(_row(each, changed, doubled=_doubled(now.scene, each)))
    made += [((f"!! double booking: {inert(each)}", ALARM),) for each in now.scene.doubles]
    return made or [(("no rows", DIM),)]


def last_changed(lines: list[Line]) -> tuple[int, int] | None:
    """First and last of the rows that the last step changed, or that are promised twice."""
    found = [at for at, each in enumerate(lines) if each[0][0].startswith(("*", "!!"))]
    return (found[0], found[-1]) if found else None


RUN_ROWS = 5
"""The run so far keeps so many, its border and all."""


def shares(height: int, *, lanes: int, least: int, rows: int) -> tuple[int, int]:
    """Of so many rows: how many the lanes get, and how many the committed rows at most, which want ``rows``.

    ``lanes``: what the lanes have where nobody lacks room; ``least``: what they need."""
    need = min(lanes, least)
    most = max(4, height - need - RUN_ROWS)
    return max(need, min(lanes, height - min(rows, most) - RUN_ROWS)), most


def _doubled(scene: Scene, row: Row) -> bool:
    return row.table != "worker" and any(row.key.split()[0] in each.split() for each in scene.doubles)


def _row(each: Row, changed: bool, *, doubled: bool) -> Line:
    mark = "*" if changed else " "
    look = ALERT if doubled else BOLD if changed else PLAIN
    return (
        (f"{mark} {each.table} ", HEAD if changed else DIM),
        (inert(each.key), BOLD),
        (f"  {inert(each.text)}", look),
    )


# --- the bars --------------------------------------------------------------------------------------------------------


def status(told: Told, name: str, programs: str, *, safe: bool, width: int) -> Line:
    """Programs, how far one has looked, training clock; the title last, for it alone may be cut where it is narrow."""
    now, at_ms = told.now, told.now.scene.clock_ms
    at = f" step {now.position}" + (f" of {len(now.steps)}" if now.position < len(now.steps) else "")
    at += "" if now.as_planned else " (your order)"
    wide = width >= NARROW
    zone = f"({inert(told.zone)})" if wide else zone_word(at_ms, told.zone)
    clock = f"{rehearsed.clock(at_ms, told.zone)} {zone}"
    head, look = ("REHEARSAL ", ACCENT), DIM if safe else ALARM
    if not wide:  # how far one has looked may be cut: the run tells it too
        return (head, (f"{programs} ", look), (f"{clock}{at}", BOLD))
    return (head, (f" {programs} ", look), (at, BOLD), (f"  {clock}", BOLD), (f"  {inert(name)}", PLAIN))


def verdict(told: Told) -> list[Line]:
    """Who won and the rule that decided; before the end, who moves next."""
    now = told.now
    if not now.over:
        return []
    winner = rehearsed.won(now)
    rule = told.rule if now.as_planned else rehearsed.decided(now)
    doubles = [((f"!! double booking: {inert(each)}", ALARM),) for each in now.scene.doubles]
    return [*doubles, *([((inert(winner), BOLD),)] if winner else []), ((f"rule: {inert(rule)}", HEAD),)]


def told_cue(cue: Cue | None) -> str:
    """What a step would do, in words."""
    if cue is None:
        return "all have ended"
    if cue.lane == CLOCK:
        return f"next: the training clock {cue.by_ms / 1000:+g} s"
    return f"next: {cue.lane}"


# --- every schedule --------------------------------------------------------------------------------------------------


def tally(found: Tally, zone: str, *, safe: bool) -> list[Line]:
    """How many orders were played, what broke, and how they end, by count."""
    broke = "violations" if safe else "double-book"
    n = len(found.violations)
    look = OK if n == 0 else ALARM
    made: list[Line] = [((f"{found.schedules} schedules  ", BOLD), (f"{n} {broke}", look))]
    made += [((f"{many:>7}  ", BOLD), (inert(end), PLAIN)) for end, many in found.outcomes]
    if n and not safe:
        made.append(((rehearsed.BELIEVED, DIM),))
    made += [((f"the first: {inert(rehearsed.schedule(each, zone))}", ALERT),) for each in found.violations[:1]]
    return made
