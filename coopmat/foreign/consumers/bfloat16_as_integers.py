"""Matrices of bfloat16 as matrices of 16-bit integers, for consumers without small floats.

Operand bits of SPV_INTEL_joint_matrix mark multiply-adds of bfloat16. A conversion of scalars becomes a few integer
instructions; conversions of matrices are loops over components already.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from ...matrices.spelling import INEXACT_IN_FLOAT
from ...matrices.variants import ComponentType
from ...native_profiles import NativeProfile
from ...spirv import joint_matrix
from ...spirv.matrix_calls import ROUNDING_MODE
from ...spirv.module import OP, Instruction, encode_string, id_positions, numbers
from ...spirv.refusal import unsupported
from ...spirv.sections import Section
from ..spirv import floats_as_integers
from .parts import Parts

_MULTIPLY_ADD = OP["OpCooperativeMatrixMulAddKHR"]
_RTE, _RTZ, _RTP = numbers("FPRoundingMode.*", "RTE RTZ RTP")
# The types that SPIR-V allows to be declared only once, and that may become equal here.
_UNIQUE = frozenset(numbers("OpType*", "CooperativeMatrixKHR Vector Pointer Function"))
_EXTENSIONS = [Instruction(OP["OpExtension"], tuple(encode_string(name))) for name in floats_as_integers.EXTENSIONS]
# opcode of a conversion to float -> name of the conversion back
_BACK = {OP["OpFConvert"]: "FConvert", OP["OpConvertSToF"]: "ConvertFToS", OP["OpConvertUToF"]: "ConvertFToU"}


def as_integers(parts: Parts, profile: NativeProfile) -> None:
    """Replace matrices of small floats by integer matrices, unless the profile's consumer supports small floats.

    Raise Refused for operations that integers cannot express.
    """
    if profile.small_floats:
        return
    sections, functions = parts.sections, parts.functions
    parts.write()
    _refuse_others(sections[Section.GLOBAL])
    replaced = floats_as_integers.replace(parts.module, sections, functions)
    declared = {i.operands[0] for i in sections[Section.CAPABILITY]}
    if not replaced.matrices and not declared & floats_as_integers.CAPABILITIES:
        return
    parts.read()
    _tell_multiply_adds(parts, replaced.matrices)
    _convert(parts, replaced.conversions)
    _merge_types(parts)
    capabilities = sections[Section.CAPABILITY]
    capabilities[:] = [i for i in capabilities if i.operands[0] not in floats_as_integers.CAPABILITIES]
    sections[Section.EXTENSION][:] = [i for i in sections[Section.EXTENSION] if i not in _EXTENSIONS]


def _refuse_others(types: Sequence[Instruction]) -> None:
    """Raise Refused for small floats other than bfloat16: no operand of a multiply-add marks integers as such types."""
    components = floats_as_integers.declared(types)
    for item in types:
        if item.result in components and components[item.result].name != "bf16":
            raise unsupported(item, f"of {components[item.result].opencl_c}, which the consumer lacks")


def _convert(parts: Parts, conversions: Mapping[int, floats_as_integers.Conversion]) -> None:
    decorations = parts.decorations()
    others: set[int] = set()
    for code in parts.functions:
        result: list[Instruction] = []
        for item in code:
            how = conversions.get(item.result or 0)
            if how is None:
                result.append(item)
                continue
            modes = [words[1] for words in decorations.get(item.result or 0, ()) if words[0] == ROUNDING_MODE]
            result += _Conversion(parts, item, modes[0] if modes else _RTE).run(how)
            if result[-1].opcode != item.opcode:
                others.add(item.result or 0)
        code[:] = result
    # These results are no longer conversions: drop the decorations for rounding and saturation.
    parts.forget(others)


def _tell_multiply_adds(parts: Parts, matrices: Container[int | None]) -> None:
    """Mark matrices of bfloat16 in the operands of multiply-adds. Raise Refused if only one of A and B is such."""
    of = parts.types.of
    for code in parts.functions:
        for n, item in enumerate(code):
            if item.opcode == _MULTIPLY_ADD:
                a, b, c = (of(operand) in matrices for operand in item.operands[:3])
                if a != b:
                    raise unsupported(item, "of bfloat16 and another type cannot be expressed with integers")
                bits = joint_matrix.bfloat16_operands(a, b, c, item.result_type in matrices)
                code[n] = joint_matrix.with_operands(item, joint_matrix.operands(item) | bits)


def _merge_types(parts: Parts) -> None:
    """Merge types that have become equal, because bfloat16 is now an integer type."""
    ids_by_key: dict[tuple[int, tuple[int, ...]], int] = {}
    ids: dict[int, int] = {}

    def renamed(item: Instruction) -> Instruction:
        type_id = ids.get(item.result_type or 0, item.result_type)
        if not any(word in ids for word in item.operands):
            same = type_id == item.result_type
            return item if same else Instruction(item.opcode, item.operands, type_id, item.result)
        at = set(id_positions(item, parts.definitions))
        operands = tuple(ids.get(word, word) if n in at else word for n, word in enumerate(item.operands))
        return Instruction(item.opcode, operands, type_id, item.result)

    code = []
    for item in map(renamed, parts.globals.ordered({}, set())):
        item = renamed(item)
        key = (item.opcode, item.operands)
        if item.opcode in _UNIQUE and key in ids_by_key:
            ids[item.result or 0] = ids_by_key[key]
            continue
        ids_by_key.setdefault(key, item.result or 0)
        code.append(item)
    parts.sections[Section.GLOBAL] = code
    for body in parts.functions:
        body[:] = map(renamed, body)
    parts.forget(set(ids))
    parts.read()


class _Conversion:
    """A conversion of a scalar or a vector from or to bfloat16, expanded into integer instructions."""

    def __init__(self, parts: Parts, item: Instruction, rounding: int) -> None:
        self.parts, self.globals, self.item, self.rounding = parts, parts.globals, item, rounding
        self.out: list[Instruction] = []

    def run(self, how: floats_as_integers.Conversion) -> list[Instruction]:
        self.count = how.count
        if how.source.name == "bf16" == how.target.name:
            self.emit("CopyObject", self.item.result_type or 0, self.item.operands[0], last=True)
        elif how.source.name == "bf16":
            self.from_bits(how.target.name)
        else:
            self.to_bits(how.source)
        return self.out

    def from_bits(self, target: str) -> None:
        uint, is_float = self.of(self.globals.integer(32)), target == "f32"
        wide = self.emit("UConvert", uint, self.item.operands[0])
        bits = self.emit("ShiftLeftLogical", uint, wide, self.number(16))
        value = self.emit("Bitcast", self.float(), bits, last=is_float)
        if not is_float:
            self.emit(self.item.name.removeprefix("Op"), self.item.result_type or 0, value, last=True)

    def to_bits(self, source: ComponentType) -> None:
        """Convert to bfloat16: add the rounding increment and take the upper half of the bits; a NaN becomes quiet."""
        uint = self.of(self.globals.integer(32))
        bits = self.odd_bits(uint) if source in INEXACT_IN_FLOAT else self.float_bits(uint)
        rounded = self.emit("IAdd", uint, bits, self.increment(uint, bits))
        quiet = self.emit("BitwiseOr", uint, bits, self.number(0x400000))
        magnitude = self.emit("BitwiseAnd", uint, bits, self.number(0x7FFFFFFF))
        bool_ = self.of(self.globals.intern("OpTypeBool"))
        is_nan = self.emit("UGreaterThan", bool_, magnitude, self.number(0x7F800000))
        result = self.emit("Select", uint, is_nan, quiet, rounded)
        half = self.emit("ShiftRightLogical", uint, result, self.number(16))
        self.emit("UConvert", self.item.result_type or 0, half, last=True)

    def float_bits(self, uint: int) -> int:
        value = self.item.operands[0]
        if self.parts.types.of(value) != self.float():
            value = self.emit(self.item.name.removeprefix("Op"), self.float(), value)
        return self.emit("Bitcast", uint, value)

    def odd_bits(self, uint: int) -> int:
        """Return the bits of the value as a float rounded to odd: towards zero, with the last bit set if inexact.

        Rounding this float again gives the same result as rounding the value once.
        """
        value, back = self.item.operands[0], _BACK[self.item.opcode]
        near = self.emit(self.item.name.removeprefix("Op"), self.float(), value)
        self.parts.decorate(near, [(ROUNDING_MODE, _RTZ)])
        again = self.emit(back, self.parts.types.of(value), near)
        bool_ = self.of(self.globals.intern("OpTypeBool"))
        differ = self.emit("FUnordNotEqual" if back == "FConvert" else "INotEqual", bool_, again, value)
        sticky = self.emit("Select", uint, differ, self.number(1), self.number(0))
        return self.emit("BitwiseOr", uint, self.emit("Bitcast", uint, near), sticky)

    def increment(self, uint: int, bits: int) -> int:
        if self.rounding == _RTZ:
            return self.number(0)
        if self.rounding == _RTE:
            shifted = self.emit("ShiftRightLogical", uint, bits, self.number(16))
            odd = self.emit("BitwiseAnd", uint, shifted, self.number(1))
            return self.emit("IAdd", uint, odd, self.number(0x7FFF))
        # Magnitudes of one sign are rounded up, by 0xFFFF: the lower half of a mask that replicates the sign bit.
        signs = self.emit("ShiftRightArithmetic", uint, bits, self.number(31))
        if self.rounding == _RTP:
            signs = self.emit("Not", uint, signs)
        return self.emit("BitwiseAnd", uint, signs, self.number(0xFFFF))

    # --- building blocks

    def of(self, scalar: int) -> int:
        return scalar if self.count == 1 else self.globals.intern("OpTypeVector", scalar, self.count)

    def float(self) -> int:
        return self.of(self.globals.intern("OpTypeFloat", 32))

    def number(self, value: int) -> int:
        one = self.globals.number(value)
        if self.count == 1:
            return one
        uint = self.of(self.globals.integer(32))
        return self.globals.intern("OpConstantComposite", *[one] * self.count, result_type=uint)

    def emit(self, name: str, type_id: int, *operands: int, last: bool = False) -> int:
        result = self.item.result or 0 if last else self.parts.module.new_id()
        self.out.append(Instruction(OP[f"Op{name}"], operands, type_id, result))
        self.parts.define(self.out[-1:])
        return result
