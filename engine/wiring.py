"""The composition root: opens store, positions, index and road, and hands back one Engine."""

import os
import random
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import msgspec

from engine import records
from engine.index.memory import MemoryIndex
from engine.leases import Tenure
from engine.metrics import Metrics
from engine.ports import Damaged, Engine, Invalid, NotFound, ReadOnly, Road
from engine.program import Lost
from engine.road.no_road import NoRoad
from engine.rules.ledger import Site
from engine.rules.nouns import Actor, Role
from engine.settings import BadSetting, Settings, Tables, load
from engine.store import sqlite
from engine.store.archive import FixArchive, NotAnArchive
from engine.store.sqlite import SqliteStore
from engine.store.theatre import Theatre
from engine.verbs.site import SiteFile

LETTERS = "ABCDEFGHJKMNPQRSTVWXYZ23456789"


def random_ids(letter: str) -> str:
    """O-7KQ2M9XA: not to be guessed, easy to read out."""
    return f"{letter}-{''.join(secrets.choice(LETTERS) for _ in range(8))}"


def seeded_ids(seed: int) -> Callable[[str], str]:
    """Ids that a seed decides, for replays and rehearsals."""
    chance = random.Random(seed)
    return lambda letter: f"{letter}-{''.join(chance.choice(LETTERS) for _ in range(8))}"


def fixes_path(database: Path) -> Path:
    """The side file of positions beside a database: the main file holds none."""
    return database.with_name(database.name + ".fixes")


def create(path: Path, site: SiteFile, *, training: bool, actor: str = "init") -> Settings:
    """Found a site in a new database, whole or not at all: it is made under another name, and then given its own.

    Raises Invalid, Damaged, FileExistsError."""
    settings = checked(site.overrides)
    for each in (path, fixes_path(path)):
        if each.exists():
            raise FileExistsError(each)
    part = path.with_name(f".{path.name}.{os.getpid()}.new")
    _sweep_away(part)
    try:
        sqlite.create(part, training=training)
        _found(part, site, settings, Actor(name=actor, role=Role.SUPERVISOR, tenant=site.tenant))
        sqlite.publish(part, path)
    finally:
        _sweep_away(part)
    FixArchive.create(fixes_path(path)).close()
    return settings


def _found(part: Path, site: SiteFile, settings: Settings, who: Actor) -> None:
    score = settings.score
    weights = {"w_eta": score.w_eta, "w_fair": score.w_fair, "w_slack": score.w_slack,
               "eta_band_min": score.eta_band_min}  # fmt: skip
    store = SqliteStore(part)
    try:
        founded = store.run(
            site.tenant,
            records.found_site(who, name=site.name, zone=site.zone,
                               settings=msgspec.json.encode(site.overrides).decode(),
                               regions=site.regions, weights=weights),
        )  # fmt: skip
        if isinstance(founded, Lost):
            raise Invalid(f"the site could not be founded (at {founded.step})")
        store.checkpoint()
    finally:
        store.close()


def _sweep_away(part: Path) -> None:
    for end in ("", "-wal", "-shm", ".lock"):
        part.with_name(part.name + end).unlink(missing_ok=True)


def checked(*overrides: Tables) -> Settings:
    try:
        return load(*overrides)
    except BadSetting as bad:
        raise Invalid(str(bad)) from bad


def open_engine(
    path: Path,
    *,
    tenant: str | None = None,
    readonly: bool = False,
    overrides: Tables | None = None,
    new_id: Callable[[str], str] = random_ids,
    mono_ms: Callable[[], int] | None = None,
) -> Engine:
    """Everything a verb needs, on one database file. ``overrides``: settings for this process alone.

    Raises NotFound (no such tenant), Damaged, Invalid."""
    store = SqliteStore(path, readonly=readonly)
    site = _site(store, tenant)
    settings = checked(cast(Tables, msgspec.json.decode(site.settings)), overrides or {})
    road = _road(settings, store, site.tenant)
    fixes = _fixes(fixes_path(path))
    clock = mono_ms or (_training_clock(store, site.tenant) if store.training else _monotonic_ms)
    index = MemoryIndex(settings.location)
    for worker_id, skills in store.enrolled(site.tenant):
        index.enrol(site.tenant, worker_id, skills)
    index.load(site.tenant, fixes.latest(site.tenant), now_ms=store.clock(site.tenant).now_ms, mono_ms=clock())
    return Engine(
        tenant=site.tenant,
        site=site,
        store=store,
        index=index,
        fixes=fixes,
        road=road,
        settings=settings,
        metrics=Metrics(),
        tenures=dict[str, Tenure](),
        mono_ms=clock,
        new_id=new_id,
    )


def theatre(database: Path, folder: Path, *, naive_sql: str = "", guarded: bool = True) -> Theatre:
    """A training database to rehearse on; each rehearsal plays on a copy in ``folder``. Raises Damaged, Forbidden."""
    return Theatre(database, folder, naive_sql=naive_sql, guarded=guarded)


def close(engine: Engine) -> None:
    engine.road.close()
    engine.fixes.close()
    engine.store.close()


def _site(store: SqliteStore, tenant: str | None) -> Site:
    sites = store.sites()
    if not sites:
        raise Damaged(f"{store.path} holds no site")
    if tenant is None:
        return sites[0]
    for site in sites:
        if site.tenant == tenant:
            return site
    raise NotFound(f"tenant {tenant}: not found")


def _fixes(path: Path) -> FixArchive:
    """The side file, made anew where it was lost: the index then fills from the next fixes."""
    try:
        return FixArchive(path) if path.exists() else FixArchive.create(path)
    except NotAnArchive as damaged:
        if "readonly" in str(damaged):
            raise ReadOnly(f"{path}: its folder cannot be written, which SQLite needs even to read") from damaged
        raise Damaged(f"{damaged}; move it away and positions start anew") from damaged


def _road(settings: Settings, store: SqliteStore, tenant: str) -> Road:
    remembered = store.road_memory(tenant, limit=settings.router.memory_pairs_max)
    if settings.router.url:
        from engine.road.osrm import OsrmRoad  # late: httpx, which a site without a router need not wait for

        road = OsrmRoad(settings.router, span_s=settings.alert.router_span_min * 60)
    else:
        road = NoRoad(memory_pairs_max=settings.router.memory_pairs_max)
    road.load(remembered)
    return road


def _monotonic_ms() -> int:
    """A clock that never jumps and goes on while the machine sleeps, where the system has one."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)) // 1_000_000


def _training_clock(store: SqliteStore, tenant: str) -> Callable[[], int]:
    """On a training site ages follow the training clock, which only its trainer moves."""
    return lambda: store.clock(tenant).now_ms
