"""The audit: listed, verified, followed; and the one export of positions, which is audited first."""

import csv
import io
import os
import re
import time
from collections.abc import Iterable
from pathlib import Path

import click
import msgspec
from msgspec import Struct

from console.cli import show
from console.cli.call import Call, actor, command, opened, shared
from console.cli.trouble import DAMAGED, OK
from console.cli.wire import Span, audit_doc, span
from engine.rules.days import rfc3339
from engine.rules.freshness import LatestFix
from engine.rules.ledger import AuditRow
from engine.rules.nouns import Role
from engine.verbs.trace import trace as export

POLL_S = 1.0
ONCE = 20


class VerdictDoc(Struct, frozen=True, kw_only=True):
    """``first_bad``: the first row that was edited, deleted, put in or cut off; ``missing``: what has no row;
    ``expected``: the row that was asked for with --expect, null where there is no such row (or none was asked for)."""

    ok: bool
    rows: int
    head: str
    first_bad: int | None
    missing: str
    expected: int | None


@click.group("audit", invoke_without_command=True, epilog="\b\nExample:\n  run.py audit --job J-17 --db site.db\n"
             "  run.py audit verify --db site.db")  # fmt: skip
@click.option(
    "--limit", metavar="N", type=click.IntRange(1, 100_000), default=50, show_default=True, help="Newest rows."
)
@click.option("--job", "job_id", metavar="JOB", help="The rows of this job alone.")
@shared
@click.pass_context
def audit(ctx: click.Context, limit: int, job_id: str | None) -> int:
    """List the newest audit rows; `audit verify` walks the whole chain."""
    if ctx.invoked_subcommand is not None:
        return OK
    call = ctx.ensure_object(Call)
    with opened(call, writing=False) as engine:
        zone = engine.site.zone
        if job_id is None:
            found = tuple(reversed(engine.store.newest_audit(engine.tenant, limit=limit)))
        else:
            found = engine.store.audit_of_job(engine.tenant, job_id)[-limit:]
    if call.as_json:
        show.document([audit_doc(each, zone) for each in found])
        return OK
    rows = [(each.seq, show.when(each.at_ms, zone, seconds=True), each.actor, each.role, each.act, each.job_id,
             each.worker_id, each.offer_id, each.reason, each.words) for each in found]  # fmt: skip
    columns = ("seq>", "at", "actor", "role", "act", "job", "worker", "offer", "reason", "note")
    show.table(f"audit · times in {zone}", columns, rows)
    return OK


@command("verify", "audit verify --db site.db\naudit verify --expect 4711:9f2c… --db site.db")
@click.option("--expect", metavar="SEQ:HASH", default="",
              help="A head written down earlier (or its hash alone): the audit must hold that row still.")  # fmt: skip
def verify(call: Call, expect: str) -> int:
    """Check the hash chain: edits, deletions and a cut tail are found (exit 3).

    Whoever cuts the tail may move the head with it: write the head down (it is shown here and by backup), keep it
    elsewhere, and expect it later."""
    seq, digest = _head(expect)
    with opened(call, writing=False) as engine, show.working("Walking the audit"):
        found = engine.store.verify_audit(engine.tenant)
        known = engine.store.audit_row(engine.tenant, digest) if digest else None
    first_bad, missing = found.first_bad, found.missing
    if digest and first_bad is None and (known is None or seq not in (None, known)):
        first_bad = found.rows + 1 if seq is None else min(seq, found.rows + 1)
        missing = f"the head that was expected ({expect}) is not in it"
    doc = VerdictDoc(ok=first_bad is None, rows=found.rows, head=found.head, first_bad=first_bad, missing=missing,
                     expected=known)  # fmt: skip
    if call.as_json:
        show.document(doc)
    elif doc.ok:
        show.line(f"the audit is whole: {doc.rows} rows, head {doc.rows}:{doc.head}")
    else:
        why = f" ({doc.missing})" if doc.missing else ""
        show.line(f"the audit is broken at row {doc.first_bad}{why}: rows before it are whole")
    return OK if doc.ok else DAMAGED


def _head(expect: str) -> tuple[int | None, str]:
    """SEQ:HASH or HASH as written down."""
    seq, _, digest = expect.strip().lower().rpartition(":")
    if expect and (not re.fullmatch("[0-9a-f]{64}", digest) or (seq and not re.fullmatch("[0-9]{1,15}", seq))):
        raise click.BadParameter(f"{expect}: SEQ:HASH or HASH is wanted, 64 digits 0-9a-f", param_hint="--expect")
    return (int(seq) if seq else None), digest


