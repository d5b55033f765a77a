"""Named settings: the defaults of SPEC, refused where unknown, of the wrong kind, or against each other."""

import tomllib
from dataclasses import asdict

import pytest

from engine.settings import DEFAULTS, BadSetting, Settings, load


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
    assert (given.slack_capacity.reserve_share, given.slack_capacity.reserve_from_idle) == (0.1, 5)


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ({"leases": {}}, r"\[leases\]: no such section; known: .*lease"),
        ({"lease": {"offer_ttl": 20}}, r"\[lease\] offer_ttl: no such setting; known: .*offer_ttl_s"),
        ({"lease": 20}, r"\[lease\] is 20; a section"),
        ({"lease": {"offer_ttl_s": "20"}}, r"offer_ttl_s = '20': int is wanted"),
        ({"lease": {"offer_ttl_s": 20.5}}, "int is wanted"),
        ({"lease": {"offer_ttl_s": True}}, "int is wanted"),
        ({"lease": {"auto_offer": 1}}, "bool is wanted"),
        ({"score": {"w_eta": float("nan")}}, "zero or more"),
        ({"score": {"w_fair": -1}}, "zero or more"),
        ({"score": {"w_fair": float("inf")}}, "zero or more"),
        ({"router": {"url": 5}}, "str is wanted"),
        ({"location": {"fresh_s": 300}}, "fresh_s < hot_s"),
        ({"lease": {"offer_ttl_s": 600}}, "offer_ttl_s < .*no_show_min"),
        ({"lease": {"offer_ttl_s": 0}}, "offer_ttl_s"),
        ({"router": {"budget_ms": 500}}, "budget_ms <= .*time_budget_ms"),
        ({"router": {"budget_ms": 0}}, "budget_ms"),
        ({"eta": {"speed_kmh": 0}}, "speed_kmh > 0"),
        ({"eta": {"speed_kmh": 70}}, "optimistic_speed_kmh >= speed_kmh"),
        ({"eta": {"detour": 0.9}}, "detour >= 1"),
        ({"slack_capacity": {"reserve_share": 1}}, "reserve_share < 1"),
        ({"assign": {"k": 0}}, "k > 0"),
        ({"rounds": {"renew_s": 5}}, "region_lease_s > .*renew_s"),
    ],
)
def test_what_is_wrong_is_named_with_its_value_and_rule(override: dict[str, dict[str, object]], told: str) -> None:
    with pytest.raises(BadSetting, match=told):
        load(override)


def test_a_whole_number_serves_for_a_fraction_and_later_overrides_win() -> None:
    given = load({"score": {"w_fair": 0}}, {"score": {"w_fair": 5, "w_eta": 2}})
    assert (given.score.w_fair, given.score.w_eta) == (5.0, 2.0)
    assert isinstance(given.score.w_fair, float)


@pytest.mark.parametrize("name", ["breaker_failures", "breaker_window_s", "cache_bucket_s", "in_flight_max"])
def test_what_is_divided_by_or_counted_up_to_may_not_be_zero(name: str) -> None:
    with pytest.raises(BadSetting):
        load({"router": {name: 0}})
