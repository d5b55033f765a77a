"""Why this worker and not that one, as lines: every worker looked at, with the first failed filter and its numbers."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from console.viewmodels.cells import ACCENT, BOLD, DIM, HEAD, PLAIN, WARN, Line, who
from console.viewmodels.times import clock
from console.words import inert

if TYPE_CHECKING:
    from engine.rules.ledger import Considered, Decision
    from engine.verbs.why import Why


def lines(told: "Why", names: Mapping[str, str], zone: str) -> list[Line]:
    out: list[Line] = [*_then(told.then, names, zone), ((" ", PLAIN),), (("As of now", HEAD),)]
    if told.now is None:
        out.append(((f"{inert(told.job.id)} is {told.job.state}: nobody is being looked for", DIM),))
    else:
        out += _considered(told.now, names, None)
    return out


def _then(then: "Decision | None", names: Mapping[str, str], zone: str) -> Iterator[Line]:
    if then is None:
        yield (("No decision has been made for this job yet", DIM),)
        return
    kept, policy = then.summary, then.summary.policy
    yield ((f"As of the decision, {clock(then.made_ms, zone)}: {then.outcome.replace('_', ' ')}", HEAD),)
    yield (
        (f"policy {policy.version}: ETA {policy.w_eta:g}, fairness {policy.w_fair:g}, slack {policy.w_slack:g}, ", DIM),
        (f"band {policy.eta_band_min} min; lower scores go first", DIM),
    )
    stages = kept.stages
    parts = (
        ("index", stages.index_us),
        ("facts", stages.facts_us),
        ("filters", stages.filter_us),
        ("road", stages.road_us),
        ("lease", stages.lease_us),
    )
    took = ", ".join(f"{name} {spent / 1000:.1f}" for name, spent in parts)
    yield ((f"{then.total_us / 1000:.1f} ms: {took}", DIM),)
    if kept.retried_in_cooldown:
        yield (("the list was empty: those in cooldown were allowed again", WARN),)
    if then.considered is None:
        refused = ", ".join(f"{n} {reason}" for reason, n in kept.refused.items()) or "none"
        yield ((f"{kept.ranked} ranked; refused: {refused}. Who they were has been dropped after its days", DIM),)
    else:
        yield from _considered(then.considered, names, kept.worker)
    if kept.unlisted:
        yield ((f"and {kept.unlisted} more without the skill, not listed", DIM),)


def _considered(everyone: "tuple[Considered, ...]", names: Mapping[str, str], chosen: str | None) -> Iterator[Line]:
    if not everyone:
        yield (("nobody was about", WARN),)
    place = 0
    for each in everyone:
        if each.verdict == "ranked":
            place += 1
            yield from _ranked(place, each, names, chosen)
        else:
            yield (
                ("  – ", DIM),
                (_name(each.worker, names), PLAIN),
                (f"  {each.verdict.replace('_', ' ')}", WARN),
                (f"  {inert(each.detail)}", PLAIN),
            )


def _ranked(place: int, each: "Considered", names: Mapping[str, str], chosen: str | None) -> Iterator[Line]:
    picked = each.worker == chosen
    eta = "" if each.eta_s is None else f"  ETA {-(-each.eta_s // 60)} min"
    sure = f" {each.confidence} ({(each.source or '').replace('_', '-')})" if each.confidence else ""
    yield (
        (f"{place:3} ", BOLD),
        (_name(each.worker, names), BOLD),
        (f"{eta}{sure}", PLAIN),
        (f"  score {each.score:.1f}" if each.score is not None else "", ACCENT),
        ("  ← offered" if picked else "", BOLD),
    )
    if each.terms is not None:
        slack = "" if each.slack_ms is None else f" · slack {each.slack_ms // 60_000} min"
        terms = f"eta {each.terms.eta:.1f}, fairness {each.terms.fair:+.1f}, slack {each.terms.slack:+.1f}"
        yield ((f"      {terms} · {each.jobs_today or 0} jobs today{slack}", DIM),)


def _name(worker_id: str, names: Mapping[str, str]) -> str:
    return inert(who(names.get(worker_id, ""), worker_id))
