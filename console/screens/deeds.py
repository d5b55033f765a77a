"""What each command does: ask a person where a reason is wanted, ask the engine on a thread, and say what came of it.

The ids (and the version, or the assignment) an act is aimed at are those of the key that started it. Dialogs and the
engine are imported when first wanted: the first paint does not wait for them."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from console.behind import NotOpen
from console.commands import DeskState
from console.viewmodels.rows import JobRow

if TYPE_CHECKING:
    from console.screens.desk import Desk
    from console.screens.reason import Reasoned
    from engine.ports import Engine
    from engine.rules.nouns import Actor

T = TypeVar("T")


async def asked(desk: "Desk", doing: str, ask: "Callable[[Engine, Actor], T]") -> T | None:
    """The engine's answer; None where it refused, which is then said in one line."""
    from engine.ports import CallboardError

    desk.tell(f"{doing}…")
    try:
        return await desk.console.behind.ask(ask)
    except (CallboardError, NotOpen) as refused:
        desk.tell(f"{doing}: {refused}", "alert")
    except Exception as error:
        desk.console.unforeseen(doing, error)
        desk.tell(f"{doing} failed: {error}", "alert")
    return None


async def act(desk: "Desk", doing: str, ask: "Callable[[Engine, Actor], str]") -> None:
    """One act behind the screen; its outcome, told as its typed equivalent, is one line."""
    said = await asked(desk, doing, ask)
    if said is not None:
        desk.tell(said, "ok")
    desk.console.look_again()


async def reasoned(desk: "Desk", doing: str, title: str, means: str) -> "Reasoned | None":
    from console.screens.reason import WithReason

    said = await desk.console.push_screen_wait(WithReason(title, means))
    if said is None:
        desk.tell(f"{doing}: left, nothing was changed")
    return said


def _aim(state: DeskState) -> JobRow:
    assert state.job is not None, "the command was allowed without a job"
    return state.job


async def assign(desk: "Desk", state: DeskState) -> None:
    from console import asks

    job_id = _aim(state).id
    await act(desk, f"assign {job_id}", lambda engine, actor: asks.assign(engine, actor, job_id))


async def acknowledge(desk: "Desk", state: DeskState) -> None:
    from console import asks

    assert state.alert is not None, "the command was allowed without an alert"
    alert_id = state.alert.id
    await act(desk, f"alert ack {alert_id}", lambda engine, actor: asks.acknowledge(engine, actor, alert_id))


async def override(desk: "Desk", state: DeskState) -> None:
    from console import asks
    from console.screens.override import Override

    job_id = _aim(state).id
    opened = await asked(desk, f"override {job_id}", lambda engine, _: asks.choices(engine, job_id))
    if opened is None:
        return
    desk.tell("")
    picked = await desk.console.push_screen_wait(Override(desk.console.behind, opened, desk.console.zone))
    if picked is None:
        desk.tell(f"override {job_id}: left, nothing was changed")
        return
    await act(
        desk,
        f"override {job_id} {picked.worker_id}",
        lambda engine, actor: asks.override(
            engine, actor, job_id, picked.worker_id, picked.reason, picked.words,
            version=opened.version, force=picked.force,
        ),
    )  # fmt: skip


async def why(desk: "Desk", state: DeskState) -> None:
    from console import asks
    from console.screens.why import WhyScreen

    job_id = _aim(state).id
    told = await asked(desk, f"why {job_id}", lambda engine, _: asks.explain(engine, job_id))
    if told is not None:
        desk.tell("")
        snap = desk.console.behind.snap
        await desk.console.push_screen_wait(WhyScreen(told, snap.names if snap else {}, desk.console.zone))


async def withdraw(desk: "Desk", state: DeskState) -> None:
    from console import asks

    job = _aim(state)
    offer_id = job.live_offer_id or ""
    doing = f"withdraw {offer_id}"
    means = f"{job.id} is open again and is offered to the next at once, where the site does so by itself."
    said = await reasoned(desk, doing, f"Withdraw the offer of {job.id} to {job.worker}", means)
    if said is not None:
        await act(desk, doing, lambda engine, actor: asks.withdraw(engine, actor, offer_id, said.reason, said.words))


async def release(desk: "Desk", state: DeskState) -> None:
    from console import asks

    job = _aim(state)
    doing, held = f"release {job.id}", job.held_offer_id or ""
    means = f"{job.worker} loses the job and is not asked for it again for a while; it is offered on."
    said = await reasoned(desk, doing, f"Release {job.id} from {job.worker}", means)
    if said is not None:
        await act(desk, doing, lambda engine, actor: asks.release(engine, actor, job.id, held, said.reason, said.words))


async def reassign(desk: "Desk", state: DeskState) -> None:
    from console import asks

    job = _aim(state)
    doing, held = f"reassign {job.id}", job.held_offer_id or ""
    means = f"{job.worker} loses the job; the best other worker is offered it at once."
    said = await reasoned(desk, doing, f"Reassign {job.id}, held by {job.worker}", means)
    if said is not None:
        await act(
            desk, doing, lambda engine, actor: asks.reassign(engine, actor, job.id, held, said.reason, said.words)
        )


async def cancel(desk: "Desk", state: DeskState) -> None:
    from console import asks

    job = _aim(state)
    doing, held = f"cancel {job.id}", job.held_offer_id or ""
    holder = f" {job.worker} is freed." if job.worker else ""
    said = await reasoned(
        desk, doing, f"Cancel {job.id} ({job.state.replace('_', ' ')})", f"The job ends for good.{holder}"
    )
    if said is not None:
        await act(desk, doing, lambda engine, actor: asks.cancel(engine, actor, job.id, held, said.reason, said.words))


async def show_help(desk: "Desk", state: DeskState) -> None:
    from console.screens.help import Help

    await desk.console.push_screen_wait(Help(state))


async def leave(desk: "Desk", state: DeskState) -> None:
    from console.screens.leave import Leave

    if await desk.console.push_screen_wait(Leave(desk.console.leaving())):
        desk.console.exit(0)


async def open_filter(desk: "Desk", state: DeskState) -> None:
    desk.open_filter()


async def unassigned(desk: "Desk", state: DeskState) -> None:
    desk.toggle_unassigned()


async def sort(desk: "Desk", state: DeskState) -> None:
    desk.next_order()


async def theme(desk: "Desk", state: DeskState) -> None:
    desk.tell(f"theme {desk.console.next_theme()}")


DEEDS: "dict[str, Callable[[Desk, DeskState], Awaitable[None]]]" = {
    "assign": assign,
    "override": override,
    "acknowledge": acknowledge,
    "why": why,
    "withdraw": withdraw,
    "release": release,
    "reassign": reassign,
    "cancel": cancel,
    "filter": open_filter,
    "unassigned": unassigned,
    "sort": sort,
    "theme": theme,
    "help": show_help,
    "leave": leave,
}
"""One for each of COMMANDS, by id."""
