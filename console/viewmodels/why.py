"""Why this worker and not that one, as lines: every worker looked at, with the first failed filter and its numbers."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from console.viewmodels.cells import ACCENT, ALERT, BOLD, DIM, HEAD, PLAIN, WARN, Line, who
from console.viewmodels.hanging import hung
from console.viewmodels.times import clock, span
from console.words import inert

if TYPE_CHECKING:
    from engine.rules.ledger import Considered, Decision
    from engine.verbs.why import Why


@dataclass(frozen=True, slots=True)
class Weight:
    """One weight that can be tried: its name in the policy, in words, and what a key changes it by."""

    name: str
    words: str
    step: float


WEIGHTS = (
    Weight("w_eta", "ETA", 0.25),
    Weight("w_fair", "fairness", 0.5),
    Weight("w_slack", "slack", 0.05),
    Weight("eta_band_min", "band min", 1),
)
MOST = 100.0
NARROW = 60
"""Below so many columns each worker's figures stand in rows of their own."""
LEAD = re.compile(r"\s+(?:\d+ |– )?\s*")
BLANK: Line = ((" ", PLAIN),)
Tried = dict[str, float]


def fitted(lines: Sequence[Line], width: int) -> list[Line]:
    """In rows of this width: what does not fit goes on below its own words."""
    return [row for each in lines for row in hung(each, width, _begins(each))]


def _begins(line: Line) -> int:
    """The column of a line's words: after its blanks and its place in the ranking."""
    lead = LEAD.match("".join(text for text, _ in line))
    return cell_len(lead[0]) if lead else 2


def turned(tried: Tried, decided: Mapping[str, float], at: int, by: int) -> Tried:
    """The weights with one of them a step up or down; those that are as decided again are not tried."""
    weight = WEIGHTS[at]
    value = tried.get(weight.name, decided[weight.name]) + by * weight.step
    value = round(min(MOST, max(0.0, value)), 4)
    rest = {name: each for name, each in tried.items() if name != weight.name}
    return rest if value == decided[weight.name] else {**rest, weight.name: value}


def decided(then: "Decision") -> dict[str, float]:
    policy = then.summary.policy
    return {"w_eta": policy.w_eta, "w_fair": policy.w_fair, "w_slack": policy.w_slack,
            "eta_band_min": float(policy.eta_band_min)}  # fmt: skip


def what_if(
    then: "Decision",
    tried: Tried,
    at: int,
    replayed: "tuple[Considered, ...] | None",
    names: Mapping[str, str],
    width: int = NARROW,
) -> list[Line]:
    """The weights with the one that a key changes, and the order that others would have given. Nothing is changed."""
    pieces: list[tuple[str, str]] = []
    for place, each in enumerate(WEIGHTS):
        value = tried.get(each.name, decided(then)[each.name])
        text = f"{each.words} {value:g}{'*' if each.name in tried else ''}"
        pieces.append((f"▸{text}◂" if place == at else f" {text} ", BOLD if place == at else PLAIN))
    head = ("What if ", HEAD)
    heads: list[Line] = (
        [(head, *pieces)] if width >= NARROW else [(head, *pieces[:2]), (("        ", PLAIN), *pieces[2:])]
    )
    keys: Line = (("  ← → chooses a weight, + − changes it, 0 as decided; only shown, nothing is changed", DIM),)
    if not tried:
        return [*heads, keys, BLANK]
    if replayed is None:
        return [*heads, keys, (("  who they were has been dropped after its days", DIM),), BLANK]
    return [*heads, keys, *_reordered(then, replayed, names), BLANK]


