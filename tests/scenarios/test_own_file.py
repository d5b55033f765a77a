"""A trainer's own file, named as people name files."""

import shutil
from pathlib import Path

import pytest

from fixtures.scenarios import HERE, found


@pytest.mark.parametrize("name", ["mine.toml", "./mine.toml"])
def test_a_file_in_the_working_folder_is_found_again_by_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(HERE / "region-handoff.toml", "mine.toml")
    scenario = found(name)
    assert found(scenario.source).title == scenario.title
