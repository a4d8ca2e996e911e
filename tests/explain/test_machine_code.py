"""Machine code: by compilers that may be installed, and why there is none otherwise."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest
from test_explain_page import SOURCE

from coopmat import compiler
from coopmat.explain import machine
from coopmat.explain.listing import Line


def module(route: str) -> compiler.Module:
    return compiler.compile(SOURCE, ["-w", "--matrices", route], name="p.cl")


@pytest.mark.parametrize(("route", "name"), [("one", "the route one"), ("lanes", "the route lanes")])
def test_routes_without_a_vendors_compiler(route, name):
    with pytest.raises(machine.Missing, match=f"{name}, and does not show it"):
        machine.code(module(route))


def test_vulkan_drivers_show_nothing():
    made = compiler.compile(SOURCE, ["-w", "--target-env", "vulkan1.3", "--native-profile", "vulkan"], name="p.cl")
    with pytest.raises(machine.Missing, match="The Vulkan driver"):
        machine.code(made)


@pytest.mark.parametrize(("route", "package"), [("mma", "clang"), ("wmma@gfx11", "clang"), ("dpas", "intel-ocloc")])
def test_missing_compilers_are_named(monkeypatch, route, package):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(machine.Missing, match=f"is not installed.*apt install {package}"):
        machine.code(module(route))


def program(place: Path, name: str, text: str) -> None:
    path = place / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_a_compiler_that_fails_says_why(monkeypatch, tmp_path):
    program(tmp_path, "clang", "echo 'no such target <x>' >&2; exit 3")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin:/usr/bin")
    with pytest.raises(machine.Missing, match="clang failed: no such target <x>"):
        machine.code(module("wmma"))


def test_the_output_of_a_compiler_is_listed(monkeypatch, tmp_path):
    """A script in the place of clang, so that this runs without one: it gets OpenCL C and the device's name."""
    script = 'for last; do :; done; grep -q __kernel "$last" || exit 9\nwhile [ "$1" != -o ]; do case $1 in -mcpu=*)'
    script += " cpu=${1#-mcpu=};; esac; shift; done\n"
    script += 'printf "%s\\n" "\t.file 1 \\"p.cl\\"" "\t.loc 1 9 1" "\tv_wmma_f32_1 $cpu" >"$2"'
    program(tmp_path, "clang", script)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin:/usr/bin")
    lines, note = machine.code(module("wmma@gfx11"))
    assert lines == [Line("\tv_wmma_f32_1 gfx1100", 9)] and "for gfx1100, by clang" in note
    assert machine.instructions(lines) == {"v_wmma_f32_1": 1}
    assert machine.code(module("wmma"), "gfx1151")[0] == [Line("\tv_wmma_f32_1 gfx1151", 9)]


@pytest.mark.parametrize(
    ("route", "instruction"),
    [("mma", "mma.sync.aligned"), ("wmma", "v_wmma_f32"), ("mfma", "v_mfma_f32"), ("dpas", "dpas"), ("native", "dpas")],
)
def test_compilers_that_are_installed_find_the_instructions(route, instruction):
    names = ("ocloc",) if route in ("dpas", "native") else machine._CLANGS
    if not any(map(shutil.which, names)):
        pytest.skip(f"no {names[0]}")
    source = (
        SOURCE.replace("8, 16, CLK", "16, 16, CLK")
        .replace("16, 8, CLK", "16, 16, CLK")
        .replace("8, 8, CLK", "16, 16, CLK")
    )
    lines, note = machine.code(compiler.compile(source, ["-w", "--matrices", route], name="p.cl"))
    assert any(name.startswith(instruction) for name in machine.instructions(lines)), note
