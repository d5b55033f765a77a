"""An operator's own keys: over command ids, never two commands on one key, and help and footer follow."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from console import keymap
from console.app import Console
from console.screens.desk import Desk
from console.screens.override import Override
from tests.console.desks import campus, drive, keys, settle, shown, still


@pytest.mark.parametrize(
    ("told", "fault"),
    [
        ({"keys": {"nonsense": "O"}}, "nonsense: no such command"),
        ({"keys": {"override": 7}}, "one key is wanted"),
        ({"keys": {"override": "c"}}, "that key is cancel's"),
        ({"keys": {"override": "j"}}, "that key is the desk's"),
        ({"keys": {"override": "1"}}, "that key is pane Alerts's"),
        ({"keys": {"override": "x,y"}}, "one key is wanted"),
        *(({"keys": {"override": key}}, "one key is wanted") for key in ("foo", "OO", "Ctrl+O", "[/]", " ", "<any>")),
        ({"keys": {"override": "ctrl+m"}}, "a terminal sends it as enter"),
        ({"keys": 3}, "a section of command = key is wanted"),
        ({"colours": {}}, "only [keys] is known"),
    ],
)
def test_a_fault_is_told_and_leaves_the_key_as_it_was(told: dict[str, object], fault: str) -> None:
    found = keymap.judged(told)
    assert fault in " ".join(found.faults)
    assert found.keys == {}


def test_two_commands_may_change_places() -> None:
    found = keymap.judged({"keys": {"override": "c", "cancel": "o"}})
    assert (found.keys, found.faults) == ({"override": "c", "cancel": "o"}, ())


def test_a_file_that_is_no_toml_opens_the_desk_with_its_own_keys(tmp_path: Path) -> None:
    (tmp_path / "keymap.toml").write_text("keys = [")
    assert "is not TOML" in keymap.load(tmp_path / "keymap.toml").faults[0]
    (tmp_path / "keymap.toml").write_text(f"keys = {'[' * 5_000}{']' * 5_000}")
    assert "is not TOML" in keymap.load(tmp_path / "keymap.toml").faults[0]
    assert keymap.load(tmp_path / "absent.toml") == keymap.Keymap(keys={})


def test_the_new_key_acts_the_old_one_does_not_and_footer_and_help_follow(tmp_path: Path) -> None:
    campus(tmp_path / "site.db")
    app: Console = still(tmp_path / "site.db")
    (tmp_path / "keymap.toml").write_text('[keys]\noverride = "O"\nhelp = "ctrl+h"\n')

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        app.take_keys(keymap.load(tmp_path / "keymap.toml"))
        app.look_again()
        desk.board.put("J-9")
        await keys(pilot, "o")
        await settle(pilot)
        assert isinstance(app.screen, Desk)
        assert "O override" in shown(app)
        await keys(pilot, "O")
        await settle(pilot)
        assert isinstance(app.screen, Override)
        await keys(pilot, "escape", "ctrl+h")
        await settle(pilot)
        assert "     O  override" in shown(app)

    drive(app, play)


def test_kept_filters_survive_any_letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLBOARD_CONFIG", str(tmp_path))
    for name in ('a "quoted" \\ name', "línea", "\x7f\x1b[31m", "[/]"):
        assert keymap.save(name, 'skill:hvac "x" \\ \t')[1] == "ok"
    assert set(keymap.saved()) == {'a "quoted" \\ name', "línea", "\x7f\x1b[31m", "[/]"}
    assert set(keymap.saved().values()) == {'skill:hvac "x" \\ \t'}
    assert keymap.forget("[/]")[1] == "ok"
    assert "[/]" not in keymap.saved()


@pytest.mark.parametrize(
    "told", ['[filters\nmine = "x"', '[filters]\nn = 3\nmine = "x"', "[other]\na = 1", "filters = 3"]
)
def test_what_a_person_wrote_into_the_file_of_filters_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str
) -> None:
    monkeypatch.setenv("CALLBOARD_CONFIG", str(tmp_path))
    (tmp_path / "filters.toml").write_text(told)
    for said, look in (keymap.save("new", "skill:hvac"), keymap.forget("mine")):
        assert look == "alert"
        assert "nothing was changed" in said
    assert (tmp_path / "filters.toml").read_text() == told
