"""The cache on disk: hits, misses, damage, includes, and many processes at once."""

from __future__ import annotations

import hashlib
import logging
import multiprocessing
import os
import random
import shutil
import stat
import struct
import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from coopmat.cache import CACHE_DIRECTORY, CACHE_SIZE, NO_CACHE, Cache, Entry, directories, key_of, package_version


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


@pytest.mark.parametrize(
    ("table", "facts"),
    [
        (b"", b"not json"),
        (b"", b"\xff"),
        (b"", b""),
        (b"", b"[" * 100_000),
        (b"", b"9" * 5000),
        (b"\0", b"1"),
        (struct.pack("<I", 5) + bytes(32) + b"four", b"1"),
        (struct.pack("<I", 2**32 - 1) + bytes(32), b"1"),
        (struct.pack("<I", 1) + bytes(range(32)) + b"\0", b"1"),
    ],
)
def test_contents_of_others(tmp_path: Path, table: bytes, facts: bytes) -> None:
    cache = Cache(tmp_path)
    cache.put("abcd", Entry(b"p"))
    (path,) = entries(tmp_path)
    path.write_bytes(entry_file(table, facts))
    assert cache.get("abcd") is None
    # That of a name that no file can have is an entry, of what has changed.
    assert path.exists() == table.endswith(b"\x1f\0")


def entry_file(table: bytes, facts: bytes, *sizes: int) -> bytes:
    """What anybody could write: its digest is right."""
    rest = struct.pack("<QQQ", *(sizes or (len(table), len(facts), 1))) + table + facts + b"p"
    return b"coopmat entry 2\n" + hashlib.blake2b(rest, digest_size=32).digest() + rest


@pytest.mark.parametrize(
    "sizes", [(2**64 - 1, 1, 1), (0, 2**64 - 1, 1), (0, 1, 2**64 - 1), (0, 0, 0), (2**63, 2**63, 2)]
)
def test_sizes_of_others(tmp_path: Path, sizes: tuple[int, int, int]) -> None:
    cache = Cache(tmp_path)
    cache.put("abcd", Entry(b"p"))
    (path,) = entries(tmp_path)
    path.write_bytes(entry_file(b"", b"1", *sizes))
    assert cache.get("abcd") is None and not path.exists()


