"""Tables that several commands show."""

from collections.abc import Iterable

from console.cli import show
from console.cli.wire import ConsideredDoc
from engine.rules.attempts import Attempt, Overruling
from engine.rules.ledger import Alert
from engine.rules.nouns import Offer, OfferState, Role
from engine.rules.sight import JobSight, has_lapsed

LAPSED = ", lapsed: waits for the sweep"


def considered_table(title: str, listed: Iterable[ConsideredDoc]) -> None:
    """Everyone looked at: the ranked in order with the terms of their score, then the others with their reason."""
    rows = [
        (
            place, each.worker, each.verdict,
            "" if each.eta_s is None else f"{each.eta_s / 60:.1f}",
            "" if each.score is None else f"{each.score:.2f}",
            *_terms(each),
            "" if each.slack_min is None else f"{each.slack_min:.0f}", each.detail,
        )
        for place, each in enumerate(listed, start=1)
    ]  # fmt: skip
    columns = (">", "worker", "verdict", "eta min>", "score>", "=eta>", "+fair>", "−slack>", "slack min>", "detail")
    show.table(title, columns, rows)


def _terms(each: ConsideredDoc) -> tuple[str, str, str]:
    terms = each.terms
    return ("", "", "") if terms is None else (f"{terms.eta:.1f}", f"{terms.fair:.1f}", f"{terms.slack:.1f}")


def jobs_table(title: str, jobs: Iterable[JobSight], zone: str) -> None:
    rows = [
        (
            each.id, f"{each.state}{' missed' if each.missed else ''}{LAPSED if each.lapsed else ''}", each.worker_id,
            show.when(each.not_before_ms, zone),
            show.when(each.due_by_ms, zone), show.minutes(each.slack_ms), each.priority, each.type,
            " ".join(each.skills), each.address,
        )
        for each in jobs
    ]  # fmt: skip
    columns = ("job", "state", "worker", "not before", "due by", "slack min>", "prio>", "type", "skills", "address")
    show.table(f"{title} · times in {zone}", columns, rows)


def offers_table(title: str, offers: Iterable[Offer], zone: str, now_ms: int) -> None:
    rows = [
        (
            each.id, each.job_id, each.worker_id, state_of(each, now_ms),
            show.when(each.expires_ms, zone, seconds=True),
            max(0, each.expires_ms - now_ms) // 1000 if each.answered_ms is None else "",
            f"{show.hour(each.promise.band_from_ms, zone)}–{show.hour(each.promise.band_to_ms, zone)}",
            each.promise.confidence, each.epoch, each.generation, each.made_by,
        )
        for each in offers
    ]  # fmt: skip
    columns = (
        "offer",
        "job",
        "worker",
        "state",
        "expires",
        "left s>",
        "arrival",
        "confidence",
        "epoch>",
        "gen>",
        "made by",
    )
    show.table(f"{title} · times in {zone}", columns, rows)


def state_of(offer: Offer, now_ms: int) -> str:
    return f"{offer.state}{LAPSED if has_lapsed(offer, now_ms) else ''}"


def attempts_table(title: str, attempts: Iterable[Attempt], zone: str, now_ms: int) -> None:
    """Every offer there ever was on a job: who made it, how it ended and by whom; then persons' own choices."""
    found = tuple(attempts)
    rows = [
        (
            each.offer.id, each.offer.worker_id, state_of(each.offer, now_ms),
            show.when(each.offer.created_ms, zone, seconds=True),
            each.offer.made_by,
            show.when(each.offer.answered_ms, zone, seconds=True) if each.offer.answered_ms is not None else "",
            ended_by(each), each.offer.promise.confidence, each.offer.epoch, each.offer.generation,
        )
        for each in found
    ]  # fmt: skip
    columns = ("offer", "worker", "state", "made", "made by", "ended", "ended by", "confidence", "epoch>", "gen>")
    show.table(f"{title} · times in {zone}", columns, rows)
    overrulings_table([each.overruling for each in found if each.overruling], zone)


def ended_by(each: Attempt) -> str:
    if each.ended_by is None:
        return ""
    if each.ended_as == Role.WORKER:
        return f"{each.ended_by} (worker)"
    answered = each.offer.state in (OfferState.ACCEPTED, OfferState.DECLINED)
    return f"{each.ended_by} ({each.ended_as}{', on their behalf' if answered else ''})"


def overrulings_table(overrulings: Iterable[Overruling], zone: str) -> None:
    rows = [
        (
            show.when(each.at_ms, zone, seconds=True), each.actor, each.worker_id, each.reason, each.words,
            "; ".join(f"{one.reason}: {one.detail}" for one in each.overruled) or "nothing",
            -(-each.late_ms // 60_000) or "", "yes" if each.force else "",
        )
        for each in overrulings
    ]  # fmt: skip
    if rows:
        columns = ("at", "actor", "worker", "reason", "note", "overrules", "late min>", "forced")
        show.table(f"overrides · times in {zone}", columns, rows)


def alerts_table(title: str, alerts: Iterable[Alert], zone: str, now_ms: int) -> None:
    rows = [
        (
            each.id, each.severity, each.kind, each.job_id or each.worker_id or "", each.detail,
            show.when(each.opened_ms, zone), each.acked_by, each.owner,
            show.hour(each.snoozed_until_ms, zone) if each.snoozed_until_ms > now_ms else "", each.escalated or "",
        )
        for each in alerts
    ]  # fmt: skip
    columns = ("alert", "sev>", "kind", "about", "detail", "since", "acked by", "owner", "snoozed to", "escalated>")
    show.table(f"{title} · times in {zone}", columns, rows)
