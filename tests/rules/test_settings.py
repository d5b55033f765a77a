"""Named settings: the defaults of SPEC, refused where unknown, of the wrong kind, or against each other."""

import tomllib
from dataclasses import asdict, fields
from typing import get_type_hints

import pytest

from engine.settings import DEFAULTS, RANGES, WORDS, BadSetting, Settings, load


def test_the_file_and_the_code_agree_on_every_default() -> None:
    assert load() == Settings()
    told = tomllib.loads(DEFAULTS.read_text("utf-8"))
    assert {section: set(values) for section, values in told.items()} == {
        section: set(values) for section, values in asdict(Settings()).items()
    }


def test_the_numbers_of_the_contract() -> None:
    given = load()
    assert (given.lease.offer_ttl_s, given.lease.cooldown_min) == (20, 10)
    assert (given.assign.on_demand_horizon_min, given.assign.alert_horizon_min, given.assign.k) == (60, 60, 5)
    assert (given.score.w_eta, given.score.w_fair, given.score.w_slack, given.score.eta_band_min) == (1, 3, 0.25, 5)
    assert (given.location.fresh_s, given.location.hot_s, given.location.ahead_max_s) == (30, 300, 10)
    assert (given.router.budget_ms, given.router.snap_max_m) == (150, 500)
    assert (given.alert.no_show_min, given.alert.expiry_rate, given.alert.stale_rate) == (10, 0.3, 0.2)
    assert (given.alert.expiry_span_min, given.alert.router_span_min) == (15, 5)
    assert (given.trace.around_min, given.trace.points_max) == (60, 2_000)
    assert (given.target.availability, given.target.decision_p99_ms) == (0.999, 500)
    assert (given.slack_capacity.reserve_share, given.slack_capacity.reserve_from_idle) == (0.1, 5)


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ({"leases": {}}, r"\[leases\]: no such section; known: .*lease"),
        ({"lease": {"offer_ttl": 20}}, r"\[lease\] offer_ttl: no such setting; known: .*offer_ttl_s"),
        ({"lease": 20}, r"\[lease\] is 20; a section"),
        ({"lease": {"offer_ttl_s": "20"}}, r"offer_ttl_s = '20': a whole number is wanted, 1 to 86400 s"),
        ({"lease": {"offer_ttl_s": 20.5}}, "20.5: a whole number is wanted"),
        ({"lease": {"offer_ttl_s": True}}, "True: a whole number is wanted"),
        ({"lease": {"auto_offer": 1}}, "true or false is wanted"),
        ({"score": {"w_eta": float("nan")}}, "w_eta = nan: a number is wanted, 0 to 1000"),
        ({"score": {"w_fair": -1}}, "w_fair = -1: a number is wanted, 0 to 1000"),
        ({"score": {"w_fair": float("inf")}}, "w_fair = inf: a number is wanted"),
        ({"router": {"url": 5}}, "url = 5: a text is wanted"),
        ({"location": {"fresh_s": 300}}, "fresh_s < hot_s"),
        ({"lease": {"offer_ttl_s": 600}}, "offer_ttl_s < .*no_show_min .*600 and 600 do not"),
        ({"lease": {"offer_ttl_s": 0}}, "offer_ttl_s"),
        ({"router": {"budget_ms": 500}}, "budget_ms <= .*time_budget_ms"),
        ({"router": {"budget_ms": 0}}, "budget_ms"),
        ({"eta": {"speed_kmh": 0}}, "speed_kmh = 0: a number is wanted, 1 to 200 km/h"),
        ({"eta": {"speed_kmh": 70}}, "speed_kmh <= optimistic_speed_kmh, and 70 and 60"),
        ({"eta": {"detour": 0.9}}, "detour = 0.9: a number is wanted, 1 to 10"),
        ({"slack_capacity": {"reserve_share": 1}}, "reserve_share = 1: a number is wanted, 0 to 0.99"),
        ({"assign": {"k": 0}}, "k = 0: a whole number is wanted, 1 to 100"),
        ({"router": {"breaker_open_s": 61}}, "breaker_open_s <= breaker_open_max_s, and 61 and 60"),
        ({"router": {"profile": "../x"}}, "profile = '../x': 1 to 50 letters"),
        ({"rounds": {"renew_s": 5}}, "renew_s < .*region_lease_s"),
    ],
)
def test_what_is_wrong_is_named_with_its_value_and_rule(override: dict[str, dict[str, object]], told: str) -> None:
    with pytest.raises(BadSetting, match=told):
        load(override)


def test_a_whole_number_serves_for_a_fraction_and_later_overrides_win() -> None:
    given = load({"score": {"w_fair": 0}}, {"score": {"w_fair": 5, "w_eta": 2}})
    assert (given.score.w_fair, given.score.w_eta) == (5.0, 2.0)
    assert isinstance(given.score.w_fair, float)


NUMBERS = [
    (section.name, key, kind)
    for section in fields(Settings)
    for key, kind in get_type_hints(get_type_hints(Settings)[section.name]).items()
    if kind in (int, float)
]


def test_every_number_has_its_range_and_its_unit_stands_in_its_name() -> None:
    assert {(section, key) for section, key, _ in NUMBERS} == {
        (section, key) for section, ranges in RANGES.items() for key in ranges
    }
    ends = {
        "_per_s": "a second",
        "_per_s_max": "a second",
        "_per_10_min": "in 10 min",
        "_s": "s",
        "_ms": "ms",
        "_h": "h",
        "_min": "min",
        "_m": "m",
        "_kmh": "km/h",
        "_days": "days",
        "_mb": "MB",
    }
    for section, ranges in RANGES.items():
        for key, (low, high, unit) in ranges.items():
            assert low < high
            assert unit == next((word for end, word in ends.items() if key.endswith(end)), unit), (section, key)


@pytest.mark.parametrize(("section", "key", "kind"), NUMBERS)
def test_no_number_is_taken_that_would_stop_the_engine(section: str, key: str, kind: type) -> None:
    """Each field with nothing, less than nothing, far too much, no number and a text: refused with its rule."""
    low, high, _ = RANGES[section][key]
    for bad in (
        -1,
        10**20,
        10**400,
        10**5_000,
        1e20,
        float("nan"),
        float("inf"),
        "1",
        True,
        [1],
        None,
        low - 1,
        high * 2,
    ):
        with pytest.raises(BadSetting, match=rf"^\[{section}\] {key} = .*: {WORDS[kind]} is wanted, {low:g} to "):
            load({section: {key: bad}})
    if low > 0:
        with pytest.raises(BadSetting, match=rf"{key} = 0: "):
            load({section: {key: 0}})


@pytest.mark.parametrize(
    "url",
    ["not a url", "http://", "127.0.0.1:5000", "file:///etc/passwd", "ftp://h/", "http://h/?key=1", "http://u:p@h",
     "http://h:99999", "http://h:x", "http://[::1", "http://h\n", " http://h"],
)  # fmt: skip
def test_a_router_that_is_no_url_is_refused_before_anything_is_made(url: str) -> None:
    with pytest.raises(BadSetting, match=r"^\[router\] url = .*: http://HOST:PORT or https://HOST is wanted"):
        load({"router": {"url": url}})


@pytest.mark.parametrize("url", ["", "http://127.0.0.1:5000", "https://road.example/osrm/", "http://[::1]:5000"])
def test_a_router_that_is_one_is_taken(url: str) -> None:
    assert load({"router": {"url": url}}).router.url == url
