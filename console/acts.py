"""The acts a desk asks of the engine: each aimed at what was shown, done by a verb, told in words, and where that can
be, with the way to take it back. Runs on a thread behind the screen; imported when first wanted."""

from dataclasses import dataclass

from console.viewmodels.cells import who
from console.viewmodels.reasons import in_words
from engine.ports import CallboardError, Engine, NotFound, Stale
from engine.records import Why
from engine.rules.nouns import Actor, Job, JobState
from engine.verbs import answer as answers
from engine.verbs import assign as assigning
from engine.verbs import override as overriding
from engine.verbs import region, revoke, triage

VICTIMS_MAX = 40
NAMES_READ_MAX = 1_000
ANSWERS = {"accept": answers.accept, "decline": answers.decline}
WORK = {"start": answers.start, "finish": answers.finish}
DONE_WELL = frozenset({answers.Answer.ACCEPTED, answers.Answer.ALREADY_ACCEPTED, answers.Answer.DECLINED,
                       answers.Answer.STARTED, answers.Answer.FINISHED})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """``line``: the act as it would be typed; the audit keeps it behind the words."""

    code: str
    words: str
    line: str = ""

    def checked(self) -> Why:
        why = revoke.reasoned(self.code, self.words)
        return Why(reason=why.reason, words=f"{why.words} — {self.line}" if self.line else why.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """How to take an act back while the job is still of this version. ``worker_id``: who gets it again (``force``: on
    their behalf); None: whatever the act bound is let go."""

    what: str
    job_id: str
    version: int
    worker_id: str | None = None
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What came of an act, in words. ``undo``: None where it cannot be taken back; ``vain``: it was tried, and nobody
    was bound."""

    said: str
    undo: Undo | None = None
    vain: bool = False


def _undo(
    engine: Engine, what: str, job_id: str, worker_id: str | None = None, *, live: str | None = None,
    held: str | None = None, force: bool = False,
) -> Undo | None:  # fmt: skip
    """``live``, ``held``: the offer that the act left on the job. Another one there is somebody else's, and no longer
    this act's to take back."""
    job = engine.store.job(engine.tenant, job_id)
    if job is None or (job.live_offer_id, job.held_offer_id) != (live, held):
        return None
    return Undo(what=what, job_id=job_id, version=job.version, worker_id=worker_id, force=force)


def _who(engine: Engine, worker_id: str | None) -> str:
    """A worker as the board shows them: by name; where another has it (or too many are there to look) by id too."""
    worker = engine.store.worker(engine.tenant, worker_id) if worker_id else None
    if worker is None or not worker.name:
        return worker_id or ""
    few = int(engine.store.rows(engine.tenant, "count_workers")[0]["n"] or 0) <= NAMES_READ_MAX
    alone = few and sum(each.name == worker.name for each in engine.store.workers(engine.tenant)) == 1
    return worker.name if alone else who(worker.name, worker.id)


def _as_shown(engine: Engine, job_id: str, held_offer_id: str | None) -> Job:
    """The job, if the assignment on it is the one that was shown. Raises NotFound, Stale."""
    job = engine.store.job(engine.tenant, job_id)
    if job is None:
        raise NotFound(f"job {job_id}: not found")
    if job.held_offer_id != held_offer_id:
        raise Stale(f"job {job_id} changed since it was shown: it is {_now(engine, job)}")
    return job


def _now(engine: Engine, job: Job) -> str:
    return f"{job.state}{f' with {_who(engine, job.worker_id)}' if job.worker_id else ''} now"


# --- offers ---------------------------------------------------------------------------------------------------------


def assign(engine: Engine, actor: Actor, job_id: str) -> Done:
    """Try now; what came of it in words."""
    made = assigning.assign(engine, actor, job_id)
    if made.offer is not None and made.outcome is assigning.Outcome.OFFERED:
        to, ttl_s = _who(engine, made.offer.worker_id), engine.settings.lease.offer_ttl_s
        said = f"assign {job_id}: offered to {to} for {ttl_s} s"
        return Done(said=said, undo=_undo(engine, f"assign {job_id}", job_id, live=made.offer.id))
    if made.outcome is assigning.Outcome.STANDING and made.offer is not None:
        return Done(said=f"assign {job_id}: the offer to {_who(engine, made.offer.worker_id)} stands")
    reasons: dict[str, int] = {}
    for each in made.considered:
        reasons[each.verdict] = reasons.get(each.verdict, 0) + 1
    if made.outcome in (assigning.Outcome.ALERT, assigning.Outcome.NO_ELIGIBLE):
        return Done(said=f"assign {job_id}: no eligible worker; {in_words(assigning.reasons(reasons))}", vain=True)
    return Done(said=f"assign {job_id}: not done, it is {made.job.state} now", vain=True)


def assign_as_shown(engine: Engine, actor: Actor, job_id: str, version: int) -> Done:
    """One of many: only if it is as it was in the dry run, and "applied" only if an offer was made."""
    _of_version(engine, job_id, version)
    done = assign(engine, actor, job_id)
    if done.undo is None:
        raise Stale(done.said)
    return done


def _of_version(engine: Engine, job_id: str, version: int) -> None:
    job = engine.store.job(engine.tenant, job_id)
    if job is not None and job.version != version:
        raise Stale(f"job {job_id} changed since it was shown: it is {_now(engine, job)}{_by_whom(engine, job_id)}")


def override(
    engine: Engine, actor: Actor, job_id: str, worker_id: str, why: Reason, *, version: int, force: bool
) -> Done:
    """``version``: the job's as it was shown; a conflict is raised as Stale, with who did it. A standing offer is
    withdrawn in the same act."""
    done = overriding.override(
        engine, actor, job_id, worker_id, why.checked(), force=force, withdraw=True, version=version
    )
    over = ", ".join(each.reason.replace("_", " ") for each in done.overrules) or "nothing"
    what = f"override {job_id} {worker_id}"
    said = f"override {job_id}: {done.job.state} to {_who(engine, worker_id)}, overruling {over}"
    made = done.offer.id if done.offer else None
    return Done(said=said, undo=_undo(engine, what, job_id, live=None if force else made, held=made if force else None))


def _by_whom(engine: Engine, job_id: str) -> str:
    """Who changed a job last, as the audit has it."""
    rows = engine.store.audit_of_job(engine.tenant, job_id)
    if not rows:
        return ""
    newest = max(rows, key=lambda each: each.seq)
    return f" ({newest.act} by {newest.actor})"


def withdraw(engine: Engine, actor: Actor, offer_id: str, why: Reason) -> Done:
    facts = engine.store.offer(engine.tenant, offer_id)
    done = revoke.withdraw(engine, actor, offer_id, why.checked())
    tried = f"; {done.next.outcome.replace('_', ' ')} {_to(engine, done)}".rstrip() if done.next else ""
    what = f"withdraw {done.job.id}"
    worker_id = facts.offer.worker_id if facts else None
    said = f"{what}: the offer to {_who(engine, worker_id)} is taken back, the job is {done.job.state}{tried}"
    return Done(
        said=said, undo=_undo(engine, what, done.job.id, worker_id, live=_next(done.next)) if worker_id else None
    )


def _next(made: assigning.Assigned | None) -> str | None:
    return made.offer.id if made is not None and made.offer is not None else None


def _to(engine: Engine, done: revoke.Revoked) -> str:
    return f"to {_who(engine, done.next.offer.worker_id)}" if done.next and done.next.offer else ""


def answer(engine: Engine, actor: Actor, act: str, job_id: str, offer_id: str, worker_id: str) -> Done:
    """Accept or decline on the worker's behalf."""
    told = ANSWERS[act](engine, actor, offer_id, worker_id)
    if told.outcome is answers.Answer.NOT_FOUND:
        raise NotFound(
            f"offer {offer_id} is no offer to {_who(engine, worker_id)}: nothing was changed; look again whose it is"
        )
    if told.outcome not in DONE_WELL:
        raise Stale(f"offer {offer_id} is {told.outcome.replace('_', ' ')}: nothing was changed")
    return Done(said=f"{act} {job_id}: {told.outcome.replace('_', ' ')} on behalf of {_who(engine, worker_id)}")


# --- the held job ---------------------------------------------------------------------------------------------------


def work(engine: Engine, actor: Actor, act: str, job_id: str, held_offer_id: str | None) -> Done:
    """Start or finish on the worker's behalf."""
    job = _as_shown(engine, job_id, held_offer_id)
    told = WORK[act](engine, actor, job_id, job.worker_id or "")
    if told.outcome not in DONE_WELL:
        raise Stale(f"job {job_id} changed meanwhile: it is {_now(engine, told.job or job)}")
    return Done(said=f"{act} {job_id}: {told.outcome} on behalf of {_who(engine, job.worker_id)}")


def release(engine: Engine, actor: Actor, job_id: str, aimed_at: str, why: Reason) -> Done:
    job = _as_shown(engine, job_id, aimed_at)
    done = revoke.release(engine, actor, job_id, why.checked(), aimed_at=aimed_at)
    what = f"release {job_id}"
    return Done(said=f"{what}: it is {_after(engine, job_id, done)}",
                undo=_undo(engine, what, job_id, job.worker_id, live=_next(done.next), force=True))  # fmt: skip


def reassign(engine: Engine, actor: Actor, job_id: str, aimed_at: str, why: Reason) -> Done:
    """To the best other worker; where the site offers only when asked, this is the asking."""
    job = _as_shown(engine, job_id, aimed_at)
    done = revoke.reassign(engine, actor, job_id, why.checked(), aimed_at=aimed_at)
    then = done.next or assigning.assign(engine, actor, job_id)
    what = f"reassign {job_id}"
    return Done(said=f"{what}: it is {_after(engine, job_id, done)}",
                undo=_undo(engine, what, job_id, job.worker_id, live=_next(then), force=True))  # fmt: skip


def cancel(engine: Engine, actor: Actor, job_id: str, aimed_at: str, why: Reason) -> Done:
    revoke.cancel(engine, actor, job_id, why.checked(), aimed_at=aimed_at)
    return Done(said=f"cancel {job_id}: CANCELLED")


def cancel_as_shown(engine: Engine, actor: Actor, job_id: str, aimed_at: str, version: int, why: Reason) -> Done:
    """One of many: only if it is as it was in the dry run."""
    _of_version(engine, job_id, version)
    return cancel(engine, actor, job_id, aimed_at, why)


def _after(engine: Engine, job_id: str, done: revoke.Revoked) -> str:
    job = engine.store.job(engine.tenant, job_id) or done.job
    facts = engine.store.offer(engine.tenant, job.live_offer_id) if job.live_offer_id else None
    return f"{job.state}{f' to {_who(engine, facts.offer.worker_id)}' if facts else ''}"


# --- preempt --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Victim:
    """A held job of lower priority whose worker an urgent one could have. ``breaks``: what that overrules; ``barred``:
    why it cannot be."""

    job_id: str
    priority: int
    due_by_ms: int
    worker_id: str
    worker: str
    held_offer_id: str
    breaks: str
    barred: str


def victims(engine: Engine, actor: Actor, urgent_id: str) -> tuple[Victim, ...]:
    """The held jobs of lower priority, those that can be taken first."""
    urgent = revoke.wanted(engine, urgent_id)
    names = {each.id: each.name for each in engine.store.workers(engine.tenant)}
    held = [
        each for each in engine.store.jobs(engine.tenant, live_only=True)
        if each.state is JobState.ACCEPTED and each.priority < urgent.priority
    ]  # fmt: skip
    held.sort(key=lambda each: (each.priority, -each.due_by_ms))
    found = [_victim(engine, actor, urgent, each, names) for each in held[:VICTIMS_MAX]]
    return tuple(sorted(found, key=lambda each: bool(each.barred)))


def _victim(engine: Engine, actor: Actor, urgent: Job, job: Job, names: dict[str, str]) -> Victim:
    worker_id, breaks, barred = job.worker_id or "", "", ""
    try:
        chosen = overriding.choose(engine, actor, urgent, worker_id, releasing=job.held_offer_id)
        breaks = (
            "; ".join(f"{each.reason.replace('_', ' ')}: {each.detail}" for each in chosen.overrules)
            or "overrules nothing"
        )
    except CallboardError as refused:
        barred = str(refused).partition(": ")[2] or str(refused)
    return Victim(job_id=job.id, priority=job.priority, due_by_ms=job.due_by_ms, worker_id=worker_id,
                  worker=names.get(worker_id) or worker_id, held_offer_id=job.held_offer_id or "", breaks=breaks,
                  barred=barred)  # fmt: skip


def preempt(engine: Engine, actor: Actor, job_id: str, aimed_at: str, urgent_id: str, why: Reason) -> Done:
    job = _as_shown(engine, job_id, aimed_at)
    done = revoke.preempt(engine, actor, job_id, urgent_id, why.checked(), aimed_at=aimed_at)
    after = engine.store.job(engine.tenant, job_id) or job
    against = ", ".join(each.reason.replace("_", " ") for each in done.overrules)
    over = f"; overrules {against}" if against else ""
    return Done(said=f"preempt {urgent_id}: offered to {_who(engine, job.worker_id)}; {job_id} is {after.state}{over}")


# --- regions -------------------------------------------------------------------------------------------------------


def handoff(engine: Engine, actor: Actor, worker_id: str, *, region_id: str, why: Reason) -> Done:
    """Move a worker to another region, now or once the offer that binds them is answered."""
    moved = region.handoff(engine, actor, worker_id, region_id, why.checked())
    if moved is None:
        waits = f"waits until their live offer is answered or over; /handoff {worker_id} back takes it back"
        return Done(said=f"handoff {worker_id} {region_id}: {waits}")
    return Done(said=f"handoff {worker_id} {region_id}: {_who(engine, worker_id)} belongs to {region_id} now")


def take_back_handoff(engine: Engine, actor: Actor, worker_id: str, *, why: Reason) -> Done:
    to = region.take_back_handoff(engine, actor, worker_id, why.checked())
    return Done(said=f"handoff {worker_id} back: {_who(engine, worker_id)} stays, and does not go to {to}")


# --- alerts ---------------------------------------------------------------------------------------------------------


def see_to(
    engine: Engine, actor: Actor, act: str, alert_id: str, *, minutes: int = 0, words: str = "",
    shown: tuple[str, str, int] | None = None,
) -> Done:  # fmt: skip
    """Ack, own, snooze, escalate or resolve an alert. ``shown``: who had acknowledged and owned it, and its severity:
    one of many is left where another desk was there in between."""
    now = engine.store.alert(engine.tenant, alert_id)
    if (
        shown is not None
        and now is not None
        and now.open
        and (now.acked_by or "", now.owner or "", now.severity) != shown
    ):
        who = f"owned by {now.owner}" if now.owner else f"acknowledged by {now.acked_by}" if now.acked_by else "changed"
        raise Stale(f"alert {alert_id} changed since it was shown: it is {who} now, of severity {now.severity}")
    done = triage.triage(engine, actor, act, alert_id, for_min=minutes, words=words)
    became = {"ack": f"acknowledged by {done.acked_by}", "own": f"owned by {done.owner}", "escalate": "severity 1",
              "snooze": f"hidden for {minutes} min", "resolve": "resolved"}[act]  # fmt: skip
    return Done(said=f"{act} {done.id}: {done.kind.replace('_', ' ')} {became}")


# --- undo -----------------------------------------------------------------------------------------------------------


def take_back(engine: Engine, actor: Actor, undo: Undo) -> Done:
    """Undo an act of a moment ago, if nothing has happened to its job since. Raises Stale, Forbidden."""
    job = engine.store.job(engine.tenant, undo.job_id)
    if job is None or job.version != undo.version:
        now = f": {job.id} is {_now(engine, job)}{_by_whom(engine, job.id)}" if job else ""
        raise Stale(f"{undo.what} can no longer be undone{now}")
    why = Why(reason="mistake", words=f"taken back at once: {undo.what}")
    if undo.worker_id is not None:
        overriding.override(
            engine, actor, job.id, undo.worker_id, why, force=undo.force, withdraw=True, version=undo.version
        )
        after = engine.store.job(engine.tenant, job.id) or job
        return Done(said=f"undone: {undo.what}; it is {after.state} to {_who(engine, undo.worker_id)}")
    if job.live_offer_id is not None:
        done = revoke.withdraw(engine, actor, job.live_offer_id, why)
    else:
        done = revoke.release(engine, actor, job.id, why, aimed_at=job.held_offer_id)
    return Done(said=f"undone: {undo.what}; it is {_after(engine, job.id, done)}")
