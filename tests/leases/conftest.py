"""A site and a desk for each test; whatever a test does, the invariants hold at its end."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import wiring
from engine.ports import Engine
from engine.store.sqlite import SqliteStore
from tests.leases import desk, stage
from tests.leases.invariants import broken


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """j1, j2 (urgent) and j3 open; w1, w2 and wide (of capacity 2) free."""
    store = stage.site(tmp_path / "site.db")
    yield store
    store.close()
    assert broken(store.path) == []


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """w1 and w2 about, no job, nothing offered by itself."""
    engine = desk.desk(tmp_path / "site.db")
    yield engine
    wiring.close(engine)
    assert broken(engine.store.path) == []
