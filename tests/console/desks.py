"""A small training site with a frozen clock, filled through the verbs, and a desk on it that moves only when told."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from textual import events
from textual.keys import _character_to_key  # pyright: ignore[reportPrivateUsage]
from textual.pilot import Pilot

from console.app import Console
from console.behind import Behind
from console.screens.desk import Desk
from engine import wiring
from engine.imports.parsed import Parsed
from engine.ports import Engine
from engine.rules.nouns import Actor, FixReport, NewJob, NewWorker, Point, Role
from engine.verbs import answer, assign, ingest, intake
from engine.verbs.site import SiteFile, advance
from engine.verbs.why import Why

T = TypeVar("T")
NOON_MS = 1_804_420_800_000  # a Saturday in March 2027, 13:00 CET
MINUTE_MS = 60_000
WHO = Actor(name="ana", role=Role.TRAINER)
HARBOUR = Point(44.140, 12.240)
NAMES = ("Ana Rossi", "Ben Kovač", "Cleo Wang", "Dora Okafor", "Emil Sørensen", "Fatima Haddad")


def near(at: int) -> Point:
    return Point(HARBOUR.lat + 0.003 * (at % 4), HARBOUR.lng + 0.004 * (at // 4))


def worker(at: int, name: str, skills: str = "proctor") -> NewWorker:
    return NewWorker(
        ref=f"W-{at}",
        name=name,
        skills=frozenset(skills.split()),
        home=near(at),
        shift_starts_ms=NOON_MS - 4 * 60 * MINUTE_MS,
        shift_ends_ms=NOON_MS + 6 * 60 * MINUTE_MS,
    )


def job(ref: str, *, due_min: int, skills: str = "proctor", priority: int = 1, **more: Any) -> NewJob:
    due_ms = NOON_MS + due_min * MINUTE_MS
    told = {"type": "exam", "address": "Harbour Hall, room 2", "duration_ms": 30 * MINUTE_MS, "place": near(due_min)}
    return NewJob(
        ref=ref,
        skills=frozenset(skills.split()),
        not_before_ms=due_ms - 40 * MINUTE_MS,
        due_by_ms=due_ms,
        priority=priority,
        **{**told, **more},
    )


def found(path: Path, *, workers: list[NewWorker], zone: str = "Europe/Rome") -> Engine:
    """A training site whose jobs are offered only when asked. The caller closes it."""
    quiet = {"lease": {"auto_offer": False}}
    wiring.create(path, SiteFile(name="Harbour campus", zone=zone, overrides=quiet), training=True)
    engine = wiring.open_engine(path, new_id=wiring.seeded_ids(7))
    advance(engine, NOON_MS)
    intake.import_workers(engine, WHO, Parsed(items=tuple(enumerate(workers, 1)), rejected=(), warnings=()))
    reports = [
        FixReport(worker=each.ref, device_ms=NOON_MS, lat=each.home.lat, lng=each.home.lng, accuracy_m=5)
        for each in workers
    ]
    ingest.report(engine, reports, received_ms=NOON_MS, archive=[])
    ingest.write_behind(engine, [])
    return engine


def take_in(engine: Engine, *jobs: NewJob) -> None:
    for each in jobs:
        intake.create_job(engine, WHO, each)


def campus(path: Path) -> None:
    """Every state of a job: unassigned, open, offered, accepted, in progress, done; and two alerts."""
    engine = found(path, workers=[worker(at, name) for at, name in enumerate(NAMES, 1)])
    take_in(
        engine,
        job("J-1", due_min=90),
        job("J-2", due_min=95, priority=3),
        job("J-3", due_min=100),
        job("J-4", due_min=35, skills="hvac", type="repair"),
        job("J-5", due_min=12, skills="hvac welding", type="repair", priority=4, notes="ring twice"),
        job("J-6", due_min=240),
        job("J-7", due_min=25),
        *(job(f"J-{at}", due_min=120 + 11 * at) for at in range(8, 30)),
    )
    for each in ("J-1", "J-2", "J-3"):
        offer = assign.assign(engine, WHO, each).offer
        assert offer is not None
        answer.accept(engine, WHO, offer.id, offer.worker_id)
        if each != "J-1":
            answer.start(engine, WHO, each, offer.worker_id)
        if each == "J-3":
            answer.finish(engine, WHO, each, offer.worker_id)
    for each in ("J-4", "J-5", "J-7"):
        assign.assign(engine, WHO, each)
    advance(engine, NOON_MS + 6_000)
    wiring.close(engine)


class Still(Behind):
    """No threads: it looks when told. What a machine measures is set to one value, so that pictures can be compared."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, rounds=False, user="ana", mono_s=lambda: 0.0)
        self.open()
        self.read()

    @property
    def engine(self) -> Engine:
        assert self._engine is not None
        return self._engine

    def read(self) -> None:
        super().read()
        snap = self.snap
        if snap is not None and snap.detail is not None and snap.detail.decision is not None:
            timed = replace(snap.detail, decision=replace(snap.detail.decision, total_us=1_200))
            self.snap = replace(snap, detail=timed, p99_us=None)

    async def ask(self, asked: Callable[..., T]) -> T:
        answer = await super().ask(asked)
        if isinstance(answer, Why) and answer.then is not None:
            kept = replace(answer.then.summary, stages=type(answer.then.summary.stages)())
            return replace(answer, then=replace(answer.then, total_us=1_200, summary=kept))  # type: ignore[return-value]
        return answer


def still(path: Path) -> Console:
    return Console(Still(path), ticks=False)


async def settle(pilot: Pilot[int]) -> None:
    """Until messages and commands are through: the engine answers at once here, and no clock is waited for."""
    for _ in range(8):
        await pilot.pause(0)


async def keys(pilot: Pilot[int], *pressed: str) -> None:
    for each in pressed:
        letter = each if len(each) == 1 else None
        pilot.app.post_message(events.Key(_character_to_key(each) if letter else each, letter))
        for _ in range(3):
            await pilot.pause(0)


async def typed(pilot: Pilot[int], words: str) -> None:
    await keys(pilot, *words)


def drive(app: Console, play: Callable[[Pilot[int], Desk], Awaitable[None]], size: tuple[int, int] = (120, 36)) -> None:
    """Run a play on a desk of this size."""

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await settle(pilot)
            app.look_again()
            await settle(pilot)
            desk = app.screen
            assert isinstance(desk, Desk)
            await play(pilot, desk)
        app.behind.close()

    asyncio.run(run())


def shown(app: Console) -> str:
    """The screen as plain lines."""
    width, height = app.size
    strips = app.screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage]
    return "\n".join("".join(segment.text for segment in strip)[:width] for strip in strips[:height])
