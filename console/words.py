"""Text for a terminal: what people and files wrote is shown as it stands and can do nothing. Pure."""

import unicodedata

CONTROL_PICTURES = 0x2400
DELETE = 0x7F
# Of the invisible format characters these belong to writing: joiners, the soft hyphen, signs that span Arabic numbers.
WRITING = frozenset("\u00ad\u200c\u200d\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2")
UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def inert(text: str) -> str:
    """The text on one line, with control, bidirectional and other unseen characters shown as symbols.

    ESC becomes ␛, a line break ␊, U+202E ‹U+202E›. Whoever prints it takes care that no markup is read in it."""
    if text.isprintable():
        return text
    return "".join(map(_shown, text))


def _shown(letter: str) -> str:
    if letter.isprintable() or letter in WRITING or unicodedata.category(letter) not in UNSEEN:
        return letter
    code = ord(letter)
    if code < 0x20:
        return chr(CONTROL_PICTURES + code)
    return "␡" if code == DELETE else f"‹U+{code:04X}›"
