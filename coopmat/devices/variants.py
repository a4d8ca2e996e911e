"""The native multiply-adds, component types and subgroup sizes of a device."""

from __future__ import annotations

from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType, Variant

from .matrix_queries import native_variants
from .query import DeviceInfo


class SubGroupSizeError(ValueError):
    """An exception that reports a subgroup size that the device does not have.

    device: the label of the device.
    size: the requested size, in work-items.
    sizes: the sizes that the device has, including 1 if programs are lowered.
    """

    def __init__(self, device: str, size: int, sizes: tuple[int, ...]) -> None:
        self.device, self.size, self.sizes = device, size, sizes
        listing = ", ".join(map(str, sizes))
        super().__init__(f"{device} has no subgroups of {size} work-items; it has subgroups of {listing}")

    def __reduce__(self) -> tuple[type[SubGroupSizeError], tuple[str, int, tuple[int, ...]]]:
        return type(self), (self.device, self.size, self.sizes)


def variants_for(device: DeviceInfo, sub_group_size: int | None) -> tuple[Variant, ...] | None:
    """Return the native multiply-adds for subgroups of `sub_group_size` work-items; None if they are unknown.

    If `sub_group_size` is None, the device's default size counts.
    """
    if sub_group_size is None or device.handle is None:
        return None if device.variants is None else (*device.variants, *device.further_variants)
    return native_variants(device.handle, sub_group_size)


def component_types(device: DeviceInfo) -> tuple[ComponentType, ...]:
    """Return the component types that lowered matrices may have on a device.

    half and double require support of the device; bfloat16 and all other types do not.
    """
    lacking = {name for name, has in (("f16", device.fp16), ("f64", device.fp64)) if not has}
    return tuple(t for t in COMPONENT_TYPES.values() if t.name not in lacking)
