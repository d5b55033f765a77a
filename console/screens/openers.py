"""Opens the screens beside the desk, one for each command that only shows. They are imported when first wanted."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from console.commands import DeskState
from console.viewmodels.commands_typed import by_id

if TYPE_CHECKING:
    from console.screens.desk import Desk


async def workers(desk: "Desk", state: DeskState) -> None:
    from console.screens.workers import WorkersScreen

    await desk.console.push_screen_wait(WorkersScreen(state.typed.text if state.typed else ""))


async def audit(desk: "Desk", state: DeskState) -> None:
    from console.screens.audit import AuditScreen

    text = state.typed.text if state.typed else ""
    snap = desk.console.behind.snap
    job_id = by_id(text, snap.jobs) if snap else None
    await desk.console.push_screen_wait(AuditScreen(job_id or text))


async def figures(desk: "Desk", state: DeskState) -> None:
    from console.screens.figures import FiguresScreen

    await desk.console.push_screen_wait(FiguresScreen())


async def handover(desk: "Desk", state: DeskState) -> None:
    from console.screens.handover import HandoverScreen

    await desk.console.push_screen_wait(HandoverScreen())


async def settings(desk: "Desk", state: DeskState) -> None:
    from console.screens.settings import SettingsScreen

    await desk.console.push_screen_wait(SettingsScreen())


async def tour(desk: "Desk", state: DeskState) -> None:
    from console.screens.tour import Tour

    await desk.console.push_screen_wait(Tour())


OPENERS: "dict[str, Callable[[Desk, DeskState], Awaitable[None]]]" = {
    "workers": workers,
    "audit": audit,
    "figures": figures,
    "handover": handover,
    "settings": settings,
    "tour": tour,
}
"""One for each command of a screen, by id."""
