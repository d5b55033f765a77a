"""What each command does to a site: the whole way of a job, a dispatcher's acts, regions, roster, files."""

import json
import os
import sqlite3
import stat
from datetime import datetime
from pathlib import Path

import pytest

from engine import records, wiring
from engine.rules.nouns import Actor, Role
from engine.verbs import region
from tests.cli.conftest import JOBS, fix_lines
from tests.cli.shell import Shell

WHY = ("--actor", "dora", "--reason", "other", "--note", "said so by telephone")


def state(shell: Shell, job: str) -> tuple[str, str | None]:
    told = shell.json("job", job)["job"]
    return told["state"], told["worker"]


# --- a job's way -------------------------------------------------------------------------------------------------


def test_a_job_from_open_to_done(shell: Shell) -> None:
    offer = shell.json("assign", "near")["offer"]["id"]
    assert state(shell, "near") == ("OFFERED", "ana")
    shell.ok("accept", offer, "--as", "ana")
    assert shell.json("start", "near", "--as", "ben", code=1)["outcome"] == "not_found"
    shell.ok("clock", "advance", "10m")
    assert shell.json("start", "near", "--as", "ana")["outcome"] == "started"
    assert shell.json("finish", "near", "--as", "ana")["outcome"] == "finished"
    assert state(shell, "near") == ("DONE", "ana")
    acts = [each["act"] for each in shell.json("job", "near")["record"]]
    assert acts == ["create job", "offer", "accept", "start", "finish"]
    assert shell.json("audit", "verify")["ok"] is True


def test_the_wrong_worker_is_told_where_to_look_and_not_whose_it_is(shell: Shell) -> None:
    offer = shell.json("assign", "near")["offer"]["id"]
    for act in ("accept", "decline"):
        ran = shell(act, offer, "--as", "ben")
        assert ran.code == 1
        assert ran.out == f"not_found: {offer} is no offer to ben; `offers --as ben` shows what ben is offered now\n"
        assert shell(act, "O-NONE", "--as", "ben").out == ran.out.replace(offer, "O-NONE"), "nor whether it is there"
    assert "ana" not in shell("start", "near", "--as", "ben").out
    assert "near is no job that ben holds" in shell("start", "near", "--as", "ben").out


def test_decline_asks_the_next_at_once(shell: Shell) -> None:
    offer = shell.json("assign", "near")["offer"]["id"]
    told = shell.json("decline", offer, "--as", "ana")
    assert (told["outcome"], told["next"]["offer"]["worker"]) == ("declined", "ben")


def test_an_ignored_offer_expires_in_a_sweep(shell: Shell, site: Path) -> None:
    shell.ok("assign", "near")
    shell.ok("clock", "advance", "21s")
    (site / "later.jsonl").write_text(fix_lines("2027-03-15T07:00:20+01:00"))
    shell.ok("fixes", site / "later.jsonl")
    assert shell.json("sweep")["regions"] == ["main"]
    assert [each["state"] for each in shell.json("offers", "--job", "near")] == ["EXPIRED"]
    # Both skilled workers are asked for what is more urgent by slack and priority.
    assert {each["job"] for each in shell.json("offers")} == {"soon", "urgent"}


def test_without_a_desk_a_lapsed_offer_says_that_it_waits_for_the_sweep(shell: Shell) -> None:
    shell.ok("assign", "near")
    assert [each["lapsed"] for each in shell.json("offers")] == [False]
    shell.ok("clock", "advance", "20s")
    assert [each["lapsed"] for each in shell.json("offers")] == [True]
    assert (len(shell.json("board")["offers"]), len(shell.json("board")["lapsed"])) == (0, 1)
    for words in (("offers",), ("board",), ("jobs",), ("job", "near")):
        assert "lapsed: waits for the sweep" in shell.ok(*words), words
    assert "live offers · times in Europe/Rome: none" in shell.ok("offers")
    assert shell.json("job", "near")["job"]["lapsed"] is True
    shell.ok("sweep")
    assert shell.json("job", "near")["offers"][0]["state"] == "EXPIRED"


def test_a_sweep_leaves_the_offers_that_stand(shell: Shell) -> None:
    offer = shell.json("assign", "near")["offer"]["id"]
    shell.ok("sweep")
    assert shell.json("accept", offer, "--as", "ana")["outcome"] == "accepted"


