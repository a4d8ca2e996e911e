"""What the lowering asks of cooperative matrices; `native` and `by_reference` answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from llvmlite import ir

from ...frontend import typed
from ...frontend.types import CoopMatrixType
from ..type_map import MatrixStorage

if TYPE_CHECKING:
    from .context import FunctionContext
    from .places import MemoryPlace, Operand


class Matrices(MatrixStorage, Protocol):
    """Operations on matrices. An Operand is a matrix's value, or the place that holds it where `in_memory` is true.

    Strides count components; layouts and operand masks are SPIR-V's numbers.
    """

    def load(
        self, ctx: FunctionContext, matrix: CoopMatrixType, pointer: ir.Value, layout: int, stride: ir.Value
    ) -> Operand: ...

    def store(
        self,
        ctx: FunctionContext,
        matrix: CoopMatrixType,
        pointer: ir.Value,
        value: Operand,
        layout: int,
        stride: ir.Value,
    ) -> None: ...

    def fill(self, ctx: FunctionContext, matrix: CoopMatrixType, value: ir.Value) -> Operand: ...

    def length(self, ctx: FunctionContext, matrix: CoopMatrixType) -> ir.Value: ...

    def binary(self, ctx: FunctionContext, matrix: CoopMatrixType, op: str, left: Operand, right: Operand) -> Operand:
        """`op` is add, sub, mul or div."""
        ...

    def scale(self, ctx: FunctionContext, matrix: CoopMatrixType, value: Operand, scalar: ir.Value) -> Operand: ...

    def negate(self, ctx: FunctionContext, matrix: CoopMatrixType, value: Operand) -> Operand: ...

    def convert(
        self, ctx: FunctionContext, source: CoopMatrixType, target: CoopMatrixType, value: Operand
    ) -> Operand: ...

    def multiply_add(
        self, ctx: FunctionContext, e: typed.MatrixMulAdd, a: Operand, b: Operand, c: Operand
    ) -> Operand: ...

    def get(self, ctx: FunctionContext, matrix: CoopMatrixType, variable: ir.Value, index: ir.Value) -> ir.Value: ...

    def set(
        self, ctx: FunctionContext, matrix: CoopMatrixType, variable: ir.Value, index: ir.Value, value: ir.Value
    ) -> None: ...

    def copy(self, ctx: FunctionContext, matrix: CoopMatrixType, target: MemoryPlace, source: MemoryPlace) -> None:
        """Only where matrices are `in_memory`."""
        ...

    def substitute(self, ctx: FunctionContext, e: typed.BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
        """What a subgroup builtin gives where the lowering changes what a subgroup is; None: call the builtin."""
        ...
