"""Those on shift with the skills whom no search could find: "why not Maria" always has an answer (SPEC 3.6)."""

from dataclasses import dataclass

from engine.ports import Engine
from engine.rules.eligibility import fresh
from engine.rules.nouns import Refusal, Seen
from engine.rules.steps import Refused
from engine.verbs.decide import Look, due_reach_m, limits_of

LISTED_MAX = 200
ASKED_MAX = 1_000
"""Whose shift is asked for a decision, who was heard of last first: a roster of a hundred thousand who are at home must
not cost each decision a tenth of a second. The others are counted, and `why JOB --worker W` tells of any one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unplaced:
    worker_id: str
    region: str
    absent: bool
    where: Seen | None


def add_unplaced(engine: Engine, found: Look, *, all_reasons: bool) -> None:
    """Add who is on shift and skilled but was not looked at. ``all_reasons`` False, where somebody could be had: only
    those out of the hot index, whom no search could have found. Who is not listed is counted.

    After it ``found.exhausted`` says that who is beyond is beyond the site's own limit: that holds no alert back."""
    ids, more = engine.index.unplaced(
        engine.tenant, found.job.skills, hot=all_reasons, limit=ASKED_MAX + len(found.seen)
    )
    found.unlisted += more
    room, reach_m = LISTED_MAX, due_reach_m(engine, found.job, found.facts.now_ms)
    widest_m = engine.settings.assign.search_max_m
    for each in _on_shift(engine, found, [worker_id for worker_id in ids if worker_id not in found.seen]):
        refused = _refused(engine, found, each, reach_m)
        if refused is None and each.where is not None and each.where.distance_m <= widest_m:
            found.exhausted = False  # within the site's own limit, and came too late to be searched
        if refused is None and (room > 0 or not found.beyond):  # one beyond is enough to tell that somebody is
            found.beyond[each.worker_id] = _beyond(found, each)
        elif refused is not None and room > 0:
            found.refused.append(refused)
        else:
            found.unlisted += 1
        room -= 1


def _on_shift(engine: Engine, found: Look, ids: list[str]) -> list[_Unplaced]:
    """Those of them who are on shift, in their order."""
    on = {each[0]: each for each in engine.store.on_shift_among(engine.tenant, found.facts.now_ms, ids)}
    mono_ms = engine.mono_ms()
    return [
        _Unplaced(worker_id=worker_id, region=on[worker_id][1], absent=on[worker_id][2],
                  where=engine.index.seen(engine.tenant, worker_id, found.job.place, mono_ms=mono_ms))
        for worker_id in ids if worker_id in on
    ]  # fmt: skip


def _refused(engine: Engine, found: Look, each: _Unplaced, reach_m: float) -> Refused | None:
    """The first filter that keeps them out, in the order of the filters; None: only the search did not go so far."""
    job, old = found.job, fresh(each.where, limits_of(engine.settings))
    if each.region != job.region:
        reason, detail = Refusal.OTHER_REGION, f"belongs to {each.region}, the job to {job.region}"
    elif each.absent:
        reason, detail = Refusal.ABSENT, "absent now, and without a position"
    elif old is not None:
        reason, detail = old.reason, old.detail
    elif each.where is not None and each.where.distance_m > reach_m:
        reason, detail = Refusal.LATE, f"{_away(each)} what due_by allows"
    else:
        return None
    return Refused(worker_id=each.worker_id, reason=reason, detail=detail)


def _beyond(found: Look, each: _Unplaced) -> str:
    return f"{_away(each)} the widest search" if found.exhausted else f"{_away(each)} what was searched yet"


def _away(each: _Unplaced) -> str:
    return f"{each.where.distance_m / 1000:.0f} km away, beyond" if each.where else "beyond"
