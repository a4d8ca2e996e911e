"""`coopmat.context()`: the devices of this environment, whatever was imported before."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from test_devices import CPU, GPU, SOURCE_ONLY

import coopmat
from coopmat.cli import app
from coopmat.devices import by_preference, health, select
from coopmat.devices.raw import platforms_of


@pytest.fixture
def dead(monkeypatch):
    """Devices that build nothing."""
    found = []
    monkeypatch.delenv("PYOPENCL_CTX", raising=False)
    monkeypatch.setattr(health, "build_failure", lambda device, **_: "no" if device in found else None)
    return found


def test_the_first_that_is_listed_is_the_one_that_is_taken(dead):
    assert by_preference([SOURCE_ONLY, CPU, GPU]) == [CPU, GPU, SOURCE_ONLY]
    dead.append(CPU)
    assert by_preference([SOURCE_ONLY, CPU, GPU]) == [GPU, SOURCE_ONLY, CPU]
    assert select(None, [SOURCE_ONLY, CPU, GPU]) == GPU


def test_devices_lists_the_taken_one_first(dead, monkeypatch, capsys):
    monkeypatch.setattr("coopmat.cli.devices.list_devices", lambda: [SOURCE_ONLY, replace(CPU, index="9:0")])
    assert app.run_command(["devices"]) == 0
    labels = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")]
    assert [label.split()[0] for label in labels] == ["9:0", "2:0"]


def test_a_context_by_name_and_by_number(device):
    for choice in (device.index, None):
        (handle,) = coopmat.context(choice).devices
        assert choice is None or handle == device.handle
    with pytest.raises(coopmat.CompileError, match="no OpenCL device fits 'abacus'"):
        coopmat.context("abacus")


LISTED_FIRST = """
import contextlib, pyopencl
with contextlib.suppress(pyopencl.Error):
    pyopencl.get_platforms()
import coopmat
"""


@pytest.mark.parametrize(
    "imports",
    [
        LISTED_FIRST,
        "import coopmat",
        "import pyopencl, coopmat",
        "import coopmat, pyopencl",
        "import pyopencl.array, coopmat",
    ],
)
def test_no_order_of_imports_must_be_known(imports, device):
    program = f"{imports}\nprint(coopmat.context().devices[0].name)"
    variables = {name: text for name, text in os.environ.items() if name not in ("OCL_ICD_VENDORS", "PYOPENCL_CTX")}
    variables["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=variables)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == select().name


def test_what_is_no_driver_has_no_platforms(tmp_path):
    (tmp_path / "libtext.so").write_text("no library")
    assert platforms_of(tmp_path / "libtext.so") == platforms_of(tmp_path / "missing.so") == []
    assert platforms_of(Path("libm.so.6")) == []


def test_importing_changes_nothing():
    program = (
        "import os, sys; before = dict(os.environ); import coopmat; coopmat.compile('kernel void k(void) {}');"
        "assert dict(os.environ) == before and 'pyopencl' not in sys.modules"
    )
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=variables)
    assert done.returncode == 0, done.stderr
