"""Commands that change nothing in the database: what is shown, found, filtered, kept, covered."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from console.commands import DeskState
from console.screens import staged
from console.screens.deeds import asked, job_of
from console.viewmodels import filters

if TYPE_CHECKING:
    from console.screens.desk import Desk


async def why(desk: "Desk", state: DeskState) -> None:
    from console import asks
    from console.screens.why import WhyScreen

    job_id = job_of(state).id
    told = await asked(desk, f"why {job_id}", lambda engine, _: asks.explain(engine, job_id))
    if told is not None:
        desk.tell("")
        snap = desk.console.behind.snap
        await desk.console.push_screen_wait(WhyScreen(told, snap.names if snap else {}, desk.console.zone))


async def show_help(desk: "Desk", state: DeskState) -> None:
    from console.screens.help import Help

    await desk.console.push_screen_wait(Help(state))


async def leave(desk: "Desk", state: DeskState) -> None:
    from console.screens.leave import Leave

    if await desk.console.push_screen_wait(Leave(desk.console.leaving())):
        desk.console.exit(0)


async def command_line(desk: "Desk", state: DeskState) -> None:
    from console.screens.command_line import open_line

    await open_line(desk, state, "")


async def find(desk: "Desk", state: DeskState) -> None:
    from console import finds
    from console.screens.find import FindScreen

    text = state.typed.text if state.typed else ""
    found = await asked(desk, f"find {text}", lambda engine, _: finds.find(engine, text))
    if found is None:
        return
    desk.tell("")
    job_id = await desk.console.push_screen_wait(FindScreen(text, found, desk.console.zone))
    if job_id is not None:
        desk.go_to(job_id)


async def go(desk: "Desk", state: DeskState) -> None:
    desk.go_to(job_of(state).id)


# --- filters --------------------------------------------------------------------------------------------------------


async def open_filter(desk: "Desk", state: DeskState) -> None:
    if state.typed is not None:
        desk.filter_by(filters.parse(state.typed.text))
        desk.tell(f"filter: {filters.told(desk.board.kept) or 'all jobs'}")
        return
    desk.open_filter()


async def unassigned(desk: "Desk", state: DeskState) -> None:
    desk.toggle_unassigned()


async def save(desk: "Desk", state: DeskState) -> None:
    from console import keymap

    name, now = state.typed.text if state.typed else "", filters.told(desk.board.kept)
    desk.tell(*keymap.save(name, now))


async def recall(desk: "Desk", state: DeskState) -> None:
    from console import keymap

    name = state.typed.text if state.typed else ""
    if not name:
        names = ", ".join(keymap.saved()) or "none yet: filter, then /save NAME"
        desk.tell(f"kept filters: {names}")
        return
    found = keymap.saved().get(name)
    if found is None:
        desk.tell(f"recall {name}: no filter of this name; /recall lists them", "warn")
        return
    desk.filter_by(filters.parse(found))
    desk.tell(f"filter {name}: {found}")


async def forget(desk: "Desk", state: DeskState) -> None:
    from console import keymap

    desk.tell(*keymap.forget(state.typed.text if state.typed else ""))


# --- the desk itself ------------------------------------------------------------------------------------------------


async def sort(desk: "Desk", state: DeskState) -> None:
    desk.next_order()


async def theme(desk: "Desk", state: DeskState) -> None:
    desk.tell(f"theme {desk.console.next_theme()}")


async def mark(desk: "Desk", state: DeskState) -> None:
    """The desk does this itself, at once."""
    desk.mark(job_of(state).id)


async def unmark(desk: "Desk", state: DeskState) -> None:
    desk.unmark(frozenset(each.id for each in (*state.marked, *state.marked_alerts)))


async def mute(desk: "Desk", state: DeskState) -> None:
    bell = desk.hands.bell
    bell.muted = not bell.muted
    desk.tell("the bell is muted at this desk" if bell.muted else "the bell rings for new alerts of severity 1")


async def lock(desk: "Desk", state: DeskState) -> None:
    behind = desk.console.behind
    if not behind.guarded:
        desk.tell("lock: this site has no operators, so nobody could open it again (`run.py operator add`)", "warn")
        return
    desk.console.cover()


LOOKS: "dict[str, Callable[[Desk, DeskState], Awaitable[None]]]" = {
    "help": show_help,
    "line": command_line,
    "why": why,
    "find": find,
    "go": go,
    "filter": open_filter,
    "unassigned": unassigned,
    "save": save,
    "recall": recall,
    "forget": forget,
    "sort": sort,
    "theme": theme,
    "rehearse": staged.rehearse,
    "panel": staged.panel,
    "mark": mark,
    "unmark": unmark,
    "mute": mute,
    "lock": lock,
    "leave": leave,
}
