"""Named operators: the desk asks who sits at it, locks when nobody does, and enables what their role may."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events
from textual.keys import _character_to_key  # pyright: ignore[reportPrivateUsage]
from textual.pilot import Pilot
from textual.widgets import Input

from console.app import Console
from console.commands import DeskState, by_id
from console.screens.desk import Desk
from console.screens.login import Login
from engine import wiring
from engine.ports import Engine, Forbidden, Invalid, NotFound, ReadOnly
from engine.program import Program, must
from engine.rules.nouns import Role
from engine.rules.roles import MAY
from engine.verbs import operators
from engine.verbs.site import SiteFile
from tests.console.desks import WHO, Still, campus, drive, keys, settle, shown, still
from tests.console.test_cursor import row


def test_a_passphrase_is_kept_as_a_slow_hash_and_both_answers_are_audited(tmp_path: Path) -> None:
    campus(tmp_path / "site.db")
    engine = wiring.open_engine(tmp_path / "site.db")
    operators.add(engine, WHO, "ben", "dispatcher", "correct horse")
    [kept] = engine.store.rows("main", "read_operator", operator="ben")
    assert str(kept["passphrase"]).startswith("$argon2id$")
    assert operators.sign_in(engine, "ben", "wrong horse") is None
    assert operators.sign_in(engine, "nobody", "correct horse") is None
    found = operators.sign_in(engine, " ben ", "correct horse")
    assert found is not None
    assert found.role is Role.DISPATCHER
    newest = engine.store.newest_audit("main", limit=3)
    assert sorted(each.act for each in newest) == ["sign in", "sign in refused", "sign in refused"]
    assert not any("horse" in each.detail + each.words for each in newest)
    operators.remove(engine, WHO, "ben")
    assert operators.operators(engine) == ()
    wiring.close(engine)


def test_a_short_passphrase_a_foreign_role_and_an_unknown_name_are_refused(tmp_path: Path) -> None:
    campus(tmp_path / "site.db")
    engine = wiring.open_engine(tmp_path / "site.db")
    with pytest.raises(Invalid, match="passphrase of 8"):
        operators.add(engine, WHO, "ben", "dispatcher", "short")
    with pytest.raises(Invalid, match="role 'worker'"):
        operators.add(engine, WHO, "ben", "worker", "correct horse")
    with pytest.raises(NotFound):
        operators.remove(engine, WHO, "ben")
    wiring.close(engine)


def live(path: Path) -> Engine:
    wiring.create(path, SiteFile(), training=False)
    return wiring.open_engine(path)


def test_a_trainer_is_not_named_at_a_live_site(tmp_path: Path) -> None:
    """SPEC 9: trainers have training sites only."""
    engine = live(tmp_path / "live.db")
    with pytest.raises(Forbidden, match=r"training sites only, and this one is live.*--training"):
        operators.add(engine, replace(WHO, role=Role.SUPERVISOR), "tina", "trainer", "correct horse")
    assert operators.operators(engine) == ()
    wiring.close(engine)


def test_a_trainer_named_at_a_live_site_earlier_is_told_and_does_not_come_in(tmp_path: Path) -> None:
    engine = live(tmp_path / "live.db")
    operators.add(engine, replace(WHO, role=Role.SUPERVISOR), "tina", "dispatcher", "correct horse")
    engine.store.run("main", _make_trainer(engine))
    app = still(tmp_path / "live.db")
    wiring.close(engine)

    async def play(pilot: Pilot[int]) -> None:
        await sign_in(pilot, "tina", "correct horse")
        assert isinstance(app.screen, Login)
        assert "training sites only" in " ".join(shown(app).split())
        assert isinstance(app.behind, Still)
        [newest] = app.behind.engine.store.newest_audit("main", limit=1)
        assert (newest.actor, newest.act) == ("tina", "sign in refused")

    asyncio.run(covered(app, play))


def _make_trainer(engine: Engine) -> Program[str]:
    [row] = yield must("read_operator", operator="tina")
    yield must("write_operator", operator="tina", role="trainer", passphrase=str(row["passphrase"]))
    return "tina"


def guarded(tmp_path: Path, role: str = "dispatcher") -> Console:
    """A desk of a site that names one operator, ben; it opens covered."""
    campus(tmp_path / "site.db")
    engine = wiring.open_engine(tmp_path / "site.db")
    operators.add(engine, WHO, "ben", role, "correct horse")
    wiring.close(engine)
    return still(tmp_path / "site.db")


async def sign_in(pilot: Pilot[int], name: str, passphrase: str) -> None:
    box = pilot.app.screen.query_one("#name", Input)
    box.value = name
    pilot.app.screen.query_one("#passphrase", Input).focus()
    await settle(pilot)
    await keys(pilot, *passphrase, "enter")
    await settle(pilot)


async def covered(app: Console, play: Callable[[Pilot[int]], Awaitable[None]]) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.look_again()
        await settle(pilot)
        await play(pilot)
    app.behind.close()


def test_the_desk_is_covered_until_an_operator_signs_in_and_acts_are_theirs(tmp_path: Path) -> None:
    app = guarded(tmp_path)

    async def play(pilot: Pilot[int]) -> None:
        assert isinstance(app.screen, Login)
        assert "J-9" not in shown(app), "nothing of the site is seen behind it"
        await keys(pilot, "escape")
        assert isinstance(app.screen, Login)
        await sign_in(pilot, "ben", "wrong horse")
        assert "do not belong together" in shown(app)
        await sign_in(pilot, "ben", "correct horse")
        desk = app.screen
        assert isinstance(desk, Desk)
        desk.board.put("J-9")
        await keys(pilot, "s")
        await settle(pilot)
        assert isinstance(app.behind, Still)
        [newest] = app.behind.engine.store.newest_audit("main", limit=1)
        assert (newest.actor, newest.role, newest.act) == ("ben", "dispatcher", "offer")

    asyncio.run(covered(app, play))


def test_an_idle_desk_locks_itself_and_a_key_in_time_keeps_it_open(tmp_path: Path) -> None:
    app = guarded(tmp_path)

    async def play(pilot: Pilot[int]) -> None:
        await sign_in(pilot, "ben", "correct horse")
        app.behind.mono_s = lambda: 14 * 60.0
        await keys(pilot, "j")
        app.behind.mono_s = lambda: 28 * 60.0
        app.look_again()
        await settle(pilot)
        assert isinstance(app.screen, Desk)
        app.behind.mono_s = lambda: 30 * 60.0
        app.look_again()
        await settle(pilot)
        assert isinstance(app.screen, Login)
        assert "Locked: nobody was here" in shown(app)
        await sign_in(pilot, "ben", "correct horse")
        await keys(pilot, "L")
        await settle(pilot)
        assert isinstance(app.screen, Login)

    asyncio.run(covered(app, play))


def burst(app: Console, *pressed: str) -> None:
    """Keys that are all there before the first of them is looked at, as a terminal hands over what was typed fast."""
    for each in pressed:
        letter = each if len(each) == 1 else None
        app.post_message(events.Key(_character_to_key(each) if letter else each, letter))


def boxes(app: Console) -> tuple[str, str]:
    return app.screen.query_one("#name", Input).value, app.screen.query_one("#passphrase", Input).value


@pytest.mark.parametrize("key", ["tab", "enter", "down"])
def test_a_passphrase_typed_in_one_burst_is_never_readable(tmp_path: Path, key: str) -> None:
    app = guarded(tmp_path)

    async def play(pilot: Pilot[int]) -> None:
        burst(app, *"ben", key, *"correct horse")
        for _ in range(60):
            await pilot.pause(0)
            assert "ben".startswith(boxes(app)[0])
            assert "horse" not in shown(app)
        assert boxes(app) == ("ben", "correct horse")
        burst(app, "enter")
        await settle(pilot)
        await settle(pilot)
        assert isinstance(app.screen, Desk)

    asyncio.run(covered(app, play))


def test_after_a_lock_no_tab_leads_back_to_the_name(tmp_path: Path) -> None:
    """Who sat here is named already: one who types the name again, tab and the passphrase types into one box."""
    app = guarded(tmp_path)

    async def play(pilot: Pilot[int]) -> None:
        await sign_in(pilot, "ben", "correct horse")
        app.look_again()
        await settle(pilot)
        burst(app, "L", *"ben", "tab", *"correct horse")
        for _ in range(60):
            await pilot.pause(0)
        assert isinstance(app.screen, Login)
        assert boxes(app)[0] == "ben"
        assert "horse" not in shown(app)
        await keys(pilot, "tab", "x", "shift+tab", "y")
        assert boxes(app)[0] == "y"

    asyncio.run(covered(app, play))


def test_another_operator_does_not_inherit_what_the_one_before_had_open(tmp_path: Path) -> None:
    app = guarded(tmp_path)

    async def play(pilot: Pilot[int]) -> None:
        await sign_in(pilot, "ben", "correct horse")
        app.look_again()
        await settle(pilot)
        await keys(pilot, "space", "c")
        await settle(pilot)
        assert not isinstance(app.screen, Desk)
        app.cover("Locked: nobody was here. ")
        await settle(pilot)
        await sign_in(pilot, "ben", "correct horse")
        assert not isinstance(app.screen, Desk), "their own dialog waits for them"
        app.cover("Locked: nobody was here. ")
        await settle(pilot)
        assert isinstance(app.behind, Still)
        operators.add(app.behind.engine, WHO, "sue", "dispatcher", "better horse")
        await sign_in(pilot, "sue", "better horse")
        await settle(pilot)
        assert isinstance(app.screen, Desk)
        assert not app.screen.board.marked

    asyncio.run(covered(app, play))


def test_who_is_struck_off_while_signed_in_does_nothing_more_and_is_covered(tmp_path: Path) -> None:
    app = guarded(tmp_path)

    async def play(pilot: Pilot[int]) -> None:
        await sign_in(pilot, "ben", "correct horse")
        app.look_again()
        await settle(pilot)
        assert isinstance(app.behind, Still)
        engine = app.behind.engine
        operators.add(engine, WHO, "sue", "dispatcher", "better horse")
        operators.remove(engine, WHO, "ben")
        await keys(pilot, "s")
        await settle(pilot)
        assert not [each for each in engine.store.audit("main") if each.act == "offer" and each.actor == "ben"]
        app.look_again()
        await settle(pilot)
        assert isinstance(app.screen, Login)
        assert "no longer named here" in " ".join(shown(app).split())

    asyncio.run(covered(app, play))


def test_keys_on_their_way_as_the_desk_is_locked_do_nothing_at_it(tmp_path: Path) -> None:
    app = guarded(tmp_path)

    async def play(pilot: Pilot[int]) -> None:
        await sign_in(pilot, "ben", "correct horse")
        app.look_again()
        await settle(pilot)
        desk = app.screen
        assert isinstance(desk, Desk)
        assert desk.board.cursor is not None
        burst(app, "L", "space", "s")
        for _ in range(60):
            await pilot.pause(0)
        assert isinstance(app.screen, Login)
        assert not desk.board.marked
        assert isinstance(app.behind, Still)
        assert not [
            each for each in app.behind.engine.store.audit("main") if each.act == "offer" and each.actor == "ben"
        ]

    asyncio.run(covered(app, play))


def test_what_is_typed_before_the_boxes_are_there_is_not_listened_to_until_a_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name and the tab went to the desk that was opening: the passphrase must not begin in the box for the name."""
    monkeypatch.setattr("console.screens.login.QUIET_S", 0.2)
    app = guarded(tmp_path)

    async def play(pilot: Pilot[int]) -> None:
        app.screen.dismiss(None)
        await settle(pilot)
        app.uncovered()
        app._signed_in = False  # pyright: ignore[reportPrivateUsage]
        burst(app, *"ben", "tab", *"corr")
        app.look_again()
        burst(app, *"ect horse")
        await settle(pilot)
        assert isinstance(app.screen, Login)
        await keys(pilot, *"horse")
        assert boxes(app) == ("", "")
        await pilot.pause(0.4)
        burst(app, *"ben", "tab", *"correct horse")
        for _ in range(60):
            await pilot.pause(0)
        assert boxes(app) == ("ben", "correct horse")

    asyncio.run(covered(app, play))


