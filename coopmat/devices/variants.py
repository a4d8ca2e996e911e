"""`coopmat.variants`: the draft's query, answered for every device."""

from __future__ import annotations

from typing import Any

from coopmat.matrices import emulated
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType, Variant

from .native import native_variants
from .query import COOPERATIVE_MATRIX, DeviceInfo, describe


class SubGroupSizeError(ValueError):
    """A device has no subgroups of `size` work-items; `sizes` are those that it has, one work-item where programs are
    lowered. `device` is its label."""

    def __init__(self, device: str, size: int, sizes: tuple[int, ...]) -> None:
        self.device, self.size, self.sizes = device, size, sizes
        listing = ", ".join(map(str, sizes))
        super().__init__(f"{device} has no subgroups of {size} work-items; it has subgroups of {listing}")

    def __reduce__(self) -> tuple[type[SubGroupSizeError], tuple[str, int, tuple[int, ...]]]:
        return type(self), (self.device, self.size, self.sizes)


def variants(device: Any, sub_group_size: int | None = None) -> tuple[Variant, ...]:
    """The multiply-adds that programs with matrices may count on, on a device: a pyopencl device, or a `DeviceInfo`.

    A device with cl_khr_cooperative_matrix is asked for its list, for subgroups of `sub_group_size` work-items or of
    its default size. Elsewhere the lowerings compute every combination of component types of one class and every
    shape, in subgroups of every size; the answer is a fixed selection with every component type that the device has
    (`coopmat.matrices.emulated`; bf16 is ours, and has no number in `Variant.to_record`).
    SubGroupSizeError for a size that the device is known to lack; ValueError for one below 1, and where a device does
    not tell what it has.
    """
    if sub_group_size is not None and sub_group_size < 1:
        raise ValueError(f"a subgroup has at least 1 work-item, not {sub_group_size}")
    info = device if isinstance(device, DeviceInfo) else describe(device)
    native = COOPERATIVE_MATRIX in info.extensions
    # Of one work-item the lowerings make a subgroup anywhere.
    sizes = info.sub_group_sizes if native or not info.sub_group_sizes else (1, *info.sub_group_sizes)
    if sub_group_size is not None and sizes and sub_group_size not in sizes:
        raise SubGroupSizeError(info.label, sub_group_size, tuple(dict.fromkeys(sizes)))
    if not native:
        return emulated.multiply_adds(component_types(info))
    result = variants_for(info, sub_group_size)
    if result is None:
        size = "their default size" if sub_group_size is None else f"{sub_group_size} work-items"
        raise ValueError(f"{info.label} does not say which matrices it has for subgroups of {size}")
    return result


def variants_for(device: DeviceInfo, sub_group_size: int | None) -> tuple[Variant, ...] | None:
    """The native multiply-adds for subgroups of a size, None where that is not known."""
    if sub_group_size is None or device.handle is None:
        return device.variants
    return native_variants(device.handle, sub_group_size)


def component_types(device: DeviceInfo) -> tuple[ComponentType, ...]:
    """Return the component types that the lowerings have on a device: half and double require the device's own,
    bfloat16 nothing."""
    lacking = {name for name, has in (("f16", device.fp16), ("f64", device.fp64)) if not has}
    return tuple(t for t in COMPONENT_TYPES.values() if t.name not in lacking)
