"""The named settings of a site: frozen, checked at start, a unit in every name.

Read from ``dispatch.toml`` (defaults) with a site's overrides on top. Source: SPEC; its numbers are the defaults here.
"""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import cast, get_type_hints

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
    breaker_window_s: int = 10
    breaker_open_s: int = 5
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
    router_timeout_rate: float = 0.10
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
    rounds: Rounds = field(default_factory=Rounds)
    console: Console = field(default_factory=Console)


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
            raise BadSetting(f"[{section}] is {values!r}; a section of named settings is wanted")
        settings = replace(settings, **{section: _section(section, getattr(settings, section), values)})
    return settings


def _section(section: str, current: object, values: Mapping[str, object]) -> object:
    kinds = get_type_hints(type(current))
    for key, value in values.items():
        if key not in kinds:
            raise BadSetting(f"[{section}] {key}: no such setting; known: {', '.join(sorted(kinds))}")
        values = {**values, key: _checked(f"[{section}] {key}", value, kinds[key])}
    return replace(cast(Lease, current), **values)  # any section: they are all dataclasses


def _checked(name: str, value: object, kind: type) -> object:
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise BadSetting(f"{name} = {value!r}: {kind.__name__} is wanted")
    if isinstance(value, int | float) and not (math.isfinite(value) and value >= 0):
        raise BadSetting(f"{name} = {value!r}: zero or more is wanted")
    return value


def _relations(settings: Settings) -> None:
    """What must hold between settings; checked at start so that no rule has to doubt it."""
    lease, place, alert, router = settings.lease, settings.location, settings.alert, settings.router
    rules = (
        (0 < place.fresh_s < place.hot_s, "[location] 0 < fresh_s < hot_s"),
        (0 < lease.offer_ttl_s < alert.no_show_min * 60, "0 < [lease] offer_ttl_s < [alert] no_show_min"),
        (lease.region_lease_s > settings.rounds.renew_s, "[lease] region_lease_s > [rounds] renew_s"),
        (settings.assign.k > 0, "[assign] k > 0"),
        (min(router.breaker_failures, router.breaker_window_s) > 0, "[router] breaker_failures, breaker_window_s > 0"),
        (min(router.cache_bucket_s, router.in_flight_max) > 0, "[router] cache_bucket_s, in_flight_max > 0"),
        (
            0 < settings.router.budget_ms <= settings.assign.time_budget_ms,
            "[router] budget_ms <= [assign] time_budget_ms",
        ),
        (settings.eta.speed_kmh > 0 and settings.eta.detour >= 1, "[eta] speed_kmh > 0, detour >= 1"),
        (settings.eta.optimistic_speed_kmh >= settings.eta.speed_kmh, "[eta] optimistic_speed_kmh >= speed_kmh"),
        (settings.eta.pessimistic_factor >= 1, "[eta] pessimistic_factor >= 1"),
        (settings.slack_capacity.reserve_share < 1, "[slack_capacity] reserve_share < 1"),
    )
    for holds, rule in rules:
        if not holds:
            raise BadSetting(f"the settings must keep: {rule}")
