"""IR types that llvmlite's ir layer does not have: target extension types and bfloat."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from ..frontend.types import CoopMatrixType


class BFloatType(ir.Type):  # type: ignore[misc]
    """`bfloat`; constants are given as numbers that it can represent."""

    null = "0.0"
    intrinsic_name = "bf16"

    def __str__(self) -> str:
        return "bfloat"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BFloatType)

    def __hash__(self) -> int:
        return hash(BFloatType)

    def format_constant(self, value: float) -> str:
        # LLVM reads the double's hexadecimal form for every narrower type that holds the value exactly.
        return str(ir.DoubleType().format_constant(value))


class CooperativeMatrixType(ir.Type):  # type: ignore[misc]
    """`target("spirv.CooperativeMatrixKHR", component, scope, rows, columns, use)`."""

    def __init__(self, component: ir.Type, matrix: CoopMatrixType) -> None:
        shape = f"{matrix.scope}, {matrix.rows}, {matrix.columns}, {int(matrix.use)}"
        self._text = f'target("spirv.CooperativeMatrixKHR", {component}, {shape})'

    def _to_string(self) -> str:
        return self._text

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, CooperativeMatrixType) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)
