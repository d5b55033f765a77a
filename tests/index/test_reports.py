"""What reports do to the index: order, repeats, contact, sampling, expiry, rebuild."""

from collections import Counter
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.index.memory import Ingested, MemoryIndex
from engine.rules.freshness import LatestFix, Rejection, admit, known_accuracy
from engine.rules.nouns import FixReport, Point, Seen
from engine.rules.place import coarse_cell, normal_lng
from engine.settings import Location
from engine.store.archive import FixArchive

RULES = Location()
NOW_MS = 1_780_000_000_000
MONO_MS = 50_000_000
PLACE = Point(49.41, 8.69)
CARE = frozenset({"care"})


def fix(device_ms: int = NOW_MS, worker: str = "w", **other: object) -> FixReport:
    return replace(FixReport(worker=worker, device_ms=device_ms, lat=49.41, lng=8.69), **other)  # type: ignore[arg-type]


class Site:
    """An index with one worker, and two clocks that run together."""

    def __init__(self, rules: Location = RULES) -> None:
        self.index = MemoryIndex(rules)
        self.index.enrol("main", "w", CARE)

    def report(self, *fixes: FixReport, at_s: float = 0) -> Ingested:
        at_ms = int(at_s * 1000)
        return self.index.report("main", fixes, received_ms=NOW_MS + at_ms, mono_ms=MONO_MS + at_ms)

    def seen(self, at_s: float = 0) -> Seen | None:
        return self.index.seen("main", "w", PLACE, mono_ms=MONO_MS + int(at_s * 1000))

    def near(self, at_s: float = 0) -> list[str]:
        near = self.index.near(
            "main",
            PLACE,
            CARE,
            enough=5,
            max_m=50_000,
            unskilled_max=5,
            mono_ms=MONO_MS + int(at_s * 1000),
        )
        return [each.worker_id for each in near.skilled]


@pytest.fixture
def site() -> Site:
    return Site()


def ages(seen: Seen | None) -> tuple[int, int]:
    assert seen
    return seen.device_age_ms, seen.receive_age_ms


def test_a_fix_is_kept_and_seen_with_its_cell_and_ages(site: Site) -> None:
    assert site.report(fix(NOW_MS - 400)).kept == 1
    seen = site.seen(at_s=5)
    assert seen
    assert seen.place == PLACE
    assert seen.cell == coarse_cell(PLACE)
    assert ages(seen) == (5400, 5000)


def test_workers_not_enrolled_and_unknown_tenants_are_counted(site: Site) -> None:
    got = site.report(fix(worker="who"), fix())
    assert (got.kept, got.rejected) == (1, ((Rejection.UNKNOWN_WORKER, 1),))
    other = site.index.report("south", [fix()], received_ms=NOW_MS, mono_ms=MONO_MS)
    assert (other.kept, other.rejected) == (0, ((Rejection.UNKNOWN_WORKER, 1),))


def test_B001_a_fix_eight_years_ahead_is_dropped_and_the_next_one_is_fresh(site: Site) -> None:
    site.report(fix(NOW_MS))
    years = fix(NOW_MS + 8 * 365 * 86_400_000)
    assert site.report(years, at_s=1).rejected == ((Rejection.SKEW, 1),)
    assert site.report(fix(NOW_MS + 10_000), at_s=10).kept == 1
    assert ages(site.seen(at_s=10)) == (0, 0)


def test_B002_a_poisoned_row_does_not_block_after_a_restart(site: Site) -> None:
    years = NOW_MS + 8 * 365 * 86_400_000
    poison = [LatestFix(worker_id="w", device_ms=years, received_ms=at, lat=49.4, lng=8.7) for at in (NOW_MS, years)]
    assert site.index.load("main", poison, now_ms=NOW_MS, mono_ms=MONO_MS) == 0
    assert site.report(fix()).kept == 1
    assert ages(site.seen()) == (0, 0)


