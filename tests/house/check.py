"""Everything a push needs, in one go: `run.py test`. Each step has a heading and its time; pytest comes last."""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# import-linter has no `-m` door, and the script beside the interpreter breaks when the folder is moved.
CONTRACTS = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
CHECKS: dict[str, list[str]] = {
    "format": ["-m", "ruff", "format", "--check", "."],
    "lint": ["-m", "ruff", "check", "."],
    "types": ["-m", "basedpyright", "--warnings"],
    "contracts": ["-c", CONTRACTS],
}


def passes(name: str, command: list[str]) -> bool:
    """Run one check; what it printed is shown only when it failed."""
    began = time.monotonic()
    answer = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False)
    failed = answer.returncode != 0
    print(f"== {name:<10} {'FAILED' if failed else 'ok'} after {time.monotonic() - began:.1f} s", flush=True)
    if failed:
        print(answer.stdout + answer.stderr, flush=True)
    return not failed


def pytest_command(arguments: list[str]) -> list[str]:
    """`--long` lifts the default mark filter; the whole suite uses both cores, a chosen part runs plainly."""
    rest = [argument for argument in arguments if argument != "--long"]
    everything = ["-m", ""] if "--long" in arguments else []
    return ["-m", "pytest", *everything, *(rest or ["-n", "2", "--dist", "loadfile"])]


def main(arguments: list[str]) -> int:
    """Run every check even when one fails: one run tells all there is to mend."""
    failed = ", ".join(name for name, command in CHECKS.items() if not passes(name, command))
    print(f"== tests{f' (failed so far: {failed})' if failed else ''}", flush=True)
    environment = {**os.environ, "CALLBOARD_CHECKS_FAILED": failed}
    tests = subprocess.run([sys.executable, *pytest_command(arguments)], cwd=ROOT, env=environment, check=False)
    return tests.returncode or (1 if failed else 0)
