"""Running the `coopmat` command as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Result:
    status: int
    out: bytes
    err: str


@pytest.fixture
def coopmat(tmp_path):
    """`coopmat(*arguments, stdin=b"", **environment)` in a process of its own, in an empty directory."""
    place = tmp_path / "working directory"
    place.mkdir(mode=0o700)  # tests keep a cache in it

    def run(*arguments: object, stdin: bytes = b"", **environment: str) -> Result:
        variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
        command = [sys.executable, "-m", "coopmat", *map(str, arguments)]
        done = subprocess.run(command, input=stdin, capture_output=True, cwd=place, env=variables, timeout=120)
        return Result(done.returncode, done.stdout, done.stderr.decode())

    run.place = place
    return run
