"""Random programs, as lowered and optimised, give what the device's own OpenCL C compiler makes of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from differential import PLAIN_AND_OPTIMISED, Launch, compare
from hypothesis import HealthCheck, Phase, given, seed, settings
from random_programs import programs

from coopmat.devices import DeviceInfo

BATCHES, PROGRAMS = 4, 35
RESULTS = 16


def draw(number: int) -> list[str]:
    """The bodies of a batch: the same for the same number."""
    bodies: list[str] = []

    @seed(number)
    @settings(
        max_examples=PROGRAMS,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(programs())
    def collect(body: str) -> None:
        bodies.append(body)

    collect()
    return bodies


def check(device: DeviceInfo, bodies: Sequence[str]) -> None:
    functions = [f"void f{n}(int n, int i, global ulong *out) {{\n    {body}\n}}\n" for n, body in enumerate(bodies)]
    row = len(bodies) * RESULTS
    calls = "".join(f"    f{n}(x[i], i, o + {n * RESULTS});\n" for n in range(len(bodies)))
    kernel = f"    int i = get_global_id(0);\n    o += i * {row};\n{calls}"
    source = "".join(functions) + f"kernel void k(global ulong *o, const global int *x) {{\n{kernel}}}\n"
    x = np.array([0, 1, -1, 5, 100, -128, 2**31 - 1, -(2**31)], np.int32)
    compare(device, source, [Launch("k", [np.zeros(row * len(x), np.uint64), x], (len(x),))], PLAIN_AND_OPTIMISED)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_programs(device: DeviceInfo, batch: int) -> None:
    bodies = draw(batch)
    try:
        check(device, bodies)
    except Exception:
        for body in bodies:
            try:
                check(device, [body])
            except Exception as error:
                raise AssertionError(f"{body}\n{error}") from error
        raise
