"""The cache on disk: hits, misses, damage, includes, and many processes at once."""

from __future__ import annotations

import hashlib
import logging
import multiprocessing
import os
import random
import threading
from pathlib import Path

import pytest

from coopmat.cache import CACHE_DIRECTORY, NO_CACHE, Cache, Entry, key_of, package_version


def entries(directory: Path) -> list[Path]:
    return [path for path in (directory / "entries").rglob("*") if path.is_file()]


def locks(directory: Path) -> list[Path]:
    return list((directory / "locks").glob("*"))


def count_calls(entry: Entry) -> tuple[list[int], object]:
    calls: list[int] = []

    def build() -> Entry:
        calls.append(1)
        return entry

    return calls, build


def test_key_is_of_names_and_contents() -> None:
    assert key_of({"a": "x", "b": b"y"}) == key_of({"b": b"y", "a": "x"})
    different = [{"a": "xy", "b": ""}, {"a": "x", "b": "y"}, {"ab": "xy"}, {"a": b"xy", "b": b""}, {"a": ["x", "y"]}]
    assert len({key_of(parts) for parts in different}) == len(different)


def test_version_tells_the_files_and_llvmlite() -> None:
    import llvmlite

    assert f"llvmlite {llvmlite.__version__}" in package_version() and len(package_version().split()[0]) == 32


def test_build_happens_once(tmp_path: Path) -> None:
    calls, build = count_calls(Entry(b"\0\1payload", {"kernels": ["k"]}))
    cache, key = Cache(tmp_path), key_of({"source": "x"})
    first, second = cache.get_or_build(key, build), cache.get_or_build(key, build)  # type: ignore[arg-type]
    assert first == second == Entry(b"\0\1payload", {"kernels": ["k"]}) and len(calls) == 1
    assert not locks(tmp_path) and len(entries(tmp_path)) == 1
    cache.clear()
    assert cache.get(key) is None


def test_failed_build_leaves_nothing(tmp_path: Path) -> None:
    def build() -> Entry:
        raise KeyError("no")

    with pytest.raises(KeyError):
        Cache(tmp_path).get_or_build("00ff", build)
    assert not entries(tmp_path) and not locks(tmp_path)


def test_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(CACHE_DIRECTORY, str(tmp_path / "c"))
    monkeypatch.delenv(NO_CACHE, raising=False)
    assert Cache.of_environment().directory == tmp_path / "c"
    monkeypatch.setenv(NO_CACHE, "1")
    assert Cache.of_environment().directory is None
    calls, build = count_calls(Entry(b"p"))
    for _ in range(2):
        Cache.of_environment().get_or_build("00ff", build)  # type: ignore[arg-type]
    assert len(calls) == 2 and not tmp_path.joinpath("c").exists()
    monkeypatch.setenv(NO_CACHE, "0")
    monkeypatch.delenv(CACHE_DIRECTORY)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert "coopmat" in str(Cache.of_environment().directory)


def test_every_damage_is_found_and_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache, rng = Cache(tmp_path), random.Random(4)
    entry = Entry(bytes(range(256)), {"x": 1})
    cache.put("abcd", entry)
    (path,) = entries(tmp_path)
    whole = path.read_bytes()
    for n in range(300):
        data = bytearray(whole)
        if n % 3 == 0:
            del data[rng.randrange(len(data)) :]
        else:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        caplog.clear()
        calls, build = count_calls(entry)
        with caplog.at_level(logging.WARNING, "coopmat.cache"):
            assert cache.get_or_build("abcd", build) == entry  # type: ignore[arg-type]
        assert len(calls) == 1 and "damaged" in caplog.text
        assert path.read_bytes() == whole


def test_includes(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir(), second.mkdir()
    header = second / "a.h"
    header.write_text("one")
    cache = Cache(tmp_path / "cache")
    calls, build = count_calls(Entry(b"p", None, (str(header),), (str(first / "a.h"),)))

    def builds() -> int:
        before = len(calls)
        assert cache.get_or_build("abcd", build).dependencies == (str(header),)  # type: ignore[arg-type]
        return len(calls) - before

    assert [builds(), builds()] == [1, 0]
    header.write_text("two")
    assert [builds(), builds()] == [1, 0]
    # The same name in a directory that is searched before.
    (first / "a.h").write_text("three")
    assert builds() == 1
    (first / "a.h").unlink()
    assert [builds(), builds()] == [0, 0]
    header.unlink()
    assert cache.get("abcd") is None


@pytest.mark.parametrize("header", [b"{}", b"not json", b"[1]", b'{"facts": 1, "files": [3], "absent": []}'])
def test_headers_of_others(tmp_path: Path, header: bytes) -> None:
    cache = Cache(tmp_path)
    cache.put("abcd", Entry(b"p"))
    (path,) = entries(tmp_path)
    rest = len(header).to_bytes(8, "little") + header + b"p"
    path.write_bytes(b"coopmat entry 1\n" + hashlib.blake2b(rest, digest_size=32).digest() + rest)
    assert cache.get("abcd") is None and not path.exists()


def test_place_that_cannot_be_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    calls, build = count_calls(Entry(b"p"))
    with caplog.at_level(logging.WARNING, "coopmat.cache"):
        assert Cache(tmp_path / "file").get_or_build("abcd", build).payload == b"p"  # type: ignore[arg-type]
    assert len(calls) == 1 and "could not be written" in caplog.text


def test_threads_wait_for_the_first(tmp_path: Path) -> None:
    entered: list[int] = []
    gate = threading.Barrier(8)

    def build() -> Entry:
        entered.append(1)
        return Entry(b"p")

    def ask() -> None:
        gate.wait()
        assert Cache(tmp_path).get_or_build("abcd", build).payload == b"p"

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(entered) == 1 and not locks(tmp_path)


def _build_all(directory: str, seed: int, log: str) -> None:
    order = list(range(50))
    random.Random(seed).shuffle(order)
    for n in order:

        def build(n: int = n) -> Entry:
            with Path(log).open("a") as file:
                file.write(f"{n}\n")
            return Entry(bytes([n]) * 1000, {"n": n})

        entry = Cache(Path(directory)).get_or_build(key_of({"n": n}), build)
        assert entry.payload == bytes([n]) * 1000 and entry.facts == {"n": n}


def test_processes_build_each_entry_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    context = multiprocessing.get_context("fork" if os.name == "posix" else "spawn")
    processes = [
        context.Process(target=_build_all, args=(str(tmp_path / "cache"), seed, str(log))) for seed in range(16)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert all(process.exitcode == 0 for process in processes)
    built = log.read_text().split()
    assert sorted(map(int, built)) == list(range(50))
    assert not locks(tmp_path / "cache") and len(entries(tmp_path / "cache")) == 50
