"""The CPU runtime gets a path without blanks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from coopmat.devices import relocate
from coopmat.devices.relocate import without_blanks


@pytest.fixture
def runtime(tmp_path):
    library = tmp_path / "my project" / "lib"
    (library / "python3").mkdir(parents=True)
    (library / "libintelocl.so").write_bytes(b"runtime")
    (library / "libtbb.so.12.1").write_bytes(b"tbb")
    (library / "libtbb.so").symlink_to("libtbb.so.12.1")
    return library / "libintelocl.so"


def test_a_path_without_blanks_stays(tmp_path):
    runtime = tmp_path / "libintelocl.so"
    runtime.write_bytes(b"")
    assert without_blanks(runtime, [tmp_path / "cache"]) == runtime
    assert not (tmp_path / "cache").exists()


def test_the_mirror_holds_the_same_files_and_takes_no_room(runtime, tmp_path):
    moved = without_blanks(runtime, [tmp_path / "ca che", tmp_path / "cache"])
    assert moved.is_relative_to(tmp_path / "cache") and moved.name == runtime.name
    assert moved.samefile(runtime)
    assert {file.name for file in moved.parent.iterdir()} == {"libintelocl.so", "libtbb.so.12.1", "libtbb.so"}
    assert (moved.parent / "libtbb.so").resolve() == moved.parent / "libtbb.so.12.1"
    assert not (tmp_path / "ca che").exists()


def test_a_link_that_hides_the_blank_does_not_fool_it(runtime, tmp_path):
    (tmp_path / "link").symlink_to(runtime.parent)
    assert without_blanks(tmp_path / "link" / runtime.name, [tmp_path / "cache"]).parent.parent == tmp_path / "cache"


def test_another_file_system_gets_copies(runtime, tmp_path, monkeypatch):
    def refuse(*arguments):
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(relocate.os, "link", refuse)
    moved = without_blanks(runtime, [tmp_path / "cache"])
    assert moved.read_bytes() == b"runtime" and not moved.samefile(runtime)


def test_a_changed_runtime_gets_a_new_mirror(runtime, tmp_path):
    first = without_blanks(runtime, [tmp_path / "cache"])
    runtime.unlink()
    runtime.write_bytes(b"a newer runtime")
    second = without_blanks(runtime, [tmp_path / "cache"])
    assert first != second and second.read_bytes() == b"a newer runtime"
    assert not first.exists()  # or it would hold the old runtime's room for ever


def test_many_at_once_agree_and_leave_nothing_behind(runtime, tmp_path):
    with ThreadPoolExecutor(8) as pool:
        moved = set(pool.map(lambda _: without_blanks(runtime, [tmp_path / "cache"]), range(24)))
    assert len(moved) == 1
    assert list((tmp_path / "cache").iterdir()) == [moved.pop().parent]


def test_no_place_is_an_error_that_says_so(runtime, tmp_path):
    with pytest.raises(OSError, match="without blanks"):
        without_blanks(runtime, [tmp_path / "also with blanks"])
