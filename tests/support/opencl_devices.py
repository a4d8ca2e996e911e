"""The OpenCL devices that tests and tools run on: only such as build an empty kernel, as coopmat itself asks them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from coopmat.devices import DeviceInfo, health, list_devices

PLATFORMS = {"cpu": "Intel(R) OpenCL", "pocl": "Portable Computing Language", "oclgrind": "Oclgrind"}
"""The platform that a wheel brings, by the package's extra with that wheel."""

# One answer a process, wherever a test has the cache.
_build_failure = cache(health.build_failure)


class NoDevice(LookupError):
    """What was asked for is not here, or builds nothing. A test that raises it is skipped (tests/conftest.py)."""


def find(fits: Callable[[DeviceInfo], bool], what: str, extra: str = "cpu") -> DeviceInfo:
    """The first that fits and builds. `what` is for the reason why there is none, `extra` would bring one."""
    fitting = _listed(fits, what, extra)
    told = []
    for device in fitting:
        failure = _build_failure(device)
        if failure is None:
            return device
        told.append(f"{device.label}: {failure.splitlines()[0]}")
    raise NoDevice(f"device {health.CANNOT_BUILD}: " + "; ".join(told))


def _listed(fits: Callable[[DeviceInfo], bool], what: str, extra: str) -> list[DeviceInfo]:
    found = [device for device in list_devices() if fits(device)]
    if not found:
        raise NoDevice(f"no {what}: pip install 'coopmat[{extra}]'")
    return found


def spirv_device() -> DeviceInfo:
    return find(lambda d: d.takes_spirv, "OpenCL device that takes SPIR-V")


def sub_group_device() -> DeviceInfo:
    return find(lambda d: d.sub_groups, "OpenCL device with subgroups")


def full_device() -> DeviceInfo:
    """The first that can all that most tests ask for."""
    what = "OpenCL device with SPIR-V, subgroups, half and double"
    return find(lambda d: d.takes_spirv and d.sub_groups and d.fp16 and d.fp64, what)


def device_of(extra: str) -> DeviceInfo:
    """The device that a wheel brings."""
    return find(lambda device: _is_of(device, extra), PLATFORMS[extra], extra)


def device_listed(extra: str) -> DeviceInfo:
    """The device that a wheel brings, whether it builds anything or not."""
    return _listed(lambda device: _is_of(device, extra), PLATFORMS[extra], extra)[0]


def _is_of(device: DeviceInfo, extra: str) -> bool:
    return device.platform == PLATFORMS[extra] and device.kind == "CPU"
