"""Output of the typed AST as plain OpenCL C, for devices that accept no SPIR-V: the options and results.

`coopmat.opencl_c.write.write` writes a unit, in which passes have replaced matrices by plain objects.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..frontend.kernel_info import KernelInfo

__all__ = ["WriteOptions", "Written"]


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """The options of the output.

    cl_std: the newest language version that the device accepts; the text requires the oldest version that suffices.
    prelude: C text that defines `instructions`.
    instructions: library functions that are not written, because the device has them as instructions.
    half_bits: write values of half as ushort bit patterns.
    """

    cl_std: str = "CL3.0"
    prelude: str = ""
    instructions: frozenset[str] = frozenset()
    half_bits: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """The output.

    text: the program.
    kernels: the descriptions of the kernels.
    cl_std: the required version for -cl-std=, "CL1.2" or later.
    functions: the descriptions of functions that other programs may call and that need a subgroup size.
    """

    text: str
    kernels: tuple[KernelInfo, ...]
    cl_std: str
    functions: tuple[KernelInfo, ...] = ()
