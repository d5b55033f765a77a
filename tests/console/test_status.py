"""The status line: trouble comes before every count that is normal, at every width."""

from dataclasses import replace

import pytest

from console.viewmodels.rows import AlertRow, SiteFacts, Snapshot
from console.viewmodels.status import Health, line
from tests.console.desks import NOON_MS

SITE = SiteFacts(name="Rivertown", zone="Europe/Rome", training=True, readonly=False, demo=True, actor="ana",
                 role="trainer")  # fmt: skip
ALERT = AlertRow(id="A", kind="router_down", severity=1, job_id=None, worker=None, detail="", opened_ms=NOON_MS,
                 acked_by="", owner="", snoozed_until_ms=0, escalated=0)  # fmt: skip
WELL = Snapshot(read_s=0, now_ms=NOON_MS, site=SITE, jobs={}, alerts=(ALERT,), offers=(), router="ok", rounds="here",
                p99_us=None)  # fmt: skip
WIDTHS = (38, 78, 98, 118, 158)


def told(snap: Snapshot, width: int, age_s: float = 0.2) -> str:
    text = "".join(piece for piece, _ in line(snap, Health(age_s), width, NOON_MS))
    assert len(text) <= width
    return text


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("router", ["DOWN", "trying", "?"])
def test_a_router_in_trouble_is_told_at_every_width_and_the_clock_beside_it(width: int, router: str) -> None:
    shown = told(replace(WELL, router=router), width)
    assert f"router {router}" in shown
    assert "13:00:00" in shown
    assert "▲1" in shown


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("rounds", ["elsewhere", "nobody"])
def test_that_this_desk_does_not_dispatch_is_told_at_every_width(width: int, rounds: str) -> None:
    shown = told(replace(WELL, rounds=rounds), width)
    assert f"auto {rounds}" in shown
    assert "13:00:00" in shown


@pytest.mark.parametrize("width", WIDTHS[1:])
def test_all_the_trouble_at_once_has_room_on_80_columns(width: int) -> None:
    shown = told(replace(WELL, router="DOWN", rounds="elsewhere"), width, age_s=4.0)
    assert all(each in shown for each in ("STALE", "▲1 alert", "router DOWN", "auto elsewhere", "data 4.0s"))


def test_without_trouble_the_counts_come_first_and_training_without_rounds_is_no_trouble() -> None:
    assert "router" not in told(WELL, 78)
    assert "auto" not in told(replace(WELL, rounds="nobody", site=replace(SITE, demo=False)), 78)
    assert "open 0" in told(WELL, 78)
