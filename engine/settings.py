"""The named settings of a site: frozen, checked at start, a unit in every name.

Read from ``dispatch.toml`` (defaults) with a site's overrides on top. Source: SPEC; its numbers are the defaults here.
"""

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import cast, get_type_hints
from urllib.parse import urlsplit

DEFAULTS = Path(__file__).parent.parent / "dispatch.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    offer_ttl_s: int = 20
    cooldown_min: int = 10
    cooldown_retry_when_empty: bool = False
    adopt_on_takeover: bool = False
    region_lease_s: int = 5
    auto_offer: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Assign:
    on_demand_horizon_min: int = 60
    alert_horizon_min: int = 60
    retry_s: int = 5
    k: int = 5
    time_budget_ms: int = 400
    enough_candidates: int = 20
    search_max_m: int = 60_000
    unskilled_listed_max: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    w_eta: float = 1.0
    w_fair: float = 3.0
    w_slack: float = 0.25
    eta_band_min: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackCapacity:
    reserve_share: float = 0.10
    reserve_from_idle: int = 5
    emergency_priority: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Eta:
    detour: float = 1.4
    speed_kmh: float = 30.0
    optimistic_speed_kmh: float = 60.0
    pessimistic_factor: float = 1.0
    band_min: int = 5
    band_early_s: int = 120
    band_late_s: int = 300
    band_doubt_s: int = 300
    band_doubt_share: float = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Router:
    url: str = ""
    profile: str = "driving"
    required: bool = False
    budget_ms: int = 150
    in_flight_max: int = 20
    calls_per_s_max: int = 100
    snap_max_m: int = 500
    breaker_failures: int = 5
    breaker_share: float = 0.5
    breaker_window_s: int = 10
    breaker_open_s: int = 5
    breaker_open_max_s: int = 60
    cache_bucket_s: int = 120
    memory_pairs_max: int = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    fresh_s: int = 30
    hot_s: int = 300
    ahead_max_s: int = 10
    skew_max_s: int = 300
    ordering_allowance_s: int = 0
    coarse_m: int = 500
    speed_max_kmh: float = 250.0
    jump_min_m: int = 1000
    rate_per_s: int = 5
    archive_every_s: int = 30
    archive_days: int = 7
    allow_null_island: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    no_show_min: int = 10
    due_soon_min: int = 15
    offline_min: int = 5
    expiry_rate: float = 0.30
    expiry_span_min: int = 15
    router_timeout_rate: float = 0.10
    router_span_min: int = 5
    stale_rate: float = 0.20
    rate_from: int = 10
    top_decile_share: float = 0.50
    clock_step_s: int = 5
    disk_free_mb: int = 200
    budget_per_10_min: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    decision_detail_days: int = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    around_min: int = 60
    span_max_h: int = 24
    points_max: int = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    availability: float = 0.999
    decision_p99_ms: int = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    expire_s: int = 1
    renew_s: int = 1
    write_behind_s: int = 1
    alerts_s: int = 5
    checkpoint_s: int = 30
    retention_s: int = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Console:
    idle_lock_min: int = 15
    undo_s: int = 5
    bell: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    lease: Lease = field(default_factory=Lease)
    assign: Assign = field(default_factory=Assign)
    score: Score = field(default_factory=Score)
    slack_capacity: SlackCapacity = field(default_factory=SlackCapacity)
    eta: Eta = field(default_factory=Eta)
    router: Router = field(default_factory=Router)
    location: Location = field(default_factory=Location)
    alert: Alert = field(default_factory=Alert)
    retention: Retention = field(default_factory=Retention)
    trace: Trace = field(default_factory=Trace)
    target: Target = field(default_factory=Target)
    rounds: Rounds = field(default_factory=Rounds)
    console: Console = field(default_factory=Console)