READER = """
#include <stdint.h>
#include <stdio.h>
#include <string.h>
struct head { char magic[16]; uint8_t digest[32]; uint64_t files_size, facts_size, payload_size; };
struct file { uint32_t length; uint8_t digest[32]; };
int main(int argc, char **argv)
{
    static char data[1 << 16];
    struct head head;
    struct file file;
    FILE *input = fopen(argv[1], "rb");
    size_t size = fread(data, 1, sizeof data, input), at = sizeof head;
    memcpy(&head, data, sizeof head);
    printf("%.15s %d\\n", head.magic, size == sizeof head + head.files_size + head.facts_size + head.payload_size);
    for (uint64_t end = at + head.files_size; at < end; at += file.length) {
        static const uint8_t absent[32];
        memcpy(&file, data + at, sizeof file);
        at += sizeof file;
        printf("%.*s %s\\n", (int)file.length, data + at, memcmp(file.digest, absent, 32) ? "there" : "absent");
    }
    printf("%.*s %.*s\\n", (int)head.facts_size, data + at, (int)head.payload_size, data + at + head.facts_size);
}
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
def test_a_program_in_c_reads_an_entry(tmp_path: Path) -> None:
    included = tmp_path / "a.h"
    included.write_text("one")
    cache = Cache(tmp_path / "cache")
    cache.put("abcd", Entry(b"payload", {"n": 1}, (str(included),), ("nowhere/b.h",)))
    (path,) = entries(tmp_path / "cache")
    (tmp_path / "reader.c").write_text(READER)
    program = tmp_path / "reader"
    subprocess.run(["gcc", "-Wall", "-o", str(program), str(tmp_path / "reader.c")], check=True)
    said = subprocess.run([str(program), str(path)], capture_output=True, text=True, check=True).stdout
    expected = ["coopmat entry 2 1", f"{included} there", "nowhere/b.h absent", '{"n": 1} payload']
    assert said.splitlines() == expected


@pytest.mark.parametrize("facts", [{}, None, 3, [1], {"value": 1, "failure": 2}])
def test_facts_that_the_reader_does_not_take(tmp_path: Path, facts: object) -> None:
    from coopmat.devices import probe

    cache = Cache(tmp_path)
    cache.put("abcd", Entry(b"", facts))
    good = Entry(b"", {"value": 1, "failure": ""})
    assert cache.get_or_build("abcd", lambda: good, probe._answer) == good == cache.get("abcd")


@pytest.mark.parametrize("name", ["fifo", "/dev/zero", "/dev/full", "directory", "a\0b", "loop"])
def test_dependencies_that_are_no_files(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "directory").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    named = str(tmp_path / name)
    table = struct.pack("<I", len(named.encode())) + b"d" * 32 + named.encode()
    cache = Cache(tmp_path)
    cache.put("abcd", Entry(b"p"))
    (path,) = entries(tmp_path)
    path.write_bytes(entry_file(table, b"1"))
    assert cache.get("abcd") is None


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    try:
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))  # /dev/zero
    except PermissionError:
        pytest.skip("making a device needs privileges")


def _socket(path: Path) -> None:
    os.mknod(path, 0o600 | stat.S_IFSOCK)


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(20 << 30)


def _link(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _long_link(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("plant", [_fifo, _device, _socket, _huge, _link, _long_link, Path.mkdir])
def test_what_is_no_entry_is_a_miss(tmp_path: Path, plant: Callable[[Path], None]) -> None:
    cache = Cache(tmp_path)
    cache.put("abcd", Entry(b"p"))
    (path,) = entries(tmp_path)
    path.unlink()
    plant(path)
    assert cache.get("abcd") is None
    assert cache.get_or_build("abcd", lambda: Entry(b"q")).payload == b"q"
    if not path.is_dir():
        assert cache.get("abcd") == Entry(b"q")


@pytest.mark.parametrize("plant", [_fifo, _device, _link, _long_link])
def test_lock_is_a_file_of_ours(
    tmp_path: Path, plant: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "locks").mkdir(mode=0o700)
    plant(tmp_path / "locks" / "abcd")
    with caplog.at_level(logging.WARNING, "coopmat.cache"):
        assert Cache(tmp_path).get_or_build("abcd", lambda: Entry(b"q")).payload == b"q"
    assert "cannot be locked" in caplog.text


def test_lock_does_not_follow_a_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    (tmp_path / "locks").mkdir(mode=0o700)
    (tmp_path / "locks" / "abcd").symlink_to(victim)
    Cache(tmp_path).get_or_build("abcd", lambda: Entry(b"q"))
    assert not victim.exists()


# --- whose directory it is ---


@pytest.mark.parametrize("mode", [0o755, 0o701, 0o770, 0o777, 0o1777])
def test_directory_that_others_can_open_is_not_used(
    tmp_path: Path, mode: int, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "c"
    Cache(place).put("abcd", Entry(b"p"))
    place.chmod(mode)
    with caplog.at_level(logging.WARNING, "coopmat.cache"):
        assert Cache(place).get("abcd") is None
        assert Cache(place).get_or_build("abcd", lambda: Entry(b"q")).payload == b"q"
    assert len(caplog.records) == 1 and f"chmod 700 {place}" in caplog.text  # told once
    place.chmod(0o700)
    assert Cache(place).get("abcd") == Entry(b"p")


def test_own_directory_that_others_could_only_read_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(CACHE_DIRECTORY, raising=False)
    monkeypatch.delenv(NO_CACHE, raising=False)
    cache = Cache.of_environment()
    place = cache.directory
    assert place is not None and place.is_relative_to(tmp_path)
    cache.put("abcd", Entry(b"p"))
    place.chmod(0o755)
    assert cache.get("abcd") == Entry(b"p") and place.stat().st_mode & 0o777 == 0o700
    place.chmod(0o775)
    assert cache.get("abcd") is None and place.stat().st_mode & 0o777 == 0o775


def test_directory_of_another_user_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "c"
    Cache(place).put("abcd", Entry(b"p"))
    monkeypatch.setattr(os, "geteuid", lambda: place.stat().st_uid + 1)
    with caplog.at_level(logging.WARNING, "coopmat.cache"):
        assert Cache(place).get("abcd") is None
    assert "belongs to another user" in caplog.text


def test_directories_are_made_for_this_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Cache(tmp_path / "a" / "c").get_or_build("abcd", lambda: Entry(b"p"))
    finally:
        os.umask(before)
    made = [path for path in (tmp_path / "a" / "c").rglob("*") if path.is_dir()]
    assert {path.name for path in made} == {"entries", "locks", "ab"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in [tmp_path / "a" / "c", *made])


# --- what it may take ---


def test_least_recently_used_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path)
    for n in range(8):
        cache.put(f"{n}abc", Entry(bytes(1000), {"n": n}))
        (path,) = (tmp_path / "entries" / f"{n}a").iterdir()
        os.utime(path, (n, n))
    size = path.stat().st_size
    assert cache.get("0abc") is not None  # the oldest is used again
    monkeypatch.setenv(CACHE_SIZE, str(4 * size))
    cache.put("9abc", Entry(bytes(1000), {"n": 9}))
    assert [n for n in range(10) if cache.get(f"{n}abc") is not None] == [0, 6, 7, 9]


def test_entries_are_looked_through_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a process's first entry, and when a 64th of the limit was written since: thousands of entries do not slow the
    next one down."""
    looked = []
    monkeypatch.setattr(directories, "evict", lambda directory, limit: looked.append(limit))
    monkeypatch.setenv(CACHE_SIZE, "640K")
    for n in range(100):
        Cache(tmp_path).put(f"{n:04}", Entry(bytes(900)))
    assert 9 <= len(looked) <= 12


