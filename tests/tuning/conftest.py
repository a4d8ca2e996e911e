from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from coopmat.linalg import parameters
from coopmat.linalg.parameters import table


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The directory of the user's tables, for this process and its children; it does not exist yet."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(parameters, "user_directory", lambda: tmp_path / "coopmat" / "linalg")
    table.cache_clear()
    yield tmp_path / "coopmat" / "linalg"
    table.cache_clear()
