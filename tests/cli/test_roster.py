"""The roster by files and options: whose it is, and who comes back (SPEC 9)."""

from pathlib import Path

import pytest

from tests.cli.conftest import WORKERS
from tests.cli.shell import Shell

DORA = (
    "create",
    "worker",
    "--id",
    "dora",
    "--name",
    "Dora",
    "--home",
    "44.17,12.2",
    "--from",
    "06:00",
    "--to",
    "18:00",
)


@pytest.mark.parametrize("act", ["import workers", "import areas", "create worker"])
def test_a_dispatcher_changes_no_roster_by_a_file_or_by_options(shell: Shell, site: Path, act: str) -> None:
    (site / "staff.csv").write_text(WORKERS.replace("ana,Ana Bell,s1", "ana,Ana Bell,s1;surgeon"))
    (site / "areas.json").write_text('{"type":"FeatureCollection","features":[]}')
    typed = {
        "import workers": ("import", "workers", site / "staff.csv"),
        "import areas": ("import", "areas", site / "areas.json"),
        "create worker": DORA,
    }[act]
    before = shell.json("workers")
    refused = shell.json(*typed, "--role", "dispatcher", code=1)["error"]
    assert (refused["kind"], refused["message"]) == ("forbidden", "dispatchers may not roster")
    assert shell.json("workers") == before
    shell.ok(*typed)


def test_jobs_are_a_dispatchers_to_import_and_the_default_role_is_in_the_audit(shell: Shell, site: Path) -> None:
    (site / "more.csv").write_text((site / "jobs.csv").read_text().replace("near,", "near2,"))
    shell.ok("import", "jobs", site / "more.csv", "--no-offer")
    (site / "staff.csv").write_text(WORKERS.replace("Ana Bell", "Ana Bella"))
    shell.ok("import", "workers", site / "staff.csv")
    rows = {each["act"]: each["role"] for each in shell.json("audit")}
    assert (rows["create job"], rows["amend worker"]) == ("dispatcher", "supervisor")


@pytest.mark.parametrize("way", ["import", "create"])
def test_a_worker_who_left_comes_back_by_a_file_or_by_options(shell: Shell, site: Path, way: str) -> None:
    shell.ok("shift", "ana", "--from", "2027-03-16 06:00", "--to", "2027-03-16 18:00")
    shell.ok("leave", "ana")
    assert [each["id"] for each in shell.json("workers")] == ["ben", "cy"]
    if way == "import":
        (site / "back.csv").write_text(WORKERS.replace("ana,Ana Bell,s1", "ana,Ana Bell,s1;s2"))
        told = shell.json("import", "workers", site / "back.csv")
        assert (told["new"], told["changed"], told["unchanged"], told["rejected"]) == (0, 1, 2, [])
    else:
        again = ("--id", "ana", "--name", "Ana Bell", "--skill", "s1", "--skill", "s2", "--home", "44.17,12.2")
        assert "ana" in shell.ok("create", "worker", *again, "--from", "06:00", "--to", "18:00")
    [ana] = [each for each in shell.json("workers") if each["id"] == "ana"]
    assert sorted(ana["skills"]) == ["s1", "s2"]
    assert [each["act"] for each in shell.json("audit")][-2:] == ["archive worker", "worker back"]
    shell.ok("fixes", site / "fixes.jsonl")
    assert "ana" in shell.ok("assign", "near")
