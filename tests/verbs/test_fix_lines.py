"""Whole batches of fixes as JSON lines: read as one, refused as one."""

import pytest

from engine.index.memory import MemoryIndex
from engine.ports import Invalid
from engine.settings import Location
from engine.verbs.fix_lines import line_of, read_lines, write_lines

NOW_MS = 1_780_000_000_123
LINE = b'{"worker":"w","device_time":"2026-11-30T20:00:00.123+01:00","lat":49.4,"lng":8.7}'


def test_what_a_phone_writes_is_what_the_index_takes() -> None:
    batch = write_lines([line_of("w", NOW_MS, 49.4, 8.7, 5.0), line_of("x", NOW_MS + 1, 49.5, 8.6)])
    assert b"device_ms" not in batch
    lines = read_lines(batch)
    assert [(each.worker, each.device_ms, each.accuracy_m) for each in lines] == [
        ("w", NOW_MS, 5.0),
        ("x", NOW_MS + 1, None),
    ]
    index = MemoryIndex(Location())
    index.enrol("main", "w", frozenset())
    assert index.report("main", lines, received_ms=NOW_MS + 50, mono_ms=0).kept == 1


def test_an_offset_counts_and_milliseconds_stay() -> None:
    [line] = read_lines(LINE)
    assert line.device_ms == 1_796_065_200_123


@pytest.mark.parametrize(
    "bad",
    [
        LINE.replace(b"+01:00", b""),
        LINE.replace(b"49.4", b'"49.4"'),
        LINE.replace(b'"lat":49.4,', b""),
        LINE[:-1],
        b"[1]",
        b"\xff",
        LINE.replace(b"2026-11-30", b"2026-02-30"),
    ],
)
def test_a_bad_line_is_refused_in_words_and_with_its_batch(bad: bytes) -> None:
    with pytest.raises(Invalid, match="fixes: "):
        read_lines(LINE + b"\n" + bad)


def test_a_line_cannot_say_its_own_milliseconds() -> None:
    [line] = read_lines(LINE[:-1] + b',"device_ms":5}')
    assert line.device_ms == 1_796_065_200_123


@pytest.mark.parametrize("seq", [-1, 2**53 + 1, 2**64])
def test_a_seq_that_no_column_holds_is_refused(seq: int) -> None:
    line = f'{{"worker":"w","device_time":"2026-05-01T10:00:00Z","lat":49.4,"lng":8.7,"seq":{seq}}}'
    with pytest.raises(Invalid, match="seq"):
        read_lines(line.encode())
