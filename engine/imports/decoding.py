"""Bytes to text: UTF-8 with or without a mark, UTF-16 with one; anything else is refused by name, never guessed."""

import codecs

from engine.imports.parsed import MOST_BYTES, Wrong

_NOT_TABLES = (
    (b"PK\x03\x04", "a spreadsheet or a zip file"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook"),
    (b"\x1f\x8b", "a gzip file"),
    (b"%PDF", "a PDF"),
)


def decoded(data: bytes) -> str | Wrong:
    """The text of a file, its byte order mark taken off. Line ends stay as they are."""
    if len(data) > MOST_BYTES:
        return Wrong(f"the file has {len(data):,} bytes, more than {MOST_BYTES:,}: split it")
    for start, what in _NOT_TABLES:
        if data.startswith(start):
            return Wrong(f"this is {what}: export it as CSV (UTF-8) and import that")
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)) and len(data) % 4 == 0:
        return Wrong("the file is UTF-32: save it as UTF-8")
    if data.startswith(codecs.BOM_UTF16_LE):
        return _strictly(data[2:], "utf-16-le", shift=2)
    if data.startswith(codecs.BOM_UTF16_BE):
        return _strictly(data[2:], "utf-16-be", shift=2)
    if data.startswith(codecs.BOM_UTF8):
        return _strictly(data[3:], "utf-8", shift=3)
    if data[:2000].count(0) > len(data[:2000]) // 4:
        return Wrong("the file looks like UTF-16 without its mark: save it as UTF-8")
    return _strictly(data, "utf-8", shift=0)


def _strictly(data: bytes, encoding: str, *, shift: int) -> str | Wrong:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(encoding, "ignore").replace("\r\n", "\n").replace("\r", "\n")
        found = data[error.start : error.start + 1].hex().upper()
        where = f"line {before.count(chr(10)) + 1}, byte {error.start + shift + 1} (0x{found})"
        return Wrong(f"not {encoding.upper()} at {where}: save the file as UTF-8 (in Excel: 'CSV UTF-8')")
