"""`coopmat devices` and `coopmat doctor`: what is here, what is missing, what mends it."""

from __future__ import annotations

import importlib.metadata
import json
from dataclasses import replace
from pathlib import Path

import click
import pytest

from coopmat.cli import app, devices, doctor, install_spirv_tools
from coopmat.devices import DeviceInfo, health
from coopmat.spirv import tools

DEVICE = DeviceInfo(
    index="0:0",
    platform="Some OpenCL",
    name="Fast CPU",
    kind="CPU",
    version="OpenCL 3.0",
    driver="1",
    spirv_versions=("1.0", "1.2"),
    sub_groups=True,
    sub_group_sizes=(8, 16),
    extensions=frozenset({"cl_khr_fp16"}),
    fp16=True,
    fp64=False,
    compute_units=2,
    local_memory=32768,
)
SOURCE_ONLY = replace(DEVICE, index="1:0", name="pthread", spirv_versions=(), sub_group_sizes=())


LOG = "error: unknown target CPU 'generic'\nthe device failed to build the program"


@pytest.fixture
def dead(monkeypatch):
    """Devices that build nothing."""
    found: list[DeviceInfo] = []
    monkeypatch.setattr(health, "build_failure", lambda device, **_: LOG if device in found else None)
    return found


@pytest.fixture
def known(monkeypatch):
    found: list[DeviceInfo] = []
    monkeypatch.setattr(devices, "list_devices", lambda: found)
    monkeypatch.setattr("coopmat.devices.list_devices", lambda: found)
    return found


def test_devices_are_listed_with_their_route(known, capsys):
    known += [DEVICE, SOURCE_ONLY]
    assert app.run_command(["devices"]) == 0
    text = capsys.readouterr().out
    assert "0:0 Some OpenCL: Fast CPU\n    empty kernel: is built\n    route: one (" in text
    assert "route: one (the device takes OpenCL C only)" in text
    assert "subgroup sizes: 8, 16" in text and "subgroup sizes: not reported" in text
    assert "floating point: half, float\n" in text and "32 KiB local memory" in text


