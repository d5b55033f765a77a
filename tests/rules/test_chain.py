"""The audit's hash chain: what was edited, deleted, moved, put in or cut is found (SPEC 9)."""

from collections.abc import Callable

import pytest

from engine.rules.chain import FIELDS, GENESIS, first_bad, link

Row = dict[str, object]


def chain(n: int, tenant: str = "main") -> list[Row]:
    rows: list[Row] = []
    prev_hash = GENESIS
    for seq in range(1, n + 1):
        row: Row = dict.fromkeys(FIELDS)
        row |= {"seq": seq, "at_ms": 1000 + seq, "actor": "dora", "role": "dispatcher", "act": "offer", "reason": "",
                "words": f"row {seq}", "detail": "{}"}  # fmt: skip
        row |= {"prev_hash": prev_hash, "hash": link(tenant, row, prev_hash)}
        prev_hash = str(row["hash"])
        rows.append(row)
    return rows


def edited(rows: list[Row]) -> None:
    rows[2]["words"] = "another story"


def rehashed(rows: list[Row]) -> None:
    rows[2]["words"] = "another story"
    rows[2]["hash"] = link("main", rows[2], str(rows[2]["prev_hash"]))


def deleted(rows: list[Row]) -> None:
    del rows[2]


def swapped(rows: list[Row]) -> None:
    rows[2], rows[3] = rows[3], rows[2]


def put_in(rows: list[Row]) -> None:
    rows.insert(2, dict(rows[2]))


@pytest.mark.parametrize(
    ("harm", "found"),
    [(edited, 3), (rehashed, 4), (deleted, 3), (swapped, 3), (put_in, 4)],
    ids=lambda each: getattr(each, "__name__", str(each)),
)
def test_the_first_row_that_is_not_as_it_was_written_is_named(harm: Callable[[list[Row]], None], found: int) -> None:
    rows = chain(6)
    harm(rows)
    assert first_bad("main", rows, 0, GENESIS) == found


def test_a_whole_chain_is_whole_also_in_pages() -> None:
    rows = chain(6)
    assert first_bad("main", rows, 0, GENESIS) is None
    assert first_bad("main", rows[:3], 0, GENESIS) is None
    assert first_bad("main", rows[3:], 3, str(rows[2]["hash"])) is None


def test_a_cut_tail_is_left_to_the_head_that_names_the_last_row() -> None:
    assert first_bad("main", chain(6)[:4], 0, GENESIS) is None


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_is_covered(name: str) -> None:
    [row] = chain(1)
    changed = row | {name: "other" if name not in ("seq", "at_ms") else 99}
    assert link("main", changed, GENESIS) != row["hash"]


def test_the_tenant_and_the_row_before_are_covered_and_fields_do_not_run_together() -> None:
    [row] = chain(1)
    assert link("other", row, GENESIS) != row["hash"]
    assert link("main", row, "1" * 64) != row["hash"]
    one, two = row | {"reason": "ab", "words": "c"}, row | {"reason": "a", "words": "bc"}
    assert link("main", one, GENESIS) != link("main", two, GENESIS)


def test_any_text_can_be_chained() -> None:
    [row] = chain(1)
    for words in ("Zürich 東京 🚑", "\ud800 alone", "\0", '","'):
        assert len(link("main", row | {"words": words}, GENESIS)) == 64
