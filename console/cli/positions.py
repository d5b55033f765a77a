"""Fixes: one JSON line each, judged by the index, written to the side file so that the next process sees them."""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, BinaryIO

import click
import msgspec
from msgspec import Meta, Struct

from console.cli import show
from console.cli.call import Call, command, opened
from console.cli.trouble import OK, REFUSED
from engine.imports.parsed import Wrong
from engine.imports.times import Convention, instant
from engine.ports import Engine
from engine.rules.days import zone_named
from engine.rules.freshness import LatestFix
from engine.rules.nouns import FixReport
from engine.verbs import ingest

CHUNK = 262_144
LINE_MAX = 65_536
LISTED_MAX = 1_000
BAD_LINE = "bad_line"
ISO = Convention(order="iso")
UTC = zone_named("UTC")


class FixLine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fix as it is sent. Times: RFC 3339 with an offset, or milliseconds UTC."""

    worker: str
    device_time: str | int
    lat: float
    lng: float
    accuracy: float | None = None
    seq: Annotated[int, Meta(ge=0, le=2**53)] | None = None
    received_at: str | int | None = None


class BadLine(Struct, frozen=True, kw_only=True):
    line: int
    field: str
    rule: str


class FixesDoc(Struct, frozen=True, kw_only=True):
    """``rejected``: how many by reason; none asks to send again. ``bad_lines``: the first of them."""

    kept: int
    rejected: dict[str, int]
    bad_lines: list[BadLine]


@dataclass(slots=True)
class Intake:
    """What became of the lines so far."""

    engine: Engine
    kept: int = 0
    rejected: Counter[str] = field(default_factory=Counter[str])
    bad: list[BadLine] = field(default_factory=list[BadLine])
    archive: list[LatestFix] = field(default_factory=list[LatestFix])

    def refuse(self, line: int, what: str, rule: str) -> None:
        self.rejected[BAD_LINE] += 1
        if len(self.bad) < LISTED_MAX:
            self.bad.append(BadLine(line=line, field=what, rule=rule))

    def take(self, lines: Sequence[tuple[int, bytes]]) -> None:
        """One chunk: decoded, judged in the order it came, and written behind at once."""
        now_ms = self.engine.store.clock(self.engine.tenant).now_ms
        batch: list[FixReport] = []
        batch_ms = now_ms
        for number, text in lines:
            read = self._read(number, text, now_ms)
            if read is None:
                continue
            report, received_ms = read
            if received_ms != batch_ms:
                self._judge(batch, batch_ms, now_ms)
                batch, batch_ms = [], received_ms
            batch.append(report)
        self._judge(batch, batch_ms, now_ms)
        ingest.write_behind(self.engine, self.archive)

    def _judge(self, batch: Sequence[FixReport], received_ms: int, now_ms: int) -> None:
        if not batch:
            return
        engine = self.engine
        if received_ms != now_ms:  # a training site, whose ages follow the clock that `received_at` is read on
            engine = replace(engine, mono_ms=lambda: received_ms)
        done = ingest.report(engine, batch, received_ms=received_ms, archive=self.archive)
        self.kept += done.kept
        self.rejected.update(done.rejected)

    def _read(self, number: int, text: bytes, now_ms: int) -> tuple[FixReport, int] | None:
        if len(text) > LINE_MAX:
            self.refuse(number, "", f"a line has at most {LINE_MAX} bytes")
            return None
        try:
            told = msgspec.json.decode(text, type=FixLine)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            what, rule = _fault(str(error))
            self.refuse(number, what, rule)
            return None
        device_ms, received_ms = _instant(told.device_time), now_ms
        if isinstance(device_ms, Wrong):
            self.refuse(number, "device_time", device_ms.rule)
            return None
        if told.received_at is not None:
            found = self._received(told.received_at, now_ms)
            if isinstance(found, Wrong):
                self.refuse(number, "received_at", found.rule)
                return None
            received_ms = found
        return FixReport(worker=told.worker, device_ms=device_ms, lat=told.lat, lng=told.lng, accuracy_m=told.accuracy,
                         seq=told.seq), received_ms  # fmt: skip

    def _received(self, told: str | int, now_ms: int) -> int | Wrong:
        if not self.engine.store.training:
            return Wrong("only a training database takes it: a live one knows when a fix came")
        found = _instant(told)
        if not isinstance(found, Wrong) and found > now_ms:
            return Wrong("it is after the site's clock: move the clock first (`clock set`)")
        return found


def _fault(text: str) -> tuple[str, str]:
    """msgspec's words into the field and the rule: ``Expected `float`, got `str` - at `$.lat` ``."""
    rule, _, where = text.partition(" - at `$.")
    if where:
        return where.rstrip("`"), rule
    for before in ("Object missing required field `", "Object contains unknown field `"):
        if rule.startswith(before):
            return rule.removeprefix(before).rstrip("`"), rule
    return "", rule


def _instant(told: str | int) -> int | Wrong:
    if isinstance(told, int):
        return told if 0 <= told < 2**53 else Wrong("milliseconds UTC are wanted")
    if not told.endswith(("Z", "z")) and told[-6:-5] not in ("+", "-"):
        return Wrong("an offset is wanted: 2027-03-15T07:02:00+01:00, or milliseconds UTC")
    return instant(told, ISO, UTC)


def _chunks(source: BinaryIO) -> Iterator[bytes]:
    """What has come so far, without waiting for more: a slow pipe's fixes are not held back."""
    read = getattr(source, "read1", source.read)
    while chunk := read(CHUNK):
        yield chunk


def _lines(chunks: Iterator[bytes]) -> Iterator[list[tuple[int, bytes]]]:
    """Whole lines, numbered, a chunk at a time; blank ones are passed over."""
    number, rest = 0, b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        if len(rest) > 2 * LINE_MAX:
            rest = rest[: LINE_MAX + 1]
        yield [(number + place, each) for place, each in enumerate(whole, start=1) if each.strip(b"\xef\xbb\xbf \t\r")]
        number += len(whole)
    if rest.strip():
        yield [(number + 1, rest)]


@command("fixes", "fixes today.jsonl --db site.db\ntail -f phones.jsonl | run.py fixes - --db site.db")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True, exists=True, dir_okay=False))
def fixes(call: Call, file: Path) -> int:
    """Take position reports, one JSON line each.

    Keys: worker, device_time, lat, lng; optional accuracy (metres) and seq. device_time is RFC 3339 with an offset, or
    milliseconds UTC. received_at is taken on a training database alone.
    A bad line is told by number and field and stops nothing; exit 1 where a line was bad."""
    with opened(call) as engine, nullcontext(sys.stdin.buffer) if str(file) == "-" else file.open("rb") as source:
        intake = Intake(engine)
        with show.working("Taking fixes"):
            for lines in _lines(_chunks(source)):
                intake.take(
                    [(number, text.removeprefix(b"\xef\xbb\xbf") if number == 1 else text) for number, text in lines]
                )
    doc = FixesDoc(kept=intake.kept, rejected=dict(sorted(intake.rejected.items())), bad_lines=intake.bad)
    for each in intake.bad[:20]:
        show.note(f"line {each.line}: {f'{each.field}: ' if each.field else ''}{each.rule}")
    if call.as_json:
        show.document(doc)
    else:
        reasons = ", ".join(f"{n} {reason}" for reason, n in doc.rejected.items())
        show.line(f"{doc.kept} fixes kept{f'; rejected: {reasons}' if reasons else ''}")
    return REFUSED if intake.bad else OK


COMMANDS = {"fixes": fixes}
