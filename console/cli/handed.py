"""Commands whose work is another door's: the console, the demo, replays and benchmarks. run.py hands them over."""

import math
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import click
from msgspec import Struct

from console.cli import show
from console.cli.call import Call, command, opened
from console.cli.parts import DemoOrder, DeskOrder, Figure, ReplayOrder, ReplayReport
from console.cli.trouble import OK, REFUSED, hushed

T = TypeVar("T")
FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
HOLDS = {True: "holds", False: "MISSED", None: ""}
HEAD, OURS = 72, b"CALB"  # SQLite's header up to its application's id, and that of a Callboard database
SHOWN_MAX = 200
MEASURED = ("ingest", "search", "decide", "lease", "console")


def _part(part: T | None, name: str) -> T:
    """The part, where this copy of Callboard has it."""
    if part is None:
        from engine.ports import CallboardError

        raise CallboardError(f"{name}: this copy of Callboard does not have it")
    return part


# --- replay ------------------------------------------------------------------------------------------------------


class LateDoc(Struct, frozen=True, kw_only=True):
    p50: float
    p95: float


class LeftOutDoc(Struct, frozen=True, kw_only=True):
    """One cell for which a row was left out."""

    file: str
    row: int
    column: str
    value: str
    rule: str


class ReplayDoc(Struct, frozen=True, kw_only=True):
    """All but ``wall_s`` is the same for the same seed. ``rejected``: rows that were left out, cell by cell."""

    jobs: int
    assigned: int
    on_time: int
    missed: int
    cancelled: int
    alerts: int
    offers: dict[str, int]
    double_bookings: int
    late_minutes: LateDoc
    travel_minutes: float
    top_decile_share: float
    gini: float
    virtual_hours: float
    wall_s: float
    rejected: tuple[LeftOutDoc, ...]


@command("replay", "replay --jobs monday_jobs.csv --workers monday_workers.csv --seed 7 --answers mixed")
@click.option("--jobs", type=FILE, metavar="FILE", required=True, help="The day's jobs, as `import jobs` takes them.")
@click.option("--workers", type=FILE, metavar="FILE", required=True, help="The day's workers.")
@click.option("--site", type=FILE, metavar="FILE.toml", help="Site file: zone, regions, settings.")
@click.option("--seed", type=int, default=1, show_default=True, help="One seed, one history.")
@click.option("--answers", type=click.Choice(["accept", "mixed"]), default="accept", show_default=True,
              help="accept: every offer after seconds; mixed: declines, silence, dead phones.")  # fmt: skip
@click.option("--all-or-nothing", is_flag=True, help="If one row is refused, nothing is replayed.")
def replay(
    call: Call, jobs: Path, workers: Path, site: Path | None, seed: int, answers: str, all_or_nothing: bool
) -> int:
    """Replay a whole day in virtual time, with the engine's own rounds.

    It runs in a throw-away training database; none is needed. Bad rows are left out and listed by row, column, value
    and rule (exit 1 where any was)."""
    run = _part(call.parts.replay, "replay")
    with _progress(f"Replaying {jobs.name}") as progress:
        order = ReplayOrder(jobs=jobs, workers=workers, site=site, seed=seed, answers=answers, whole=all_or_nothing,
                            progress=progress)  # fmt: skip
        doc = _replay_doc(run(order))
    code = REFUSED if doc.rejected else OK
    if call.as_json:
        show.document(doc)
        return code
    if doc.rejected:
        left = [(each.file, each.row, each.column, each.value, each.rule) for each in doc.rejected[:SHOWN_MAX]]
        show.table(f"{len(doc.rejected)} refused", ("file", "row>", "column", "value", "rule"), left)
    offers = ", ".join(f"{n} {outcome}" for outcome, n in doc.offers.items()) or "none"
    late = f"{doc.late_minutes.p50:g} / {doc.late_minutes.p95:g}"
    rows = [
        ("jobs", doc.jobs), ("assigned", doc.assigned), ("on time", doc.on_time), ("missed", doc.missed),
        ("cancelled", doc.cancelled), ("alerts", doc.alerts), ("offers", offers),
        ("double bookings", doc.double_bookings),
        ("minutes late, p50 / p95", late), ("travel, minutes", doc.travel_minutes),
        ("share of the busiest tenth", f"{doc.top_decile_share:.0%}"), ("Gini", f"{doc.gini:.3f}"),
        ("virtual hours", doc.virtual_hours), ("wall seconds", doc.wall_s),
    ]  # fmt: skip
    show.table(f"replay of {jobs.name}, seed {seed}, answers {answers}", ("figure", "value>"), rows)
    return code


