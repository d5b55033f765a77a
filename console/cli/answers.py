"""The worker's answers: accept and decline an offer, start and finish a job."""

from collections.abc import Callable

import click
from msgspec import Struct

from console.cli import show
from console.cli.call import AS_WORKER, Call, command, opened
from console.cli.trouble import OK, REFUSED
from console.cli.wire import AssignedDoc, OfferDoc, assigned_doc, offer_doc
from engine.ports import Engine
from engine.rules.nouns import Actor, Role
from engine.verbs import answer
from engine.verbs.answer import Answer, Answered


class AnsweredDoc(Struct, frozen=True, kw_only=True):
    """``outcome``: accepted, already_accepted, declined, started, finished, expired, fenced, lost or not_found.

    ``next``: who was asked in their place."""

    outcome: str
    job: str | None
    state: str | None
    worker: str
    offer: OfferDoc | None
    next: AssignedDoc | None


Verb = Callable[[Engine, Actor, str, str], Answered]


def _answer(call: Call, verb: Verb, wanted: Answer, ident: str, worker: str) -> int:
    with opened(call) as engine:
        who = Actor(name=worker, role=Role.WORKER, tenant=engine.tenant)
        done, zone = verb(engine, who, ident, worker), engine.site.zone
    doc = AnsweredDoc(
        outcome=done.outcome,
        job=done.job.id if done.job else None,
        state=done.job.state if done.job else None,
        worker=worker,
        offer=offer_doc(done.offer, zone) if done.offer else None,
        next=assigned_doc(done.next, zone) if done.next else None,
    )
    if call.as_json:
        show.document(doc)
    elif done.outcome is Answer.NOT_FOUND:
        show.line(_not_theirs(ident, worker, of_job=wanted in (Answer.STARTED, Answer.FINISHED)))
    else:
        told = f": {doc.job} is {doc.state}" if doc.job else ""
        asked = f"; {doc.next.offer.worker} is asked next" if doc.next and doc.next.offer else ""
        show.line(f"{doc.outcome}{told}{asked}")
    good = done.outcome is wanted or (wanted is Answer.ACCEPTED and done.outcome is Answer.ALREADY_ACCEPTED)
    return OK if good else REFUSED


def _not_theirs(ident: str, worker: str, *, of_job: bool) -> str:
    """Whose it is, or whether there is such a thing at all, is not theirs to know (SPEC 9); where to look is."""
    if of_job:
        return (
            f"not_found: {ident} is no job that {worker} holds; a job is begun and ended by the worker who accepted it"
        )
    return f"not_found: {ident} is no offer to {worker}; `offers --as {worker}` shows what {worker} is offered now"


@command("accept", "accept O-7KQ2M9XA --as c3 --db site.db")
@click.argument("offer")
@AS_WORKER
def accept(call: Call, offer: str, worker: str) -> int:
    """Take an offer as its worker. Safe to repeat."""
    return _answer(call, answer.accept, Answer.ACCEPTED, offer, worker)


@command("decline", "decline O-7KQ2M9XA --as c3 --db site.db")
@click.argument("offer")
@AS_WORKER
def decline(call: Call, offer: str, worker: str) -> int:
    """Refuse an offer as its worker; the next candidate is asked at once."""
    return _answer(call, answer.decline, Answer.DECLINED, offer, worker)


@command("start", "start J-17 --as c3 --db site.db")
@click.argument("job")
@AS_WORKER
def start(call: Call, job: str, worker: str) -> int:
    """Begin an accepted job as its worker."""
    return _answer(call, answer.start, Answer.STARTED, job, worker)


@command("finish", "finish J-17 --as c3 --db site.db")
@click.argument("job")
@AS_WORKER
def finish(call: Call, job: str, worker: str) -> int:
    """End a job in progress as its worker."""
    return _answer(call, answer.finish, Answer.FINISHED, job, worker)


COMMANDS = {"accept": accept, "decline": decline, "start": start, "finish": finish}