RANGES: Mapping[str, Mapping[str, tuple[float, float, str]]] = {
    "lease": {
        "offer_ttl_s": (1, 86_400, "s"),
        "cooldown_min": (0, 43_200, "min"),
        "region_lease_s": (2, 3_600, "s"),
    },
    "assign": {
        "on_demand_horizon_min": (0, 10_080, "min"),
        "alert_horizon_min": (0, 10_080, "min"),
        "retry_s": (1, 3_600, "s"),
        "k": (1, 100, ""),
        "time_budget_ms": (1, 60_000, "ms"),
        "enough_candidates": (1, 10_000, ""),
        "search_max_m": (100, 1_000_000, "m"),
        "unskilled_listed_max": (0, 1_000, ""),
    },
    "score": {
        "w_eta": (0, 1_000, ""),
        "w_fair": (0, 1_000, ""),
        "w_slack": (0, 1_000, ""),
        "eta_band_min": (0, 120, "min"),
    },
    "slack_capacity": {
        "reserve_share": (0, 0.99, ""),
        "reserve_from_idle": (1, 100_000, ""),
        "emergency_priority": (1, 5, ""),
    },
    "eta": {
        "detour": (1, 10, ""),
        "speed_kmh": (1, 200, "km/h"),
        "optimistic_speed_kmh": (1, 300, "km/h"),
        "pessimistic_factor": (1, 10, ""),
        "band_min": (1, 120, "min"),
        "band_early_s": (0, 7_200, "s"),
        "band_late_s": (0, 7_200, "s"),
        "band_doubt_s": (0, 7_200, "s"),
        "band_doubt_share": (0, 2, ""),
    },
    "router": {
        "budget_ms": (1, 60_000, "ms"),
        "in_flight_max": (1, 1_000, ""),
        "calls_per_s_max": (1, 1_000_000, "a second"),
        "snap_max_m": (1, 10_000, "m"),
        "breaker_failures": (1, 10_000, ""),
        "breaker_share": (0, 1, ""),
        "breaker_window_s": (1, 3_600, "s"),
        "breaker_open_s": (1, 3_600, "s"),
        "breaker_open_max_s": (1, 86_400, "s"),
        "cache_bucket_s": (1, 86_400, "s"),
        "memory_pairs_max": (0, 10_000_000, ""),
    },
    "location": {
        "fresh_s": (1, 86_400, "s"),
        "hot_s": (2, 604_800, "s"),
        "ahead_max_s": (0, 3_600, "s"),
        "skew_max_s": (1, 86_400, "s"),
        "ordering_allowance_s": (0, 3_600, "s"),
        "coarse_m": (1, 100_000, "m"),
        "speed_max_kmh": (1, 2_000, "km/h"),
        "jump_min_m": (0, 1_000_000, "m"),
        "rate_per_s": (0, 1_000, "a second"),
        "archive_every_s": (1, 3_600, "s"),
        "archive_days": (0, 3_660, "days"),
    },
    "alert": {
        "no_show_min": (1, 10_080, "min"),
        "due_soon_min": (0, 10_080, "min"),
        "offline_min": (1, 10_080, "min"),
        "expiry_rate": (0, 1, ""),
        "expiry_span_min": (1, 1_440, "min"),
        "router_timeout_rate": (0, 1, ""),
        "router_span_min": (1, 1_440, "min"),
        "stale_rate": (0, 1, ""),
        "rate_from": (1, 1_000_000, ""),
        "top_decile_share": (0, 1, ""),
        "clock_step_s": (1, 3_600, "s"),
        "disk_free_mb": (0, 10_000_000, "MB"),
        "budget_per_10_min": (0, 1_000, "in 10 min"),
    },
    "retention": {"decision_detail_days": (0, 3_660, "days")},
    "trace": {"around_min": (0, 1_440, "min"), "span_max_h": (1, 168, "h"), "points_max": (1, 1_000_000, "")},
    "target": {"availability": (0, 1, ""), "decision_p99_ms": (1, 60_000, "ms")},
    "rounds": {
        "expire_s": (1, 60, "s"),
        "renew_s": (1, 600, "s"),
        "write_behind_s": (1, 600, "s"),
        "alerts_s": (1, 600, "s"),
        "checkpoint_s": (1, 3_600, "s"),
        "retention_s": (1, 86_400, "s"),
    },
    "console": {"idle_lock_min": (0, 1_440, "min"), "undo_s": (0, 600, "s")},
}
"""The least and the most of every number, and its unit. What is beyond was not meant, or would stop the engine."""

WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
_SHOWN = 60


class BadSetting(ValueError):
    """A setting is unknown, of the wrong kind or breaks a relation; the text names it, its value and the rule."""


Tables = Mapping[str, Mapping[str, object]]


