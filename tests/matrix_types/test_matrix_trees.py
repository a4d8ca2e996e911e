"""Expressions of matrix types as trees: how much one tree holds, and that what has more is calculated in parts."""

from __future__ import annotations

import pytest
from sema_support import good

import coopmat
from coopmat.frontend import typed
from coopmat.matrix_types import trees as matrix_trees
from coopmat.matrix_types.trees import MOST_LEAVES, ObjectLeaf

TYPES = "typedef int M __attribute__((matrix_type(2, 2)));\n"
PARAMETERS = "(global M *p, global int *f, M m, int n)"
# The expression; how many leaves it has.
LARGE = {
    "chain": (" + ".join(["m"] * 300), 300),
    "product": (" * ".join(["m"] * 150), 150),
    "loads": (" - ".join(["__builtin_matrix_column_major_load(f, 2, 2, n)"] * 200), 200),
    "scalars": ("m" + " * n + f[n]" * 100, 102),
    "to the right": ("p[n] - (" * 100 + "m" + ")" * 100, 101),
    "of chains": (" - ".join(["(" + " * ".join(["m"] * 20) + ")"] * 20), 400),
    "elements": ("__builtin_matrix_insert(" * 60 + "m" + ", n, 1, f[n])" * 60, 181),
    "rows": ("__builtin_matrix_insert_row(" * 60 + "m" + ", n, __builtin_matrix_row(p[n], n))" * 60, 181),
    "transposed": ("__builtin_matrix_transpose(" * 70 + "m + p[n])" + " + m)" * 69, 71),
}


def _value(text: str) -> typed.Expr:
    body = good(f"{TYPES}M f{PARAMETERS} {{ return {text}; }}").functions[-1].body
    assert body is not None
    statement = body.items[-1]
    assert isinstance(statement, typed.Return) and statement.value is not None
    return statement.value


def _leaves(e: typed.Expr) -> int:
    """Of the expression and of the trees within it; each tree is of a size that a function's parameters allow."""
    leaves = matrix_trees.expression(e).leaves
    assert len(leaves) <= MOST_LEAVES + 4
    inner = [
        leaf.expression for leaf in leaves if isinstance(leaf, ObjectLeaf) and matrix_trees.is_tree(leaf.expression)
    ]
    return len(leaves) - len(inner) + sum(map(_leaves, inner))


@pytest.mark.parametrize("name", LARGE)
def test_what_is_too_large_for_one_tree_becomes_several(name: str) -> None:
    text, count = LARGE[name]
    assert _leaves(_value(text)) == count


@pytest.mark.parametrize("text", ["m", "m + p[1] * m", "(m + m) * (m - m) + n", "__builtin_matrix_transpose(m * m)"])
def test_what_is_small_is_one_tree(text: str) -> None:
    e = _value(text)
    leaves = matrix_trees.expression(e).leaves
    assert not any(isinstance(leaf, ObjectLeaf) and matrix_trees.is_tree(leaf.expression) for leaf in leaves)


def test_large_expressions_compile() -> None:
    body = "".join(f"p[0] = {LARGE[name][0]};\n" for name in ("loads", "elements"))
    module = coopmat.compile(f"{TYPES}kernel void k(global M *p, global int *f, int n) {{ M m = p[1];\n{body}}}")
    assert module.opencl_c
    assert module.llvm_ir
