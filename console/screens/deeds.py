"""What each command does: ask a person where a reason is wanted, ask the engine on a thread, and say what came of it.

The ids (and the version, or the assignment) an act is aimed at are those of the key that started it. Dialogs and the
engine are imported when first wanted: the first paint does not wait for them."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from console.behind import NotOpen
from console.commands import DeskState, Typed, by_id
from console.viewmodels.bulk import counted
from console.viewmodels.cells import who
from console.viewmodels.commands_typed import BACK, told
from console.viewmodels.rows import AlertRow, JobRow

if TYPE_CHECKING:
    from console.acts import Done, Reason
    from console.screens.desk import Desk
    from engine.ports import Engine
    from engine.rules.nouns import Actor

T = TypeVar("T")


async def asked(desk: "Desk", doing: str, ask: "Callable[[Engine, Actor], T]") -> T | None:
    """The engine's answer; None where it refused, which is then said in one line."""
    from console.viewmodels.reasons import in_words
    from engine.ports import CallboardError

    desk.tell(f"{doing}…")
    try:
        return await desk.console.behind.ask(ask)
    except (CallboardError, NotOpen) as refused:
        desk.tell(f"{doing}: {in_words(str(refused))}", "alert")
    except Exception as error:
        desk.console.unforeseen(doing, error)
        desk.tell(f"{doing} failed: {error}", "alert")
    return None


async def act(desk: "Desk", line: str, ask: "Callable[[Engine, Actor], Done]") -> None:
    """One act behind the screen; ``line``: as it would be typed. Its outcome is one line, and what was done another."""
    done = await asked(desk, line.removeprefix("/"), ask)
    if done is not None:
        desk.did(line, done.undo)
        desk.tell_done(done.said, "warn" if done.vain else "ok")
    desk.console.look_again()


async def reasoned(desk: "Desk", state: DeskState, verb: str, target: str, title: str, means: str) -> "Reason | None":
    """The reason: as typed, or asked for in a dialog; with the line that says the whole act."""
    from console.acts import Reason

    if state.typed is not None and state.typed.reason:
        code, words = state.typed.reason, state.typed.words
    else:
        from console.screens.reason import WithReason

        said = await desk.console.push_screen_wait(WithReason(title, means))
        if said is None:
            desk.tell(f"{verb} {target}: left, nothing was changed")
            return None
        code, words = said.reason, said.words
    return Reason(code=code, words=words, line=told(verb, target, code))


def line_of(verb: str, target: str, why: "Reason") -> str:
    return told(verb, target, why.code, words=why.words)


def job_of(state: DeskState) -> JobRow:
    assert state.job is not None, "the command was allowed without a job"
    return state.job


def alert_of(state: DeskState) -> AlertRow:
    assert state.alert is not None, "the command was allowed without an alert"
    return state.alert


# --- offers ---------------------------------------------------------------------------------------------------------


async def assign(desk: "Desk", state: DeskState) -> None:
    from console import acts

    if state.typed is not None and state.typed.worker_id:
        await override(desk, state)
        return
    job_id = job_of(state).id
    await act(desk, told("offer", job_id), lambda engine, actor: acts.assign(engine, actor, job_id))


async def override(desk: "Desk", state: DeskState) -> None:
    from console import acts

    job, typed = job_of(state), state.typed
    if typed is not None and typed.worker_id and typed.reason:
        why = acts.Reason(code=typed.reason, words=typed.words)
        await _override(desk, job.id, typed.worker_id, why, job.version, force=typed.force)
        return
    picked = await _picked(desk, state)
    if picked is not None:
        (worker_id, force, version), why = picked
        await _override(desk, job.id, worker_id, why, version, force=force)


async def _picked(desk: "Desk", state: DeskState) -> "tuple[tuple[str, bool, int], Reason] | None":
    """Worker, force and the version as shown, from the dialog; None where it was left or could not be opened."""
    from console import acts, choosing
    from console.screens.override import Override

    job_id, typed = job_of(state).id, state.typed
    opened = await asked(desk, f"override {job_id}", lambda engine, _: choosing.choices(engine, job_id))
    if opened is None:
        return None
    desk.tell("")
    first, force = (typed.worker_id, typed.force) if typed else ("", False)
    dialog = Override(desk.console.behind, opened, desk.console.zone, first, force=force)
    picked = await desk.console.push_screen_wait(dialog)
    if picked is None:
        desk.tell(f"override {job_id}: left, nothing was changed")
        return None
    return (picked.worker_id, picked.force, opened.version), acts.Reason(code=picked.reason, words=picked.words)