def test_a_sweep_is_refused_while_another_process_holds_the_region(shell: Shell, site: Path) -> None:
    engine = wiring.open_engine(site / "site.db")
    try:
        region.takeover(engine, Actor(name="auto:main", role=Role.AUTOMATIC), "main", "desk-7")
        refused = shell.json("sweep", code=1)["error"]
        assert refused["kind"] == "busy"
        assert "desk-7" in refused["message"]
        region.resign(engine, "desk-7")
    finally:
        wiring.close(engine)
    assert shell("sweep").code == 0


def test_a_missed_job_says_so_in_an_alert_that_can_be_worked(shell: Shell) -> None:
    shell.ok("clock", "set", "07:50")
    shell.ok("sweep")
    [missed] = [each for each in shell.json("alerts") if each["kind"] == "missed"]
    assert missed["job"] == "hard"
    name = ("--actor", "dora")
    assert shell.json("alert", "ack", missed["id"], *name)["acked_by"] == "dora"
    assert shell.json("alert", "ack", missed["id"], *name, code=1)["error"]["kind"] == "stale"
    assert shell.json("alert", "own", missed["id"], *name)["owner"] == "dora"
    snoozed = shell.json("alert", "snooze", missed["id"], "--for", "10", *name)
    assert snoozed["snoozed_until"] == "2027-03-15T08:00:00.000+01:00"
    assert shell.json("alert", "escalate", missed["id"], *name)["escalated"] == 1
    assert shell.json("alert", "resolve", missed["id"], *name)["open"] is False
    assert [each["act"] for each in shell.json("audit", "--limit", "5")][-1] == "alert resolve"


# --- a dispatcher's acts -----------------------------------------------------------------------------------------


def accepted(shell: Shell, job: str) -> str:
    offer = shell.json("assign", job)["offer"]
    shell.ok("accept", offer["id"], "--as", offer["worker"])
    return offer["worker"]


def test_withdraw_cancel_release_reassign(shell: Shell) -> None:
    offer = shell.json("assign", "near")["offer"]["id"]
    assert shell.json("withdraw", offer, *WHY)["state"] == "OFFERED", "the next candidate is asked at once"
    assert shell.json("withdraw", offer, *WHY, code=1)["error"]["kind"] == "stale"
    [second] = shell.json("offers")
    assert shell.json("withdraw", second["id"], *WHY)["state"] == "OPEN", "nobody is left"
    assert accepted(shell, "soon") == "ana"
    told = shell.json("reassign", "soon", "--to", "ben", *WHY)
    assert (told["outcome"], told["state"], told["late_min"]) == ("reassigned", "OFFERED", 0)
    assert told["overrules"] == [], "he is free, fresh and in time"
    shell.ok("accept", told["offer"], "--as", "ben")
    assert shell.json("release", "soon", *WHY)["outcome"] == "released"
    assert shell.json("cancel", "soon", *WHY)["state"] == "CANCELLED"
    assert shell.json("cancel", "soon", *WHY, code=1)["error"]["kind"] == "stale"


def test_a_late_cancel_is_refused_by_what_it_aimed_at(shell: Shell) -> None:
    accepted(shell, "near")
    assert shell.json("cancel", "near", "--aimed-at", "O-OLD", *WHY, code=1)["error"]["kind"] == "stale"
    assert state(shell, "near")[0] == "ACCEPTED"


def test_preempt_takes_the_worker_for_the_urgent_job(shell: Shell) -> None:
    worker = accepted(shell, "near")
    told = shell.json("preempt", "near", "--for", "urgent", *WHY)
    assert told["outcome"] == "preempted"
    assert state(shell, "urgent") == ("OFFERED", worker)


def test_override_tells_what_it_overrules_and_is_audited(shell: Shell) -> None:
    shell.ok("clock", "advance", "40s")
    told = shell.json("override", "near", "ben", "--force", *WHY)
    assert (told["outcome"], told["state"], told["offer"]["confidence"]) == ("accepted", "ACCEPTED", "manual")
    assert [each["reason"] for each in told["overrules"]] == ["stale"]
    [row] = [each for each in shell.json("job", "near")["record"] if each["act"] == "override"]
    assert (row["actor"], row["reason"], row["note"]) == ("dora", "other", "said so by telephone")


