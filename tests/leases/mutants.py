"""Statements with one condition taken out: what the guards are for shows in what goes wrong without each."""

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from engine import leases
from engine.store.sqlite import SqliteStore
from engine.store.statements import statements
from engine.store.stepper import copy_of, template_of
from tests.leases import stage

GUARDED = (
    "hold_epoch", "read_epoch", "raise_epoch", "adopt_offer", "list_live_offers_of_region", "claim_job", "claim_worker",
    "check_room", "accept_offer", "book_time", "take_job", "free_worker", "debit_day", "decline_offer", "expire_offer",
    "withdraw_offer", "reopen_job", "forget_attempt", "start_job", "finish_job", "release_job", "unbook_time",
    "touch_idle", "cancel_job", "alert_job", "miss_job", "ask_handoff", "check_asked",
    "take_back_handoff", "move_worker", "move_job", "amend_job",
    "amend_worker", "archive_worker", "read_audit_head", "move_audit_head", "resolve_alert",
)  # fmt: skip
"""Every statement whose zero rows mean that a race was lost, and what they read to decide."""

END = re.compile(r"\b(RETURNING|ORDER BY|GROUP BY|LIMIT|ON CONFLICT)\b")


@dataclass(frozen=True, slots=True)
class Mutant:
    """``statement`` without ``condition``; ``sql`` is what is left."""

    statement: str
    condition: str
    sql: str

    def __str__(self) -> str:
        return f"{self.statement} without {self.condition}"


def mutants() -> Iterator[Mutant]:
    for name in GUARDED:
        sql = statements()[name]
        for starts, ends in conditions(sql):
            without = f"{sql[:starts]}1 = 1{sql[ends:]}"
            yield Mutant(name, " ".join(sql[starts:ends].split()), without)


def conditions(sql: str) -> Iterator[tuple[int, int]]:
    """Where each condition of each WHERE lies, those of subqueries included."""
    for where in re.finditer(r"\bWHERE\b", sql):
        at, depth, began = where.end(), 0, where.end()
        while at < len(sql) and depth >= 0:
            depth += {"(": 1, ")": -1}.get(sql[at], 0)
            joined = re.compile(r"\bAND\b").match(sql, at) if depth == 0 else None
            over = depth < 0 or (depth == 0 and END.match(sql, at) is not None)
            if joined or over:
                yield _trimmed(sql, began, at)
                began = joined.end() if joined else at
            if over:
                break
            at += 1
        else:
            yield _trimmed(sql, began, at)


def _trimmed(sql: str, starts: int, ends: int) -> tuple[int, int]:
    text = sql[starts:ends]
    return starts + len(text) - len(text.lstrip()), starts + len(text.rstrip())


# --- a site with neighbours ------------------------------------------------------------------------------------------

NEIGHBOURS = ("at-offered", "at-accepted", "at-started")


@cache
def crowd() -> bytes:
    """The open site, and in the same file three tenants with the same ids, each at another stage of the same job."""
    with tempfile.TemporaryDirectory() as folder:
        path = copy_of(stage.template("open"), Path(folder) / "site.db")
        store = SqliteStore(path)
        for neighbour in NEIGHBOURS:
            _settle(store, neighbour)
        store.close()
        return template_of(path)


def _settle(store: SqliteStore, tenant: str) -> None:
    stage.found(store, tenant)
    who = replace(stage.ANA, tenant=tenant)
    worker = replace(stage.worker_named("w1"), tenant=tenant)
    programs: list[stage.Programs] = [
        lambda: leases.alert(who, stage.MAIN, "j3", 1, stage.nobody("j3")),
        lambda: leases.offer(who, stage.MAIN, stage.lease("o1", "j1", "w1")),
        lambda: leases.accept(worker, "o1", "w1"),
        lambda: leases.start(worker, "j1", "o1", "w1"),
    ]
    for program in programs[: 2 + NEIGHBOURS.index(tenant)]:
        stage.run(store, program(), tenant)


def neighbours(path: Path) -> list[str]:
    """Every row that is theirs."""
    return [line for line in stage.dump(path) if any(f"'{tenant}'" in line for tenant in NEIGHBOURS)]