async def _override(desk: "Desk", job_id: str, worker_id: str, why: "Reason", version: int, *, force: bool) -> None:
    from console import acts

    verb, target = "force" if force else "offer", f"{job_id} {worker_id}"
    kept = acts.Reason(code=why.code, words=why.words, line=told(verb, target, why.code))
    await act(
        desk,
        line_of(verb, target, why),
        lambda engine, actor: acts.override(engine, actor, job_id, worker_id, kept, version=version, force=force),
    )


async def withdraw(desk: "Desk", state: DeskState) -> None:
    from console import acts

    job = job_of(state)
    offer_id = job.live_offer_id or ""
    means = f"{job.id} is open again and is offered to the next at once, where the site does so by itself."
    why = await reasoned(desk, state, "withdraw", job.id, f"Withdraw the offer of {job.id} to {job.worker}", means)
    if why is not None:
        line = line_of("withdraw", job.id, why)
        await act(desk, line, lambda engine, actor: acts.withdraw(engine, actor, offer_id, why))


async def answer(desk: "Desk", state: DeskState, verb: str) -> None:
    from console import acts

    job = job_of(state)
    offer_id, worker_id = job.live_offer_id or "", job.worker_id or ""
    await act(
        desk, told(verb, job.id),
        lambda engine, actor: acts.answer(engine, actor, verb, job.id, offer_id, worker_id),
    )  # fmt: skip


# --- the held job ---------------------------------------------------------------------------------------------------


async def work(desk: "Desk", state: DeskState, verb: str) -> None:
    from console import acts

    job = job_of(state)
    await act(desk, told(verb, job.id), lambda engine, actor: acts.work(engine, actor, verb, job.id, job.held_offer_id))


async def release(desk: "Desk", state: DeskState) -> None:
    from console import acts

    job = job_of(state)
    means = f"{job.worker} loses the job and is not asked for it again for a while; it is offered on."
    why = await reasoned(desk, state, "release", job.id, f"Release {job.id} from {job.worker}", means)
    if why is not None:
        line, held = line_of("release", job.id, why), job.held_offer_id or ""
        await act(desk, line, lambda engine, actor: acts.release(engine, actor, job.id, held, why))


async def reassign(desk: "Desk", state: DeskState) -> None:
    from console import acts

    job = job_of(state)
    means = f"{job.worker} loses the job; the best other worker is offered it at once."
    why = await reasoned(desk, state, "reassign", job.id, f"Reassign {job.id}, held by {job.worker}", means)
    if why is not None:
        line, held = line_of("reassign", job.id, why), job.held_offer_id or ""
        await act(desk, line, lambda engine, actor: acts.reassign(engine, actor, job.id, held, why))


async def preempt(desk: "Desk", state: DeskState) -> None:
    from console import acts
    from console.screens.preempt import Preempt

    job, typed = job_of(state), state.typed
    found = await asked(desk, f"preempt {job.id}", lambda engine, actor: acts.victims(engine, actor, job.id))
    if found is None:
        return
    desk.tell("")
    chosen = next((each for each in found if typed is not None and each.job_id == typed.other_job), None)
    if chosen is not None and typed is not None and typed.reason:
        code, words = typed.reason, typed.words
    else:
        first = typed.other_job if typed else ""
        picked = await desk.console.push_screen_wait(Preempt(job, found, desk.console.zone, first))
        if picked is None:
            desk.tell(f"preempt {job.id}: left, nothing was changed")
            return
        chosen, (code, words) = picked.victim, (picked.reason, picked.words)
    lesser, target = chosen, f"{job.id} {chosen.job_id}"
    why = acts.Reason(code=code, words=words, line=told("preempt", target, code))
    await act(
        desk, line_of("preempt", target, why),
        lambda engine, actor: acts.preempt(engine, actor, lesser.job_id, lesser.held_offer_id, job.id, why),
    )  # fmt: skip


async def cancel(desk: "Desk", state: DeskState) -> None:
    from console import acts

    job = job_of(state)
    holder = f" {job.worker} is freed." if job.worker else ""
    title = f"Cancel {job.id} ({job.state.replace('_', ' ')})"
    means = f"The job ends for good; this cannot be undone.{holder}"
    why = await reasoned(desk, state, "cancel", job.id, title, means)
    if why is not None:
        line, held = line_of("cancel", job.id, why), job.held_offer_id or ""
        await act(desk, line, lambda engine, actor: acts.cancel(engine, actor, job.id, held, why))


