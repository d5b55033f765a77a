"""Shifts and absences."""

import click
from msgspec import Struct

from console.cli import show
from console.cli.call import ACTOR, DESK_ROLES, Call, actor, command, opened
from console.cli.moments import moment
from console.cli.trouble import OK
from console.cli.wire import Span, span
from engine.ports import Engine
from engine.records import Why
from engine.rules.nouns import Interval, Role
from engine.verbs import roster

# Rosters are a supervisor's; whoever may open the database file may be one.
SUPERVISOR = click.option("--role", type=click.Choice(DESK_ROLES), default=Role.SUPERVISOR.value, show_default=True,
                          help="Act as this role.")  # fmt: skip


class AbsenceDoc(Struct, frozen=True, kw_only=True):
    """``touches``: accepted jobs within it, which stay until somebody moves them."""

    id: str
    worker: str
    absence: Span
    touches: tuple[str, ...]


@command("absent", "absent c3 --from 12:00 --to 14:00 --note 'at the doctor' --db site.db")
@click.argument("worker")
@click.option(
    "--from", "starts", metavar="TIME", required=True, help="RFC 3339, local to the site, HH:MM today, or now."
)
@click.option("--to", "ends", metavar="TIME", required=True, help="The end; half-open.")
@click.option("--note", metavar="TEXT", default="", help="Why, for people.")
@ACTOR
@SUPERVISOR
def absent(call: Call, worker: str, starts: str, ends: str, note: str, actor_name: str | None, role: str) -> int:
    """Note that a worker cannot work for a while. Accepted jobs stay; they are listed."""
    with opened(call) as engine:
        away, zone = _interval(engine, starts, ends), engine.site.zone
        made, touched = roster.absent(engine, actor(engine, actor_name, role), worker, away, note)
    doc = AbsenceDoc(id=made, worker=worker, absence=span(away.starts_ms, away.ends_ms, zone), touches=touched)
    if call.as_json:
        show.document(doc)
    else:
        held = f"; still theirs: {', '.join(touched)}" if touched else ""
        show.line(
            f"{made}: {worker} absent {show.when(away.starts_ms, zone)} to {show.when(away.ends_ms, zone)} {zone}{held}"
        )
    return OK


class ShiftDoc(Struct, frozen=True, kw_only=True):
    worker: str
    shift: Span
    touched: tuple[str, ...]


@command("shift", "shift c3 --from '2027-03-16 07:00' --to '2027-03-16 15:00' --db site.db")
@click.argument("worker")
@click.option(
    "--from", "starts", metavar="TIME", required=True, help="RFC 3339, local to the site, HH:MM today, or now."
)
@click.option("--to", "ends", metavar="TIME", required=True, help="The end; half-open.")
@ACTOR
@SUPERVISOR
def shift(call: Call, worker: str, starts: str, ends: str, actor_name: str | None, role: str) -> int:
    """Give a worker a shift, in place of those it overlaps."""
    with opened(call) as engine:
        given, zone = _interval(engine, starts, ends), engine.site.zone
        _, touched = roster.shift(engine, actor(engine, actor_name, role), worker, given)
    if call.as_json:
        show.document(ShiftDoc(worker=worker, shift=span(given.starts_ms, given.ends_ms, zone), touched=touched))
        return OK
    show.line(f"{worker}: shift {show.when(given.starts_ms, zone)} to {show.when(given.ends_ms, zone)} {zone}")
    if touched:
        show.line(f"no shift covers any longer, and they stay theirs: {', '.join(touched)}")
    return OK


def _interval(engine: Engine, starts: str, ends: str) -> Interval:
    zone, now_ms = engine.site.zone, engine.store.clock(engine.tenant).now_ms
    found = Interval(starts_ms=moment(starts, zone, now_ms, "--from"), ends_ms=moment(ends, zone, now_ms, "--to"))
    if found.starts_ms >= found.ends_ms:
        raise click.BadParameter(f"{ends!r}: the end has to come after the start", param_hint="--to")
    return found


class LeftDoc(Struct, frozen=True, kw_only=True):
    worker: str
    left: bool


@command("leave", "leave c3 --note 'moved away' --db site.db")
@click.argument("worker")
@click.option("--note", metavar="TEXT", default="", help="Why, for the audit.")
@ACTOR
@SUPERVISOR
def leave(call: Call, worker: str, note: str, actor_name: str | None, role: str) -> int:
    """Take a worker off the lists. Past reports keep them; refused while they hold an offer or a job."""
    with opened(call) as engine:
        roster.leave(engine, actor(engine, actor_name, role), worker, Why(words=note))
    if call.as_json:
        show.document(LeftDoc(worker=worker, left=True))
    else:
        show.line(f"{worker} has left")
    return OK


COMMANDS = {"absent": absent, "shift": shift, "leave": leave}
