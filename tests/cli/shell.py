"""A shell for the tests: the real command line on a real database, run in this process, its streams caught."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from console.cli.main import main
from console.cli.parts import Parts


@dataclass(frozen=True, slots=True)
class Ran:
    """What one command did."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout; anything else there fails."""
        assert self.out.endswith("\n")
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)


@dataclass(slots=True)
class Shell:
    """Types commands. ``database``: what --db is told, unless the arguments tell another."""

    capsys: pytest.CaptureFixture[str]
    database: Path
    parts: Parts

    def __call__(self, *arguments: str | Path) -> Ran:
        self.capsys.readouterr()
        told = [str(each) for each in arguments]
        named = [] if "--db" in told or told[:1] == ["init"] else ["--db", str(self.database)]
        code = main([*named, *told], self.parts)
        caught = self.capsys.readouterr()
        assert "Traceback" not in caught.err + caught.out
        return Ran(code, caught.out, caught.err)

    def json(self, *arguments: str | Path, code: int = 0) -> Any:
        """Run with --json; the exit code is checked and the document answered."""
        ran = self(*arguments, "--json")
        assert ran.code == code, ran
        return ran.document

    def ok(self, *arguments: str | Path) -> str:
        ran = self(*arguments)
        assert ran.code == 0, ran
        return ran.out
