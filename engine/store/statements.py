"""The loader of statements.sql and of the schema: each statement by its name, each schema by its dialect."""

import re
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
SCHEMA = HERE.parent.parent / "dispatch.db.sql"
VERSION = 2
"""The schema's version (user_version): raised with every change of dispatch.db.sql that needs a migration."""


@cache
def statements() -> dict[str, str]:
    """Every statement of statements.sql by its name."""
    return named((HERE / "statements.sql").read_text(encoding="utf-8"))


def named(text: str) -> dict[str, str]:
    """The statements of a text by the names in its ``-- name:`` lines."""
    parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)[1:]
    bodies = (re.sub(r"\n-- [^\n]*-{5,}\n?$", "", body.strip()) for body in parts[1::2])
    return {name: body.strip().rstrip(";") for name, body in zip(parts[::2], bodies, strict=True)}


def schema(*dialects: str) -> str:
    """The shared schema in SQLite's words (strict tables) with the named dialect tails."""
    shared, *rest = re.split(r"^-- dialect: (\w+)\n", SCHEMA.read_text(encoding="utf-8"), flags=re.MULTILINE)
    tails = dict(zip(rest[::2], rest[1::2], strict=True))
    text = "\n".join([shared, *(tails[name] for name in dialects)])
    text = re.sub(r"(CREATE TABLE .*?\));\n", r"\1 STRICT;\n", text, flags=re.DOTALL)
    return text.replace("BIGINT", "INTEGER").replace("DOUBLE PRECISION", "REAL")


def table(name: str) -> str:
    """The one statement of the schema that makes this table, in SQLite's words; for a database made before it."""
    found = re.search(rf"^CREATE TABLE {name} \(.*?\) STRICT;", schema(), flags=re.MULTILINE | re.DOTALL)
    assert found is not None, name
    return found[0]
