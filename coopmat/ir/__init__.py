"""Typed AST to canonical LLVM IR.

`coopmat.ir.lower.lower` does it; what goes in and comes out besides the typed AST is here, free of heavy imports.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..diagnostics import Diagnostic
from ..matrices.memory_rules import MemoryRules
from ..matrices.strategies import DEFAULT_TUNING, STRATEGIES, Strategy, Tuning
from ..matrix_types.expressions import Machine
from .kernel_info import KernelInfo, KernelParameter

__all__ = ["KernelInfo", "KernelParameter", "LowerOptions", "LoweredModule"]

DEFAULT_MACHINE = Machine()


@dataclass(frozen=True, slots=True)
class LowerOptions:
    """`matrices` is "native" (cooperative-matrix operations) or a library strategy, one of STRATEGIES, which a pass on
    the typed AST has lowered for.

    `spirv_version` is what the module will be emitted as: some builtins need a newer one than others.
    `sub_group_size` is for "lanes" and "scratch": None stands for the kernels' own, or that of `tuning`, which is
    the device's, where they name none.
    `contract_matrices`: expressions of Clang's matrix types are contracted whatever the pragma says; `row_major`: flat
    vectors of `llvm.matrix.*` in a text that is read are row-major; `machine` is what
    the expressions' cost model knows, and `align_frames` says that it is a device's own.
    `memory_rules` are the device's for native matrices, None where it has none.
    `float_flags` are LLVM's fast-math flags of floating-point operations; `opt_disable` is -cl-opt-disable.
    """

    matrices: str = "native"
    spirv_version: str = "1.4"
    sub_group_size: int | None = None
    float_flags: tuple[str, ...] = ()
    opt_disable: bool = False
    contract_matrices: bool = False
    row_major: bool = False
    machine: Machine = DEFAULT_MACHINE
    align_frames: bool = False
    memory_rules: MemoryRules | None = None
    tuning: Tuning = DEFAULT_TUNING

    def __post_init__(self) -> None:
        if self.matrices not in ("native", *STRATEGIES):
            raise ValueError(f"unknown lowering of matrices: {self.matrices!r}")

    @property
    def is_native(self) -> bool:
        """Return whether cooperative matrices remain values; otherwise a library has been merged into the module."""
        return self.matrices == "native"

    @property
    def strategy(self) -> Strategy:
        """The library strategy, for the device. KeyError for native matrices."""
        return STRATEGIES[self.matrices].tuned(self.tuning)


@dataclass(frozen=True, slots=True)
class LoweredModule:
    """`text` is LLVM IR without triple and data layout, which emission sets.

    `passes` names the pipeline that must run before emission: "none"; "sroa", the only one that is safe on
    cooperative matrices; or "O1", which library code needs. `extensions` are the SPIR-V extensions to allow.
    `functions` describes the functions that other programs may call and that need certain subgroups; `imports` are the
    names of what other programs define.
    """

    text: str
    kernels: tuple[KernelInfo, ...]
    passes: str
    extensions: tuple[str, ...]
    warnings: tuple[Diagnostic, ...] = ()
    functions: tuple[KernelInfo, ...] = ()
    imports: frozenset[str] = frozenset()
