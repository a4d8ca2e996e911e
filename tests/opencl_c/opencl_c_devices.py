"""The devices that programs go to as OpenCL C: the CPU runtime, which takes SPIR-V too, PoCL, and Oclgrind."""

from __future__ import annotations

import pytest

from coopmat.devices import DeviceInfo, list_devices

PLATFORMS = {"cpu": "Intel(R) OpenCL", "pocl": "Portable Computing Language", "oclgrind": "Oclgrind"}


def device_of(extra: str) -> DeviceInfo:
    """The device that a wheel brings; without the wheel the test is skipped."""
    found = next((d for d in list_devices() if d.platform == PLATFORMS[extra] and d.kind == "CPU"), None)
    if found is None:
        pytest.skip(f"no {PLATFORMS[extra]}: pip install 'coopmat[{extra}]'")
    return found
