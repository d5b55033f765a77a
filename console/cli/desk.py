"""A dispatcher's acts on jobs and offers. Those that take a promise back carry a reason and a note for the audit."""

from collections.abc import Callable
from typing import TypeVar

import click
from msgspec import Struct

from console.cli import show
from console.cli.call import ACTOR, ROLE, Call, actor, command, opened
from console.cli.tables import considered_table
from console.cli.trouble import OK, REFUSED
from console.cli.wire import AssignedDoc, OfferDoc, assigned_doc, offer_doc
from engine.ports import Engine, Invalid
from engine.records import Why
from engine.rules.nouns import Actor
from engine.rules.steps import Refused
from engine.verbs import override as overriding
from engine.verbs import revoke
from engine.verbs.assign import Outcome
from engine.verbs.assign import assign as assign_job
from engine.verbs.revoke import REASONS, Revoked, reasoned

F = TypeVar("F", bound=Callable[..., object])
HELD = frozenset({Outcome.OFFERED, Outcome.STANDING})


@command("assign", "assign J-17 --db site.db")
@click.argument("job")
@ACTOR
@ROLE
def assign(call: Call, job: str, actor_name: str | None, role: str) -> int:
    """Offer a job to the best eligible worker, and say why each other one was not.

    Repeated, it answers the offer that stands. Exit 0 while an offer stands, 1 where there is none."""
    with opened(call) as engine:
        made = assign_job(engine, actor(engine, actor_name, role), job)
        doc, zone = assigned_doc(made, engine.site.zone), engine.site.zone
    if call.as_json:
        show.document(doc)
        return OK if made.outcome in HELD else REFUSED
    show.line(_assigned(doc))
    if made.offer is not None:
        expires = show.hour(made.offer.expires_ms, zone, seconds=True)
        band = f"{show.hour(made.offer.promise.band_from_ms, zone)}–{show.hour(made.offer.promise.band_to_ms, zone)}"
        show.line(f"offer {made.offer.id} expires {expires} {zone}; arrival {band}, {made.offer.promise.confidence}")
    if doc.considered:
        considered_table("considered", doc.considered)
    return OK if made.outcome in HELD else REFUSED


def _assigned(doc: AssignedDoc) -> str:
    to = f" to {doc.offer.worker}" if doc.offer else ""
    alert = f" (alert {doc.alert})" if doc.alert else ""
    return f"{doc.job}: {doc.outcome}{to}{alert}"


# --- with a reason -----------------------------------------------------------------------------------------------


class OverrulesDoc(Struct, frozen=True, kw_only=True):
    reason: str
    detail: str


class RevokedDoc(Struct, frozen=True, kw_only=True):
    """``outcome``: what was done; ``offer``: made in the same act, to whom a person chose, with what that ``overrules``
    and how late it is; ``next``: what was tried for the job at once."""

    outcome: str
    job: str
    state: str
    offer: str | None
    next: AssignedDoc | None
    overrules: tuple[OverrulesDoc, ...] = ()
    late_min: int = 0


def with_reason(function: F) -> F:
    """--actor, --reason and --note, all needed: the audit keeps them."""
    for option in (
        click.option("--role", type=click.Choice(["dispatcher", "supervisor"]), default="dispatcher", show_default=True,
                     help="Act as this role."),
        click.option("--note", metavar="TEXT", required=True, help="Why, in at least ten letters; the audit keeps it."),
        click.option("--reason", type=click.Choice(REASONS), required=True, help="Why, for the figures."),
        click.option("--actor", "actor_name", metavar="NAME", required=True, envvar="CALLBOARD_ACTOR", show_envvar=True,
                     help="Who acts, for the audit."),
    ):  # fmt: skip
        function = option(function)
    return function


AIMED_AT = click.option(
    "--aimed-at", metavar="OFFER", help="The assignment you looked at: refused if another one stands."
)


def why_of(reason: str, note: str) -> Why:
    try:
        return reasoned(reason, note)
    except Invalid as error:
        raise click.UsageError(str(error)) from error


