"""What a desk keeps between two keys of its operator: the typed equivalents, what can still be undone, the bell."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from console.viewmodels.alerts import Bell

if TYPE_CHECKING:
    from console.acts import Undo

LINES_KEPT = 200


@dataclass(slots=True, kw_only=True)
class Hands:
    """``lines``: acts as they would be typed, the newest last. ``graced``: the outcome on the
    screen beside which it says that it can be undone."""

    lines: list[str] = field(default_factory=list[str])
    bell: Bell = field(default_factory=Bell)
    undo: "Undo | None" = None
    undo_until_s: float = 0.0
    last: str = ""
    graced: str = ""

    def did(self, line: str, undo: "Undo | None", now_s: float, grace_s: float) -> None:
        """An act was done: it is the one that ``undo`` would take back, for so long."""
        self.lines = [*self.lines, line][-LINES_KEPT:]
        self.undo, self.undo_until_s, self.last = undo, now_s + grace_s, line

    def forget(self) -> None:
        """Somebody else sits here now, and takes back nothing of the one before."""
        self.undo, self.last, self.graced = None, "", ""

    def can_undo(self, now_s: float) -> str:
        return self.undo.what if self.undo is not None and now_s <= self.undo_until_s else ""

    def why_not(self, now_s: float, grace_s: float) -> str:
        """Why the last act is not undone by a key any more."""
        if not self.last:
            return "nothing was done yet"
        if self.undo is None:
            return f"{self.last} cannot be taken back by undo: use an act of its own, with a reason"
        return f"{self.last} was longer ago than {grace_s:g} s: use an act of its own, with a reason"
