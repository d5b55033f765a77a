"""The style as a test: sizes, names, and what must never be in a committed file."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

FILE_LINES = 400
FUNCTION_LINES = 60
# A name that says nothing about the room it is in.
EMPTY_NAMES = {"utils", "util", "common", "helpers", "helper", "manager", "service", "services", "misc"}
# Joined here, so that this file does not hold what it looks for.
REGISTRY_HOSTS = [
    ".".join(host)
    for host in (
        ("pypi", "org"),
        ("python" + "hosted", "org"),
        ("npm" + "js", "org"),
        ("npm" + "js", "com"),
        ("deb", "debian", "org"),
        ("proxy", "golang", "org"),
    )
]
MACHINE_PATH = re.compile(r"(?<![\w./}~-])/(?:" + "|".join(["work", "root", "tmp", "home"]) + r")/[\w.]")
OTHER_LOCKS = {"uv.lock", "pylock.toml", "poetry.lock", "Pipfile.lock", "package-lock.json"}
STATEMENT = re.compile(r"^-- name: *(.*)$", re.MULTILINE)
VERB_NOUN = re.compile(r"[a-z]+(_[a-z0-9]+)+")


def committed() -> list[Path]:
    """Tracked files and those about to be: whatever git does not ignore."""
    ask = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(ask, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git work tree")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def python_files() -> list[Path]:
    return [path for path in committed() if path.suffix == ".py"]


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def text_of(path: Path) -> str:
    """The text of a file, or nothing for a picture or another binary."""
    raw = path.read_bytes()
    return "" if b"\0" in raw[:8000] else raw.decode("utf-8", errors="replace")


def test_files_stay_short() -> None:
    rooms = [path for path in python_files() if not short(path).startswith("tests/")]
    long = {short(path): n for path in rooms if (n := len(path.read_text(encoding="utf-8").splitlines())) >= FILE_LINES}
    assert long == {}


def test_functions_stay_short() -> None:
    long = {
        f"{short(path)}:{node.lineno} {node.name}": lines
        for path in python_files()
        for node in functions(path)
        if (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES
    }
    assert long == {}


def test_names_say_what_is_in_the_room() -> None:
    stems = {short(path): {*path.relative_to(ROOT).parts[:-1], path.stem} for path in python_files()}
    assert {name: bad for name, parts in stems.items() if (bad := parts & EMPTY_NAMES)} == {}


def test_no_annotations_import() -> None:
    line = "from __future__ import " + "annotations"
    assert [short(path) for path in python_files() if line in path.read_text(encoding="utf-8")] == []


def test_no_file_names_a_registry_or_a_machine() -> None:
    found = [
        f"{short(path)}:{number}: {line.strip()[:120]}"
        for path in committed()
        for number, line in enumerate(text_of(path).splitlines(), start=1)
        if MACHINE_PATH.search(line) or any(host in line for host in REGISTRY_HOSTS)
    ]
    assert found == []


def test_there_is_one_lock_and_every_line_of_it_is_hashed() -> None:
    assert [short(path) for path in committed() if path.name in OTHER_LOCKS] == []
    lock = (ROOT / "requirements.lock").read_text()
    assert "://" not in lock
    entries = re.split(r"\n(?=\S)", lock.strip())
    assert [entry for entry in entries if not entry.startswith("#") and "--hash=sha256:" not in entry] == []


def statements() -> dict[str, list[str]]:
    """name → every body under it, of all the files that hold named statements."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "engine" / "store").glob("*.sql")):
        _, *rest = STATEMENT.split(path.read_text(encoding="utf-8"))
        for name, body in zip(rest[::2], rest[1::2], strict=True):
            found.setdefault(name.strip(), []).append(body)
    return found


def test_every_statement_has_one_name_that_says_what_it_does() -> None:
    assert [name for name in statements() if not VERB_NOUN.fullmatch(name)] == []
    assert [name for name, bodies in statements().items() if len(bodies) > 1] == []


def test_every_statement_is_bound_to_a_tenant_or_says_why_not() -> None:
    """`-- no tenant: reason` under the name is the way out, for the clock and the like."""
    bodies = {name: bodies[0] for name, bodies in statements().items()}
    loose = [name for name, body in bodies.items() if ":tenant_id" not in body and "-- no tenant: " not in body]
    assert loose == []
