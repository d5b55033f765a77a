"""What an audience is shown of a database: a few tables, a few columns, and what differs between two looks."""

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine.program import Row as Stored
from engine.program import Scalar
from engine.rules.days import local
from engine.rules.rehearsal import Change, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """``keys`` name a row; ``shown`` is what is told of it; ``standing``: its rows are in the middle of the stage."""

    keys: tuple[str, ...]
    shown: tuple[str, ...]
    standing: bool = False


TABLES: Mapping[str, Table] = {
    "jobs": Table(
        keys=("job_id",), shown=("state", "live_offer_id", "held_offer_id", "worker_id", "region_id", "missed"),
        standing=True,
    ),
    "workers": Table(
        keys=("worker_id",), shown=("live_offer_id", "region_id", "generation", "moving_to"), standing=True
    ),
    "offers": Table(
        keys=("offer_id",), shown=("job_id", "worker_id", "state", "expires_ms", "epoch", "generation", "confidence"),
        standing=True,
    ),
    "worker_jobs": Table(
        keys=("worker_id", "job_id", "offer_id"), shown=("lane", "starts_ms", "ends_ms"), standing=True
    ),
    "day_counts": Table(keys=("worker_id", "day"), shown=("jobs",)),
    "regions": Table(keys=("region_id",), shown=("epoch", "holder")),
    "offer_attempts": Table(keys=("job_id", "worker_id", "offer_id", "kind"), shown=("at_ms",)),
    "alerts": Table(keys=("alert_id",), shown=("kind", "cause", "detail", "state")),
    "audit": Table(keys=("seq",), shown=("act", "actor", "job_id", "worker_id", "offer_id", "reason")),
}  # fmt: skip
NAMES = {"worker_jobs": "booking", "day_counts": "day count", "offer_attempts": "attempt", "jobs": "job",
         "workers": "worker", "offers": "offer", "regions": "region", "alerts": "alert", "audit": "audit"}  # fmt: skip

Key = tuple[str, str]
"""Table and the row's name."""
Look = Mapping[Key, Stored]


def look(connection: sqlite3.Connection, tenant: str) -> Look:
    """Every shown row as this connection sees it: its own changes too, others' only once committed."""
    found: dict[Key, Stored] = {}
    for name, table in TABLES.items():
        columns = ", ".join(dict.fromkeys((*table.keys, *table.shown)))
        asked = f"SELECT {columns} FROM {name} WHERE tenant_id = ? ORDER BY {', '.join(table.keys)}, rowid"
        for row in connection.execute(asked, [tenant]).fetchall():
            key = " ".join(str(row[each]) for each in table.keys)
            while (name, key) in found:  # only where a schema has lost its keys
                key += "'"
            found[name, key] = row
    return found


def changes(before: Look, after: Look, zone: str) -> Iterator[Change]:
    """The rows that differ, in the order of the tables; the columns that differ, or all that are shown of a new one."""
    order = {name: place for place, name in enumerate(TABLES)}
    for name, key in sorted(before.keys() | after.keys(), key=lambda each: (order[each[0]], _numbered(each[1]))):
        was, now = before.get((name, key)), after.get((name, key))
        if was == now:
            continue
        shown = [each for each in TABLES[name].shown if was is None or now is None or was[each] != now[each]]
        # Of a whole row only what is filled is told; of a difference also what became nothing.
        whole = was is None or now is None
        before_after = (_cells(each, shown, zone, whole=whole) for each in (was, now))
        yield Change(table=NAMES[name], key=key, before=next(before_after), after=next(before_after))


def _numbered(key: str) -> tuple[int, str]:
    return (int(key), "") if key.isdigit() else (0, key)


def _cells(row: Stored | None, shown: list[str], zone: str, *, whole: bool) -> tuple[tuple[str, str], ...]:
    if row is None:
        return ()
    cells = ((column, cell(column, row[column], zone)) for column in shown)
    return tuple((column, text) for column, text in cells if text not in ("-", "") or not whole)


def cell(column: str, value: Scalar, zone: str) -> str:
    """A value in words: instants on the site's clock, nothing as a dash."""
    if value is None:
        return "-"
    if column.endswith("_ms") and isinstance(value, int) and value > 10**11:
        shown = f"{local(value, zone):%H:%M:%S}"
        return shown if value % 1000 == 0 else f"{shown}.{value % 1000:03}"
    if column.endswith("_ms") and isinstance(value, int):
        return f"{value / 1000:g} s"
    return " ".join(str(value).split())


def standing(found: Look, zone: str) -> tuple[Row, ...]:
    """The middle of the stage: jobs, workers, offers, bookings."""
    return tuple(
        Row(table=NAMES[name], key=key, text=_told(name, row, zone))
        for (name, key), row in found.items()
        if TABLES[name].standing
    )


def _told(name: str, row: Stored, zone: str) -> str:
    cells = ((column, cell(column, row[column], zone)) for column in TABLES[name].shown)
    return ", ".join(
        f"{word(column)} {text}" for column, text in cells if text != "-" and (column, text) != ("missed", "0")
    )


def word(column: str) -> str:
    """A column's name for people: ``live_offer_id`` → live offer."""
    return column.removesuffix("_id").removesuffix("_ms").replace("_", " ")
