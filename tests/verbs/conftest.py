"""A desk for each test, closed afterwards."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.desk import Desk


@pytest.fixture
def found(tmp_path: Path) -> Iterator[Callable[..., Desk]]:
    """`found(auto=True, assign={"k": 2})` → a desk with these settings."""
    made: list[Desk] = []

    def one(**settings: object) -> Desk:
        made.append(Desk(tmp_path, **settings))  # type: ignore[arg-type]
        return made[-1]

    yield one
    for each in made:
        each.close()


@pytest.fixture
def desk(found: Callable[..., Desk]) -> Desk:
    """Offers are made by hand; nothing is kept in reserve."""
    return found(slack_capacity={"reserve_share": 0.0})
