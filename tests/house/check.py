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


def run_step(name: str, command: list[str], environment: dict[str, str] | None = None) -> int:
    print(f"== {name}", flush=True)
    began = time.monotonic()
    code = subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, check=False).returncode
    if name != "tests":  # pytest tells its own time, and its summary stays the last line
        print(f"   {name} {'failed' if code else 'ok'} after {time.monotonic() - began:.1f} s\n", flush=True)
    return code


def pytest_command(arguments: list[str]) -> list[str]:
    """`--long` lifts the default mark filter; the whole suite uses both cores, a chosen part runs plainly."""
    rest = [argument for argument in arguments if argument != "--long"]
    everything = ["-m", ""] if "--long" in arguments else []
    return ["-m", "pytest", *everything, *(rest or ["-n", "2"])]


def main(arguments: list[str]) -> int:
    """Run every check even when one fails: one run tells all there is to mend."""
    failed = [name for name, command in CHECKS.items() if run_step(name, command)]
    environment = {**os.environ, "CALLBOARD_CHECKS_FAILED": ", ".join(failed)}
    if failed:
        print(f"failed so far: {', '.join(failed)}\n", flush=True)
    tests = run_step("tests", pytest_command(arguments), environment)
    return tests or (1 if failed else 0)
