"""The fitting of kernels to the subgroups that they run in: their size on a device is known once a kernel is built
there."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from coopmat import compiler
from coopmat.devices import DeviceInfo, opencl
from coopmat.devices.sub_groups import chooses_size, kernel_size
from coopmat.matrices.strategies import IN_SUB_GROUPS

from . import guarded

if TYPE_CHECKING:
    from coopmat.compiler import Module

logger = logging.getLogger("coopmat.build")


def fitted(module: Module, device: DeviceInfo, build: Callable[[Module], Any]) -> tuple[Module, Any]:
    """A module and what `build` makes of it, pyopencl's program for the device.

    Where the device runs its kernels in subgroups of another size than it was compiled for, and nobody asked for one,
    the source is compiled and built once more, for that size. What does not fit then is refused when it is launched.

    If the device's compiler makes no subgroups of the SPIR-V, the program is built from OpenCL C, unless `--code` asks
    for SPIR-V: Intel's CPU compiler vectorizes OpenCL C in more cases.
    """
    module, program = _in_a_form_that_builds(module, build)
    if module.matrices not in IN_SUB_GROUPS or module.options.sub_group_size is not None or not chooses_size(device):
        return module, program
    size = _other_size(module, device, program)
    if size is None:
        return module, program
    again = compiler.recompile(module, replace(module.options, usual_sub_group_size=size))
    return again, build(again)


def _in_a_form_that_builds(module: Module, build: Callable[[Module], Any]) -> tuple[Module, Any]:
    try:
        return module, build(module)
    except Exception as error:
        scalar, of_source = error.__cause__, module.language == "cl" and module.options.code == "auto"
        if not isinstance(scalar, guarded.NoSubgroups) or not of_source or module.code == "c":
            raise
        logger.warning("%s; the program is built from OpenCL C instead of SPIR-V", scalar)
    again = compiler.recompile(module, replace(module.options, code="c"))
    return again, build(again)


def _other_size(module: Module, device: DeviceInfo, program: Any) -> int | None:
    """Return the size of the subgroups in which most of those kernels run that were compiled for the usual size and run
    in another; None where there are none."""
    sizes: Counter[int] = Counter()
    for info in module.kernels.values():
        if info.uses_matrices and info.sub_group_size == module.options.usual_sub_group_size:
            local = info.reqd_work_group_size or (info.sub_group_size,)
            size = kernel_size(opencl().Kernel(program, info.name), device, local)
            if size not in (0, info.sub_group_size):
                sizes[size] += 1
    return sizes.most_common(1)[0][0] if sizes else None
