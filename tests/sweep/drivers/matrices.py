"""Matrices of both systems: their rows have no signatures; tests of their own run every operation by every route."""

from __future__ import annotations

from cases import Driver

DRIVERS = (
    Driver(
        "matrices",
        lambda o: o.name.startswith(("coop_mat_", "coop_matmul_")),
        covered_by="tests/matrices, tests/support/matrix_table",
    ),
    Driver(
        "matrix types",
        lambda o: o.name.startswith("__builtin_matrix_"),
        covered_by="tests/matrix_types, tests/support/random_matrices",
    ),
)
