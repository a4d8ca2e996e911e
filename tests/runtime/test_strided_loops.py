"""Loops over strided elements that call builtins are built by the device's compiler, which dies of some of them
(docs/backend.md)."""

from __future__ import annotations

import pytest
from fuzz.strides import BATCH, Kernel, functions, run

from coopmat.devices import DeviceInfo

# `tools/fuzz-strides` builds more, from other seeds.
PARTS = 12


@pytest.mark.parametrize("part", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, PARTS))])
def test_loops_are_built(device: DeviceInfo, part: int) -> None:
    found = list(run(range(part * BATCH, (part + 1) * BATCH), jobs=1))
    assert not found, "\n".join(f"{finding.stage}: {Kernel(seed).text}" for seed, finding in found)


def test_a_seed_of_strided_loops_is_a_kernel() -> None:
    texts = [Kernel(seed).text for seed in range(400)]
    assert texts == [Kernel(seed).text for seed in range(400)]
    together = "\n".join(texts)
    for word in (*functions(), "restrict", ".m3", "][", "sum += ", "coop_mat_load", "as_float(", "].x"):
        assert word in together, word
    for stride in range(1, 9):
        assert f"[{stride} * i]" in together
