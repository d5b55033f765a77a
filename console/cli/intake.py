"""Jobs, workers and areas come in: from files, or one by one by options."""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import click
import msgspec
from msgspec import Struct

from console.cli import show
from console.cli.call import ACTOR, DESK_ROLES, ROLE, Call, actor, command, opened, shared
from console.cli.moments import moment
from console.cli.roster import SUPERVISOR
from console.cli.trouble import OK, REFUSED
from console.cli.wire import AssignedDoc, assigned_doc
from engine.imports import areas as areas_file
from engine.imports import jobs as jobs_file
from engine.imports import workers as workers_file
from engine.imports.parsed import MOST_BYTES, Parsed, Rejected, Wrong
from engine.imports.zones import zone_named
from engine.ports import Engine, Invalid
from engine.rules import days
from engine.rules.nouns import Actor, NewJob, NewWorker
from engine.verbs import intake
from engine.verbs.intake import Imported

N = TypeVar("N", NewJob, NewWorker)
SHOWN_MAX = 200
JOB_TIMES = {"not_before": "--from", "due_by": "--due"}
ROLE_FOR = {"jobs": "dispatcher", "workers": "supervisor", "areas": "supervisor"}


class ImportDoc(Struct, frozen=True, kw_only=True):
    """Counts of rows by what they did (or would do, where ``dry_run``), and every refused cell."""

    new: int
    changed: int
    unchanged: int
    rejected: tuple[Rejected, ...]
    warnings: tuple[str, ...]
    changes: tuple[str, ...]
    ids: tuple[str, ...]
    dry_run: bool


@command(
    "import",
    "import jobs monday.csv --dry-run --db site.db\n"
    "import workers staff.csv --map name=Employee --map capacity==1 --db site.db",
)
@click.argument("kind", type=click.Choice(list(ROLE_FOR)))
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True, exists=True, dir_okay=False))
@click.option("--tz", metavar="ZONE", help="Zone of times written without an offset (else the site's).")
@click.option("--map", "maps", metavar="OURS=THEIRS", multiple=True,
              help="Which column of the file is ours: lat=Latitude. duration_min==30: the same for every row. "
                   "due_by=+240: so many minutes after not_before. due_by:dmy=Frist: day first.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Show what would change; change nothing.")
@click.option("--all-or-nothing", is_flag=True, help="If one row is refused, nothing lands.")
@click.option("--no-offer", is_flag=True, help="Do not offer on-demand jobs at once; the rounds will.")
@ACTOR
@click.option("--role", type=click.Choice(DESK_ROLES), help="Act as this role (else as a dispatcher for jobs, as a "
              "supervisor for workers and areas, which are theirs).")  # fmt: skip
def import_(
    call: Call, kind: str, file: Path, tz: str | None, maps: tuple[str, ...], dry_run: bool, all_or_nothing: bool,
    no_offer: bool, actor_name: str | None, role: str | None,
) -> int:  # fmt: skip
    """Import jobs, workers or areas from a CSV, JSON or GeoJSON file.

    Good rows land and bad rows are listed by row, column, value and rule (exit 1 where any was refused). Importing the
    same file again changes nothing."""
    data, columns = _data(file), _columns(maps)
    with opened(call) as engine, show.working(f"Importing {kind} from {file.name}"):
        who, zone = actor(engine, actor_name, role or ROLE_FOR[kind]), tz or engine.site.zone
        how = _Way(zone=zone, columns=columns, dry_run=dry_run, all_or_nothing=all_or_nothing, offer=not no_offer)
        done = _take(engine, who, kind, data, file.name, how)
    if call.as_json:
        show.document(_import_doc(done, dry_run=dry_run))
    else:
        _tell(done, kind, dry_run=dry_run)
    return REFUSED if done.rejected else OK


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """How a file is read and landed."""

    zone: str
    columns: Mapping[str, str]
    dry_run: bool
    all_or_nothing: bool
    offer: bool = True


