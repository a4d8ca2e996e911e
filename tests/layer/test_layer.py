"""Programs that know nothing of coopmat, through the layer: what they see, what they compute, what fails."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import coopmat
from coopmat.cache import Cache, key_of
from coopmat.devices import DeviceInfo
from coopmat.features import TABLE
from coopmat.layer import helper, library
from coopmat.layer.helper import answer
from coopmat.layer.messages import packed, unpacked

APPLICATION = Path(__file__).with_name("application.py")
Application = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(("route", "size"), [("", 1), ("one", 1), ("lanes", 16), ("scratch", 16)])
def test_source(application: Application, route: str, size: int) -> None:
    """The program stays the application's own: its source, options and kernels; subgroups are the route's."""
    result = application("source", COOPMAT_ROUTE=route)
    # Other features are those of vendors' extensions.
    features = [name for name in result.pop("features") if name.startswith("__opencl_c_") and "_intel_" not in name]
    assert features and {row.name for row in TABLE}.issuperset(features)
    assert result == {
        "right": [True, True],
        "sub_group_size": size,
        "program": True,
        "names": ["plain", "product"],
        "options": ["-DFIRST=1"],  # pyopencl adds its headers' directory
        "source": True,
        "extensions": 1,
        "versions": 1,
    }


@pytest.mark.parametrize("route", ["one", "lanes", "scratch"])
def test_spirv(application: Application, tmp_path: Path, route: str) -> None:
    text = (
        APPLICATION.read_text(encoding="utf-8")
        .split('SOURCE = """')[1]
        .split('"""')[0]
        .encode()
        .decode("unicode_escape")
    )
    module = coopmat.compile(text, ["-DFIRST=1", "--matrices", "native"])
    path = tmp_path / "native.spv"
    path.write_bytes(module.spirv)
    assert application("intermediate", str(path), COOPMAT_ROUTE=route) == {"right": True}


@pytest.mark.parametrize(("route", "size"), [("one", 1), ("lanes", 16), ("scratch", 16)])
def test_separate_compilation(application: Application, route: str, size: int) -> None:
    """A kernel that calls a function with matrices has the function's subgroups, also if the driver compiled the kernel
    and these are of one work-item."""
    result = application("separate", COOPMAT_ROUTE=route)
    assert result == {"here": [True, size], **({"driver": [True, 1]} if route == "one" else {})}


def test_without_the_layer_nothing_has_the_extension(application: Application) -> None:
    assert application("plain", layers="") == {"right": True, "children": 0}


def test_programs_without_matrices_start_no_helper(application: Application) -> None:
    assert application("plain") == {"right": True, "children": 0}


def test_errors_are_the_build_log(application: Application) -> None:
    """The log shows the place, and the next build is right."""
    result = application("log")
    assert "error: " in result["log"] and "^" in result["log"] and "<program source>:" in result["log"]
    assert result["alive"]


def test_a_dead_helper_is_started_again(application: Application) -> None:
    assert application("killed", COOPMAT_NO_CACHE="1") == {"right": [True, True], "helpers": 1}


def test_a_fork_has_a_helper_of_its_own(application: Application) -> None:
    assert application("forked", COOPMAT_NO_CACHE="1") == {"child": 0, "right": [True, True]}


def test_threads(application: Application) -> None:
    assert application("threads") == {"right": [True] * 48}


def test_variants(application: Application) -> None:
    """The extension's function answers, refuses too little room, and wants a size of subgroups where it says so."""
    result = application("variants")
    assert result["errors"] == [0, 0, -30, -30]
    assert len(result["records"]) > 10 and all(len(record) == 8 for record in result["records"])
    more = application("variants", COOPMAT_LAYER_VARIANTS="full")
    assert len(more["records"]) > len(result["records"])


