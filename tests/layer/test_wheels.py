"""What wheels for a platform contain: the checks of its library, and `coopmat layer build` without a compiler."""

from __future__ import annotations

import subprocess
from pathlib import Path

import build_wheels
import pytest

from coopmat.diagnostics import CompileError
from coopmat.layer import library


def test_a_library_of_this_machines_is_checked(layer: library.LayerLibrary, tmp_path: Path) -> None:
    with layer.path.open("rb") as file:
        machine = build_wheels.ELFFile(file)["e_machine"]
    found = list(build_wheels.faults(layer.path, machine))
    # The system's C library may be newer than that which wheels are made for.
    assert [fault for fault in found if not fault.startswith("it needs GLIBC_")] == []
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


def test_the_package_has_what_the_library_is_made_of() -> None:
    names = {source.name for source in library.sources()}
    assert {"layer.h", "entry.c", "programs.c"} <= names
    assert {"cl.h", "cl_ext.h", "cl_icd.h", "cl_layer.h", "LICENSE"} <= {
        path.name for path in library.INCLUDE.glob("CL/*")
    }