def test_B004_an_older_fix_does_not_rewind(site: Site) -> None:
    site.report(fix(NOW_MS - 1000))
    got = site.report(fix(NOW_MS - 1000 - 188_000, lat=49.415))
    assert (got.kept, got.rejected) == (0, ((Rejection.OLD, 1),))
    presence = site.index.presence("main", "w")
    assert presence
    assert (presence.device_ms, presence.lat) == (NOW_MS - 1000, 49.41)
    assert [each.device_ms for each in got.archive] == [NOW_MS - 189_000]


def test_B006_a_late_batch_goes_to_the_archive_at_its_own_times_and_nowhere_else(site: Site) -> None:
    site.report(fix())
    late = [fix(NOW_MS - 900_000 + step * 10_000, lat=49.5) for step in range(10)]
    got = site.report(*late)
    assert (got.kept, got.rejected) == (0, ((Rejection.SKEW, 10),))
    assert [each.device_ms - NOW_MS for each in got.archive] == [-900_000, -870_000, -840_000, -810_000]
    assert [each.device_ms for each in site.index.changed("main")] == [NOW_MS]


def test_B007_buffered_fixes_leave_the_worker_stale_though_in_contact_now(site: Site) -> None:
    site.report(fix(NOW_MS - 100_000))
    for step in range(120):
        site.report(fix(NOW_MS - 7_200_000 + step * 500), at_s=60 + step / 2)
    assert ages(site.seen(at_s=120)) == (220_000, 500)


def test_B009_a_hundred_repeats_renew_nothing(site: Site) -> None:
    site.report(fix())
    for step in range(100):
        assert site.report(fix(), at_s=step).rejected == ((Rejection.REPEATED, 1),)
    assert ages(site.seen(at_s=99))[0] == 99_000


def test_B011_the_newer_by_device_time_wins_and_each_age_has_its_own_clock(site: Site) -> None:
    site.report(fix(NOW_MS + 50_000, lat=49.412), at_s=60)
    site.report(fix(NOW_MS, lat=49.41), at_s=100)
    presence = site.index.presence("main", "w")
    assert presence
    assert presence.lat == 49.412
    assert ages(site.seen(at_s=100)) == (50_000, 0)


def test_B012_of_three_fixes_with_one_time_the_first_stays(site: Site) -> None:
    got = site.report(fix(lat=49.411), fix(lat=49.412), fix(lat=49.413))
    assert (got.kept, got.rejected) == (1, ((Rejection.REPEATED, 2),))
    site.report(fix(lat=49.413), fix(lat=49.412), at_s=1)
    presence = site.index.presence("main", "w")
    assert presence
    assert presence.lat == 49.411


def test_B014_a_coarse_fix_waits_until_the_good_one_is_stale(site: Site) -> None:
    site.report(fix(accuracy_m=10.0))
    assert site.report(fix(NOW_MS + 20_000, accuracy_m=2200.0), at_s=20).rejected == ((Rejection.COARSE, 1),)
    assert site.report(fix(NOW_MS + 31_000, accuracy_m=2200.0), at_s=31).kept == 1
    seen = site.seen(at_s=31)
    assert seen
    assert seen.accuracy_m == 2200.0


def test_B016_six_minutes_old_is_out_of_the_hot_set_and_still_explained(site: Site) -> None:
    site.report(fix())
    assert site.index.expire(mono_ms=MONO_MS + 300_000) == 0
    assert site.index.expire(mono_ms=MONO_MS + 360_000) == 1
    assert site.near(at_s=360) == []
    assert site.index.presence("main", "w") is None
    assert list(site.index.present("main", mono_ms=MONO_MS + 360_000)) == []
    assert ages(site.seen(at_s=360)) == (360_000, 360_000)
    assert site.index.expire(mono_ms=MONO_MS + 400_000) == 0


