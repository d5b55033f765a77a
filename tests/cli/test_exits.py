"""Exit codes, one-line errors, and stdout that is JSON or nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from console.cli import main as door
from engine.ports import Engine
from tests.cli.conftest import JOBS
from tests.cli.shell import Shell
from tests.conftest import ROOT

WHY = ("--actor", "dora", "--reason", "other", "--note", "said so by telephone")


@pytest.mark.parametrize(
    "command", ["board", "jobs", "workers", "alerts", "offers", "doctor", "sweep", "clock", "audit"]
)
def test_a_wrong_path_is_an_error_and_never_a_new_database(shell: Shell, site: Path, command: str) -> None:
    wrong = site / "nowhere.db"
    ran = shell(command, "--db", wrong)
    assert ran.code == 3
    assert "init" in ran.err + ran.out
    assert not [each for each in site.iterdir() if each.name.startswith("nowhere")]


def test_only_init_creates_and_never_overwrites(shell: Shell, site: Path) -> None:
    before = (site / "site.db").read_bytes()
    ran = shell("init", site / "site.db")
    assert (ran.code, ran.out) == (1, "")
    assert (site / "site.db").read_bytes() == before
    assert shell.json("init", site / "none" / "x.db", code=2)["error"]["kind"] == "usage"


def test_a_refused_site_file_leaves_nothing_behind(shell: Shell, site: Path) -> None:
    (site / "bad.toml").write_text("[lease]\noffer_ttl = 20\n")
    ran = shell("init", site / "new.db", "--site", site / "bad.toml")
    assert ran.code == 1
    assert "offer_ttl" in ran.err
    assert not list(site.glob("*new.db*"))


@pytest.mark.parametrize("content", [b"", b"hello\n", b"SQLite format 3\0" + bytes(100)])
def test_another_file_is_damaged_and_untouched(shell: Shell, site: Path, content: bytes) -> None:
    other = site / "other.db"
    other.write_bytes(content)
    assert shell.json("board", "--db", other, code=3)["error"]["kind"] == "damaged"
    assert other.read_bytes() == content


def test_a_torn_database_is_damaged_in_every_command_and_in_doctor(shell: Shell, site: Path) -> None:
    torn = site / "torn.db"
    torn.write_bytes((site / "site.db").read_bytes()[:9_000])
    assert shell.json("jobs", "--db", torn, code=3)["error"]["kind"] == "damaged"
    told = shell.json("doctor", "--db", torn, code=3)
    assert {each["name"]: each["ok"] for each in told["checks"]}["database"] is False


def test_a_damaged_side_file_is_said(shell: Shell, site: Path) -> None:
    (site / "site.db.fixes").write_bytes(b"rubbish" * 1000)
    assert "site.db.fixes" in shell.json("board", code=3)["error"]["message"]


def test_read_only_refuses_every_change_and_shows_everything(shell: Shell, site: Path) -> None:
    before = (site / "site.db").read_bytes()
    (site / "other.csv").write_text(JOBS.replace("near,", "other,"))
    away = ["absent", "ana", "--from", "now", "--to", "12:00"]
    acts = (["assign", "near"], ["cancel", "near", *WHY], ["clock", "advance", "1s"], ["sweep"], away,
            ["import", "jobs", str(site / "other.csv")])  # fmt: skip
    for act in acts:
        assert shell.json(*act, "--read-only", code=4)["error"]["kind"] == "read_only", act
    for look in (["board"], ["jobs"], ["workers"], ["why", "near"], ["audit", "verify"], ["doctor"]):
        assert shell(*look, "--read-only").code == 0, look
    assert (site / "site.db").read_bytes() == before


@pytest.mark.parametrize(
    "typed",
    [
        ["bored"],
        ["assign"],
        ["board", "--colour"],
        ["accept", "O-1"],
        ["cancel", "near", "--actor", "x", "--reason", "whim", "--note", "because I say so"],
        ["cancel", "near", "--actor", "x", "--reason", "other", "--note", "short"],
        ["cancel", "near", "--reason", "other", "--note", "no actor named here"],
        ["why", "near", "--weights", "w_love=1"],
        ["why", "near", "--weights", "w_fair"],
        ["clock", "advance", "soon"],
        ["clock", "advance"],
        ["clock", "advance", "-5s"],
        ["clock", "advance", "99999999999d"],
        ["clock", "set", "9999-01-01 00:00"],
        ["clock", "set", "2027-03-28 02:30"],
        ["absent", "ana", "--from", "12:00", "--to", "11:00"],
        ["alert", "snooze", "A-1", "--for", "0"],
        ["jobs", "--state", "LOST"],
        ["import", "jobs", "nowhere.csv"],
        ["fixes", "nowhere.jsonl"],
        ["import", "jobs", "jobs.csv", "--map", "nonsense"],
    ],
)
def test_usage_is_2_with_one_line(shell: Shell, site: Path, monkeypatch: pytest.MonkeyPatch, typed: list[str]) -> None:
    monkeypatch.chdir(site)
    ran = shell(*typed)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    told = shell.json(*typed, code=2)["error"]
    assert (told["kind"], told["message"] + "\n") == ("usage", ran.err)


def test_no_database_named_is_usage(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    assert door.main(["board"], shell.parts) == 2
    assert "CALLBOARD_DB" in capsys.readouterr().err


def test_the_database_is_named_before_or_after_or_by_the_environment(
    shell: Shell, site: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    db = str(site / "site.db")
    for typed in (["--db", db, "jobs"], ["jobs", "--db", db], ["--json", "jobs", "--db", db]):
        assert door.main(typed, shell.parts) == 0
    monkeypatch.setenv("CALLBOARD_DB", db)
    assert door.main(["jobs"], shell.parts) == 0
    capsys.readouterr()
    assert door.main(["--db", str(site / "nowhere.db"), "jobs"], shell.parts) == 3


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        (["assign", "nobody"], "not_found"),
        (["job", "nobody"], "not_found"),
        (["why", "nobody"], "not_found"),
        (["cancel", "nobody", *WHY], "not_found"),
        (["override", "near", "nobody", *WHY], "not_found"),
        (["withdraw", "O-NONE", *WHY], "not_found"),
        (["alert", "ack", "A-99"], "not_found"),
        (["takeover", "nowhere", *WHY], "not_found"),
        (["handoff", "ana", "main", *WHY], "invalid"),
        (["override", "near", "cy", *WHY], "forbidden"),
        (["release", "near", *WHY], "stale"),
        (["absent", "ana", "--from", "now", "--to", "09:00", "--role", "dispatcher"], "forbidden"),
        (["board", "--tenant", "elsewhere"], "not_found"),
    ],
)
def test_refusals_are_1_with_their_kind(shell: Shell, typed: list[str], kind: str) -> None:
    ran = shell(*typed)
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert shell.json(*typed, code=1)["error"]["kind"] == kind


def test_an_unforeseen_fault_is_one_line_and_a_log(shell: Shell, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Engine, __: object) -> None:
        raise ZeroDivisionError("at 44.17, 12.2")

    monkeypatch.setattr("engine.verbs.board.board", broken)
    ran = shell("board")
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert "44.17" not in ran.err
    [log] = (site / "state" / "callboard").iterdir()
    assert str(log) in ran.err
    assert "ZeroDivisionError" in log.read_text()
    assert log.stat().st_mode & 0o077 == 0


# --- in a process of its own ---------------------------------------------------------------------------------------


def run(*arguments: str | Path, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, str(ROOT / "run.py"), *map(str, arguments)]
    return subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        check=False,
        env={**os.environ, "CALLBOARD_NO_VENV": "1", **environment},
    )


def test_a_whole_command_from_a_shell_with_json_alone_on_stdout(site: Path) -> None:
    ran = run("board", "--json", "--db", site / "site.db")
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout.startswith(b"{")
    assert ran.stdout.count(b"\n") == 1


def test_fixes_from_a_pipe(site: Path) -> None:
    line = b'{"worker":"ana","device_time":"2027-03-15T07:00:05+01:00","lat":44.17,"lng":12.2}'
    ran = run("fixes", "-", "--db", site / "site.db", stdin=line)
    assert (ran.returncode, ran.stdout) == (0, b"1 fixes kept\n")


def test_no_colour_and_no_escape_where_nobody_looks(site: Path) -> None:
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {}):
        ran = run("board", "--db", site / "site.db", **environment)
        assert b"\x1b" not in ran.stdout + ran.stderr


def test_an_ascii_terminal_is_no_reason_to_fail(site: Path) -> None:
    ran = run("board", "--db", site / "site.db", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert ran.returncode == 0


def test_the_reader_may_leave_early(site: Path) -> None:
    command = f"{sys.executable} {ROOT / 'run.py'} jobs --db {site / 'site.db'} | true"
    ran = subprocess.run(
        command, shell=True, capture_output=True, check=False, env={**os.environ, "CALLBOARD_NO_VENV": "1"}
    )
    assert ran.stderr == b""


def test_the_command_line_starts_lean(site: Path) -> None:
    """`board` imports neither the screen nor the scheduler: that is what keeps its start under 0.4 s."""
    code = (
        "import sys; from console.cli.main import main; from console.cli.parts import Parts;"
        f"main(['board', '--json', '--db', {str(site / 'site.db')!r}], Parts());"
        "sys.stderr.write(' '.join({'textual', 'apscheduler', 'sqlite_utils', 'fixtures'} & sys.modules.keys()))"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
