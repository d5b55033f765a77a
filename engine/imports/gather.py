"""Rows that were read, put together: what is refused, what stands, and ids that no two rows may share."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from engine.imports.cells import Row
from engine.imports.ids import doubled, looks_rounded
from engine.imports.parsed import Parsed, Rejected

T = TypeVar("T")


def gathered(read: Iterable[tuple[Row, T]], warnings: tuple[str, ...], *, ref: Callable[[T], str]) -> Parsed[T]:
    """A row with a refused cell is left out. Ids are compared over all rows whose cells can be told apart."""
    stands: list[tuple[int, T]] = []
    refused: list[Rejected] = []
    ids: list[tuple[int, str]] = []
    for row, noun in read:
        whole = not any(each.column == "" for each in row.refused)
        if whole and ref(noun):
            ids.append((row.number, ref(noun)))
        refused += row.refused
        if not row.refused:
            stands.append((row.number, noun))
    twice = doubled(ids)
    out = {each.row for each in twice}
    items = tuple((row, noun) for row, noun in stands if row not in out)
    rejected = tuple(sorted((*refused, *twice), key=lambda each: each.row))
    return Parsed(items=items, rejected=rejected, warnings=(*warnings, *looks_rounded(ids)))