def _take(engine: Engine, who: Actor, kind: str, data: bytes, name: str, how: _Way) -> Imported:
    if kind == "areas":
        if how.columns:
            raise click.BadParameter("areas are GeoJSON and have no columns to map", param_hint="--map")
        found = areas_file.areas(data, name=name)
        return intake.import_areas(engine, who, found, dry_run=how.dry_run, all_or_nothing=how.all_or_nothing)
    zone = zone_named(how.zone)
    if isinstance(zone, Wrong):
        raise click.BadParameter(zone.rule, param_hint="--tz")
    null_island = engine.settings.location.allow_null_island
    if kind == "workers":
        crew = workers_file.workers(data, name=name, zone=zone.zone, columns=how.columns, allow_null_island=null_island)
        done = intake.import_workers(engine, who, crew, dry_run=how.dry_run, all_or_nothing=how.all_or_nothing)
    else:
        read = jobs_file.jobs(data, name=name, zone=zone.zone, columns=how.columns, allow_null_island=null_island)
        done = intake.import_jobs(
            engine, who, read, dry_run=how.dry_run, all_or_nothing=how.all_or_nothing, offer=how.offer
        )
    return replace(done, warnings=(*done.warnings, zone.warning)) if zone.warning else done


def _data(file: Path) -> bytes:
    """The whole file, within the limit of an import; ``-`` is stdin."""
    if str(file) == "-":
        data = sys.stdin.buffer.read(MOST_BYTES + 1)
    else:
        with file.open("rb") as source:
            data = source.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise click.BadParameter(f"{file} has more than {MOST_BYTES // 1_000_000} MB: split it", param_hint="FILE")
    return data


def _columns(maps: Iterable[str]) -> dict[str, str]:
    columns: dict[str, str] = {}
    for told in maps:
        ours, equals, theirs = told.partition("=")
        if not equals or not ours:
            raise click.BadParameter(f"{told!r}: OURS=THEIRS is wanted, such as lat=Latitude", param_hint="--map")
        columns[ours] = theirs
    return columns


def _import_doc(done: Imported, *, dry_run: bool) -> ImportDoc:
    return ImportDoc(new=done.new, changed=done.changed, unchanged=done.unchanged, rejected=done.rejected,
                     warnings=done.warnings, changes=done.changes if dry_run else (), ids=done.ids,
                     dry_run=dry_run)  # fmt: skip


def _tell(done: Imported, kind: str, *, dry_run: bool) -> None:
    for warning in done.warnings:
        show.note(f"warning: {warning}")
    if dry_run:
        for change in done.changes[:SHOWN_MAX]:
            show.line(change)
        if len(done.changes) > SHOWN_MAX:
            show.line(f"… and {len(done.changes) - SHOWN_MAX} more")
    if done.rejected:
        rows = [(each.row, each.column, each.value, each.rule) for each in done.rejected[:SHOWN_MAX]]
        show.table(f"{len(done.rejected)} refused", ("row>", "column", "value", "rule"), rows)
    verb = "would be " if dry_run else ""
    show.line(f"{kind}: {done.new} {verb}new, {done.changed} {verb}changed, {done.unchanged} unchanged, "
              f"{len(done.rejected)} refused{'; nothing was changed (dry run)' if dry_run else ''}")  # fmt: skip


# --- one by one --------------------------------------------------------------------------------------------------


class CreatedDoc(Struct, frozen=True, kw_only=True):
    """``replayed``: the idempotency key had been used with the same body; this is the job of that time."""

    id: str
    state: str
    replayed: bool
    assigned: AssignedDoc | None


class Place(click.ParamType[str]):
    """``LAT,LNG`` in degrees; read by the same rules as a file."""

    name = "lat,lng"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value.count(",") != 1:
            self.fail(f"{value!r}: LAT,LNG is wanted, such as 44.174,12.063", param, ctx)
        return value


@click.group("create")
@shared
def create() -> None:
    """Create one job or one worker by options."""