def test_B034_a_worker_beside_a_pentagon_is_found(site: Site) -> None:
    job = Point(64.7, 10.54)
    site.report(fix(lat=64.709, lng=10.54))
    near = site.index.near("main", job, CARE, enough=1, max_m=60_000, unskilled_max=5, mono_ms=MONO_MS)
    assert [(each.worker_id, round(each.distance_m, -2)) for each in near.skilled] == [("w", 1000)]


def test_a_worker_comes_back_after_expiry_and_an_older_fix_does_not_bring_it(site: Site) -> None:
    site.report(fix(NOW_MS))
    site.index.expire(mono_ms=MONO_MS + 301_000)
    assert site.report(fix(NOW_MS - 1000), at_s=299).rejected == ((Rejection.OLD, 1),)
    assert site.report(fix(NOW_MS + 320_000), at_s=320).kept == 1
    assert site.near(at_s=320) == ["w"]
    assert site.index.expire(mono_ms=MONO_MS + 620_000) == 0
    assert site.index.expire(mono_ms=MONO_MS + 620_001) == 1


def test_a_fix_that_was_old_when_it_came_leaves_sooner(site: Site) -> None:
    site.report(fix(NOW_MS - 250_000))
    assert site.index.expire(mono_ms=MONO_MS + 50_000) == 0
    assert site.index.expire(mono_ms=MONO_MS + 50_001) == 1


def test_a_noisy_worker_is_shed_and_the_others_are_not(site: Site) -> None:
    site.index.enrol("main", "calm", CARE)
    kept = calm = 0
    for step in range(500):
        kept += site.report(fix(NOW_MS + 2 * step), at_s=step / 500).kept
        if step % 250 == 0:
            calm += site.report(fix(NOW_MS + 2 * step, "calm"), at_s=step / 500).kept
    assert kept == 5
    assert calm == 2


def test_one_fix_in_thirty_seconds_is_due_for_the_archive(site: Site) -> None:
    due = [len(site.report(fix(NOW_MS + step * 5000), at_s=step * 5).archive) for step in range(24)]
    assert due == [1, 0, 0, 0, 0, 0] * 4


def test_changed_tells_each_change_once(site: Site) -> None:
    site.report(fix(), fix(NOW_MS + 1000))
    assert [each.device_ms for each in site.index.changed("main")] == [NOW_MS + 1000]
    assert site.index.changed("main") == ()
    site.report(fix(NOW_MS + 2000), at_s=2)
    assert [each.device_ms for each in site.index.changed("main")] == [NOW_MS + 2000]
    assert site.index.changed("nobody") == ()


def test_dismissed_workers_leave_and_their_fixes_are_unknown(site: Site) -> None:
    site.report(fix())
    site.index.dismiss("main", "w")
    assert site.near() == []
    assert site.seen() is None
    assert site.index.changed("main") == ()
    assert site.report(fix(NOW_MS + 1000)).rejected == ((Rejection.UNKNOWN_WORKER, 1),)
    site.index.dismiss("main", "w")
    site.index.dismiss("nowhere", "w")
    assert site.index.expire(mono_ms=MONO_MS + 10**9) == 0


def test_new_skills_move_the_worker_at_once_and_keep_the_position(site: Site) -> None:
    site.report(fix())
    site.index.enrol("main", "w", frozenset({"lift"}))
    near = site.index.near("main", PLACE, CARE, enough=1, max_m=1e4, unskilled_max=5, mono_ms=MONO_MS)
    assert (near.skilled, [each.worker_id for each in near.unskilled]) == ((), ["w"])
    site.index.enrol("main", "w", CARE)
    assert site.near() == ["w"]