async def handoff(desk: "Desk", state: DeskState) -> None:
    from console import acts

    typed, snap = state.typed or Typed(), desk.console.behind.snap
    worker_id, to = typed.worker_id, typed.region
    name = who(snap.names.get(worker_id, "") if snap else "", worker_id)
    title = f"Take back the handoff of {name}" if typed.back else f"Hand {name} over to {to}"
    means = (
        "They stay, and are offered work here again; only a handoff that still waits can be taken back."
        if typed.back
        else "The jobs they hold go with them. Where an offer to them is live, they move once it is answered or over."
    )
    target = f"{worker_id} {BACK if typed.back else to}"
    why = await reasoned(desk, state, "handoff", target, title, means)
    if why is not None:
        move = acts.take_back_handoff if typed.back else partial(acts.handoff, region_id=to)
        await act(desk, line_of("handoff", target, why), lambda engine, actor: move(engine, actor, worker_id, why=why))


async def undo(desk: "Desk", state: DeskState) -> None:
    from console import acts

    what = desk.hands.undo
    if what is not None:
        desk.hands.undo = None
        await act(desk, "/undo", lambda engine, actor: acts.take_back(engine, actor, what))


async def bulk(desk: "Desk", state: DeskState, verb: str) -> None:
    """A dry run over all that are marked, then each in turn, and what came of each."""
    from console.screens.bulk import Bulk
    from console.screens.command_line import open_line

    typed = state.typed or Typed()
    if verb == "snooze" and not typed.minutes:
        await open_line(desk, state, "snooze marked 10m")
        return
    many = by_id(verb).many(state)
    done = await desk.console.push_screen_wait(Bulk(desk.console, verb, many, typed))
    if done is None:
        desk.tell(f"{verb} {counted(many)}: left, nothing was changed")
        return
    desk.unmark(done.applied)
    desk.did(done.line, None)
    desk.tell(done.said, "ok" if done.all_applied else "warn")
    desk.console.look_again()


# --- alerts ---------------------------------------------------------------------------------------------------------


async def see_to(desk: "Desk", state: DeskState, verb: str) -> None:
    from console import acts

    alert_id = alert_of(state).id
    await act(desk, told(verb, alert_id), lambda engine, actor: acts.see_to(engine, actor, verb, alert_id))


async def snooze(desk: "Desk", state: DeskState) -> None:
    from console import acts
    from console.screens.command_line import open_line

    alert_id, minutes = alert_of(state).id, state.typed.minutes if state.typed else 0
    if not minutes:
        await open_line(desk, state, f"snooze {alert_id} 10m")
        return
    await act(
        desk, f"/snooze {alert_id} {minutes}m",
        lambda engine, actor: acts.see_to(engine, actor, "snooze", alert_id, minutes=minutes),
    )  # fmt: skip


async def resolve(desk: "Desk", state: DeskState) -> None:
    from console import acts

    alert = alert_of(state)
    means = f"{alert.detail}\nIt comes again if its cause is still there."
    why = await reasoned(desk, state, "resolve", alert.id, f"Resolve {alert.id}, {alert.kind}", means)
    if why is not None:
        words = f"{why.code}: {why.words} — {why.line}"
        await act(
            desk, line_of("resolve", alert.id, why),
            lambda engine, actor: acts.see_to(engine, actor, "resolve", alert.id, words=words),
        )  # fmt: skip


DEEDS: "dict[str, Callable[[Desk, DeskState], Awaitable[None]]]" = {
    "assign": assign,
    "override": override,
    "withdraw": withdraw,
    "accept": lambda desk, state: answer(desk, state, "accept"),
    "decline": lambda desk, state: answer(desk, state, "decline"),
    "start": lambda desk, state: work(desk, state, "start"),
    "finish": lambda desk, state: work(desk, state, "finish"),
    "release": release,
    "reassign": reassign,
    "preempt": preempt,
    "cancel": cancel,
    "handoff": handoff,
    "undo": undo,
    "acknowledge": lambda desk, state: see_to(desk, state, "ack"),
    "own": lambda desk, state: see_to(desk, state, "own"),
    "escalate": lambda desk, state: see_to(desk, state, "escalate"),
    "snooze": snooze,
    "resolve": resolve,
}
"""What changes something, by command; looks.py has the rest."""
