"""Tests of OpenCL C as output; `device` is each device that can be had in turn."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parent.parent / "runtime"))  # differential.py

from opencl_devices import PLATFORMS, device_of

from coopmat.devices import DeviceInfo


@pytest.fixture(params=list(PLATFORMS))
def device(request: pytest.FixtureRequest) -> DeviceInfo:
    return device_of(request.param)