def test_a_rebuild_gives_back_places_and_ages(site: Site, tmp_path: Path) -> None:
    site.report(fix(NOW_MS - 2000, accuracy_m=8.0, seq=4))
    with FixArchive.create(tmp_path / "site.fixes") as archive:
        archive.write_behind("main", site.index.changed("main"), ())
        again = Site()
        mono = MONO_MS + 77_000_000  # another start of the machine: another zero
        assert again.index.load("main", archive.latest("main"), now_ms=NOW_MS + 10_000, mono_ms=mono) == 1
    seen = again.index.seen("main", "w", PLACE, mono_ms=mono + 1000)
    assert ages(seen) == (13_000, 11_000)
    assert again.index.changed("main") == ()
    got = again.index.report("main", [fix(NOW_MS - 2000, seq=4)], received_ms=NOW_MS + 12_000, mono_ms=mono + 2000)
    assert got.rejected == ((Rejection.REPEATED, 1),)
    assert again.index.expire(mono_ms=mono + 288_001) == 1


def test_a_rebuild_skips_the_old_the_unknown_and_what_is_not_newer(site: Site) -> None:
    old = LatestFix(worker_id="w", device_ms=NOW_MS - 400_000, received_ms=NOW_MS - 400_000, lat=49.4, lng=8.7)
    assert site.index.load("main", [old, replace(old, worker_id="who")], now_ms=NOW_MS, mono_ms=MONO_MS) == 0
    assert site.near() == []
    assert ages(site.seen()) == (400_000, 400_000)
    site.report(fix())
    row = replace(old, device_ms=NOW_MS - 5000, received_ms=NOW_MS - 5000)
    assert site.index.load("main", [row], now_ms=NOW_MS, mono_ms=MONO_MS) == 0
    newer = replace(row, device_ms=NOW_MS + 5000, received_ms=NOW_MS + 5000)
    assert site.index.load("main", [newer], now_ms=NOW_MS + 6000, mono_ms=MONO_MS + 6000) == 1
    assert ages(site.seen(at_s=6)) == (1000, 1000)


def test_boards_see_cells_and_two_ages(site: Site) -> None:
    site.report(fix(NOW_MS - 700))
    site.report(fix(NOW_MS - 700), at_s=3)
    board = list(site.index.present("main", mono_ms=MONO_MS + 4000))
    assert board == [("w", coarse_cell(PLACE), 4700, 1000)]


def test_large_batches_are_taken_whole(site: Site) -> None:
    assert site.report(*[fix(NOW_MS - 100_000 + step * 200) for step in range(500)]).kept == 500


def test_a_worker_in_near_is_the_noun_itself(site: Site) -> None:
    site.report(fix(NOW_MS - 700, accuracy_m=4.0))
    near = site.index.near("main", PLACE, CARE, enough=1, max_m=1e4, unskilled_max=0, mono_ms=MONO_MS + 300)
    want = Seen(
        worker_id="w",
        place=PLACE,
        cell=coarse_cell(PLACE),
        device_age_ms=1000,
        receive_age_ms=300,
        accuracy_m=4.0,
        distance_m=0.0,
    )
    assert near.skilled == (want,)
    assert near.skilled[0] == site.index.seen("main", "w", PLACE, mono_ms=MONO_MS + 300)
    assert (type(near.skilled[0]), type(near.skilled[0].place)) == (Seen, Point)
    assert len({near.skilled[0], want}) == 1
    with pytest.raises(FrozenInstanceError):
        near.skilled[0].cell = 1  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        near.skilled[0].place.lat = 1.0  # type: ignore[misc]


def test_enough_of_nobody_is_one(site: Site) -> None:
    site.report(fix())
    near = site.index.near("main", PLACE, CARE, enough=0, max_m=1e4, unskilled_max=0, mono_ms=MONO_MS)
    assert len(near.skilled) == 1


STEPS = st.lists(
    st.tuples(
        st.sampled_from("aabbccdd"), st.sampled_from(["fix", "fix", "fix", "far", "skills", "leave", "wait", "row"])
    ),
    max_size=60,
)


