"""Every key of every scenario, made wrong in every way a hand makes it wrong: refused with file, key and what is
allowed, or of a kind that cannot be wrong. Nothing is accepted in silence, nothing ends in a traceback."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
import copy
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from engine.ports import Invalid
from fixtures import scenarios
from fixtures.rehearsal import Programs, opened
from tests.conftest import ROOT

WANTED = re.compile(r"wanted|allowed|missing|only|once|at most|later one|own id")
NAMES = ("id", "name", "what", "do", "as", "worker", "job", "offer", "held", "urgent", "to", "region", "lane", "step",
         "zone", "now")  # fmt: skip
DEFAULTS = {"notes", "schedule", "name", "skills", "lat", "lng", "capacity", "region", "regions", "minutes", "priority",
            "as", "before", "question", "naive", "epoch", "force", "lane", "held", "age_s", "to", "road"}  # fmt: skip
"""Keys that may be left out: what is not told has a default, or is not there."""
FREE = {"title", "teaches", "rule", "notes", "ask", "answer", "fault"}
"""Texts for people: any will do."""
OWN_NAMES = {("worker", "id"), ("job", "id"), ("cast", "name"), ("worker", "name")}
"""Where a name is given, any will do; whoever uses the old one is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """``path``: to the table and its key; ``kind``: misspelt, missing, type, name, range, extra."""

    kind: str
    path: tuple[str | int, ...]
    value: object = None

    @property
    def key(self) -> str:
        return str(self.path[-1])

    def made_in(self, whole: dict[str, Any]) -> dict[str, Any]:
        wrong = copy.deepcopy(whole)
        table: Any = wrong
        for each in self.path[:-1]:
            table = table[each]
        if self.kind == "extra":
            table["zzyzx"] = 1
        elif self.kind == "misspelt":
            table[self.value] = table.pop(self.key)
        elif self.kind == "missing":
            del table[self.key]
        else:
            table[self.path[-1]] = self.value
        return wrong


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def document(whole: dict[str, Any]) -> str:
    return "".join(f"{key} = {toml(each)}\n" for key, each in whole.items())


def walk(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every table and every key below here."""
    yield path, value
    inner: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from walk(each, (*path, key))


def mistakes(whole: dict[str, Any]) -> Iterator[Mistake]:
    for path, value in walk(whole):
        if isinstance(value, dict):
            yield Mistake(kind="extra", path=(*path, ""))
        if not path:
            continue
        key = path[-1]
        if isinstance(key, str):
            yield Mistake(kind="misspelt", path=path, value=f"{key[0]}q{key[1:]}")
            yield Mistake(kind="missing", path=path)
            for wrong in (7, "7", [7], {"seven": 7}):
                if type(wrong) is not type(value) and not (type(value) in (int, float) and type(wrong) in (int, float)):
                    yield Mistake(kind="type", path=path, value=wrong)
        yield from wrong_values(path, value)
        if len(path) > 1 and path[-2] == "schedule":
            for wrong in (
                "nobody",
                "clock 21",
                "clock",
                "clock +0 s",
                "clock +86401 s",
                f"{str(value).split(' x')[0]} x99",
            ):
                yield Mistake(kind="line", path=path, value=wrong)


def wrong_values(path: tuple[str | int, ...], value: object) -> Iterator[Mistake]:
    if path[-1] in NAMES and isinstance(value, str):
        yield Mistake(kind="name", path=path, value="nobody")
    if type(value) is int:
        yield from (Mistake(kind="range", path=path, value=wrong) for wrong in (-1, 10**9, -(10**9)))


def sound(name: str) -> dict[str, Any]:
    file = scenarios.HERE / f"{name}.toml" if "/" not in name else ROOT / name
    whole = tomllib.loads(file.read_text(encoding="utf-8"))
    whole.pop("expected", None)
    return whole


def answer(whole: dict[str, Any], programs: Programs = Programs.SAFE) -> str:
    """What is said of it; nothing where it is accepted."""
    try:
        with opened(scenarios.read(document(whole), name="mine", file="mine.toml"), programs):
            return ""
    except Invalid as refused:
        return str(refused)


def is_fine(mistake: Mistake) -> bool:
    """It may be accepted: a default, a text for people, a number for which the whole range has a meaning."""
    table = next((str(each) for each in reversed(mistake.path[:-1]) if isinstance(each, str)), "")
    match mistake.kind:
        case "missing":
            return mistake.key in DEFAULTS
        case "type":
            return mistake.key in FREE and isinstance(mistake.value, str)
        case "name":
            return (table, mistake.key) in OWN_NAMES or (mistake.value == "nobody" and mistake.key == "offer")
        case _:
            return False


@pytest.mark.parametrize("name", [*scenarios.names(), "docs/handoff-during-a-decline.toml"])
def test_no_mistake_is_accepted_in_silence_and_each_is_named(name: str) -> None:
    whole = sound(name)
    assert answer(whole) == ""
    wrong: list[str] = []
    for each in mistakes(whole):
        naive = each.path[0] == "naive" and each.kind == "line"
        said = answer(each.made_in(whole), Programs.BARE if naive else Programs.SAFE)
        key = "zzyzx" if each.kind == "extra" else each.key
        named = each.kind in ("missing", "name") or isinstance(each.path[-1], int) or key in said
        if not said and not is_fine(each):
            wrong.append(f"accepted: {each}")
        elif said and not (said.startswith("mine.toml: ") and WANTED.search(said) and named):
            wrong.append(f"not told: {each}: {said}")
        elif each.kind == "misspelt" and "did you mean" not in said:
            wrong.append(f"nothing suggested: {each}: {said}")
    assert wrong == []
