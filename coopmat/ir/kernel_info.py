"""What a host needs to know of a compiled kernel."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """`type_name` is OpenCL C's spelling; `scalar` names the (pointee's) scalar type, None for others and records;
    `size` is the bytes of the argument, 8 for pointers to global and constant memory, images and samplers.
    `access` is an image's access qualifier. An image lies in global memory, as clGetKernelArgInfo has it."""

    name: str
    type_name: str
    address_space: str
    scalar: str | None
    is_pointer: bool
    size: int
    access: str = "none"

    @property
    def is_handle(self) -> bool:
        """Whether the argument is an object of the host's: an image or a sampler."""
        return self.access != "none" or self.type_name == "sampler_t"


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """`sub_group_size` is the one compiled for (1 where the matrices are lowered to a subgroup of one), None: any.

    `max_work_items`, where there is one, is the most that a work-group may have: the local memory, through which
    subgroups of `--matrices scratch` exchange values and native ones stage tiles, is made for that. Subgroups of
    `scratch` are the kernel's own, and the device knows nothing of them."""

    name: str
    parameters: tuple[KernelParameter, ...]
    reqd_work_group_size: tuple[int, int, int] | None
    sub_group_size: int | None
    uses_matrices: bool
    max_work_items: int | None = None
