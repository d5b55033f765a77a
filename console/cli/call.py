"""What every command shares: --db, --tenant, --json (before or after its name), who acts, and an open engine."""

import getpass
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from console.cli.parts import Parts

if TYPE_CHECKING:
    from engine.ports import Engine
    from engine.rules.nouns import Actor
    from engine.settings import Tables

F = TypeVar("F", bound=Callable[..., object])
DESK_ROLES = ("dispatcher", "supervisor")  # engine.rules.nouns.Role; help and the desk's first paint need no engine


@dataclass(slots=True)
class Call:
    """One run of the command line: filled from the options as they are read."""

    parts: Parts = field(default_factory=Parts)
    database: Path | None = None
    tenant: str | None = None
    as_json: bool = False
    read_only: bool = False

    def names_database(self) -> bool:
        return self.database is not None or bool(os.environ.get("CALLBOARD_DB"))

    def path(self) -> Path:
        """The database meant. Raises UsageError where none was named."""
        named = self.database or (Path(told) if (told := os.environ.get("CALLBOARD_DB")) else None)
        if named is None:
            raise click.UsageError("no database named: say --db FILE, or set CALLBOARD_DB (`init` makes one)")
        return named


@contextmanager
def opened(call: Call, *, writing: bool = True, overrides: "Tables | None" = None) -> "Generator[Engine]":
    """The engine on the database that was named; nothing is ever created. Raises Damaged, NotFound, UsageError."""
    from engine import wiring  # late: help and usage errors need no engine

    engine = wiring.open_engine(
        call.path(), tenant=call.tenant, readonly=call.read_only or not writing, overrides=overrides
    )
    try:
        yield engine
    finally:
        wiring.close(engine)


def actor(engine: "Engine", name: str | None, role: str = "dispatcher") -> "Actor":
    """Who acts, for the audit: the name given, else the one this machine knows the person by."""
    from engine.rules.nouns import Actor, Role

    return Actor(name=name or _login(), role=Role(role), tenant=engine.tenant)


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


# --- options -----------------------------------------------------------------------------------------------------


def shared(command: F) -> F:
    """The options every command takes, and the call as its first argument."""
    for option in (
        click.option("--json", is_flag=True, expose_value=False, callback=_json, help="One JSON document on stdout."),
        click.option("--tenant", metavar="NAME", expose_value=False, callback=_tenant,
                     help="The tenant, where the database holds several (the first one else)."),
        click.option("--read-only", is_flag=True, expose_value=False, callback=_read_only,
                     help="Open the database so that nothing can be changed (exit 4 when it would be)."),
        click.option("--db", metavar="FILE", type=click.Path(path_type=Path), expose_value=False, callback=_database,
                     help="The database (else $CALLBOARD_DB). It has to exist."),
    ):  # fmt: skip
        command = option(command)
    return command


def _call(ctx: click.Context) -> Call:
    return ctx.ensure_object(Call)


def _json(ctx: click.Context, _: click.Parameter, told: bool) -> None:
    _call(ctx).as_json |= told


def _read_only(ctx: click.Context, _: click.Parameter, told: bool) -> None:
    _call(ctx).read_only |= told


def _tenant(ctx: click.Context, _: click.Parameter, told: str | None) -> None:
    _call(ctx).tenant = told or _call(ctx).tenant


def _database(ctx: click.Context, _: click.Parameter, told: Path | None) -> None:
    _call(ctx).database = told or _call(ctx).database


def command(name: str, example: str) -> Callable[[Callable[..., int]], click.Command]:
    """A command with the shared options; its docstring is the help, ``example`` its last lines."""

    def made(function: Callable[..., int]) -> click.Command:
        lines = "\n".join(f"  {line if 'run.py' in line else f'run.py {line}'}" for line in example.splitlines())
        return click.command(name, epilog=f"\b\nExample:\n{lines}")(click.pass_obj(shared(function)))

    return made


ACTOR = click.option("--actor", "actor_name", metavar="NAME", envvar="CALLBOARD_ACTOR", show_envvar=True,
                     help="Who acts, for the audit (else the login name).")  # fmt: skip
ROLE = click.option("--role", type=click.Choice(DESK_ROLES), default="dispatcher", show_default=True,
                    help="Act as this role.")  # fmt: skip
AS_WORKER = click.option("--as", "worker", metavar="WORKER", required=True, help="The worker who answers.")
