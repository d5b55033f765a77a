"""What every test shares: the folder of given material, steady hypothesis runs, and readable snapshots."""

import os
from pathlib import Path

import pytest
import pytest_textual_snapshot
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
pytest_plugins = ["tests.routers"]

# syrupy 5 renamed the attribute by which plugin 1.0.0 asks for .svg; without this the snapshots end in .raw.
pytest_textual_snapshot.SVGImageExtension.file_extension = "svg"

# Noisy two-core machines: no deadline, and the same examples on each run, so a red run can be repeated.
settings.register_profile("house", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The given material beside the project (cases, real data); tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("CALLBOARD_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"needs the given material in {folder} (or $CALLBOARD_SHARED)")
    return folder


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """`run.py test` names the checks that failed before pytest here, where the last screen shows them."""
    if failed := os.environ.get("CALLBOARD_CHECKS_FAILED"):
        terminalreporter.section("failed before the tests", red=True)
        terminalreporter.write_line(failed)
