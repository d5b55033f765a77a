"""How the other screens that only show look, at three sizes; the cells in every look too, as colour fills them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from console.app import Console
from console.reads import AuditFound
from console.viewmodels.audit import Verdict
from tests.console.desks import Still, campus
from tests.console.test_snapshots import SIZES, SnapCompare, played

T = TypeVar("T")
HASH = "5be7bff71da104aa" * 4


class Unhashed(Still):
    """Hashes differ with every site that is founded; here they are one and the same, so that pictures compare."""

    async def ask(self, asked: Callable[..., T]) -> T:
        answer = await super().ask(asked)
        if isinstance(answer, AuditFound):
            rows = tuple(replace(each, hash=HASH) for each in answer.rows)
            return replace(answer, rows=rows)  # type: ignore[return-value]
        return replace(answer, head=HASH) if isinstance(answer, Verdict) else answer  # type: ignore[return-value]


def still(path: Path) -> Console:
    return Console(Unhashed(path), ticks=False)


PLAYS = {
    "cells": ("3",),
    "cells_large": ("3", "plus", "right", "right"),
    "audit": ("A", "v", "j"),
    "handover": ("H",),
    "settings": ("S",),
    "what_if": ("w", "minus", "minus", "minus", "minus", "minus", "minus"),
}


@pytest.fixture
def app(tmp_path: Path) -> Console:
    campus(tmp_path / "site.db")
    return still(tmp_path / "site.db")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("play", PLAYS)
def test_look(app: Console, snap_compare: SnapCompare, play: str, size: tuple[int, int]) -> None:
    assert snap_compare(app, terminal_size=size, run_before=played("J-7", PLAYS[play]))


@pytest.mark.parametrize("theme", ["callboard-light", "callboard-okabe-ito"])
@pytest.mark.parametrize("play", ["cells_large"])
def test_theme(app: Console, snap_compare: SnapCompare, play: str, theme: str) -> None:
    app.theme = theme
    assert snap_compare(app, terminal_size=(120, 36), run_before=played("J-7", PLAYS[play]))


@pytest.mark.parametrize("play", ["cells", "cells_large"])
def test_no_color(tmp_path: Path, snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch, play: str) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    campus(tmp_path / "site.db")
    assert snap_compare(still(tmp_path / "site.db"), terminal_size=(120, 36), run_before=played("J-7", PLAYS[play]))


@pytest.mark.parametrize("play", ["cells_large", "handover"])
def test_the_smallest(app: Console, snap_compare: SnapCompare, play: str) -> None:
    assert snap_compare(app, terminal_size=(40, 12), run_before=played("J-7", PLAYS[play]))
