"""B119: however the desk ends, the terminal is as it was, the process is gone, and the database is whole."""

import os
import signal
import time
from pathlib import Path

import pytest

from engine import wiring
from tests.console.terminals import Seat, desk_on, live_site
from tests.leases.invariants import broken

GONE_WITHIN_S = 2.0


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return live_site(tmp_path / "site.db")


def open_dialog(desk: Seat) -> None:
    desk.press("c")
    desk.until("Cancel J-")


def shut(desk: Seat, site: Path) -> int:
    code = desk.ended(GONE_WITHIN_S + 0.5)
    desk.assert_sane()
    assert desk.glass.strange == []
    assert broken(site) == []
    return code


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda how: how.name)
def test_B119_a_signal_while_a_dialog_is_open_gives_the_terminal_back(site: Path, how: signal.Signals) -> None:
    with desk_on(site) as desk:
        desk.until("J-2")
        open_dialog(desk)
        desk.signal(how)
        assert shut(desk, site) == 0


def test_B119_ctrl_c_in_a_dialog_leaves_at_once_and_applies_nothing(site: Path) -> None:
    with desk_on(site) as desk:
        desk.until("J-2")
        open_dialog(desk)
        desk.press("\x03")
        assert shut(desk, site) == 0
    engine = wiring.open_engine(site)
    assert {each.state for each in engine.store.jobs(engine.tenant)} == {"OPEN"}
    wiring.close(engine)


def test_B119_a_closed_window_ends_the_desk(site: Path) -> None:
    with desk_on(site) as desk:
        desk.until("auto here")
        desk.hang_up()
        desk.process.wait(GONE_WITHIN_S + 0.5)
    assert broken(site) == []


def test_B119_kill_9_leaves_the_database_whole(site: Path) -> None:
    with desk_on(site) as desk:
        desk.until("auto here")
        desk.press("s")
        desk.signal(signal.SIGKILL)
        assert desk.ended(GONE_WITHIN_S) == -signal.SIGKILL
    assert broken(site) == []


MOMENTS = {
    "override": ("o", "overrules"),
    "command line": ("/", "tab completes"),
    "many at once": ("  c", "ctrl+s applies"),
    "why": ("w", "As of now"),
    "filter": ("f", "enter keeps"),
    "workers": ("W", "3 workers"),
    "help": ("?", "Keys on"),
}
ENDS = ("TERM", "KILL", "closed", "ctrl+c")
FEW = {"override", "many at once"}


@pytest.mark.parametrize("how", ENDS)
@pytest.mark.parametrize(
    "moment", [each if each in FEW else pytest.param(each, marks=pytest.mark.long) for each in MOMENTS]
)
def test_B119_however_it_ends_in_whatever_is_open_the_terminal_is_sane_and_the_database_whole(
    site: Path, moment: str, how: str
) -> None:
    keys, seen = MOMENTS[moment]
    with desk_on(site) as desk:
        desk.until("J-2")
        desk.press(*keys)
        desk.until(seen)
        if how == "closed":
            desk.hang_up()
            desk.process.wait(GONE_WITHIN_S + 0.5)
        elif how == "KILL":
            desk.signal(signal.SIGKILL)
            assert desk.ended(GONE_WITHIN_S) == -signal.SIGKILL
        else:
            desk.press("\x03") if how == "ctrl+c" else desk.signal(signal.SIGTERM)
            assert shut(desk, site) == 0
    assert broken(site) == []
    engine = wiring.open_engine(site)
    assert {each.state for each in engine.store.jobs(engine.tenant)} == {"OPEN"}
    wiring.close(engine)


@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.1, 0.2, 0.4])
def test_B119_killed_while_it_acts_an_act_is_done_or_not_and_the_next_desk_goes_on(site: Path, after_s: float) -> None:
    with desk_on(site) as desk:
        desk.until("auto here")
        desk.press("s", "j", "s", gap_s=0.01)
        time.sleep(after_s)
        desk.signal(signal.SIGKILL)
        desk.ended(GONE_WITHIN_S)
    assert broken(site) == []
    engine = wiring.open_engine(site)
    assert {each.state for each in engine.store.jobs(engine.tenant)} <= {"OPEN", "OFFERED"}
    wiring.close(engine)


def test_a_stopped_and_continued_desk_goes_on_and_gives_the_terminal_back(site: Path) -> None:
    with desk_on(site) as desk:
        desk.until("auto here")
        desk.signal(signal.SIGSTOP)
        os.waitid(os.P_PID, desk.process.pid, os.WSTOPPED | os.WNOWAIT)
        desk.signal(signal.SIGCONT)
        desk.until("LIVE")
        open_dialog(desk)
        desk.press("\x1b")
        desk.until("left, nothing was changed")
        desk.press("q", "\t")
        desk.signal(signal.SIGTERM)
        assert shut(desk, site) == 0


RAISES = """
import sys
from pathlib import Path
from console.app import run_console
from console.screens.desk import Desk

def bad(desk):
    secret = "41.90,12.49"
    raise ValueError("[/] \\x1b]52;c;aGVsbG8=\\x07 " + str(len(secret)))

Desk.next_order = bad
sys.exit(run_console(Path(sys.argv[1])))
"""


def test_B119_a_fault_in_a_worker_is_in_the_log_whose_path_is_told(site: Path) -> None:
    with Seat(["-c", RAISES, str(site)]) as desk:
        desk.until("auto here")
        desk.press("z")
        code = shut(desk, site)
        said = " ".join(desk.text.split())
    log = site.with_name("site.db.log")
    assert code == 1
    assert "Nothing that was agreed is lost" in said
    assert str(log).replace(" ", "") in said.replace(" ", "")
    assert "ValueError: [/] ␛]52;" in said
    assert "41.90" not in said
    assert "Traceback" in log.read_text("utf-8")
