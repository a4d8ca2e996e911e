"""Lowering of the typed AST to canonical LLVM IR: its options and results.

`coopmat.ir.lower.lower` does the lowering. This module is free of heavy imports.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..diagnostics import Span
from ..matrices.memory_rules import MemoryRules
from ..matrices.routes import LOWERED_ROUTES
from ..matrix_types.expressions import Machine
from .kernel_info import KernelInfo, KernelParameter

__all__ = ["KernelInfo", "KernelParameter", "LowerOptions", "LoweredModule"]

DEFAULT_MACHINE = Machine()


@dataclass(frozen=True, slots=True)
class LowerOptions:
    """The options of the lowering.

    matrices: "native" (matrices are SPIR-V values), or the name of a library route (a key of LOWERED_ROUTES), for which
        a pass has already lowered the typed AST.
    spirv_version: the version of the emitted module; some builtins need a newer one than others.
    float_flags: LLVM's fast-math flags of floating-point operations.
    opt_disable: the option -cl-opt-disable.
    contract_matrices: contract expressions of Clang's matrix types, whatever the pragma says.
    row_major: flat vectors of `llvm.matrix.*` in an input text are row-major.
    machine: the device's parameters for the cost model of matrix expressions.
    align_frames: `machine` describes the actual device, so kernels' frames are aligned for it.
    memory_rules: the device's alignment and stride rules for native matrices; None: there are none.
    places: whether the result has the places of its lines.
    """

    matrices: str = "native"
    spirv_version: str = "1.4"
    float_flags: tuple[str, ...] = ()
    opt_disable: bool = False
    contract_matrices: bool = False
    row_major: bool = False
    machine: Machine = DEFAULT_MACHINE
    align_frames: bool = False
    memory_rules: MemoryRules | None = None
    places: bool = False

    def __post_init__(self) -> None:
        if self.matrices not in ("native", *LOWERED_ROUTES):
            raise ValueError(f"unknown lowering of matrices: {self.matrices!r}")

    @property
    def is_native(self) -> bool:
        """Whether cooperative matrices remain values; otherwise the library has been merged into the module."""
        return self.matrices == "native"


@dataclass(frozen=True, slots=True)
class LoweredModule:
    """The result of the lowering.

    text: LLVM IR without triple and data layout, which emission sets.
    kernels: the descriptions of the kernels.
    passes: the pipeline to run before emission: "none"; "sroa", the only one that is safe on cooperative matrices; or
        "O1", which library code needs.
    extensions: the SPIR-V extensions that the module may use.
    functions: the descriptions of functions that other programs may call and that need certain subgroups.
    imports: the names of functions and variables that other programs define.
    places: for each line of the text, the statement or function that it comes from, or None; empty unless the options
        ask for places.
    """

    text: str
    kernels: tuple[KernelInfo, ...]
    passes: str
    extensions: tuple[str, ...]
    functions: tuple[KernelInfo, ...] = ()
    imports: frozenset[str] = frozenset()
    places: tuple[Span | None, ...] = ()
