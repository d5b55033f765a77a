"""The rehearsal room from the command line, as a trainer and a script meet it."""

from pathlib import Path

import pytest

import run
from console.cli.parts import Parts
from engine.verbs.site import SiteFile
from engine.wiring import create
from fixtures import scenarios
from tests.cli.shell import Shell


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Shell:
    create(tmp_path / "training.db", SiteFile(), training=True)
    return Shell(capsys=capsys, database=tmp_path / "training.db", parts=Parts(rehearse=run.rehearsal_room()))


def test_the_list(shell: Shell) -> None:
    listed = shell.json("rehearse", "--list")
    assert {"name": "zombie-dispatcher", "title": "The zombie dispatcher"} in listed
    assert [each["name"] for each in listed] == list(scenarios.names())
    assert "two-desks-one-job" in shell.ok("rehearse", "--list")


def test_one_scenario_in_plain_words_twice_the_same(shell: Shell) -> None:
    first, second = (shell.ok("rehearse", "two-desks-one-job", "--plain") for _ in range(2))
    assert first == second
    assert scenarios.found("two-desks-one-job").expected.transcript in first
    assert 'rolled back "lost at claim_job"' in first
    assert "questions for the class" in first


def test_every_schedule(shell: Shell) -> None:
    found = shell.json("rehearse", "two-jobs-one-worker", "--every-schedule")
    assert found["violations"] == 0
    assert found["schedules"] == sum(found["outcomes"].values())
    assert found["outcomes"]["exam desk done; lab desk lost at claim_worker"] == 1
    assert "0 violations" in shell.ok("rehearse", "two-jobs-one-worker", "--every-schedule")


def test_naive_beside_the_real_schema(shell: Shell) -> None:
    plain = shell.ok("rehearse", "two-desks-one-job", "--naive")
    assert "double booking: a job is promised to two: exam" in plain
    assert "refused at insert_offer: one_live_offer_a_job" in plain
    found = shell.json("rehearse", "two-desks-one-job", "--naive", "--every-schedule")
    assert (found["violations"], found["schedules"], found["guarded"]["violations"]) == (240, 244, 0)


def test_export_as_text_and_svg(shell: Shell, tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        shell.ok("rehearse", "late-accept", "--naive", "--export", folder)
        shell.ok("rehearse", "late-accept", "--export", folder)
    names = ["late-accept-guarded", "late-accept-naive", "late-accept"]
    assert sorted(each.name for each in folders[0].iterdir()) == sorted(
        f"{name}.{end}" for name in names for end in ("txt", "svg")
    )
    for each in folders[0].iterdir():
        assert each.read_bytes() == (folders[1] / each.name).read_bytes()
    assert "accept_offer" in (folders[0] / "late-accept.svg").read_text()


def test_an_export_asks_the_class_and_keeps_the_answers_for_the_trainer(shell: Shell, tmp_path: Path) -> None:
    script = scenarios.found("two-desks-one-job")
    for folder, notes in (("class", ()), ("trainer", ("--notes",))):
        shell.ok("rehearse", script.name, "--export", tmp_path / folder, *notes)
    given, kept = ((tmp_path / folder / f"{script.name}.txt").read_text() for folder in ("class", "trainer"))
    assert given == shell.ok("rehearse", script.name, "--plain")
    for ask, answer in script.questions:
        assert f"  - {ask}\n" in given
        assert answer not in given
        assert f"  - {ask}\n    {answer}\n" in kept
    assert script.notes.splitlines()[0] in kept
    assert script.notes.splitlines()[0] not in given
    picture = (tmp_path / "class" / f"{script.name}.svg").read_text().replace("&#160;", " ")
    assert script.questions[0][0] in picture
    assert script.questions[0][1][:40] not in picture


def test_a_live_database_is_refused_and_says_why(shell: Shell, tmp_path: Path) -> None:
    create(tmp_path / "live.db", SiteFile(), training=False)
    refused = shell("rehearse", "two-desks-one-job", "--plain", "--db", tmp_path / "live.db")
    assert refused.code == 1
    assert "is a live database" in refused.err
    assert refused.out == ""


def test_usage_and_unknown_names(shell: Shell) -> None:
    assert shell("rehearse").code == 2
    missing = shell.json("rehearse", "two-dexs", "--plain", code=1)
    assert missing["error"]["kind"] == "not_found"


def test_a_file_of_ones_own(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text((scenarios.HERE / "preemption.toml").read_text(encoding="utf-8"), encoding="utf-8")
    assert "lost at start_job" in shell.ok("rehearse", file, "--plain")
