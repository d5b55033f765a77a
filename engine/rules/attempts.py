"""Who was asked for a job, in full: each offer beside who ended it, and what a person's own choice overruled.

An offer's row names who made it; who answered it, and an override's words, are the audit's to tell.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from engine.rules.ledger import AuditRow
from engine.rules.nouns import Offer

ENDINGS = frozenset({"accept", "decline", "expire", "withdraw"})
OVERRIDE = "override"


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """One thing a choice overruled: the reason code and its numbers in words."""

    reason: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overruling:
    """A person's own choice of worker. ``late_ms``: due_by is missed by it; ``force``: accepted on their behalf."""

    seq: int
    at_ms: int
    actor: str
    worker_id: str
    reason: str
    words: str
    overruled: tuple[Against, ...]
    late_ms: int
    force: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An offer in full. ``ended_by``: the actor who accepted, declined, withdrew or expired it, None while it is live;
    ``ended_as``: the role they did it in (worker: the worker's own answer; else on the worker's behalf)."""

    offer: Offer
    ended_by: str | None = None
    ended_as: str | None = None
    overruling: Overruling | None = None


def attempts(offers: Iterable[Offer], record: Iterable[AuditRow]) -> tuple[Attempt, ...]:
    """The offers of one job in their order, read together with its audit rows."""
    endings: dict[str, AuditRow] = {}
    overridden: dict[str, Overruling] = {}
    for row in record:
        if row.offer_id is None:
            continue
        if row.act in ENDINGS:
            endings[row.offer_id] = row
        elif row.act == OVERRIDE:
            overridden[row.offer_id] = overruling(row)
    return tuple(_attempt(each, endings.get(each.id), overridden.get(each.id)) for each in offers)


def _attempt(offer: Offer, ending: AuditRow | None, over: Overruling | None) -> Attempt:
    by, role = (ending.actor, ending.role) if ending else (None, None)
    return Attempt(offer=offer, ended_by=by, ended_as=role, overruling=over)


def overruling(row: AuditRow) -> Overruling:
    """What an override's audit row tells; a detail that is not the engine's own tells of nothing overruled."""
    detail = _told(row.detail)
    return Overruling(
        seq=row.seq,
        at_ms=row.at_ms,
        actor=row.actor,
        worker_id=row.worker_id or "",
        reason=row.reason,
        words=row.words,
        overruled=tuple(_against(detail.get("overruled"))),
        late_ms=late if isinstance(late := detail.get("late_ms"), int) else 0,
        force=detail.get("force") is True,
    )


def _told(detail: str) -> Mapping[str, object]:
    try:
        told: object = json.loads(detail)
    except ValueError:
        return {}
    return cast(dict[str, object], told) if isinstance(told, dict) else {}


def _against(told: object) -> Iterable[Against]:
    for each in cast(list[object], told) if isinstance(told, list) else []:
        if isinstance(each, dict):
            one = cast(dict[str, object], each)
            yield Against(reason=str(one.get("reason", "")), detail=str(one.get("detail", "")))
