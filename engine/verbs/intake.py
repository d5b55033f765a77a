"""Jobs, workers and areas come in: one by one from a door, or many from a file. On-demand jobs are offered at once."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias, TypeVar

import msgspec

from engine import records
from engine.imports.attachments import written
from engine.imports.json_text import Fields, loaded
from engine.imports.parsed import Parsed, Rejected, Wrong
from engine.ports import REFUSALS, CallboardError, Engine, Invalid, NotFound, Stale
from engine.program import Lost, Program
from engine.records import JobKey, Why
from engine.rules.days import rfc3339
from engine.rules.nouns import WAITING, Actor, Area, Interval, Job, NewJob, NewWorker, Point, Role, Worker
from engine.rules.place import inside
from engine.verbs.answer import due_for_offer
from engine.verbs.assign import Assigned, assign, none_lapsed, require

READ_ONLY_BY_PEOPLE = frozenset({"notes", "attachments"})
"""Fields of a job that no rule looks at: they may change whatever the job's state."""
N = TypeVar("N", NewJob, NewWorker, Area)


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """``replayed``: the key had been used with the same body, and this is the job of that time."""

    job: Job
    assigned: Assigned | None = None
    replayed: bool = False


class KeyReused(Invalid):
    """The idempotency key was used before with another body."""


def create_job(
    engine: Engine, actor: Actor, new: NewJob, *, key: str | None = None, said: str | None = None
) -> Created:
    """Take a job in and, when it is on-demand, offer it at once. ``said``: the body as it was said, where that is not
    what it comes to ("now" is another instant each time): a key goes with what was said. Raises KeyReused, Invalid."""
    require(actor, "create")
    with engine.metrics.answering("create", REFUSALS):
        fields = problem(new)
        if fields is not None:
            raise Invalid(fields)
        body = said or msgspec.json.encode(new, order="sorted").decode()
        return _created(engine, actor, new, None if key is None else _stamp(key, body))


def created_before(engine: Engine, actor: Actor, key: str, said: str) -> Created | None:
    """The job of this key and body, looked for before the body is read: what was sound when it was said first ("due
    08:00", at 07:30) may not be now. None for a new key. Raises KeyReused."""
    require(actor, "create")
    return _replayed(engine, _stamp(key, said))


def _stamp(key: str, body: str) -> JobKey:
    return JobKey(key=key, body_hash=hashlib.sha256(body.encode("utf-8", "backslashreplace")).hexdigest())


def _created(engine: Engine, actor: Actor, new: NewJob, stamp: JobKey | None) -> Created:
    if stamp is not None and (known := _replayed(engine, stamp)) is not None:
        return known
    made = engine.store.run(engine.tenant, records.open_job(actor, new, region_of(engine, new.place), stamp))
    if isinstance(made, Lost):
        if stamp is not None and (known := _replayed(engine, stamp)) is not None:
            return known
        raise Invalid(f"id {new.ref!r}: there is a job of that name already")
    return _offered(engine, made)


def problem(new: NewJob) -> str | None:
    """The first field of a new job that breaks a rule, with its value and the rule."""
    if new.duration_ms <= 0:
        return f"duration {new.duration_ms} ms: more than 0 is wanted"
    if new.not_before_ms > new.due_by_ms:
        return f"due_by {new.due_by_ms}: at or after not_before ({new.not_before_ms}) is wanted"
    if not 1 <= new.priority <= 5:
        return f"priority {new.priority}: 1 to 5 is wanted"
    return None


def _replayed(engine: Engine, stamp: JobKey) -> Created | None:
    known = engine.store.job_key(engine.tenant, stamp.key)
    if known is None:
        return None
    body_hash, job_id = known
    if body_hash != stamp.body_hash:
        raise KeyReused(f"key {stamp.key!r} was used for job {job_id} with another body; use a new key for a new job")
    job = engine.store.job(engine.tenant, job_id)
    return None if job is None else Created(job=job, replayed=True)


