"""The consumers of native modules (device compilers): which instructions of the matrix extensions each supports.

The extensions are SPV_KHR_cooperative_matrix and its successors. The passes of `coopmat.foreign.consumers` replace the
instructions that a consumer does not support.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class NativeProfile:
    """A set of matrix instructions and types that one kind of consumer, a device compiler, supports.

    arithmetic: arithmetic instructions on whole matrices. Without it, they become loops over the components of a
        work-item.
    conversions: conversion instructions on whole matrices. Without it, they become such loops too.
    roundings: decorations of these conversions for rounding and saturation, which Vulkan lacks. Without it, library
        functions round and clamp components, and a conversion without decorations follows.
    functions: matrices, or pointers to them, as parameters and results. Without it, such functions are inlined.
    small_floats: bfloat16 and smaller component types. Without it, bfloat16 components are 16-bit integers, which an
        operand of SPV_INTEL_joint_matrix on the multiply-add interprets; other such types are rejected.
    maintenance: the instructions of SPV_EXT_cooperative_matrix_maintenance1. Without it, local memory is used.
    whole_maintenance: all of these. SPV_NV_cooperative_matrix2 has no coordinates of components and no transposition,
        and changes the use of accumulators only.
    reductions: the reductions among these. Without it, local memory is used.
    joint_matrix: modules use SPV_INTEL_joint_matrix, also for coordinates of components.
    lacks: pairs of a subgroup size and patterns of missing loads and stores. An example is "load 16x32.B.16 colm":
        operation, shape, use, bits of a component, layout.
    """

    name: str
    arithmetic: bool = True
    conversions: bool = True
    roundings: bool = True
    functions: bool = True
    small_floats: bool = True
    maintenance: bool = False
    whole_maintenance: bool = True
    reductions: bool = True
    joint_matrix: bool = False
    lacks: tuple[tuple[int, tuple[str, ...]], ...] = ()

    def has_access(self, name: str, size: int | None) -> bool:
        """Return whether the consumer has the load or store `name` in subgroups of `size` work-items.

        `name` has the form of the patterns in `lacks`. If `size` is None, the instruction must exist for all sizes.
        """
        rows = [patterns for own, patterns in self.lacks if size in (None, own)]
        return not any(fnmatch.fnmatchcase(name, pattern) for patterns in rows for pattern in patterns)

    @property
    def coordinates(self) -> bool:
        """Whether an instruction returns the coordinates of a component."""
        return (self.maintenance and self.whole_maintenance) or self.joint_matrix

    def has_move(self, of_accumulator: bool, transposed: bool) -> bool:
        """Return whether an instruction changes a matrix's use or transposes the matrix.

        of_accumulator: whether the matrix is an accumulator.
        """
        return self.maintenance and (self.whole_maintenance or (of_accumulator and not transposed))

    @property
    def takes_all(self) -> bool:
        """Whether the consumer accepts modules with Khronos' extensions without changes."""
        return self.arithmetic and self.conversions and self.functions and self.small_floats and not self.joint_matrix


KHR = NativeProfile("khr")
VULKAN = NativeProfile("vulkan")
# Subgroup size -> missing loads and stores. DG2 has subgroups of 8 work-items, later GPUs of 16.
_IGC_LACKS = (
    (8, ("* *.A.* colm", "* 16x32.B.* colm", "* 32x32.C.* colm", "store 32x8.B.8 rowm")),
    (
        16,
        (
            *(f"* {shape}.A.* colm" for shape in ("1x16", "16x16", "32x16")),
            *("* 16x64.B.* colm", "* 16x16.C.* colm", "* 32x64.C.* colm", "* 8x16.C.16 colm"),
        ),
    ),
)
NATIVE_PROFILES: Mapping[str, NativeProfile] = MappingProxyType(
    {
        row.name: row
        for row in (
            KHR,
            NativeProfile("maint1", maintenance=True),
            # Vulkan drivers; with VK_NV_cooperative_matrix2, they have the instructions of maintenance1.
            VULKAN,
            NativeProfile("vulkan-nv2", maintenance=True, whole_maintenance=False),
            # Mesa divides matrices of flexible shapes, and reduces only the first row or column of the parts.
            NativeProfile("vulkan-mesa", maintenance=True, whole_maintenance=False, reductions=False),
            # Intel's compiler for GPUs. It crashes on an instruction that it does not support: docs/backend.md.
            NativeProfile(
                "igc",
                arithmetic=False,
                conversions=False,
                functions=False,
                small_floats=False,
                joint_matrix=True,
                lacks=_IGC_LACKS,
            ),
        )
    }
)
