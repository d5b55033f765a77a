"""A rehearsal as lines in colour, as a text file and as a picture: for the terminal, the screen and the slide."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from console.stage import BARE, GUARDED, SAFE, Script
from console.words import inert
from engine.verbs.rehearsed import Line

SVG_COLUMNS = 100
COLOURS = {"begin": "bold", "waiting": "yellow", "won": "bold green", "lost": "bold red", "change": "dim",
           "rule": "bold", "said": "italic"}  # fmt: skip
LANES = ("cyan", "magenta", "blue", "yellow")
TEXTS: Mapping[str, str] = {SAFE: "", BARE: "-naive", GUARDED: "-guarded"}


def heading(script: Script, kind: str) -> str:
    return f"{script.title}: {script.teaches}" if kind == SAFE else f"{script.title} ({kind})"


def painted(lines: Sequence[Line]) -> Text:
    lanes = list(dict.fromkeys(each.lane for each in lines if each.lane and each.lane != "clock"))
    made = Text()
    for each in lines:
        colour = COLOURS.get(each.kind, "")
        if each.kind in ("step", "begin") and each.lane in lanes:
            colour = f"{colour} {LANES[lanes.index(each.lane) % len(LANES)]}".strip()
        made.append(inert(each.text), style=colour)
        made.append("\n")
    made.rstrip()
    return made


def export(folder: Path, script: Script, kind: str, lines: Sequence[Line]) -> tuple[Path, Path]:
    """Write the run as text and as SVG; answers both paths. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    text, picture = (folder / f"{script.name}{TEXTS[kind]}.{end}" for end in ("txt", "svg"))
    body = "\n".join(inert(each.text) for each in lines)
    text.write_text(f"{inert(heading(script, kind))}\n\n{body}\n", encoding="utf-8")
    width = max(SVG_COLUMNS, *(len(each.text) + 1 for each in lines), 0)
    with Path("/dev/null").open("w") as nowhere:
        drawn = Console(file=nowhere, record=True, width=width, markup=False, highlight=False, emoji=False,
                        force_terminal=True, color_system="truecolor")  # fmt: skip
        drawn.print(painted(lines))
    title = script.title if kind == SAFE else f"{script.title} ({kind})"
    # A fixed id: else rich makes it of the content and of the moment, and two exports would differ.
    picture.write_text(drawn.export_svg(title=inert(title), unique_id="rehearsal"), encoding="utf-8")
    return text, picture
