"""The values of integer constants; specialisation constants have their default values."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...spirv.module import OP, OPCODES, Instruction, MalformedModule, numbers
from ...spirv.refusal import Refused, label

_SPECIALISED = frozenset(numbers("OpSpec*", "Constant ConstantTrue ConstantFalse ConstantOp"))


def _shift_left(a: int, b: int) -> int:
    return a << min(b, 64)


def _divide(a: int, b: int) -> int:
    """Return the quotient rounded towards zero; 0 if the result is undefined."""
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _remainder(a: int, b: int) -> int:
    """Return the remainder with the sign of a; a if b is 0."""
    return a - b * _divide(a, b)


def _modulo(a: int, b: int) -> int:
    """Return the remainder with the sign of b; 0 if b is 0."""
    return a % b if b else 0


_Row = tuple[bool, Callable[..., int]]
# instruction -> (whether its operands are signed, function that computes the result)
_FOLDS: Mapping[str, _Row] = {
    "OpIAdd": (False, lambda a, b: a + b),
    "OpISub": (False, lambda a, b: a - b),
    "OpIMul": (False, lambda a, b: a * b),
    "OpSDiv": (True, _divide),
    "OpUDiv": (False, _divide),
    "OpSRem": (True, _remainder),
    "OpSMod": (True, _modulo),
    "OpUMod": (False, _remainder),
    "OpSNegate": (False, lambda a: -a),
    "OpNot": (False, lambda a: ~a),
    "OpBitwiseAnd": (False, lambda a, b: a & b),
    "OpBitwiseOr": (False, lambda a, b: a | b),
    "OpBitwiseXor": (False, lambda a, b: a ^ b),
    "OpShiftLeftLogical": (False, _shift_left),
    "OpShiftRightLogical": (False, lambda a, b: a >> b),
    "OpShiftRightArithmetic": (True, lambda a, b: a >> b),
    "OpUConvert": (False, lambda a: a),
    "OpSConvert": (True, lambda a: a),
    "OpIEqual": (False, lambda a, b: a == b),
    "OpINotEqual": (False, lambda a, b: a != b),
    "OpULessThan": (False, lambda a, b: a < b),
    "OpSLessThan": (True, lambda a, b: a < b),
    "OpULessThanEqual": (False, lambda a, b: a <= b),
    "OpSLessThanEqual": (True, lambda a, b: a <= b),
    "OpUGreaterThan": (False, lambda a, b: a > b),
    "OpSGreaterThan": (True, lambda a, b: a > b),
    "OpUGreaterThanEqual": (False, lambda a, b: a >= b),
    "OpSGreaterThanEqual": (True, lambda a, b: a >= b),
    "OpLogicalAnd": (False, lambda a, b: a and b),
    "OpLogicalOr": (False, lambda a, b: a or b),
    "OpLogicalNot": (False, lambda a: not a),
    "OpLogicalEqual": (False, lambda a, b: a == b),
    "OpLogicalNotEqual": (False, lambda a, b: a != b),
    "OpSelect": (False, lambda a, b, c: b if a else c),
}


class Constants:
    """The integer constants of one module; `specialised` collects the specialisation constants that were evaluated."""

    def __init__(self, definitions: Mapping[int, Instruction]) -> None:
        self.definitions = definitions
        self.specialised: set[int] = set()
        self._folded: dict[int, int] = {}

    def value(self, constant: int) -> int:
        """Return an integer as unsigned, or a boolean as 0 or 1. Raises Refused if the id is no such constant."""
        item = self.definitions[constant]
        if item.opcode in _SPECIALISED:
            self.specialised.add(constant)
        match item.name:
            case "OpConstant" | "OpSpecConstant":
                words = item.operands
                return sum(word << 32 * n for n, word in enumerate(words)) & ((1 << self._bits(item)) - 1)
            case "OpConstantNull" | "OpConstantFalse" | "OpSpecConstantFalse":
                return 0
            case "OpConstantTrue" | "OpSpecConstantTrue":
                return 1
            case "OpSpecConstantOp":
                if constant not in self._folded:
                    self._folded[constant] = self._fold(item)
                return self._folded[constant]
        raise Refused("spirv-operation", f"{label(item)} is not a constant, and one is needed")

    def _bits(self, item: Instruction) -> int:
        """Return the width of a value's integer type in bits; 1 for booleans. Raises Refused for other types."""
        kind = self.definitions[item.result_type or 0]
        if kind.opcode not in (OP["OpTypeInt"], OP["OpTypeBool"]):
            raise Refused("spirv-operation", f"{label(item)} is not an integer, and one is needed")
        bits = kind.operands[0] if kind.operands else 1
        if bits > 64:
            raise Refused("spirv-not-supported", f"{label(item)} is an integer of {bits} bits")
        return bits

    def _fold(self, item: Instruction) -> int:
        if not item.operands or item.operands[0] not in OPCODES:
            raise MalformedModule(f"{label(item)} has no operation")
        name = OPCODES[item.operands[0]].name
        row = _FOLDS.get(name)
        if row is None:
            raise Refused("spirv-not-supported", f"{label(item)}: the value of {name} is not computed here")
        signed, fold = row
        operands = []
        for operand in item.operands[1:]:
            value, bits = self.value(operand), self._bits(self.definitions[operand])
            operands.append(value - (1 << bits) if signed and value >> bits - 1 else value)
        return int(fold(*operands)) & ((1 << self._bits(item)) - 1)
