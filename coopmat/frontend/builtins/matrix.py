"""Cooperative-matrix functions: rows for names and documentation only.

Their signatures depend on matrix types and on constants, so semantic analysis checks and types the calls itself
(`typed.MatrixLoad` and its siblings); `T` here is a component type, `M` a matrix type.
"""

from __future__ import annotations

from .conversions import ROUNDINGS
from .rows import Builtin

SECTION = "cl_khr_cooperative_matrix"

#: The conversions by name: how each rounds ("": as a cast does), and whether it saturates.
CONVERSIONS: dict[str, tuple[str, bool]] = {
    f"coop_mat_convert{'_sat' * saturate}{'_' * bool(rounding)}{rounding}": (rounding, saturate)
    for saturate in (False, True)
    for rounding in ("", *ROUNDINGS)
}
_BOUNDS = "uint row, uint column, uint rows, uint columns"

#: Every name with its signature.
DOCUMENTED: dict[str, str] = {
    "coop_mat_load": "M coop_mat_load(const T *p, coop_matrix_layout_t layout, size_t stride)",
    "coop_mat_store": "void coop_mat_store(T *p, M m, coop_matrix_layout_t layout, size_t stride)",
    "coop_mat_mulAdd": "C coop_mat_mulAdd(A a, B b, C c[, coop_matrix_operands_t operands])",
    "coop_matmul_add": "C coop_matmul_add(A a, B b, C c[, coop_matrix_operands_t operands])",
    "coop_mat_init": "M coop_mat_init(T x)",
    "coop_mat_length": "uint coop_mat_length(M)",
    **{name: f"M2 {name}(M m)" for name in CONVERSIONS},
    "coop_mat_coord": "uint2 coop_mat_coord(M, uint i)",
    "coop_mat_load_checked": (
        f"M coop_mat_load_checked(const T *p, coop_matrix_layout_t layout, size_t stride, {_BOUNDS})"
    ),
    "coop_mat_store_checked": (
        f"void coop_mat_store_checked(T *p, M m, coop_matrix_layout_t layout, size_t stride, {_BOUNDS})"
    ),
}

TABLE = tuple(Builtin(name, (), SECTION, lowering="analysis", convergent=True) for name in DOCUMENTED)
