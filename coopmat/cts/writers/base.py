"""The interface of kernel writers, independent of the language of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from coopmat.matrices.variants import ComponentType, MatrixType, Operands

from ..experiment import Argument, Experiment, Place, pattern
from ..functions import Function

# An expression, or the id of a result.
Value = str
KERNEL = "test"


@dataclass(frozen=True)
class Variable:
    """A matrix in private memory: an lvalue, or a pointer's id."""

    matrix: MatrixType
    name: str


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function: a matrix by value, or a pointer to one in private memory."""

    matrix: MatrixType
    pointer: bool = False


# A function that writes another function's statements: it gets a variable for each parameter, the function's own if it
# was passed by value, and returns the function's result.
Body = Callable[[Sequence[Variable]], "Value | None"]


def local_argument(name: str, place: Place) -> Argument:
    """Return an argument that represents an array in local memory."""
    component = place.matrix.component
    return Argument(name, component, pattern(place.room, component), place=place, space="local")


class Writer(Protocol):
    """A `Writer` writes the kernel of one experiment, whose arguments are its parameters, statement by statement.

    `sub_group_size` is in work-items, None if the device chooses.
    """

    experiment: Experiment
    sub_group_size: int | None

    def __init__(self, experiment: Experiment, sub_group_size: int | None) -> None:
        self.experiment = experiment
        self.sub_group_size = sub_group_size

    def text(self, kernel: str = KERNEL) -> str:
        """Return the whole source, with the kernel of this name; sources with different names have no name in common
        (OpenCL C only)."""

    # --- memory

    def load(self, argument: Argument) -> Value:
        """Load the matrix at the argument's place."""

    def store(self, argument: Argument, value: Value) -> None:
        """Store a matrix at the argument's place."""

    def local(self, name: str, place: Place) -> Argument:
        """Declare an array in local memory, of the place's room; it is no parameter, and not initialised."""

    def copy_components(self, source: Argument, target: Argument) -> None:
        """Copy the whole of an array, local or global, to another of the same room: each work-item copies some."""

    def copy_array(self, source: Argument, target: Argument) -> None:
        """Copy the whole of an array in local memory to another: the first work-item of the first subgroup does it
        alone."""

    def barrier(self) -> None:
        """Write a barrier for local memory and the whole work-group."""

    # --- values

    def constant(self, matrix: MatrixType, value: int | float) -> Value:
        """Return a matrix whose every component is `value`, which the component type can represent."""

    def binary(self, operator: str, matrix: MatrixType, x: Value, y: Value) -> Value:
        """Write an operation; `operator`: add, sub, mul, div."""

    def negate(self, matrix: MatrixType, x: Value) -> Value: ...

    def convert(self, source: MatrixType, target: MatrixType, x: Value) -> Value:
        """Convert to another component type, like a C cast, to another use, or both."""

    def transpose(self, source: MatrixType, target: MatrixType, x: Value) -> Value:
        """Exchange rows and columns; convert to the component type of `target`, like a C cast, and to its use."""

    def multiply_add(self, types: Sequence[MatrixType], a: Value, b: Value, c: Value, operands: Operands) -> Value:
        """Write a multiply-add; `types` are those of A, B and the accumulator; the mask is written unchanged."""

    # --- private memory

    def declare(self, matrix: MatrixType, value: Value) -> Variable:
        """Declare a variable that holds `value`."""

    def array(self, matrix: MatrixType, count: int) -> Callable[[Value], Variable]:
        """Declare an array, not initialised; return a function from an index, of `repeat` or `number`, to the item."""

    def read(self, variable: Variable) -> Value: ...

    def assign(self, variable: Variable, value: Value) -> None: ...

    def component(self, variable: Variable, index: Value) -> Value:
        """Return one of this work-item's components: a scalar."""

    def set_component(self, variable: Variable, index: Value, scalar: Value) -> None: ...

    def add_scalars(self, component: ComponentType, x: Value, y: Value) -> Value: ...

    # --- control flow

    def number(self, value: int) -> Value:
        """Return a constant index."""

    def repeat(self, count: int, body: Callable[[Value], None]) -> None:
        """Write a loop for 0 to count - 1: `body` writes its statements once, and gets the index."""

    def each_component(self, matrix: MatrixType, body: Callable[[Value], None]) -> None:
        """Write the same for every index of this work-item's components of a matrix of this type."""

    # --- functions

    def function(
        self, name: str, parameters: Sequence[Parameter], result: MatrixType | None, body: Body
    ) -> Callable[..., Value]:
        """Define a function; return a function that writes a call of it, without a result if `result` is None. Its
        arguments are variables for the parameters that are pointers, values for the others."""

    # --- functions of scalars, as operands

    def map(self, matrix: MatrixType, function: Function, operands: Sequence[Value], further: Sequence[Value]) -> Value:
        """Return a matrix whose component in row r, column c is the function of r, c, the operands' components there,
        and `further` arguments."""

    def build(self, matrix: MatrixType, function: Function, further: Sequence[Value]) -> Value:
        """Return the same of no operands."""

    def reduce(self, source: MatrixType, target: MatrixType, how: int, function: Function, x: Value) -> Value:
        """Combine components by a function of two: `how` 1 those of a row, 2 of a column, 3 all, 4 blocks of 2x2."""

    def scalar(self, argument: Argument, index: int, to: ComponentType) -> Value:
        """Return an item of a buffer as an argument of type `to`: converted, if it is an integer of another type."""

    def copied(self, argument: Argument, space: str) -> Argument:
        """Copy a buffer of scalars to an array of the kernel's in local or private memory, and return that; the buffer
        itself for other spaces."""

    def pointer(self, argument: Argument) -> Value:
        """Return a pointer to the first item of a buffer, or of an array of the kernel's."""

    # --- pieces

    def store_length(self, argument: Argument, matrix: MatrixType, offset: int) -> None:
        """Store each work-item's number of components, a 32-bit integer, `offset` integers behind its global id."""