@pytest.mark.parametrize("fault", ["missing", "writable", "group", "interpreter", "helper"])
def test_a_build_without_helper_fails_with_a_log(
    application: Application, layer: library.LayerLibrary, tmp_path: Path, fault: str
) -> None:
    """Paths that are missing, that others may write, or that lead nowhere; other programs are built all the same."""
    own = tmp_path / "layer.so"
    shutil.copy(layer.path, own)
    paths = tmp_path / "layer.so.paths"
    lines = [sys.executable, str(layer.helper)]
    if fault in ("interpreter", "helper"):
        lines[fault == "helper"] = "/nowhere/at/all"
    if fault != "missing":
        paths.write_text("\n".join(lines) + "\n")
        paths.chmod({"writable": 0o646, "group": 0o664}.get(fault, 0o644))
        found = library.find(own)
        assert found is not None and any("others can write" in text for text in found.faults) == (
            fault in ("writable", "group")
        )
    result = application("failed", layers=str(own), COOPMAT_NO_CACHE="1")
    assert "coopmat" in result["log"] and result["plain"]


_SLOW_HELPER = """
import os, signal, socket, sys, time
sys.path.insert(0, {root!r})
from coopmat.layer import helper
answer = helper.answer
def slow(message):
    {fault}
    return answer(message)
helper.answer, helper.__file__ = slow, __file__
helper.serve(socket.socket(fileno=os.dup(0)))
"""


def layer_with_helper(layer: library.LayerLibrary, directory: Path, fault: str) -> Path:
    """Return a copy of the layer whose helper runs the statement `fault` before each answer."""
    own, slow = directory / "layer.so", directory / "slow_helper.py"
    shutil.copy(layer.path, own)
    slow.write_text(_SLOW_HELPER.format(root=str(layer.helper.parents[2]), fault=fault))
    (directory / "layer.so.paths").write_text(f"{sys.executable}\n{slow}\n")
    return own


def test_a_build_beyond_its_time_limit_fails_and_its_answer_is_kept(
    application: Application, layer: library.LayerLibrary, tmp_path: Path
) -> None:
    """The helper finishes its answer for the cache, where a later build finds it."""
    own = layer_with_helper(layer, tmp_path, "time.sleep(2)")
    kept = {"COOPMAT_CACHE_DIR": str(tmp_path / "cache")}
    result = application("failed", layers=str(own), COOPMAT_BUILD_TIMEOUT="1", **kept)
    assert "COOPMAT_BUILD_TIMEOUT" in result["log"] and result["plain"]
    entries = tmp_path / "cache" / "entries"
    limit = time.monotonic() + 60
    while "failed" in (result := application("attempt", layers=str(own), COOPMAT_BUILD_TIMEOUT="1", **kept)):
        assert time.monotonic() < limit, sorted(entries.rglob("*"))
    assert result == {"right": True, "helpers": 0}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "works"),
    [
        ("time.sleep(24)", True),
        ("os.kill(os.getpid(), signal.SIGSTOP)", False),
    ],
)
def test_a_slow_helper_is_waited_for_and_a_silent_one_is_not(
    application: Application, layer: library.LayerLibrary, tmp_path: Path, fault: str, works: bool
) -> None:
    own = layer_with_helper(layer, tmp_path, fault)
    result = application("attempt", layers=str(own), COOPMAT_NO_CACHE="1")
    assert result == {"right": True, "helpers": 1} if works else "stopped responding" in result["failed"]


# --- what is kept on disk


def test_the_second_start_needs_no_helper(application: Application, tmp_path: Path) -> None:
    """Answers are taken from the cache while the files that they were made of are unchanged, and from there only."""
    own = tmp_path / "include" / "own.cl"
    own.parent.mkdir()
    text = APPLICATION.read_text(encoding="utf-8").split('SOURCE = """')[1].split('"""')[0].replace("\\\n", "\n")
    own.write_text(text)
    run = partial(application, "again", str(own.parent), COOPMAT_CACHE_DIR=str(tmp_path / "cache"))
    assert run() == {"right": True, "helpers": 1, "records": True}
    assert run() == {"right": True, "helpers": 0, "records": True}
    assert run(COOPMAT_ROUTE="scratch")["helpers"] == 1
    own.write_text(f"// Changed.\n{text}")
    assert run() == {"right": True, "helpers": 1, "records": True}
    assert run()["helpers"] == 0
    # One of the compiler's files has changed.
    cache = Cache(tmp_path / "cache")
    key = key_of({"kind": b"layer files", "path": os.fsencode(helper.__file__)})
    entry = cache.get(key)
    assert entry is not None
    cache.put(key, replace(entry, payload=entry.payload.replace(b" ", b" 1", 1)))
    assert run()["helpers"] == 1
    assert run(COOPMAT_NO_CACHE="1")["helpers"] == 1


