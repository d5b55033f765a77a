"""Named operators: the desk asks who sits at it, locks when nobody does, and enables what their role may."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from console.app import Console
from console.commands import DeskState, by_id
from console.screens.desk import Desk
from console.screens.login import Login
from engine import wiring
from engine.ports import Invalid, NotFound, ReadOnly
from engine.rules.nouns import Role
from engine.rules.roles import MAY
from engine.verbs import operators
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