def test_entry_larger_than_the_limit_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_SIZE, "2K")
    Cache(tmp_path).put("abcd", Entry(bytes(1000)))
    Cache(tmp_path).put("abce", Entry(bytes(4000)))
    assert Cache(tmp_path).get("abcd") is not None and Cache(tmp_path).get("abce") is None


@pytest.mark.parametrize(
    ("text", "size"), [("5", 5), ("2k", 2048), ("3 M", directories.DEFAULT_SIZE), ("3MiB", 3 << 20), ("1GB", 1 << 30)]
)
def test_sizes(monkeypatch: pytest.MonkeyPatch, text: str, size: int) -> None:
    monkeypatch.setenv(CACHE_SIZE, text)
    assert directories.size_limit() == size


def test_what_was_left_half_written_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_SIZE, "4K")  # so that it is looked for at each entry
    cache = Cache(tmp_path)
    cache.put("abcd", Entry(b"p"))
    left = tmp_path / "entries" / "ab" / ".new-xyz"
    left.write_bytes(b"half")
    cache.put("abce", Entry(b"p"))
    assert left.exists()  # it may be being written now
    os.utime(left, (1, 1))
    cache.put("abcf", Entry(b"p"))
    assert not left.exists()


def test_refused_programs_are_kept_and_pruned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_DIRECTORY, str(tmp_path / "c"))
    kept = []
    for n in range(directories.MOST_REFUSED + 5):
        kept.append(directories.keep_refused(b"code %d" % n, ".cl"))
        os.utime(kept[-1], (n, n))
    last = directories.keep_refused(b"code 3", ".cl")
    assert last == kept[3] and last.read_bytes() == b"code 3" and last.parent.parent == tmp_path / "c"
    assert len(list(last.parent.iterdir())) == directories.MOST_REFUSED and not kept[0].exists() and kept[-1].exists()
    (tmp_path / "c").chmod(0o755)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    elsewhere = directories.keep_refused(b"code", ".spv")
    assert elsewhere.read_bytes() == b"code" and elsewhere.is_relative_to(tmp_path)
    assert not elsewhere.is_relative_to(tmp_path / "c")


def test_place_that_cannot_be_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    calls, build = count_calls(Entry(b"p"))
    with caplog.at_level(logging.WARNING, "coopmat.cache"):
        assert Cache(tmp_path / "file").get_or_build("abcd", build).payload == b"p"  # type: ignore[arg-type]
    assert len(calls) == 1 and "is not used" in caplog.text and len(caplog.records) == 1


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
