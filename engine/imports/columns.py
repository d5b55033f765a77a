"""Which of the file's columns is which of ours. Nothing is ignored in silence.

A map (``--map ours=theirs``) names, for one of our columns:

- ``lat=Latitude``        the file's column that holds it;
- ``due_by:dmy=Frist``    that, and the order its dates are written in: ``iso``, ``dmy`` or ``mdy``;
- ``duration_min==30``    no column: the same value for every row;
- ``due_by=+240``         no column: so many minutes after ``not_before`` (``shift_end``: after ``shift_start``);
- ``region=``             the file has none, whatever a similar name suggests.

Without a map a column is found by its name; case, and spaces or hyphens for underscores, make no difference.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from engine.imports.parsed import MOST_SHOWN, Rejected, whole_file
from engine.imports.tables import Table

ORDERS = ("iso", "dmy", "mdy")

_OTHER_NAMES = {
    "lat": ("latitude", "y"),
    "lng": ("longitude", "lon", "long", "x"),
    "id": ("ref", "reference", "order_id", "unique_key", "key", "external_id"),
    "not_before": ("start", "from", "earliest", "earliest_time", "time_window_start", "open_date", "created_date"),
    "due_by": ("end", "until", "due", "due_date", "latest", "latest_time", "time_window_end", "deadline"),
    "duration_min": ("duration", "service_time", "time_at_stop", "service_min"),
    "type": ("order_type", "job_type", "complaint_type", "kind"),
    "skills": ("required_skills", "special_requirement", "vehicle_features"),
    "address": ("location", "address_line_1"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The columns a reader knows. ``times`` may carry an order in a map; ``after`` says what ``+MIN`` counts from."""

    needed: tuple[str, ...]
    optional: tuple[str, ...]
    times: tuple[str, ...]
    after: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        return self.needed + self.optional


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where each of our columns comes from: a column of the file, a constant, or minutes after another of ours."""

    sources: Mapping[str, str]
    constants: Mapping[str, str]
    minutes_after: Mapping[str, int]
    orders: Mapping[str, str]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unfit:
    """The file as a whole cannot be read with these columns."""

    refused: tuple[Rejected, ...]
    warnings: tuple[str, ...]


def layout(found: Table, known: Known, columns: Mapping[str, str]) -> Layout | Unfit:
    """Match the file's columns to ours; every fault is listed, not the first alone."""
    plan = _Plan(known=known, theirs=found.columns)
    for ours, theirs in columns.items():
        plan.map(ours, theirs)
    plan.match_by_name()
    plan.look_at_unknown()
    plan.look_at_missing()
    if plan.refused:
        return Unfit(tuple(plan.refused), tuple(plan.warnings))
    return Layout(
        sources=plan.sources,
        constants=plan.constants,
        minutes_after=plan.minutes_after,
        orders=plan.orders,
        warnings=tuple(plan.warnings),
    )


