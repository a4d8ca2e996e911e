"""Random control flow: modules for Vulkan are valid, and the OpenCL device computes the same as gcc.

`python -m control_flow` compares more programs, and runs them on Vulkan devices.
"""

from __future__ import annotations

import shutil

import pytest
from control_flow.__main__ import failing
from control_flow.executors import execute
from control_flow.programs import generate, opencl_source
from control_flow.statements import Settings
from opencl_devices import device_of
from valid_modules import assert_valid

import coopmat

BATCHES = [range(1, 13), range(13, 25)]


@pytest.mark.parametrize("seeds", BATCHES, ids=str)
@pytest.mark.parametrize("route", ["native", "lanes"])
def test_modules_are_valid(route: str, seeds: range) -> None:
    programs = [generate(seed) for seed in seeds]
    options = ["-w", "--target-env", "vulkan1.3", "--matrices", route, "--sub-group-size", "8"]
    assert_valid(coopmat.compile(opencl_source(programs), options, name="control_flow.cl"))


@pytest.mark.parametrize("seeds", BATCHES, ids=str)
def test_the_opencl_device_agrees_with_gcc(seeds: range) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    device_of("cpu")
    programs = [generate(seed) for seed in seeds]
    assert not list(failing(programs, execute("gcc", programs), "opencl"))


def test_programs_depend_on_the_seed_alone() -> None:
    assert generate(7) == generate(7) != generate(8)
    assert all(generate(seed, Settings(matrices=0)).family is None for seed in range(8))
    assert "goto" not in "".join(generate(seed, Settings(goto=0)).text for seed in range(50))
