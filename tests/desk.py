"""A small desk for tests: a real training site in a folder, whose clock, workers, jobs and fixes are a line each.

Nothing is faked: SQLite on disk, the real index, the verbs. Times are minutes from the desk's first instant; without a
router an ETA is the stand-in, so that ``north(12)`` is 12 minutes from the middle.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from engine import wiring
from engine.imports.parsed import Parsed
from engine.records import Why
from engine.rules.ledger import Alert, Considered
from engine.rules.nouns import Actor, Area, FixReport, Interval, Job, NewJob, NewWorker, Offer, Point, Role, Worker
from engine.verbs import answer, ingest, intake, region, roster, site, sweep
from engine.verbs.assign import Assigned, assign
from engine.verbs.override import Overridden, override

MINUTE_MS = 60_000
START_MS = 1_800_000_000_000  # 2027-01-15 08:00 UTC, 09:00 in Vienna
MIDDLE = Point(48.2, 16.4)
METRES_A_DEGREE = 111_195.0
STAND_IN_M_A_MINUTE = 500 / 1.4  # 30 km/h over a detour of 1.4
WHY = Why(reason="local_knowledge", words="said so on the telephone")


def north(minutes: float, of: Point = MIDDLE) -> Point:
    """A place so many stand-in minutes north (south where negative); a hair nearer, since all times round up."""
    metres = minutes * STAND_IN_M_A_MINUTE
    return Point(of.lat + metres * 0.999_99 / METRES_A_DEGREE, of.lng)


def person(name: str = "dora", role: Role = Role.SUPERVISOR) -> Actor:
    return Actor(name=name, role=role)


def box(area_id: str, centre: Point, half_deg: float) -> Area:
    south, north_ = centre.lat - half_deg, centre.lat + half_deg
    west, east = centre.lng - half_deg, centre.lng + half_deg
    ring = (Point(south, west), Point(south, east), Point(north_, east), Point(north_, west))
    return Area(id=area_id, name=area_id.title(), rings=(ring,))


class Desk:
    """One site, one process. ``auto``: jobs are offered by themselves; other settings as sections of a site file.

    ``mono_ms``: the clock that does not jump; by default it goes with the site's."""

    def __init__(
        self,
        folder: Path,
        *,
        auto: bool = False,
        zone: str = "Europe/Vienna",
        now_ms: int = START_MS,
        regions: tuple[tuple[str, Area | None], ...] = (("main", None),),
        mono_ms: Callable[[], int] | None = None,
        **settings: Mapping[str, object],
    ) -> None:
        self.path = folder / "desk.db"
        settings["lease"] = {"auto_offer": auto, **settings.get("lease", {})}
        wiring.create(self.path, site.SiteFile(zone=zone, regions=regions, overrides=settings), training=True)
        self.engine = wiring.open_engine(self.path, new_id=wiring.seeded_ids(1), mono_ms=mono_ms)
        self.start_ms = now_ms
        self.places: dict[str, Point] = {}
        self.rounds = sweep.Desk(engine=self.engine, holder="test")
        self.set(now_ms)

    def close(self) -> None:
        wiring.close(self.engine)

    def restart(self) -> None:
        """As after a crash: nothing is given back, a new process opens the file."""
        wiring.close(self.engine)
        self.engine = wiring.open_engine(self.path, new_id=wiring.seeded_ids(2))
        self.rounds = sweep.Desk(engine=self.engine, holder="test again")

    # --- the clock ------------------------------------------------------------------------------------------------

    @property
    def now_ms(self) -> int:
        return self.engine.store.clock("main").now_ms

    def at(self, minutes: float) -> int:
        """So many minutes after the desk's first instant."""
        return self.start_ms + round(minutes * MINUTE_MS)

    def set(self, now_ms: int) -> None:
        site.advance(self.engine, now_ms)

    def advance(self, seconds: float, *, fresh: bool = False) -> None:
        """Let time pass; ``fresh``: every worker then sends a fix from where they are."""
        self.set(self.now_ms + round(seconds * 1000))
        if fresh:
            self.refresh(*self.places)

    # --- people and jobs ------------------------------------------------------------------------------------------

    def worker(
        self, name: str, at: Point = MIDDLE, *, skills: str = "", shift: tuple[float, float] = (-60, 600),
        capacity: int = 1, area: str | None = None, travels: bool = False, home: str | None = None, fix: bool = True,
    ) -> Worker:  # fmt: skip
        """``shift``: from and to, in minutes; ``home``: the region's name; ``fix`` False: never heard of."""
        new = NewWorker(
            ref=name, name=name.title(), skills=frozenset(skills.split()), home=at, shift_starts_ms=self.at(shift[0]),
            shift_ends_ms=self.at(shift[1]), capacity=capacity, region=home, area=area, travels=travels,
        )  # fmt: skip
        done = intake.import_workers(self.engine, person(), Parsed(items=((1, new),), rejected=(), warnings=()))
        assert not done.rejected, done.rejected
        if fix:
            self.fix(name, at)
        return self.hand(name)

    def area(self, area: Area) -> None:
        done = intake.import_areas(self.engine, person(), Parsed(items=((1, area),), rejected=(), warnings=()))
        assert not done.rejected, done.rejected

    def job(
        self, ref: str, at: Point = MIDDLE, *, opens: float = 0, due: float = 60, lasts: float = 30, skills: str = "",
        priority: int = 1, key: str | None = None,
    ) -> Job:  # fmt: skip
        """``opens``, ``due``: minutes after the desk's first instant; ``lasts``: minutes."""
        return intake.create_job(
            self.engine, person(), self.new_job(ref, at, opens=opens, due=due, lasts=lasts, skills=skills,
                                                priority=priority), key=key,
        ).job  # fmt: skip

    def new_job(
        self, ref: str, at: Point = MIDDLE, *, opens: float = 0, due: float = 60, lasts: float = 30, skills: str = "",
        priority: int = 1,
    ) -> NewJob:  # fmt: skip
        return NewJob(
            ref=ref, type="visit", skills=frozenset(skills.split()), place=at, not_before_ms=self.at(opens),
            due_by_ms=self.at(due), duration_ms=round(lasts * MINUTE_MS), priority=priority,
        )  # fmt: skip

    def fix(self, name: str, at: Point, *, age_s: float = 0, accuracy_m: float | None = 5) -> ingest.FixesTaken:
        """A fix that arrives now, taken ``age_s`` ago."""
        self.places[name] = at
        sent = FixReport(worker=name, device_ms=self.now_ms - round(age_s * 1000), lat=at.lat, lng=at.lng,
                         accuracy_m=accuracy_m)  # fmt: skip
        return ingest.report(self.engine, [sent], received_ms=self.now_ms, archive=self.rounds.archive)

    def refresh(self, *names: str) -> None:
        for name in names:
            self.fix(name, self.places[name])

    def absent(self, name: str, start: float, end: float) -> tuple[str, ...]:
        span = Interval(starts_ms=self.at(start), ends_ms=self.at(end))
        return roster.absent(self.engine, person(), name, span)[1]

    # --- acts -----------------------------------------------------------------------------------------------------

    def assign(self, job_id: str) -> Assigned:
        return assign(self.engine, person(), job_id)

    def accept(self, offer: Offer | str, name: str | None = None) -> answer.Answered:
        offer_id, worker = (offer, name or "") if isinstance(offer, str) else (offer.id, name or offer.worker_id)
        return answer.accept(self.engine, person(worker, Role.WORKER), offer_id, worker)

    def decline(self, offer: Offer) -> answer.Answered:
        return answer.decline(self.engine, person(offer.worker_id, Role.WORKER), offer.id, offer.worker_id)

    def begin(self, job_id: str, name: str) -> answer.Answered:
        return answer.start(self.engine, person(name, Role.WORKER), job_id, name)

    def finish(self, job_id: str, name: str) -> answer.Answered:
        return answer.finish(self.engine, person(name, Role.WORKER), job_id, name)

    def give(self, job_id: str, name: str, *, force: bool = True) -> Overridden:
        """By a dispatcher's hand: offered and, with ``force``, accepted on the worker's behalf."""
        return override(self.engine, person(), job_id, name, WHY, force=force)

    def worked(self, name: str, jobs: int) -> None:
        """So many jobs accepted, begun and finished today, each next to where the worker stands (none is on demand)."""
        later = (self.now_ms - self.start_ms) / MINUTE_MS + 90
        for n in range(jobs):
            ref = f"{name}-earlier-{n}"
            self.job(ref, self.places[name], opens=later, due=later + 60, lasts=1)
            self.give(ref, name)
            self.begin(ref, name)
            self.finish(ref, name)
        assert self.hand(name).jobs_today == jobs

    def takeover(self, name: str = "main") -> None:
        """Become the region's dispatcher: the rounds run from here on."""
        region.takeover(self.engine, person(), name, self.rounds.holder)

    def ring(self, *names: str) -> int:
        """The rounds of these names once, in order; answers what they did."""
        known = {each.name: each for each in sweep.ROUNDS}
        return sum(known[name].ring(self.rounds) for name in names)

    # --- what stands ----------------------------------------------------------------------------------------------

    def look(self, job_id: str) -> Job:
        job = self.engine.store.job("main", job_id)
        assert job is not None
        return job

    def hand(self, name: str) -> Worker:
        worker = self.engine.store.worker("main", name)
        assert worker is not None
        return worker

    def alerts(self, kind: str | None = None) -> list[Alert]:
        return [each for each in self.engine.store.alerts("main") if kind in (None, each.kind)]

    def acts(self) -> list[str]:
        return [each.act for each in self.engine.store.audit("main")]


def verdicts(considered: Iterable[Considered]) -> dict[str, str]:
    """Worker → verdict: ``ranked`` or a reason code."""
    return {each.worker: each.verdict for each in considered}


def ranking(considered: Iterable[Considered]) -> list[str]:
    """The ranked workers, first choice first."""
    return [each.worker for each in considered if each.verdict == "ranked"]


def said(considered: Iterable[Considered], name: str) -> Considered:
    return next(each for each in considered if each.worker == name)


def offered_to(done: Assigned) -> str | None:
    return done.offer.worker_id if done.offer else None
