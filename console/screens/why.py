"""Why this worker and not that one."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from console.screens.pages import Page
from console.viewmodels.why import lines

if TYPE_CHECKING:
    from engine.verbs.why import Why


class WhyScreen(Page):
    def __init__(self, told: "Why", names: Mapping[str, str], zone: str) -> None:
        super().__init__(f"Why · {told.job.id} · {told.job.state}", lines(told, names, zone))
