"""`coopmat.variants`: the draft's query for multiply-adds, answered for every device."""

from __future__ import annotations

from typing import Any

from coopmat.devices import DeviceInfo, unit_for
from coopmat.devices.query import COOPERATIVE_MATRIX, describe
from coopmat.devices.variants import SubGroupSizeError, component_types, variants_for
from coopmat.matrices import emulated
from coopmat.matrices.routes import LOWERED_ROUTES, LoweredRoute, Tuning
from coopmat.matrices.variants import Operands, Variant, default_operands

from .instruction_probe import instructions


def variants(device: Any, sub_group_size: int | None = None, *, unit: bool | None = None) -> tuple[Variant, ...]:
    """Return the multiply-adds that programs with matrices can rely on, on a pyopencl device or a `DeviceInfo`.

    A device with cl_khr_cooperative_matrix is asked for its list, for subgroups of `sub_group_size` work-items or of
    its default size. On any other device, all routes compute every combination of component types of one class and
    every shape, in subgroups of every size.

    The list for such a device begins with the multiply-adds of its matrix instructions, in the instructions' shapes.
    Multiples of these shapes are composed of them. A fixed selection with every component type of the device follows
    (`coopmat.matrices.emulated`). bf16 is an addition of ours without a number in `Variant.to_record`.

    If `unit` is True, the list contains only multiply-adds that run on matrix instructions; if False, only all others.
    If it is not known which instructions a device executes correctly, each is tried once, in a separate process.

    Raises SubGroupSizeError for a size that the device is known not to have. Raises ValueError for a size below 1, or
    if a device does not report its multiply-adds.
    """
    if sub_group_size is not None and sub_group_size < 1:
        raise ValueError(f"a subgroup has at least 1 work-item, not {sub_group_size}")
    info = device if isinstance(device, DeviceInfo) else describe(device)
    native = COOPERATIVE_MATRIX in info.extensions
    # Lowered programs can have subgroups of one work-item on every device.
    sizes = info.sub_group_sizes if native or not info.sub_group_sizes else (1, *info.sub_group_sizes)
    if sub_group_size is not None and sizes and sub_group_size not in sizes:
        raise SubGroupSizeError(info.label, sub_group_size, tuple(dict.fromkeys(sizes)))
    if native:
        return () if unit is False else _native(info, sub_group_size)
    on_unit = variants_on_unit(info, sub_group_size)
    if unit:
        return on_unit
    others = emulated.multiply_adds(component_types(info))
    if unit is None:
        return tuple(dict.fromkeys((*on_unit, *others)))
    route = _route(info)
    return tuple(v for v in others if route is None or not _takes(route, v, sub_group_size))


def variants_on_unit(
    device: DeviceInfo, sub_group_size: int | None = None, *, asks: bool = True
) -> tuple[Variant, ...]:
    """Return the multiply-adds that a device's matrix instructions compute, in the instructions' shapes.

    The device does not have cl_khr_cooperative_matrix. If `asks` is False, instructions that were not tried are left
    out.
    """
    route = _route(device, asks)
    if route is None:
        return ()
    every = (variant for row in route.products for variant in row.variants())
    return tuple(dict.fromkeys(v for v in every if _takes(route, v, sub_group_size)))


def _native(device: DeviceInfo, sub_group_size: int | None) -> tuple[Variant, ...]:
    """Return the native multiply-adds of a device. Raises ValueError if the device does not report them."""
    result = variants_for(device, sub_group_size)
    if result is None:
        size = "their default size" if sub_group_size is None else f"{sub_group_size} work-items"
        raise ValueError(f"{device.label} does not say which matrices it has for subgroups of {size}")
    return result


def _route(device: DeviceInfo, asks: bool = True) -> LoweredRoute | None:
    """Return the route to the device's matrix instructions, restricted to those that the device computes correctly.

    If there are no such instructions, return None. If `asks` is False, instructions that were not tried are left out.
    """
    route = unit_for(device)
    available = instructions(device, route, asks=asks) if route and device.handle is not None else ()
    return LOWERED_ROUTES[route].tuned(Tuning(instructions=available)) if available else None


def _takes(route: LoweredRoute, variant: Variant, sub_group_size: int | None) -> bool:
    """Return whether the route computes a multiply-add by instructions in subgroups of that size (None: any)."""
    a, b, c, _ = variant.matrix_types()
    operands = default_operands(variant.a, variant.b, variant.c)
    if variant.saturating:
        operands |= Operands.SATURATING
    sizes = {row.lanes for row in route.products if sub_group_size in (None, row.lanes)}
    return any(route.product(a, b, c, operands, lanes) for lanes in sizes)
