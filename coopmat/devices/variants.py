"""What the devices themselves have: the native multiply-adds, component types, and sizes of subgroups."""

from __future__ import annotations

from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType, Variant

from .native import native_variants
from .query import DeviceInfo


class SubGroupSizeError(ValueError):
    """A device has no subgroups of `size` work-items; `sizes` are those that it has, one work-item where programs are
    lowered. `device` is its label."""

    def __init__(self, device: str, size: int, sizes: tuple[int, ...]) -> None:
        self.device, self.size, self.sizes = device, size, sizes
        listing = ", ".join(map(str, sizes))
        super().__init__(f"{device} has no subgroups of {size} work-items; it has subgroups of {listing}")

    def __reduce__(self) -> tuple[type[SubGroupSizeError], tuple[str, int, tuple[int, ...]]]:
        return type(self), (self.device, self.size, self.sizes)


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
