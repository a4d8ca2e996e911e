"""The OpenCL devices for tests and tools: only devices that build an empty kernel."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from coopmat.devices import DeviceInfo, health, list_devices

PLATFORMS = {"cpu": "Intel(R) OpenCL", "pocl": "Portable Computing Language", "oclgrind": "Oclgrind"}
"""The platform that a wheel brings, by the package's extra with that wheel."""

# One answer for each process, independent of the cache that a test uses.
_build_failure = cache(health.build_failure)


class NoDevice(LookupError):
    """Raised if the requested device is missing or builds nothing; the test is then skipped (tests/conftest.py)."""


def find(fits: Callable[[DeviceInfo], bool], what: str, extra: str = "cpu") -> DeviceInfo:
    """Return the first device that fits and builds an empty kernel. Raises NoDevice.

    `what` describes the device in the message; `extra` is the package extra that installs one.
    """
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
    """Return the first device with all features that most tests need."""
    what = "OpenCL device with SPIR-V, subgroups, half and double"
    return find(lambda d: d.takes_spirv and d.sub_groups and d.fp16 and d.fp64, what)


def device_of(extra: str) -> DeviceInfo:
    """Return the device that a wheel of this package extra installs."""
    return find(lambda device: _is_of(device, extra), PLATFORMS[extra], extra)


def device_listed(extra: str) -> DeviceInfo:
    """Return the device that a wheel of this package extra installs, even if it builds nothing."""
    return _listed(lambda device: _is_of(device, extra), PLATFORMS[extra], extra)[0]


def _is_of(device: DeviceInfo, extra: str) -> bool:
    return device.platform == PLATFORMS[extra] and device.kind == "CPU"
