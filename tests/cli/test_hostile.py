"""Text from data can do nothing to a terminal or to a script, and stays what it is."""

import json
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from console.words import inert
from tests.cli.shell import Shell

OWN = ["[/]", "[bold]x[/bold]", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "a\u202eb", "\u2066x\u2069", "tab\there",
       "\x9b2J",
       ":warning:", "張偉", "Zoë", "=1+1", "${HOME}", "%s %d", "{0}", "ＡＢ", "é́", "🏳️‍🌈"]  # fmt: skip
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def naughty(shared: Path) -> list[str]:
    return json.loads((shared / "data" / "names" / "blns.json").read_text(encoding="utf-8"))


@given(st.text())
def test_inert_text_is_one_line_without_anything_unseen(text: str) -> None:
    shown = inert(text)
    assert not CONTROL.search(shown)
    assert "\n" not in shown
    assert inert(shown) == shown


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S", "Mn", "Zs"])))
def test_inert_leaves_what_can_be_seen(text: str) -> None:
    assert inert(text) == text


def test_inert_names_what_it_hides() -> None:
    assert inert("a\x1b[31m\u202e\x9b\n\x7f") == "a␛[31m‹U+202E›‹U+009B›␊␡"
    assert inert("\ud800") == "‹U+D800›"
    assert inert("🏳️‍🌈 [/] [b]") == "🏳️‍🌈 [/] [b]"


def test_inert_on_the_list_of_naughty_strings(shared: Path) -> None:
    for text in naughty(shared):
        assert all(unicodedata.category(letter) not in ("Cc", "Cs", "Zl", "Zp") for letter in inert(text))


LOOKS = (["jobs"], ["board"], ["workers"], ["job", "hostile-0"], ["why", "hostile-0"], ["audit"], ["watch", "--once"])


def _jobs(texts: list[str]) -> str:
    return json.dumps([
        {"id": f"hostile-{n}", "type": "visit", "skills": ["s1"], "lat": 44.171, "lng": 12.201, "address": text,
         "notes": text, "not_before": "2027-03-15T12:00:00+01:00", "due_by": "2027-03-15T13:00:00+01:00",
         "duration_min": 5}
        for n, text in enumerate(texts)
    ])  # fmt: skip


def _workers(texts: list[str]) -> str:
    return json.dumps([
        {"id": f"w{n}", "name": text, "skills": ["s1"], "lat": 44.171, "lng": 12.201,
         "shift_start": "2027-03-15T06:00:00+01:00", "shift_end": "2027-03-15T18:00:00+01:00"}
        for n, text in enumerate(texts)
    ])  # fmt: skip


def _land(shell: Shell, site: Path, texts: list[str]) -> tuple[list[str], list[str]]:
    """Import jobs and workers that hold these texts; answers the ids that landed."""
    (site / "hostile_jobs.json").write_text(_jobs(texts))
    (site / "hostile_workers.json").write_text(_workers(texts))
    landed: list[list[str]] = []
    for kind in ("jobs", "workers"):
        ran = shell("import", kind, site / f"hostile_{kind}.json", "--json")
        assert ran.code in (0, 1)
        assert not CONTROL.search(ran.err)
        landed.append(ran.document["ids"])
    return landed[0], landed[1]


def test_hostile_text_is_shown_as_text_everywhere(shell: Shell, site: Path) -> None:
    jobs, workers = _land(shell, site, OWN)
    assert len(jobs) == len(workers) == len(OWN)
    for look in LOOKS:
        ran = shell(*look)
        assert ran.code == 0, look
        assert not CONTROL.search(ran.out), look
    shown = shell.ok("jobs")
    for text in ("[/]", "[bold]x[/bold]", "␛[31mred", ":warning:", "張偉", "‹U+202E›", "=1+1"):
        assert text in shown


def test_hostile_text_comes_back_whole_in_json(shell: Shell, site: Path) -> None:
    jobs, _ = _land(shell, site, OWN)
    told = {each["id"]: each["address"] for each in shell.json("jobs")}
    assert {name: told[name] for name in jobs} == {f"hostile-{n}": text for n, text in enumerate(OWN)}


