"""Matrices as composites: access to their components, arrays of matrices, and matrices as parameters of functions.

Small floats are moved only: SPIR-V has no arithmetic on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import Array
from coopmat.matrices.variants import ComponentType, MatrixType

from ..profile import SLOW, Profile
from ..writers import Parameter, Value, Variable, Writer
from .base import Case, Operation, Setting, of_matrices, type_cases


def sum_of(component: ComponentType, x: Array, y: Array) -> Array:
    """Return x + y; for small floats, which are moved only, return y."""
    return y if component.is_bits else numpy_reference.binary(component, "add", x, y)


def sum_of_scalars(w: Writer, component: ComponentType, x: Value, y: Value) -> Value:
    """Write the computation of `sum_of` for one component."""
    return y if component.is_bits else w.add_scalars(component, x, y)


def _sum_of_matrices(w: Writer, matrix: MatrixType, x: Value, y: Value) -> Value:
    return y if matrix.component.is_bits else w.binary("add", matrix, x, y)


# --- composite: read and write component by component


def _composite(component: ComponentType, x: Array, y: Array) -> dict[str, Array]:
    return {"out": sum_of(component, y, x)}


def _write_composite(setting: Setting, w: Writer) -> None:
    x, y, out = w.experiment.arguments
    matrix: MatrixType = setting.parameters
    source, target = w.declare(matrix, w.load(x)), w.declare(matrix, w.load(y))

    def add(i: Value) -> None:
        total = sum_of_scalars(w, matrix.component, w.component(target, i), w.component(source, i))
        w.set_component(target, i, total)

    w.each_component(matrix, add)
    w.store(out, w.read(target))


# --- composite_rvalue: read components of a copy, while the original changes


def _rvalue(component: ComponentType, x: Array, y: Array) -> dict[str, Array]:
    return {"out": sum_of(component, y, x), "changed": y}


def _write_rvalue(setting: Setting, w: Writer) -> None:
    x, y, out, changed = w.experiment.arguments
    matrix: MatrixType = setting.parameters
    original, other = w.declare(matrix, w.load(x)), w.declare(matrix, w.load(y))
    result = w.declare(matrix, w.constant(matrix, 0))

    def add(i: Value) -> None:
        copy = w.declare(matrix, w.read(original))
        w.set_component(original, i, w.component(other, i))
        total = sum_of_scalars(w, matrix.component, w.component(other, i), w.component(copy, i))
        w.set_component(result, i, total)

    w.each_component(matrix, add)
    w.store(out, w.read(result))
    w.store(changed, w.read(original))


# --- composite_array: access components of matrices in an array


def _array(component: ComponentType, x: Array, y: Array) -> dict[str, Array]:
    return {"out": sum_of(component, sum_of(component, y, x), y), "kept": x}


def _write_array(setting: Setting, w: Writer) -> None:
    """Write a kernel that adds matrices of an array to its third matrix, component by component.

    The array is {x, y, y}. An outer loop adds its first matrix, then its second: the result is y + x + y.
    """
    x, y, out, unchanged = w.experiment.arguments
    matrix: MatrixType = setting.parameters
    matrices = w.array(matrix, 3)
    first, second, third = (matrices(w.number(index)) for index in range(3))
    for variable, argument in ((first, x), (second, y), (third, y)):
        w.assign(variable, w.load(argument))

    def add_matrix(which: Value) -> None:
        def add(i: Value) -> None:
            term = w.component(matrices(which), i)
            w.set_component(third, i, sum_of_scalars(w, matrix.component, w.component(third, i), term))

        w.each_component(matrix, add)

    w.repeat(2, add_matrix)
    w.store(out, w.read(third))
    w.store(unchanged, w.read(first))


# --- func: pass matrices by value, by pointer, and as a result


def _functions(component: ComponentType, x: Array, y: Array) -> dict[str, Array]:
    total = sum_of(component, x, y)
    return {"out": total, "changed": sum_of(component, x, total)}


def _write_functions(setting: Setting, w: Writer) -> None:
    """Write a kernel with two functions.

    `sum` changes its copy of a parameter; `accumulate` changes the object of a pointer.
    """
    x, y, out, changed = w.experiment.arguments
    matrix: MatrixType = setting.parameters

    def add_to_own(parameters: Sequence[Variable]) -> Value:
        own, other = parameters
        w.assign(own, _sum_of_matrices(w, matrix, w.read(own), w.read(other)))
        return w.read(own)

    def add_to_pointee(parameters: Sequence[Variable]) -> None:
        target, other = parameters
        w.assign(target, total(w.read(target), w.read(other)))

    by_value = Parameter(matrix)
    total = w.function("sum", [by_value, by_value], matrix, add_to_own)
    accumulate = w.function("accumulate", [Parameter(matrix, pointer=True), by_value], None, add_to_pointee)
    variable = w.declare(matrix, w.load(x))
    result = total(w.read(variable), w.load(y))
    accumulate(variable, result)
    w.store(out, result)
    w.store(changed, w.read(variable))


# The most rows of components of less than 32 bits on slow routes. If a variable indexes such components, processors
# cannot keep them in vectors: in subgroups of 32, Intel's compiler takes a minute over 32 of them.
_MOST_NARROW = 16


def _array_cases(profile: Profile) -> Iterable[Case]:
    for case in type_cases(profile):
        matrix: MatrixType = case.parameters
        if profile.route not in SLOW or profile.exhaustive or matrix.component.bits > 16 or matrix.rows <= _MOST_NARROW:
            yield case


OPERATIONS = (
    Operation("composite", type_cases, of_matrices(_composite), _write_composite),
    Operation("composite_array", _array_cases, of_matrices(_array), _write_array),
    Operation("composite_rvalue", type_cases, of_matrices(_rvalue), _write_rvalue),
    Operation("func", type_cases, of_matrices(_functions), _write_functions),
)