def test_a_job_tells_who_accepted_and_why_tells_the_override_with_its_words(shell: Shell) -> None:
    accepted(shell, "near")
    [offer] = shell.json("job", "near")["offers"]
    assert (offer["ended_by"], offer["ended_as"], offer["override"]) == (offer["worker"], "worker", None)
    shell.ok("override", "soon", "ben", "--force", *WHY)
    [forced] = shell.json("offers", "--job", "soon")
    assert (forced["ended_by"], forced["ended_as"]) == ("dora", "dispatcher")
    assert "dora (dispatcher, on their behalf)" in shell.ok("job", "soon")
    [told] = shell.json("why", "soon")["overrides"]
    assert (told["worker"], told["actor"], told["reason"], told["note"]) == (
        "ben",
        "dora",
        "other",
        forced["override"]["note"],
    )
    text = shell.ok("why", "soon")
    assert "overrides" in text
    assert "said so by telephone" in text


def test_why_asked_of_one_worker_tells_of_them_alone(shell: Shell) -> None:
    shell.ok("assign", "near")
    told = shell.json("why", "near", "--worker", "ana")
    assert (told["worker"], told["then"]["worker"], {each["worker"] for each in told["now"]}) == ("ana", "ana", {"ana"})
    assert "as of now" in shell.ok("why", "near", "--worker", "ana")
    assert shell("why", "near", "--worker", "nobody").code != 0
    assert shell("why", "near", "--worker", "ana", "--weights", "w_fair=0").code == 2


def test_why_tells_then_now_and_replayed(shell: Shell) -> None:
    shell.ok("assign", "near")
    told = shell.json("why", "near", "--weights", "w_fair=5,w_eta=0")
    assert told["then"]["outcome"] == "offered"
    assert {each["worker"]: each["verdict"] for each in told["then"]["considered"]}["cy"] == "skills"
    assert told["now"] is None
    assert (told["replayed"]["weights"]["w_fair"], told["replayed"]["weights"]["w_eta"]) == (5.0, 0.0)
    assert all(each["terms"]["eta"] == 0 for each in told["replayed"]["considered"] if each["verdict"] == "ranked")
    assert "as it was decided" in shell.ok("why", "near")
    assert shell.json("why", "soon")["now"][0]["verdict"] == "ranked"


# --- roster and regions ------------------------------------------------------------------------------------------


def test_an_absence_keeps_a_worker_off_the_list_and_names_what_it_touches(shell: Shell) -> None:
    assert accepted(shell, "near") == "ana"
    told = shell.json("absent", "ana", "--from", "now", "--to", "12:00", "--note", "ill")
    assert told["touches"] == ["near"]
    assert told["absence"] == {"from": "2027-03-15T07:00:00.000+01:00", "to": "2027-03-15T12:00:00.000+01:00"}
    listed = shell.json("assign", "soon")["considered"]
    assert {each["worker"]: each["verdict"] for each in listed}["ana"] == "absent"


def test_a_shift_replaces_those_it_overlaps(shell: Shell) -> None:
    shell.ok("shift", "ana", "--from", "09:00", "--to", "10:00")
    [ana, *_] = shell.json("workers")
    assert (ana["on_shift"], ana["shift"]["from"]) == (False, "2027-03-15T09:00:00.000+01:00")


def test_a_clock_change_is_refused_by_name(shell: Shell) -> None:
    ran = shell("shift", "ana", "--from", "2027-03-28 02:30", "--to", "2027-03-28 08:00")
    assert ran.code == 2
    assert "does not exist" in ran.err


def test_a_worker_is_handed_to_another_region(shell: Shell, site: Path) -> None:
    (site / "two.toml").write_text('zone = "Europe/Rome"\n[[region]]\nid = "north"\n[[region]]\nid = "south"\n')
    two = site / "two.db"
    shell.ok("init", two, "--site", site / "two.toml", "--training")
    shell.ok("import", "workers", site / "workers.csv", "--db", two)
    told = shell.json("handoff", "ana", "south", *WHY, "--db", two)
    assert (told["outcome"], told["generation"]) == ("moved", 2)
    assert {each["id"]: each["region"] for each in shell.json("workers", "--db", two)} == {
        "ana": "south", "ben": "north", "cy": "north",
    }  # fmt: skip


