"""Lines that do not fit go on below where their words began, not at the edge. Pure."""

from itertools import groupby

from rich.cells import cell_len

from console.viewmodels.cells import PLAIN, Line

NARROW_INDENT = 4


def hung(line: Line, width: int, begins: int) -> list[Line]:
    """The line in rows of at most ``width`` columns. Its words begin at column ``begins`` and stand below each other
    while that leaves them half of the width; a word longer than a row is broken. Wide characters count two."""
    if width < 2 or sum(cell_len(text) for text, _ in line) <= width:
        return [line]
    letters = [(letter, look) for text, look in line for letter in text]
    indent = begins if begins * 2 <= width else min(NARROW_INDENT, width // 4)
    kept = _reach("".join(letter for letter, _ in letters), begins)
    rows: list[Line] = []
    while letters:
        room = width - (indent if rows else 0)
        text = "".join(letter for letter, _ in letters)
        end = _end(text, room, 0 if rows else kept)
        rows.append((*(((" " * indent, PLAIN),) if rows and indent else ()), *_pieces(letters[:end])))
        following = end + len(text[end:]) - len(text[end:].lstrip(" "))
        letters = letters[following:]
    return rows


def _reach(text: str, columns: int) -> int:
    """How many letters fit into so many columns."""
    used = 0
    for at, letter in enumerate(text):
        used += cell_len(letter)
        if used > columns:
            return at
    return len(text)


def _end(text: str, room: int, kept: int) -> int:
    """Where a row ends: at the last blank that fits, after the first ``kept`` letters; else within a word."""
    most = max(1, _reach(text, room))
    if most == len(text) or text[most] == " ":
        return most
    blank = text.rfind(" ", kept, most)
    found = len(text[:blank].rstrip(" ")) if blank > kept else 0
    return found or most


def _pieces(letters: list[tuple[str, str]]) -> Line:
    found = ((look, "".join(letter for letter, _ in group)) for look, group in groupby(letters, key=lambda one: one[1]))
    return tuple((text, look) for look, text in found)
