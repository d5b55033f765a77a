"""A file whose columns are known: its rows, each ready to be asked for the values of our columns."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from engine.imports.cells import Row
from engine.imports.columns import Known, Layout, Unfit, layout, near_name
from engine.imports.parsed import Rejected, Wrong, whole_file
from engine.imports.tables import Cell, Line, Table, table
from engine.imports.times import Convention, convention


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A table, where its columns come from and how each column of times is written."""

    found: Table
    known: Known
    layout: Layout
    written: Mapping[str, Convention]
    zone: ZoneInfo

    def rows(self) -> Iterator[Row]:
        """Every row that is not blank; what is wrong with a row as a whole is already among its refusals."""
        for line in self.found.lines:
            cells = {ours: _cell(line, ours, self.layout) for ours in self.known.names}
            unsaid = self._unsaid(line)
            row = Row(number=line.row, cells=cells, written=self.written, zone=self.zone, unsaid=unsaid)
            if line.problem:
                row.refuse("", line.problem, _first_text(line))
            elif self.found.keyed:
                self._look_at_keys(row, line)
            yield row

    def _unsaid(self, line: Line) -> frozenset[str]:
        """Of an object that lacks a key nothing is said either; an empty cell says that there is nothing."""
        plan = self.layout
        return frozenset(
            ours
            for ours in self.known.optional
            if ours not in plan.constants
            and (ours not in plan.sources or (self.found.keyed and plan.sources[ours] not in line.cells))
        )

    def _look_at_keys(self, row: Row, line: Line) -> None:
        """Objects name their own keys: one may lack a key that the others have, or have it under a slip of its name."""
        sources = self.layout.sources
        for ours in self.known.needed:
            if ours in sources and sources[ours] not in line.cells:
                row.refuse(ours, "the key is missing: name it, if only with an empty value")
        for key in line.cells.keys() - set(sources.values()):
            near = near_name(key, self.known.names) if key.strip() else ""
            if near in sources and sources[near] not in line.cells:
                row.refuse(key, f"unknown key; did you mean {near}?")


def sheet(data: bytes, *, name: str, zone: ZoneInfo, known: Known, columns: Mapping[str, str]) -> Sheet | Unfit:
    """Decode, take apart and match the columns; a doubt that concerns every row refuses the file."""
    found = table(data, name=name)
    if isinstance(found, Wrong):
        return Unfit((whole_file(found.rule, value=name),), ())
    if found.keyed and not found.lines:
        return Unfit((), ("the file has no objects",))
    plan = layout(found, known, columns)
    if isinstance(plan, Unfit):
        return plan
    written: dict[str, Convention] = {}
    doubts: list[Rejected] = []
    for ours in known.times:
        texts = [(line.row, _text(_cell(line, ours, plan))) for line in found.lines if not line.problem]
        how = convention(texts, ours, plan.orders.get(ours, ""))
        if isinstance(how, Wrong):
            doubts.append(whole_file(how.rule, column=ours, value=_examples(texts)))
        else:
            written[ours] = how
    if doubts:
        return Unfit(tuple(doubts), plan.warnings)
    return Sheet(found=found, known=known, layout=plan, written=written, zone=zone)


def _cell(line: Line, ours: str, plan: Layout) -> Cell:
    if ours in plan.sources:
        return line.cells.get(plan.sources[ours], "")
    return plan.constants.get(ours, "")


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else ""


def _examples(texts: list[tuple[int, str]]) -> str:
    return ", ".join([text for _, text in texts if text.strip()][:3])


def _first_text(line: Line) -> str:
    return next((cell for cell in line.cells.values() if isinstance(cell, str) and cell), "")