def test_a_handoff_that_waits_for_an_offer_is_taken_back(shell: Shell, site: Path) -> None:
    (site / "two.toml").write_text('zone = "Europe/Rome"\n[[region]]\nid = "north"\n[[region]]\nid = "south"\n')
    two = site / "two.db"
    shell.ok("init", two, "--site", site / "two.toml", "--training")
    shell.ok("import", "workers", site / "workers.csv", "--db", two)
    shell.ok("clock", "set", "2027-03-15T07:00:00+01:00", "--db", two)
    shell.ok("import", "jobs", site / "jobs.csv", "--no-offer", "--db", two)
    shell.ok("override", "near", "ana", *WHY, "--db", two)
    assert shell.json("handoff", "ana", "south", *WHY, "--db", two)["outcome"] == "waiting"
    told = shell.json("handoff", "ana", "--take-back", *WHY, "--db", two)
    assert (told["outcome"], told["region"], told["generation"]) == ("taken_back", "south", 1)
    assert shell.json("handoff", "ana", "--take-back", *WHY, "--db", two, code=1)["error"]["kind"] == "stale"
    assert shell("handoff", "ana", *WHY, "--db", two).code == 2


def test_the_clock_of_a_live_site_is_nobodys_to_set(shell: Shell, site: Path) -> None:
    shell.ok("init", site / "live.db")
    assert shell.json("clock", "advance", "1s", "--db", site / "live.db", code=1)["error"]["kind"] == "forbidden"
    now = shell.json("clock", "--db", site / "live.db")
    assert now["training"] is False
    assert abs(datetime.fromisoformat(now["now"]).timestamp() * 1000 - now["now_ms"]) < 1


# --- files -------------------------------------------------------------------------------------------------------


def test_a_dry_run_changes_nothing_and_shows_what_would(shell: Shell, site: Path) -> None:
    before = (site / "site.db").read_bytes()
    (site / "more.csv").write_text(JOBS.replace("near,visit", "other,visit").replace("Via Roma 2", "Via Roma 22"))
    told = shell.json("import", "jobs", site / "more.csv", "--dry-run")
    assert (told["new"], told["changed"], told["unchanged"], told["dry_run"]) == (1, 1, 2, True)
    window = "2027-03-15T07:00:00.000+01:00 to 2027-03-15T08:30:00.000+01:00"
    assert told["changes"] == [f"other: new, {window}", "soon: address"]
    assert (site / "site.db").read_bytes() == before


@pytest.mark.parametrize("kind", ["jobs", "workers"])
def test_importing_twice_changes_nothing(shell: Shell, site: Path, kind: str) -> None:
    told = shell.json("import", kind, site / f"{kind}.csv")
    assert (told["new"], told["changed"], told["rejected"]) == (0, 0, [])
    assert told["unchanged"] == {"jobs": 4, "workers": 3}[kind]


def test_all_or_nothing_lands_nothing_where_one_row_is_bad(shell: Shell, site: Path) -> None:
    (site / "mixed.csv").write_text(JOBS.replace("near,", "n1,").replace("soon,visit,s1,44.180", "n2,visit,s1,144"))
    assert shell.json("import", "jobs", site / "mixed.csv", "--all-or-nothing", code=1)["new"] == 0
    assert len(shell.json("jobs")) == 4
    assert shell.json("import", "jobs", site / "mixed.csv", code=1)["new"] == 1


def test_columns_are_mapped(shell: Shell, site: Path) -> None:
    theirs = "Ref;Breite;Länge;Ab;Bis\nx1;44.171;12.2;15.03.2027 09:00;15.03.2027 10:00\n"
    (site / "theirs.csv").write_text(theirs)
    maps = ("id=Ref", "lat=Breite", "lng=Länge", "not_before=Ab", "due_by=Bis", "type==visit", "skills==s1",
            "duration_min==30")  # fmt: skip
    told = shell.json("import", "jobs", site / "theirs.csv", *(part for each in maps for part in ("--map", each)))
    assert (told["new"], told["ids"]) == (1, ["x1"])
    [x1] = [each for each in shell.json("jobs") if each["id"] == "x1"]
    assert x1["due_by"] == "2027-03-15T10:00:00.000+01:00"


