"""The documentation site, built once for all tests of this folder."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECONDS = 900


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The folder of the site. The processes of a test run share it: the first one builds it, the others wait."""
    pytest.importorskip("sphinx", reason="no sphinx: pip install 'coopmat[docs]'")
    fcntl = pytest.importorskip("fcntl")
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    folder = shared / "site"
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            words = [sys.executable, str(ROOT / "tools" / "docs.py"), str(folder)]
            done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
            assert done.returncode == 0, done.stderr[-5000:]
    return folder


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """An empty directory for a browser."""
    (tmp_path / "profile").mkdir()
    yield tmp_path / "profile"
    shutil.rmtree(tmp_path / "profile", ignore_errors=True)
