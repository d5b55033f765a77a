"""run.py on a fresh machine: real environments, real subprocesses, and a package that the test builds."""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import run
from tests.conftest import ROOT

PROBE = "callboard_probe"
DOOR = """
import sys
def main(arguments, parts):
    absent = ("replay", "open_console", "demo", "bench", "rehearse", "open_room")
    assert parts == dict.fromkeys(absent), parts
    import callboard_probe
    print(sys.prefix, *arguments)
    return 3
"""


def build_wheel(folder: Path) -> Path:
    """The smallest wheel that pip installs."""
    info = f"{PROBE}-1.0.dist-info"
    files = {
        f"{PROBE}.py": "",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {PROBE}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = ""
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(text)}\n"
    wheel = folder / f"{PROBE}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
            archive.writestr(name, text)
    return wheel


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A copy of run.py on a machine that has nothing but Python, one package to fetch and one door to open."""
    shutil.copy(ROOT / "run.py", tmp_path)
    wheel_hash = hashlib.sha256(build_wheel(tmp_path).read_bytes()).hexdigest()
    (tmp_path / "requirements.lock").write_text(f"{PROBE}==1.0 \\\n    --hash=sha256:{wheel_hash}\n")
    (tmp_path / "console" / "cli").mkdir(parents=True)
    (tmp_path / "console" / "cli" / "main.py").write_text(DOOR)
    (tmp_path / "console" / "cli" / "parts.py").write_text("Parts = dict")
    return tmp_path


def command(fresh: Path, *arguments: str, prelude: str = "") -> tuple[list[str], dict[str, str]]:
    environment = {key: value for key, value in os.environ.items() if key not in ("CALLBOARD_NO_VENV", "PYTHONPATH")}
    environment |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(fresh)}
    begin = ["-c", f"{prelude}; sys.path.insert(0, {str(fresh)!r}); import run; sys.exit(run.start())"]
    return [sys.executable, *(begin if prelude else [str(fresh / "run.py")]), *arguments], environment


def start(fresh: Path, *arguments: str, prelude: str = "") -> subprocess.CompletedProcess[str]:
    line, environment = command(fresh, *arguments, prelude=prelude)
    return subprocess.run(line, env=environment, cwd=fresh.parent, capture_output=True, text=True, check=False)


def test_a_fresh_machine_is_set_up_once_and_two_starts_at_once_share_the_work(fresh: Path) -> None:
    line, environment = command(fresh, "board", "--json")
    pair = [
        subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    outputs = [process.communicate() for process in pair]
    assert [process.returncode for process in pair] == [3, 3], outputs
    assert [out for out, _ in outputs] == [f"{fresh / '.venv'} board --json\n"] * 2
    assert sum("Setting up" in said for _, said in outputs) == 1

    later = start(fresh, "board")
    assert (later.returncode, later.stderr) == (3, "")

    lock = fresh / "requirements.lock"
    lock.write_text(lock.read_text() + "# renewed\n")
    refreshed = start(fresh, "board")
    assert refreshed.returncode == 3
    assert "Setting up" in refreshed.stderr
    assert "making .venv" not in refreshed.stderr


def test_a_failing_pip_shows_its_last_lines_and_leaves_no_stamp(fresh: Path) -> None:
    (fresh / f"{PROBE}-1.0-py3-none-any.whl").unlink()
    failed = start(fresh, "board")
    assert failed.returncode == 1
    assert f"No matching distribution found for {PROBE}==1.0" in failed.stderr
    assert "run the same command again" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert not run.is_ready(fresh / ".venv", fresh / "requirements.lock")


def test_without_venv_it_says_the_line_to_type(fresh: Path) -> None:
    answer = start(fresh, "board", prelude="import sys; sys.modules['ensurepip'] = None")
    assert answer.returncode == 2
    assert f"apt install python3.{sys.version_info[1]}-venv" in answer.stderr
    assert not (fresh / ".venv").exists()


def test_an_old_python_is_told_so(fresh: Path) -> None:
    answer = start(fresh, prelude="import sys; sys.version_info = (3, 9, 2)")
    assert answer.returncode == 2
    assert answer.stderr == "callboard needs Python 3.11 or newer; this is 3.9.\n"


def test_no_venv_is_made_where_one_is_not_wanted(fresh: Path) -> None:
    line, environment = command(fresh, "board")
    (fresh / f"{PROBE}.py").touch()
    direct = subprocess.run(
        line, env={**environment, "CALLBOARD_NO_VENV": "1"}, capture_output=True, text=True, check=False
    )
    assert direct.stdout == f"{sys.prefix} board\n"
    assert not (fresh / ".venv").exists()


def test_the_stamp_stands_for_one_lock_and_one_python(tmp_path: Path) -> None:
    lock, venv = tmp_path / "requirements.lock", tmp_path / ".venv"
    lock.write_text("a==1\n")
    assert not run.is_ready(venv, lock)
    run.python_of(venv).parent.mkdir(parents=True)
    run.python_of(venv).touch()
    (venv / run.STAMP).write_text(f"{run.digest(lock)} 3.11")
    assert run.is_ready(venv, lock)
    assert run.is_ready(venv, lock, "3.11")
    assert not run.is_ready(venv, lock, "3.12")
    lock.write_text("a==2\n")
    assert not run.is_ready(venv, lock)


def test_progress_never_counts_beyond_its_total(capsys: pytest.CaptureFixture[str]) -> None:
    run.show_pip(iter([f"Collecting p{n}\n" for n in range(13)]), 12)
    told = capsys.readouterr().err
    assert "12/12" in told
    assert "13/12" not in told


def test_this_environment_is_the_locked_one() -> None:
    wanted = run.pins(ROOT / "requirements.lock")
    assert {"textual", "h3", "httpx", "sqlite-utils", "rich", "apscheduler"} <= set(wanted)
    assert "colorama" not in wanted  # only with a marker
    assert run.has_packages(wanted)
    assert not run.has_packages({**wanted, "h3": "0.0.1"})
    assert not run.has_packages({"callboard-no-such-package": "1"})
