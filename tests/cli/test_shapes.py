"""The JSON that scripts rely on, key by key as it was promised."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pytest

from console.cli.parts import Parts, ReplayOrder
from engine.imports.parsed import Rejected
from tests.cli.conftest import JOBS, fix_lines
from tests.cli.shell import Shell

OFFER = {"id", "worker", "expires_at", "eta_s", "eta_band", "confidence", "epoch", "generation"}
CONSIDERED = {"worker", "verdict", "detail", "eta_s", "score", "terms"}


def test_assign_tells_the_offer_and_everyone_considered(shell: Shell) -> None:
    made = shell.json("assign", "near")
    assert made["outcome"] == "offered"
    assert made["job"] == "near"
    assert made["offer"].keys() >= OFFER
    assert made["offer"]["worker"] == "ana"
    assert made["offer"]["expires_at"] == "2027-03-15T07:00:20.000+01:00"
    assert made["offer"]["eta_band"].keys() == {"from", "to"}
    first, *others = made["considered"]
    assert first.keys() >= CONSIDERED
    assert (first["worker"], first["verdict"]) == ("ana", "ranked")
    assert first["terms"].keys() == {"eta", "fair", "slack"}
    assert first["score"] == pytest.approx(sum(first["terms"].values()), abs=0.001)
    assert {each["worker"]: each["verdict"] for each in others} == {"ben": "ranked", "cy": "skills"}
    assert next(each for each in others if each["worker"] == "cy")["detail"] == "lacks s1"


def test_assign_again_answers_the_standing_offer(shell: Shell) -> None:
    first = shell.json("assign", "near")["offer"]["id"]
    again = shell.json("assign", "near")
    assert (again["outcome"], again["offer"]["id"]) == ("standing", first)


def test_assign_without_anybody_is_an_alert_with_exit_1(shell: Shell) -> None:
    made = shell.json("assign", "hard", code=1)
    assert (made["outcome"], made["offer"], made["state"]) == ("alert", None, "UNASSIGNED_ALERT")
    assert {each["verdict"] for each in made["considered"]} == {"skills"}
    [alert] = shell.json("alerts")
    assert (alert["id"], alert["kind"], alert["job"]) == (made["alert"], "unassigned", "hard")


def test_accept_has_its_outcomes(shell: Shell) -> None:
    offer = shell.json("assign", "near")["offer"]["id"]
    assert shell.json("accept", offer, "--as", "ben", code=1)["outcome"] == "not_found"
    assert shell.json("accept", offer, "--as", "ana")["outcome"] == "accepted"
    assert shell.json("accept", offer, "--as", "ana")["outcome"] == "already_accepted"
    why = ("--actor", "dora", "--reason", "sick", "--note", "went home with a fever")
    shell.json("release", "near", *why)
    assert shell.json("accept", offer, "--as", "ana", code=1)["outcome"] == "lost"


def test_accept_at_the_very_expiry_is_expired_and_the_next_is_asked(shell: Shell) -> None:
    offer = shell.json("assign", "near")["offer"]["id"]
    shell.ok("clock", "advance", "20s")
    late = shell.json("accept", offer, "--as", "ana", code=1)
    assert late["outcome"] == "expired"
    assert late["next"]["offer"]["worker"] == "ben"


def test_accept_after_a_takeover_is_fenced_or_withdrawn(shell: Shell) -> None:
    offer = shell.json("assign", "near")["offer"]["id"]
    why = ("--actor", "dora", "--reason", "other", "--note", "the other desk hangs")
    taken = shell.json("takeover", "main", *why)
    assert (taken["epoch"], taken["withdrawn"]) == (1, 1)
    assert shell.json("accept", offer, "--as", "ana", code=1)["outcome"] == "fenced"


def test_jobs_is_a_list_by_due_by(shell: Shell) -> None:
    listed = shell.json("jobs")
    assert [each["id"] for each in listed] == ["hard", "soon", "near", "urgent"]
    near = listed[2]
    assert {"id", "ref", "state", "worker", "due_by", "slack_min", "priority"} <= near.keys()
    assert (near["ref"], near["state"], near["worker"], near["priority"]) == ("near", "OPEN", None, 1)
    assert near["due_by"] == "2027-03-15T08:30:00.000+01:00"
    assert near["slack_min"] == 90


def test_jobs_slack_counts_from_the_promised_arrival(shell: Shell) -> None:
    offer = shell.json("assign", "near")["offer"]
    [near] = shell.json("jobs", "--state", "OFFERED")
    slack_s = (datetime.fromisoformat(near["due_by"]) - datetime.fromisoformat(offer["arrives_at"])).total_seconds()
    assert near["slack_min"] == slack_s // 60
    assert near["worker"] == "ana"


def test_fixes_counts_by_reason_and_stops_at_nothing(shell: Shell, site: Path) -> None:
    shell.ok("clock", "advance", "10s")
    bad = '{"worker":"ana","device_time":"2027-03-15T07:00:09+01:00","lat":44.17}\nnot json\n'
    more = '{"worker":"nobody","device_time":1805090409000,"lat":44.17,"lng":12.2}\n'
    null = '{"worker":"cy","device_time":1805090408000,"lat":0,"lng":0}\n'
    (site / "more.jsonl").write_text(bad + "\n" + more + null + fix_lines("2027-03-15T07:00:09+01:00"))
    told = shell.json("fixes", site / "more.jsonl", code=1)
    assert told["kept"] == 3
    assert told["rejected"] == {"bad_line": 2, "null_island": 1, "unknown_worker": 1}
    assert [(each["line"], each["field"]) for each in told["bad_lines"]] == [(1, "lng"), (2, "")]


def test_fixes_are_seen_by_the_next_process(shell: Shell) -> None:
    assert [each["presence"] for each in shell.json("workers")] == ["fresh"] * 3
    shell.ok("clock", "advance", "31s")
    assert [each["presence"] for each in shell.json("workers")] == ["stale"] * 3
    shell.ok("clock", "advance", "10m")
    assert [each["presence"] for each in shell.json("workers")] == ["silent"] * 3


def test_received_at_is_for_training_sites(shell: Shell, site: Path) -> None:
    line = {"worker": "ana", "device_time": 1805090350000, "lat": 44.17, "lng": 12.2, "received_at": 1805090351000}
    (site / "one.jsonl").write_text(json.dumps({**line, "device_time": 1805090401000, "received_at": 1805090402000}))
    ahead = shell.json("fixes", site / "one.jsonl", code=1)
    assert ahead["bad_lines"][0]["field"] == "received_at"
    shell.ok("clock", "advance", "5s")
    assert shell.json("fixes", site / "one.jsonl")["kept"] == 1
    live = site / "live.db"
    shell.ok("init", live)
    refused = shell.json("fixes", site / "one.jsonl", "--db", live, code=1)
    assert "training" in refused["bad_lines"][0]["rule"]


def test_import_counts_and_names_every_refused_cell(shell: Shell, site: Path) -> None:
    (site / "two.csv").write_text(JOBS.replace("near,visit,s1,44.171", "fresh,visit,s1,95"))
    told = shell.json("import", "jobs", site / "two.csv", code=1)
    assert {"new", "changed", "unchanged", "rejected"} <= told.keys()
    assert (told["new"], told["changed"], told["unchanged"]) == (0, 0, 3)
    [cell] = told["rejected"]
    assert cell.keys() == {"row", "column", "value", "rule"}
    assert (cell["row"], cell["column"], cell["value"]) == (2, "lat", "95")


def test_doctor_names_its_checks(shell: Shell) -> None:
    told = shell.json("doctor")
    assert told["ok"] is True
    assert all(each.keys() == {"name", "ok", "detail"} for each in told["checks"])
    named = {each["name"] for each in told["checks"]}
    assert named >= {"python", "sqlite", "database", "schema", "audit chain", "side file", "disk space", "filesystem",
                     "zone", "clock", "regions", "stand-in", "settings"}  # fmt: skip
    assert any(name.startswith("router") for name in named)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Late:
    p50: float = 1.0
    p95: float = 2.5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Day:
    jobs: int = 58
    assigned: int = 55
    on_time: int = 52
    missed: int = 3
    cancelled: int = 3
    alerts: int = 6
    offers: dict[str, int] = field(default_factory=lambda: {"accepted": 55})
    double_bookings: int = 0
    late_minutes: _Late = _Late()
    travel_minutes: int = 1184
    top_decile_share: float = 0.14
    gini: float = 0.075
    virtual_hours: float = 9.98
    wall_s: float = 6.6
    rejected: tuple[tuple[str, Rejected], ...] = ()


def test_replay_hands_the_order_on_and_tells_the_day(shell: Shell, site: Path) -> None:
    orders: list[ReplayOrder] = []

    def replay(order: ReplayOrder) -> _Day:
        orders.append(order)
        return _Day()

    shell.parts = Parts(replay=replay)
    files = ("--jobs", site / "jobs.csv", "--workers", site / "workers.csv")
    told = shell.json("replay", *files, "--seed", "7", "--answers", "mixed")
    assert (orders[0].seed, orders[0].answers, orders[0].site) == (7, "mixed", None)
    assert list(told) == ["jobs", "assigned", "on_time", "missed", "cancelled", "alerts", "offers", "double_bookings",
                          "late_minutes", "travel_minutes", "top_decile_share", "gini", "virtual_hours",
                          "wall_s", "rejected"]  # fmt: skip
    assert told["late_minutes"] == {"p50": 1.0, "p95": 2.5}
    assert "52" in shell.ok("replay", *files)
    assert [each.whole for each in orders] == [False, False]


def test_a_replay_lists_the_rows_it_left_out_by_field_value_and_rule(shell: Shell, site: Path) -> None:
    bad = Rejected(row=8, column="lat", value="99", rule="-90 to 90 is wanted")
    shell.parts = Parts(replay=lambda order: _Day(rejected=() if order.whole else (("jobs.csv", bad),)))
    files = ("--jobs", site / "jobs.csv", "--workers", site / "workers.csv")
    told = shell.json("replay", *files, code=1)["rejected"]
    assert told == [{"file": "jobs.csv", "row": 8, "column": "lat", "value": "99", "rule": bad.rule}]
    assert "-90 to 90 is wanted" in shell("replay", *files).out
    assert shell("replay", *files, "--all-or-nothing").code == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Figure:
    figure: str = "decision p99"
    value: float = 512.0
    unit: str = "ms"
    bar: float | None = 500.0
    holds: bool | None = False


def test_bench_tells_each_figure_beside_its_bar(shell: Shell) -> None:
    shell.parts = Parts(bench=lambda _: [_Figure()])
    told = shell.json("bench", "decide", code=1)
    assert told == [{"figure": "decision p99", "value": 512.0, "unit": "ms", "bar": 500.0, "holds": False}]


def test_what_this_copy_lacks_is_said(shell: Shell, site: Path) -> None:
    files = ("--jobs", site / "jobs.csv", "--workers", site / "workers.csv")
    assert shell.json("replay", *files, code=1)["error"]["message"] == "replay: this copy of Callboard does not have it"
