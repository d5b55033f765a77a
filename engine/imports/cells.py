"""One row asked for its values. A value that breaks a rule is refused, and a stand-in given: the row is dropped."""

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from zoneinfo import ZoneInfo

from engine.imports.attachments import attachments, written
from engine.imports.json_text import Flag
from engine.imports.parsed import Rejected, Wrong, rejected
from engine.imports.tables import Cell, Odd
from engine.imports.times import Convention, instant
from engine.rules.nouns import Point
from engine.rules.place import refused

MOST_ID = 100
MOST_TYPE = 100
MOST_NAME = 200
MOST_ADDRESS = 500
MOST_NOTES = 10_000
MOST_SKILLS = 50
MOST_SKILL = 60
MOST_DURATION_MIN = 24 * 60

_MISSING = frozenset({"", "na", "n/a", "null"})  # in columns of numbers only: in text these are text
_NUMBER = re.compile(r"[+-]?\d{1,20}(\.\d{0,30})?([eE][+-]?\d{1,3})?", re.ASCII)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_UNFIT = re.compile("[\0\ud800-\udfff]")
_YES = frozenset({"yes", "true", "1"})
_NO = frozenset({"", "no", "false", "0"})


@dataclass(slots=True, kw_only=True)
class Row:
    """The cells of one row by our names, and what was refused so far: one a column, or one for the row as a whole.

    ``unsaid``: our columns that neither the file nor the map has for this row."""

    number: int
    cells: Mapping[str, Cell]
    written: Mapping[str, Convention]
    zone: ZoneInfo
    unsaid: frozenset[str] = frozenset()
    refused: list[Rejected] = field(default_factory=list[Rejected])

    def refuse(self, column: str, rule: str, value: str | None = None) -> None:
        if any(each.column in ("", column) for each in self.refused):
            return
        shown = _shown(self.cells.get(column, "")) if value is None else value
        self.refused.append(rejected(self.number, column, shown, rule))

    # --- text ---------------------------------------------------------------------------------------------------------

    def text(self, column: str, *, most: int, needed: bool = False) -> str:
        """As typed: "NULL", "N/A" and 0123 stay what they are."""
        cell = self.cells.get(column, "")
        if not isinstance(cell, str) or isinstance(cell, Flag):
            self.refuse(column, "text is wanted")
            return ""
        if needed and not cell.strip():
            self.refuse(column, "a value is wanted")
        elif len(cell) > most:
            self.refuse(column, f"{len(cell):,} characters, more than {most:,}: shorten it")
        elif fault := unfit_character(cell):
            self.refuse(column, fault)
        return str(cell)

    def name_of(self, column: str, *, needed: bool = False) -> str:
        """An id: text kept exactly, without what the eye cannot see."""
        text = self.text(column, most=MOST_ID, needed=needed)
        if text != text.strip():
            self.refuse(column, "there is white space before or after it: take it away")
        elif _CONTROL.search(text):
            self.refuse(column, "it holds a control character (a line break, a tab): take it away")
        return text

    def skills(self, column: str = "skills") -> frozenset[str]:
        """Parts between ``;`` ``,`` or ``|`` (or an array), trimmed, case folded, NFC."""
        cell = self.cells.get(column, "")
        if isinstance(cell, Odd | Flag):
            self.refuse(column, "text or an array of texts is wanted")
            return frozenset()
        parts = re.split(r"[;,|]", cell) if isinstance(cell, str) else cell
        found = frozenset(skill for part in parts if (skill := normal_skill(part)))
        if len(found) > MOST_SKILLS:
            self.refuse(column, f"{len(found):,} skills, more than {MOST_SKILLS}")
        elif any(len(skill) > MOST_SKILL for skill in found):
            self.refuse(column, f"a skill has more than {MOST_SKILL} characters (they are separated by ; , or |)")
        elif fault := next((fault for skill in found if (fault := unfit_character(skill))), ""):
            self.refuse(column, fault)
        return found

    def yes(self, column: str) -> bool:
        cell = self.cells.get(column, "")
        word = cell.strip().casefold() if isinstance(cell, str) else "?"
        if word not in _YES and word not in _NO:
            self.refuse(column, "yes or no is wanted (or true, false, 1, 0)")
        return word in _YES

    def attached(self, column: str) -> str:
        """A small JSON object, as it is stored; none where the cell is empty."""
        cell = self.cells.get(column, "")
        if isinstance(cell, str) and not isinstance(cell, Flag) and not cell.strip():
            return "{}"
        found = written(cell.value) if isinstance(cell, Odd) else attachments(cell) if isinstance(cell, str) else None
        if isinstance(found, str):
            return found
        self.refuse(column, found.rule if found else "a JSON object is wanted, and this is an array")
        return "{}"

    # --- numbers ------------------------------------------------------------------------------------------------------

    def decimal(self, column: str) -> Decimal | None:
        """A number with a decimal point; None where the cell is empty (or NA, N/A, null) or was refused."""
        cell = self.cells.get(column, "")
        text = cell.strip() if isinstance(cell, str) else "?"
        if text.casefold() in _MISSING:
            return None
        if re.fullmatch(r"[+-]?\d+,\d+", text, re.ASCII):
            self.refuse(column, f"a decimal point is wanted: {text.replace(',', '.')}, if this comma is one")
        elif not _NUMBER.fullmatch(text) or not math.isfinite(float(text)):
            self.refuse(column, "a number is wanted, with a decimal point and nothing else")
        else:
            return Decimal(text)
        return None

    def whole(self, column: str, *, low: int, high: int, otherwise: int) -> int:
        """A whole number from ``low`` to ``high``; ``otherwise`` where the cell is empty."""
        number = self.decimal(column)
        if number is None:
            return otherwise
        if number != number.to_integral_value() or not low <= number <= high:
            self.refuse(column, f"a whole number from {low} to {high} is wanted")
            return otherwise
        return int(number)

    def minutes_ms(self, column: str) -> int:
        """A duration in minutes, to milliseconds: more than 0 and at most 24 hours."""
        number = self.decimal(column)
        if number is None:
            self.refuse(column, "minutes are wanted: a number above 0")
            return 1
        if not 0 < number <= MOST_DURATION_MIN:
            self.refuse(column, f"minutes from above 0 to {MOST_DURATION_MIN} (24 h): split a longer job")
            return 1
        return max(1, int(number * 60_000))

    def place(self, *, allow_null_island: bool) -> Point:
        """``lat`` and ``lng``, by the names of their columns."""
        lat, lng = self.decimal("lat"), self.decimal("lng")
        for column, number in (("lat", lat), ("lng", lng)):
            if number is None:
                self.refuse(column, "degrees are wanted (52.0705): without a place there is no travel time")
        if lat is None or lng is None:
            return Point(0.0, 0.0)
        return self._in_range(float(lat), float(lng), allow_null_island=allow_null_island)

    def _in_range(self, lat: float, lng: float, *, allow_null_island: bool) -> Point:
        fault = refused(lat, lng, allow_null_island=allow_null_island)
        if fault:
            turned = refused(lng, lat, allow_null_island=allow_null_island) is None
            hint = "; lat and lng look swapped" if turned else ""
            self.refuse("lng" if abs(lat) <= 90 < 180 < abs(lng) else "lat", fault.rule + hint)
        return Point(lat, lng)

    # --- times --------------------------------------------------------------------------------------------------------

    def instant_ms(self, column: str) -> int:
        cell = self.cells.get(column, "")
        if not isinstance(cell, str):
            self.refuse(column, "a time is wanted: YYYY-MM-DD HH:MM")
            return 0
        if not cell.strip():
            self.refuse(column, "a time is wanted: YYYY-MM-DD HH:MM")
            return 0
        at = instant(cell, self.written[column], self.zone)
        if isinstance(at, Wrong):
            self.refuse(column, at.rule)
            return 0
        return at

    def span_ms(self, start: str, end: str, minutes_after: Mapping[str, int]) -> tuple[int, int]:
        """Two instants, the first before the second; the second may be said as minutes after the first."""
        starts_ms = self.instant_ms(start)
        if end in minutes_after:
            return starts_ms, starts_ms + minutes_after[end] * 60_000
        ends_ms = self.instant_ms(end)
        if starts_ms >= ends_ms and not any(each.column in (start, end) for each in self.refused):
            self.refuse(end, f"it must be after {start}, which is {_shown(self.cells.get(start, ''))}")
        return starts_ms, ends_ms


def normal_skill(text: str) -> str:
    """One spelling of a skill, so that "ESL " and "esl" are the same requirement."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).strip().casefold())


def unfit_character(text: str) -> str:
    """Why this text cannot be stored; empty where it can."""
    found = _UNFIT.search(text)
    if found and found[0] == "\0":
        return "it holds a NUL character: take it away"
    if found:
        return "it holds half a character (a lone surrogate): write it anew"
    return ""


def _shown(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell
    return cell.what if isinstance(cell, Odd) else ", ".join(cell)
