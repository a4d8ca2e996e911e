"""Functions of scalars, the operands of reductions and of operations on each component: each is said once, and then
written as OpenCL C and as SPIR-V by a `Writer`, and calculated by numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from coopmat.matrices import meaning
from coopmat.matrices.reference import Array
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType

UINT = COMPONENT_TYPES["u32"]
F32 = COMPONENT_TYPES["f32"]
V = TypeVar("V")


class Scalars(Protocol[V]):
    """The operations that a function of scalars consists of; `V` is an expression, the id of a result, or numbers.

    Integers wrap; what is calculated of small floats is calculated in float, and rounded once.
    """

    def number(self, component: ComponentType, value: int | float) -> V:
        """Return a constant, which the type can represent."""

    def binary(self, operator: str, component: ComponentType, x: V, y: V) -> V:
        """Return x `operator` y: add, sub, mul; of integers also and, xor, shift (of unsigned ones to the right)."""

    def builtin(self, name: str, component: ComponentType, *operands: V) -> V:
        """Return the result of an OpenCL builtin whose operands and result are all of the type."""

    def is_less(self, component: ComponentType, x: V, y: V) -> V:
        """Return the truth of x < y, for `select`."""

    def select(self, component: ComponentType, truth: V, x: V, y: V) -> V:
        """Return x where it is true, y otherwise."""

    def convert(self, source: ComponentType, to: ComponentType, x: V) -> V:
        """Convert an integer that all of the types can represent, up to rounding."""

    def item(self, pointer: Pointer, array: V, index: V) -> V:
        """Return an item of a pointer's array; the index is a uint."""


@dataclass(frozen=True)
class Pointer:
    """The type of a parameter that is a pointer to constant scalars in an address space."""

    component: ComponentType
    space: str = "global"


@dataclass(frozen=True)
class Function:
    """A function. `body` returns the result, of type `result`, given operations and the parameters' values. If it is a
    `builtin`, that one's name is the operand in OpenCL C; SPIR-V has no name for it, and gets a function that calls
    it."""

    name: str
    parameters: Sequence[ComponentType | Pointer]
    result: ComponentType
    body: Callable[..., Any]
    builtin: str = ""

    def value(self, *arguments: Array) -> Array:
        """Return the results for arrays of arguments, of one shape; for a pointer its one-dimensional array."""
        with np.errstate(all="ignore"):
            return np.asarray(self.body(Numbers(), *arguments), self.result.numpy)


def of_builtin(name: str, component: ComponentType, count: int = 2) -> Function:
    """Return the builtin of so many operands as a function."""
    return Function(name, [component] * count, component, lambda s, *x: s.builtin(name, component, *x), builtin=name)


# --- numpy

_BITWISE: dict[str, Any] = {"and": np.bitwise_and, "xor": np.bitwise_xor, "shift": np.right_shift}
_BUILTINS: dict[str, Any] = {"fmax": np.fmax, "fmin": np.fmin, "max": np.maximum, "min": np.minimum}


class Numbers(Scalars[Array]):
    """The operations on arrays, by `meaning`."""

    def number(self, component: ComponentType, value: int | float) -> Array:
        if component.is_integer:
            return np.array(value, component.numpy)
        return meaning.narrow(component, np.array(value, np.float64))

    def binary(self, operator: str, component: ComponentType, x: Array, y: Array) -> Array:
        if operator in _BITWISE:
            return np.asarray(_BITWISE[operator](x, y), component.numpy)
        return meaning.binary(component, operator, x, y)

    def builtin(self, name: str, component: ComponentType, *operands: Array) -> Array:
        return meaning.narrow(component, _BUILTINS[name](*(meaning.widen(component, x) for x in operands)))

    def is_less(self, component: ComponentType, x: Array, y: Array) -> Array:
        return np.asarray(meaning.widen(component, x) < meaning.widen(component, y))

    def select(self, component: ComponentType, truth: Array, x: Array, y: Array) -> Array:
        return np.where(truth, x, y)

    def convert(self, source: ComponentType, to: ComponentType, x: Array) -> Array:
        return meaning.convert(x, source, to)

    def item(self, pointer: Pointer, array: Array, index: Array) -> Array:
        return np.asarray(array[index])
