"""A file to rows of cells: CSV of any usual dialect, or a JSON array of objects. Cells stay text here."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine.imports.decoding import decoded
from engine.imports.json_text import Fields, Flag, Items, Json, kind, loaded
from engine.imports.parsed import MOST_COLUMNS, MOST_ROWS, Wrong

_DELIMITERS = (",", ";", "\t")
_JSON_START = re.compile(r"\s*(\[\s*(\{|\]|$)|\{\s*(\"|\}|$))")


@dataclass(frozen=True, slots=True)
class Odd:
    """A JSON value that no column of text or numbers can hold. ``value``: it, for a column of objects."""

    what: str
    value: Json = None


Cell = str | tuple[str, ...] | Odd


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A row by the file's own column names; ``problem`` says why its cells cannot be told apart."""

    row: int
    cells: Mapping[str, Cell]
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """``keyed``: each row names its own keys (JSON), so one may lack a key that the others have."""

    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    keyed: bool


def table(data: bytes, *, name: str) -> Table | Wrong:
    """The rows of a file; the format by what it holds, and by the ending of ``name`` where that leaves a doubt."""
    text = decoded(data)
    if isinstance(text, Wrong):
        return text
    ending = name.casefold().rpartition(".")[2]
    if ending in ("json", "geojson", "jsonl", "ndjson") or _JSON_START.match(text[:1000]):
        return _json_table(text)
    return _csv_table(text)


def _csv_table(text: str) -> Table | Wrong:
    rows = _records(text, _delimiter(text))
    header: tuple[str, ...] | None = None
    lines: list[Line] = []
    try:
        for row, record in rows:
            if not any(cell.strip() for cell in record) or (header is None and _is_sep(record)):
                continue
            if header is None:
                header = _header(record)
                if len(header) > MOST_COLUMNS:
                    return Wrong(f"the header has {len(header):,} columns, more than {MOST_COLUMNS}")
                continue
            lines.append(_line(row, header, record))
            if len(lines) > MOST_ROWS:
                return Wrong(f"more than {MOST_ROWS:,} rows: split the file")
    except csv.Error as error:
        last = lines[-1].row if lines else 1
        return Wrong(f"after row {last} the quotes do not match ({error}): mend the file there")
    if header is None:
        return Wrong("the file is empty: a header row and data rows are wanted")
    return Table(columns=header, lines=tuple(lines), keyed=False)


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    return enumerate(reader, start=1)


def _delimiter(text: str) -> str:
    declared = re.match(r"sep=([,;\t])\r?[\r\n]", text)
    if declared:
        return declared[1]
    counts = {mark: _width(text, mark) for mark in _DELIMITERS}
    return max(_DELIMITERS, key=lambda mark: counts[mark])


def _width(text: str, delimiter: str) -> int:
    """How many columns the first row has under this delimiter; 0 where its quotes do not match."""
    try:
        return next((len(record) for _, record in _records(text, delimiter) if any(record)), 0)
    except csv.Error:
        return 0


def _is_sep(record: list[str]) -> bool:
    """Excel's own first line, ``sep=;``."""
    return re.fullmatch(r"sep=[,;\t]?", "".join(record)) is not None


def _header(record: list[str]) -> tuple[str, ...]:
    while record and not record[-1].strip():  # delimiters that trail after the last name
        record = record[:-1]
    return tuple(record)


def _line(row: int, header: tuple[str, ...], record: list[str]) -> Line:
    cells = dict(zip(header, record, strict=False))
    counts = f"the row has {len(record)} cells, the header {len(header)}"
    if len(record) < len(header):
        return Line(row=row, cells=cells, problem=f"{counts}: it is cut short")
    if any(cell.strip() for cell in record[len(header) :]):
        return Line(row=row, cells=cells, problem=f"{counts}: put text that holds the delimiter in quotes")
    return Line(row=row, cells=cells)


def _json_table(text: str) -> Table | Wrong:
    found = loaded(text)
    if isinstance(found, Wrong):
        return found
    if not isinstance(found, Items):
        return Wrong(f'an array of objects is wanted ([{{"id": …}}, …]), and this is {kind(found)}')
    if len(found.values) > MOST_ROWS:
        return Wrong(f"more than {MOST_ROWS:,} objects: split the file")
    lines = tuple(_object_line(row, each) for row, each in enumerate(found.values, start=1))
    columns = tuple(dict.fromkeys(key for line in lines for key in line.cells))
    if len(columns) > MOST_COLUMNS:
        return Wrong(f"the objects have {len(columns):,} different keys, more than {MOST_COLUMNS}")
    return Table(columns=columns, lines=lines, keyed=True)


def _object_line(row: int, found: Json) -> Line:
    if not isinstance(found, Fields):
        return Line(row=row, cells={}, problem=f"{kind(found)} stands where an object is wanted")
    if found.twice is not None:
        return Line(row=row, cells={}, problem=f"the key {found.twice!r} stands twice in one object: keep one")
    return Line(row=row, cells={key: _cell(value) for key, value in found.values.items()})


def _cell(value: Json) -> Cell:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, Items):
        texts = tuple(each for each in value.values if isinstance(each, str) and not isinstance(each, Flag))
        if len(texts) == len(value.values):
            return texts
    return Odd(kind(value), value)
