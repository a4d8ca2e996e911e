"""Scalar builtin functions applied to matrices component by component (language reference, "Further operations")."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from ....diagnostics import Note
from ... import builtins, syntax, typed
from ...typed import Expr
from ...types import FLOAT, CoopMatrixType, ScalarType, Type, is_bits
from ..context import Context
from ..conversions import assign_convert
from ..hints import declared_here
from ..values import convert_arithmetic
from .types import refuse_narrow

# The sections of OpenCL C 3.0 whose functions work component by component: math, integer and common functions.
_SECTIONS = ("6.15.2", "6.15.3", "6.15.4")


def is_component_wise(name: str) -> bool:
    """Return whether arguments of the builtin may be matrices, at least for some component type."""
    row = builtins.find(name)
    return row is not None and row.supported and row.pure and row.section.startswith(_SECTIONS)


def values_with_matrices(
    c: Context,
    nodes: list[syntax.Expression],
    dependents: set[int],
    expected: Type | None,
    value: Callable[[syntax.Expression, Type | None], Expr],
) -> list[Expr]:
    """Return the arguments of a call of such a builtin.

    `dependents` are the numbers of the arguments whose matrix type depends on the context. They get the type of the
    other matrices, or the `expected` type if there are none.
    """
    order = sorted(range(len(nodes)), key=dependents.__contains__)
    matrix: Type | None = None
    values: dict[int, Expr] = {}

    def analyse(number: int) -> None:
        nonlocal matrix
        e = values[number] = value(nodes[number], (matrix or expected) if number in dependents else None)
        matrix = matrix or (e.type if isinstance(e.type, CoopMatrixType) else None)

    c.each(order, analyse)
    return [values[number] for number in range(len(nodes))]


def component_wise(c: Context, name: str, arguments: list[Expr], node: syntax.Call) -> Expr:
    """Analyse a call of builtin `name` with at least one matrix among its arguments."""
    matrix = next(a.type for a in arguments if isinstance(a.type, CoopMatrixType))
    if not is_component_wise(name):
        _refuse(c, name, matrix, len(arguments), node)
    refuse_narrow(c, matrix, f"'{name}'", node.span)
    for a in arguments:
        if isinstance(a.type, CoopMatrixType) and a.type != matrix:
            message = f"the matrices of '{name}' must have one type: '{matrix}' and '{a.type}' differ"
            c.fail("coop-mat-operand-types", message, a.span, notes=declared_here(a))
        if not isinstance(a.type, (CoopMatrixType, ScalarType)):
            message = f"with a matrix argument, '{name}' takes only matrices and scalars, not '{a.type}'"
            c.fail("coop-mat-builtin", message, a.span, notes=declared_here(a))
    component = matrix.component
    # Small floats, which are only stored, are computed in float.
    arithmetic = FLOAT if is_bits(component) else component
    overload = _overload(name, arithmetic, len(arguments))
    if overload is None:
        _refuse(c, name, matrix, len(arguments), node)
    if (missing := c.features.missing(overload.needs)) is not None:
        c.fail("extension-off", f"'{overload}' needs {missing}, which is off", node.callee.span)

    def operand(number: int, a: Expr) -> Expr:
        if isinstance(a.type, CoopMatrixType):
            return a
        # A scalar converts to a small float without a cast, as it does beside an operator.
        if is_bits(component):
            return convert_arithmetic(a, component)
        return assign_convert(c, a, component, a.span, f"argument {number} of '{name}'")

    operands = [operand(number, a) for number, a in enumerate(arguments, 1)]
    return typed.MatrixComponentWise(node.span, matrix, name, overload.lowering, overload.parameters, operands)


def _overload(name: str, component: ScalarType, count: int) -> builtins.Overload | None:
    """Return the overload whose parameters and result all have the component type, or None."""
    row = builtins.find(name)
    assert row is not None
    types = (component,) * count
    return next((o for o in builtins.overloads(row) if o.parameters == types and o.result == component), None)


def _refuse(c: Context, name: str, matrix: CoopMatrixType, count: int, node: syntax.Call) -> NoReturn:
    row = builtins.find(name)
    scalar = [o for o in builtins.overloads(row) if all(isinstance(t, ScalarType) for t in o.parameters)] if row else []
    notes = [Note(f"candidate: {overload}") for overload in scalar[:8]]
    if is_component_wise(name):
        message = f"no '{name}' with {count} parameters has only '{matrix.component}' parameters and result"
        notes.append(Note("use 'coop_mat_map' to apply a function of the program to each component"))
    else:
        message = f"'{name}' cannot be applied to cooperative matrices ('{matrix}')"
        notes = [Note("math, integer and common functions can, if their operands and result have one type")]
    c.fail("coop-mat-builtin", message, node.span, notes=notes)
