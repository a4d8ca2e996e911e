"""The parts of SPV_KHR_cooperative_matrix that consumers of native modules support, one row each.

A row says what may remain unchanged; the rest is expressed by other instructions (`coopmat.spirv.native`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class NativeProfile:
    """One kind of consumer.

    `arithmetic` and `conversions`: instructions that work on all components of matrices; otherwise they are loops over
    the components that a work-item holds. `functions`: matrices, or pointers to them, as parameters and results;
    otherwise such functions are inlined. `small_floats`: components of such types; otherwise bfloat16 is integers of 16
    bits, interpreted by the multiply-add's operand of SPV_INTEL_joint_matrix, and others are refused. `coordinates`:
    the instruction of SPV_EXT_cooperative_matrix_maintenance1; otherwise that of SPV_INTEL_joint_matrix.
    """

    name: str
    arithmetic: bool = True
    conversions: bool = True
    functions: bool = True
    small_floats: bool = True
    coordinates: bool = True


KHR = NativeProfile("khr")
NATIVE_PROFILES: Mapping[str, NativeProfile] = MappingProxyType(
    {
        row.name: row
        for row in (
            KHR,
            # Intel's compiler for GPUs. What it does not take, it does not survive: docs/backend.md.
            NativeProfile(
                "igc", arithmetic=False, conversions=False, functions=False, small_floats=False, coordinates=False
            ),
        )
    }
)
