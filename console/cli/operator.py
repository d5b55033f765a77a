"""Operators: who may sit at the desk."""

import sys

import click
from msgspec import Struct

from console.cli import show
from console.cli.call import ACTOR, Call, actor, opened, shared
from console.cli.roster import SUPERVISOR
from console.cli.trouble import OK
from engine.rules.nouns import Role

ROLES = (Role.DISPATCHER.value, Role.SUPERVISOR.value, Role.TRAINER.value)


class OperatorDoc(Struct, frozen=True, kw_only=True):
    name: str
    role: str


class RemovedDoc(Struct, frozen=True, kw_only=True):
    name: str
    removed: bool


@click.group("operator")
def operator() -> None:
    """Name who may sit at the desk, with role and passphrase. A site without operators asks nobody.

    \b
    Example:
      run.py operator add ana --as dispatcher --db site.db
      run.py operator list --db site.db
    """


def _passphrase(from_stdin: bool) -> str:
    """Typed twice without echo; or one line of stdin, for scripts. It is never an argument: those can be seen."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\n")
    return str(click.prompt("passphrase", hide_input=True, confirmation_prompt=True, err=True))


@operator.command("add")
@click.pass_obj
@shared
@click.argument("name")
@click.option("--as", "as_role", type=click.Choice(ROLES), default=ROLES[0], show_default=True, help="Their role.")
@click.option("--passphrase-stdin", "from_stdin", is_flag=True, help="Read the passphrase from stdin: one line.")
@ACTOR
@SUPERVISOR
def add(call: Call, name: str, as_role: str, from_stdin: bool, actor_name: str | None, role: str) -> int:
    """Name an operator, or give a known one another role and passphrase."""
    from engine.verbs import operators

    with opened(call) as engine:
        made = operators.add(engine, actor(engine, actor_name, role), name, as_role, _passphrase(from_stdin))
    if call.as_json:
        show.document(OperatorDoc(name=made.name, role=made.role))
    else:
        show.line(f"{made.name} may sit at the desk as {made.role}")
    return OK


@operator.command("list")
@click.pass_obj
@shared
def listed(call: Call) -> int:
    """List the operators."""
    from engine.verbs import operators

    with opened(call, writing=False) as engine:
        found = operators.operators(engine)
    if call.as_json:
        show.document([OperatorDoc(name=each.name, role=each.role) for each in found])
    elif found:
        show.table("operators", ("name", "role"), [(each.name, str(each.role)) for each in found])
    else:
        show.line("no operators: the desk asks nobody")
    return OK


@operator.command("remove")
@click.pass_obj
@shared
@click.argument("name")
@ACTOR
@SUPERVISOR
def remove(call: Call, name: str, actor_name: str | None, role: str) -> int:
    """Take an operator away; what they did stays in the audit."""
    from engine.verbs import operators

    with opened(call) as engine:
        operators.remove(engine, actor(engine, actor_name, role), name)
    if call.as_json:
        show.document(RemovedDoc(name=name, removed=True))
    else:
        show.line(f"{name} may not sit at the desk any more")
    return OK


COMMANDS = {"operator": operator}