def test_areas_come_from_geojson(shell: Shell, site: Path) -> None:
    ring = [[12.1, 44.1], [12.3, 44.1], [12.3, 44.3], [12.1, 44.3], [12.1, 44.1]]
    area = {"type": "Feature", "id": "centre", "properties": {}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
    (site / "areas.json").write_text(json.dumps(area))
    assert shell.json("import", "areas", site / "areas.json")["new"] == 1
    assert shell.json("import", "areas", site / "areas.json")["unchanged"] == 1


def test_create_a_job_by_options_and_by_key(shell: Shell) -> None:
    typed = (
        "create",
        "job",
        "--type",
        "visit",
        "--skill",
        "s1",
        "--at",
        "44.171,12.201",
        "--due",
        "08:30",
        "--key",
        "k1",
    )
    made = shell.json(*typed)
    assert (made["id"], made["state"], made["assigned"]["offer"]["worker"]) == ("J-1", "OFFERED", "ana")
    again = shell.json(*typed)
    assert (again["id"], again["replayed"]) == ("J-1", True)
    assert shell.json(*typed, "--priority", "2", code=1)["error"]["kind"] == "invalid"
    assert "latitude" in shell.json(*typed[:6], "--at", "95,12", "--due", "08:30", code=2)["error"]["message"]


def test_create_a_worker_by_options(shell: Shell) -> None:
    typed = ("create", "worker", "--name", "Eva", "--home", "-33.9,18.4", "--from", "07:00", "--to", "15:00")
    assert shell.json(*typed)["id"] == "W-1"
    assert shell.json(*typed, "--id", "ana", code=1)["error"]["kind"] == "invalid"


def test_an_audit_is_verified_against_a_head_written_down_earlier(shell: Shell, site: Path) -> None:
    head = shell.json("backup", site / "kept.db")["head"]
    shell.ok("assign", "near")
    seq, _, digest = head.partition(":")
    for known in (head, digest):
        told = shell.json("audit", "verify", "--expect", known)
        assert (told["ok"], told["expected"]) == (True, int(seq))
    assert f"head {told['rows']}:{told['head']}" in shell.ok("audit", "verify")
    for unknown in (f"{seq}:{'0' * 64}", "f" * 64, f"{int(seq) - 1}:{digest}"):
        told = shell.json("audit", "verify", "--expect", unknown, code=3)
        assert not told["ok"]
        assert unknown in told["missing"]
    for wrong in ("x", f"a:{digest}", f"{seq}:", digest[:-1]):
        assert shell("audit", "verify", "--expect", wrong).code == 2


def test_a_backup_opens_as_the_site_it_was(shell: Shell, site: Path) -> None:
    told = shell.json("backup", site / "copy.db")
    assert [each["presence"] for each in shell.json("workers", "--db", site / "copy.db")] == ["fresh"] * 3
    assert stat.S_IMODE(os.stat(told["database"]).st_mode) == stat.S_IMODE(os.stat(told["fixes"]).st_mode) == 0o600
    assert shell.json("backup", site / "copy.db", code=1)["error"]["kind"] == "exists"


# --- the record --------------------------------------------------------------------------------------------------


def test_an_edited_audit_is_found(shell: Shell, site: Path) -> None:
    with sqlite3.connect(site / "site.db") as db:
        for (name,) in db.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'audit'"
        ).fetchall():
            db.execute(f"DROP TRIGGER {name}")
        db.execute("UPDATE audit SET actor = 'nobody' WHERE seq = 5")
    db.close()
    told = shell.json("audit", "verify", code=3)
    assert (told["ok"], told["first_bad"]) == (False, 5)
    assert shell("doctor").code == 3


def test_watch_tells_what_happened(shell: Shell) -> None:
    shell.ok("assign", "near")
    assert "offer near ana O-" in shell.ok("watch", "--once").splitlines()[-1]
    lines = shell("watch", "--once", "--json").out.splitlines()
    assert json.loads(lines[-1])["act"] == "offer"


