"""A small training site, made once and copied for each test: three workers, four jobs, fresh positions."""

import json
import shutil
from pathlib import Path

import pytest

from console.cli.main import main
from console.cli.parts import Parts
from tests.cli.shell import Shell

NOW = "2027-03-15T07:00:00+01:00"
WORKERS = """id,name,skills,lat,lng,shift_start,shift_end,capacity
ana,Ana Bell,s1,44.170,12.200,2027-03-15 06:00,2027-03-15 18:00,1
ben,Ben Ost,s1,44.190,12.200,2027-03-15 06:00,2027-03-15 18:00,1
cy,Cy Dorn,s2,44.172,12.200,2027-03-15 06:00,2027-03-15 18:00,1
"""
JOBS = """id,type,skills,lat,lng,not_before,due_by,duration_min,priority,address
near,visit,s1,44.171,12.201,2027-03-15 07:00,2027-03-15 08:30,20,1,Via Roma 1
soon,visit,s1,44.180,12.201,2027-03-15 07:00,2027-03-15 08:00,20,1,Via Roma 2
urgent,visit,s1,44.175,12.201,2027-03-15 07:00,2027-03-15 08:30,20,5,Via Roma 3
hard,visit,s9,44.175,12.201,2027-03-15 07:00,2027-03-15 07:45,20,1,Via Roma 4
"""
PLACES = {"ana": 44.170, "ben": 44.190, "cy": 44.172}


def fix_lines(at: str) -> str:
    return "".join(
        json.dumps({"worker": worker, "device_time": at, "lat": lat, "lng": 12.2, "accuracy": 5}) + "\n"
        for worker, lat in PLACES.items()
    )


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site that was set up by the commands a person types."""
    folder = tmp_path_factory.mktemp("site")
    db = folder / "site.db"
    (folder / "workers.csv").write_text(WORKERS)
    (folder / "jobs.csv").write_text(JOBS)
    (folder / "fixes.jsonl").write_text(fix_lines(NOW))
    steps = (
        ["init", str(db), "--training", "--zone", "Europe/Rome", "--name", "Cesena"],
        ["clock", "set", NOW, "--db", str(db)],
        ["import", "workers", str(folder / "workers.csv"), "--db", str(db)],
        ["import", "jobs", str(folder / "jobs.csv"), "--no-offer", "--db", str(db)],
        ["fixes", str(folder / "fixes.jsonl"), "--db", str(db)],
    )
    for step in steps:
        assert main(step, Parts()) == 0, step
    return folder


@pytest.fixture
def site(made: Path, tmp_path: Path) -> Path:
    """A copy of its own for one test."""
    for each in made.iterdir():
        shutil.copy(each, tmp_path / each.name)
    return tmp_path


@pytest.fixture
def shell(site: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("XDG_STATE_HOME", str(site / "state"))
    monkeypatch.setenv("COLUMNS", "200")  # parallel runs set 80, where cells are folded
    for name in ("CALLBOARD_DB", "CALLBOARD_ACTOR"):
        monkeypatch.delenv(name, raising=False)
    return Shell(capsys, site / "site.db", Parts())
