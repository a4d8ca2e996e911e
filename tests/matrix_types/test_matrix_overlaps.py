"""What an assignment to a matrix may read while it stores."""

from __future__ import annotations

import pytest

import coopmat
from coopmat.frontend import typed
from coopmat.matrix_types import Overlaps, trees as matrix_trees

SOURCE = """
typedef float m __attribute__((matrix_type(4, 4)));
struct pair {{ m first, second; }};
union both {{ m one; float all[16]; }};
kernel void k(global m *g, global m *h, global m *restrict r, constant m *c, local m *l)
{{
    m a = *g, b = a, taken = a, array[2] = {{ a, b }};
    struct pair s = {{ a, b }};
    union both u = {{ a }};
    m *p = &taken, *q = array;
    local m shared, other;
    global m *moved = g;
    {statement}
}}
"""


@pytest.mark.parametrize(
    ("statement", "separate"),
    [
        ("a = b * b;", True),
        ("a = a * b;", False),
        ("a = *g * *h;", True),
        ("a = *p * b;", True),
        ("taken = *p * b;", False),
        ("taken = a * b;", True),
        ("*p = a * b;", True),
        ("*p = array[0] * b;", False),
        ("*q = *p * b;", False),
        ("array[0] = array[1] * a;", False),
        ("s.first = s.second * a;", False),
        ("s.first = a * b;", True),
        ("u.one = a * u.one;", False),
        ("*g = *h * a;", False),
        ("*g = *c * *l;", True),
        ("*g = *r * a;", True),
        ("r[1] = *h * *g;", True),
        ("r[1] = r[0] * a;", False),
        ("*r = *moved * a;", False),
        ("*moved = *h * a;", False),
        ("shared = other * a;", True),
        ("shared = *l * a;", False),
        ("*l = shared * a;", False),
        ("a = (m)1 + 2;", True),
        ("g[0] = __builtin_matrix_column_major_load((global float *)g, 4, 4) * a;", False),
        ("a = __builtin_matrix_column_major_load((private float *)&b, 4, 4) * a;", False),
        ("*g = (m)(true ? *g : a) * b;", True),
    ],
)
def test_what_overlaps(statement: str, separate: bool) -> None:
    unit = coopmat.compile(SOURCE.format(statement=statement)).unit
    (function,) = unit.kernels
    assert function.body is not None
    last = function.body.items[-1]
    assert isinstance(last, typed.ExprStmt) and isinstance(last.expr, typed.Assign)
    target, value = last.expr.target, last.expr.value
    leaves = matrix_trees.expression(value).leaves
    assert Overlaps(function).separate(matrix_trees.ObjectLeaf(target), leaves) is separate


def test_a_pointer_that_was_assigned_may_lead_where_another_does() -> None:
    statement = "h = r; *h = *r * a;"
    unit = coopmat.compile(SOURCE.format(statement=statement)).unit
    (function,) = unit.kernels
    assert function.body is not None
    last = function.body.items[-1]
    assert isinstance(last, typed.ExprStmt) and isinstance(last.expr, typed.Assign)
    leaves = matrix_trees.expression(last.expr.value).leaves
    assert not Overlaps(function).separate(matrix_trees.ObjectLeaf(last.expr.target), leaves)
