"""Small files for these tests: rows as keyword changes to one good row."""

import csv
import io
from datetime import datetime
from typing import TypeVar
from zoneinfo import ZoneInfo

from engine.imports.parsed import Parsed

T = TypeVar("T")

ROME = ZoneInfo("Europe/Rome")
NEW_YORK = ZoneInfo("America/New_York")

JOB = {
    "id": "j1",
    "type": "exam",
    "skills": "proctor;esl",
    "lat": "44.1742",
    "lng": "12.0628",
    "not_before": "2027-03-15 08:00",
    "due_by": "2027-03-15 10:00",
    "duration_min": "30",
    "priority": "2",
    "address": "Harbour Rd 1",
    "notes": "",
}
WORKER = {
    "id": "w1",
    "name": "Ana",
    "skills": "proctor",
    "lat": "44.1742",
    "lng": "12.0628",
    "shift_start": "2027-03-15 07:00",
    "shift_end": "2027-03-15 19:00",
    "capacity": "1",
}


def sheet(*rows: dict[str, str], base: dict[str, str] = JOB, delimiter: str = ",", end: str = "\n") -> bytes:
    """A CSV file of the good row with these changes; ids count up where a row names none; new columns come last."""
    full = [{**base, "id": f"{base['id'][0]}{number}", **row} for number, row in enumerate(rows or ({},), start=1)]
    names = list(dict.fromkeys(name for row in full for name in row))
    out = io.StringIO(newline="")
    # Python's writer leaves a line feed bare in a file of carriage returns.
    quoting = csv.QUOTE_ALL if end == "\r" else csv.QUOTE_MINIMAL
    writer = csv.DictWriter(out, names, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writeheader()
    writer.writerows(full)
    return out.getvalue().encode()


def ms(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def rules(parsed: Parsed[object]) -> dict[tuple[int, str], str]:
    return {(each.row, each.column): each.rule for each in parsed.rejected}


def whole(parsed: Parsed[T]) -> list[T]:
    """The nouns of a file in which nothing was refused."""
    assert parsed.rejected == ()
    return [noun for _, noun in parsed.items]
