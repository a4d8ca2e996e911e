"""The facts about a Vulkan device as `coopmat devices` prints them."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.devices import DeviceInfo, health, route_for

from .devices import Product, VulkanDevice

# The number of multiply-adds that the text lists.
_SHOWN = 8


def as_dict(device: DeviceInfo) -> dict[str, object] | None:
    """Return the facts that only Vulkan devices have, as a part of the JSON output; None for an OpenCL device.

    products, flexible: the multiply-adds, and those of which the device has all multiples of the shape. Each has the
    component types as here, or the number of a VkComponentTypeKHR that OpenCL C lacks.
    """
    if not isinstance(device, VulkanDevice):
        return None
    return {
        "api": f"{device.api[0]}.{device.api[1]}",
        "device_uuid": device.identifier,
        "target_env": device.target_env,
        "sub_group_size": device.sub_group_size,
        "requires_sub_group_sizes": device.requires_sizes,
        "products": [str(product) for product in device.products],
        "flexible": [str(product) for product in device.flexible],
        "limits": dict(device.limits),
        "features": sorted(device.features),
    }


def rows(device: DeviceInfo) -> dict[str, str]:
    """Return label -> text of the properties of a Vulkan device in the text output."""
    assert isinstance(device, VulkanDevice)
    route, failure = route_for(device), health.build_failure(device)
    floats = ", ".join(name for name, has in (("half", device.fp16), ("float", True), ("double", device.fp64)) if has)
    required = "" if device.requires_sizes else " (chosen by the driver)"
    return {
        "empty kernel": "is built" if failure is None else f"CANNOT BE BUILT: {failure}",
        "route": f"{route.matrices} ({route.why})",
        "matrices": _listed(device.products),
        "flexible shapes": _listed(device.flexible, "multiples of "),
        "type": f"{device.kind}, {device.local_memory // 1024} KiB local memory",
        "version": f"{device.version}, driver {device.driver}",
        "subgroup sizes": f"{', '.join(map(str, device.sub_group_sizes))}{required}, usually {device.sub_group_size}",
        "floating point": floats,
    }


def _listed(products: Sequence[Product], prefix: str = "") -> str:
    more = [f"{len(products) - _SHOWN} more (see --json)"] if len(products) > _SHOWN else []
    return ", ".join([*(f"{prefix}{product}" for product in products[:_SHOWN]), *more]) or "none"