def load(*overrides: Tables) -> Settings:
    """The defaults of ``dispatch.toml`` with ``overrides`` on top, later ones winning. Raises BadSetting."""
    settings = Settings()
    with DEFAULTS.open("rb") as file:
        defaults = cast(Tables, tomllib.load(file))
    for tables in (defaults, *overrides):
        settings = _over(settings, tables)
    _relations(settings)
    return settings


def _over(settings: Settings, tables: Tables) -> Settings:
    known = {each.name for each in fields(Settings)}
    for section, values in tables.items():
        if section not in known:
            raise BadSetting(f"[{section}]: no such section; known: {', '.join(sorted(known))}")
        if not isinstance(values, dict):
            raise BadSetting(f"[{section}] is {_shown(values)}; a section of named settings is wanted")
        settings = replace(settings, **{section: _section(section, getattr(settings, section), values)})
    return settings


def _section(section: str, current: object, values: Mapping[str, object]) -> object:
    kinds = get_type_hints(type(current))
    for key, value in values.items():
        if key not in kinds:
            raise BadSetting(f"[{section}] {key}: no such setting; known: {', '.join(sorted(kinds))}")
        values = {**values, key: _checked(section, key, value, kinds[key])}
    return replace(cast(Lease, current), **values)  # any section: they are all dataclasses


def _checked(section: str, key: str, value: object, kind: type) -> object:
    name = f"[{section}] {key} = {_shown(value)}"
    if kind is float and type(value) is int:
        value = _as_float(value)
    if type(value) is not kind:
        raise BadSetting(f"{name}: {WORDS[kind]} is wanted{_span(section, key)}")
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high, _ = RANGES[section][key]
        if not low <= value <= high:  # NaN is in no range
            raise BadSetting(f"{name}: {WORDS[kind]} is wanted{_span(section, key)}")
    wrong = _text_problem(key, value) if isinstance(value, str) else None
    if wrong is not None:
        raise BadSetting(f"{name}: {wrong}")
    return value


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _span(section: str, key: str) -> str:
    """``, 1 to 3600 s``; nothing for what is no number."""
    if key not in RANGES.get(section, {}):
        return ""
    low, high, unit = RANGES[section][key]
    return f", {low:g} to {high:.12g} {unit}".rstrip()


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python prints no number of more than 4,300 digits
        return "a number beyond all measure"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _text_problem(key: str, value: str) -> str | None:
    if key == "url" and value:
        return _url_problem(value)
    if key == "profile" and not re.fullmatch(r"[A-Za-z0-9_-]{1,50}", value):
        return "1 to 50 letters, digits, - or _ are wanted"
    return None


def _url_problem(url: str) -> str | None:
    wanted = "http://HOST:PORT or https://HOST is wanted, or nothing for no router"
    try:
        found = urlsplit(url)
        sound = found.scheme in ("http", "https") and bool(found.hostname) and (found.port or 1) > 0
    except ValueError:
        return wanted
    plain = url.isascii() and url.isprintable() and not any(mark in url for mark in " @?#\\")
    return None if sound and plain else wanted


def _relations(settings: Settings) -> None:
    """What must hold between settings; checked at start so that no rule has to doubt it."""
    lease, place, alert, router, eta = settings.lease, settings.location, settings.alert, settings.router, settings.eta
    budget_ms, renew_s = settings.assign.time_budget_ms, settings.rounds.renew_s
    rules = (
        ("[location] fresh_s < hot_s", place.fresh_s, place.hot_s, False),
        ("[lease] offer_ttl_s < [alert] no_show_min (in s)", lease.offer_ttl_s, alert.no_show_min * 60, False),
        ("[rounds] renew_s < [lease] region_lease_s", renew_s, lease.region_lease_s, False),
        ("[router] budget_ms <= [assign] time_budget_ms", router.budget_ms, budget_ms, True),
        ("[router] breaker_open_s <= breaker_open_max_s", router.breaker_open_s, router.breaker_open_max_s, True),
        ("[eta] speed_kmh <= optimistic_speed_kmh", eta.speed_kmh, eta.optimistic_speed_kmh, True),
    )
    for rule, less, more, equal in rules:
        if not (less < more or (equal and less == more)):
            raise BadSetting(f"the settings must keep {rule}, and {less:g} and {more:g} do not")
