"""Campaigns on a cluster: their modules travel, and their findings are those of one process."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="dask.distributed is not installed: the extra `cluster`")

from fuzz import campaign
from spread import parts, spread

from coopmat.cluster.modules import Modules


def test_parts() -> None:
    assert parts(range(7), 3) == [range(3), range(3, 6), range(6, 7)] and parts([], 3) == []


def test_modules_are_imported_where_they_are_unpacked(tmp_path: Path) -> None:
    """As in a worker: a process that has no path to this repository."""
    (tmp_path / "own" / "deep").mkdir(parents=True)
    (tmp_path / "own" / "travelling.py").write_text(
        "from pathlib import Path\nTEXT = (Path(__file__).parent / 'deep/x').read_text()\n"
    )
    (tmp_path / "own" / "deep" / "x").write_text("data")
    modules = Modules(tmp_path, ["own"], ["own"])
    code = (
        "import pickle, subprocess, sys; pickle.load(sys.stdin.buffer).setup(None);"
        "import travelling; print(travelling.TEXT, flush=True);"
        "subprocess.run([sys.executable, '-c', 'import travelling; print(travelling.__file__)'])"
    )
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(modules), capture_output=True)
    assert done.returncode == 0, done.stderr
    text, path = done.stdout.decode().split()
    assert text == "data" and path.endswith("own/travelling.py") and not path.startswith(str(tmp_path))


def lengths(seeds: range) -> list[int]:
    """How long the programs of seeds are: a campaign that needs no device."""
    return [len(str(campaign.generate(seed).tree)) for seed in seeds]


@pytest.mark.slow
def test_findings_are_those_of_one_process() -> None:
    chunks = parts(range(40), 8)
    told: list[str] = []
    assert spread("local:2", lengths, chunks, told.append) == [lengths(chunk) for chunk in chunks]
    assert told[-1] == "5 of 5 parts"
