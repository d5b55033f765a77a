"""Named operators: the desk asks who sits at it, locks when nobody does, and enables what their role may."""

from pathlib import Path

import pytest

from engine import wiring
from engine.ports import Invalid, NotFound
from engine.rules.nouns import Role
from engine.verbs import operators
from tests.console.desks import WHO, campus


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
