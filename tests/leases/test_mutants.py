"""Each condition of each guarded statement is taken out in turn, and a test of the programs has to notice.

Those that none notices are listed with the second guard that makes up for them; one more or one fewer is a failure.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from engine.store import session
from engine.store.sqlite import SqliteStore
from engine.store.statements import statements
from engine.store.stepper import copy_of
from tests.leases import test_guards, test_programs, test_regions
from tests.leases.arena import fast_folder
from tests.leases.invariants import broken
from tests.leases.mutants import GUARDED, Mutant, crowd, mutants, neighbours

JUST_ANSWERED = "accept_offer won the same offer of the same worker one statement before"
ONE_OFFER = "an offer's id names one job and one worker: the other condition says the same"
ONE_ASSIGNMENT = "held_offer_id names one job (UNIQUE booking a job and an offer)"
IN_LINE = "the head was read in the same transaction, and writers stand in a line"
REOPEN = "reopen_job is lost: the job is not bound by that offer (and no_offer_revived refuses another answer)"

SECOND_GUARD = {
    "adopt_offer without state = 'OFFERED'": "list_live_offers_of_region names live ones, in the same transaction",
    "book_time without worker_id = :worker_id": JUST_ANSWERED,
    "book_time without state = 'ACCEPTED'": JUST_ANSWERED,
    "take_job without job_id = :job_id": ONE_OFFER,
    "take_job without state = 'OFFERED'": "CHECK: OFFERED is to have a live offer, and no other state has one",
    "take_job without live_offer_id = :offer_id": JUST_ANSWERED,
    "free_worker without worker_id = :worker_id": ONE_OFFER,
    "free_worker without live_offer_id = :offer_id": "the offer was live a statement before, and a worker has one",
    "debit_day without jobs > 0": "CHECK (jobs >= 0); a booking counted on its day before",
    "decline_offer without state = 'OFFERED'": REOPEN,
    "expire_offer without state = 'OFFERED'": REOPEN,
    "withdraw_offer without state = 'OFFERED'": REOPEN,
    "reopen_job without job_id = :job_id": ONE_OFFER,
    "reopen_job without state = 'OFFERED'": "CHECK: OFFERED is to have a live offer, and no other state has one",
    "reopen_job without live_offer_id = :offer_id": "the offer was live a statement before, and a job has one",
    "forget_attempt without job_id = :job_id": ONE_OFFER,
    "forget_attempt without worker_id = :worker_id": ONE_OFFER,
    "forget_attempt without kind = 'offered'": "what was live until now was never released",
    "start_job without job_id = :job_id": ONE_ASSIGNMENT,
    "finish_job without job_id = :job_id": ONE_ASSIGNMENT,
    "release_job without job_id = :job_id": ONE_ASSIGNMENT,
    "unbook_time without job_id = :job_id": ONE_ASSIGNMENT,
    "unbook_time without offer_id = :offer_id": ONE_ASSIGNMENT,
    "move_job without worker_id = :worker_id": "list_bookings names that worker's jobs, in the same transaction",
    "move_audit_head without tenant_id = :tenant_id": "a hash covers its tenant and is unique",
    "move_audit_head without seq = :seq": IN_LINE,
    "move_audit_head without hash = :prev_hash": IN_LINE,
}
"""What nobody notices, and which guard stands behind it."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One test of the programs with one set of its parameters."""

    test: Callable[..., None]
    values: Mapping[str, object]

    def __str__(self) -> str:
        return f"{self.test.__name__}{list(self.values.values()) or ''}"

    def play(self, path: Path) -> str | None:
        """Play it on a site with neighbours; answers what went wrong."""
        store = SqliteStore(copy_of(crowd(), path))
        before = neighbours(path)
        try:
            self.test(store, **self.values)
        except Exception as error:
            return type(error).__name__
        finally:
            store.close()
        if neighbours(path) != before:
            return "a neighbour was touched"
        return next(iter(broken(path)), None)


def scenarios() -> Iterator[Scenario]:
    for module in (test_programs, test_regions, test_guards):
        for name, test in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("test_"):
                marks = [mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
                for chosen in product(*(_values(*mark.args) for mark in marks)):
                    yield Scenario(test, {key: value for each in chosen for key, value in each.items()})


def _values(names: str | tuple[str, ...], rows: list[object]) -> list[dict[str, object]]:
    keys = names if isinstance(names, tuple) else (names,)
    return [dict(zip(keys, row if isinstance(names, tuple) else (row,), strict=True)) for row in rows]  # type: ignore[arg-type]


class Noting(dict[str, str]):
    """Statements that remember which of them were asked for."""

    asked: set[str]

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)


Using = list[tuple[Scenario, frozenset[str]]]


@pytest.fixture
def folder() -> Iterator[Path]:
    with fast_folder() as folder:
        yield folder


@pytest.fixture
def using(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Using:
    """The statements each scenario uses; all of them pass as things are, also among neighbours."""
    used: Using = []
    noting = Noting(statements())
    monkeypatch.setattr(session, "statements", lambda: noting)
    for scenario in scenarios():
        noting.asked = set()
        assert scenario.play(folder / "site.db") is None, str(scenario)
        used.append((scenario, frozenset(noting.asked)))
    return used


@pytest.mark.long
@pytest.mark.timeout(600)
def test_every_guard_is_missed_when_it_is_gone(folder: Path, monkeypatch: pytest.MonkeyPatch, using: Using) -> None:
    survivors: list[str] = []
    for mutant in mutants():
        monkeypatch.setattr(session, "statements", lambda m=mutant: {**statements(), m.statement: m.sql})
        if not _noticed(mutant, folder / "site.db", using):
            survivors.append(str(mutant))
    assert sorted(survivors) == sorted(SECOND_GUARD)


def test_every_scenario_passes_among_neighbours_and_uses_every_guarded_statement(using: Using) -> None:
    assert not set(GUARDED) - set().union(*(used for _, used in using))


def _noticed(mutant: Mutant, path: Path, using: Using) -> bool:
    return any(scenario.play(path) for scenario, used in using if mutant.statement in used)
