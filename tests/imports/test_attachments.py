"""Attachments of a job: a small JSON object, kept to the letter and never more than that (SPEC, intro)."""

import json

import pytest

from engine.imports.attachments import attachments
from engine.imports.jobs import jobs
from engine.imports.parsed import Parsed, Wrong
from engine.rules.nouns import NewJob
from tests.imports.sheets import JOB, ROME, sheet, whole


def jobs_of(data: bytes) -> Parsed[NewJob]:
    return jobs(data, name="jobs", zone=ROME)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("{}", "{}"),
        (' { "b" : 1.50 , "a": [true, null, "ü\\n"] } ', '{"a":[true,null,"ü\\n"],"b":1.50}'),
        ('{"big":123456789012345678901234567890}', '{"big":123456789012345678901234567890}'),
        ('{"x":1e999}', '{"x":1e999}'),
    ],
)
def test_an_object_is_kept_on_one_line_with_its_digits(text: str, kept: str) -> None:
    assert attachments(text) == kept
    assert attachments(kept) == kept


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("[]", "an object is wanted"),
        ("7", "object is wanted"),
        ("code 7", "not JSON"),
        ('{"a":1,"a":2}', "stands twice"),
        ('{"a":{"b":1,"b":2}}', "stands twice"),
        ('{"":1}', "a key has 1 to 60"),
        ('{"a":NaN}', "NaN is no number"),
        ('{"a":"\\ud800"}', "half a character"),
        ('{"a":"\\u0000"}', "NUL"),
        ('{"a":"' + "x" * 4_000 + '"}', "more than 4,000"),
        ('{"a":' + "[" * 1_900 + "]" * 1_900 + "}", "nested too deep"),
    ],
)
def test_what_is_no_small_object_is_refused_with_its_rule(text: str, rule: str) -> None:
    found = attachments(text)
    assert isinstance(found, Wrong)
    assert rule.removeprefix("an ") in found.rule


def test_they_come_in_a_cell_of_a_table_and_as_an_object_of_json() -> None:
    row = {"attachments": '{"code": "7"}'}
    for data in (sheet(row), json.dumps([{**JOB, "attachments": {"code": "7"}}]).encode()):
        [job] = whole(jobs_of(data))
        assert (job.attachments, "attachments" in job.unsaid) == ('{"code":"7"}', False)
    [job] = whole(jobs_of(sheet()))
    assert (job.attachments, job.unsaid) == ("{}", {"attachments"})
    for bad in ("code 7", "[1]", "true"):
        [refused] = jobs_of(sheet({"attachments": bad})).rejected
        assert (refused.row, refused.column, "JSON" in refused.rule) == (2, "attachments", True)
    for odd in ('["a"]', "7", "true", "[{}]"):
        [refused] = jobs_of(json.dumps([{**JOB, "attachments": "?"}]).replace('"?"', odd).encode()).rejected
        assert (refused.column, "JSON object is wanted" in refused.rule) == ("attachments", True)


def test_of_an_object_that_lacks_a_key_nothing_is_said() -> None:
    rows = [{**JOB, "id": "a", "attachments": {"x": 1}}, {key: JOB[key] for key in JOB if key != "notes"}]
    first, second = whole(jobs_of(json.dumps(rows).encode()))
    assert (first.unsaid, second.unsaid) == (set(), {"notes", "attachments"})
