"""The rehearsal room without a screen: a scenario as a transcript, in every order, or naive beside safe."""

import logging
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from msgspec import Struct
from rich.console import Console

from console.cli import show
from console.cli.call import Call, command
from console.cli.trouble import OK, REFUSED, hushed
from console.stage import BARE, GUARDED, SAFE, House, RehearsalRoom, Script
from console.transcripts import asked, export, heading, painted
from engine.ports import CallboardError
from engine.rules.rehearsal import Tally
from engine.verbs.rehearsed import BELIEVED, Line, schedule, transcript


class ListedDoc(Struct, frozen=True, kw_only=True):
    name: str
    title: str


class TallyDoc(Struct, frozen=True, kw_only=True):
    """``violations``: of the invariants, or, of naive programs, schedules that promised something twice."""

    schedules: int
    violations: int
    outcomes: dict[str, int]


class NaiveTallyDoc(TallyDoc, frozen=True, kw_only=True):
    """On a schema without guards; ``guarded``: the same programs on the real one."""

    guarded: TallyDoc


class PlayedDoc(Struct, frozen=True, kw_only=True):
    name: str
    title: str
    transcript: tuple[str, ...]


class Broken(CallboardError):
    """A schedule broke an invariant."""


@command(
    "rehearse",
    "rehearse\nrehearse --list\nrehearse two-desks-one-job --plain\nrehearse zombie-dispatcher --every-schedule\n"
    "rehearse my-own.toml --plain --export out",
)
@click.argument("name", required=False)
@click.option("--list", "listing", is_flag=True, help="The scenarios there are.")
@click.option("--plain", is_flag=True, help="Print the transcript, without a screen.")
@click.option("--every-schedule", "every", is_flag=True, help="Play every order there is, and count how each ends.")
@click.option("--naive", is_flag=True, help="Play programs that are wrong on purpose: without guards, then with.")
@click.option("--export", "folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              help="Write the run into DIR as text and as SVG.")  # fmt: skip
@click.option("--notes", is_flag=True, help="With the answers and the notes for the trainer: not for the projector.")
def rehearse(
    call: Call, name: str | None, listing: bool, plain: bool, every: bool, naive: bool, folder: Path | None, notes: bool
) -> int:
    """Rehearse a race on the very programs that run in production.

    NAME is one of --list, or the path of a scenario file of your own. It plays on a training database that it makes
    and removes; a database named with --db has to be a training one, and is not touched."""
    room = call.parts.rehearse
    if room is None:
        raise CallboardError("rehearse: this copy of Callboard does not have it")
    if listing:
        return _list(call, room)
    script = None if name is None else room.found(name)
    if not (plain or every or naive or folder or notes or call.as_json) and _is_seen() and call.parts.open_room:
        with hushed():
            return call.parts.open_room(room, script, call.database)
    if script is None:
        raise click.UsageError("name a scenario, or say --list (without a name the room opens, in a terminal)")
    kinds = (BARE, GUARDED) if naive else (SAFE,)
    with _quiet():
        if every:
            return _every(call, room, script, kinds)
        code = _plays(call, room, script, kinds, folder, notes)
    if not call.as_json:
        _say(asked(script, notes=notes))
    return code


@contextmanager
def _quiet() -> Generator[None]:
    """What the engine would log (a router that is down) is part of the story, and told there."""
    log = logging.getLogger("callboard")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def _is_seen() -> bool:
    """A screen is for a person: in a pipe the transcript is printed."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _list(call: Call, room: RehearsalRoom) -> int:
    found = room.listed()
    if call.as_json:
        show.document([ListedDoc(name=each.name, title=each.title) for each in found])
    else:
        rows = [
            (each.name, each.title, "naive" if each.naive else "", "" if each.is_race else "told") for each in found
        ]
        show.table("scenarios", ("name", "title", "", ""), rows)
    return OK


# --- one run -----------------------------------------------------------------------------------------------------


def _plays(
    call: Call, room: RehearsalRoom, script: Script, kinds: Sequence[str], folder: Path | None, notes: bool
) -> int:
    told: list[str] = []
    for kind in kinds:
        lines = _played(call, room, script, kind)
        told += [line.text for line in lines]
        if not call.as_json:
            _print(script, kind, lines)
        if folder is not None:
            _export(folder, script, kind, lines, notes)
    if call.as_json:
        show.document(PlayedDoc(name=script.name, title=script.title, transcript=tuple(told)))
    return OK


def _played(call: Call, room: RehearsalRoom, script: Script, kind: str) -> list[Line]:
    with room.opened(script, kind, call.database) as house:
        for _ in house.player.play():
            pass
        return list(transcript(house.player.now, script.zone, house.rule, house.words))


def _print(script: Script, kind: str, lines: Sequence[Line]) -> None:
    _say([Line(text=heading(script, kind), kind="end")])
    show.line("")
    _say(lines)
    show.line("")


def _say(lines: Sequence[Line]) -> None:
    """On a terminal long lines go on below their own words; in a pipe or a file they stay whole."""
    console = Console(file=sys.stdout, soft_wrap=True, markup=False, emoji=False, highlight=False)
    console.print(painted(lines, console.width if sys.stdout.isatty() else None))


def _export(folder: Path, script: Script, kind: str, lines: Sequence[Line], notes: bool) -> None:
    text, picture = export(folder, script, kind, lines, notes=notes)
    show.note(f"written: {text} and {picture}")


# --- every schedule ------------------------------------------------------------------------------------------------


def _every(call: Call, room: RehearsalRoom, script: Script, kinds: Sequence[str]) -> int:
    tallies: list[Tally] = []
    for kind in kinds:
        with room.opened(script, kind, call.database) as house, _counting(script.title) as progress:
            tallies.append(house.every(progress))
    if call.as_json:
        docs = [_tally(each) for each in tallies]
        show.document(docs[0] if len(docs) == 1 else _naive_doc(*docs))
    else:
        for kind, each in zip(kinds, tallies, strict=True):
            _told(script, kind, each)
    return REFUSED if tallies[-1].violations else OK


def _tally(found: Tally) -> TallyDoc:
    return TallyDoc(schedules=found.schedules, violations=len(found.violations), outcomes=dict(found.outcomes))


def _naive_doc(bare: TallyDoc, guarded: TallyDoc) -> NaiveTallyDoc:
    return NaiveTallyDoc(schedules=bare.schedules, violations=bare.violations, outcomes=bare.outcomes, guarded=guarded)


def _told(script: Script, kind: str, found: Tally) -> None:
    broke = "violations" if kind == SAFE else "double-book"
    title = f"{script.title} ({kind}): {found.schedules} schedules, {len(found.violations)} {broke}"
    show.table(title, ("how it ends", "schedules>"), found.outcomes)
    if found.violations and kind != SAFE:
        show.line(f"  {BELIEVED}")
    for each in found.violations[:1]:
        show.line(f"  the first: {schedule(each, script.zone)}")


@contextmanager
def _counting(what: str) -> Generator[Callable[[Tally], None] | None]:
    """How many have been played, on stderr where that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with Console(stderr=True, markup=False).status(what) as status:

        def said(found: Tally) -> None:
            if found.schedules % 20 == 0:
                status.update(f"{what}: {found.schedules} schedules, {len(found.violations)} violations")

        yield said


COMMANDS = {"rehearse": rehearse}
__all__ = ["COMMANDS", "House"]
