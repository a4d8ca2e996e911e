"""The adaptation of kernels to the subgroup size in which a device runs them.

The size is known only after a kernel is built for the device.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from coopmat import compiler
from coopmat.devices import DeviceInfo, opencl
from coopmat.devices.sub_groups import chooses_size, kernel_size
from coopmat.matrices.routes import IN_SUB_GROUPS

from . import guarded

if TYPE_CHECKING:
    from coopmat.compiler import Module

logger = logging.getLogger("coopmat.build")


def fitted(module: Module, device: DeviceInfo, build: Callable[[Module], Any]) -> tuple[Module, Any]:
    """Build a module, if necessary for another subgroup size, and return the module and its program.

    `build` returns pyopencl's program of a module. If the device chooses another size for the kernels, and no option
    names a size, the source is compiled and built again for that size. A kernel that then has another size is rejected
    at launch.

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
    """Build a module, or the same source as OpenCL C if its SPIR-V gets no subgroups; return the module and program."""
    try:
        return module, build(module)
    except Exception as error:
        scalar = error.__cause__
        is_own_choice = isinstance(scalar, guarded.NoSubgroups) and module.language == "cl" and module.code == "spirv"
        if not is_own_choice or module.options.code != "auto":
            raise
        logger.warning("%s; the program is built from OpenCL C instead of SPIR-V", scalar)
    again = compiler.recompile(module, replace(module.options, code="c"))
    return again, build(again)


def _other_size(module: Module, device: DeviceInfo, program: Any) -> int | None:
    """Return the most frequent subgroup size, in work-items, of kernels that do not run in the usual size.

    Only kernels that were compiled for the usual size count. If all run in that size, return None.
    """
    sizes: Counter[int] = Counter()
    for info in module.kernels.values():
        if info.uses_matrices and info.sub_group_size == module.options.usual_sub_group_size:
            local = info.reqd_work_group_size or (info.sub_group_size,)
            size = kernel_size(opencl().Kernel(program, info.name), device, local)
            if size not in (0, info.sub_group_size):
                sizes[size] += 1
    return sizes.most_common(1)[0][0] if sizes else None
