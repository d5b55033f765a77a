"""The command line: run.py calls `main` with the arguments and the parts of other doors; it answers the exit code."""

import importlib
import logging
import os
import sys

import click

from console.cli.call import Call, shared
from console.cli.parts import Parts
from console.cli.trouble import OK, REFUSED, Lines, told
from console.words import inert

ROOMS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "A site": (
        ("setup", ("init",)), ("intake", ("import", "create", "attach")), ("positions", ("fixes",)),
        ("roster", ("absent", "shift", "leave")), ("operator", ("operator",)), ("policy", ("policy",)),
        ("health", ("doctor",)), ("setup", ("backup", "clock")),
    ),
    "Dispatch": (
        ("desk", ("assign", "cancel", "release", "reassign", "preempt", "override", "withdraw")),
        ("answers", ("accept", "decline", "start", "finish")),
        ("regions", ("takeover", "handoff", "sweep")), ("alerts", ("alert",)),
    ),
    "See": (
        ("look", ("board", "jobs", "workers", "offers", "job")), ("alerts", ("alerts",)), ("explain", ("why",)),
        ("record", ("audit", "watch", "trace")),
    ),
    "Try": (("handed", ("console", "demo", "replay", "bench")), ("rehearse", ("rehearse",))),
}  # fmt: skip
MODULES = {name: module for rooms in ROOMS.values() for module, names in rooms for name in names}


class Commands(click.Group):
    """Each command's module is imported when the command is asked for: `board` does not wait for `replay`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*MODULES]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in MODULES:
            return None
        module = importlib.import_module(f"console.cli.{MODULES[cmd_name]}")
        return module.COMMANDS[cmd_name]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section, rooms in ROOMS.items():
            rows: list[tuple[str, str]] = []
            for name in (name for _, names in rooms for name in names):
                command = self.get_command(ctx, name)
                rows.append((name, command.get_short_help_str(90) if command else ""))
            with formatter.section(section):
                formatter.write_dl(rows)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@shared
@click.pass_context
def cli(ctx: click.Context) -> object:
    """Callboard: assign skilled workers to jobs, explain every choice, and never promise anyone twice.

    \b
    Begin:  run.py init site.db --zone Europe/Vienna
            run.py import workers workers.csv --db site.db
            run.py import jobs jobs.csv --db site.db
            run.py board --db site.db

    Without a command the console opens on the demo site. Exit codes: 0 ok, 1 refused or lost, 2 usage, 3 damaged or
    missing database, 4 read-only.
    """
    if ctx.invoked_subcommand is not None:
        return None
    if ctx.ensure_object(Call).as_json:
        raise click.UsageError("a command is wanted with --json", ctx)
    return ctx.invoke(_console(ctx))


def _console(ctx: click.Context) -> click.Command:
    found = cli.get_command(ctx, "console")
    assert found is not None
    return found


def main(arguments: list[str], parts: Parts) -> int:
    """Run one command. Never a traceback: every error is one line on stderr, or with --json one document on stdout."""
    call = Call(parts=parts)
    _settle_streams()
    try:
        code = cli.main(args=arguments, prog_name="run.py", standalone_mode=False, obj=call)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as help_wanted:
        sys.stderr.write(help_wanted.format_message() + "\n")
        return 2
    except BrokenPipeError:
        # The reader has gone (`| head`): say nothing, and keep Python from saying it at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return REFUSED
    except (Exception, KeyboardInterrupt) as error:
        return _say(error, as_json=call.as_json or _wants_json(arguments))
    return code if isinstance(code, int) else OK


def _settle_streams() -> None:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    logging.basicConfig(handlers=[Lines()], level=logging.WARNING)


def _wants_json(arguments: list[str]) -> bool:
    """Also where the options could not be read to their end."""
    ours = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in ours


def _say(error: BaseException, *, as_json: bool) -> int:
    said = told(error)
    sys.stderr.write(f"{inert(said.message)}\n")
    if as_json:
        from console.cli.show import document

        document({"error": {"kind": said.kind, "message": said.message}})
    return said.code
