"""The translation of canonical IR to the RFC's and Clang's dialect; `canonical` reads all of them back."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass

from ...matrices.placeholders import mangle_instruction
from ...matrices.variants import SCOPE_SUBGROUP, MatrixType
from .operations import MENTION, ROWS, TYPE, Row, matrix_of, read_name, stored_type
from .text import Argument, Call, Function, Instruction, Module, parse_call, quoted

_SPACES = {"0": "private", "1": "global", "2": "constant", "3": "local", "4": "generic"}
_FLOAT_RFC = {
    "FAdd": "BinaryAdd",
    "FSub": "BinarySub",
    "FMul": "BinaryMul",
    "FDiv": "BinaryDiv",
    "FNegate": "ScalarNeg",
}
_INTEGER_RFC = {
    "IAdd": "BinaryAdd",
    "ISub": "BinarySub",
    "IMul": "BinaryMul",
    "SDiv": "BinaryDiv",
    "SNegate": "ScalarNeg",
}
_RFC = {**_FLOAT_RFC, **_INTEGER_RFC, "UDiv": "BinaryUDiv", "ScalarMultiply": "ScalarMul"}
_CLANG = {"ScalarMultiply": "ScalarMulKHR", "FNegate": "ScalarNeg", "SNegate": "ScalarNeg"}
_INTEGER = re.compile(r"-?\d+")
_FLOATS = ("half", "bfloat", "float", "double")


def to_rfc_types(text: str) -> str:
    """Return text with canonical matrix types in the RFC's form: T, rows, columns, 0, use."""

    def swap(match: re.Match[str]) -> str:
        component, scope, rows, columns, use = match.groups()
        if scope != str(SCOPE_SUBGROUP):
            # The RFC's types have no scope.
            return match[0]
        return f'target("spirv.CooperativeMatrixKHR", {component}, {rows}, {columns}, 0, {use})'

    return TYPE.sub(swap, text) if MENTION in text else text


@dataclass(slots=True)
class _Operation:
    row: Row
    call: Call

    @property
    def matrices(self) -> list[MatrixType]:
        """Return the matrix types of the operands, or that of the result where no operand is a matrix."""
        types = [matrix_of(argument.type) for argument in self.call.arguments] or [None]
        operands = [matrix for matrix in types if matrix is not None]
        result = matrix_of(self.call.type)
        return operands or ([result] if result is not None else [])

    @property
    def has_own_name(self) -> bool:
        """Whether the dialects have a name for the operation.

        They have none for a pointee other than the component type, for rounding and saturation, and for changes of the
        use.
        """
        spelling = read_name(self.call.name)
        if spelling is None or spelling.mode or spelling.change:
            return False
        component = self.matrices[0].component
        own = (1, stored_type(component))
        return self.row.kind not in ("load", "store") or spelling.pointee == own


def write(module: Module, dialect: str) -> None:
    """Translate a canonical module in place; `dialect` is "khr", "rfc" or "clang"."""
    if dialect != "khr":
        _Writer(module, _DIALECTS[dialect]).run()
        if dialect == "rfc":
            module.map_text(to_rfc_types)


class _Writer:
    def __init__(self, module: Module, words: Callable[[_Operation], Call]) -> None:
        self.module, self.words = module, words
        # name -> types of the result and operands -> unique name with a number
        self.declared: dict[str, dict[tuple[str, ...], str]] = {}
        self.heads: list[Call] = []

    def run(self) -> None:
        operations = {h.name for h in self.module.declarations if _operation(h) is not None}
        declarations = [head for head in self.module.declarations if head.name not in operations]
        for function in self.module.functions:
            self.function(function)
        self.module.declarations = declarations + self.heads

    def function(self, function: Function) -> None:
        for block in function.blocks:
            pairs: list[tuple[Instruction, _Operation | None]] = []
            for item in block.instructions:
                call = parse_call(item.text) if "call" in item.text else None
                operation = _operation(call) if call is not None else None
                fill = _scaled_by(operation, pairs[-1] if pairs else None, function) if operation is not None else None
                if operation is not None and fill is not None:
                    pairs.pop()
                    operation = _Operation(ROWS["ScalarMultiply"], _scale(operation.call, fill))
                pairs.append((item, operation))
            for item, operation in pairs:
                if operation is not None:
                    item.text = str(self.declare(self.words(operation)))
            block.instructions = [item for item, _ in pairs]

    def declare(self, call: Call) -> Call:
        """Return the call with a declaration of its types; if the name is taken by other types, append a number."""
        types = (call.type, *(argument.type for argument in call.arguments))
        names = self.declared.setdefault(call.name, {})
        if types not in names:
            names[types] = call.name + (f".{len(names)}" if names else "")
            before = call.before.replace("call", "declare")
            arguments = [Argument(argument.type) for argument in call.arguments]
            attributes = " convergent nounwind"
            self.heads.append(Call(before, call.type, quoted("@", names[types]), arguments, attributes))
        return Call(call.before, call.type, quoted("@", names[types]), call.arguments, call.after)


