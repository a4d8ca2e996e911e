"""Random calls of coopmat.linalg.gemm; `python -m random_products` repeats each by its seed."""

from __future__ import annotations

import pytest
from random_products import campaign

from coopmat.devices import DeviceInfo

pytestmark = pytest.mark.device

SPREAD = 17
"""The distance of the sample's seeds: subsequent seeds share types and options."""


def _check(device: DeviceInfo, seeds: range) -> None:
    report = campaign.run(device, seeds)
    assert report.calls == len(seeds)
    assert not report.failures, "\n\n".join(f"seed {seed}: {text}" for seed, text in report.failures.items())


def test_sample(device: DeviceInfo) -> None:
    _check(device, range(0, 30 * SPREAD, SPREAD))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 2000, 250))
def test_many(device: DeviceInfo, first: int) -> None:
    _check(device, range(first, first + 250))
