"""A site file, its zone and settings, and the clock that only a training site lets one set (SPEC, ARCHITECTURE)."""

import sqlite3
from pathlib import Path

import pytest

from engine import wiring
from engine.ports import Damaged, Forbidden, Invalid
from engine.rules.days import rfc3339
from engine.settings import RANGES
from engine.verbs.site import SiteFile, advance, check_zone, read_site
from tests.desk import Desk

WHOLE = """
name = "Rivertown"
zone = "Europe/Warsaw"
tenant = "river"
[[region]]
id = "north"
ring = [[52.2, 21.0], [52.3, 21.0], [52.3, 21.1], [52.2, 21.1]]
[[region]]
id = "rest"
[score]
w_fair = 5
[lease]
offer_ttl_s = 30
"""


def test_a_site_file_is_read_whole() -> None:
    site = read_site(WHOLE)
    assert (site.name, site.zone, site.tenant) == ("Rivertown", "Europe/Warsaw", "river")
    assert [(each, area is not None) for each, area in site.regions] == [("north", True), ("rest", False)]
    assert site.overrides == {"score": {"w_fair": 5}, "lease": {"offer_ttl_s": 30}}


def test_B076_an_unknown_key_is_reported_and_never_ignored() -> None:
    for text, told in (
        ('zonne = "UTC"', "zonne: no such key"),
        ("[[region]]\nid = 'a'\nrings = []", "rings: no such key"),
        ('zone = 3', "zone = 3: a text"),
        ('name = " "', "a text is wanted"),
        ("region = 3", r"write each as \[\[region\]\]"),
        ("[[region]]\nid = 'a'\nring = [[1, 2], [1]]", "pairs is wanted"),
        ("[[region]]\nid = 'a'\n[[region]]\nid = 'a'", r"\[\[region\]\] id = 'a': two regions have this id"),
        ("[[region]]\nid = 'a '", "id = 'a ': 1 to 100 printable letters"),
        ("[[region]]\nid = \"a\\n\"", "printable letters are wanted"),
        ("name = ", "not TOML"),
        ("name = " + "1" * 5_000, "not TOML"),
        ("name = " + "[" * 5_000, "not TOML"),
    ):  # fmt: skip
        with pytest.raises(Invalid, match=told):
            read_site(text)


def test_B076_an_unknown_setting_is_refused_when_the_site_is_made_and_nothing_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with pytest.raises(Invalid, match="offer_ttl: no such setting"):
        wiring.create(path, SiteFile(overrides={"lease": {"offer_ttl": 30}}), training=True)
    assert list(tmp_path.iterdir()) == []


def test_every_setting_out_of_range_is_refused_when_the_site_is_made_and_nothing_is_left(tmp_path: Path) -> None:
    """SPEC 11: with the field, the value and the rule; before, the site was made and broke at its first command."""
    for section, ranges in RANGES.items():
        for key, (low, _, _) in ranges.items():
            with pytest.raises(Invalid, match=rf"\[{section}\] {key} = .* is wanted, {low:g} to"):
                wiring.create(tmp_path / "a.db", SiteFile(overrides={section: {key: 10**20}}), training=True)
    for router in ("not a url", "http://"):
        with pytest.raises(Invalid, match=r"\[router\] url"):
            wiring.create(tmp_path / "a.db", SiteFile(overrides={"router": {"url": router}}), training=True)
    assert list(tmp_path.iterdir()) == []


def test_B047_a_fixed_offset_is_refused_with_a_hint_and_so_is_an_unknown_name() -> None:
    check_zone("America/New_York")
    for bad in ("UTC-5", "Mars/Olympus", "", "../etc/passwd"):
        with pytest.raises(Invalid, match=r"a name such as Europe/Vienna is wanted \(an offset like UTC-5 knows no"):
            check_zone(bad)


@pytest.mark.parametrize(
    ("slip", "meant"),
    [("Europe/Berln", "Europe/Berlin"), ("europe/berlin", "Europe/Berlin"), ("Berlin", "Europe/Berlin"),
     ("Europe/Viena", "Europe/Vienna"), ("New York", "America/New_York"), ("Berln", "Europe/Berlin")],
)  # fmt: skip
def test_a_slip_in_a_zone_is_answered_with_the_one_that_was_meant(slip: str, meant: str) -> None:
    with pytest.raises(Invalid, match=f"did you mean {meant}"):
        check_zone(slip)
    with pytest.raises(Invalid, match=f"did you mean {meant}"):
        read_site(f'zone = "{slip}"')


def test_the_weights_of_the_site_file_are_the_first_policy(tmp_path: Path) -> None:
    desk = Desk(tmp_path, score={"w_fair": 5, "eta_band_min": 2})
    try:
        policy = desk.engine.store.policy("main")
    finally:
        desk.close()
    assert (policy.version, policy.w_fair, policy.eta_band_min) == (1, 5.0, 2)


def test_only_a_training_sites_clock_can_be_set(tmp_path: Path) -> None:
    path = tmp_path / "live.db"
    wiring.create(path, SiteFile(), training=False)
    engine = wiring.open_engine(path)
    try:
        before = engine.store.clock("main").now_ms
        with pytest.raises(Forbidden, match="only a training site's clock"):
            advance(engine, 0)
        assert engine.store.clock("main").now_ms >= before
    finally:
        wiring.close(engine)


def test_B101_a_database_of_a_newer_schema_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.close()
    raw = sqlite3.connect(desk.path)
    raw.execute("PRAGMA user_version = 999")
    raw.close()
    before = desk.path.read_bytes()
    with pytest.raises(Damaged, match=r"schema 999.*use the newer program. Nothing was changed"):
        wiring.open_engine(desk.path)
    assert desk.path.read_bytes() == before


def test_B042_every_instant_is_shown_in_the_sites_zone_with_its_offset(tmp_path: Path) -> None:
    """B042 and B049: the machine's own zone plays no part."""
    desk = Desk(tmp_path, zone="America/Chicago")
    try:
        desk.worker("ana")
        job = desk.job("J1")
        zone = desk.engine.store.clock("main").zone
    finally:
        desk.close()
    assert zone == "America/Chicago"
    assert rfc3339(job.not_before_ms, zone) == "2027-01-15T02:00:00.000-06:00"
