"""Lines of pieces into Textual content: looks become styles, texts stay texts (nothing is parsed)."""

from collections.abc import Iterable

from textual.content import Content

from console.viewmodels.cells import Line

STYLES = {
    "plain": "",
    "dim": "$foreground-muted",
    "head": "bold $accent",
    "ok": "bold $text-success",
    "warn": "bold $text-warning",
    "alert": "bold $text-error",
    "alarm": "bold reverse $text-error",
    "accent": "$accent",
    "bold": "bold",
    "bar": "$primary",
}


def one(line: Line) -> Content:
    return Content.assemble(*((text, STYLES[look]) if STYLES[look] else text for text, look in line))


def content(lines: Iterable[Line]) -> Content:
    return Content("\n").join([one(each) for each in lines])
