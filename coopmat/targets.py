"""The devices that `--device` names, of OpenCL and Vulkan, and modules that are built for them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from coopmat.devices import DeviceInfo, select

if TYPE_CHECKING:
    from coopmat.compiler import Module
    from coopmat.runtime.executor import Launchable

_VULKAN = re.compile(r"vulkan(:.*)?", re.IGNORECASE | re.DOTALL)


def is_vulkan(choice: str | None) -> bool:
    """Return whether a value of `--device` names a Vulkan device: "vulkan", or "vulkan:NAME"."""
    return choice is not None and _VULKAN.fullmatch(choice) is not None


def find_device(choice: str | None) -> DeviceInfo:
    """Return the device that `--device` names: an OpenCL device, or a Vulkan device.

    Vulkan is imported only for its devices. Raises CompileError, which lists the devices, if none or several match.
    """
    if choice is not None and is_vulkan(choice):
        from coopmat import vulkan

        return vulkan.select(choice)
    return select(choice)


def load(module: Module, device: DeviceInfo) -> Launchable:
    """Return a compiled module, built for a device. Raises CompileError and BuildError."""
    if device.target_env:
        from coopmat import vulkan

        return vulkan.load(module, device)
    from coopmat.runtime import Program

    return Program(module, device)
