"""The one-line bars: how alive the desk is (top), what was said last, and which keys do what now (bottom)."""

from rich.cells import cell_len
from textual.content import Content
from textual.widgets import Static

from console.commands import COMMANDS, DeskState, shown_key
from console.viewmodels.bulk import marks
from console.viewmodels.cells import Line
from console.viewmodels.rows import Snapshot
from console.viewmodels.status import Health, line
from console.widgets.paint import one
from console.words import inert


class OneLine(Static):
    """Updates only when it says something else. ``FIXED``: it stays one line high, and nothing else moves."""

    FIXED = True

    def __init__(self, *, id: str) -> None:  # noqa: A002  (Textual's own name)
        super().__init__(id=id, markup=False)
        self._said: Line = ()

    def say(self, line: Line) -> None:
        if line != self._said:
            self._said = line
            self.update(one(line) if line else Content(""), layout=not self.FIXED)


class StatusLine(OneLine):
    def take(self, snap: Snapshot | None, health: Health, now_ms: int) -> None:
        self.say(line(snap, health, max(10, self.size.width), now_ms))


class Said(OneLine):
    """The last outcome or error, in one line. ``look`` beside the words: ok, warn, alert."""

    FIXED = False

    def tell(self, words: str, look: str = "plain") -> None:
        mark = {"alert": "× ", "warn": "! ", "ok": "✓ "}.get(look, "")
        self.say(((f"{mark}{inert(words)}", look),) if words else ())


class KeyBar(OneLine):
    """What is marked, for keys act on that; then keys in the order of their rank, as many as fit. What is not allowed
    now is dim and in brackets."""

    def take(self, state: DeskState) -> None:
        keyed = [each for each in COMMANDS if each.rank is not None and shown_key(each, state)]
        ranked = sorted(keyed, key=lambda each: each.rank or 0)
        told = marks(len(state.marked), len(state.marked_alerts))
        pieces: list[tuple[str, str]] = [(told, "warn")] if told else []
        room = self.size.width - cell_len(told)
        for each in ranked:
            key, may = shown_key(each, state), each.refusal(state) is None
            text = f"{key} {each.label}" if may else f"({key} {each.label})"
            need = cell_len(text) + (2 if pieces else 0)
            if need > room:
                break
            room -= need
            if pieces:
                pieces.append(("  ", "plain"))
            pieces += [(f"{key} ", "head"), (each.label, "plain")] if may else [(text, "dim")]
        self.say(tuple(pieces))
