"""What the lowering asks of cooperative matrices; `native` and `by_reference` answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from llvmlite import ir

from ...diagnostics import CompileError, Diagnostic, Severity, Span
from ...frontend import typed
from ...frontend.types import CoopMatrixType
from ..type_map import MatrixStorage

if TYPE_CHECKING:
    from .context import FunctionContext
    from .places import MemoryPlace, Operand


@dataclass(frozen=True, slots=True)
class Memory:
    """Where a matrix is loaded from or stored to. `pointer` is to its component type, in its own address space;
    `stride` (i64) counts components; `layout` is SPIR-V's number, 2 for packed. `bounds`, of a checked access, are row,
    column, rows and columns, as i32: see `typed.MatrixBounds`."""

    pointer: ir.Value
    layout: int
    stride: ir.Value
    volatile: bool = False
    bounds: tuple[ir.Value, ir.Value, ir.Value, ir.Value] | None = None
    span: Span | None = None


def not_supported(what: str, span: Span | None) -> CompileError:
    return CompileError([Diagnostic(Severity.ERROR, "not-supported", f"{what} not supported yet", span)])


class Matrices(MatrixStorage, Protocol):
    """Operations on matrices. An Operand is a matrix's value, or the place that holds it where `in_memory` is true.

    Operand masks are SPIR-V's numbers. What a lowering cannot do is a CompileError with a place.
    """

    def load(self, ctx: FunctionContext, matrix: CoopMatrixType, memory: Memory) -> Operand: ...

    def store(self, ctx: FunctionContext, matrix: CoopMatrixType, memory: Memory, value: Operand) -> None: ...

    def fill(self, ctx: FunctionContext, matrix: CoopMatrixType, value: ir.Value) -> Operand: ...

    def length(self, ctx: FunctionContext, matrix: CoopMatrixType) -> ir.Value: ...

    def binary(self, ctx: FunctionContext, matrix: CoopMatrixType, op: str, left: Operand, right: Operand) -> Operand:
        """`op` is add, sub, mul or div."""
        ...

    def scale(self, ctx: FunctionContext, matrix: CoopMatrixType, value: Operand, scalar: ir.Value) -> Operand: ...

    def negate(self, ctx: FunctionContext, matrix: CoopMatrixType, value: Operand) -> Operand: ...

    def convert(self, ctx: FunctionContext, e: typed.MatrixConvert, value: Operand) -> Operand: ...

    def coordinates(self, ctx: FunctionContext, e: typed.MatrixCoordinates, index: ir.Value) -> ir.Value:
        """A <2 x i32>: row and column."""
        ...

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
