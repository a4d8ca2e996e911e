"""The OpenCL device that compiled programs run on."""

from __future__ import annotations

import pytest

from coopmat.devices import DeviceInfo, list_devices


@pytest.fixture(scope="session")
def device() -> DeviceInfo:
    found = [d for d in list_devices() if d.takes_spirv and d.sub_groups and d.fp16 and d.fp64]
    if not found:
        pytest.skip("no OpenCL device with SPIR-V, subgroups, half and double: pip install 'coopmat[cpu]'")
    return found[0]
