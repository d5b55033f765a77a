"""JSON as it was written: numbers keep their digits, a repeated key is seen, and no input can exhaust the reader."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from engine.imports.parsed import Wrong

MOST_CONTAINERS = 5_000_000


class Number(str):
    """The digits of a number as they stand in the file; NaN and Infinity too, for a cell's rule to refuse."""

    __slots__ = ()


class Flag(str):
    """``true`` or ``false``."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Items:
    """An array."""

    values: "tuple[Json, ...]"


@dataclass(frozen=True, slots=True)
class Fields:
    """An object. ``twice`` is a key that stands twice in it (which is meant cannot be known), else empty."""

    values: "Mapping[str, Json]"
    twice: str | None = None


Json: TypeAlias = str | Items | Fields | None


def loaded(text: str) -> Json | Wrong:
    """One document. Numbers stay text, so that neither 5,000 digits nor 1e999 is ever computed."""
    if text.count("[") + text.count("{") > MOST_CONTAINERS:
        return Wrong(f"more than {MOST_CONTAINERS:,} arrays and objects: split the file")
    try:
        found: object = json.loads(
            text, parse_int=Number, parse_float=Number, parse_constant=Number, object_pairs_hook=_fields
        )
        return _plain(found)
    except RecursionError:
        return Wrong("arrays or objects are nested too deep")
    except json.JSONDecodeError as error:
        return Wrong(f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}; one JSON document is wanted")


def kind(value: Json) -> str:
    """What a value is, in words for a refusal."""
    if isinstance(value, Flag):
        return f"the value {value}"
    names: dict[type, str] = {Number: "a number", str: "text", Items: "an array", Fields: "an object"}
    return names.get(type(value), "null")


def _fields(pairs: list[tuple[str, object]]) -> Fields:
    found: dict[str, Json] = {}
    twice: str | None = None
    for key, value in pairs:
        if key in found:
            twice = key
        found[key] = _plain(value)
    return Fields(found, twice)


def _plain(value: object) -> Json:
    """What the decoder made, in our types; what stands inside an object was made so with the object."""
    if isinstance(value, bool):
        return Flag("true" if value else "false")
    if isinstance(value, list):
        return Items(tuple(map(_plain, cast("list[object]", value))))
    return cast("Json", value)
