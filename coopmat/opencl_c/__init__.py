"""Typed AST to plain OpenCL C, for devices that take no SPIR-V.

`coopmat.opencl_c.write.write` does it, of a unit whose matrices passes have made plain objects of; what goes in and
comes out besides the typed AST is here.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..frontend.kernel_info import KernelInfo

__all__ = ["WriteOptions", "Written"]


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """`cl_std` is the newest version that the device takes; the text asks for the oldest that it can do with. `prelude`
    is C that defines `instructions`: these functions of the library are not written, as the device has them. With
    `half_bits`, values of half are written as their bits, a ushort."""

    cl_std: str = "CL3.0"
    prelude: str = ""
    instructions: frozenset[str] = frozenset()
    half_bits: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """`text` is the program; `cl_std` the version that it needs, "CL1.2" or later, for -cl-std=. `functions` describes
    the functions that other programs may call, as far as they need subgroups of a size."""

    text: str
    kernels: tuple[KernelInfo, ...]
    cl_std: str
    functions: tuple[KernelInfo, ...] = ()