def test_a_role_decides_what_is_enabled_and_the_rest_says_why() -> None:
    state = DeskState(ready=True, readonly=False, pane="jobs", job=row(9), alert=None, role="dispatcher",
                      acts=MAY[Role.DISPATCHER])  # fmt: skip
    assert by_id("override").refusal(state) is None
    lesser = replace(state, role="integration", acts=MAY[Role.INTEGRATION])
    assert by_id("override").refusal(lesser) == "the role integration may not override"
    assert by_id("why").refusal(lesser) is None


def test_a_site_without_operators_asks_nothing_and_cannot_be_locked(tmp_path: Path) -> None:
    campus(tmp_path / "site.db")
    app = still(tmp_path / "site.db")

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "L")
        await settle(pilot)
        assert isinstance(app.screen, Desk)
        assert "this site has no operators" in shown(app)

    drive(app, play)


def test_a_database_of_schema_1_is_given_its_operators(tmp_path: Path) -> None:
    campus(tmp_path / "site.db")
    raw = sqlite3.connect(tmp_path / "site.db")
    raw.executescript("DROP TABLE operators; PRAGMA user_version = 1")
    raw.close()
    with pytest.raises(ReadOnly, match="schema 1"):
        wiring.open_engine(tmp_path / "site.db", readonly=True)
    engine = wiring.open_engine(tmp_path / "site.db")
    assert operators.operators(engine) == ()
    assert engine.store.integrity() == ()
    wiring.close(engine)
