"""The parts of SPV_KHR_cooperative_matrix and its successors that consumers of native modules support, one row each.

A row says what may remain unchanged; the rest is expressed by other instructions (`coopmat.foreign.consumers`).
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class NativeProfile:
    """One kind of consumer.

    `arithmetic` and `conversions`: instructions that work on all components of matrices; otherwise they are loops over
    the components that a work-item holds. `functions`: matrices, or pointers to them, as parameters and results;
    otherwise such functions are inlined. `small_floats`: components of such types; otherwise bfloat16 is integers of 16
    bits, interpreted by the multiply-add's operand of SPV_INTEL_joint_matrix, and others are refused. `maintenance`:
    the instructions of SPV_EXT_cooperative_matrix_maintenance1; otherwise local memory serves. `joint_matrix`: the
    words of SPV_INTEL_joint_matrix, for coordinates too. `lacks`: a subgroup size with patterns of missing loads and
    stores, such as "load 16x32.B.16 colm": operation, shape, use, bits of a component, layout.
    """

    name: str
    arithmetic: bool = True
    conversions: bool = True
    functions: bool = True
    small_floats: bool = True
    maintenance: bool = False
    joint_matrix: bool = False
    lacks: tuple[tuple[int, tuple[str, ...]], ...] = ()

    def has_access(self, name: str, size: int | None) -> bool:
        """Tell whether there is an instruction for a load or store of that name in subgroups of that size; None: of
        any."""
        rows = [patterns for own, patterns in self.lacks if size in (None, own)]
        return not any(fnmatch.fnmatchcase(name, pattern) for patterns in rows for pattern in patterns)

    @property
    def coordinates(self) -> bool:
        """Tell whether there is an instruction for the coordinates of a component."""
        return self.maintenance or self.joint_matrix

    @property
    def takes_all(self) -> bool:
        """Tell whether modules with the words of Khronos' extensions are taken as they are."""
        return self.arithmetic and self.conversions and self.functions and self.small_floats and not self.joint_matrix


KHR = NativeProfile("khr")
# dg2 has subgroups of 8, later GPUs of 16.
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
            # Intel's compiler for GPUs. What it does not take, it does not survive: docs/backend.md.
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
