"""Filters over the board, in one small language: words, and `skill:` `cell:` `due:` `unassigned` to narrow further."""

import re
from dataclasses import dataclass, replace

from console.viewmodels.cells_map import within
from console.viewmodels.rows import TERMINAL, WAITING, JobRow

MINUTE_MS = 60_000
CELL = re.compile(r"cell:([0-9a-f]{15})")
DUE = re.compile(r"due:(\d{1,5})(m|h)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Filter:
    """``text``: letters that must be in id, type, skill, worker, address or state; matched literally. ``due_min``:
    only live jobs due within so many minutes of ``now_ms``; 0: any. ``cell``: the H3 cell it must be in."""

    text: str = ""
    unassigned: bool = False
    skill: str = ""
    cell: str = ""
    due_min: int = 0
    now_ms: int = 0

    @property
    def on(self) -> bool:
        return bool(self.text or self.unassigned or self.skill or self.cell or self.due_min)

    def at(self, now_ms: int) -> "Filter":
        return replace(self, now_ms=now_ms) if self.due_min else self

    def keeps(self, row: JobRow) -> bool:
        if self.unassigned and row.state not in WAITING:
            return False
        if self.skill and not any(each.casefold().startswith(self.skill) for each in row.skills.split(", ")):
            return False
        if self.cell and not within(row.cell, self.cell):
            return False
        if self.due_min and (row.state in TERMINAL or row.due_by_ms > self.now_ms + self.due_min * MINUTE_MS):
            return False
        if not self.text:
            return True
        hay = "\n".join((row.id, row.type, row.skills, row.worker, row.address, row.state)).casefold()
        return all(word in hay for word in self.text.casefold().split())


def parse(line: str) -> Filter:
    """What is not one of the narrowing words is looked for as it stands."""
    kept, words = Filter(), list[str]()
    for word in line.split():
        low = word.casefold()
        due, cell = DUE.fullmatch(word), CELL.fullmatch(low)
        if low == "unassigned":
            kept = replace(kept, unassigned=True)
        elif due is not None:
            kept = replace(kept, due_min=int(due[1]) * (60 if (due[2] or "").casefold() == "h" else 1))
        elif cell is not None:
            kept = replace(kept, cell=cell[1])
        elif low.startswith("skill:") and low != "skill:":
            kept = replace(kept, skill=low.removeprefix("skill:"))
        else:
            words.append(word)
    return replace(kept, text=" ".join(words))


def told(kept: Filter) -> str:
    """The filter as it is typed."""
    parts = [
        "unassigned" if kept.unassigned else "",
        f"skill:{kept.skill}" if kept.skill else "",
        f"cell:{kept.cell}" if kept.cell else "",
        f"due:{kept.due_min}m" if kept.due_min else "",
        kept.text,
    ]
    return " ".join(each for each in parts if each)