def _reordered(then: "Decision", replayed: "tuple[Considered, ...]", names: Mapping[str, str]) -> Iterator[Line]:
    before = [each.worker for each in then.considered or () if each.verdict == "ranked"]
    after = [each for each in replayed if each.verdict == "ranked"]
    if not after:
        yield (("  nobody was ranked: no weight would change that", DIM),)
        return
    first, chosen = after[0].worker, then.summary.worker
    if chosen is not None and first == chosen:
        yield ((f"  {_name(first, names)} would still be first", BOLD),)
    else:
        instead = f", not {_name(chosen, names)}" if chosen is not None else ""
        yield ((f"  {_name(first, names)} would be first{instead}", WARN),)
    for place, each in enumerate(after, 1):
        was = before.index(each.worker) + 1 if each.worker in before else place
        moved = "" if was == place else f"  was {was}"
        yield (
            (f"{place:3} ", BOLD),
            (_name(each.worker, names), PLAIN),
            (f"  score {each.score:.1f}" if each.score is not None else "", ACCENT),
            (moved, WARN),
        )


def as_decided(told: "Why", names: Mapping[str, str], zone: str, width: int = NARROW) -> list[Line]:
    return [*_overrulings(told, names, zone), *_then(told.then, names, zone, width), BLANK]


def _overrulings(told: "Why", names: Mapping[str, str], zone: str) -> Iterator[Line]:
    """Persons' own choices come first: they, not the score, decided."""
    for each in told.overrulings:
        forced = ", accepted on their behalf" if each.force else ""
        yield ((f"Override to {_name(each.worker_id, names)}{forced}", HEAD),)
        yield ((f"  by {inert(each.actor)} {clock(each.at_ms, zone)}, ", PLAIN),
               (f"{inert(each.reason.replace('_', ' '))}: {inert(each.words)}", PLAIN))  # fmt: skip
        over = "; ".join(f"{one.reason.replace('_', ' ')}: {inert(one.detail)}" for one in each.overruled) or "nothing"
        late = f" · due_by missed by {span(each.late_ms)}" if each.late_ms > 0 else ""
        yield (("  overrules ", BOLD), (over, WARN if each.overruled else PLAIN), (late, ALERT))
    if told.overrulings:
        yield BLANK


def as_of_now(told: "Why", names: Mapping[str, str], width: int = NARROW) -> list[Line]:
    head: Line = (("As of now", HEAD),)
    if told.now is None:
        return [
            head,
            ((f"{inert(told.job.id)} is {told.job.state.replace('_', ' ')}: nobody is being looked for", DIM),),
        ]
    return [head, *considered(told.now, names, None, width)]


def _then(then: "Decision | None", names: Mapping[str, str], zone: str, width: int) -> Iterator[Line]:
    if then is None:
        yield (("No decision has been made for this job yet", DIM),)
        return
    kept, wide = then.summary, width >= NARROW
    head = "As of the decision" if wide else "As decided"
    yield ((f"{head}, {clock(then.made_ms, zone)}: {then.outcome.replace('_', ' ')}", HEAD),)
    if wide:
        yield from _policy(then, width)
    if kept.retried_in_cooldown:
        yield (("the list was empty: those in cooldown were allowed again", WARN),)
    if then.considered is None:
        refused = ", ".join(f"{n} {reason}" for reason, n in kept.refused.items()) or "none"
        yield ((f"{kept.ranked} ranked; refused: {refused}. Who they were has been dropped after its days", DIM),)
    else:
        yield from considered(then.considered, names, kept.worker, width)
    if kept.unlisted:
        yield ((f"and {kept.unlisted} more, not listed", DIM),)
    if not wide:  # on a small screen who was chosen comes first
        yield from _policy(then, width)


def _policy(then: "Decision", width: int) -> Iterator[Line]:
    """The weights in force then, and where the time went."""
    kept, stages = then.summary.policy, then.summary.stages
    weights = f"policy {kept.version}: ETA {kept.w_eta:g}, fairness {kept.w_fair:g},"
    band, sense = f"slack {kept.w_slack:g}, band {kept.eta_band_min} min", "lower scores go first"
    even = f"within {kept.eta_band_min} min of the leader, who has fewer jobs today goes first"
    rows = (f"{weights} {band}; {sense}",) if width >= NARROW else (weights, f"  {band};", f"  {sense}")
    rows = (*rows, even) if kept.w_fair else rows
    yield from (((each, DIM),) for each in rows)
    parts = (
        ("index", stages.index_us),
        ("facts", stages.facts_us),
        ("filters", stages.filter_us),
        ("road", stages.road_us),
        ("lease", stages.lease_us),
    )
    took = ", ".join(f"{name} {spent / 1000:.1f}" for name, spent in parts)
    yield ((f"{then.total_us / 1000:.1f} ms: {took}", DIM),)


