"""Two desks on one file: each sees the other's acts, one act wins, and a desk that is gone or paused is followed."""

import re
import signal
from pathlib import Path

import pytest

from engine import wiring
from engine.rules.ledger import AuditRow
from engine.verbs import intake
from tests.console.desks import WHO, job
from tests.console.terminals import Seat, desk_on, live_site
from tests.leases.invariants import broken

SEEN_WITHIN_S = 1.0
LEASE_MS = 5_000
NOISE_S = 1.5
"""A screen is asked again and again while two whole desks share two cores."""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return live_site(tmp_path / "site.db")


def audit(site: Path, act: str) -> list[AuditRow]:
    engine = wiring.open_engine(site, readonly=True)
    rows = [each for each in engine.store.audit(engine.tenant) if each.act == act]
    wiring.close(engine)
    return rows


def test_B069_each_desk_sees_what_the_other_does_within_a_second(site: Path) -> None:
    with desk_on(site) as one, desk_on(site) as two:
        for each in (one, two):  # whichever dispatches has begun
            each.until(re.compile("auto (here|elsewhere).*J-2", re.DOTALL).search)
        one.press("s")
        one.until("offered to")
        assert two.until("offered 1", within_s=SEEN_WITHIN_S + NOISE_S) < SEEN_WITHIN_S
        engine = wiring.open_engine(site)
        intake.create_job(engine, WHO, job("J-NEW", due_min=60))
        wiring.close(engine)
        assert max(each.until("jobs 4", within_s=SEEN_WITHIN_S + NOISE_S) for each in (one, two)) < SEEN_WITHIN_S
        assert all(re.search(r"data 0\.\ds", each.text) for each in (one, two))
    assert broken(site) == []


def test_a_killed_holder_is_followed_when_its_lease_ends_and_the_screen_says_so(site: Path) -> None:
    with desk_on(site) as one:
        one.until("auto here")
        with desk_on(site) as two:
            two.until("auto elsewhere")
            one.signal(signal.SIGKILL)
            two.until("taken over from", within_s=LEASE_MS / 1000 + NOISE_S)
            two.until("auto here")
            killed = str(one.process.pid)
            assert killed in two.text
            two.signal(signal.SIGTERM)
            two.ended(2.5)
    first, second = audit(site, "takeover")
    assert second.at_ms - first.at_ms >= LEASE_MS
    assert broken(site) == []


def test_a_paused_holder_is_fenced_when_it_goes_on_and_says_so(site: Path) -> None:
    with desk_on(site) as one:
        one.until("auto here")
        with desk_on(site) as two:
            two.until("auto elsewhere")
            one.signal(signal.SIGSTOP)
            two.until("auto here", within_s=LEASE_MS / 1000 + NOISE_S)
            one.signal(signal.SIGCONT)
            one.until("fenced: another dispatcher holds the region")
            one.until("auto elsewhere")
            assert "log:" in one.text
            two.press("s")
            two.until("offered to")
            one.until("offered 1")
            # While both are there: the one that leaves gives the region back, and the other may take it.
            assert [each.actor for each in audit(site, "takeover")] == ["auto:main", "auto:main"]
    assert broken(site) == []


def fill_in(desk: Seat) -> None:
    """An override dialog on the first job, ready to be applied."""
    desk.press("g", "o")
    desk.until("Override J-0")
    desk.until("overrules")
    desk.press("\t", "\t", "\r")
    desk.until("local knowledge")
    desk.press("\x1b[B", "\r", "\t", *"they asked for it by name")
    desk.until(lambda text: "ctrl+s applies" in text and "wanted" not in text)


def test_of_two_overrides_of_one_job_at_once_one_wins_and_the_other_says_what_is_now_and_who_did_it(site: Path) -> None:
    with desk_on(site, LOGNAME="ana") as one, desk_on(site, LOGNAME="ben") as two:
        for each in (one, two):
            each.until(re.compile("auto (here|elsewhere).*J-2", re.DOTALL).search)
        for each in (one, two):
            fill_in(each)
        for each in (one, two):
            each.press("\x13", gap_s=0)
        for each in (one, two):
            each.until(re.compile("[✓×] (override|offer) J-0").search)
        [won] = audit(site, "override")
        loser, winner = (one, two) if won.actor == "ben" else (two, one)
        assert re.search("✓ (override|offer) J-0", winner.text)
        said = re.search(r"× (override|offer) J-0.*", loser.text, re.DOTALL)
        assert said is not None
        assert "OFFERED now" in " ".join(said[0].split())
        assert f"by {won.actor}" in " ".join(said[0].split())
        loser.until("OFFERED     proctor")
    assert broken(site) == []
