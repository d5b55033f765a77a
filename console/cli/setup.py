"""A site: made, copied, and, where it is a training site, its clock."""

import re
from dataclasses import replace
from pathlib import Path

import click
from msgspec import Struct

from console.cli import show
from console.cli.call import Call, command, opened
from console.cli.moments import moment
from console.cli.trouble import OK
from engine.rules.days import rfc3339
from engine.verbs.site import SiteFile, advance, check_zone, read_site

UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
END_MS = 7_258_118_400_000  # 2200-01-01
SITE_BYTES_MAX = 1_000_000


class Founded(Struct, frozen=True, kw_only=True):
    database: str
    fixes: str
    tenant: str
    name: str
    zone: str
    training: bool
    regions: tuple[str, ...]


@command("init", "init site.db --site campus.toml\ninit school.db --training --zone America/New_York")
@click.argument("database", metavar="DB", type=click.Path(path_type=Path))
@click.option("--site", "site_file", metavar="FILE.toml", type=click.Path(path_type=Path, exists=True, dir_okay=False),
              help="Name, zone, regions and settings of the site.")  # fmt: skip
@click.option(
    "--zone", metavar="ZONE", help="Time zone of the site, such as Europe/Rome (else the site file's, else UTC)."
)
@click.option("--name", metavar="TEXT", help="Name of the site.")
@click.option("--training", is_flag=True, help="A training site: its clock stands still until it is moved (`clock`).")
def init(call: Call, database: Path, site_file: Path | None, zone: str | None, name: str | None, training: bool) -> int:
    """Create a new database for a site. No other command creates one."""
    from engine import wiring

    site = _site(site_file, zone, name, call.tenant)
    database = database.absolute()
    if not database.parent.is_dir():
        raise click.BadParameter(f"{database.parent} is no folder", param_hint="DB")
    wiring.create(database, site, training=training)
    made = Founded(
        database=str(database), fixes=str(wiring.fixes_path(database)), tenant=site.tenant, name=site.name,
        zone=site.zone, training=training, regions=tuple(region for region, _ in site.regions),
    )  # fmt: skip
    if call.as_json:
        show.document(made)
    else:
        kind = "a training site, its clock stands still" if training else "a live site"
        show.line(f"created {database}: {site.name} ({kind}), zone {site.zone}, regions {', '.join(made.regions)}")
    return OK


def _site(site_file: Path | None, zone: str | None, name: str | None, tenant: str | None) -> SiteFile:
    site = SiteFile()
    if site_file is not None:
        if site_file.stat().st_size > SITE_BYTES_MAX:
            raise click.BadParameter("a site file has at most 1 MB", param_hint="--site")
        site = read_site(site_file.read_text(encoding="utf-8-sig", errors="replace"))
    if zone is not None:
        check_zone(zone)
    return replace(site, zone=zone or site.zone, name=name or site.name, tenant=tenant or site.tenant)


class Copied(Struct, frozen=True, kw_only=True):
    database: str
    fixes: str
    bytes: int
    head: str


@command("backup", "backup copies/site-2027-03-15.db --db site.db")
@click.argument("file", type=click.Path(path_type=Path))
def backup(call: Call, file: Path) -> int:
    """Copy the database and its positions, checked, while work goes on.

    The positions are written beside FILE as FILE.fixes. Existing files are never overwritten."""
    from engine import wiring

    file = file.absolute()
    fixes = wiring.fixes_path(file)
    with opened(call, writing=False) as engine:
        for each in (file, fixes):
            if each.exists():
                raise FileExistsError(each)
        [last] = engine.store.newest_audit(engine.tenant, limit=1)
        engine.store.backup(file)
        engine.fixes.backup(fixes)
    done = Copied(database=str(file), fixes=str(fixes), bytes=file.stat().st_size + fixes.stat().st_size,
                  head=f"{last.seq}:{last.hash}")  # fmt: skip
    if call.as_json:
        show.document(done)
    else:
        show.line(f"copied to {file} and {fixes.name} ({done.bytes / 1e6:.1f} MB, checked)")
        show.line(f"the audit's head, to write down and keep elsewhere: {done.head}")
    return OK


# --- the clock ---------------------------------------------------------------------------------------------------


class ClockDoc(Struct, frozen=True, kw_only=True):
    now: str
    now_ms: int
    zone: str
    training: bool


@command("clock", "clock --db school.db\nclock advance 21s --db school.db\nclock set '2027-03-15 07:00' --db school.db")
@click.argument("act", type=click.Choice(["show", "advance", "set"]), default="show")
@click.argument("to", metavar="[SPAN|TIME]", default="")
def clock(call: Call, act: str, to: str) -> int:
    """Show the site's clock; on a training site, advance or set it.

    SPAN is like 21s, 5m, 1h30m; TIME is RFC 3339 or local to the site. Time goes forward alone: set a time before now
    only to rehearse a clock that stepped back."""
    with opened(call, writing=act != "show") as engine:
        now_ms = engine.store.clock(engine.tenant).now_ms
        if act == "advance":
            advance(engine, _within(now_ms + _span_ms(to), to))
        elif act == "set":
            advance(engine, moment(to, engine.site.zone, now_ms, "TIME"))
        now_ms, zone = engine.store.clock(engine.tenant).now_ms, engine.site.zone
        training = engine.store.training
    if call.as_json:
        show.document(ClockDoc(now=rfc3339(now_ms, zone), now_ms=now_ms, zone=zone, training=training))
    else:
        show.line(f"{rfc3339(now_ms, zone)} {zone}{' (training clock)' if training else ''}")
    return OK


def _within(at_ms: int, text: str) -> int:
    """A clock beyond what dates can tell could never be shown nor set back."""
    if at_ms >= END_MS:
        raise click.BadParameter(f"{text!r}: the clock goes to the end of 2199", param_hint="SPAN")
    return at_ms


def _span_ms(text: str) -> int:
    """``21s``, ``1h30m``, ``250ms``."""
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)", text)
    if not parts or re.sub(r"(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)|\s", "", text):
        raise click.BadParameter(f"{text!r}: a span such as 21s, 5m or 1h30m is wanted", param_hint="SPAN")
    return round(sum(float(number) * UNITS_MS[unit] for number, unit in parts))


COMMANDS = {"init": init, "backup": backup, "clock": clock}
