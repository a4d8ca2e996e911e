"""Functions of scalars, the operands of reductions and of operations on each component.

Each function is defined once. Writers translate it to OpenCL C and to SPIR-V, and numpy evaluates it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import Array, narrow, widen
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType

UINT = COMPONENT_TYPES["u32"]
F32 = COMPONENT_TYPES["f32"]
V = TypeVar("V")


class Scalars(Protocol[V]):
    """The operations from which a function of scalars is built.

    `V` is a C expression, the id of a SPIR-V result, or an array of numbers.
    Integers wrap. Operations on small floats are computed in float, and their result is rounded once.
    """

    def number(self, component: ComponentType, value: int | float) -> V:
        """Return the constant `value`, which the type can represent."""

    def binary(self, operator: str, component: ComponentType, x: V, y: V) -> V:
        """Return x `operator` y.

        The operators are add, sub and mul; for integers also and, xor and shift (to the right, of unsigned integers
        only).
        """

    def builtin(self, name: str, component: ComponentType, *operands: V) -> V:
        """Return the result of an OpenCL builtin whose operands and result all have the type `component`."""

    def is_less(self, component: ComponentType, x: V, y: V) -> V:
        """Return the truth value of x < y, an operand for `select`."""

    def select(self, component: ComponentType, truth: V, x: V, y: V) -> V:
        """Return x where `truth` is true, y elsewhere."""

    def convert(self, source: ComponentType, to: ComponentType, x: V) -> V:
        """Convert x, an integer in the range of both types, from `source` to `to`, with rounding if necessary."""

    def item(self, pointer: Pointer, array: V, index: V) -> V:
        """Load the item at `index`, a uint, of the array that `array` points to."""


@dataclass(frozen=True)
class Pointer:
    """The type of a pointer parameter: a pointer to constant scalars in the address space `space`."""

    component: ComponentType
    space: str = "global"


@dataclass(frozen=True)
class Function:
    """A function of scalars.

    body: given the operations and the parameters' values, it returns the result, of type `result`.
    builtin: the name of the OpenCL builtin with the same meaning, "" if there is none. OpenCL C names the builtin as
    the operand; SPIR-V has no name for a builtin and gets a function that calls it.
    """

    name: str
    parameters: Sequence[ComponentType | Pointer]
    result: ComponentType
    body: Callable[..., Any]
    builtin: str = ""

    def value(self, *arguments: Array) -> Array:
        """Evaluate the function with numpy for argument arrays of one shape.

        For a pointer parameter, the argument is the one-dimensional array that it points to.
        """
        with np.errstate(all="ignore"):
            return np.asarray(self.body(Numbers(), *arguments), self.result.numpy)


def of_builtin(name: str, component: ComponentType, count: int = 2) -> Function:
    """Return the OpenCL builtin `name` of `count` operands as a function."""
    return Function(name, [component] * count, component, lambda s, *x: s.builtin(name, component, *x), builtin=name)


# --- evaluation with numpy

_BITWISE: dict[str, Any] = {"and": np.bitwise_and, "xor": np.bitwise_xor, "shift": np.right_shift}
_BUILTINS: dict[str, Any] = {"fmax": np.fmax, "fmin": np.fmin, "max": np.maximum, "min": np.minimum}


class Numbers(Scalars[Array]):
    """The operations on numpy arrays, with the semantics of `coopmat.matrices.numpy_reference`."""

    def number(self, component: ComponentType, value: int | float) -> Array:
        if component.is_integer:
            return np.array(value, component.numpy)
        return narrow(component, np.array(value, np.float64))

    def binary(self, operator: str, component: ComponentType, x: Array, y: Array) -> Array:
        if operator in _BITWISE:
            return np.asarray(_BITWISE[operator](x, y), component.numpy)
        return numpy_reference.binary(component, operator, x, y)

    def builtin(self, name: str, component: ComponentType, *operands: Array) -> Array:
        return narrow(component, _BUILTINS[name](*(widen(component, x) for x in operands)))

    def is_less(self, component: ComponentType, x: Array, y: Array) -> Array:
        return np.asarray(widen(component, x) < widen(component, y))

    def select(self, component: ComponentType, truth: Array, x: Array, y: Array) -> Array:
        return np.where(truth, x, y)

    def convert(self, source: ComponentType, to: ComponentType, x: Array) -> Array:
        return numpy_reference.convert(x, source, to)

    def item(self, pointer: Pointer, array: Array, index: Array) -> Array:
        return np.asarray(array[index])
