"""Outputs are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coopmat.cli.files import read_source, write_outputs


def test_outputs_are_written_with_the_usual_mode(tmp_path):
    mask = os.umask(0o022)
    try:
        write_outputs({str(tmp_path / "a"): b"1", str(tmp_path / "b"): b"2"})
    finally:
        os.umask(mask)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"a": b"1", "b": b"2"}
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("bad", ["missing/b", "directory"])
def test_when_one_fails_none_is_written(tmp_path, bad):
    (tmp_path / "directory").mkdir()
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(OSError) as caught:
        write_outputs({str(tmp_path / "a"): b"new", str(tmp_path / bad): b"2"})
    assert caught.value.filename == str(tmp_path / bad)
    assert (tmp_path / "a").read_bytes() == b"old"
    assert {p.name for p in tmp_path.iterdir()} == {"a", "directory"}


def test_a_device_is_written_to_and_not_replaced():
    write_outputs({"/dev/null": b"x"})
    assert not Path("/dev/null").is_file()


def test_a_pipe_is_written_to(tmp_path):
    read, write = os.pipe()
    write_outputs({f"/dev/fd/{write}": b"through"})
    os.close(write)
    with os.fdopen(read, "rb") as file:
        assert file.read() == b"through"


def test_a_missing_source_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nosuch"):
        read_source(str(tmp_path / "nosuch.cl"))