def _offered(engine: Engine, job_id: str) -> Created:
    job = engine.store.job(engine.tenant, job_id)
    if job is None:
        raise Invalid(f"job {job_id} was removed while it was made")
    if job.state not in WAITING or not due_for_offer(engine, job):
        return Created(job=job)
    tenure = engine.tenures.get(job.region)
    actor = Actor(name=f"auto:{job.region}", role=Role.AUTOMATIC, tenant=engine.tenant)
    assigned = assign(engine, actor, job.id, epoch=tenure.epoch if tenure else None)
    return Created(job=assigned.job, assigned=assigned)


def attach(engine: Engine, actor: Actor, job_id: str, items: Mapping[str, str], words: str = "") -> Job:
    """Put texts into a job's attachments by their names, in whatever state it is; an empty one takes its name away.

    Raises Forbidden, NotFound, Invalid, Stale."""
    require(actor, "create")
    job = engine.store.job(engine.tenant, job_id)
    if job is None:
        raise NotFound(f"job {job_id}: not found")
    had = loaded(job.attachments or "{}")
    values = dict(had.values) if isinstance(had, Fields) else {}
    kept = written(Fields({name: each for name, each in {**values, **items}.items() if each != ""}))
    if isinstance(kept, Wrong):
        raise Invalid(f"attachments of {job_id}: {kept.rule}")
    program = records.annotate_job(actor, job_id, job.version, notes=job.notes, attachments=kept, why=Why(words=words))
    if isinstance(engine.store.run(engine.tenant, program), Lost):
        raise Stale(f"job {job_id} changed meanwhile; try again")
    return replace(job, attachments=kept, version=job.version + 1)


def region_of(engine: Engine, place: Point) -> str:
    """The region whose area holds a place; else the first that claims everywhere."""
    areas = {each.id: each for each in engine.store.areas(engine.tenant)}
    regions = engine.store.regions(engine.tenant)
    for region in regions:
        if region.area_id is not None and inside(areas[region.area_id], place):
            return region.id
    return next((each.id for each in regions if each.area_id is None), regions[0].id)


# --- files -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Counts of rows by what they did (or would do, in a dry run), and every rejected cell."""

    new: int
    changed: int
    unchanged: int
    rejected: tuple[Rejected, ...]
    warnings: tuple[str, ...]
    ids: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()


Verdict: TypeAlias = tuple[str, str, Program[str] | None]
"""What one row comes to: new, changed or unchanged; a line for the preview; the program that does it."""


def import_jobs(
    engine: Engine, actor: Actor, parsed: Parsed[NewJob], *, dry_run: bool = False, all_or_nothing: bool = False,
    offer: bool = True,
) -> Imported:  # fmt: skip
    """Take parsed jobs in; known ids are amended where they may be. On-demand ones are offered, least slack first."""
    require(actor, "import")
    with nullcontext() if dry_run else none_lapsed(engine, actor):
        stored = {job.id: job for job in engine.store.jobs(engine.tenant)}
        judge = partial(_judge_job, engine, actor, stored=stored)
        done = _land(engine, parsed, _ref, judge, dry_run=dry_run, all_or_nothing=all_or_nothing)
    if offer and not dry_run:
        offer_waiting(engine, done.ids)
    return done


def _ref(new: NewJob | NewWorker) -> str:
    return new.ref


def offer_waiting(engine: Engine, job_ids: Iterable[str]) -> None:
    """Offer those of these jobs that are on-demand now, least slack first, then priority."""
    now_ms = engine.store.clock(engine.tenant).now_ms
    jobs = [job for each in job_ids if (job := engine.store.job(engine.tenant, each)) is not None]
    jobs.sort(key=lambda job: (job.due_by_ms - now_ms, -job.priority, job.id))
    for job in jobs:
        _offered(engine, job.id)