@command(
    "job", "create job --type visit --skill s1 --at 44.17,12.06 --from 07:00 --due 08:00 --duration 15 --db site.db"
)
@click.option("--id", "ref", metavar="ID", default="", help="Its id (else it is given a number: J-17).")
@click.option("--type", "kind", metavar="TEXT", required=True, help="What kind of job.")
@click.option("--skill", "skills", metavar="TEXT", multiple=True, help="A skill it needs. Repeatable.")
@click.option("--at", "place", type=Place(), metavar="LAT,LNG", required=True, help="Where, in degrees.")
@click.option("--from", "not_before", metavar="TIME", default="now", show_default=True, help="The window opens.")
@click.option("--due", "due_by", metavar="TIME", required=True, help="The latest arrival.")
@click.option("--duration", metavar="MIN", default="30", show_default=True, help="Service, in minutes.")
@click.option("--priority", metavar="1-5", default="1", show_default=True, help="5 is an emergency.")
@click.option("--address", metavar="TEXT", default="", help="For people.")
@click.option("--notes", metavar="TEXT", default="", help="For people.")
@click.option(
    "--attach", "attached", metavar="NAME=TEXT", multiple=True, help="Kept with the job and shown. Repeatable."
)
@click.option("--key", metavar="KEY", help="Idempotency key: the same key and body give the same job.")
@ACTOR
@ROLE
def create_job(
    call: Call, ref: str, place: str, not_before: str, due_by: str, key: str | None, actor_name: str | None, role: str,
    kind: str, skills: tuple[str, ...], duration: str, priority: str, address: str, notes: str,
    attached: tuple[str, ...],
) -> int:  # fmt: skip
    """Create a job; where its window is near it is offered at once.

    TIME is RFC 3339, local to the site (2027-03-15 07:02), a time of today (07:02), or now."""
    lat, lng = place.split(",")
    with opened(call) as engine:
        said = {
            "id": ref or "new", "type": kind, "skills": sorted(skills), "lat": lat.strip(), "lng": lng.strip(),
            "not_before": not_before, "due_by": due_by, "duration_min": duration, "priority": priority,
            "address": address, "notes": notes, "attachments": _named(attached, "--attach") or "",
        }  # fmt: skip
        who, body = actor(engine, actor_name, role), _one(said).decode()
        made = None if key is None else intake.created_before(engine, who, key, body)
        if made is None:
            made = intake.create_job(engine, who, _new_job(engine, said, ref), key=key, said=body)
        assigned = assigned_doc(made.assigned, engine.site.zone) if made.assigned else None
    if call.as_json:
        done = CreatedDoc(id=made.job.id, state=made.job.state, replayed=made.replayed, assigned=assigned)
        show.document(done)
    else:
        offered = f", offered to {assigned.offer.worker}" if assigned and assigned.offer else ""
        show.line(f"{made.job.id} {'was created before' if made.replayed else 'created'}: {made.job.state}{offered}")
    return OK


class AttachedDoc(Struct, frozen=True, kw_only=True):
    """``attachments``: a JSON object, as text."""

    id: str
    attachments: str


@command("attach", "attach J-17 code=4711 signed_by='E. Moss' --db site.db")
@click.argument("job")
@click.argument("items", metavar="NAME=TEXT…", nargs=-1, required=True)
@click.option("--note", metavar="TEXT", default="", help="Why, for the audit.")
@ACTOR
@ROLE
def attach(call: Call, job: str, items: tuple[str, ...], note: str, actor_name: str | None, role: str) -> int:
    """Keep something with a job: a check-in code, a proof of delivery. NAME= takes it away again.

    Attachments are shown with the job and change nothing else; a job that is done takes them too."""
    named = _named(items, "NAME=TEXT")
    with opened(call) as engine:
        done = intake.attach(engine, actor(engine, actor_name, role), job, named, note)
    if call.as_json:
        show.document(AttachedDoc(id=done.id, attachments=done.attachments))
    else:
        show.line(f"{done.id}: attached {done.attachments}")
    return OK


