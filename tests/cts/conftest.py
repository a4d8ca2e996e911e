"""The device that the conformance runner is tried on."""

from __future__ import annotations

import pytest

from coopmat.devices import DeviceInfo, list_devices


@pytest.fixture(scope="session")
def device() -> DeviceInfo:
    found = next((d for d in list_devices() if d.takes_spirv and d.sub_groups and d.fp16 and d.fp64), None)
    if found is None:
        pytest.skip("no OpenCL device that takes SPIR-V, with subgroups, half and double")
    return found
