"""The site: what a site file says of it, and its clock on a training site."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast
from zoneinfo import ZoneInfoNotFoundError

from engine import records
from engine.imports.zones import nearest
from engine.ports import Engine, Forbidden, Invalid, Stale
from engine.program import Lost, Program, must
from engine.records import Why
from engine.rules.days import zone_named
from engine.rules.ledger import Policy
from engine.rules.nouns import Actor, Area, Point
from engine.rules.place import area_problem
from engine.settings import Settings, Tables
from engine.verbs.assign import require
from engine.verbs.why import WEIGHTS, reweighted

SECTIONS = frozenset(Settings.__dataclass_fields__)
SITE_KEYS = frozenset({"name", "zone", "tenant", "region"})
ID_MAX = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteFile:
    """A site as its TOML file tells it: name, zone, regions (each with an area, or everywhere), setting overrides."""

    name: str = "Callboard"
    zone: str = "UTC"
    tenant: str = "main"
    regions: tuple[tuple[str, Area | None], ...] = (("main", None),)
    overrides: Tables = field(default_factory=dict[str, Mapping[str, object]])


def read_site(text: str) -> SiteFile:
    """Read a site file. Raises Invalid with the key, its value and the rule."""
    try:
        told = cast(dict[str, object], tomllib.loads(text))
    except (ValueError, RecursionError) as error:  # also a number of 5,000 digits, and brackets in brackets
        raise Invalid(f"the site file is not TOML: {error}") from error
    for key in told:
        if key not in SITE_KEYS | SECTIONS:
            known = ", ".join(sorted(SITE_KEYS | SECTIONS))
            raise Invalid(f"{key}: no such key in a site file; known: {known}")
    site = SiteFile()
    zone = _text(told, "zone", site.zone)
    check_zone(zone)
    return SiteFile(
        name=_text(told, "name", site.name),
        zone=zone,
        tenant=_text(told, "tenant", site.tenant),
        regions=_regions(told.get("region")) or site.regions,
        overrides=cast(Tables, {key: value for key, value in told.items() if key in SECTIONS}),
    )


def check_zone(zone: str) -> None:
    """An IANA name. A fixed offset has no daylight saving time: such names are refused by what they lack."""
    try:
        zone_named(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        near = nearest(zone)
        meant = f"; did you mean {near}?" if near else ""
        raise Invalid(
            f"zone {zone!r}: a name such as Europe/Vienna is wanted (an offset like UTC-5 knows no daylight saving)"
            f"{meant}"
        ) from error


def _text(told: Mapping[str, object], key: str, default: str) -> str:
    value = told.get(key, default)
    if not isinstance(value, str) or not value.strip():
        raise Invalid(f"{key} = {value!r}: a text is wanted")
    return value


def _regions(told: object) -> tuple[tuple[str, Area | None], ...]:
    if told is None:
        return ()
    if not isinstance(told, list):
        raise Invalid("region: write each as [[region]] with an id")
    found: list[tuple[str, Area | None]] = []
    for each in cast(list[object], told):
        if not isinstance(each, dict):
            raise Invalid(f"region {each!r}: write each as [[region]] with an id")
        table = cast(dict[str, object], each)
        unknown = set(table) - {"id", "name", "ring"}
        if unknown:
            raise Invalid(f"[[region]] {min(unknown)}: no such key; known: id, name, ring")
        region = _text(table, "id", "")
        if len(region) > ID_MAX or not region.isprintable() or region != region.strip():
            raise Invalid(
                f"[[region]] id = {region[:ID_MAX]!r}: 1 to {ID_MAX} printable letters are wanted, no space around"
            )
        if region in [known for known, _ in found]:
            raise Invalid(f"[[region]] id = {region!r}: two regions have this id; give each its own")
        found.append((region, _ring(region, table)))
    return tuple(found)


def _ring(region: str, table: Mapping[str, object]) -> Area | None:
    """``ring``: pairs of [lat, lng]."""
    ring = table.get("ring")
    if ring is None:
        return None
    try:
        points = tuple(Point(float(lat), float(lng)) for lat, lng in cast(list[tuple[float, float]], ring))
    except (TypeError, ValueError) as error:
        raise Invalid(f"[[region]] {region} ring: a list of [lat, lng] pairs is wanted") from error
    area = Area(id=region, name=_text(table, "name", region), rings=(points,))
    wrong = area_problem(area)
    if wrong is not None:
        raise Invalid(f"[[region]] {region} ring: {wrong}")
    return area


def advance(engine: Engine, to_ms: int) -> None:
    """Set a training site's clock. Raises Forbidden on a live one: its clock is the database's own."""
    if not engine.store.training:
        raise Forbidden("only a training site's clock can be set")
    if isinstance(engine.store.run(engine.tenant, _set_clock(to_ms)), Lost):
        raise Invalid(f"clock {to_ms}: the training clock could not be set")


def _set_clock(to_ms: int) -> Program[int]:
    yield must("set_clock", now_ms=to_ms)
    return to_ms


def set_policy(engine: Engine, actor: Actor, weights: Mapping[str, float], words: str = "") -> Policy:
    """Put the next version of the site's weights in force. Raises Forbidden, Invalid, Stale."""
    require(actor, "policy")
    wanted = reweighted(engine.store.policy(engine.tenant), weights)
    columns = {name: getattr(wanted, name) for name in WEIGHTS}
    done = engine.store.run(engine.tenant, records.set_policy(actor, columns, Why(words=words)))
    if isinstance(done, Lost):
        raise Stale("the policy changed meanwhile; look again")
    return engine.store.policy(engine.tenant)
