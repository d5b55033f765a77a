"""Attachments of a job, from the command line: put in, changed, shown, and never a state (SPEC, intro)."""

import json
from pathlib import Path

from tests.cli.conftest import JOBS
from tests.cli.shell import Shell


def attached(shell: Shell, job: str) -> dict[str, str]:
    return json.loads(shell.json("job", job)["attachments"])


def test_a_code_is_attached_at_the_start_and_a_proof_when_it_is_done(shell: Shell) -> None:
    typed = ("create", "job", "--id", "x1", "--type", "visit", "--at", "44.17,12.2", "--due", "08:30", "--key", "k")
    shell.ok(*typed, "--attach", "code=4711", "--attach", "gate=north=2")
    assert shell.json(*typed, "--attach", "code=4711", "--attach", "gate=north=2")["replayed"]
    assert attached(shell, "x1") == {"code": "4711", "gate": "north=2"}
    told = shell.json("attach", "x1", "signed=E. Møss", "gate=", "--note", "told at the door")
    assert told == {"id": "x1", "attachments": '{"code":"4711","signed":"E. Møss"}'}
    assert 'attached: {"code":"4711","signed":"E. Møss"}' in shell.ok("job", "x1")
    newest = shell.json("audit")[-1]
    assert (newest["act"], newest["note"]) == ("annotate job", "told at the door")


def test_they_change_no_state_and_a_job_that_ended_takes_them_too(shell: Shell) -> None:
    why = ("--reason", "customer", "--note", "said so on the telephone", "--actor", "dora")
    for step in (("assign", "near"), ("attach", "near", "a=1"), ("cancel", "near", *why)):
        shell.ok(*step)
    before = shell.json("job", "near")["job"]["state"]
    shell.ok("attach", "near", "b=2")
    assert (shell.json("job", "near")["job"]["state"], attached(shell, "near")) == (before, {"a": "1", "b": "2"})


def test_what_cannot_be_attached_is_refused_by_name(shell: Shell) -> None:
    assert shell("attach", "near", "code").code == 2
    assert shell("attach", "near", "=7").code == 2
    assert shell.json("attach", "nobody", "a=1", code=1)["error"]["kind"] == "not_found"
    assert "more than 4,000" in shell.json("attach", "near", f"a={'x' * 4_000}", code=1)["error"]["message"]
    assert "a key has 1 to 60" in shell.json("attach", "near", f"{'x' * 61}=1", code=1)["error"]["message"]
    assert attached(shell, "near") == {}


def test_a_file_without_the_column_takes_none_away_and_an_empty_cell_does(shell: Shell, site: Path) -> None:
    shell.ok("attach", "near", "code=7")
    assert shell.json("import", "jobs", site / "jobs.csv", "--no-offer")["unchanged"] == 4
    assert attached(shell, "near") == {"code": "7"}
    head, first, *_ = JOBS.splitlines()
    (site / "less.csv").write_text(f"{head},attachments,notes\n{first},,ring twice\n")
    told = shell.json("import", "jobs", site / "less.csv", "--dry-run")
    assert (told["changed"], told["changes"]) == (1, ["near: notes, attachments"])
    shell.ok("import", "jobs", site / "less.csv", "--no-offer")
    assert (attached(shell, "near"), shell.json("job", "near")["notes"]) == ({}, "ring twice")
