"""Fixes come in: judged and indexed in memory at once, written behind later. Never touches the assignment database."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.ports import Engine
from engine.rules.freshness import LatestFix, Report


@dataclass(frozen=True, slots=True, kw_only=True)
class FixesTaken:
    """``rejected``: how many by reason. A rejection is final: the sender need not send again."""

    kept: int
    rejected: dict[str, int]


def report(engine: Engine, reports: Sequence[Report], *, received_ms: int, archive: list[LatestFix]) -> FixesTaken:
    """Take a batch of fixes; ``archive`` collects what is due for the sampled archive at the next write-behind."""
    done = engine.index.report(engine.tenant, reports, received_ms=received_ms, mono_ms=engine.mono_ms())
    archive.extend(done.archive)
    engine.metrics.count("fixes kept", done.kept)
    if reports:
        engine.metrics.flowed("fixes", len(reports), engine.mono_ms())
        engine.metrics.took("fix lag", max(0, received_ms - reports[0].device_ms) * 1000)
    for reason, n in done.rejected:
        engine.metrics.count(f"fixes {reason}", n)
    return FixesTaken(kept=done.kept, rejected={str(reason): n for reason, n in done.rejected})


def catch_up(engine: Engine, seen_seq: int) -> int:
    """Learn what other processes did: workers who came, changed or left since an audit row, and fixes they took.

    Answers the audit row up to which the roster is known now."""
    head = engine.store.audit_head(engine.tenant)
    if head > seen_seq and engine.store.roster_changed(engine.tenant, seen_seq):
        enrolled = dict(engine.store.enrolled(engine.tenant))
        for worker_id, skills in enrolled.items():
            engine.index.enrol(engine.tenant, worker_id, skills)
        for worker_id, *_ in list(engine.index.present(engine.tenant, mono_ms=engine.mono_ms())):
            if worker_id not in enrolled:
                engine.index.dismiss(engine.tenant, worker_id)
    if engine.fixes.changed_elsewhere():
        now_ms = engine.store.clock(engine.tenant).now_ms
        engine.index.load(engine.tenant, engine.fixes.latest(engine.tenant), now_ms=now_ms, mono_ms=engine.mono_ms())
    return head


def write_behind(engine: Engine, archive: list[LatestFix], unwritten: list[LatestFix] | None = None) -> int:
    """Write the presences that changed and the sampled archive to the side file; answers how many.

    ``unwritten`` keeps the presences of a write that failed, for the next one."""
    pending = [] if unwritten is None else unwritten
    pending.extend(engine.index.changed(engine.tenant))
    latest, due = tuple(pending), tuple(archive)
    if latest or due:
        engine.fixes.write_behind(engine.tenant, latest, due)
        del pending[:]
        del archive[: len(due)]
    return len(latest) + len(due)