def considered(
    everyone: "tuple[Considered, ...]", names: Mapping[str, str], chosen: str | None, width: int
) -> Iterator[Line]:
    if not everyone:
        yield (("nobody was about", WARN),)
    ranked = [each for each in everyone if each.verdict == "ranked"]
    told = _ranked if width >= NARROW else _ranked_narrow
    for place, each in enumerate(ranked, start=1):
        yield from told(place, each, names, chosen)
    others = [each for each in everyone if each.verdict != "ranked"]
    if len(others) > 1:
        yield _counted(others, bool(ranked))
    for each in others:
        yield from _refused(each, names, width)


def _counted(others: "Sequence[Considered]", any_ranked: bool) -> Line:
    """How many by each reason, above the list of them: who reads on knows what for."""
    counts = Counter(each.verdict.replace("_", " ") for each in others)
    head = f"{len(others)} more looked at: " if any_ranked else f"{len(others)} looked at, nobody can: "
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return ((head, BOLD), (", ".join(f"{n} {reason}" for reason, n in ordered), WARN))


def _refused(each: "Considered", names: Mapping[str, str], width: int) -> Iterator[Line]:
    head: Line = (("  – ", DIM), (_name(each.worker, names), PLAIN), (f"  {each.verdict.replace('_', ' ')}", WARN))
    detail = inert(each.detail)
    if width >= NARROW or not detail:
        yield (*head, (f"  {detail}", PLAIN))
    else:
        yield head
        yield ((f"    {detail}", PLAIN),)


def _ranked(place: int, each: "Considered", names: Mapping[str, str], chosen: str | None) -> Iterator[Line]:
    eta = _eta(each)
    yield (
        (f"{place:3} ", BOLD),
        (_name(each.worker, names), BOLD),
        (f"  {eta}" if eta else "", PLAIN),
        (_score(each), ACCENT),
        ("  ← offered" if each.worker == chosen else "", BOLD),
    )
    if each.terms is not None:
        terms = f"eta {each.terms.eta:.1f}, fairness {each.terms.fair:+.1f}, slack {each.terms.slack:+.1f}"
        yield ((f"      {terms} · {_day(each)}", DIM),)


def _ranked_narrow(place: int, each: "Considered", names: Mapping[str, str], chosen: str | None) -> Iterator[Line]:
    """One thing a row, so that nothing has to be wrapped."""
    yield ((f"{place:3} ", BOLD), (_name(each.worker, names), BOLD), (_score(each), ACCENT))
    if each.worker == chosen:
        yield (("    ← offered", BOLD),)
    if eta := _eta(each):
        yield ((f"    {eta}", PLAIN),)
    if each.terms is not None:
        yield ((f"    eta {each.terms.eta:.1f}, fair {each.terms.fair:+.1f}, slack {each.terms.slack:+.1f}", DIM),)
        yield ((f"    {_day(each)}", DIM),)


def _eta(each: "Considered") -> str:
    eta = "" if each.eta_s is None else f"ETA {-(-each.eta_s // 60)} min"
    return eta + (f" {each.confidence} ({(each.source or '').replace('_', '-')})" if each.confidence else "")


def _score(each: "Considered") -> str:
    return f"  score {each.score:.1f}" if each.score is not None else ""


def _day(each: "Considered") -> str:
    slack = "" if each.slack_ms is None else f" · slack {each.slack_ms // 60_000} min"
    jobs = each.jobs_today or 0
    return f"{jobs} job{'' if jobs == 1 else 's'} today{slack}"


def _name(worker_id: str, names: Mapping[str, str]) -> str:
    return inert(who(names.get(worker_id, ""), worker_id))
