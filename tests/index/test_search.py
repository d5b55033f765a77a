"""The search finds exactly whom a look at everybody finds: anywhere on earth, for common and rare skills."""

import random
import threading
from math import cos, pi, radians, sin, sqrt

import h3.api.basic_int as h3
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.index.ground import Ground, disk_of, ground
from engine.index.memory import MemoryIndex, Near
from engine.index.search import (
    NEAR_REACH,
    NEAR_SPREAD,
    NEAR_STEP,
    NEARBY,
    REACH,
    SPREAD,
    STEP,
    STICKS_OUT,
)
from engine.rules.nouns import FixReport, Point
from engine.rules.place import coarse_cell, metres
from engine.settings import Location

NOW_MS, MONO_MS = 1_780_000_000_000, 50_000_000
SKILLS = ("care", "lift", "rare")
Crew = list[tuple[str, Point, frozenset[str], int]]  # worker, place, skills, age at the search


def filled(crew: Crew, tenant: str = "main") -> MemoryIndex:
    index = MemoryIndex(Location())
    for worker, place, skills, age_ms in crew:
        index.enrol(tenant, worker, skills)
        fix = FixReport(worker=worker, device_ms=NOW_MS - age_ms, lat=place.lat, lng=place.lng)
        index.report(tenant, [fix], received_ms=NOW_MS - age_ms, mono_ms=MONO_MS - age_ms)
    return index


def look(
    index: MemoryIndex, place: Point, *skills: str, enough: int, max_m: float = 60_000, tenant: str = "main"
) -> Near:
    return index.near(tenant, place, frozenset(skills), enough=enough, max_m=max_m, unskilled_max=6, mono_ms=MONO_MS)


def by_looking_at_everybody(crew: Crew, place: Point, skills: frozenset[str], enough: int, max_m: float) -> Crew:
    about = sorted(crew, key=lambda each: (metres(place, each[1]), each[0]))
    about = [each for each in about if metres(place, each[1]) <= max_m and skills <= each[2]]
    fresh = [metres(place, each[1]) for each in about if each[3] <= 30_000]
    reach_m = fresh[enough - 1] if len(fresh) >= enough else max_m
    return [each for each in about if metres(place, each[1]) <= reach_m]


def scattered(seed: int, centre: Point, count: int, spread_deg: float) -> Crew:
    chance = random.Random(seed)

    def spot() -> Point:
        lat = max(-90.0, min(90.0, centre.lat + chance.gauss(0, spread_deg)))
        lng = centre.lng + chance.gauss(0, spread_deg) / max(0.001, cos(radians(centre.lat)))
        return Point(lat, (lng + 180) % 360 - 180)

    return [
        (
            f"w{n:04}",
            spot(),
            frozenset(skill for skill in SKILLS if chance.random() < (0.04, 0.6)[skill != "rare"]),
            age,
        )
        for n, age in enumerate(chance.choices((0, 29_000, 31_000, 200_000), k=count))
    ]


CENTRES = {
    "city": Point(49.41, 8.69),
    "antimeridian": Point(-17.0, 179.99),
    "pentagon": Point(64.7, 10.54),
    "pole": Point(89.9, 0.0),
    "far north": Point(78.2, 15.6),
    "equator": Point(0.3, 32.6),
}


@pytest.mark.parametrize("where", CENTRES)
@given(
    st.integers(0, 10**6), st.integers(1, 120), st.sampled_from([0.003, 0.02, 0.15, 1.0]), st.integers(1, 12), st.data()
)
def test_near_is_what_a_look_at_everybody_finds(
    where: str, seed: int, count: int, spread_deg: float, enough: int, data: st.DataObject
) -> None:
    crew = scattered(seed, CENTRES[where], count, spread_deg)
    place = scattered(seed + 1, CENTRES[where], 1, spread_deg)[0][1]
    max_m = data.draw(st.sampled_from([500.0, 5_000.0, 60_000.0, 300_000.0]))
    skills = data.draw(st.sampled_from([(), ("care",), ("rare",), ("care", "lift"), ("care", "rare"), ("none",)]))
    near = look(filled(crew), place, *skills, enough=enough, max_m=max_m)
    want = by_looking_at_everybody(crew, place, frozenset(skills), enough, max_m)
    assert [each.worker_id for each in near.skilled] == [each[0] for each in want]
    fresh = sum(each[3] <= 30_000 for each in want)
    reach_m = metres(place, want[-1][1]) if fresh >= enough else max_m
    lacking = [each for each in crew if not frozenset(skills) <= each[2] and metres(place, each[1]) <= reach_m]
    lacking.sort(key=lambda each: (metres(place, each[1]), each[0]))
    assert [each.worker_id for each in near.unskilled] == [each[0] for each in lacking[:6]]


