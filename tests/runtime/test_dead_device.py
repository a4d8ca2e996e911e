"""Programs on a device that cannot build anything: the error says that it is the device's, and not the program's."""

from __future__ import annotations

import multiprocessing
import pickle
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from opencl_devices import PLATFORMS, device_listed

import coopmat
from coopmat.cache import CACHE_DIRECTORY, NO_CACHE
from coopmat.cli.status import ExitStatus, findings
from coopmat.devices import DeviceInfo, health, opencl
from coopmat.runtime import run_file
from coopmat.runtime.driver import DriverError

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
SOURCE = """
typedef float m4 __attribute__((matrix_type(4, 4)));
kernel void twice(global m4 *m) { m[get_global_id(0)] *= 2; }
"""
SAID = r"Portable Computing Language: .* cannot build an empty kernel, so no program at all:\n(.|\n)*error: unknown"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_DIRECTORY, str(tmp_path))
    monkeypatch.delenv(NO_CACHE, raising=False)


def _refuse_program(hooked: bool) -> None:
    cl = opencl()
    context = cl.Context([device_listed("pocl").handle])
    with pytest.raises(coopmat.BuildError, match=SAID) as caught:
        if hooked:
            with coopmat.hook():
                cl.Program(context, SOURCE).build()
        else:
            coopmat.Program(context, SOURCE).build()
    error: Any = caught.value
    assert isinstance(error, cl.RuntimeError) and error.code == cl.status_code.BUILD_PROGRAM_FAILURE
    assert PLATFORMS["pocl"] in error.device and "error: unknown" in error.device_failure
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.device_failure == error.device_failure
    Path(error.source_path).unlink()


def _refuse_run() -> None:
    with pytest.raises(coopmat.BuildError, match=SAID) as caught:
        run_file(KERNELS / "saxpy.cl", device_listed("pocl"))
    told, _, status = findings(caught.value)
    assert status == ExitStatus.INPUT
    assert [(item.code, bool(item.notes)) for item in told] == [("dead-device", False)]
    Path(caught.value.source_path).unlink()


def _in_own_process(function: Callable[..., None], *arguments: object) -> None:
    """PoCL keeps, to the end of a process, the options that it built with first."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        pool.submit(function, *arguments).result()


@pytest.mark.usefixtures("dead_pocl")
@pytest.mark.parametrize("hooked", [False, True])
def test_a_program_says_that_the_device_is_dead(hooked: bool) -> None:
    _in_own_process(_refuse_program, hooked)


@pytest.mark.usefixtures("dead_pocl")
def test_a_run_says_that_the_device_is_dead() -> None:
    _in_own_process(_refuse_run)


def test_a_program_that_a_living_device_refuses_is_our_fault(
    device: DeviceInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coopmat.Module, "opencl_c", property(lambda module: "kernel void twice(missing *m) {}"))
    context = opencl().Context([device.handle])
    with warnings.catch_warnings(), pytest.raises(coopmat.BuildError, match="could not build the program") as caught:
        warnings.simplefilter("ignore", opencl().CompilerWarning)
        coopmat.Program(context, SOURCE).build("--code c")
    assert caught.value.device_failure is None
    assert findings(caught.value)[2] == ExitStatus.INTERNAL
    Path(caught.value.source_path).unlink()


def test_nothing_is_asked_of_a_device_that_builds(device: DeviceInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "build_failure", lambda *_, **__: pytest.fail("asked"))
    coopmat.Program(opencl().Context([device.handle]), SOURCE).build()


def test_what_a_dead_device_says_is_not_about_the_source(device: DeviceInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    about = [object()]
    for failure, kept in (("it is dead", ()), (None, about)):
        monkeypatch.setattr(health, "build_failure", lambda *_, failure=failure, **__: failure)
        assert DriverError(device, ValueError("x"), b"", "", about).diagnostics == kept  # type: ignore[arg-type]