class _Plan:
    """A layout while it is being found."""

    def __init__(self, *, known: Known, theirs: tuple[str, ...]) -> None:
        self.known, self.theirs = known, theirs
        self.sources: dict[str, str] = {}
        self.constants: dict[str, str] = {}
        self.minutes_after: dict[str, int] = {}
        self.orders: dict[str, str] = {}
        self.without: set[str] = set()
        self.refused: list[Rejected] = []
        self.warnings: list[str] = []

    def refuse(self, rule: str, column: str, value: str = "") -> None:
        self.refused.append(whole_file(rule, column=column, value=value))

    def map(self, key: str, theirs: str) -> None:
        ours, _, order = key.partition(":")
        if ours not in self.known.names:
            self.refuse(f"no such column of ours to map; there are {', '.join(self.known.names)}", ours, key)
            return
        if order:
            if ours not in self.known.times or order not in ORDERS:
                self.refuse("an order is iso, dmy or mdy, for a column of times (not_before:dmy=Column)", ours, key)
                return
            self.orders[ours] = order
        self._map_to(ours, theirs)

    def _map_to(self, ours: str, theirs: str) -> None:
        exact = [name for name in self.theirs if name == theirs] or self._called(theirs)
        if theirs.strip() and exact:
            self._take(ours, exact)
        elif not theirs:
            self.without.add(ours)
        elif theirs.startswith("="):
            self.constants[ours] = theirs[1:]
        elif ours in self.known.after and re.fullmatch(r"\+[0-9]{1,5}", theirs):
            self.minutes_after[ours] = int(theirs[1:])
        else:
            near = nearest(theirs, self.theirs)
            hint = f"; did you mean {near}?" if near else f"; it has {_listed(self.theirs)}"
            self.refuse(f"the file has no column {theirs!r}{hint}", ours, theirs)
            self.without.add(ours)

    def _called(self, name: str) -> list[str]:
        return [theirs for theirs in self.theirs if spelled(theirs) == spelled(name)]

    def _take(self, ours: str, matches: list[str]) -> None:
        if len(matches) > 1:
            self.refuse(f"{len(matches)} columns of the file are called so: name or map one of them", ours, matches[0])
        self.sources[ours] = matches[0]

    def match_by_name(self) -> None:
        taken = set(self.sources.values())
        decided = self.sources.keys() | self.constants.keys() | self.minutes_after.keys() | self.without
        for ours in self.known.names:
            matches = [name for name in self._called(ours) if name not in taken]
            if ours not in decided and matches:
                self._take(ours, matches)

    def look_at_unknown(self) -> None:
        used = set(self.sources.values())
        unread: list[str] = []
        for name in self.theirs:
            if name in used or not name.strip():
                continue
            near = near_name(name, self.known.names)
            if not near:
                unread.append(name)
            elif self._absent(near):
                rule = f"unknown column; did you mean {near}? rename it, or say --map {near}= if it is something else"
                self.refuse(rule, name)
            else:
                self.warnings.append(f"{name}: unknown column, not read; it is not taken for {near}")
        if unread:
            self.warnings.append(f"unknown columns, not read: {_listed(unread)}")

    def look_at_missing(self) -> None:
        named = {each.column for each in self.refused}
        for ours in self.known.needed:
            if ours in named:
                continue
            if self._absent(ours) or (ours in self.without and ours != "skills"):
                near = nearest(ours, self.theirs, *_OTHER_NAMES.get(ours, ()))
                hint = f"--map {ours}={near}" if near else f"--map {ours}=Column"
                self.refuse(f"the file has no such column and it is needed: name it, or map one ({hint})", ours)

    def _absent(self, ours: str) -> bool:
        return not (
            ours in self.sources or ours in self.constants or ours in self.minutes_after or ours in self.without
        )


# --- likeness of names -----------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def spelled(name: str) -> str:
    """A column's name without the differences that mean nothing."""
    return re.sub(r"[\s\-_]+", "_", unicodedata.normalize("NFC", name).strip().casefold())


def near_name(name: str, ours: Iterable[str]) -> str:
    """Which of our names this one is a slip of: two letters at most, fewer in a short name; empty where none is."""
    near = min(ours, key=lambda each: _distance(spelled(name), each))
    return near if _distance(spelled(name), near) <= min(2, (len(near) - 1) // 2) else ""


def nearest(wanted: str, theirs: Iterable[str], *also: str) -> str:
    """The column of the file that may be meant: by another usual name first, then by likeness."""
    for other in also:
        for name in theirs:
            if spelled(name) == other:
                return name
    allowed = min(3, (len(wanted) - 1) // 2)
    return next((name for name in theirs if name.strip() and _distance(spelled(wanted), spelled(name)) <= allowed), "")


@lru_cache(maxsize=4096)
def _distance(one: str, other: str) -> int:
    """Levenshtein; 99 for names whose lengths alone keep them apart."""
    if abs(len(one) - len(other)) > 8 or len(one) > 60:
        return 99
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        before, row[0] = row[0], i
        for j, against in enumerate(other, start=1):
            change = before + (letter != against)
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, change)
    return row[len(other)]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(name[:MOST_SHOWN] for name in names)