def _revoke(call: Call, outcome: str, who: tuple[str, str], act: Callable[[Engine, Actor], Revoked]) -> int:
    with opened(call) as engine:
        done, zone = act(engine, actor(engine, *who)), engine.site.zone
    doc = RevokedDoc(outcome=outcome, job=done.job.id, state=done.job.state, offer=done.offer_id,
                     next=assigned_doc(done.next, zone) if done.next else None,
                     overrules=_overrules(done.overrules), late_min=-(-done.late_ms // 60_000))  # fmt: skip
    if call.as_json:
        show.document(doc)
        return OK
    then = f"; {_assigned(doc.next)}" if doc.next else ""
    made = f"; offer {doc.offer} made{_late(doc.late_min)}" if doc.offer else ""
    show.line(f"{outcome}: {doc.job} is {doc.state}{made}{then}")
    _overruled_table(doc.overrules)
    return OK


@command("cancel", "cancel J-17 --actor ana --reason customer --note 'the customer called it off' --db site.db")
@click.argument("job")
@AIMED_AT
@with_reason
def cancel(call: Call, job: str, aimed_at: str | None, actor_name: str, reason: str, note: str, role: str) -> int:
    """End a job that is not done; a live offer or a booking on it ends with it."""
    why = why_of(reason, note)
    return _revoke(
        call,
        "cancelled",
        (actor_name, role),
        lambda engine, who: revoke.cancel(engine, who, job, why, aimed_at=aimed_at),
    )


@command("release", "release J-17 --actor ana --reason sick --note 'Ben went home with a fever' --db site.db")
@click.argument("job")
@AIMED_AT
@with_reason
def release(call: Call, job: str, aimed_at: str | None, actor_name: str, reason: str, note: str, role: str) -> int:
    """Take an accepted job from its worker; it is offered on at once."""
    why = why_of(reason, note)
    return _revoke(
        call,
        "released",
        (actor_name, role),
        lambda engine, who: revoke.release(engine, who, job, why, aimed_at=aimed_at),
    )


@command("reassign", "reassign J-17 --to c5 --actor ana --reason delayed --note 'Ben is stuck in traffic' --db site.db")
@click.argument("job")
@click.option("--to", metavar="WORKER", help="Offer it to this worker in the same act (else to the best one).")
@AIMED_AT
@with_reason
def reassign(
    call: Call, job: str, to: str | None, aimed_at: str | None, actor_name: str, reason: str, note: str, role: str
) -> int:
    """Take an accepted job from its worker and give it on.

    With --to it is an override: it says, and the audit keeps, what that overrules."""
    why = why_of(reason, note)
    return _revoke(
        call, "reassigned", (actor_name, role),
        lambda engine, who: revoke.reassign(engine, who, job, why, to=to, aimed_at=aimed_at),
    )  # fmt: skip


@command("preempt", "preempt J-17 --for J-20 --actor ana --reason emergency --note 'a fall at the pool' --db site.db")
@click.argument("job")
@click.option("--for", "urgent", metavar="JOB", required=True, help="The job of higher priority that needs the worker.")
@AIMED_AT
@with_reason
def preempt(
    call: Call, job: str, urgent: str, aimed_at: str | None, actor_name: str, reason: str, note: str, role: str
) -> int:
    """Take a worker from JOB for a job of higher priority.

    That one is offered to them in the same act, an override that says what it overrules, and JOB is offered on."""
    why = why_of(reason, note)
    return _revoke(
        call, "preempted", (actor_name, role),
        lambda engine, who: revoke.preempt(engine, who, job, urgent, why, aimed_at=aimed_at),
    )  # fmt: skip


@command("withdraw", "withdraw O-7KQ2M9XA --actor ana --reason mistake --note 'wrong job was urgent' --db site.db")
@click.argument("offer")
@with_reason
def withdraw(call: Call, offer: str, actor_name: str, reason: str, note: str, role: str) -> int:
    """Take a live offer back; the job is open again."""
    why = why_of(reason, note)
    return _revoke(call, "withdrawn", (actor_name, role), lambda engine, who: revoke.withdraw(engine, who, offer, why))


# --- override ----------------------------------------------------------------------------------------------------


class OverriddenDoc(Struct, frozen=True, kw_only=True):
    """``outcome``: offered, or accepted where forced; ``overrules``: what the choice went against."""

    outcome: str
    job: str
    state: str
    offer: OfferDoc | None
    overrules: tuple[OverrulesDoc, ...]
    late_min: int


@command(
    "override", "override J-17 c3 --actor ana --reason local_knowledge --note 'Ana is next door already' --db site.db"
)
@click.argument("job")
@click.argument("worker")
@click.option("--force", is_flag=True, help="Accept on the worker's behalf: they have said yes by telephone.")
@click.option("--withdraw", is_flag=True, help="Withdraw the offer that stands on the job, in the same act.")
@with_reason
def override(
    call: Call, job: str, worker: str, force: bool, withdraw: bool, actor_name: str, reason: str, note: str, role: str
) -> int:
    """Offer JOB to a worker of your choice.

    It overrules stale, no fix, no road, area, cooldown, late and reserve, and, as supervisor, the shift. Never: skills,
    another region, overlap, capacity, absence, a live offer elsewhere."""
    why = why_of(reason, note)
    with opened(call) as engine:
        made = overriding.override(
            engine, actor(engine, actor_name, role), job, worker, why, force=force, withdraw=withdraw
        )
        zone = engine.site.zone
    doc = OverriddenDoc(
        outcome="accepted" if force else "offered", job=made.job.id, state=made.job.state,
        offer=offer_doc(made.offer, zone) if made.offer else None, overrules=_overrules(made.overrules),
        late_min=-(-made.late_ms // 60_000),
    )  # fmt: skip
    if call.as_json:
        show.document(doc)
        return OK
    show.line(f"{doc.job}: {doc.outcome} to {worker}{_late(doc.late_min)}")
    _overruled_table(doc.overrules)
    return OK


def _late(late_min: int) -> str:
    return f", {late_min} min late" if late_min else ""


def _overruled_table(found: tuple[OverrulesDoc, ...]) -> None:
    if found:
        show.table("overruled", ("reason", "detail"), [(each.reason, each.detail) for each in found])


def _overrules(found: tuple[Refused, ...]) -> tuple[OverrulesDoc, ...]:
    return tuple(OverrulesDoc(reason=each.reason, detail=each.detail) for each in found)


COMMANDS = {
    "assign": assign, "cancel": cancel, "release": release, "reassign": reassign, "preempt": preempt,
    "override": override, "withdraw": withdraw,
}  # fmt: skip
