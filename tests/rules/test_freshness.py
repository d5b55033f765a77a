"""Which fix may replace which: clocks, order, rate, quality, plausibility."""

from dataclasses import replace
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules.freshness import Rejection, admit, archivable, device_age_ms, known_accuracy, lag_ms
from engine.rules.nouns import FixReport, Point, Presence
from engine.rules.place import cell
from engine.settings import Location

RULES = Location()
NOW_MS = 1_780_000_000_000
MONO_MS = 50_000_000


def report(device_ms: int = NOW_MS, **other: object) -> FixReport:
    return replace(FixReport(worker="w", device_ms=device_ms, lat=49.41, lng=8.69), **other)  # type: ignore[arg-type]


def stored(device_ms: int, *, received_ms: int | None = None, **other: object) -> Presence:
    """A worker's position as the index holds it, received at ``received_ms`` (default: when the device sent it)."""
    received = device_ms if received_ms is None else received_ms
    values: dict[str, object] = {"lat": 49.41, "lng": 8.69, "accuracy_m": 10.0, "seq": None, **other}
    return Presence(
        worker_id="w",
        cell=cell(Point(49.41, 8.69)),
        device_ms=device_ms,
        received_ms=received,
        lag_ms=lag_ms(device_ms, received),
        seen_mono_ms=MONO_MS - (NOW_MS - received),
        contact_mono_ms=MONO_MS,
        **values,  # type: ignore[arg-type]
    )


def ask(held: Presence | None, fix: FixReport, rules: Location = RULES) -> Rejection | None:
    return admit(held, fix, received_ms=NOW_MS, mono_ms=MONO_MS, rules=rules)


def test_the_first_sane_fix_is_taken() -> None:
    assert ask(None, report()) is None


@pytest.mark.parametrize(
    ("lat", "lng", "why"),
    [
        (nan, 8.0, Rejection.BAD_COORDINATES),
        (49.0, inf, Rejection.BAD_COORDINATES),
        (49.0, 181.0, Rejection.OUT_OF_RANGE),
        (0.0, 0.0, Rejection.NULL_ISLAND),
    ],
)
def test_no_place(lat: float, lng: float, why: Rejection) -> None:
    assert ask(None, report(lat=lat, lng=lng)) is why


def test_B024_near_null_island_is_refused_and_a_tenant_in_the_gulf_of_guinea_can_allow_it() -> None:
    assert ask(None, report(lat=0.01311, lng=0.01311)) is Rejection.NULL_ISLAND
    assert ask(None, report(lat=0.01311, lng=0.01311), Location(allow_null_island=True)) is None


@pytest.mark.parametrize(
    ("device_ms", "why"),
    [
        (NOW_MS + 10_000, None),
        (NOW_MS + 10_001, Rejection.FUTURE),
        (NOW_MS + 300_001, Rejection.SKEW),
        (NOW_MS + 8 * 365 * 86_400_000, Rejection.SKEW),
        (NOW_MS - 300_000, None),
        (NOW_MS - 300_001, Rejection.SKEW),
        (123_456_789_000, Rejection.SKEW),  # B022: 1973
    ],
)
def test_B022_clocks_too_far_apart(device_ms: int, why: Rejection | None) -> None:
    assert ask(None, report(device_ms)) is why


def test_B001_B002_a_poisoned_stored_time_never_blocks() -> None:
    poison = stored(NOW_MS + 8 * 365 * 86_400_000, received_ms=NOW_MS - 60_000, seq=10**9)
    assert ask(poison, report(seq=1)) is None


def test_B004_an_older_fix_never_wins() -> None:
    assert ask(stored(NOW_MS - 1000), report(NOW_MS - 6_188_000)) is Rejection.SKEW
    assert ask(stored(NOW_MS - 1000), report(NOW_MS - 100_000)) is Rejection.OLD


def test_B009_the_same_fix_is_repeated() -> None:
    assert ask(stored(NOW_MS - 1000), report(NOW_MS - 1000)) is Rejection.REPEATED


def test_B011_device_time_decides_whatever_came_first() -> None:
    held = stored(NOW_MS - 100_000, received_ms=NOW_MS)
    assert ask(held, report(NOW_MS - 50_000)) is None
    assert ask(stored(NOW_MS - 50_000, received_ms=NOW_MS - 40_000), report(NOW_MS - 100_000)) is Rejection.OLD


def test_B012_of_several_fixes_with_one_time_the_first_stays() -> None:
    assert ask(stored(NOW_MS - 1000), report(NOW_MS - 1000, lat=49.412)) is Rejection.REPEATED


def test_an_ordering_allowance_lets_a_slightly_older_fix_in_but_never_a_repeated_one() -> None:
    rules = Location(ordering_allowance_s=2)
    held = stored(NOW_MS - 1000, received_ms=NOW_MS - 1000)
    assert ask(held, report(NOW_MS - 2500), rules) is None
    assert ask(held, report(NOW_MS - 3000), rules) is Rejection.OLD
    assert ask(held, report(NOW_MS - 1000), rules) is Rejection.REPEATED


