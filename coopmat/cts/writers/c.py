"""Kernels as OpenCL C. In what is written, `@` stands for the kernel's name, so that many fit into one program."""

from __future__ import annotations

import math
from collections.abc import Sequence

from coopmat.matrices.variants import ComponentType, Layout, MatrixType, Operands

from ..experiment import Argument, Experiment
from .base import KERNEL, Value, Writer

LAYOUTS = {
    Layout.ROW_MAJOR: "CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR",
    Layout.COLUMN_MAJOR: "CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR",
    Layout.PACKED: "CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED",
}
_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_OPERANDS = {
    Operands.A_SIGNED: "MATRIX_A_SIGNED",
    Operands.B_SIGNED: "MATRIX_B_SIGNED",
    Operands.C_SIGNED: "MATRIX_C_SIGNED",
    Operands.RESULT_SIGNED: "MATRIX_RESULT_SIGNED",
    Operands.SATURATING: "SATURATING_ACCUMULATION",
}


class CWriter(Writer):
    """`outside` stands before the kernel, `lines` in it; operations that only OpenCL C has write to them directly."""

    mode = "c"

    def __init__(self, experiment: Experiment, sub_group_size: int | None) -> None:
        super().__init__(experiment, sub_group_size)
        self.outside: list[str] = []
        self.lines: list[str] = []
        self._types: dict[MatrixType, str] = {}

    def text(self, kernel: str = KERNEL) -> str:
        parameters = ", ".join(self._parameter(argument) for argument in self.experiment.arguments)
        body = [f"    {line}" for line in self.lines]
        return "\n".join([*self.outside, f"kernel void @({parameters})", "{", *body, "}", ""]).replace("@", kernel)

    def _parameter(self, argument: Argument) -> str:
        const = "" if argument.is_output or argument.space == "constant" else "const "
        return f"{argument.space} {const}{self.pointee(argument)} *{argument.name}"

    @staticmethod
    def pointee(argument: Argument) -> str:
        width = argument.place.vector if argument.place is not None else 1
        return argument.component.opencl_c + (str(width) if width > 1 else "")

    def type(self, matrix: MatrixType) -> str:
        """The name of a matrix type."""
        if matrix not in self._types:
            name = self._types[matrix] = f"@_{matrix.use.letter}{len(self._types)}"
            use = f"CLK_COOPERATIVE_MATRIX_{matrix.use.name}"
            shape = f"CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, {matrix.rows}, {matrix.columns}, {use}"
            self.outside.append(f"typedef {matrix.component.opencl_c} {name} __attribute__((coop_mat({shape})));")
        return self._types[matrix]

    def variable(self, matrix: MatrixType, expression: str) -> Value:
        """A variable with this value."""
        name = f"m{len(self.lines)}"
        self.lines.append(f"{self.type(matrix)} {name} = {expression};")
        return name

    def address(self, argument: Argument) -> tuple[str, str, str]:
        """Pointer, layout and stride for a load or a store."""
        place = argument.place
        assert place is not None, argument
        pointee = 4 if place.vector == 3 else place.vector
        offset, stride = place.offset // pointee, place.stride // pointee
        return f"{argument.name} + {offset}", LAYOUTS[place.layout], str(stride)

    def load(self, argument: Argument) -> Value:
        assert argument.place is not None, argument
        return self.variable(argument.place.matrix, f"coop_mat_load({', '.join(self.address(argument))})")

    def store(self, argument: Argument, value: Value) -> None:
        pointer, layout, stride = self.address(argument)
        self.lines.append(f"coop_mat_store({pointer}, {value}, {layout}, {stride});")

    def constant(self, matrix: MatrixType, value: int | float) -> Value:
        return self.variable(matrix, f"coop_mat_init({literal(matrix.component, value)})")

    def binary(self, operator: str, matrix: MatrixType, x: Value, y: Value) -> Value:
        return self.variable(matrix, f"{x} {_OPERATORS[operator]} {y}")

    def negate(self, matrix: MatrixType, x: Value) -> Value:
        return self.variable(matrix, f"-{x}")

    def convert(self, matrix: MatrixType, to: ComponentType, x: Value) -> Value:
        result = MatrixType(to, matrix.rows, matrix.columns, matrix.use)
        return self.variable(result, f"({self.type(result)}){x}")

    def multiply_add(self, types: Sequence[MatrixType], a: Value, b: Value, c: Value, operands: Operands) -> Value:
        words = [word for bit, word in _OPERANDS.items() if bit in operands] or ["NONE"]
        mask = " | ".join(f"CLK_COOPERATIVE_MATRIX_OPERAND_{word}" for word in words)
        return self.variable(types[2], f"coop_mat_mulAdd({a}, {b}, {c}, {mask})")

    def store_length(self, argument: Argument, matrix: MatrixType) -> None:
        self.lines.append(f"{argument.name}[get_global_id(0)] = coop_mat_length({self.type(matrix)});")


def literal(component: ComponentType, value: int | float) -> str:
    """A constant expression with exactly this value; the component type can hold it."""
    if component.is_integer:
        if value == -(2**63):
            return "LONG_MIN"
        return f"({component.opencl_c}){int(value)}{'ul' if value >= 2**63 else 'l' if abs(value) >= 2**31 else ''}"
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return f"({component.opencl_c}){float(value).hex()}" + ("" if component.name == "f64" else "f")
