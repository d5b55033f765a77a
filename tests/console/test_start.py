"""The start and the end: a skeleton before the engine, and a terminal given back."""

import subprocess
import sys
from pathlib import Path

from engine import wiring
from engine.verbs.site import SiteFile
from tests.conftest import ROOT

HEAVY = ("h3", "httpx", "apscheduler", "sqlite3", "sqlite_utils", "numpy", "argon2", "engine.index", "engine.ports")
TO_THE_SCREEN = """
import sys
from pathlib import Path
import run
from console.cli.main import main
from console.cli.parts import DeskOrder, Parts
def open_console(order):
    import console.app
    print([each for each in {heavy!r} if each in sys.modules], "console.screens.desk" in sys.modules)
    return 0
sys.exit(main(["console", "--db", sys.argv[1]], Parts(open_console=open_console, rehearse=run.rehearsal_room())))
"""


def test_the_first_paint_waits_for_none_of_the_engines_libraries(tmp_path: Path) -> None:
    """As the command line goes to it, on a database that is there."""
    wiring.create(tmp_path / "site.db", SiteFile(), training=False)
    ask = [sys.executable, "-c", TO_THE_SCREEN.format(heavy=HEAVY), str(tmp_path / "site.db")]
    told = subprocess.run(ask, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert told.stdout.strip() == "[] True"


RUN = """
import sys
from pathlib import Path
from console.app import Console, Changed
from console.behind import Behind
behind = Behind(Path(sys.argv[1]))
class Once(Console):
    def on_changed(self):
        super().on_changed()
        if self.behind.snap is not None and self.behind.snap.rounds == "here":
            self.exit(0)
code = Once(behind).run(headless=True, size=(80, 24))
import time
began = time.monotonic()
ended = behind.stop(1.0)
print(code, ended, time.monotonic() - began < 1.5)
"""


def test_the_threads_behind_open_read_dispatch_and_end_within_a_second(tmp_path: Path) -> None:
    wiring.create(tmp_path / "site.db", SiteFile(), training=False)  # a live site: only such a one is dispatched
    told = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path / "site.db")], cwd=ROOT, capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    assert told.stdout.splitlines()[-1:] == ["0 True True"], told.stderr[-2000:]


def test_a_missing_database_ends_the_desk_with_a_line_and_code_3(tmp_path: Path) -> None:
    ask = """
import sys
from pathlib import Path
from console.app import Console
from console.behind import Behind
behind = Behind(Path(sys.argv[1]))
app = Console(behind)
print(app.run(headless=True, size=(80, 24)), behind.stop(1.0))
"""
    told = subprocess.run(
        [sys.executable, "-c", ask, str(tmp_path / "none.db")], cwd=ROOT, capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    assert "no such database" in " ".join((told.stdout + told.stderr).split())
    assert "3 True" in told.stdout
    assert not (tmp_path / "none.db").exists()
