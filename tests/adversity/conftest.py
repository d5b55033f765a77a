"""What the tests of adversity share."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder in memory where there is one: what a killed process wrote survives there as it does on a disk."""
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else None) as folder:
        yield Path(folder)