@given(STEPS)
def test_any_course_of_events_leaves_each_worker_in_one_place_or_none(steps: list[tuple[str, str]]) -> None:
    index, now = MemoryIndex(RULES), 0
    last: dict[str, int | None] = {}  # worker → when its position was taken, by our own account
    for number, (worker, event) in enumerate(steps):
        now += 250_000 if event == "wait" else 40_000
        at = {"received_ms": NOW_MS + now, "mono_ms": MONO_MS + now}
        lat = 49.41 + (number % 7) * (0.2 if event == "far" else 0.004)
        if event == "leave":
            index.dismiss("main", worker)
            last.pop(worker, None)
        elif event == "skills":
            index.enrol("main", worker, frozenset({f"s{number % 3}"}))
            last.setdefault(worker, None)
        elif event == "row":
            row = LatestFix(worker_id=worker, device_ms=NOW_MS + now, received_ms=NOW_MS + now, lat=lat, lng=8.69)
            index.load("main", [row], now_ms=NOW_MS + now, mono_ms=MONO_MS + now)
        elif event in ("fix", "far"):
            index.report("main", [fix(NOW_MS + now, worker, lat=lat)], **at)
        if event in ("row", "fix", "far") and worker in last:
            last[worker] = now
        index.expire(mono_ms=MONO_MS + now)
        hot = {each for each, when in last.items() if when is not None and now - when <= 300_000}
        ages = {each[0]: each[2:] for each in index.present("main", mono_ms=MONO_MS + now)}
        assert set(ages) == hot
        late = {each: ages.get(each) for each in last if max(ages.get(each, (90_000,))) > 60_000}
        assert index.quiet("main", older_ms=60_000, mono_ms=MONO_MS + now) == late
        everybody = index.near(
            "main", PLACE, frozenset(), enough=99, max_m=3e5, unskilled_max=0, mono_ms=MONO_MS + now
        ).skilled
        assert sorted(each.worker_id for each in everybody) == sorted(hot)


def fixes_about(lats: st.SearchStrategy[float], lngs: st.SearchStrategy[float]) -> st.SearchStrategy[FixReport]:
    return st.builds(
        FixReport,
        worker=st.just("w"),
        device_ms=st.integers(-320_000, 12_000) | st.integers(-2000, 300),
        lat=lats,
        lng=lngs,
        accuracy_m=st.sampled_from([None, None, 0.0, -1.0, 5.0, 500.0, 501.0, 9000.0, float("inf"), float("nan")]),
        seq=st.none() | st.integers(0, 30),
    )


# Where the short way and the long way could part: steps about the length of a jump, and each border of what is a place.
CORNERS = [
    fixes_about(st.floats(49.40, 49.42), st.floats(8.68, 8.70)),
    fixes_about(st.sampled_from([49.41, 8.69, 91.0, float("nan")]), st.sampled_from([8.69, 49.41, 181.0])),
    fixes_about(st.floats(-0.023, 0.023), st.floats(-0.023, 0.023)),
    fixes_about(st.sampled_from([-0.0201, -0.0199, 0.0199, 0.0201]), st.sampled_from([-0.0201, 0.0199, 0.0201])),
    fixes_about(st.just(-17.0), st.sampled_from([179.998, 180.0, 180.002, -180.0, -180.002, -179.998])),
    fixes_about(st.sampled_from([89.898, 89.9, 89.999, 90.0, 90.001]), st.just(10.0)),
]
BATCHES = st.sampled_from(CORNERS).flatmap(
    lambda corner: st.lists(st.tuples(st.integers(0, 40_000), st.lists(corner, max_size=6)), max_size=12)
)


