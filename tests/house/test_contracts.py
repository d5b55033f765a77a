"""What import-linter cannot see: what is really loaded when a room is imported in a process of its own."""

import importlib.util
import subprocess
import sys

import pytest

from tests.conftest import ROOT

IMPORT_ALL = """
import importlib, pkgutil, sys
package = importlib.import_module({room!r})
for module in pkgutil.walk_packages(package.__path__, {room!r} + "."):
    importlib.import_module(module.name)
print(*sorted({{name.partition(".")[0] for name in sys.modules}}))
"""


def loaded(code: str) -> set[str]:
    """The top-level packages in a fresh interpreter after the code; warnings are errors there too."""
    line = [sys.executable, "-W", "error", "-c", code]
    answer = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    return set(answer.stdout.split())


def test_the_engine_has_no_face() -> None:
    # httpx loads click and rich for its own command line where they are installed; textual is what would cost.
    assert loaded(IMPORT_ALL.format(room="engine")).isdisjoint({"textual", "console", "fixtures"})


def test_the_rules_need_nothing_but_h3() -> None:
    drivers = {"sqlite3", "httpx", "apscheduler", "msgspec", "sqlite_utils"}
    assert loaded(IMPORT_ALL.format(room="engine.rules")).isdisjoint(drivers)


def test_the_command_line_starts_without_textual() -> None:
    if not importlib.util.find_spec("console.cli.main"):
        pytest.skip("no command line yet")
    code = "import sys, console.cli.main; print(*{name.partition('.')[0] for name in sys.modules})"
    assert "textual" not in loaded(code)
