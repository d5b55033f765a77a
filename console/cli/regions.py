"""Who dispatches a region: take it over, hand a worker over, and all due rounds once."""

import os
import platform

import click
from msgspec import Struct

from console.cli import show
from console.cli.call import Call, actor, command, opened
from console.cli.desk import why_of, with_reason
from console.cli.trouble import OK
from engine.ports import Busy, Engine
from engine.records import Why
from engine.rules.nouns import Actor, Role
from engine.verbs import region
from engine.verbs.sweep import Desk
from engine.verbs.sweep import sweep as ring_all


class TakenDoc(Struct, frozen=True, kw_only=True):
    outcome: str
    region: str
    epoch: int
    withdrawn: int
    adopted: int


@command("takeover", "takeover main --actor ana --reason other --note 'the old desk does not answer' --db site.db")
@click.argument("region_id", metavar="REGION")
@click.option("--force", is_flag=True, help="Also while the other dispatcher's lease runs.")
@with_reason
def takeover(call: Call, region_id: str, force: bool, actor_name: str, reason: str, note: str, role: str) -> int:
    """Fence a region's dispatcher: the epoch is raised and its live offers are withdrawn.

    The region is then free, so that a running engine may take it up again."""
    why = why_of(reason, note)
    with opened(call) as engine:
        holder = _holder("desk")
        taken = region.takeover(engine, actor(engine, actor_name, role), region_id, holder, by_force=force, why=why)
        region.resign(engine, holder)
    doc = TakenDoc(
        outcome="taken", region=region_id, epoch=taken.epoch, withdrawn=taken.withdrawn, adopted=taken.adopted
    )
    if call.as_json:
        show.document(doc)
    else:
        show.line(
            f"region {region_id} is at epoch {doc.epoch}: {doc.withdrawn} offers withdrawn, {doc.adopted} adopted"
        )
    return OK


class HandedDoc(Struct, frozen=True, kw_only=True):
    """``outcome``: moved, waiting while a live offer of the worker's stands (the move follows by itself), or taken_back
    (the worker stays and does not go to ``region``)."""

    outcome: str
    worker: str
    region: str
    generation: int | None


@command(
    "handoff",
    "handoff c3 north --actor ana --reason other --note 'lives in the north now' --db site.db\n"
    "handoff c3 --take-back --actor ana --reason mistake --note 'it was meant for c4' --db site.db",
)
@click.argument("worker")
@click.argument("region_id", metavar="REGION", required=False)
@click.option("--take-back", is_flag=True, help="A handoff that waits for a live offer is asked for no longer.")
@with_reason
def handoff(
    call: Call, worker: str, region_id: str | None, take_back: bool, actor_name: str, reason: str, note: str, role: str
) -> int:
    """Move a worker, with the jobs they hold, to another region.

    A move that waits for a live offer can be taken back."""
    why = why_of(reason, note)
    if take_back == (region_id is not None):
        raise click.UsageError("a REGION to go to, or --take-back, and not both")
    if region_id is None:
        return _take_back(call, worker, (actor_name, role), why)
    with opened(call) as engine:
        moved = region.handoff(engine, actor(engine, actor_name, role), worker, region_id, why)
    doc = HandedDoc(outcome="waiting" if moved is None else "moved", worker=worker, region=region_id, generation=moved)
    if call.as_json:
        show.document(doc)
    elif moved is None:
        show.line(f"{worker} moves to {region_id} when their live offer is answered or expires")
    else:
        show.line(f"{worker} belongs to {region_id} now, generation {moved}")
    return OK


def _take_back(call: Call, worker: str, who: tuple[str, str], why: Why) -> int:
    with opened(call) as engine:
        to = region.take_back_handoff(engine, actor(engine, *who), worker, why)
        known = engine.store.worker(engine.tenant, worker)
    doc = HandedDoc(outcome="taken_back", worker=worker, region=to, generation=known.generation if known else None)
    if call.as_json:
        show.document(doc)
    else:
        show.line(f"{worker} stays{f' in {known.region}' if known else ''}: the move to {to} is taken back")
    return OK


# --- sweep -------------------------------------------------------------------------------------------------------


class SweptDoc(Struct, frozen=True, kw_only=True):
    """``rounds``: what each did."""

    regions: tuple[str, ...]
    rounds: dict[str, int]


@command("sweep", "sweep --db site.db")
def sweep(call: Call) -> int:
    """Ring all due rounds once: expiry, retry, missed, no-show, alerts, write-behind, retention.

    For sites without a running engine (a cron line). Refused while another process holds a region."""
    # Offers made from desks stay: nobody is fenced by a sweep, which takes a region only while it is free.
    with opened(call, overrides={"lease": {"adopt_on_takeover": True}}) as engine:
        holder = _holder("sweep")
        try:
            regions = _take_free(engine, holder)
            done = ring_all(Desk(engine=engine, holder=holder))
        finally:
            region.resign(engine, holder)
    doc = SweptDoc(regions=regions, rounds={name: done[name] for name in done})
    if call.as_json:
        show.document(doc)
    else:
        did = ", ".join(f"{name} {n}" for name, n in doc.rounds.items() if n) or "nothing was due"
        show.line(f"swept {', '.join(doc.regions)}: {did}")
    return OK


def _take_free(engine: Engine, holder: str) -> tuple[str, ...]:
    now_ms = engine.store.clock(engine.tenant).now_ms
    regions = engine.store.regions(engine.tenant)
    for each in regions:
        if each.holder is not None and now_ms < each.lease_until_ms:
            raise Busy(
                f"region {each.id} is held by {each.holder} under epoch {each.epoch}, which rings the rounds itself"
            )
    for each in regions:
        who = Actor(name=f"auto:{each.id}", role=Role.AUTOMATIC, tenant=engine.tenant)
        region.takeover(engine, who, each.id, holder)
    return tuple(each.id for each in regions)


def _holder(what: str) -> str:
    return f"{what}:{platform.node()}:{os.getpid()}:{os.urandom(3).hex()}"


COMMANDS = {"takeover": takeover, "handoff": handoff, "sweep": sweep}
