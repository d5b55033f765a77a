"""Times as people type them on a command line: RFC 3339, local to the site, a time of today, or ``now``."""

import re

import click

from engine.imports.parsed import Wrong
from engine.imports.times import Convention, instant
from engine.rules.days import local_day, zone_named

YEAR_FIRST = Convention(order="iso")


def moment(text: str, zone: str, now_ms: int, option: str) -> int:
    """Milliseconds UTC. Raises BadParameter with the rule that was broken (a gap, a fold, no such date)."""
    if text == "now":
        return now_ms
    whole = f"{local_day(now_ms, zone)} {text}" if re.fullmatch(r"\d{1,2}:\d{2}(:\d{2})?", text, re.ASCII) else text
    found = instant(whole, YEAR_FIRST, zone_named(zone))
    if isinstance(found, Wrong):
        raise click.BadParameter(f"{text!r}: {found.rule}", param_hint=option)
    return found