audit.add_command(verify)


@command("watch", "watch --db site.db\nwatch --once --json --db site.db")
@click.option("--once", is_flag=True, help=f"Show the newest {ONCE} and end.")
def watch(call: Call, once: bool) -> int:
    """Follow what happens, a line an event, until ctrl-C. With --json a JSON document a line."""
    with opened(call, writing=False) as engine:
        zone = engine.site.zone
        newest = tuple(reversed(engine.store.newest_audit(engine.tenant, limit=ONCE)))
        try:
            _say(call, newest, zone)
            seq = newest[-1].seq if newest else 0
            while not once:
                time.sleep(POLL_S)
                fresh = engine.store.audit(engine.tenant, after=seq)
                _say(call, fresh, zone)
                seq = fresh[-1].seq if fresh else seq
        except KeyboardInterrupt:
            return OK
    return OK


def _say(call: Call, rows: Iterable[AuditRow], zone: str) -> None:
    for each in rows:
        if call.as_json:
            show.document(audit_doc(each, zone))
            continue
        about = " ".join(filter(None, (each.job_id, each.worker_id, each.offer_id)))
        why = f" ({each.reason}: {each.words})" if each.reason else ""
        show.line(f"{show.when(each.at_ms, zone, seconds=True)}  {each.actor}: {each.act} {about}{why}", flush=True)


# --- the trace ---------------------------------------------------------------------------------------------------


class TraceDoc(Struct, frozen=True, kw_only=True):
    worker: str
    job: str
    window: Span
    points: int
    out: str
    audit_seq: int


class TracePoint(Struct, frozen=True, kw_only=True):
    worker: str
    device_time: str
    received_at: str
    lat: float
    lng: float
    accuracy: float | None
    seq: int | None


@command("trace", "trace c3 --job J-17 --actor ana --out c3-J-17.jsonl --db site.db")
@click.argument("worker")
@click.option("--job", "job_id", metavar="JOB", required=True, help="The job that is the reason.")
@click.option("--actor", "actor_name", metavar="NAME", required=True, envvar="CALLBOARD_ACTOR", show_envvar=True,
              help="Who exports, for the audit.")  # fmt: skip
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path), required=True,
              help="A new file, readable by you alone: .csv, else JSON lines.")  # fmt: skip
@click.option("--note", metavar="TEXT", default="", help="Words for the audit.")
@click.option("--role", type=click.Choice(["dispatcher", "supervisor"]), default="supervisor", show_default=True,
              help="Act as this role; only supervisors may.")  # fmt: skip
def trace(call: Call, worker: str, job_id: str, actor_name: str, out: Path, note: str, role: str) -> int:
    """Export a worker's positions around one job; audited before a byte leaves.

    From an hour before they left for it, or began, to an hour after its end; a day at most."""
    with opened(call) as engine:
        zone = engine.site.zone
        handle = os.open(out, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                found = export(engine, actor(engine, actor_name, Role(role)), worker, job_id, note)
                file.write(_written(found.points, zone, as_csv=out.suffix.lower() == ".csv"))
        except BaseException:
            out.unlink()
            raise
    doc = TraceDoc(worker=worker, job=job_id, window=span(found.from_ms, found.to_ms, zone), points=len(found.points),
                   out=str(out), audit_seq=found.audit_seq)  # fmt: skip
    if call.as_json:
        show.document(doc)
    else:
        show.line(f"{doc.points} positions of {worker} written to {out} (audit row {doc.audit_seq})")
    return OK


def _written(points: Iterable[LatestFix], zone: str, *, as_csv: bool) -> bytes:
    rows = [
        TracePoint(worker=each.worker_id, device_time=rfc3339(each.device_ms, zone),
                   received_at=rfc3339(each.received_ms, zone), lat=each.lat, lng=each.lng, accuracy=each.accuracy_m,
                   seq=each.seq)
        for each in points
    ]  # fmt: skip
    if not as_csv:
        return b"".join(msgspec.json.encode(each) + b"\n" for each in rows)
    text = io.StringIO()
    sheet = csv.writer(text)
    sheet.writerow(TracePoint.__struct_fields__)
    sheet.writerows([_unformula(value) for value in msgspec.structs.astuple(each)] for each in rows)
    return text.getvalue().encode()


def _unformula(value: object) -> object:
    """A spreadsheet would run a text that begins like a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


COMMANDS: dict[str, click.Command] = {"audit": audit, "watch": watch, "trace": trace}