def _named(items: Iterable[str], hint: str) -> dict[str, str]:
    named: dict[str, str] = {}
    for each in items:
        name, equals, text = each.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{each!r}: NAME=TEXT is wanted, such as code=4711", param_hint=hint)
        named[name.strip()] = text
    return named


def _new_job(engine: Engine, said: Mapping[str, object], ref: str) -> NewJob:
    """The job that was said, its times as instants of now."""
    starts, ends = (_time(engine, str(said[name]), option) for name, option in JOB_TIMES.items())
    row = {**said, "not_before": starts, "due_by": ends}
    read = jobs_file.jobs(_one(row), name="options.json", zone=days.zone_named(engine.site.zone))
    return replace(_only(read), ref=ref)


@command(
    "worker",
    "create worker --id ana --name 'Ana Bell' --skill s1 --home 44.17,12.2 --from 07:00 --to 15:00 --db site.db",
)
@click.option("--id", "ref", metavar="ID", default="", help="Their id (else they are given a number: W-4).")
@click.option("--name", metavar="TEXT", required=True, help="Name.")
@click.option("--skill", "skills", metavar="TEXT", multiple=True, help="A skill they have. Repeatable.")
@click.option("--home", "place", type=Place(), metavar="LAT,LNG", required=True, help="Home base, in degrees.")
@click.option("--from", "shift_start", metavar="TIME", required=True, help="The shift begins.")
@click.option("--to", "shift_end", metavar="TIME", required=True, help="The shift ends.")
@click.option("--capacity", metavar="N", default="1", show_default=True, help="Jobs that may overlap.")
@click.option("--region", metavar="REGION", default="", help="Region (else the one their home lies in).")
@click.option("--area", metavar="AREA", default="", help="Service area, by id.")
@click.option("--travels", is_flag=True, help="May be sent outside the service area.")
@ACTOR
@SUPERVISOR
def create_worker(
    call: Call, ref: str, place: str, shift_start: str, shift_end: str, actor_name: str | None, role: str,
    name: str, skills: tuple[str, ...], capacity: str, region: str, area: str, travels: bool,
) -> int:  # fmt: skip
    """Create a worker with a shift. Known ids are refused: `import` changes a worker."""
    lat, lng = place.split(",")
    with opened(call) as engine:
        if ref and engine.store.worker(engine.tenant, ref) is not None:
            raise Invalid(f"id {ref!r}: there is a worker of that id already")
        row = {
            "id": ref or "new", "name": name, "skills": list(skills), "lat": lat.strip(), "lng": lng.strip(),
            "shift_start": _time(engine, shift_start, "--from"), "shift_end": _time(engine, shift_end, "--to"),
            "capacity": capacity, "region": region, "area": area, "travels": "yes" if travels else "no",
        }  # fmt: skip
        read = workers_file.workers(_one(row), name="options.json", zone=days.zone_named(engine.site.zone))
        new = replace(_only(read), ref=ref)
        who = actor(engine, actor_name, role)
        done = intake.import_workers(engine, who, Parsed(items=((1, new),), rejected=(), warnings=()))
        for each in done.rejected:
            raise Invalid(each.rule)
    if call.as_json:
        show.document(CreatedDoc(id=done.ids[0], state="", replayed=False, assigned=None))
    else:
        show.line(f"{done.ids[0]} created")
    return OK


def _time(engine: Engine, text: str, option: str) -> str:
    now_ms = engine.store.clock(engine.tenant).now_ms
    return days.rfc3339(moment(text, engine.site.zone, now_ms, option))


def _one(row: Mapping[str, object]) -> bytes:
    return msgspec.json.encode([{name: value for name, value in row.items() if value != ""}])


def _only(read: Parsed[N]) -> N:
    """The one noun that was read from options. Raises UsageError with the field, its value and the rule."""
    for each in read.rejected:
        raise click.UsageError(f"{each.column} {each.value!r}: {each.rule}")
    return read.items[0][1]


create.add_command(create_job)
create.add_command(create_worker)
COMMANDS: dict[str, click.Command] = {"import": import_, "create": create, "attach": attach}
