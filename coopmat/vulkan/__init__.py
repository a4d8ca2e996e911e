"""Vulkan devices for OpenCL C with cooperative matrices: from Python, and below `coopmat run` and `coopmat cts`.

    import coopmat.vulkan
    device = coopmat.vulkan.Device("llvmpipe")
    program = device.program(source)
    seconds = program.gemm((64, 8), (8, 1), a, b, c)  # numpy arrays; c has the result afterwards

Importing this package imports no other module of it, and loads no library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .devices import VulkanDevice as VulkanDevice, list_devices as list_devices, select as select
    from .image_values import Image as Image, Sampler as Sampler
    from .listing import as_dict as as_dict, rows as rows
    from .loader import NoVulkan as NoVulkan, VulkanError as VulkanError
    from .plans import plan as plan
    from .program import (
        Device as Device,
        Kernel as Kernel,
        LocalMemory as LocalMemory,
        Program as Program,
        load as load,
    )

# Public name -> module that defines the name, imported on first use.
_LATER = {
    "Device": "program",
    "Image": "image_values",
    "Kernel": "program",
    "LocalMemory": "program",
    "NoVulkan": "loader",
    "Program": "program",
    "Sampler": "image_values",
    "VulkanDevice": "devices",
    "VulkanError": "loader",
    "as_dict": "listing",
    "list_devices": "devices",
    "load": "program",
    "plan": "plans",
    "rows": "listing",
    "select": "devices",
}

__all__ = list(_LATER)


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'coopmat.vulkan' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f".{_LATER[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
