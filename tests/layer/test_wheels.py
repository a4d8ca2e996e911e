"""What wheels for a platform contain: the checks of its library, and `coopmat layer build` without a compiler."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import build_wheels
import pytest

from coopmat.diagnostics import CompileError
from coopmat.layer import library

Application = Callable[..., dict[str, Any]]
ROOT = Path(build_wheels.__file__).resolve().parent.parent


@pytest.fixture
def machine(layer: library.LayerLibrary) -> str:
    with layer.path.open("rb") as file:
        return str(build_wheels.ELFFile(file)["e_machine"])


def test_a_library_of_this_machines_is_checked(
    layer: library.LayerLibrary, machine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The system's C library may be newer than that which wheels are made for.
    monkeypatch.setattr(build_wheels, "NEWEST", (99, 0))
    assert list(build_wheels.faults(layer.path, machine)) == []
    assert list(build_wheels.faults(layer.path, machine, ("", "/", "/nowhere"))) == []
    assert f"it is for {machine}" in list(build_wheels.faults(layer.path, "EM_386"))
    assert "it names coopmat" in list(build_wheels.faults(layer.path, machine, ("coopmat",)))
    source, other = tmp_path / "other.c", tmp_path / "other.so"
    source.write_text(
        "#include <math.h>\nint clGetLayerInfo(void) { return 0; }\ndouble own(double x) { return sin(x); }\n"
    )
    command = [*library.compiler(), "-shared", "-fPIC", "-Wl,--no-as-needed", "-o", str(other), str(source), "-lm"]
    subprocess.run(command, check=True)
    found = list(build_wheels.faults(other, machine))
    assert {"it exports own", "it does not export clInitLayer", "it needs libm.so.6"} <= set(found)
    assert "it does not export clGetLayerInfo" not in found


def test_a_library_that_needs_a_newer_c_library_is_refused(
    layer: library.LayerLibrary, machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_wheels, "NEWEST", (2, 0))
    found = list(build_wheels.faults(layer.path, machine))
    assert found and all(fault.startswith("it needs GLIBC_2.") for fault in found)


@pytest.mark.parametrize(
    ("version", "is_newer"),
    [
        ("GLIBC_2.2.5", False),
        ("GLIBC_2.17", False),
        ("GLIBC_2.18", True),
        ("GLIBC_2.34", True),
        ("GLIBC_PRIVATE", True),
    ],
)
def test_versions_of_the_c_library(version: str, is_newer: bool) -> None:
    assert build_wheels._is_newer(version) == is_newer


def test_a_library_in_the_package_needs_no_compiler(
    layer: library.LayerLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "SHIPPED", layer.path)
    monkeypatch.setenv("CC", "/nowhere/cc")
    built = library.build(tmp_path / "copy.so")
    assert built.path.read_bytes() == layer.path.read_bytes()
    assert library.find(built.path) == built and list(built.faults) == []
    with pytest.raises(CompileError):
        library.build(tmp_path / "other.so", from_source=True)
    monkeypatch.setattr(library, "SHIPPED", tmp_path / "missing.so")
    with pytest.raises(CompileError):
        library.build(tmp_path / "other.so")


def test_a_copy_works(
    layer: library.LayerLibrary, application: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "SHIPPED", layer.path)
    copy = library.build(tmp_path / "copy.so")
    assert application("source", layers=str(copy.path), COOPMAT_ROUTE="one")["right"] == [True, True]


def test_a_library_for_another_machine_is_not_taken(
    layer: library.LayerLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = bytearray(layer.path.read_bytes())
    other[18] ^= 0xFF  # ELF's machine
    foreign = tmp_path / "foreign.so"
    foreign.write_bytes(other)
    monkeypatch.setattr(library, "SHIPPED", foreign)
    built = library.build(tmp_path / "built.so")
    assert library._is_loadable(built.path)


@pytest.fixture(scope="session")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the source archive and the pure wheel of this tree."""
    pytest.importorskip("hatchling", reason="hatchling is not there: pip install '.[test]'")
    place = tmp_path_factory.mktemp("archives")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", str(place)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return place


def test_archives_have_what_the_library_is_made_of(archives: Path) -> None:
    (source,) = archives.glob("*.tar.gz")
    (pure,) = archives.glob("*-py3-none-any.whl")
    with tarfile.open(source) as tar:
        in_source = {name.partition("/")[2] for name in tar.getnames()}
    in_wheel = set(zipfile.ZipFile(pure).namelist())
    files = {str(path.relative_to(ROOT)) for path in (*library.sources(), *library.INCLUDE.glob("CL/*"))}
    assert "coopmat/layer/include/CL/LICENSE" in files
    assert files <= in_source and files <= in_wheel
    assert {"LICENSE", "examples/gemm.c", "tools/build-wheels"} <= in_source
    licences = {name.partition(".dist-info/licenses/")[2] for name in in_wheel}
    assert {"LICENSE", "coopmat/layer/include/CL/LICENSE"} <= licences
    assert not any(name.endswith(".so") for name in in_wheel)


def test_platform_wheels_are_the_same_each_time(
    layer: library.LayerLibrary, archives: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("wheel", reason="wheel is not there: pip install '.[test]'")
    (pure,) = archives.glob("*-py3-none-any.whl")
    target = build_wheels.TARGETS[0]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    made = []
    for name in ("first", "second"):
        work = tmp_path / name
        (work / target.processor).mkdir(parents=True)
        made.append(build_wheels.platform_wheel(pure, target, layer.path, work))
    assert made[0].name == made[1].name and made[0].name.endswith(f"{target.processor}.whl")
    assert made[0].read_bytes() == made[1].read_bytes()
    with zipfile.ZipFile(made[0]) as wheel:
        assert wheel.testzip() is None
        assert {item.date_time for item in wheel.infolist()} == {(2023, 11, 14, 22, 13, 20)}
        assert wheel.getinfo("coopmat/layer/bin/libcoopmat_layer.so").external_attr >> 16 & 0o777 == 0o755
        (facts,) = (wheel.read(name).decode() for name in wheel.namelist() if name.endswith(".dist-info/WHEEL"))
    assert "Root-Is-Purelib: false" in facts and "Root-Is-Purelib: true" not in facts
    tags = [line.removeprefix("Tag: ") for line in facts.splitlines() if line.startswith("Tag: ")]
    assert set(tags) == {"py3-none-manylinux_2_17_x86_64", "py3-none-manylinux2014_x86_64"}