def test_devices_as_json(known, capsys):
    known += [DEVICE, SOURCE_ONLY]
    assert app.run_command(["devices", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["index"], first["route"], first["sub_group_sizes"]) == ("0:0", "one", [8, 16])
    assert (second["route"], second["code"], second["spirv_versions"]) == ("one", "c", [])


def test_devices_tell_whether_an_empty_kernel_is_built(known, dead, capsys):
    known += [DEVICE, SOURCE_ONLY]
    dead.append(SOURCE_ONLY)
    assert app.run_command(["devices"]) == 0
    first, second = capsys.readouterr().out.split("\n1:0")
    assert "    empty kernel: is built\n" in first
    assert f"    empty kernel: CANNOT BE BUILT: {LOG.splitlines()[0]}\n        {LOG.splitlines()[1]}\n" in second
    assert app.run_command(["devices", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["builds"], first["build_failure"]) == (True, None)
    assert (second["builds"], second["build_failure"]) == (False, LOG)


def test_a_table_on_a_terminal(known, capsys, monkeypatch):
    known.append(DEVICE)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert app.run_command(["devices"]) == 0
    text = capsys.readouterr().out
    assert "Fast CPU" in text and "subgroup sizes" in text


@pytest.mark.parametrize("width", ["50", "80", "200"])
def test_each_value_stands_beside_its_label(width, known, dead, capsys, monkeypatch):
    known += [DEVICE, replace(SOURCE_ONLY, name="pthread [red]")]
    dead.append(known[1])
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", width)
    assert app.run_command(["devices"]) == 0
    lines = click.unstyle(capsys.readouterr().out).splitlines()
    cells = [[cell.strip() for cell in line.strip("│┃").split("│")] for line in lines if line.startswith("│")]
    first = {label: value for label, value in cells if label}
    assert first["type"].startswith("CPU, 2") and first["version"].startswith("OpenCL 3.0")
    assert first["floating point"] == "half, float" and first["subgroup sizes"] == "not reported"
    assert any("pthread [red]" in line for line in lines) and max(map(len, lines)) <= int(width)


def test_no_device_names_the_command_that_mends_it(known, capsys):
    assert app.run_command(["devices"]) == 1
    assert "pip install 'coopmat[cpu]'" in capsys.readouterr().err


def test_the_doctor_finds_nothing_wrong_with_this_machine(capsys, known, monkeypatch):
    known.append(DEVICE)
    monkeypatch.setattr(tools, "find_tools", lambda: tools.SpirvTools(Path("/x")))
    monkeypatch.setattr(tools.SpirvTools, "version", lambda self: "SPIRV-Tools v1")
    assert app.run_command(["doctor"]) == 0
    text = capsys.readouterr().out
    assert "MISSING" not in text
    assert importlib.metadata.version("llvmlite") in text and "SPIRV-Tools v1 (/x)" in text
    assert "Fast CPU: one" in text


def test_the_doctor_tells_what_is_missing_and_what_mends_it(capsys, known, monkeypatch):
    monkeypatch.setattr(tools, "find_tools", lambda: None)
    version = importlib.metadata.version

    def without_lark(package):
        if package == "lark":
            raise importlib.metadata.PackageNotFoundError(package)
        return version(package)

    monkeypatch.setattr(doctor.importlib.metadata, "version", without_lark)
    assert app.run_command(["doctor"]) == 1
    text = capsys.readouterr().out
    for remedy in ("pip install lark", "coopmat doctor --install spirv-tools", "pip install 'coopmat[cpu]'"):
        assert f"fix it with: {remedy}" in text
    assert text.count("MISSING") == 3


@pytest.mark.parametrize("others", [True, False])
def test_the_doctor_tells_of_devices_that_build_nothing(others, known, dead, capsys, monkeypatch):
    monkeypatch.setattr(tools, "find_tools", lambda: tools.SpirvTools(Path("/x")))
    monkeypatch.setattr(tools.SpirvTools, "version", lambda self: "SPIRV-Tools v1")
    known += [SOURCE_ONLY, DEVICE] if others else [SOURCE_ONLY]
    dead.append(SOURCE_ONLY)
    # Without another device nothing runs here.
    assert app.run_command(["doctor"]) == (0 if others else 1)
    text = capsys.readouterr().out
    first, second = LOG.splitlines()
    assert f"BROKEN  OpenCL device  1:0 Some OpenCL: pthread cannot build an empty kernel: {first}\n" in text
    assert f"\n                       {second}\n" in text
    assert ("ok      OpenCL device  0:0 Some OpenCL: Fast CPU" in text) == others
    assert ("fix it with: pip install 'coopmat[cpu]'" in text) == (not others)


@pytest.mark.parametrize(("named", "ignored"), [("/x", False), ("/x/bin", False), ("/y", True)])
def test_the_doctor_tells_of_a_directory_that_is_passed_over(named, ignored, known, capsys, monkeypatch):
    known.append(DEVICE)
    monkeypatch.setenv(tools.ENVIRONMENT_VARIABLE, named)
    monkeypatch.setattr(tools, "find_tools", lambda: tools.SpirvTools(Path("/x/bin")))
    monkeypatch.setattr(tools.SpirvTools, "version", lambda self: "SPIRV-Tools v1")
    assert app.run_command(["doctor"]) == 0
    text = capsys.readouterr().out
    assert ("IGNORED COOPMAT_SPIRV_TOOLS  /y has no spirv-val" in text) == ignored and "(/x/bin)" in text


def test_the_doctor_asks_anew(known, capsys, monkeypatch):
    known.append(DEVICE)
    asked = []
    monkeypatch.setattr(health, "build_failure", lambda device, *, anew=False: asked.append(anew))
    app.run_command(["doctor"])
    assert asked == [True]


@pytest.mark.parametrize(
    ("driver", "installed", "remedy"),
    [("3.0-rc2", True, "pip uninstall pocl-binary-distribution"), ("3.0-rc2", False, ""), ("7.1", True, "")],
)
def test_a_dead_wheel_is_mended_by_taking_it_away(driver, installed, remedy, known, dead, monkeypatch):
    pocl = replace(SOURCE_ONLY, platform="Portable Computing Language", driver=driver)
    known += [pocl, DEVICE]
    dead.append(pocl)

    def version(package):
        if installed and package == "pocl-binary-distribution":
            return "3.0"
        raise importlib.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(doctor.importlib.metadata, "version", version)
    (finding,) = [item for item in doctor._devices() if not item.ok]
    assert remedy in finding.remedy and bool(remedy) == bool(finding.remedy) and not finding.needed


def test_a_pyopencl_that_does_not_load_is_told(monkeypatch):
    def broken():
        raise ImportError("libOpenCL.so.1: cannot open shared object file")

    monkeypatch.setattr("coopmat.devices.list_devices", broken)
    (finding,) = doctor._devices()
    assert not finding.ok and "libOpenCL.so.1" in finding.text


def test_installing_says_where_or_why_not(capsys, monkeypatch):
    monkeypatch.setattr(install_spirv_tools, "install", lambda: Path("/there"))
    assert app.run_command(["doctor", "--install", "spirv-tools"]) == 0
    assert "/there" in capsys.readouterr().out

    def refuse():
        raise install_spirv_tools.InstallError("apt-get is not on this machine")

    monkeypatch.setattr(install_spirv_tools, "install", refuse)
    assert app.run_command(["doctor", "--install", "spirv-tools"]) == 1
    assert "apt-get is not on this machine" in capsys.readouterr().err
    assert app.run_command(["doctor", "--install", "llvm"]) == 2
