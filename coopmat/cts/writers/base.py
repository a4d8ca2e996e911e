"""What an operation's kernel is made of, apart from the language that it is written in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from coopmat.matrices.variants import ComponentType, MatrixType, Operands

from ..experiment import Argument, Experiment

# An expression, or the id of a result.
Value = str
KERNEL = "test"


class Writer(ABC):
    """Writes the kernel of one experiment, whose arguments are its parameters, statement by statement.

    `sub_group_size` is in work-items, None where the device chooses.
    """

    mode: str

    def __init__(self, experiment: Experiment, sub_group_size: int | None) -> None:
        self.experiment = experiment
        self.sub_group_size = sub_group_size

    @abstractmethod
    def text(self, kernel: str = KERNEL) -> str:
        """The whole source, with the kernel of this name; so named, several have no name in common (OpenCL C only)."""

    # --- memory

    @abstractmethod
    def load(self, argument: Argument) -> Value:
        """The matrix at the argument's place."""

    @abstractmethod
    def store(self, argument: Argument, value: Value) -> None:
        """At the argument's place."""

    # --- values

    @abstractmethod
    def constant(self, matrix: MatrixType, value: int | float) -> Value:
        """Every component is `value`, which the component type can hold."""

    @abstractmethod
    def binary(self, operator: str, matrix: MatrixType, x: Value, y: Value) -> Value:
        """`operator`: add, sub, mul, div."""

    @abstractmethod
    def negate(self, matrix: MatrixType, x: Value) -> Value: ...

    @abstractmethod
    def convert(self, matrix: MatrixType, to: ComponentType, x: Value) -> Value:
        """From `matrix` to the same shape and use of `to`, as by a C cast."""

    @abstractmethod
    def multiply_add(self, types: Sequence[MatrixType], a: Value, b: Value, c: Value, operands: Operands) -> Value:
        """`types` are those of A, B and the accumulator; the mask is given as it is."""

    # --- pieces

    @abstractmethod
    def store_length(self, argument: Argument, matrix: MatrixType) -> None:
        """Each work-item's number of components at its global id in the argument, 32-bit integers."""
