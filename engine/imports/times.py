"""Times as people write them, to milliseconds UTC. One convention for a column; what is doubtful is asked.

Year first (``2027-03-15T07:02:00+01:00``, ``2027-03-15 07:02``) is read as it stands. Where the day or the month comes
first, a number above 12 somewhere in the column decides (dots are day first: nobody writes mm.dd.yyyy); without such
evidence the column is refused and asks for ``--map not_before:dmy=Column`` (or ``:mdy``; ``:iso`` keeps the year-first
rows of a mixed column). Without an offset a time is local to the zone given; hours that do not exist or come twice are
refused.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from engine.imports.parsed import Wrong

_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?P<part>\.\d{1,9})?)?"
_OFFSET = r"\s?(?P<offset>[Zz]|[+-]\d{2}:\d{2})?"
_DATE_YEAR_FIRST = r"(?P<year>\d{4})(?P<sep>[-/.])(?P<a>\d{1,2})(?P=sep)(?P<b>\d{1,2})"
_DATE_YEAR_LAST = r"(?P<a>\d{1,2})(?P<sep>[-/.])(?P<b>\d{1,2})(?P=sep)(?P<year>\d{4})"
_YEAR_FIRST = re.compile(rf"{_DATE_YEAR_FIRST}(?P<t>[Tt]|\s+){_CLOCK}{_OFFSET}", re.ASCII)
_YEAR_LAST = re.compile(rf"{_DATE_YEAR_LAST},?\s+{_CLOCK}\s?(?P<half>[AaPp]\.?[Mm]\.?)?", re.ASCII)
_SHORTS = tuple(
    (re.compile(shape, re.ASCII | re.IGNORECASE), rule)
    for shape, rule in (
        (r"\d+([.,]\d+)?", "a number is not a time (a spreadsheet's serial?): format the column as text"),
        (_DATE_YEAR_FIRST, "the time of day is missing: write YYYY-MM-DD HH:MM"),
        (_DATE_YEAR_LAST, "the time of day is missing: write YYYY-MM-DD HH:MM"),
        (r"\d{1,2}:\d{2}(?!\d).*", "the date is missing: write YYYY-MM-DD HH:MM"),
        (r"\d{1,2}([-/.])\d{1,2}\1\d{2}\b.*", "write the year with four digits: YYYY-MM-DD HH:MM"),
    )
)
_WANTED = "a time is wanted: YYYY-MM-DD HH:MM, or with an offset 2027-03-15T07:02:00+01:00"
MOST_CHARACTERS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """How a column writes its times. ``order``: iso, dmy or mdy; ``mixed`` is the rule for rows that do otherwise."""

    order: str
    mixed: str = ""
    machine_only: bool = False
    halves: bool = False


@dataclass(frozen=True, slots=True)
class _Seen:
    """One example row of each way of writing that the column shows."""

    year_first: int = 0
    year_last: int = 0
    day_first: int = 0
    month_first: int = 0
    separators: frozenset[str] = frozenset()
    halves: bool = False


def convention(cells: Iterable[tuple[int, str]], column: str, order: str = "") -> Convention | Wrong:
    """The one way a column writes its times, from (row, text) of all its rows; `Wrong` where every row is in doubt."""
    seen = _look(cells)
    if order:
        return Convention(order=order, mixed=f"the column is read as {order}, and this is not", halves=seen.halves)
    if seen.year_first and seen.year_last:
        mixed = (
            f"the column mixes dates: year first in row {seen.year_first}, year last in row {seen.year_last}; "
            f"use one, or say --map {column}:iso=Column to keep the year-first rows"
        )
        return Convention(order="iso", mixed=mixed, machine_only=True)
    if not seen.year_last:
        return Convention(order="iso")
    return _year_last(seen, column)


def _year_last(seen: _Seen, column: str) -> Convention | Wrong:
    dots = "." in seen.separators
    if (seen.month_first and (seen.day_first or dots)) or len(seen.separators) > 1:
        two = f" (rows {seen.day_first} and {seen.month_first})" if seen.day_first and seen.month_first else ""
        mixed = f"the column mixes ways of writing dates{two}: use YYYY-MM-DD HH:MM, or name its order in a map"
        return Convention(order="none", mixed=mixed)
    if seen.day_first or dots:
        return Convention(order="dmy", halves=seen.halves)
    if seen.month_first:
        return Convention(order="mdy", halves=seen.halves)
    return Wrong(
        "ambiguous: day first or month first? no number above 12 tells; "
        f"use YYYY-MM-DD HH:MM, or say --map {column}:dmy=Column or --map {column}:mdy=Column"
    )


def _look(cells: Iterable[tuple[int, str]]) -> _Seen:
    year_first = year_last = day_first = month_first = 0
    halves, separators = False, set[str]()
    for row, cell in cells:
        text = cell.strip()[:MOST_CHARACTERS]
        if found := _YEAR_FIRST.fullmatch(text):
            year_first = year_first or row
        elif found := _YEAR_LAST.fullmatch(text):
            year_last = year_last or row
            separators.add(found["sep"])
            halves = halves or found["half"] is not None
            if int(found["a"]) > 12 >= int(found["b"]):
                day_first = day_first or row
            elif int(found["b"]) > 12 >= int(found["a"]):
                month_first = month_first or row
    return _Seen(year_first, year_last, day_first, month_first, frozenset(separators), halves)


def _by_machine(found: re.Match[str]) -> bool:
    """Written with a T or an offset: no spreadsheet makes that of a date it has misread."""
    return found["t"] in "Tt" or found["offset"] is not None


def instant(text: str, how: Convention, zone: ZoneInfo) -> int | Wrong:
    """Milliseconds UTC of one cell; fractions of a millisecond are cut off."""
    text = text.strip()
    found = _YEAR_FIRST.fullmatch(text) if len(text) <= MOST_CHARACTERS else None
    if found:
        if how.order != "iso" or (how.machine_only and not _by_machine(found)):
            return Wrong(how.mixed or _WANTED)
        return _resolved(found, int(found["a"]), int(found["b"]), found["offset"], zone)
    found = _YEAR_LAST.fullmatch(text) if len(text) <= MOST_CHARACTERS else None
    if found is None:
        return Wrong(next((rule for shape, rule in _SHORTS if shape.fullmatch(text[:MOST_CHARACTERS])), _WANTED))
    if how.order not in ("dmy", "mdy"):
        return Wrong(how.mixed or _WANTED)
    if how.halves and found["half"] is None:
        return Wrong("AM or PM is missing, and other rows of the column have it")
    a, b = int(found["a"]), int(found["b"])
    month, day = (a, b) if how.order == "mdy" else (b, a)
    return _resolved(found, month, day, None, zone)


def _resolved(found: re.Match[str], month: int, day: int, offset: str | None, zone: ZoneInfo) -> int | Wrong:
    hour = _hour(found)
    if isinstance(hour, Wrong):
        return hour
    if not 1970 <= int(found["year"]) <= 2199:
        return Wrong("the year must be from 1970 to 2199")
    try:
        clock = hour, int(found["minute"]), int(found["second"] or 0)
        local = datetime(int(found["year"]), month, day, *clock)  # noqa: DTZ001 - its zone is found next
    except ValueError as error:
        return Wrong(f"there is no such date or time of day ({error})")
    at = _at(local, offset, zone)
    part_ms = int(((found["part"] or ".0")[1:] + "000")[:3])
    return at if isinstance(at, Wrong) else at + part_ms


def _hour(found: re.Match[str]) -> int | Wrong:
    hour = int(found["hour"])
    half = found.groupdict().get("half")
    if half is None:
        return Wrong("24:00 is 00:00 of the next day: write that") if hour == 24 else hour
    if not 1 <= hour <= 12:
        return Wrong("with AM or PM the hour goes from 1 to 12")
    return hour % 12 + (12 if half[0] in "Pp" else 0)


def _at(local: datetime, offset: str | None, zone: ZoneInfo) -> int | Wrong:
    if offset is None:
        return _in_zone(local, zone)
    if offset in "Zz":
        return _ms(local.replace(tzinfo=UTC))
    hours, minutes = int(offset[1:3]), int(offset[4:6])
    if hours > 14 or minutes > 59:
        return Wrong("an offset goes from -14:00 to +14:00")
    ahead = timedelta(hours=hours, minutes=minutes)
    return _ms(local.replace(tzinfo=timezone(-ahead if offset[0] == "-" else ahead)))


def _in_zone(local: datetime, zone: ZoneInfo) -> int | Wrong:
    first, second = local.replace(tzinfo=zone, fold=0), local.replace(tzinfo=zone, fold=1)
    before, after = first.utcoffset(), second.utcoffset()
    if before is None or after is None or before == after:
        return _ms(first)
    when = f"{local:%H:%M}", f"{local:%Y-%m-%d} in {zone.key}"
    if before < after:
        return Wrong(f"{when[0]} does not exist on {when[1]}: clocks go forward; write a time that does")
    offsets = f"{first:%z}", f"{second:%z}"
    ways = " or ".join(f"{local:%Y-%m-%dT%H:%M:%S}{offset[:3]}:{offset[3:5]}" for offset in offsets)
    return Wrong(f"{when[0]} comes twice on {when[1]}: clocks go back; write {ways}")


def _ms(at: datetime) -> int:
    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