@settings(max_examples=400)
@given(BATCHES)
def test_the_short_way_of_whole_batches_and_admit_say_the_same(batches: list[tuple[int, list[FixReport]]]) -> None:
    fast, slow = Site(), Site()
    crowd = [f"c{n}" for n in range(40)]  # with so many in a batch it is taken at once
    for each in crowd:
        fast.index.enrol("main", each, CARE)
    now = 0
    for wait, fixes in batches:
        now += wait
        fixes = [replace(each, device_ms=NOW_MS + now + each.device_ms) for each in fixes]
        others = [fix(NOW_MS + now, each, lat=49.41 + n / 1e5) for n, each in enumerate(crowd)]
        whole = fast.report(*fixes, *others, at_s=now / 1000)
        told, archived = Counter[Rejection](), list[LatestFix]()
        for each in fixes:
            held = slow.index.presence("main", "w")
            why = admit(held, each, received_ms=NOW_MS + now, mono_ms=MONO_MS + now, rules=RULES)
            got = slow.report(each, at_s=now / 1000)
            archived += got.archive
            assert got.rejected == (((why, 1),) if why else ())
            assert why or held_as(slow, each)
            told.update([why] if why else [])
        crowded = sum(count for _, count in whole.rejected) - told.total()
        assert crowded in (0, len(crowd))  # all of them came too soon, or none
        assert whole.kept == len(fixes) - told.total() + len(crowd) - crowded
        assert [each for each in whole.archive if each.worker_id == "w"] == archived
        for at in (now, now + 40_000):
            assert fast.seen(at / 1000) == slow.seen(at / 1000)


def held_as(site: Site, fix: FixReport) -> bool:
    presence = site.index.presence("main", "w")
    accuracy, lng = known_accuracy(fix.accuracy_m), normal_lng(fix.lng)
    want = (fix.device_ms, fix.lat, lng, coarse_cell(Point(fix.lat, lng)), accuracy, fix.seq)
    return presence is not None and want == (
        presence.device_ms,
        presence.lat,
        presence.lng,
        presence.cell,
        presence.accuracy_m,
        presence.seq,
    )


def test_a_second_fix_in_the_same_cell_is_what_the_search_sees(site: Site) -> None:
    site.report(fix(accuracy_m=8.0))
    site.report(fix(NOW_MS + 20_000, lat=49.4105), at_s=20)
    near = site.index.near("main", PLACE, CARE, enough=1, max_m=1e4, unskilled_max=0, mono_ms=MONO_MS + 45_000)
    assert near.skilled == (site.seen(at_s=45),)
    assert ages(near.skilled[0]) == (25_000, 25_000)
    assert near.skilled[0].place.lat == 49.4105


def test_who_has_no_hot_position_is_named_by_skill_who_was_heard_of_last_first(site: Site) -> None:
    for worker, skills in (("b", CARE), ("a", CARE | {"lift"}), ("c", frozenset({"lift"})), ("gone", CARE)):
        site.index.enrol("main", worker, skills)
    site.index.dismiss("main", "gone")
    site.report(fix())

    def unplaced(skills: frozenset[str] = CARE, *, hot: bool = False, limit: int = 9) -> tuple[tuple[str, ...], int]:
        return site.index.unplaced("main", skills, hot=hot, limit=limit)

    assert unplaced() == (("b", "a"), 0)
    assert unplaced(hot=True) == (("w", "b", "a"), 0)
    assert unplaced(limit=1) == (("b",), 1)
    site.index.expire(mono_ms=MONO_MS + 10**9)
    assert unplaced() == (("w", "b", "a"), 0), "w was heard of, long ago"
    assert unplaced(frozenset({"piano"})) == ((), 0)
    assert site.index.unplaced("nobody", CARE, hot=True, limit=9) == ((), 0)


@pytest.mark.parametrize(("accuracy_m", "seq"), [(None, None), (8.0, 4)])
def test_what_the_disk_is_told_is_the_noun_itself(site: Site, accuracy_m: float | None, seq: int | None) -> None:
    site.report(fix(accuracy_m=accuracy_m, seq=seq))
    want = LatestFix(
        worker_id="w", device_ms=NOW_MS, received_ms=NOW_MS, lat=49.41, lng=8.69, accuracy_m=accuracy_m, seq=seq
    )
    (got,) = site.index.changed("main")
    assert (got, type(got)) == (want, LatestFix)
    assert len({got, want}) == 1
    with pytest.raises(FrozenInstanceError):
        got.lat = 1.0  # type: ignore[misc]