def test_stale_workers_are_shown_and_do_not_count() -> None:
    here = Point(49.41, 8.69)
    steps = [(0.001, 0), (0.002, 31_000), (0.003, 0), (0.004, 31_000), (0.005, 0)]
    crew: Crew = [(f"w{n}", Point(49.41 + lat, 8.69), frozenset({"care"}), age) for n, (lat, age) in enumerate(steps)]
    near = look(filled(crew), here, "care", enough=2)
    assert [(each.worker_id, each.device_age_ms) for each in near.skilled] == [("w0", 0), ("w1", 31_000), ("w2", 0)]


def test_those_without_the_skill_are_listed_to_a_limit_and_the_rest_counted() -> None:
    here = Point(49.41, 8.69)
    crew: Crew = [(f"w{n:02}", Point(49.41 + n / 1e4, 8.69), frozenset({"lift"}), 0) for n in range(20)]
    near = look(filled(crew), here, "care", enough=2)
    assert near.skilled == ()
    assert [each.worker_id for each in near.unskilled] == [f"w{n:02}" for n in range(6)]
    assert near.unskilled_more == 14


def test_two_tenants_in_one_cell_never_meet() -> None:
    here = Point(49.41, 8.69)
    index = filled([("north", here, frozenset({"care"}), 0)], "north")
    index.enrol("south", "south", frozenset({"care"}))
    index.report(
        "south", [FixReport(worker="south", device_ms=NOW_MS, lat=49.41, lng=8.69)], received_ms=NOW_MS, mono_ms=MONO_MS
    )
    for tenant in ("north", "south"):
        assert [each.worker_id for each in look(index, here, "care", enough=9, tenant=tenant).skilled] == [tenant]
        assert [each[0] for each in index.present(tenant, mono_ms=MONO_MS)] == [tenant]
    assert look(index, here, "care", enough=9, tenant="nobody").skilled == ()
    assert index.seen("north", "south", here, mono_ms=MONO_MS) is None


def test_a_moving_worker_is_found_where_it_is_and_not_where_it_was() -> None:
    index = filled([("w", Point(49.41, 8.69), frozenset({"care"}), 0)])
    for step in range(1, 200):
        place = Point(49.41 + step * 0.002, 8.69)
        fix = FixReport(worker="w", device_ms=NOW_MS + step * 5000, lat=place.lat, lng=place.lng)
        index.report("main", [fix], received_ms=NOW_MS + step * 5000, mono_ms=MONO_MS + step * 5000)
        assert look(index, place, "care", enough=1, max_m=50).skilled
        assert not look(index, Point(49.41, 8.69), "care", enough=1, max_m=50).skilled


def cells_over_the_earth(res: int, count: int) -> list[int]:
    """So many anywhere, and a dozen about each pentagon, where H3 bends most."""
    chance = random.Random(5)
    cells = [cell for pentagon in h3.get_pentagons(res) for cell in chance.sample(h3.grid_disk(pentagon, 6), 12)]
    return cells + [h3.latlng_to_cell(chance.uniform(-90, 90), chance.uniform(-180, 180), res) for _ in range(count)]


def between(one: int, other: int) -> float:
    return h3.great_circle_distance(h3.cell_to_latlng(one), h3.cell_to_latlng(other), "m")


@pytest.mark.parametrize("res", [7, 8])
def test_the_bounds_of_the_ring_walk_hold_over_the_whole_earth(res: int) -> None:
    edge_m = h3.average_hexagon_edge_length(res, "m")
    for cell in cells_over_the_earth(res, 400):
        own_m = ground(cell).reach_m
        assert own_m < REACH * edge_m
        for k in (1, 2, 3, 4, 9):
            ring = list(ring_of(cell, k))
            assert min(between(cell, each) for each in ring) > STEP * edge_m * k
            if k <= NEARBY:
                nearest_m = min(between(cell, each) - ground(each).reach_m for each in ring)
                assert nearest_m > (NEAR_STEP * k - NEAR_REACH) * own_m