def _judge_job(engine: Engine, actor: Actor, new: NewJob, stored: Mapping[str, Job]) -> Verdict:
    region = region_of(engine, new.place)
    old = stored.get(new.ref)
    if old is not None:
        new = replace(new, **{name: getattr(old, name) for name in new.unsaid})
    if old is None:
        window = f"{rfc3339(new.not_before_ms, engine.site.zone)} to {rfc3339(new.due_by_ms, engine.site.zone)}"
        return "new", f"{new.ref or 'a new job'}: new, {window}", records.open_job(actor, new, region)
    changes = _differences(old, new)
    if not changes:
        return "unchanged", "", None
    if READ_ONLY_BY_PEOPLE.issuperset(changes):
        program = records.annotate_job(actor, old.id, old.version, notes=new.notes, attachments=new.attachments)
        return "changed", f"{old.id}: {', '.join(changes)}", program
    if old.state not in WAITING:
        held = f" by {old.worker_id}" if old.worker_id else ""
        raise Invalid(f"{changes[0]}: the job is {old.state}{held}; release or withdraw it first, then import again")
    return "changed", f"{old.id}: {', '.join(changes)}", records.amend_job(actor, old.id, old.version, new, region)


def _differences(old: Job, new: NewJob) -> list[str]:
    names = ("type", "skills", "place", "not_before_ms", "due_by_ms", "duration_ms", "priority", "address", "notes",
             "attachments")  # fmt: skip
    return [name for name in names if getattr(old, name) != getattr(new, name)]


