"""`coopmat cache`: what is kept, why it is not, and nothing left of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coopmat.cache import Cache, Entry, directories


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "c"
    monkeypatch.setenv("COOPMAT_CACHE_DIR", str(place))
    monkeypatch.delenv("COOPMAT_NO_CACHE", raising=False)
    Cache(place).put("abcd", Entry(b"x" * (3 << 19)))
    directories.keep_refused(b"code", ".cl")
    return place


def test_info_and_clear(coopmat, place: Path) -> None:
    told = coopmat("cache", "info", COOPMAT_CACHE_SIZE="8M")
    assert told.status == 0 and told.err == ""
    assert [line.split(maxsplit=1)[-1] for line in told.out.decode().splitlines()] == [
        str(place),
        "yes",
        "1, 1.5 MiB of 8.0 MiB",
        "programs  1, 0.0 MiB",
    ]
    done = coopmat("cache", "clear")
    assert done.out == b"removed 1 builds, 1.5 MiB, and 1 refused programs\n" and done.status == 0
    assert not any(path.is_file() for path in place.rglob("*"))
    assert coopmat("cache", "clear").status == 0


def test_info_as_json(coopmat, place: Path) -> None:
    told = json.loads(coopmat("cache", "info", "--json").out)
    assert told.pop("size") > 3 << 19
    assert told == {
        "directory": str(place),
        "fault": "",
        "off": False,
        "entries": 1,
        "limit": directories.DEFAULT_SIZE,
        "refused": 1,
        "refused_size": 4,
    }
    assert json.loads(coopmat("cache", "info", "--json", COOPMAT_NO_CACHE="1").out)["off"] is True


def test_directory_that_others_can_open(coopmat, place: Path) -> None:
    place.chmod(0o755)
    assert f"no: {place} can be opened by others (mode 755): run `chmod 700" in coopmat("cache", "info").out.decode()
    done = coopmat("cache", "clear")
    assert done.status == 1 and "can be opened by others" in done.err and "Traceback" not in done.err
    assert any(path.is_file() for path in place.rglob("*"))


def test_directory_that_is_not_there(coopmat, tmp_path: Path) -> None:
    told = coopmat("cache", "info", COOPMAT_CACHE_DIR=str(tmp_path / "none"))
    assert told.status == 0 and "yes" in told.out.decode()
    assert coopmat("cache", "clear", COOPMAT_CACHE_DIR=str(tmp_path / "none")).status == 0
    assert not (tmp_path / "none").exists()


def test_usage(coopmat) -> None:
    assert coopmat("cache").status == 2
    help_text = coopmat("cache", "--help").out.decode()
    assert "COOPMAT_CACHE_SIZE" in help_text and "info" in help_text and "clear" in help_text