def test_a_full_disk_is_an_error_with_a_log(application: Application, tmp_path: Path) -> None:
    """No file can be larger than nothing: the compiler's tools cannot run, the driver's programs can."""
    (tmp_path / "cache").mkdir(mode=0o700)
    result = application("failed", most_bytes=0, COOPMAT_CACHE_DIR=str(tmp_path / "cache"))
    assert "error: coopmat: " in result["log"] and result["plain"]


@pytest.mark.parametrize("fault", ["cut", "altered", "of others"])
def test_a_cache_that_is_not_as_it_was_written_is_not_used(
    application: Application, tmp_path: Path, fault: str
) -> None:
    directory = tmp_path / "cache"
    run = partial(application, "again", COOPMAT_CACHE_DIR=str(directory))
    assert run()["right"]
    if fault == "of others":
        directory.chmod(0o777)
    for path in directory.glob("entries/*/*") if fault != "of others" else ():
        data = path.read_bytes()
        path.write_bytes(data[:-7] if fault == "cut" else data[:-7] + bytes([data[-7] ^ 1]) + data[-6:])
    assert run() == {"right": True, "helpers": 1, "records": True}


def test_digests_are_those_of_hashlib(tmp_path: Path, layer: library.LayerLibrary) -> None:
    path = tmp_path / "digest.so"
    source = next(source for source in library.sources() if source.name == "digest.c")
    include = ["-isystem", str(source.parent.parent / "include")]
    subprocess.run([*library.compiler(), "-shared", "-fPIC", *include, "-o", str(path), str(source)], check=True)
    functions = ctypes.CDLL(str(path))

    @given(st.lists(st.binary(max_size=300), max_size=6))
    def check(parts: list[bytes]) -> None:
        state, result = ctypes.create_string_buffer(256), ctypes.create_string_buffer(32)
        functions.digest_begin(state)
        for part in parts:
            functions.digest_add(state, part, ctypes.c_size_t(len(part)))
        functions.digest_end(state, result)
        assert result.raw == hashlib.blake2b(b"".join(parts), digest_size=32).digest()

    check()


# --- the helper


def modules(application: Application, count: int) -> list[float]:
    result = application(str(count), program="module_application.py", PYTHONWARNINGS="ignore")
    assert result["modules"] == count and result["faults"] == {}
    return [float(time) for time in result["milliseconds"]]


def test_modules_of_the_runner(application: Application) -> None:
    assert len(modules(application, 24)) == 24


@pytest.mark.slow
def test_a_thousand_modules_of_the_runner(application: Application) -> None:
    assert len(modules(application, 1000)) == 1000


@given(st.lists(st.tuples(st.text(max_size=20), st.binary(max_size=50)), max_size=8))
def test_messages_are_read_as_they_were_written(fields: list[tuple[str, bytes]]) -> None:
    assert unpacked(packed(fields)) == fields


@given(st.binary(max_size=200))
def test_anything_is_answered(message: bytes) -> None:
    assert b"error: " in dict(unpacked(answer(message)))["log"]
    assert b"error: " in dict(unpacked(answer(packed([("request", message)]))))["log"]


def test_sources_with_headers(device: DeviceInfo) -> None:
    """Header programs of clCompileProgram are what the source includes; their names stay within their directory."""
    facts = packed(
        [
            ("CL_DEVICE_EXTENSIONS", " ".join(device.extensions)),
            ("CL_DEVICE_IL_VERSION", "SPIR-V_1.4"),
            ("CL_DEVICE_TYPE", 2),
            ("CL_PLATFORM_NAME", device.platform),
        ]
    )
    header = packed([("name", "sub/types.h"), ("text", b"typedef float number;")])
    outside = packed([("name", "../../outside.h"), ("text", b"typedef float number;")])
    code = '#include "sub/types.h"\nkernel void k(global number *p) { *p = 1; }'
    request = [("operation", "source"), ("device", facts), ("options", ""), ("code", code), ("header", outside)]
    assert b"error" in dict(unpacked(answer(packed([("request", packed(request))]))))["log"]
    message = packed([("request", packed([*request, ("header", header)]))])
    result = dict(unpacked(answer(message)))
    assert result["form"] == b"spirv" and result["code"][:4] == b"\x03\x02\x23\x07", result["log"]