def _replay_doc(report: ReplayReport) -> ReplayDoc:
    return ReplayDoc(
        jobs=report.jobs,
        assigned=report.assigned,
        on_time=report.on_time,
        missed=report.missed,
        cancelled=report.cancelled,
        alerts=report.alerts,
        offers=dict(report.offers),
        double_bookings=report.double_bookings,
        late_minutes=LateDoc(p50=report.late_minutes.p50, p95=report.late_minutes.p95),
        travel_minutes=report.travel_minutes,
        top_decile_share=report.top_decile_share,
        gini=report.gini,
        virtual_hours=report.virtual_hours,
        wall_s=report.wall_s,
        rejected=tuple(
            LeftOutDoc(file=name, row=each.row, column=each.column, value=each.value, rule=each.rule)
            for name, each in report.rejected
        ),
    )


@contextmanager
def _progress(what: str) -> Generator[Callable[[float], None] | None]:
    """A bar on stderr where that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True, markup=False), transient=True) as bar:
        task = bar.add_task(what, total=1.0)
        yield lambda share: bar.update(task, completed=share)


# --- the console and the demo ------------------------------------------------------------------------------------


SEED = click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="The demo's: one seed, one history."
)


@command("console", "console --db site.db\nconsole --demo")
@click.option("--demo", "on_demo", is_flag=True, help="Open the demo site even where a database is named.")
@SEED
def console(call: Call, on_demo: bool, seed: int) -> int:
    """Open the desk in this terminal; without a database, on the demo site."""
    if on_demo or not call.names_database():
        return _on_demo(call, DemoOrder(seed=seed))
    open_console = _part(call.parts.open_console, "console")
    if call.tenant is not None or not _looks_whole(call.path()):
        with opened(call):
            pass  # a wrong path, a damaged file, an unknown tenant are said before the screen is taken
    with hushed():
        return open_console(DeskOrder(database=call.path(), read_only=call.read_only, tenant=call.tenant))


def _looks_whole(path: Path) -> bool:
    """By its first bytes alone: the desk opens the engine behind its first paint, and says then what else is wrong.

    Read before anything here has the file open: closing it later would drop SQLite's own locks."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError:
        return False
    return head.startswith(b"SQLite format 3\0") and head.endswith(OURS)


@command("demo", "demo --seed 7\ndemo --replay rehearsals/demo-7-20260601-1300.toml")
@click.option("--seed", type=click.IntRange(min=0), help="One seed, one town.  [default: 1]")
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write what befalls into this new file (else one in rehearsals/, from the first fault on).",
)
@click.option("--replay", type=FILE, metavar="FILE", help="Play a recorded session again, faults and all.")
def demo(call: Call, seed: int | None, record: Path | None, replay: Path | None) -> int:
    """Open the desk on the demo site: a river town with simulated workers."""
    if replay is not None and seed is not None:
        raise click.UsageError("--seed: the recording names its own; leave it out beside --replay")
    return _on_demo(call, DemoOrder(seed=1 if seed is None else seed, record=record, replay=replay))


def _on_demo(call: Call, order: DemoOrder) -> int:
    open_console, made = _part(call.parts.open_console, "console"), _part(call.parts.demo, "demo")
    with made(order) as site, hushed():
        return open_console(DeskOrder(database=site.path, demo=site))


# --- benchmarks --------------------------------------------------------------------------------------------------


class FigureDoc(Struct, frozen=True, kw_only=True):
    figure: str
    value: float | None
    unit: str
    bar: float | None
    holds: bool | None


@command("bench", "bench decide --json")
@click.argument("what", type=click.Choice(MEASURED))
def bench(call: Call, what: str) -> int:
    """Measure one part of the engine against its bar (exit 1 where one does not hold)."""
    run = _part(call.parts.bench, "bench")
    with show.working(f"Measuring {what}"):
        figures = run(what)
    docs = _figure_docs(figures)
    if call.as_json:
        show.document(docs)
    else:
        rows = [
            (each.figure, _number(each.value), each.unit, _number(each.bar, ""), HOLDS[each.holds]) for each in docs
        ]
        show.table(f"bench {what}", ("figure", "value>", "unit", "bar>", ""), rows)
    return REFUSED if any(each.holds is False for each in docs) else OK


def _number(value: float | None, absent: str = "not measured") -> str:
    return absent if value is None else f"{value:g}"


def _figure_docs(figures: Sequence[Figure]) -> list[FigureDoc]:
    return [
        FigureDoc(
            figure=each.figure,
            value=None if math.isnan(each.value) else each.value,
            unit=each.unit,
            bar=each.bar,
            holds=each.holds,
        )
        for each in figures
    ]


COMMANDS = {"console": console, "demo": demo, "replay": replay, "bench": bench}
