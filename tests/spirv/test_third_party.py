"""A selection of modules of other front ends, each on one route; `tools/spirv-third-party` runs 200 on all."""

from __future__ import annotations

import pytest
from opencl_devices import full_device
from third_party.cases import case
from third_party.execution import ROUTES, Runner, leftovers

import coopmat

MODULES = [*range(16), 17, 20, 21, 23, 25, 27, 28, 29]


@pytest.fixture(scope="module")
def runner() -> Runner:
    return Runner(full_device())


@pytest.mark.parametrize("number", MODULES)
def test_a_module_computes_what_it_must(runner: Runner, number: int) -> None:
    made = case(number)
    assert not list(runner.faults(made, ROUTES[number % len(ROUTES)])), made.name


def test_what_is_left_of_matrices_is_seen() -> None:
    native = coopmat.compile(case(0).spirv, language="spv").spirv
    assert len(list(leftovers(native))) > 3


def test_wrong_results_are_seen(runner: Runner) -> None:
    made, other = case(2), case(12)
    assert [type(b.before) for b in made.buffers] and made.spirv != other.spirv
    checked = [buffer for buffer in made.buffers if buffer.check is not None]
    assert checked and all(buffer.fault(buffer.before) for buffer in checked)
    only_read = next(buffer for buffer in made.buffers if buffer.check is None)
    assert not only_read.fault(only_read.before) and only_read.fault(only_read.before[::-1] + 1)
