"""Cooperative-matrix functions: rows for names and documentation only.

Their signatures depend on matrix types and on constants, so semantic analysis checks and types the calls itself
(`typed.MatrixLoad` and its siblings); `T` here is a component type, `M` a matrix type.
"""

from __future__ import annotations

from .rows import NOT_YET, SUPPORTED, Builtin

SECTION = "cl_khr_cooperative_matrix"

_SIGNATURES = {
    "coop_mat_load": ("M coop_mat_load(const T *, coop_matrix_layout_t, size_t)", SUPPORTED),
    "coop_mat_store": ("void coop_mat_store(T *, M, coop_matrix_layout_t, size_t)", SUPPORTED),
    "coop_mat_mulAdd": ("C coop_mat_mulAdd(A, B, C[, coop_matrix_operands_t])", SUPPORTED),
    "coop_matmul_add": ("C coop_matmul_add(A, B, C[, coop_matrix_operands_t])", SUPPORTED),
    "coop_mat_init": ("M coop_mat_init(T)", SUPPORTED),
    "coop_mat_length": ("uint coop_mat_length(M)", SUPPORTED),
    "coop_mat_convert": ("M2 coop_mat_convert(M)", NOT_YET),
    "coop_mat_convert_sat": ("M2 coop_mat_convert_sat(M)", NOT_YET),
    "coop_mat_convert_rte": ("M2 coop_mat_convert_rte(M)", NOT_YET),
    "coop_mat_convert_rtz": ("M2 coop_mat_convert_rtz(M)", NOT_YET),
    "coop_mat_convert_rtp": ("M2 coop_mat_convert_rtp(M)", NOT_YET),
    "coop_mat_convert_rtn": ("M2 coop_mat_convert_rtn(M)", NOT_YET),
    "coop_mat_coord": ("uint2 coop_mat_coord(M, uint)", NOT_YET),
    "coop_mat_load_checked": (
        "M coop_mat_load_checked(const T *, coop_matrix_layout_t, size_t, uint, uint, uint, uint)",
        NOT_YET,
    ),
    "coop_mat_store_checked": (
        "void coop_mat_store_checked(T *, M, coop_matrix_layout_t, size_t, uint, uint, uint, uint)",
        NOT_YET,
    ),
}

TABLE = tuple(
    Builtin(name, (), SECTION, status, "analysis", convergent=True) for name, (_, status) in _SIGNATURES.items()
)
DOCUMENTED = {name: text for name, (text, _) in _SIGNATURES.items()}
