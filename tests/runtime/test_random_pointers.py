"""Random kernels about pointers and objects in memory, on an OpenCL device; a model in Python has the right results."""

from __future__ import annotations

import pytest
import random_pointers
from random_pointers.campaign import features_for
from random_pointers.executors import run_programs


def _check(executor: str, seeds: range, batch: int = 16) -> None:
    for start in range(seeds.start, seeds.stop, batch):
        chosen = range(start, min(start + batch, seeds.stop))
        programs = [random_pointers.program(seed, features_for(executor)).launchable() for seed in chosen]
        found = zip(programs, run_programs(executor, programs), strict=True)
        wrong = [f"{each.name}: {each.difference(buffers)}" for each, buffers in found if each.difference(buffers)]
        assert not wrong, "\n".join(wrong)


def test_random_pointers() -> None:
    _check("opencl", range(16))


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["opencl", "c"])
def test_many_random_pointers(executor: str) -> None:
    _check(executor, range(1000, 1096))
