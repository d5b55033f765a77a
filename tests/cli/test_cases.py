"""Cases of the field at the command line, named by their ids (cases.tsv)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import JOBS, WORKERS
from tests.cli.shell import Shell
from tests.conftest import ROOT


def test_B047_a_fixed_offset_is_no_zone(shell: Shell, site: Path) -> None:
    told = shell.json("init", site / "new.db", "--zone", "UTC-5", code=1)["error"]
    assert "daylight saving" in told["message"]
    assert not (site / "new.db").exists()
    assert "did you mean" in shell("import", "jobs", site / "jobs.csv", "--tz", "Europe/Roma").err


def test_B049_local_times_are_the_sites_whatever_the_laptop_thinks(site: Path, shell: Shell) -> None:
    head, near, *_ = JOBS.splitlines()
    row = near.replace("near,", "filed,").replace("2027-03-15 07:00", "2027-03-15 08:00")
    (site / "local.csv").write_text(f"{head}\n{row}\n")
    environment = {**os.environ, "CALLBOARD_NO_VENV": "1", "TZ": "Asia/Tokyo"}

    def typed(*arguments: str) -> None:
        command = [sys.executable, str(ROOT / "run.py"), *arguments, "--db", str(site / "site.db"), "--json"]
        subprocess.run(command, env=environment, check=True, capture_output=True)

    preview = shell.json("import", "jobs", site / "local.csv", "--dry-run")
    assert preview["changes"] == ["filed: new, 2027-03-15T08:00:00.000+01:00 to 2027-03-15T08:30:00.000+01:00"]
    typed("import", "jobs", str(site / "local.csv"), "--no-offer")
    typed("create", "job", "--id", "typed", "--type", "visit", "--at", "44.17,12.2", "--from", "2027-03-15 08:00",
          "--due", "09:00")  # fmt: skip
    told = {each["id"]: each for each in shell.json("jobs")}
    assert told["filed"]["not_before"] == told["typed"]["not_before"] == "2027-03-15T08:00:00.000+01:00"
    assert "Mon 15 Mar 08:00" in shell.ok("jobs")
    assert "Europe/Rome" in shell.ok("jobs")


def test_the_same_words_under_a_key_are_the_same_job_whenever_they_are_said(shell: Shell) -> None:
    """ "now" is another instant each time, and 07:30 is over later: a key goes with what was said."""
    typed = ("create", "job", "--type", "visit", "--at", "44.17,12.2", "--due", "07:30", "--key", "k")
    made = shell.json(*typed)
    for span in ("1s", "1h"):
        shell.ok("clock", "advance", span)
        again = shell.json(*typed)
        assert (again["id"], again["replayed"]) == (made["id"], True)
    assert (
        "another body"
        in shell("create", "job", "--type", "visit", "--at", "44.17,12.2", "--due", "09:00", "--key", "k").err
    )
    assert [each["id"] for each in shell.json("jobs") if each["id"].startswith("J-")] == [made["id"]]


def test_B062_the_same_key_with_another_body_is_refused(shell: Shell) -> None:
    typed = ("create", "job", "--type", "visit", "--at", "44.17,12.2", "--due", "09:00", "--key", "k")
    made = shell.json(*typed)["id"]
    told = shell.json(*typed, "--notes", "another", code=1)["error"]
    assert made in told["message"]
    assert "another body" in told["message"]


def test_B071_due_by_is_the_latest_arrival_in_list_decision_and_board(shell: Shell) -> None:
    """due_by 08:30, service 20 min: an arrival minutes from now has all of the window as slack, not 20 min less."""
    made = shell.json("assign", "near")
    slack = made["considered"][0]["slack_min"]
    assert 85 < slack < 90
    [near] = shell.json("jobs", "--state", "OFFERED")
    assert near["slack_min"] == int(slack)


def test_B076_a_column_nobody_knows_is_reported(shell: Shell, site: Path) -> None:
    (site / "staff.csv").write_text(WORKERS.replace("shift_start", "shift_strat"))
    told = shell.json("import", "workers", site / "staff.csv", code=1)
    assert {each["column"] for each in told["rejected"]} >= {"shift_strat"}
    (site / "extra.csv").write_text(WORKERS.replace("capacity", "capacity,shoe_size").replace(",1\n", ",1,42\n"))
    assert any("shoe_size" in each for each in shell.json("import", "workers", site / "extra.csv")["warnings"])


def test_B076_an_unknown_key_of_a_fix_is_reported(shell: Shell, site: Path) -> None:
    line = {"worker": "ana", "device_time": "2027-03-15T07:00:01+01:00", "lat": 44.17, "lng": 12.2, "skill": "s1"}
    (site / "odd.jsonl").write_text(json.dumps(line))
    assert shell.json("fixes", site / "odd.jsonl", code=1)["bad_lines"][0]["field"] == "skill"


def test_B109_the_same_file_twice_changes_nothing_and_says_so(shell: Shell, site: Path, shared: Path) -> None:
    file = shared / "data" / "import_templates" / "locate2u_stop_sheet.csv"
    maps = ("id=StopID", "type==stop", "skills=", "lat==-33.86", "lng==151.2", "not_before==2027-11-30 15:30",
            "due_by=+60", "duration_min=Duration")  # fmt: skip
    typed = ("import", "jobs", file, *(part for each in maps for part in ("--map", each)))
    first = shell.json(*typed, code=1)
    again = shell.json(*typed, code=1)
    assert (first["new"], again["new"], again["changed"], again["unchanged"]) == (2, 0, 0, 2)
    assert "0 new, 0 changed, 2 unchanged" in shell(*typed).out


@pytest.mark.parametrize("text", ["=HYPERLINK(1)", "[bold red]Main St[/]", "[/]", "[link=x]y[/link]", "Łódź, 北京 7"])
def test_B111_B112_an_address_is_shown_to_the_letter(shell: Shell, site: Path, text: str) -> None:
    row = {"id": "odd", "type": "visit", "skills": "s1", "lat": 44.171, "lng": 12.2, "address": text,
           "not_before": "2027-03-15 07:00", "due_by": "2027-03-15 08:30", "duration_min": 5}  # fmt: skip
    (site / "odd.json").write_text(json.dumps([row]))
    shell.ok("import", "jobs", site / "odd.json", "--no-offer")
    for look in (["jobs"], ["board"], ["job", "odd"]):
        assert text in shell.ok(*look), look


def test_B114_brackets_in_every_argument(shell: Shell) -> None:
    for typed in (["job", "["], ["assign", "/["], ["why", "[/"], ["offers", "--job", "["], ["trace", "[", "--job", "[",
                  "--actor", "[", "--out", "x"], ["accept", "[", "--as", "[/]"]):  # fmt: skip
        assert shell(*typed).code == 1, typed
