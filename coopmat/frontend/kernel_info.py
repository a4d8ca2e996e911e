"""The description of a compiled kernel for hosts, and the values of a kernel's attributes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .types import AddressSpace, ImageType, PointerType, ScalarType, element_type, size_of

if TYPE_CHECKING:
    from . import typed  # programs from the cache start without the syntax trees


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """A parameter of a kernel, as hosts see it.

    type_name: OpenCL C's spelling of the type.
    address_space: as in clGetKernelArgInfo, that of an image is global.
    scalar: the name of the scalar type, or of the pointee's scalar type; None for other types and records.
    size: the argument's size in bytes; 8 for pointers to global and constant memory, images and samplers.
    access: the access qualifier of an image.
    """

    name: str
    type_name: str
    address_space: str
    scalar: str | None
    is_pointer: bool
    size: int
    access: str = "none"

    @property
    def is_handle(self) -> bool:
        """Return whether the argument is an object of the host: an image or a sampler."""
        return self.access != "none" or self.type_name == "sampler_t"


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """A kernel's description for hosts.

    sub_group_size: the subgroup size that the kernel is compiled for, or None for any. The size is 1 if the matrices
      are lowered to a subgroup of one.
    max_work_items: the largest work-group size, or None. The local memory in which `--matrices scratch` exchanges
      values, and native matrices stage tiles, is allocated for that size. The subgroups of `scratch` are formed by the
      kernel and unknown to the device.
    imports: whether the kernel calls functions of other programs.
    """

    name: str
    parameters: tuple[KernelParameter, ...]
    reqd_work_group_size: tuple[int, int, int] | None
    sub_group_size: int | None
    uses_matrices: bool
    max_work_items: int | None = None
    imports: bool = False


def sub_group_size(decl: typed.FunctionDecl) -> int | None:
    """Return the subgroup size that the kernel's attribute requires, or None."""
    size = decl.attributes.get("intel_reqd_sub_group_size")
    return size if isinstance(size, int) else None


def work_items(decl: typed.FunctionDecl) -> int | None:
    """Return the number of work-items in the work-group that the kernel's attribute requires, or None."""
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
    """Return descriptions of the functions that other programs may call and whose subgroup size is fixed."""
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