def _operation(call: Call) -> _Operation | None:
    spelling = read_name(call.name)
    if spelling is None:
        return None
    first = matrix_of(call.type) or next((m for m in map(matrix_of, (a.type for a in call.arguments)) if m), None)
    row = spelling.row(first.component if first else None)
    return _Operation(row, call) if row is not None and first is not None else None


def _scaled_by(
    operation: _Operation, before: tuple[Instruction, _Operation | None] | None, function: Function
) -> Argument | None:
    """Return the scalar if the second factor is a fill by the instruction before that has no other use, else None."""
    if operation.row.instruction not in ("FMul", "IMul") or before is None or before[1] is None:
        return None
    name, fill = before[0].result or "", before[1]
    first, second = operation.call.arguments
    if fill.row.kind != "fill" or second.value != name or first.value == name:
        return None
    pattern = re.compile(re.escape(name) + r"(?![-\w.$])")
    uses = sum(len(pattern.findall(item.text)) for item in function.instructions())
    return fill.call.arguments[0] if uses == 1 else None


def _scale(call: Call, scalar: Argument) -> Call:
    return Call(call.before, call.type, call.callee, [call.arguments[0], scalar], call.after)


# --- in the form of the LLVM RFC -------------------------------------------------------------------------


def _rfc(operation: _Operation) -> Call:
    row, call = operation.row, operation.call
    arguments = list(call.arguments)
    if row.kind == "multiply-add":
        arguments[3] = _narrow(arguments[3], "i8")
    elif row.kind in ("load", "store"):
        at = 2 if row.kind == "load" else 3
        arguments[at] = _narrow(arguments[at], "i32")
    elif row.kind == "scale":
        arguments[1] = _as_integer(arguments[1])
    word = _RFC.get(row.instruction)
    name = mangle_instruction(f"CooperativeMatrix{word}" if word else row.instruction)
    if not operation.has_own_name:
        name = call.name
    return Call("call", call.type, f"@{name}", arguments, call.after)


def _narrow(argument: Argument, type_: str) -> Argument:
    """Return a constant in the RFC's narrower type if it fits; otherwise return the argument unchanged."""
    bits = int(type_[1:])
    if _INTEGER.fullmatch(argument.value) and 0 <= int(argument.value) < 1 << (bits - 1):
        return Argument(type_, argument.value)
    return argument


def _as_integer(argument: Argument) -> Argument:
    """Return a scalar that is a whole number as an i32 constant, as the RFC writes it; otherwise unchanged."""
    value: float | None = int(argument.value) if _INTEGER.fullmatch(argument.value) else None
    if argument.type in _FLOATS:
        value = _number(argument.value)
    if value is None or not -(2**31) <= value < 2**31 or value != int(value) or str(value) == "-0.0":
        return argument
    return Argument("i32", str(int(value)))


def _number(text: str) -> float | None:
    """Return the value of a floating-point constant as LLVM prints it; None for other text."""
    if re.fullmatch(r"-?\d+\.\d+(e[+-]?\d+)?", text):
        return float(text)
    match = re.fullmatch(r"(?:[fhb]?0x)([HR]?)([0-9A-Fa-f]+)", text)
    if match is None:
        return None
    bits = int(match[2], 16)
    if match[1] == "H":
        return float(struct.unpack("e", struct.pack("H", bits))[0])
    if match[1] == "R":
        return float(struct.unpack("f", struct.pack("I", bits << 16))[0])
    return float(struct.unpack("d", struct.pack("Q", bits))[0]) if len(match[2]) == 16 else None


# --- clang ---------------------------------------------------------------------------------------


def _clang(operation: _Operation) -> Call:
    row, call = operation.row, operation.call
    if not operation.has_own_name:
        return call
    word = _CLANG.get(row.instruction, row.instruction)
    if row.kind in ("binary", "negate", "scale", "convert"):
        word = f"CooperativeMatrix{word}"
    parts = [f"__spirv_{word}"]
    if row.kind in ("load", "store"):
        space = re.search(r"addrspace\((\d+)\)", call.arguments[0].type)
        parts.append(_SPACES.get(space[1] if space else "0", "private"))
    matrices = operation.matrices if row.kind in ("multiply-add", "convert") else operation.matrices[:1]
    result = matrix_of(call.type)
    if row.kind == "convert" and result is not None:
        matrices = [*matrices, result]
    parts += map(_clang_type, matrices)
    return Call(call.before, call.type, f"@{'_'.join(parts)}", call.arguments, call.after)


def _clang_type(matrix: MatrixType) -> str:
    component = matrix.component
    letter = "i" if component.is_integer else component.name.rstrip("0123456789")
    return f"{letter}{component.bits}_sc{matrix.scope}_{matrix.rows}x{matrix.columns}_u{int(matrix.use)}"


_DIALECTS: dict[str, Callable[[_Operation], Call]] = {"rfc": _rfc, "clang": _clang}
