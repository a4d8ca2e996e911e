"""Running the `coopmat` command as a user does."""

from __future__ import annotations

import os
import resource
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
    seconds: float
    """Of processors; a machine with other work takes longer."""


def _processor_seconds() -> float:
    """Of all processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture
def coopmat(tmp_path):
    """`coopmat(*arguments, stdin=b"", **environment)` in a process of its own, in an empty directory."""
    place = tmp_path / "working directory"
    place.mkdir(mode=0o700)  # tests keep a cache in it

    def run(*arguments: object, stdin: bytes = b"", **environment: str) -> Result:
        variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
        command = [sys.executable, "-m", "coopmat", *map(str, arguments)]
        before = _processor_seconds()
        done = subprocess.run(command, input=stdin, capture_output=True, cwd=place, env=variables, timeout=120)
        return Result(done.returncode, done.stdout, done.stderr.decode(), _processor_seconds() - before)

    run.place = place
    return run
