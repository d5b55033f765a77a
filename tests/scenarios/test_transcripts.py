"""Each scenario plays as its file says it does: the safe programs, and the naive ones with and without guards.

A lease program that was changed on purpose: `python -m tests.scenarios.freeze`, and read what changed.
"""

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from engine.verbs.rehearsed import STATEMENTS
from fixtures import recording, scenarios
from fixtures.acts import CALLS, PROGRAMS
from fixtures.rehearsal import Programs
from fixtures.script import Scenario
from fixtures.statements import AUDIT, BY_ACT, of_acts
from tests.conftest import ROOT
from tests.scenarios.plays import counted, doubles, ends, told

ALL = [scenarios.found(name) for name in scenarios.names()]
RACES = [each for each in ALL if each.is_race]
NAIVE = [each for each in ALL if each.naive is not None]
MUST_EXIST = {
    "two-desks-one-job", "two-jobs-one-worker", "accept-before-expiry", "accept-at-expiry", "double-accept",
    "late-accept", "two-sweepers", "cancel-against-accept", "zombie-dispatcher", "region-handoff",
    "decline-and-walk-on", "stale-fix-late-packet", "router-down-river", "no-show-reassign", "override-missed-window",
    "preemption", "clock-stepped-back", "index-lost", "capacity-two",
}  # fmt: skip


def named(scenario: Scenario) -> str:
    return scenario.name


def test_the_list_is_whole() -> None:
    assert {each.name for each in ALL} >= MUST_EXIST
    assert {each.name for each in NAIVE} >= {
        "two-desks-one-job", "two-jobs-one-worker", "accept-at-expiry", "double-accept",
    }  # fmt: skip
    assert [each.name for each in ALL if not each.questions] == []


@pytest.mark.parametrize("scenario", ALL, ids=named)
def test_it_plays_as_its_file_says(scenario: Scenario) -> None:
    assert told(scenario) == scenario.expected.transcript


def test_twice_the_same() -> None:
    for name in ("zombie-dispatcher", "router-down-river"):
        assert told(scenarios.found(name)) == told(scenarios.found(name))


@pytest.mark.parametrize("scenario", RACES, ids=named)
def test_every_schedule_ends_whole(scenario: Scenario) -> None:
    """Every order, and every statement at which one session may die: no invariant breaks."""
    tally = counted(scenario)
    assert tally.violations == ()
    assert ends(tally) == sorted(scenario.expected.ends)
    assert tally.schedules > 20
    assert any("lost at" in each for each in scenario.expected.ends)


@pytest.mark.parametrize("scenario", NAIVE, ids=named)
def test_naive_programs_double_book_until_the_schema_refuses(scenario: Scenario) -> None:
    assert told(scenario, Programs.BARE) == scenario.expected.naive
    assert told(scenario, Programs.GUARDED) == scenario.expected.guarded
    assert "double booking: " in scenario.expected.naive
    assert "double booking: " not in scenario.expected.guarded
    bare, guarded = counted(scenario, Programs.BARE), counted(scenario, Programs.GUARDED)
    assert doubles(bare) == scenario.expected.naive_doubles
    assert len(bare.violations) > 0
    assert guarded.violations == ()
    assert any("refused" in end for end, _ in guarded.outcomes)


@pytest.mark.parametrize("scenario", ALL, ids=named)
def test_its_decisive_step_is_in_it(scenario: Scenario) -> None:
    lane, step = scenario.decisive
    with_step = [line for line in scenario.expected.transcript.splitlines() if f"  {lane} " in line]
    words = re.sub(r"\{\w+\}", ".*", re.sub(r"([?.()])", r"\\\1", STATEMENTS.get(step, step)))
    assert any(re.search(words, line) for line in with_step)
    if scenario.is_race:
        assert any(f'"lost at {step}"' in line for line in with_step)


def test_every_statement_of_a_lease_program_has_words() -> None:
    text = (ROOT / "engine" / "leases.py").read_text(encoding="utf-8")
    yielded = set(re.findall(r'(?:must|read)\("(\w+)"', text))
    assert yielded - set(STATEMENTS) == set()


def yields(function: str, bodies: Mapping[str, ast.FunctionDef]) -> set[str]:
    """Every statement that a program may yield, those of the programs in it too."""
    found: set[str] = set()
    for each in ast.walk(bodies[function]):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name):
            if each.func.id in ("must", "read") and isinstance(each.args[0], ast.Constant):
                found.add(str(each.args[0].value))
            elif each.func.id in bodies:
                found |= yields(each.func.id, bodies)
    return found


UNREACHED = {"override": {"withdraw_offer", "reopen_job"}, "takeover": {"adopt_offer"},
             "handoff": {"read_epoch", "hold_epoch", "check_asked"}, "start": {"read_epoch", "hold_epoch"}}  # fmt: skip
"""What the programs can do and no act of a scenario asks for."""


def test_the_statements_of_each_act_are_those_of_its_program() -> None:
    texts = [(ROOT / "engine" / name).read_text(encoding="utf-8") for name in ("leases.py", "records.py")]
    bodies = {each.name: each for text in texts for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)}
    assert set(BY_ACT) == set(PROGRAMS)
    for act, statements in BY_ACT.items():
        assert {*statements, *AUDIT} == yields(act, bodies) - UNREACHED.get(act, set()), act
        assert list(of_acts([act])) == [*dict.fromkeys(["begin", *statements, *AUDIT, "commit"])]


# --- docs/training.md ----------------------------------------------------------------------------------------------

OWN = ROOT / "docs" / "handoff-during-a-decline.toml"
GUIDE = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")


def test_the_worked_example_of_the_guide_plays() -> None:
    scenario = scenarios.found(str(OWN))
    assert told(scenario) == scenario.expected.transcript
    tally = counted(scenario)
    assert (tally.violations, ends(tally)) == ((), sorted(scenario.expected.ends))
    assert f"ends with 0 violations in {tally.schedules} schedules" in GUIDE


def test_the_guide_quotes_the_file_it_explains_and_names_what_exists(tmp_path: Path) -> None:
    quoted = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)
    [session] = [each for each in quoted if "[[fault]]" in each]
    (tmp_path / "session.toml").write_text(session, encoding="utf-8")
    assert recording.read(tmp_path / "session.toml").seed == 5
    assert [each for each in quoted if each != session and each not in OWN.read_text(encoding="utf-8")] == []
    assert set(re.findall(r"rehearse ([a-z]+(?:-[a-z]+)+)[ `]", GUIDE)) <= set(scenarios.names())
    for kind in (*PROGRAMS, *CALLS):
        assert f"`{kind}`" in GUIDE
    for act, statements in BY_ACT.items():
        assert f"| `{act}` | {' '.join(f'`{each}`' for each in dict.fromkeys(statements))} |" in GUIDE
    assert re.findall(r".*(?<!python3 )run\.py .*", GUIDE) == []
    doubles_of = scenarios.found("two-desks-one-job").expected.naive_doubles
    assert f"{doubles_of} orders double-book" in GUIDE
