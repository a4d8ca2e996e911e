"""The subgroup sizes and launch sizes that host and kernel agree on; launches that cannot work are rejected."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from coopmat.devices import DeviceInfo
from coopmat.devices.sub_groups import chooses_size, kernel_count, kernel_size
from coopmat.diagnostics import CompileError, Diagnostic, Severity

if TYPE_CHECKING:
    from coopmat.ir.kernel_info import KernelInfo


def launch_error(message: str, code: str = "launch") -> CompileError:
    """Return a CompileError that reports a launch that cannot work."""
    return CompileError([Diagnostic(Severity.ERROR, code, message)])


def require_size(handle: Any, info: KernelInfo, device: DeviceInfo, local_size: tuple[int, ...]) -> None:
    """Raise CompileError if the device runs a kernel in subgroups of another size than it is compiled for.

    `handle` is the pyopencl kernel.
    """
    actual = kernel_size(handle, device, local_size)
    if actual != info.sub_group_size:
        message = f"kernel '{info.name}' is compiled for subgroups of {info.sub_group_size}, "
        if actual == 0:
            raise launch_error(f"{message}but the device does not report the subgroup size for local size {local_size}")
        raise launch_error(f"{message}but the device runs local size {local_size} in subgroups of {actual}")


@dataclass(frozen=True)
class LaunchRules:
    """The sizes with which a kernel may be launched on a device.

    info: the description of the kernel.
    device: the device.
    handle: the pyopencl kernel.
    program: an object that must exist as long as the kernel.
    """

    info: KernelInfo
    device: DeviceInfo
    handle: Any
    program: Any = None

    @cached_property
    def sub_group_size(self) -> int:
        """The subgroup size in work-items for which the kernel was compiled, or which the device will use.

        A device without subgroups has subgroups of one work-item.
        """
        if self.info.sub_group_size is not None and not self._only_asks:
            return int(self.info.sub_group_size)
        if not self.device.sub_groups:
            return 1
        return kernel_size(self.handle, self.device, tuple(self.info.reqd_work_group_size or (64,)))

    @property
    def _only_asks(self) -> bool:
        """Whether the kernel requests a size that nothing depends on, and that the device may ignore."""
        info = self.info
        plain = not info.uses_matrices and info.max_work_items is None and info.sub_group_size != 1
        return plain and self.device.sub_groups and chooses_size(self.device)

    def local_size_for(self, global_size: Sequence[int], local_size: Sequence[int] | None) -> tuple[int, ...] | None:
        """Return the checked local size of a launch; None lets the device choose.

        A kernel with matrices gets full subgroups. Raises CompileError, which names the sizes, if that is not possible.
        """
        if self.info.reqd_work_group_size is not None:
            required = self.info.reqd_work_group_size[: len(global_size)]
            if local_size is not None and tuple(local_size) != required:
                label = f"local size {tuple(local_size)}"
                raise launch_error(f"{label} for kernel '{self.info.name}', which requires {required}")
            local_size = required
        size = self.sub_group_size
        emulated = self.info.max_work_items is not None
        if size == 1 and emulated:
            # The kernel is lowered from IR for native matrices. Its local memory limits the number of work-items.
            local_size = (1,) * len(global_size) if local_size is None else local_size
            self._require_room(tuple(local_size))
        if size == 1 or not (self.info.uses_matrices or emulated):
            return None if local_size is None else tuple(local_size)
        if local_size is None:
            local_size = (size, *(1 for _ in global_size[1:]))
        if emulated:
            self._require_room(tuple(local_size))
            if not self.info.uses_matrices:
                return tuple(local_size)
        self._require_full_sub_groups(tuple(global_size), tuple(local_size))
        return tuple(local_size)

    def _require_room(self, local_size: tuple[int, ...]) -> None:
        """Raise CompileError if the kernel's local memory is too small for the work-group."""
        most = self.info.max_work_items
        if most is not None and math.prod(local_size) > most:
            message = f"local size {local_size} has more than the {most} work-items that kernel '{self.info.name}'"
            raise launch_error(f"{message} has local memory for; reqd_work_group_size makes room for more")

    def _require_full_sub_groups(self, global_size: tuple[int, ...], local_size: tuple[int, ...]) -> None:
        """Raise CompileError unless all work-groups consist of full subgroups.

        Matrix operations read every lane of a subgroup: a missing lane would be read out of bounds.
        """
        if len(global_size) != len(local_size):
            raise launch_error(f"global size {global_size} and local size {local_size} differ in dimensions")
        if any(g % w for g, w in zip(global_size, local_size, strict=True)):
            message = f"global size {global_size} is no multiple of local size {local_size}"
            raise launch_error(f"{message}: the last work-groups would have partial subgroups", "partial-subgroup")
        if self.info.sub_group_size is None:
            # The matrices have work-group scope, or are native and independent of the subgroup size.
            return
        size = self.sub_group_size
        if self.info.max_work_items is not None:
            if math.prod(local_size) % size:
                message = f"local size {local_size} is no whole number of subgroups of {size}"
                raise launch_error(f"{message}: partial subgroups cannot hold a matrix", "partial-subgroup")
            return
        require_size(self.handle, self.info, self.device, local_size)
        count = kernel_count(self.handle, self.device, local_size)
        items = math.prod(local_size)
        if count * size != items:
            message = f"local size {local_size} makes {count} subgroups of up to {size} work-items out of {items}"
            raise launch_error(f"{message}: partial subgroups cannot hold a matrix", "partial-subgroup")
