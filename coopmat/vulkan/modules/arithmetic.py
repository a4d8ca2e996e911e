"""Expressions of scalars and vectors, whose result types follow from their operands."""

from __future__ import annotations

import struct

from ...spirv.module import ENUM, Instruction, numbers
from .code import Code
from .pointers import VECTOR

_FLOAT, _STRUCT, _MATRIX = numbers("OpType*", "Float Struct CooperativeMatrixKHR")
# FPFastMathMode AllowRecip, which has no meaning for sums and products. `library.link` adds it as the flag arcp.
EXACT = ENUM["Decoration.FPFastMathMode"], 8
_PACK = {16: "<e", 32: "<f", 64: "<d"}


class Arithmetic:
    """A writer of expressions: methods append instructions to `code` and return ids of values.

    glsl: the id of GLSL.std.450.
    """

    def __init__(self, code: Code, glsl: int) -> None:
        self.code, self.glsl = code, glsl
        self.globals, self.definitions = code.parts.globals, code.parts.definitions

    # --- types

    def scalar(self, type_id: int) -> int:
        """Return the type of the components of a vector or matrix, or a scalar type itself."""
        kind = self.definitions[type_id]
        return kind.operands[0] if kind.opcode in (VECTOR, _MATRIX) else type_id

    def bits(self, value: int) -> int:
        """Return the width of a value's components."""
        return self.definitions[self.scalar(self.code.type_of(value))].operands[0]

    def width(self, type_id: int) -> int:
        kind = self.definitions[type_id]
        return kind.operands[1] if kind.opcode == VECTOR else 1

    def like(self, type_id: int, scalar: int) -> int:
        """Return the type with components of type `scalar` and as many components as `type_id`."""
        count = self.width(type_id)
        return self.globals.intern("OpTypeVector", scalar, count) if count > 1 else scalar

    def is_float(self, value: int) -> bool:
        return self.definitions[self.scalar(self.code.type_of(value))].opcode == _FLOAT

    def integers(self, type_id: int, bits: int | None = None) -> int:
        """Return the type of as many integers, of `bits` bits or as wide as the components."""
        bits = bits or self.definitions[self.scalar(type_id)].operands[0]
        return self.like(type_id, self.globals.integer(bits))

    # --- constants

    def constant(self, type_id: int, value: float) -> int:
        """Return a constant; for a vector type, all components have the value."""
        scalar = self.scalar(type_id)
        bits = self.definitions[scalar].operands[0]
        if self.definitions[scalar].opcode == _FLOAT:
            words = int.from_bytes(struct.pack(_PACK[bits], value), "little")
        else:
            words = int(value) & ((1 << bits) - 1)
        parts = tuple(words >> shift & 0xFFFFFFFF for shift in range(0, bits, 32))
        one = self.globals.intern("OpConstant", *parts, result_type=scalar)
        count = self.width(type_id)
        return self.globals.intern("OpConstantComposite", *[one] * count, result_type=type_id) if count > 1 else one

    def same(self, value: int, number: float) -> int:
        """Return a constant of the type of `value`."""
        return self.constant(self.code.type_of(value), number)

    # --- instructions

    def op(self, name: str, *operands: int) -> int:
        """Append an instruction whose result has the first operand's type."""
        return self.code.add(name, self.code.type_of(operands[0]), *operands)

    def exact(self, name: str, *operands: int) -> int:
        """Append a sum, difference or product that drivers must not change: `declarations` marks it NoContraction."""
        result = self.op(name, *operands)
        self.code.parts.decorate(result, [EXACT])
        return result

    def test(self, name: str, *operands: int) -> int:
        """Append a comparison, which returns a truth value for each component."""
        bool_ = self.globals.intern("OpTypeBool")
        return self.code.add(name, self.like(self.code.type_of(operands[0]), bool_), *operands)

    def select(self, condition: int, yes: int, no: int) -> int:
        return self.code.add("OpSelect", self.code.type_of(yes), condition, yes, no)

    def call(self, number: int, *operands: int, type_id: int | None = None) -> int:
        """Append an instruction of GLSL.std.450."""
        result = type_id or self.code.type_of(operands[0])
        return self.code.add("OpExtInst", result, self.glsl, number, *operands)

    def cast(self, value: int, type_id: int) -> int:
        """Return the same bits as a value of another type."""
        return value if self.code.type_of(value) == type_id else self.code.add("OpBitcast", type_id, value)

    def convert(self, name: str, value: int, bits: int) -> int:
        """Convert integers to integers of `bits` bits by OpSConvert or OpUConvert."""
        return (
            value
            if self.bits(value) == bits
            else self.code.add(name, self.integers(self.code.type_of(value), bits), value)
        )

    def as_integers(self, value: int) -> int:
        """Return the bits of floating-point values."""
        return self.cast(value, self.integers(self.code.type_of(value)))

    def shift(self, name: str, value: int, count: int) -> int:
        return self.op(name, value, self.same(value, count))

    def negative(self, value: int) -> int:
        """Test whether signed integers are negative."""
        return self.test("OpSLessThan", value, self.same(value, 0))

    # --- functions that several files need

    def mul_high(self, a: int, b: int, signed: bool) -> int:
        """Return the upper half of the product of integers."""
        bits, extend = self.bits(a), "OpSConvert" if signed else "OpUConvert"
        if bits <= 16:
            wide = [self.convert(extend, value, 32) for value in (a, b)]
            product = self.op("OpIMul", *wide)
            high = self.shift("OpShiftRightArithmetic" if signed else "OpShiftRightLogical", product, bits)
            return self.convert("OpUConvert", high, bits)
        type_id = self.code.type_of(a)
        pair = self.pair(type_id)
        both = self.code.add("OpSMulExtended" if signed else "OpUMulExtended", pair, a, b)
        return self.code.add("OpCompositeExtract", type_id, both, 1)

    def pair(self, type_id: int) -> int:
        """Return a struct type with two members of a type."""
        return self.globals.add(Instruction(_STRUCT, (type_id, type_id), None, self.code.parts.module.new_id()))

    def leading_zeros(self, value: int) -> int:
        """Return the number of leading zeros of integers."""
        bits = self.bits(value)
        if bits < 32:
            wide = self.leading_zeros(self.convert("OpUConvert", value, 32))
            return self.convert("OpUConvert", self.op("OpISub", wide, self.same(wide, 32 - bits)), bits)
        if bits == 64:
            high = self.convert("OpUConvert", self.shift("OpShiftRightLogical", value, 32), 32)
            low = self.convert("OpUConvert", value, 32)
            low_zeros = self.op("OpIAdd", self.leading_zeros(low), self.same(low, 32))
            is_zero = self.test("OpIEqual", high, self.same(high, 0))
            return self.convert("OpUConvert", self.select(is_zero, low_zeros, self.leading_zeros(high)), 64)
        return self.op("OpISub", self.same(value, 31), self.call(_FIND_U_MSB, value))

    def trailing_zeros(self, value: int) -> int:
        """Return the number of trailing zeros of integers: those above the highest bit of value & -value."""
        lowest = self.op("OpBitwiseAnd", value, self.op("OpSNegate", value))
        zeros = self.op("OpISub", self.same(value, self.bits(value) - 1), self.leading_zeros(lowest))
        return self.select(self.test("OpIEqual", value, self.same(value, 0)), self.same(value, self.bits(value)), zeros)

    def bit_count(self, value: int) -> int:
        """Return the number of bits that are set, by the instruction for 32 bits."""
        bits = self.bits(value)
        if bits == 64:
            high = self.convert("OpUConvert", self.shift("OpShiftRightLogical", value, 32), 32)
            low = self.convert("OpUConvert", value, 32)
            count = self.op("OpIAdd", self.op("OpBitCount", low), self.op("OpBitCount", high))
        else:
            count = self.op("OpBitCount", self.convert("OpUConvert", value, 32))
        return self.convert("OpUConvert", count, bits)


_FIND_U_MSB = 75