def test_a_trace_is_audited_first_private_and_never_overwrites(shell: Shell, site: Path) -> None:
    accepted(shell, "near")
    out = site / "trace.jsonl"
    typed = ("trace", "ana", "--job", "near", "--actor", "sue", "--out", out)
    assert shell.json(*typed, "--role", "dispatcher", code=1)["error"]["kind"] == "forbidden"
    assert not out.exists()
    told = shell.json(*typed)
    assert told["points"] == 1
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert json.loads(out.read_text())["lat"] == 44.17
    assert shell.json(*typed, code=1)["error"]["kind"] == "exists"
    rows = [each for each in shell.json("audit") if each["act"].startswith("trace")]
    assert [(each["act"], each["role"]) for each in rows] == [
        ("trace refused", "dispatcher"),
        ("trace export", "supervisor"),
    ]
    assert told["audit_seq"] == rows[-1]["seq"]
    assert shell.json("trace", "cy", "--job", "near", "--actor", "sue", "--out", site / "x", code=1)
    assert not (site / "x").exists()


# --- who sees what -----------------------------------------------------------------------------------------------


def test_no_command_but_trace_shows_a_position(shell: Shell, site: Path) -> None:
    """Places of workers and jobs as they were imported, in any writing, are in no answer."""
    accepted(shell, "near")
    looks = (["board"], ["jobs"], ["workers"], ["offers"], ["job", "near"], ["why", "near"], ["why", "soon"], ["audit"],
             ["doctor"], ["alerts"], ["watch", "--once"])  # fmt: skip
    for look in looks:
        for ran in (shell(*look), shell(*look, "--json")):
            assert ran.code == 0
            assert not any(place in ran.out for place in ("44.17", "44.18", "44.19", "12.20")), look


def test_a_customer_sees_a_state_and_a_band(shell: Shell) -> None:
    shell.ok("assign", "near")
    assert shell.json("job", "near", "--role", "customer") == {"id": "near", "state": "OPEN", "eta_band": None}
    [offer] = shell.json("offers")
    shell.ok("accept", offer["id"], "--as", "ana")
    told = shell.json("job", "near", "--role", "customer")
    assert told.keys() == {"id", "state", "eta_band"}
    assert (told["state"], told["eta_band"]) == ("ACCEPTED", offer["eta_band"])
    assert "ana" not in shell.ok("job", "near", "--role", "customer")


def test_two_tenants_never_meet(shell: Shell, site: Path) -> None:
    engine = wiring.open_engine(site / "site.db")
    other = Actor(name="init", role=Role.SUPERVISOR, tenant="other")
    weights = {"w_eta": 1.0, "w_fair": 3.0, "w_slack": 0.25, "eta_band_min": 5}
    founded = records.found_site(
        other, name="Other", zone="Asia/Tokyo", settings="{}", regions=[("main", None)], weights=weights
    )
    engine.store.run("other", founded)
    wiring.close(engine)
    assert shell.json("jobs", "--tenant", "other") == []
    assert shell.json("job", "near", "--tenant", "other", code=1)["error"]["kind"] == "not_found"
    shell.ok("import", "jobs", site / "jobs.csv", "--tenant", "other", "--tz", "Europe/Rome")
    assert shell.json("assign", "near", "--tenant", "other", code=1)["considered"] == []
    [tokyo] = [each for each in shell.json("jobs", "--tenant", "other") if each["id"] == "near"]
    assert tokyo["due_by"] == "2027-03-15T16:30:00.000+09:00"


def test_a_worker_whose_offer_is_over_is_listed_so_until_somebody_sweeps(shell: Shell) -> None:
    holder = shell.json("assign", "near")["offer"]["worker"]
    offer = shell.json("offers")[0]["id"]
    assert f"{offer} lapsed" not in shell.ok("workers")
    shell.ok("clock", "advance", "20s")
    listed = {each["id"]: (each["offer"], each["offer_lapsed"]) for each in shell.json("workers")}
    assert listed[holder] == (offer, True)
    assert {told for each, told in listed.items() if each != holder} == {(None, False)}
    assert f"{offer} lapsed" in shell.ok("workers")
    shell.ok("sweep")
    assert f"{offer} lapsed" not in shell.ok("workers")
