"""The OpenCL device that the kernels run on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from coopmat.devices import DeviceInfo, list_devices

sys.path.append(str(Path(__file__).resolve().parent.parent / "runtime"))  # differential.py


@pytest.fixture(scope="session")
def device() -> DeviceInfo:
    found = [d for d in list_devices() if d.takes_spirv and d.sub_groups and d.fp16 and d.fp64]
    if not found:
        pytest.skip("no OpenCL device with SPIR-V, subgroups, half and double: pip install 'coopmat[cpu]'")
    return found[0]
