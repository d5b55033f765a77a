"""Every real-world case of what is built so far has a test that bears its id, or a line here that says why not yet.

The list itself is given material; a case counts as tested when its id is in a test's name or docstring.
"""

import ast
import csv
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

CATEGORIES = frozenset({
    "clock skew", "out-of-order fixes", "duplicate submission", "position quality", "stale position", "device payload",
    "null island", "swapped coordinates", "router lies", "antimeridian", "H3", "geofence", "DST", "time zones",
    "double assignment", "idempotency", "offer expiry", "re-assignment", "notification", "windows", "unknown fields",
    "explain", "fairness", "travel time", "router nulls", "router failures", "router config", "scheduler", "suspend",
    "backup", "migrations", "imports", "reports", "privacy", "deletes", "audit", "data fidelity", "bulk actions",
    "board refresh", "terminal text", "big boards", "terminal life",
})  # fmt: skip

NOT_YET = {
    "B021": "the bodies of OwnTracks belong to the HTTP door, which comes later",
    "B044": "a query string with + in its offset belongs to the HTTP door, which comes later",
}

PARTLY = {
    "B009": "what a phone is answered belongs to the HTTP door",
    "B019": "Overland's missing device_id belongs to the HTTP door; unknown workers are counted",
    "B022": "OsmAnd's query strings belong to the HTTP door; their times are judged by the freshness rules",
    "B042": "the export is the command line's; offer texts come with the worker's page",
    "B064": "planner confirm comes with the planner; what there is, bulk too, shares one path",
    "B089": "the planner comes later; its tables are split already",
    "B094": "of the planner's own minute nothing can be late yet; every round is covered",
    "B101": "there is one schema version: a newer one is refused untouched; upgrades come with the second",
    "B107": "the day's export comes with the reports; to which day an instant belongs is decided",
}

ELSEWHERE = {"rebalancing": "planner"}

ID = re.compile(r"B\d{3}")


@pytest.fixture(scope="module")
def cases(shared: Path) -> dict[str, str]:
    """Case id → category."""
    path = shared / "cases" / "cases.tsv"
    if not path.is_file():
        pytest.skip("needs cases.tsv of the given material")
    with path.open(encoding="utf-8", newline="") as file:
        return {row["id"]: row["category"] for row in csv.DictReader(file, delimiter="\t")}


@pytest.fixture(scope="module")
def tested() -> dict[str, set[str]]:
    """Case id → the tests that bear it in their name or docstring."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                for case in ID.findall(f"{node.name} {ast.get_docstring(node) or ''}"):
                    found.setdefault(case, set()).add(f"{path.relative_to(ROOT)}::{node.name}")
    return found


def test_every_case_of_what_is_built_has_its_test_or_a_reason(
    cases: dict[str, str], tested: dict[str, set[str]]
) -> None:
    wanted = {case for case, category in cases.items() if category in CATEGORIES}
    assert sorted(wanted - set(tested) - set(NOT_YET)) == []


def test_what_is_not_yet_tested_really_is_not(cases: dict[str, str], tested: dict[str, set[str]]) -> None:
    assert {case: tested[case] for case in NOT_YET if case in tested} == {}
    assert set(NOT_YET) <= set(cases)


def test_what_is_partly_tested_has_a_test_and_says_what_is_left(tested: dict[str, set[str]]) -> None:
    assert sorted(set(PARTLY) - set(tested)) == []


def test_a_test_names_no_case_that_does_not_exist(cases: dict[str, str], tested: dict[str, set[str]]) -> None:
    assert {case: names for case, names in tested.items() if case not in cases} == {}


def test_every_category_is_built_or_named_as_yet_to_come(cases: dict[str, str]) -> None:
    assert sorted(set(cases.values()) - CATEGORIES - set(ELSEWHERE)) == []
