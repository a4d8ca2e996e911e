"""The description of a compiled kernel for hosts, and the values of a kernel's attributes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from . import typed
from .types import AddressSpace, ImageType, PointerType, ScalarType, element_type, size_of


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """A `KernelParameter` has `type_name`, OpenCL C's spelling; `scalar`, the name of the (pointee's) scalar type, None
    for others and records; `size`, the bytes of the argument, 8 for pointers to global and constant memory, images and
    samplers. `access` is an image's access qualifier. An image lies in global memory, as in clGetKernelArgInfo."""

    name: str
    type_name: str
    address_space: str
    scalar: str | None
    is_pointer: bool
    size: int
    access: str = "none"

    @property
    def is_handle(self) -> bool:
        """Tell whether the argument is an object of the host's: an image or a sampler."""
        return self.access != "none" or self.type_name == "sampler_t"


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """A `KernelInfo` describes a kernel. `sub_group_size` is the size that it is compiled for (1 where the matrices
    are lowered to a subgroup of one), or None for any.

    `max_work_items`, if not None, is the largest work-group size: the local memory, through which subgroups of
    `--matrices scratch` exchange values and native ones stage tiles, is allocated for it. Subgroups of `scratch` are
    formed by the kernel, and unknown to the device. `imports`: the kernel calls functions of other programs.
    """

    name: str
    parameters: tuple[KernelParameter, ...]
    reqd_work_group_size: tuple[int, int, int] | None
    sub_group_size: int | None
    uses_matrices: bool
    max_work_items: int | None = None
    imports: bool = False


def sub_group_size(decl: typed.FunctionDecl) -> int | None:
    """Return the subgroup size that the kernel's attribute requires."""
    size = decl.attributes.get("intel_reqd_sub_group_size")
    return size if isinstance(size, int) else None


def work_items(decl: typed.FunctionDecl) -> int | None:
    """Return the number of work-items in the work-groups that the kernel's attributes require."""
    sizes = decl.attributes.get("reqd_work_group_size")
    return math.prod(sizes) if isinstance(sizes, tuple) else None


def describe(
    decl: typed.FunctionDecl,
    size: int | None,
    uses_matrices: bool,
    max_work_items: int | None = None,
    imports: bool = False,
) -> KernelInfo:
    sizes = decl.attributes.get("reqd_work_group_size")
    required = (sizes[0], sizes[1], sizes[2]) if isinstance(sizes, tuple) else None
    parameters = tuple(map(_parameter, decl.parameters))
    return KernelInfo(decl.name, parameters, required, size, uses_matrices, max_work_items, imports)


def shared(unit: typed.Unit) -> tuple[KernelInfo, ...]:
    """Return the descriptions of the functions that other programs may call and whose kernels must have certain
    subgroups."""
    infos = (decl.info for decl in unit.functions if decl.symbol is not None and decl.info is not None)
    return tuple(info for info in infos if info.sub_group_size is not None)


def _parameter(decl: typed.VarDecl) -> KernelParameter:
    t = decl.type
    if isinstance(t, ImageType):
        return KernelParameter(decl.name, t.name, str(AddressSpace.GLOBAL), None, False, size_of(t), t.access)
    is_pointer = isinstance(t, PointerType)
    space = t.qualifiers.space if isinstance(t, PointerType) else AddressSpace.PRIVATE
    element = element_type(t.pointee if isinstance(t, PointerType) else t)
    scalar = element.name if isinstance(element, ScalarType) else None
    return KernelParameter(decl.name, str(t), str(space), scalar, is_pointer, size_of(t))
