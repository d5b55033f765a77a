"""A reason for the audit: a code and at least ten letters of words."""

from typing import cast

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Select

from engine.rules.words import LETTERS_MIN, letters


class ReasonFields(Vertical):
    def __init__(self, codes: tuple[str, ...]) -> None:
        super().__init__(classes="reason")
        self._codes = codes

    def compose(self) -> ComposeResult:
        options = [(each.replace("_", " "), each) for each in self._codes]
        yield Select[str](options, prompt="reason: choose one", id="code", compact=True)
        yield Input(
            placeholder=f"in words, at least {LETTERS_MIN} letters; the audit keeps them", id="words", compact=True
        )

    def on_mount(self) -> None:
        self.query_one(Input).cursor_blink = False

    @property
    def code(self) -> str | None:
        picked = cast(Select[str], self.query_one("#code", Select)).value
        return picked if isinstance(picked, str) else None

    @property
    def words(self) -> str:
        return self.query_one("#words", Input).value.strip()

    @property
    def lacking(self) -> str:
        """What is still wanted, in words; "" when all is there."""
        if self.code is None:
            return "choose a reason"
        short = LETTERS_MIN - letters(self.words)
        return f"{short} more letters of words" if short > 0 else ""
