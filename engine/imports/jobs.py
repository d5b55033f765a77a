"""Jobs from a file: columns id, type, skills, lat, lng, not_before, due_by, duration_min, priority, address, notes,
attachments."""

from collections.abc import Mapping
from zoneinfo import ZoneInfo

from engine.imports.cells import MOST_ADDRESS, MOST_NOTES, MOST_TYPE, Row
from engine.imports.columns import Known, Unfit
from engine.imports.gather import gathered
from engine.imports.parsed import Parsed, refusal
from engine.imports.sheet import sheet
from engine.rules.nouns import NewJob

KNOWN = Known(
    needed=("id", "type", "skills", "lat", "lng", "not_before", "due_by", "duration_min"),
    optional=("priority", "address", "notes", "attachments"),
    times=("not_before", "due_by"),
    after={"due_by": "not_before"},
)
NO_COLUMNS: Mapping[str, str] = {}


def jobs(
    data: bytes,
    *,
    name: str,
    zone: ZoneInfo,
    columns: Mapping[str, str] = NO_COLUMNS,
    allow_null_island: bool = False,
) -> Parsed[NewJob]:
    """Read jobs. ``columns`` is the map of `engine.imports.columns`; local times are in ``zone``. Raises nothing."""
    found = sheet(data, name=name, zone=zone, known=KNOWN, columns=columns)
    if isinstance(found, Unfit):
        return refusal(*found.refused, warnings=found.warnings)
    after = found.layout.minutes_after
    read = (_job(row, after, allow_null_island=allow_null_island) for row in found.rows())
    return gathered(read, found.layout.warnings, ref=lambda job: job.ref)


def _job(row: Row, after: Mapping[str, int], *, allow_null_island: bool) -> tuple[Row, NewJob]:
    not_before_ms, due_by_ms = row.span_ms("not_before", "due_by", after)
    return row, NewJob(
        ref=row.name_of("id", needed=True),
        type=row.text("type", most=MOST_TYPE, needed=True),
        skills=row.skills(),
        place=row.place(allow_null_island=allow_null_island),
        not_before_ms=not_before_ms,
        due_by_ms=due_by_ms,
        duration_ms=row.minutes_ms("duration_min"),
        priority=row.whole("priority", low=1, high=5, otherwise=1),
        address=row.text("address", most=MOST_ADDRESS),
        notes=row.text("notes", most=MOST_NOTES),
        attachments=row.attached("attachments"),
        unsaid=row.unsaid,
    )