@pytest.mark.parametrize(
    ("held", "gap_ms", "seq", "why"),
    [
        (5, 1000, 6, None),
        (5, -1000, 6, None),  # the number decides when both have one
        (5, 1000, 5, Rejection.REPEATED),
        (5, 1000, 4, Rejection.OLD),
        (5, 10_001, 0, None),  # the phone began to count again
        (None, 1000, 4, None),
        (5, 1000, None, None),
        (5, -1000, None, Rejection.OLD),
    ],
)
def test_sequence_numbers(held: int | None, gap_ms: int, seq: int | None, why: Rejection | None) -> None:
    assert ask(stored(NOW_MS - 20_000, seq=held), report(NOW_MS - 20_000 + gap_ms, seq=seq)) is why


def test_a_noisy_worker_is_thinned_to_the_rate() -> None:
    assert ask(stored(NOW_MS - 150), report(NOW_MS)) is Rejection.RATE
    assert ask(stored(NOW_MS - 200), report(NOW_MS)) is None
    assert ask(stored(NOW_MS - 1), report(NOW_MS), Location(rate_per_s=0)) is None


def test_buffered_points_a_second_apart_are_no_noise() -> None:
    assert ask(stored(NOW_MS - 60_000, received_ms=NOW_MS), report(NOW_MS - 59_000)) is None


def test_B014_a_coarse_fix_does_not_replace_a_good_fresh_one() -> None:
    coarse = report(accuracy_m=2200.0)
    assert ask(stored(NOW_MS - 20_000), coarse) is Rejection.COARSE
    assert ask(stored(NOW_MS - 20_000, accuracy_m=None), coarse) is Rejection.COARSE
    assert ask(stored(NOW_MS - 31_000), coarse) is None  # better than nothing
    assert ask(stored(NOW_MS - 20_000, accuracy_m=3000.0), coarse) is None


@pytest.mark.parametrize("accuracy", [0.0, -1.0, nan, inf, None])
def test_accuracy_that_says_nothing_is_unknown(accuracy: float | None) -> None:
    assert known_accuracy(accuracy) is None
    assert ask(stored(NOW_MS - 20_000), report(accuracy_m=accuracy)) is None


def test_a_jump_is_refused_while_the_stored_position_is_fresh() -> None:
    far = report(lat=49.51)  # 11 km
    assert ask(stored(NOW_MS - 20_000), far) is Rejection.JUMP
    assert ask(stored(NOW_MS - 31_000), far) is None
    assert ask(stored(NOW_MS - 20_000), report(lat=49.418)) is None  # 890 m: GPS does that


def test_leaving_a_coarse_position_is_no_jump() -> None:
    assert ask(stored(NOW_MS - 5_000, accuracy_m=12_000.0), report(lat=49.51)) is None


def test_swapped_coordinates_are_named_also_when_the_stored_position_is_old() -> None:
    assert ask(stored(NOW_MS - 200_000), report(lat=8.69, lng=49.41)) is Rejection.SWAPPED


def test_B031_a_step_across_the_antimeridian_is_no_jump() -> None:
    assert ask(stored(NOW_MS - 5000, lat=-17.0, lng=179.999), report(lat=-17.0, lng=-179.999)) is None


def test_B006_B007_only_late_points_are_for_the_archive_at_their_own_time() -> None:
    def fits(why: Rejection, device_ms: int) -> bool:
        return archivable(why, report(device_ms), received_ms=NOW_MS, rules=RULES)

    assert fits(Rejection.SKEW, NOW_MS - 7_200_000)
    assert fits(Rejection.OLD, NOW_MS - 60_000)
    assert not fits(Rejection.SKEW, NOW_MS + 7_200_000)
    assert not fits(Rejection.SKEW, 123_456_789_000)  # its day is dropped already
    assert not any(fits(why, NOW_MS - 1000) for why in Rejection if why not in (Rejection.SKEW, Rejection.OLD))


def test_a_device_ahead_is_not_younger_than_new() -> None:
    held = stored(NOW_MS + 8000, received_ms=NOW_MS)
    assert device_age_ms(held, MONO_MS) == 0
    assert device_age_ms(held, MONO_MS + 30_000) == 30_000


OFFSETS = st.integers(-400_000, 20_000)


@given(st.lists(st.tuples(OFFSETS, st.integers(0, 3000)), min_size=1, max_size=30))
def test_a_stream_without_numbers_never_rewinds(steps: list[tuple[int, int]]) -> None:
    held: Presence | None = None
    received = NOW_MS
    for offset, wait in steps:
        received += wait
        fix = report(received + offset)
        mono = MONO_MS + received - NOW_MS
        if admit(held, fix, received_ms=received, mono_ms=mono, rules=RULES) is None:
            assert held is None or fix.device_ms > held.device_ms
            assert -300_000 <= fix.device_ms - received <= 10_000
            held = stored(fix.device_ms, received_ms=received)
