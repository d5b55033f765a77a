"""What other doors are handed, and how long-running commands end."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from console.cli.main import MODULES, main
from console.cli.parts import DemoOrder, DemoSite, DeskOrder, Parts
from engine.ports import Engine
from tests.cli.shell import Shell
from tests.conftest import ROOT


@dataclass(slots=True)
class Town:
    """A demo site that only remembers."""

    path: Path
    open: bool = True

    def start(self, engine: Engine) -> None: ...

    def stop(self) -> None: ...


@dataclass(slots=True)
class Doors:
    """Parts that note what they were handed."""

    path: Path
    seeds: list[int] = field(default_factory=list[int])
    demos: list[DemoOrder] = field(default_factory=list[DemoOrder])
    shown: list[tuple[Path, bool]] = field(default_factory=list[tuple[Path, bool]])
    orders: list[DeskOrder] = field(default_factory=list[DeskOrder])
    town: Town | None = None

    @contextmanager
    def demo(self, order: DemoOrder) -> Iterator[DemoSite]:
        self.seeds.append(order.seed)
        self.demos.append(order)
        self.town = Town(self.path)
        yield self.town
        self.town.open = False

    def open_console(self, order: DeskOrder) -> int:
        self.shown.append((order.database, order.demo is not None and order.demo is self.town))
        self.orders.append(order)
        return 0

    @property
    def parts(self) -> Parts:
        return Parts(demo=self.demo, open_console=self.open_console)


def test_the_console_opens_on_the_database_that_was_named(shell: Shell, site: Path) -> None:
    doors = Doors(site / "demo.db")
    shell.parts = doors.parts
    shell.ok("console")
    assert doors.shown == [(site / "site.db", False)]


def test_the_desk_is_told_that_it_is_read_only_and_whose(shell: Shell, site: Path) -> None:
    doors = Doors(site / "demo.db")
    shell.parts = doors.parts
    shell.ok("console", "--read-only", "--tenant", "main")
    assert doors.orders == [DeskOrder(database=site / "site.db", read_only=True, tenant="main")]


@pytest.mark.parametrize("typed", [["console"], ["demo"], []])
def test_without_a_database_the_demo_is_shown_and_ended(shell: Shell, site: Path, typed: list[str]) -> None:
    doors = Doors(site / "demo.db")
    assert main(typed, doors.parts) == 0
    assert (doors.seeds, doors.shown) == ([1], [(site / "demo.db", True)])
    assert doors.town is not None
    assert not doors.town.open


def test_a_session_of_the_demo_is_recorded_and_replayed_where_the_trainer_says(shell: Shell, site: Path) -> None:
    doors = Doors(site / "demo.db")
    shell.parts = doors.parts
    (site / "one.toml").write_text("")
    shell.ok("demo", "--seed", 7, "--record", site / "new.toml")
    shell.ok("demo", "--replay", site / "one.toml")
    assert doors.demos == [DemoOrder(seed=7, record=site / "new.toml"), DemoOrder(replay=site / "one.toml")]
    refused = shell("demo", "--replay", site / "one.toml", "--seed", 7)
    assert refused.code == 2
    assert "the recording names its own" in refused.err


def test_a_wrong_path_is_said_before_the_screen_is_taken(shell: Shell, site: Path) -> None:
    doors = Doors(site / "demo.db")
    shell.parts = doors.parts
    assert shell("console", "--db", site / "nowhere.db").code == 3
    assert not doors.shown


def test_a_database_without_a_command_is_the_console(shell: Shell, site: Path) -> None:
    doors = Doors(site / "demo.db")
    shell.parts = doors.parts
    assert shell().code == 0
    assert doors.shown == [(site / "site.db", False)]
    assert shell("--json").code == 2


def test_watch_follows_until_ctrl_c(shell: Shell, site: Path) -> None:
    command = [sys.executable, str(ROOT / "run.py"), "watch", "--db", str(site / "site.db")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "CALLBOARD_NO_VENV": "1"}
    ) as watch:
        assert watch.stdout is not None
        assert "found site" in watch.stdout.readline()
        shell.ok("assign", "near")
        deadline = time.monotonic() + 30
        while "offer near ana" not in watch.stdout.readline():
            assert time.monotonic() < deadline
        watch.send_signal(signal.SIGINT)
        _, said = watch.communicate(timeout=30)
    assert (watch.returncode, said) == (0, "")


def test_a_worker_asks_for_what_is_offered(shell: Shell) -> None:
    assert shell.json("offers", "--as", "ana") == []
    made = shell.json("assign", "near")["offer"]["id"]
    [asked] = shell.json("offers", "--as", "ana")
    assert asked["id"] == made
    assert shell.json("offers", "--as", "ben") == []


def test_every_command_has_help_with_an_example(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--help"], Parts())
    overview = capsys.readouterr().out.partition("Options:")[2]
    assert "..." not in overview
    for name in MODULES:
        assert f"  {name} " in overview
        assert main([name, "--help"], Parts()) == 0
        told = capsys.readouterr().out
        assert "Example:" in told or "Commands:" in told, name


def test_a_small_day_is_replayed_by_what_run_py_hands_over(site: Path) -> None:
    command = [sys.executable, str(ROOT / "run.py"), "replay", "--jobs", str(site / "jobs.csv"), "--workers",
               str(site / "workers.csv"), "--json"]  # fmt: skip
    ran = subprocess.run(command, capture_output=True, check=True, env={**os.environ, "CALLBOARD_NO_VENV": "1"})
    assert ran.stderr == b""
    told = json.loads(ran.stdout)
    assert told["jobs"] == told["on_time"] + told["missed"] + told["cancelled"] == 4
    assert told["double_bookings"] == 0
    assert told["late_minutes"].keys() == {"p50", "p95"}


def test_the_console_in_a_pipe_is_refused_before_anything_is_set_up() -> None:
    command = [sys.executable, str(ROOT / "run.py")]
    ran = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        env={**os.environ, "CALLBOARD_NO_VENV": "1", "CALLBOARD_DB": ""},
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "needs a terminal" in ran.stderr


def test_what_is_wrong_with_a_recording_is_said_before_that_there_is_no_terminal(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('seed = "x"\n', "utf-8")
    ran = subprocess.run(
        [sys.executable, str(ROOT / "run.py"), "demo", "--replay", str(tmp_path / "bad.toml")], capture_output=True,
        stdin=subprocess.DEVNULL, text=True, check=False, env={**os.environ, "CALLBOARD_NO_VENV": "1"},
    )  # fmt: skip
    assert "bad.toml: seed = 'x'" in ran.stderr
    assert "terminal" not in ran.stderr
