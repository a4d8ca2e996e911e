"""Tests of OpenCL C as output; `device` is each device that can be had in turn."""

from __future__ import annotations

import pytest
from opencl_devices import PLATFORMS, device_of

from coopmat.devices import DeviceInfo


@pytest.fixture(params=list(PLATFORMS))
def device(request: pytest.FixtureRequest) -> DeviceInfo:
    return device_of(request.param)
