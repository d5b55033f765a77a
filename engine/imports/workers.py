"""Workers from a file: columns id, name, skills, lat, lng, shift_start, shift_end, capacity, region, area, travels."""

from collections.abc import Mapping
from zoneinfo import ZoneInfo

from engine.imports.cells import MOST_NAME, Row
from engine.imports.columns import Known, Unfit
from engine.imports.gather import gathered
from engine.imports.jobs import NO_COLUMNS
from engine.imports.parsed import Parsed, refusal
from engine.imports.sheet import sheet
from engine.rules.nouns import NewWorker

KNOWN = Known(
    needed=("id", "name", "skills", "lat", "lng", "shift_start", "shift_end"),
    optional=("capacity", "region", "area", "travels"),
    times=("shift_start", "shift_end"),
    after={"shift_end": "shift_start"},
)
MOST_CAPACITY = 100


def workers(
    data: bytes,
    *,
    name: str,
    zone: ZoneInfo,
    columns: Mapping[str, str] = NO_COLUMNS,
    allow_null_island: bool = False,
) -> Parsed[NewWorker]:
    """Read workers. ``columns`` is the map of `engine.imports.columns`; local times are in ``zone``. Raises nothing."""
    found = sheet(data, name=name, zone=zone, known=KNOWN, columns=columns)
    if isinstance(found, Unfit):
        return refusal(*found.refused, warnings=found.warnings)
    after = found.layout.minutes_after
    read = (_worker(row, after, allow_null_island=allow_null_island) for row in found.rows())
    return gathered(read, found.layout.warnings, ref=lambda worker: worker.ref)


def _worker(row: Row, after: Mapping[str, int], *, allow_null_island: bool) -> tuple[Row, NewWorker]:
    shift_starts_ms, shift_ends_ms = row.span_ms("shift_start", "shift_end", after)
    return row, NewWorker(
        ref=row.name_of("id", needed=True),
        name=row.text("name", most=MOST_NAME, needed=True),
        skills=row.skills(),
        home=row.place(allow_null_island=allow_null_island),
        shift_starts_ms=shift_starts_ms,
        shift_ends_ms=shift_ends_ms,
        capacity=row.whole("capacity", low=1, high=MOST_CAPACITY, otherwise=1),
        region=row.name_of("region") or None,
        area=row.name_of("area") or None,
        travels=row.yes("travels"),
    )
