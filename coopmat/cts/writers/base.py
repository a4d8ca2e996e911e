"""The interface of kernel writers, independent of the kernel's language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from coopmat.matrices.variants import ComponentType, MatrixType, Operands

from ..experiment import Argument, Experiment, Place, pattern
from ..functions import Function

# An expression of OpenCL C, or the id of a SPIR-V result.
Value = str
KERNEL = "test"


@dataclass(frozen=True)
class Variable:
    """A matrix in private memory.

    name: an lvalue of OpenCL C, or the id of a SPIR-V pointer.
    """

    matrix: MatrixType
    name: str


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function: a matrix passed by value, or a pointer to a matrix in private memory."""

    matrix: MatrixType
    pointer: bool = False


# A function that writes another function's statements: it gets a variable for each parameter, the function's own if it
# A function that writes the body of a kernel's function. It gets a variable for each parameter (a local copy, if the
# parameter is passed by value) and returns the result, or None.
Body = Callable[[Sequence[Variable]], "Value | None"]


def local_argument(name: str, place: Place) -> Argument:
    """Return an argument that describes an array in local memory with room for a matrix."""
    component = place.matrix.component
    return Argument(name, component, pattern(place.room, component), place=place, space="local")


class Writer(Protocol):
    """A writer of the kernel of one experiment, statement by statement.

    experiment: the experiment, whose arguments are the kernel's parameters.
    sub_group_size: in work-items; None if the device chooses.

    Methods that return a `Value` write the operation and return its result.
    """

    experiment: Experiment
    sub_group_size: int | None

    def __init__(self, experiment: Experiment, sub_group_size: int | None) -> None:
        self.experiment = experiment
        self.sub_group_size = sub_group_size

    def text(self, kernel: str = KERNEL) -> str:
        """Return the whole source, in which the kernel has the name `kernel`.

        In OpenCL C, sources with different kernel names can be concatenated: they share no other name.
        """

    # --- memory

    def load(self, argument: Argument) -> Value:
        """Load the matrix at the argument's place, and return it."""

    def store(self, argument: Argument, value: Value) -> None:
        """Store a matrix at the argument's place."""

    def local(self, name: str, place: Place) -> Argument:
        """Declare an array in local memory with room for the matrix of `place`, neither a parameter nor initialized."""

    def copy_components(self, source: Argument, target: Argument) -> None:
        """Copy a whole array, in local or global memory, to another of the same size.

        Each work-item copies some of the components.
        """

    def copy_array(self, source: Argument, target: Argument) -> None:
        """Copy a whole array in local memory to another, by the first work-item of the first subgroup alone."""

    def barrier(self) -> None:
        """Write a barrier of the work-group, with a fence for local memory."""

    # --- values

    def constant(self, matrix: MatrixType, value: int | float) -> Value:
        """Return a matrix whose components all are `value`, which the component type can represent."""

    def binary(self, operator: str, matrix: MatrixType, x: Value, y: Value) -> Value:
        """Return x `operator` y for matrices of one type; the operator is add, sub, mul or div."""

    def negate(self, matrix: MatrixType, x: Value) -> Value: ...

    def convert(self, source: MatrixType, target: MatrixType, x: Value) -> Value:
        """Return x converted to another component type, like a C cast, to another use, or both."""

    def transpose(self, source: MatrixType, target: MatrixType, x: Value) -> Value:
        """Return x transposed, and converted to the component type (like a C cast) and the use of `target`."""

    def multiply_add(self, types: Sequence[MatrixType], a: Value, b: Value, c: Value, operands: Operands) -> Value:
        """Return a b + c; `types` are those of A, B and the accumulator, `operands` is the instruction's mask."""

    # --- private memory

    def declare(self, matrix: MatrixType, value: Value) -> Variable:
        """Declare a variable that is initialized with `value`."""

    def array(self, matrix: MatrixType, count: int) -> Callable[[Value], Variable]:
        """Declare an array of `count` matrices, not initialized.

        Return a function from an index (of `repeat` or `number`) to the item.
        """

    def read(self, variable: Variable) -> Value: ...

    def assign(self, variable: Variable, value: Value) -> None: ...

    def component(self, variable: Variable, index: Value) -> Value:
        """Return the scalar at `index` of the components that this work-item holds."""

    def set_component(self, variable: Variable, index: Value, scalar: Value) -> None: ...

    def add_scalars(self, component: ComponentType, x: Value, y: Value) -> Value: ...

    # --- control flow

    def number(self, value: int) -> Value:
        """Return a constant index."""

    def repeat(self, count: int, body: Callable[[Value], None]) -> None:
        """Write a loop over the indices 0 to count - 1; `body` gets the index, and writes the statements once."""

    def each_component(self, matrix: MatrixType, body: Callable[[Value], None]) -> None:
        """Write a loop over the indices of the components that this work-item holds; `body` is as for `repeat`."""

    # --- functions

    def function(
        self, name: str, parameters: Sequence[Parameter], result: MatrixType | None, body: Body
    ) -> Callable[..., Value]:
        """Define a function, and return a Python function that writes a call and returns the call's result.

        The arguments of a call are variables for pointer parameters, and values for the others. If `result` is None,
        the function returns nothing.
        """

    # --- functions of scalars, as operands

    def map(self, matrix: MatrixType, function: Function, operands: Sequence[Value], further: Sequence[Value]) -> Value:
        """Return a matrix whose component (r, c) is the function of r, c, the operands' components there, `further`."""

    def build(self, matrix: MatrixType, function: Function, further: Sequence[Value]) -> Value:
        """Return a matrix whose component (r, c) is the function of r, c and the arguments `further`."""

    def reduce(self, source: MatrixType, target: MatrixType, how: int, function: Function, x: Value) -> Value:
        """Reduce x by a function of two components; the result has the type `target`.

        `how` selects the components that are combined: 1 those of a row, 2 of a column, 3 all, 4 each block of 2x2.
        """

    def scalar(self, argument: Argument, index: int, to: ComponentType) -> Value:
        """Load an item of a buffer, and return it converted to the type `to`; only integers may have another type."""

    def copied(self, argument: Argument, space: str) -> Argument:
        """Copy a buffer of scalars to an array of the kernel in local or private memory, and return the array.

        For other address spaces, return the buffer itself.
        """

    def pointer(self, argument: Argument) -> Value:
        """Return a pointer to the first item of a buffer, or of an array from `copied`."""

    # --- single statements

    def store_length(self, argument: Argument, matrix: MatrixType, offset: int) -> None:
        """Store the number of components that each work-item holds, a uint, at the index global id + `offset`."""
