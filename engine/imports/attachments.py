"""What is attached to a job (a check-in code, a proof of delivery): a small JSON object, kept as it was written."""

import json

from engine.imports.json_text import Fields, Flag, Items, Json, Number, kind, loaded
from engine.imports.parsed import Wrong

MOST_ATTACHED = 4_000
MOST_KEY = 60


def attachments(text: str) -> str | Wrong:
    """The object as it is stored: one line, its keys in order, numbers with their digits."""
    if len(text) > MOST_ATTACHED:
        return Wrong(f"{len(text):,} characters, more than {MOST_ATTACHED:,}: attach a link to what is larger")
    found = loaded(text)
    return found if isinstance(found, Wrong) else written(found)


def written(found: Json) -> str | Wrong:
    """One line of JSON, by the rules of attachments."""
    if not isinstance(found, Fields):
        return Wrong(f'a JSON object is wanted ({{"code": "7"}}), and this is {kind(found)}')
    try:
        text = _text(found)
    except (ValueError, RecursionError) as error:
        return Wrong(str(error) if isinstance(error, ValueError) else "arrays or objects are nested too deep")
    if len(text) > MOST_ATTACHED:
        return Wrong(f"{len(text):,} characters, more than {MOST_ATTACHED:,}: attach a link to what is larger")
    return text


def _text(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, Flag):
        return str(value)
    if isinstance(value, Number):
        if value.lstrip("-") in ("NaN", "Infinity"):
            raise ValueError(f"{value} is no number of JSON: write a number or a text")
        return str(value)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Items):
        return f"[{','.join(map(_text, value.values))}]"
    return _object(value)


def _object(value: Fields) -> str:
    if value.twice is not None:
        raise ValueError(f"the key {value.twice!r} stands twice in one object: keep one")
    for key in value.values:
        if not key.strip() or len(key) > MOST_KEY:
            raise ValueError(f"a key has 1 to {MOST_KEY} characters")
    return "{" + ",".join(f"{_quoted(key)}:{_text(each)}" for key, each in sorted(value.values.items())) + "}"


def _quoted(text: str) -> str:
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError("it holds a NUL or half a character (a lone surrogate): take it away")
    return json.dumps(text, ensure_ascii=False)
