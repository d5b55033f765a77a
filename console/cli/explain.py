"""Why this worker and not that one."""

import click
from msgspec import Struct

from console.cli import show
from console.cli.call import Call, command, opened
from console.cli.tables import considered_table, overrulings_table
from console.cli.trouble import OK
from console.cli.wire import (
    ConsideredDoc,
    DecisionDoc,
    OverrulingDoc,
    PolicyDoc,
    considered_docs,
    decision_doc,
    overruling_doc,
    policy_doc,
)
from engine.ports import Invalid
from engine.verbs.why import WEIGHTS
from engine.verbs.why import why as explain
from engine.verbs.why import why_not as explain_one


class ReplayedDoc(Struct, frozen=True, kw_only=True):
    """The stored candidates in the order other weights would have given; null where their detail was dropped."""

    weights: PolicyDoc
    considered: tuple[ConsideredDoc, ...] | None


class WhyDoc(Struct, frozen=True, kw_only=True):
    """``then``: the stored decision; ``now``: the same question asked now, null once the job is not waiting;
    ``overrides``: persons' own choices for the job, the newest first."""

    job: str
    state: str
    then: DecisionDoc | None
    now: tuple[ConsideredDoc, ...] | None
    replayed: ReplayedDoc | None
    decisions: tuple[DecisionDoc, ...]
    overrides: tuple[OverrulingDoc, ...]


class WhyNotDoc(Struct, frozen=True, kw_only=True):
    """``then``: what the stored decision said of the worker, null where it did not list them; ``now``: everything that
    stands against them as of now, or how they rank."""

    job: str
    state: str
    worker: str
    then: ConsideredDoc | None
    now: tuple[ConsideredDoc, ...]


@command("why", "why J-17 --db site.db\nwhy J-17 --worker maria --db site.db\n"
         "why J-17 --weights w_fair=0,w_eta=2 --db site.db")  # fmt: skip
@click.argument("job")
@click.option("--weights", metavar="NAME=VALUE,…", default="",
              help=f"Replay the stored decision under other weights: {', '.join(WEIGHTS)}.")  # fmt: skip
@click.option("--worker", metavar="W", default="", help="Why this one, or why not: also of who was not listed.")
def why(call: Call, job: str, weights: str, worker: str) -> int:
    """Explain a decision: as it was made, as of now, and as other weights would have it. Changes nothing."""
    if worker and weights:
        raise click.BadParameter("of one worker, or under other weights: not both", param_hint="--worker")
    if worker:
        return _why_not(call, job, worker)
    wanted = read_weights(weights)
    with opened(call, writing=False) as engine:
        try:
            found = explain(engine, job, weights=wanted or None)
        except Invalid as error:
            raise click.BadParameter(str(error), param_hint="--weights") from error
        zone = engine.site.zone
    replayed = None
    if found.weights is not None:
        listed = None if found.replayed is None else considered_docs(found.replayed)
        replayed = ReplayedDoc(weights=policy_doc(found.weights), considered=listed)
    doc = WhyDoc(
        job=found.job.id, state=found.job.state, then=decision_doc(found.then, zone) if found.then else None,
        now=None if found.now is None else considered_docs(found.now), replayed=replayed,
        decisions=tuple(decision_doc(each, zone) for each in found.decisions),
        overrides=tuple(overruling_doc(each, zone) for each in found.overrulings),
    )  # fmt: skip
    if call.as_json:
        show.document(doc)
    else:
        show.line(f"{doc.job} is {doc.state}")
        overrulings_table(found.overrulings, zone)
        _tell(doc)
    return OK


def _why_not(call: Call, job: str, worker: str) -> int:
    with opened(call, writing=False) as engine:
        found = explain_one(engine, job, worker)
    then = considered_docs((found.then,))[0] if found.then else None
    doc = WhyNotDoc(job=found.job.id, state=found.job.state, worker=worker, then=then, now=considered_docs(found.now))
    if call.as_json:
        show.document(doc)
        return OK
    show.line(f"{doc.job} is {doc.state}")
    if doc.then is None:
        show.line(f"its last decision does not list {worker}, or its detail is no longer kept")
    else:
        considered_table("as it was decided", (doc.then,))
    considered_table("as of now", doc.now)
    return OK


def read_weights(text: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, _, value = part.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            hint = f"{part!r}: NAME=VALUE is wanted, such as w_fair=0"
            raise click.BadParameter(hint, param_hint="--weights") from None
    return found


def _tell(doc: WhyDoc) -> None:
    if doc.then is None:
        show.line("no decision was ever made for it")
    else:
        then, policy = doc.then, doc.then.policy
        show.line(f"decided {then.made_at}: {then.outcome}{f' to {then.worker}' if then.worker else ''} in "
                  f"{then.total_us / 1000:.1f} ms under policy {policy.version} (w_eta {policy.w_eta:g}, "
                  f"w_fair {policy.w_fair:g}, w_slack {policy.w_slack:g}, band {policy.eta_band_min} min)")  # fmt: skip
        if then.considered is None:
            show.line("who was considered is no longer kept; refused by reason: "
                      + (", ".join(f"{n} {reason}" for reason, n in then.refused.items()) or "none"))  # fmt: skip
        else:
            considered_table("as it was decided", then.considered)
        if then.unlisted:
            show.line(f"and {then.unlisted} more, not listed: `why {doc.job} --worker W` tells of any one")
    if doc.now is not None:
        considered_table("as of now", doc.now)
    if doc.replayed is not None and doc.replayed.considered is not None:
        weights = doc.replayed.weights
        title = f"under w_eta {weights.w_eta:g}, w_fair {weights.w_fair:g}, w_slack {weights.w_slack:g}"
        considered_table(title, doc.replayed.considered)


COMMANDS = {"why": why}
