"""What an operator keeps in files of their own: keys over command ids (keymap.toml), filters by name (filters.toml).

The folder is $XDG_CONFIG_HOME/callboard, else ~/.config/callboard; $CALLBOARD_CONFIG names another."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from textual.keys import Keys

from console.commands import COMMANDS, KEY_WORDS, PANES

KEYMAP, FILTERS = "keymap.toml", "filters.toml"
FIXED = {"escape", "tab", "shift+tab", "enter", "up", "down", "j", "k", "g", "G", "home", "end", "pageup", "pagedown",
         "ctrl+c", "ctrl+q", "ctrl+s"}  # fmt: skip
SENT_AS = {"ctrl+i": "tab", "ctrl+m": "enter"}
KEYS = {each.value for each in Keys if each.value.isascii() and not each.value.startswith("<")}
NAMED = {shown: key for key, shown in KEY_WORDS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Keymap:
    """``keys``: the changed keys by command, as Textual names them; ``faults``: what was not taken, and why."""

    keys: dict[str, str]
    faults: tuple[str, ...] = ()


def folder() -> Path:
    if named := os.environ.get("CALLBOARD_CONFIG"):
        return Path(named)
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "callboard"


def load(path: Path | None = None) -> Keymap:
    """The user's keys; a fault leaves the key as it was and is told, never a desk that does not open."""
    try:
        text = (path or folder() / KEYMAP).read_text(encoding="utf-8")
    except FileNotFoundError:
        return Keymap(keys={})
    except (OSError, UnicodeDecodeError, RuntimeError) as error:
        return Keymap(keys={}, faults=(f"{KEYMAP} cannot be read: {error}",))
    try:
        told = cast(Mapping[str, object], tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return Keymap(keys={}, faults=(f"{KEYMAP} is not TOML: {error}",))
    return judged(told)


def judged(told: Mapping[str, object]) -> Keymap:
    """Keys that name a command and are nobody else's."""
    section = told.get("keys", {})
    faults = [f"[{name}]: only [keys] is known" for name in told if name != "keys"]
    if not isinstance(section, dict):
        return Keymap(keys={}, faults=(*faults, "[keys]: a section of command = key is wanted"))
    wanted = {name: key for name, key in cast(dict[str, object], section).items() if _known(name, key, faults)}
    keys = {name: NAMED.get(cast(str, key), cast(str, key)) for name, key in wanted.items()}
    for name in list(keys):
        if (owner := _taken(name, keys)) is not None:
            faults.append(f"{name} = {wanted[name]!r}: that key is {owner}'s")
            del keys[name]
    return Keymap(keys=keys, faults=tuple(faults))


def _known(name: str, key: object, faults: list[str]) -> bool:
    if name not in {each.id for each in COMMANDS}:
        faults.append(f"{name}: no such command; ? lists them")
    elif not isinstance(key, str) or not _is_key(key):
        faults.append(f'{name} = {key!r}: one key is wanted, such as "O", "ctrl+o" or "f5"')
    elif key in SENT_AS:
        faults.append(f"{name} = {key!r}: a terminal sends it as {SENT_AS[key]}, which is the desk's")
    else:
        return True
    return False


def _is_key(key: str) -> bool:
    """A character, or a key by the name Textual has for it: another one could never be pressed."""
    if len(key) == 1:
        return key.isprintable() and key not in ", "
    return key in NAMED or key.removeprefix("alt+") in KEYS


def _taken(name: str, keys: Mapping[str, str]) -> str | None:
    """Whose key it is already, after all changes."""
    key = keys[name]
    if key in FIXED:
        return "the desk"
    for pane, (used, title) in PANES.items():
        if used == key:
            return f"pane {title or pane}"
    for each in COMMANDS:
        theirs = {keys[each.id]} if each.id in keys else set(each.keys)
        if each.id != name and key in theirs:
            return each.id
    return None


# --- kept filters ---------------------------------------------------------------------------------------------------

Told = tuple[str, str]
"""Words, and the look they are said in."""


def saved() -> dict[str, str]:
    """The kept filters by name; none where there is no file or it is no TOML."""
    return _kept()[0]


def _kept() -> tuple[dict[str, str], str]:
    """The filters, and what in the file is none: a person wrote that, and nothing is written over it."""
    try:
        told = cast(Mapping[str, object], tomllib.loads((folder() / FILTERS).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}, ""
    except (OSError, ValueError, RuntimeError) as error:
        return {}, f"{FILTERS} cannot be read: {error}"
    section = told.get("filters", {})
    found = cast(dict[str, object], section) if isinstance(section, dict) else {}
    kept = {name: text for name, text in found.items() if isinstance(text, str)}
    other = [*(f"[{name}]" for name in told if name != "filters" or not isinstance(section, dict)),
             *(name for name in found if name not in kept)]  # fmt: skip
    return kept, f"{FILTERS} holds more than filters: {', '.join(other)}" if other else ""


def save(name: str, text: str) -> Told:
    if not text:
        return "save: no filter is on; filter first (f, u, or enter on a cell)", "warn"
    kept, fault = _kept()
    if fault:
        return f"save {name}: {fault}; mend it first, nothing was changed", "alert"
    return _write({**kept, name: text}, f"filter {name} is kept: {text}")


def forget(name: str) -> Told:
    kept, fault = _kept()
    if fault:
        return f"forget {name}: {fault}; mend it first, nothing was changed", "alert"
    if name not in kept:
        return f"forget {name}: no filter of this name; /recall lists them", "warn"
    return _write({each: text for each, text in kept.items() if each != name}, f"filter {name} is forgotten")


def _write(kept: Mapping[str, str], said: str) -> Told:
    """Whole or not at all: written beside, then put in place."""
    lines = [f"{_quoted(name)} = {_quoted(text)}" for name, text in sorted(kept.items())]
    path = folder() / FILTERS
    part = path.with_suffix(".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text("\n".join(["[filters]", *lines, ""]), encoding="utf-8")
        part.replace(path)
    except (OSError, UnicodeEncodeError, RuntimeError) as error:
        return f"filters cannot be kept: {error}", "alert"
    return said, "ok"


def _quoted(text: str) -> str:
    """A TOML basic string: quotes, backslashes and controls escaped."""
    inside = "".join(
        f"\\u{ord(each):04X}" if ord(each) < 0x20 or ord(each) == 0x7F else f"\\{each}" if each in '"\\' else each
        for each in text
    )
    return f'"{inside}"'
