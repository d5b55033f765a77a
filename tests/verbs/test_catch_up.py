"""Several processes on one file: each learns of the workers and fixes that another took in, within a round."""

from engine import wiring
from engine.imports.parsed import Parsed
from engine.rules.nouns import FixReport, NewWorker
from engine.verbs import ingest, intake, roster, sweep
from tests.desk import Desk, north, person


def test_a_worker_and_a_fix_taken_in_by_another_process_are_known_after_one_round(desk: Desk) -> None:
    other = wiring.open_engine(desk.path)
    mine = sweep.Desk(engine=other, holder="other")
    sweep.catch_up(mine)
    desk.worker("ana", north(3))
    ingest.write_behind(desk.engine, [])
    fix = FixReport(worker="ana", device_ms=desk.now_ms, lat=48.2, lng=16.4)
    assert ingest.report(other, [fix], received_ms=desk.now_ms, archive=[]).kept == 0, "not heard of yet"
    assert other.index.seen("main", "ana", north(0), mono_ms=other.mono_ms()) is None
    sweep.catch_up(mine)
    seen = other.index.seen("main", "ana", north(0), mono_ms=other.mono_ms())
    assert seen is not None
    assert seen.place == north(3)
    wiring.close(other)


def test_a_worker_who_left_elsewhere_is_gone_here(desk: Desk) -> None:
    desk.worker("ana", north(3))
    other = wiring.open_engine(desk.path)
    roster.leave(other, person(), "ana")
    sweep.catch_up(desk.rounds)
    assert [*desk.engine.index.present("main", mono_ms=desk.engine.mono_ms())] == []
    wiring.close(other)


def test_a_worker_who_came_back_elsewhere_is_known_here(desk: Desk) -> None:
    desk.worker("ana", north(3))
    roster.leave(desk.engine, person(), "ana")
    sweep.catch_up(desk.rounds)
    other = wiring.open_engine(desk.path)
    new = NewWorker(ref="ana", name="Ana", skills=frozenset(), home=north(3), shift_starts_ms=desk.at(-60),
                    shift_ends_ms=desk.at(600))  # fmt: skip
    intake.import_workers(other, person(), Parsed(items=((2, new),), rejected=(), warnings=()))
    wiring.close(other)
    sweep.catch_up(desk.rounds)
    assert desk.fix("ana", north(3)).kept == 1
