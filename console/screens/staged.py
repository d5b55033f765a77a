"""What a trainer opens from the desk of a training site: the rehearsal room, and the panel of the demo."""

from typing import TYPE_CHECKING

from console.commands import DeskState

if TYPE_CHECKING:
    from console.screens.desk import Desk


async def rehearse(desk: "Desk", state: DeskState) -> None:
    """On a database of its own: the desk's is not touched."""
    from console.screens.scenarios import Scenarios

    room = desk.console.room
    if room is None:
        desk.tell("rehearse: this copy of Callboard does not have it", "warn")
        return
    await desk.console.push_screen(Scenarios(room, nested=True))


async def panel(desk: "Desk", state: DeskState) -> None:
    from console.screens.panel import Panel

    stage = desk.console.behind.stage
    if stage is not None:
        await desk.console.push_screen(Panel(stage, ticks=desk.console.ticks))