def import_workers(
    engine: Engine, actor: Actor, parsed: Parsed[NewWorker], *, dry_run: bool = False, all_or_nothing: bool = False
) -> Imported:
    """Take parsed workers in; known ids are amended, and their shift replaces those it overlaps; who had left is back.
    Shift, skills and capacity are the roster's, and so a supervisor's. Raises Forbidden."""
    require(actor, "roster")
    with nullcontext() if dry_run else none_lapsed(engine, actor):
        judge = partial(_judge_worker, engine, actor, _known(engine))
        done = _land(engine, parsed, _ref, judge, dry_run=dry_run, all_or_nothing=all_or_nothing)
        if not dry_run:
            for worker_id, skills in engine.store.enrolled(engine.tenant):
                engine.index.enrol(engine.tenant, worker_id, skills)
    return done


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What a row about a worker is judged against. ``gone``: region by id of those who left."""

    workers: Mapping[str, Worker]
    gone: Mapping[str, str]
    regions: Sequence[str]
    areas: frozenset[str]


def _known(engine: Engine) -> _Known:
    store, tenant = engine.store, engine.tenant
    return _Known(
        workers={worker.id: worker for worker in store.workers(tenant)},
        gone={str(row["worker_id"]): str(row["region_id"]) for row in store.rows(tenant, "list_archived")},
        regions=[each.id for each in store.regions(tenant)],
        areas=frozenset(each.id for each in store.areas(tenant)),
    )


def _judge_worker(engine: Engine, actor: Actor, known: _Known, new: NewWorker) -> Verdict:
    if new.region is not None and new.region not in known.regions:
        raise Invalid(f"region {new.region!r}: one of {', '.join(known.regions)} is wanted")
    if new.area is not None and new.area not in known.areas:
        raise Invalid(f"area {new.area!r}: import the area first; known: {', '.join(sorted(known.areas)) or 'none'}")
    region = new.region or region_of(engine, new.home)
    old = known.workers.get(new.ref)
    theirs = old.region if old is not None else known.gone.get(new.ref)
    if theirs is None:
        return "new", f"{new.ref or 'a new worker'}: new", records.enrol(actor, new, region, known=False)
    if old is not None and _same_worker(old, new):
        return "unchanged", "", None
    if new.region is not None and new.region != theirs:
        raise Invalid(f"region {new.region!r}: {new.ref} belongs to {theirs}; `handoff` moves a worker")
    if old is None:
        return "changed", f"{new.ref}: back", records.enrol(actor, new, region, known=True, back=True)
    _fits(old, new)
    return "changed", f"{old.id}: changed", records.enrol(actor, new, region, known=True)


def _fits(old: Worker, new: NewWorker) -> None:
    """What the worker holds allows the change. Raises Invalid."""
    lanes = 1 + max((each.lane for each in old.bookings), default=0)
    if new.capacity < lanes:
        raise Invalid(f"capacity {new.capacity}: {old.id} has jobs booked beside each other; {lanes} or more is wanted")
    if old.live_offer_id is not None:
        raise Invalid(f"id {old.id!r}: offer {old.live_offer_id} stands; withdraw it or wait, then import again")


def _same_worker(old: Worker, new: NewWorker) -> bool:
    shift = Interval(starts_ms=new.shift_starts_ms, ends_ms=new.shift_ends_ms)
    area = old.area.id if old.area else None
    return (old.name, old.skills, old.home, old.capacity, area, old.travels) == (
        new.name, new.skills, new.home, new.capacity, new.area, new.travels,
    ) and shift in old.shifts  # fmt: skip


def import_areas(
    engine: Engine, actor: Actor, parsed: Parsed[Area], *, dry_run: bool = False, all_or_nothing: bool = False
) -> Imported:
    """Take parsed service areas in; one of a known id is replaced. Raises Forbidden."""
    require(actor, "roster")
    stored = {area.id: area for area in engine.store.areas(engine.tenant)}
    return _land(
        engine,
        parsed,
        lambda new: new.id,
        lambda new: _judge_area(actor, new, stored),
        dry_run=dry_run,
        all_or_nothing=all_or_nothing,
    )


def _judge_area(actor: Actor, new: Area, stored: Mapping[str, Area]) -> Verdict:
    if stored.get(new.id) == new:
        return "unchanged", "", None
    word = "changed" if new.id in stored else "new"
    return word, f"{new.id}: {word}", records.set_area(actor, new)


def _land(
    engine: Engine,
    parsed: Parsed[N],
    ident: Callable[[N], str],
    judge: Callable[[N], Verdict],
    *,
    dry_run: bool,
    all_or_nothing: bool,
) -> Imported:
    """Judge every row first; then write them in one transaction (all or nothing), or one each."""
    rejected = list(parsed.rejected)
    judged: list[tuple[int, str, Verdict]] = []
    for row, item in parsed.items:
        try:
            judged.append((row, ident(item), judge(item)))
        except CallboardError as error:
            rejected.append(Rejected(row=row, column="id", value=ident(item), rule=str(error)))
    blocked = any(each.row == 0 for each in rejected) or (all_or_nothing and bool(rejected))
    ids: list[str] = []
    if not dry_run and not blocked:
        judged = _written(engine, judged, rejected, together=all_or_nothing, ids=ids)
    counted = [] if blocked and not dry_run else [verdict for _, _, verdict in judged]
    count = {word: sum(1 for each in counted if each[0] == word) for word in ("new", "changed", "unchanged")}
    return Imported(**count, rejected=tuple(sorted(rejected, key=lambda each: (each.row, each.column))),
                    warnings=parsed.warnings, ids=tuple(ids),
                    changes=tuple(each[1] for each in counted if each[1]))  # fmt: skip


def _written(
    engine: Engine, judged: list[tuple[int, str, Verdict]], rejected: list[Rejected], *,
    together: bool, ids: list[str],
) -> list[tuple[int, str, Verdict]]:  # fmt: skip
    if together:
        done = engine.store.run(engine.tenant, _all([program for _, _, (_, _, program) in judged if program]))
        if isinstance(done, Lost):
            rejected.append(Rejected(row=0, column="id", value="", rule=CHANGED))
            return []
        ids += done
        return judged
    kept: list[tuple[int, str, Verdict]] = []
    for row, ident, verdict in judged:
        made = engine.store.run(engine.tenant, verdict[2]) if verdict[2] else ident
        if isinstance(made, Lost):
            rejected.append(Rejected(row=row, column="id", value=ident, rule=CHANGED))
        else:
            kept.append((row, ident, verdict))
            ids += [made] if verdict[2] else []
    return kept


CHANGED = "it changed while the file was read; import the file again"


def _all(programs: Sequence[Program[str]]) -> Program[list[str]]:
    made: list[str] = []
    for program in programs:
        one = yield from program
        made.append(one)
    return made
