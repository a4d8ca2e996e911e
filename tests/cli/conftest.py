"""Running the `coopmat` command as a user does."""

from __future__ import annotations

import os

import pytest
from command_server import Result, shared_server


@pytest.fixture
def coopmat(tmp_path):
    """`coopmat(*arguments, stdin=b"", **environment)` in a process of its own, in an empty directory."""
    place = tmp_path / "working directory"
    place.mkdir(mode=0o700)  # tests keep a cache in it

    def run(*arguments: object, stdin: bytes = b"", **environment: str) -> Result:
        return shared_server().run([*map(str, arguments)], stdin, place, {**os.environ, **environment})

    run.place = place
    return run
