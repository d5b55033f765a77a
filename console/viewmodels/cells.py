"""Lines of pieces: a piece is a text and the name of its look. Texts are inert and measured in terminal cells."""

from dataclasses import dataclass
from typing import TypeAlias

from rich.cells import cell_len, set_cell_size

from console.words import inert

Piece: TypeAlias = tuple[str, str]
Line: TypeAlias = tuple[Piece, ...]

PLAIN, DIM, HEAD, OK, WARN = "plain", "dim", "head", "ok", "warn"
ALERT, ALARM, ACCENT, BOLD, BAR = "alert", "alarm", "accent", "bold", "bar"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """``width`` in cells without the gap; ``from_width``: shown in panes at least so wide. Of those shown, the ones of
    the highest ``grow`` take what is left."""

    name: str
    width: int
    from_width: int = 0
    grow: int = 0
    right: bool = False


def fit(text: str, width: int, *, right: bool = False) -> str:
    """The text in exactly so many cells; cut with an ellipsis, wide characters counted as two."""
    text = inert(text)
    have = cell_len(text)
    if have > width:
        return set_cell_size(set_cell_size(text, max(0, width - 1)).rstrip() + "…", width) if width > 0 else ""
    return " " * (width - have) + text if right else text + " " * (width - have)


def who(name: str, worker_id: str) -> str:
    """A person by name, and by id where the name does not say it."""
    return name if not worker_id or worker_id in name.split() else f"{name} {worker_id}".strip()


def columns_for(columns: tuple[Column, ...], width: int) -> tuple[Column, ...]:
    """Those that a pane of this width shows, the growing one given what is left."""
    shown = [each for each in columns if width >= each.from_width]
    spare = width - sum(each.width + 1 for each in shown)
    most = max((each.grow for each in shown), default=0)
    growing = [each for each in shown if most and each.grow == most]
    if spare > 0 and growing:
        share, rest = divmod(spare, len(growing))
        wider = {each.name: share + (rest if each is growing[0] else 0) for each in growing}
        shown = [
            Column(name=each.name, width=each.width + wider.get(each.name, 0), grow=each.grow, right=each.right)
            for each in shown
        ]
    return tuple(shown)


def bar(part: int, whole: int, width: int) -> str:
    """A bar that empties: full blocks for what is left."""
    full = 0 if whole <= 0 else max(0, min(width, -(-part * width // whole)))
    return "▇" * full + "▁" * (width - full)
