"""Typed AST to plain OpenCL C, for devices that take no SPIR-V.

`coopmat.opencl_c.write.write` does it; what goes in and comes out besides the typed AST is here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..diagnostics import Diagnostic, Span
from ..frontend.kernel_info import KernelInfo
from ..matrices.strategies import DEFAULT_TUNING, STRATEGIES, Tuning
from ..matrices.trees import Machine, Tree

__all__ = ["LIBRARY_NAME", "WriteOptions", "Written"]

# What a device's compiler calls the source of the matrix library.
LIBRARY_NAME = "<matrix library>"


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """`matrices` is a library strategy. `cl_std` is the newest version that the device takes; the text asks for the
    oldest that it can do with. `sub_group_size` and `tuning` as in LowerOptions,
    `has_half` whether the device has cl_khr_fp16. `contract_matrices` and `machine` as in
    LowerOptions."""

    matrices: str = "one"
    cl_std: str = "CL3.0"
    sub_group_size: int | None = None
    tuning: Tuning = DEFAULT_TUNING
    has_half: bool = True
    contract_matrices: bool = False
    machine: Machine = field(default_factory=Machine)

    def __post_init__(self) -> None:
        if self.matrices not in STRATEGIES:
            raise ValueError(f"unknown lowering of matrices: {self.matrices!r}")


@dataclass(frozen=True, slots=True)
class Written:
    """`text` is the program; `cl_std` the version that it needs, "CL1.2" or later, for -cl-std=. `trees` are the
    expressions of Clang's matrix types, with their places."""

    text: str
    kernels: tuple[KernelInfo, ...]
    cl_std: str
    warnings: tuple[Diagnostic, ...] = ()
    trees: tuple[tuple[Span, Tree], ...] = ()