def test_the_bounds_hold_for_the_finer_cells_that_belong_to_a_coarse_one() -> None:
    edge_m = h3.average_hexagon_edge_length(7, "m")
    for cell in cells_over_the_earth(7, 100)[::4]:

        def spread_m(coarse: int) -> float:
            return max(between(coarse, fine) + ground(fine).reach_m for fine in h3.cell_to_children(coarse, 8))

        assert spread_m(cell) < SPREAD * edge_m
        assert spread_m(cell) < STICKS_OUT * ground(cell).reach_m
        for k in (2, NEARBY):
            for each in list(ring_of(cell, k))[::5]:
                assert between(cell, each) - spread_m(each) > (NEAR_STEP * k - NEAR_SPREAD) * ground(cell).reach_m


def test_the_circle_of_a_cell_lies_inside_it() -> None:
    chance = random.Random(6)
    for cell in cells_over_the_earth(8, 300):
        here = ground(cell)
        for _ in range(40 if here.inner > 0 else 0):
            assert h3.latlng_to_cell(*at(here, chance.uniform(0, 2 * pi), sqrt(here.inner)), 8) == cell


def at(here: Ground, turn: float, far: float) -> tuple[float, float]:
    return here.lat + far * cos(turn), here.lng + far * sin(turn) / here.shrink


@given(st.integers(0, 10**6), st.sampled_from([(), ("care",), ("rare",)]))
def test_workers_who_drift_over_borders_are_found_as_exactly(seed: int, skills: tuple[str, ...]) -> None:
    centre, chance = CENTRES["city"], random.Random(seed)
    crew = scattered(seed, centre, 150, 0.004)
    index = filled([(*each[:3], 120_000) for each in crew])
    for age_ms in (90_000, 60_000, 0):
        crew = [
            (worker, Point(spot.lat + chance.gauss(0, 0.0006), spot.lng + chance.gauss(0, 0.0006)), has, age_ms)
            for worker, spot, has, _ in crew
        ]
        fixes = [
            FixReport(worker=each[0], device_ms=NOW_MS - age_ms, lat=each[1].lat, lng=each[1].lng) for each in crew
        ]
        index.report("main", fixes, received_ms=NOW_MS - age_ms, mono_ms=MONO_MS - age_ms)
    want = by_looking_at_everybody(crew, centre, frozenset(skills), 5, 60_000)
    found = look(index, centre, *skills, enough=5).skilled
    assert [each.worker_id for each in found] == [each[0] for each in want]
    assert [each.cell for each in found] == [coarse_cell(each[1]) for each in want]


def ring_of(origin: int, k: int) -> set[int]:
    """A ring round a pentagon is short, and some versions of H3 refuse it: what a disc has more than a smaller one."""
    return set(h3.grid_disk(origin, k)) - (set(h3.grid_disk(origin, k - 1)) if k else set[int]())


def test_B034_discs_round_a_pentagon_are_whole() -> None:
    pentagon = h3.get_pentagons(8)[0]
    for origin in (pentagon, *ring_of(pentagon, 1)):
        for k in range(5):
            assert set(disk_of(origin, k)) == set(h3.grid_disk(origin, k))


def test_searches_and_reports_from_several_threads_do_not_disturb_each_other() -> None:
    crew = scattered(7, Point(49.41, 8.69), 300, 0.01)
    index, errors = filled(crew), list[BaseException]()

    def drive(seed: int) -> None:
        chance = random.Random(seed)
        try:
            for step in range(1, 60):
                at = step * 1000
                fixes = [
                    FixReport(
                        worker=worker,
                        device_ms=NOW_MS + at + chance.randrange(900),
                        lat=place.lat + chance.gauss(0, 0.002),
                        lng=place.lng,
                    )
                    for worker, place, _, _ in chance.sample(crew, 50)
                ]
                index.report("main", fixes, received_ms=NOW_MS + at, mono_ms=MONO_MS + at)
                look(index, Point(49.41, 8.69), chance.choice(SKILLS), enough=9)
                index.expire(mono_ms=MONO_MS + at + 150_000)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=drive, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    everybody = look(index, Point(49.41, 8.69), enough=10_000).skilled
    assert len({each.worker_id for each in everybody}) == len(everybody) == len(index.present("main", mono_ms=MONO_MS))
