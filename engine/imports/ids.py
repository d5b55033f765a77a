"""Ids within one file: each stands once, and none is what a spreadsheet made of a longer one."""

import re
from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal

from engine.imports.parsed import Rejected, rejected

_ROUNDED = re.compile(r"\d{1,30}\.0{1,10}|\d(\.\d{1,30})?[eE]\+?\d{1,3}", re.ASCII)
_DIGITS = re.compile(r"\d{1,40}", re.ASCII)


def doubled(ids: Sequence[tuple[int, str]], column: str = "id") -> tuple[Rejected, ...]:
    """A refusal for every row whose id stands on another row too, also after the rounding that a spreadsheet does."""
    rows: dict[str, list[int]] = defaultdict(list)
    for row, text in ids:
        rows[text].append(row)
    refused = {row: (text, rule) for text, at in rows.items() if len(at) > 1 for row, rule in _twice(at)}
    for row, other, text in _after_rounding(ids):
        rule = f"one of this and row {other} looks like a rounded number; they may be the same: export ids as text"
        refused.setdefault(row, (text, rule))
    return tuple(rejected(row, column, text, rule) for row, (text, rule) in sorted(refused.items()))


def looks_rounded(ids: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """A warning that names the rows whose ids look like 1.23E+15 or 123.0; none where all is well."""
    found = [(row, text) for row, text in ids if _ROUNDED.fullmatch(text)]
    if not found:
        return ()
    shown = ", ".join(f"{text} (row {row})" for row, text in found[:5])
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    return (f"id looks like a rounded number: {shown}{more}; it is kept as it stands: export ids as text",)


def _twice(at: list[int]) -> list[tuple[int, str]]:
    shown = ", ".join(map(str, at[:5])) + (", …" if len(at) > 5 else "")
    return [(row, f"the same id stands in rows {shown}: keep one") for row in at]


def _after_rounding(ids: Sequence[tuple[int, str]]) -> list[tuple[int, int, str]]:
    """(row, the other row, id) of ids that cannot be told apart once one of them is rounded."""
    rounded = [(row, text) for row, text in ids if _ROUNDED.fullmatch(text)]
    widths = {_width(text) for _, text in rounded}
    groups: dict[tuple[int, Decimal], list[tuple[int, str]]] = defaultdict(list)
    for row, text in ids:
        if _ROUNDED.fullmatch(text):
            groups[_width(text), Decimal(text)].append((row, text))
        elif _DIGITS.fullmatch(text):
            for width in widths:
                groups[width, _to_width(Decimal(text), width)].append((row, text))
    clashes: list[tuple[int, int, str]] = []
    for group in groups.values():
        if len(group) > 1 and any(_ROUNDED.fullmatch(text) for _, text in group):
            clashes += [(row, group[0][0] if row != group[0][0] else group[1][0], text) for row, text in group]
    return clashes


def _width(text: str) -> int:
    """Digits that survived: 3 of 1.23E+15; 0 (all) of 123.0."""
    return len(re.sub(r"\D", "", re.split("[eE]", text)[0])) if "e" in text.casefold() else 0


def _to_width(number: Decimal, width: int) -> Decimal:
    return Decimal(f"{number:.{width - 1}E}") if width else number
