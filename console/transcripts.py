"""A rehearsal as lines in colour, as a text file and as a picture: for the terminal, the screen and the slide."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from console.stage import BARE, GUARDED, SAFE, Script
from console.viewmodels.cells import PLAIN
from console.viewmodels.hanging import NARROW_INDENT, hung
from console.words import inert
from engine.verbs.rehearsed import Line

SVG_COLUMNS = 100
COLOURS = {"begin": "bold", "waiting": "yellow", "won": "bold green", "lost": "bold red", "change": "dim",
           "rule": "bold", "said": "italic"}  # fmt: skip
LANES = ("cyan", "magenta", "blue", "yellow")
TEXTS: Mapping[str, str] = {SAFE: "", BARE: "-naive", GUARDED: "-guarded"}


def asked(script: Script, *, notes: bool) -> list[Line]:
    """The questions for the class; with ``notes`` also the answers and what is the trainer's alone."""
    found = [Line(text="questions for the class", kind="rule", begins=0)] if script.questions else list[Line]()
    for ask, answer in script.questions:
        found.append(Line(text=f"  - {ask}", kind="end", begins=4))
        if notes:
            found.append(Line(text=f"    {answer}", kind="change", begins=4))
    if notes and script.notes:
        found.append(Line(text="notes", kind="rule", begins=0))
        found += (Line(text=f"  {each}", kind="end") for each in script.notes.strip().splitlines())
    return found


def heading(script: Script, kind: str) -> str:
    return f"{script.title}: {script.teaches}" if kind == SAFE else f"{script.title} ({kind})"


def painted(lines: Sequence[Line], width: int | None = None) -> Text:
    """In colour; within ``width`` columns where told: what is longer goes on below its own words."""
    lanes = list(dict.fromkeys(each.lane for each in lines if each.lane and each.lane != "clock"))
    made = Text()
    for each in lines:
        colour = COLOURS.get(each.kind, "")
        if each.kind in ("step", "begin") and each.lane in lanes:
            colour = f"{colour} {LANES[lanes.index(each.lane) % len(LANES)]}".strip()
        for row in (inert(each.text),) if width is None else rows_of(each, width):
            made.append(row, style=colour)
            made.append("\n")
    made.rstrip()
    return made


def rows_of(line: Line, width: int) -> list[str]:
    before, words = inert(line.text[: line.begins]), inert(line.text[line.begins :])
    if before.isspace() and len(before) * 2 > width:  # on a small terminal words are worth more than the column
        before = " " * NARROW_INDENT
    return ["".join(text for text, _ in row) for row in hung(((before + words, PLAIN),), width, cell_len(before))]


def export(folder: Path, script: Script, kind: str, lines: Sequence[Line], *, notes: bool = False) -> tuple[Path, Path]:
    """Write the run, and the questions for the class, as text and as SVG; answers both paths. Raises OSError.

    It goes to the class: without the answers, unless ``notes``."""
    folder.mkdir(parents=True, exist_ok=True)
    text, picture = (folder / f"{script.name}{TEXTS[kind]}.{end}" for end in ("txt", "svg"))
    questions = [Line(text="", kind="end"), *asked(script, notes=notes)] if script.questions else []
    body = "\n".join(inert(each.text) for each in (*lines, *questions))
    text.write_text(f"{inert(heading(script, kind))}\n\n{body}\n", encoding="utf-8")
    width = max(SVG_COLUMNS, *(cell_len(inert(each.text)) + 1 for each in lines), 0)
    with Path("/dev/null").open("w") as nowhere:
        drawn = Console(file=nowhere, record=True, width=width, markup=False, highlight=False, emoji=False,
                        force_terminal=True, color_system="truecolor")  # fmt: skip
        drawn.print(painted((*lines, *questions), width))
    title = script.title if kind == SAFE else f"{script.title} ({kind})"
    # A fixed id: else rich makes it of the content and of the moment, and two exports would differ.
    picture.write_text(drawn.export_svg(title=inert(title), unique_id="rehearsal"), encoding="utf-8")
    return text, picture


def export_orders(folder: Path, script: Script, kind: str, lines: Sequence[str]) -> Path:
    """Write what became of every order as text; answers the path. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    text = folder / f"{script.name}{TEXTS[kind]}-orders.txt"
    body = "\n".join(inert(each).rstrip() for each in lines)
    text.write_text(f"{inert(script.title)} ({kind}): every order\n\n{body}\n", encoding="utf-8")
    return text
