"""A dispatcher that was overtaken: the desk says fenced within a second, and no longer once it dispatches again."""

import signal
from pathlib import Path

import pytest

from fixtures.demo import Demo, found
from tests.console.stages import NOON_MS, Stage, copied, drive
from tests.console.terminals import desk_on, live_site

FENCED = "fenced: another dispatcher holds the region"
LEASE_S = 5


@pytest.fixture(scope="module")
def founded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return found(tmp_path_factory.mktemp("fenced"), seed=2, now_ms=NOON_MS)


@pytest.fixture
def demo(founded: Path, tmp_path: Path) -> Demo:
    return Demo(copied(founded, tmp_path), seed=2, speed=0.0, said=lambda _: None)


def test_who_wakes_says_fenced_and_not_any_more_once_the_standby_has_left(demo: Demo) -> None:
    async def play(stage: Stage) -> None:
        assert "auto here" in await stage.second()
        await stage.panel("p")
        told = await stage.second(LEASE_S + 1)
        assert "auto elsewhere" in told
        assert FENCED not in told  # it is paused and knows nothing
        await stage.panel("w")
        assert FENCED in await stage.second()
        told = await stage.second(10)
        assert FENCED in told
        assert "auto elsewhere" in told
        await stage.panel("b")
        told = await stage.second()
        assert "auto here" in told
        assert "fenced" not in told
        assert "this desk dispatches rivertown again" in told
        assert "dispatches" not in await stage.second(16)

    drive(demo, play)


def test_a_standby_that_leaves_while_the_desk_is_paused_leaves_it_fenced_and_then_dispatching(demo: Demo) -> None:
    async def play(stage: Stage) -> None:
        await stage.panel("p")
        await stage.until("auto elsewhere", LEASE_S + 2)
        await stage.panel("b")
        assert FENCED in await stage.second()
        told = await stage.second()
        assert "auto here" in told
        assert "fenced" not in told
        epochs = {each.epoch for each in stage.engine.store.regions("main")}
        assert {each.epoch for each in stage.engine.tenures.values()} == epochs

    drive(demo, play)


def test_who_wakes_before_the_standby_took_the_region_was_never_fenced(demo: Demo) -> None:
    async def play(stage: Stage) -> None:
        for back in ("w", "b"):
            await stage.panel("p")
            await stage.second(2)
            await stage.panel(back)
            told = await stage.second(3)
            assert "auto here" in told
            assert "fenced" not in told
            if back == "w":
                await stage.panel("b")

    drive(demo, play)


def test_a_live_desk_that_gets_its_region_back_no_longer_says_fenced(tmp_path: Path) -> None:
    site = live_site(tmp_path / "site.db")
    with desk_on(site) as one:
        one.until("auto here")
        with desk_on(site) as two:
            two.until("auto elsewhere")
            one.signal(signal.SIGSTOP)
            two.until("auto here", within_s=LEASE_S + 1.5)
            one.signal(signal.SIGCONT)
            one.until(FENCED)
            two.signal(signal.SIGTERM)
            two.ended(2.5)
            one.until(lambda text: "auto here" in text and "this desk dispatches main again" in text)
            assert "fenced" not in one.text