def test_naughty_strings_pass_through_every_list(shell: Shell, site: Path, shared: Path) -> None:
    jobs, workers = _land(shell, site, naughty(shared))
    assert len(jobs) > 400
    assert len(workers) > 300
    for look in (["jobs"], ["workers"], ["board"]):
        assert not CONTROL.search(shell.ok(*look))
        shell.json(*look)


def test_columns_stay_aligned_beside_wide_characters(shell: Shell, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    _land(shell, site, ["plain", "張偉張偉", "ＡＢＣ"])
    rows = [line for line in shell.ok("workers").splitlines() if re.match(r" w\d ", line)]
    assert len(rows) == 3
    assert len({cell_len(row[: row.index(" s1 ")]) for row in rows}) == 1


@pytest.mark.parametrize(
    "typed", [["job", "\x1b[2J"], ["assign", "a\u202eb"], ["job", "[/]"], ["accept", "\x07", "--as", "ana"]]
)
def test_hostile_arguments_come_back_as_text(shell: Shell, typed: list[str]) -> None:
    ran = shell(*typed)
    assert ran.code == 1
    assert not CONTROL.search(ran.out + ran.err)


ODD_LINES = [
    b"[" * 50_000,
    b'{"worker":"ana","device_time":1e999,"lat":1,"lng":1}',
    b'{"worker":"ana","device_time":99999999999999999999,"lat":1,"lng":1}',
    b'{"worker":"ana","device_time":-1,"lat":1,"lng":1}',
    b'{"worker":"ana","device_time":"","lat":1,"lng":1}',
    b'{"worker":"ana","device_time":"+99:99:99","lat":1,"lng":1}',
    b'{"worker":"ana","device_time":"2027-02-30T00:00:00Z","lat":1,"lng":1}',
    b'{"worker":"ana","device_time":true,"lat":1,"lng":1}',
    b'{"worker":"\\ud800","device_time":1805090401000,"lat":1,"lng":1}',
    b'{"worker":"\xff","device_time":1805090401000,"lat":1,"lng":1}',
    b'{"worker":null,"device_time":1805090401000,"lat":1,"lng":1}',
    b'{"worker":"ana","device_time":1805090401000,"lat":NaN,"lng":1}',
    b'{"worker":"ana","device_time":1805090401000,"lat":"44","lng":1}',
    b'{"worker":"ana","device_time":1805090401000,"lat":1,"lng":1,"seq":1.5}',
    b'{"worker":"ana","device_time":1805090401000,"lat":1,"lng":1,"seq":99999999999999999999999}',
    b'{"worker":"' + b"x" * 200_000 + b'","device_time":1805090401000,"lat":1,"lng":1}',
    b"null",
    b'"\x1b[2J"',
    b"\x00\x01",
]


def test_odd_lines_are_told_by_number_and_stop_nothing(shell: Shell, site: Path) -> None:
    good = b'{"worker":"ana","device_time":"2027-03-15T07:00:01+01:00","lat":44.17,"lng":12.2}'
    (site / "odd.jsonl").write_bytes(b"\xef\xbb\xbf" + b"\r\n".join([*ODD_LINES, b"", good]))
    ran = shell("fixes", site / "odd.jsonl", "--json")
    assert ran.code == 1
    told = ran.document
    assert told["kept"] == 1
    assert [each["line"] for each in told["bad_lines"]] == list(range(1, len(ODD_LINES) + 1))
    assert all(each["rule"] for each in told["bad_lines"])
    assert not CONTROL.search(ran.err)


def test_odd_values_of_a_fix_are_counted(shell: Shell, site: Path) -> None:
    line = '{"worker":"ana","device_time":1805090401000,"lat":%s,"lng":%s%s}\n'
    lines = [line % ("1e308", "1", ""), line % ("12.2", "944.17", ""), line % ("0", "0", ""),
             line % ("44.17", "12.2", ',"accuracy":-1'), line % ("44.17", "12.2", ',"accuracy":1e308')]  # fmt: skip
    (site / "odd.jsonl").write_text("".join(lines))
    told = shell.json("fixes", site / "odd.jsonl")
    assert told["kept"] + sum(told["rejected"].values()) == len(lines)
    assert told["rejected"]["out_of_range"] == 2
