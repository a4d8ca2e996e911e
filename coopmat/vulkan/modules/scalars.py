"""Replacements for null pointers, comparisons of addresses, flags, atomics of floats, and roundings."""

from __future__ import annotations

from collections.abc import Callable

from ...spirv.module import ENUM, OP, OPCODES, Instruction, numbers
from .arithmetic import Arithmetic
from .code import Code, operand_ids, prepend, rewrite, substitute
from .context import Context
from .floats import to_half
from .layout import PSB
from .pointers import DERIVING, PHI, POINTER, SELECT, VECTOR

_NULL, _EXPRESSION, _PTR_EQUAL, _PTR_NOT_EQUAL, _PTR_DIFF = numbers(
    "Op*", "ConstantNull SpecConstantOp PtrEqual PtrNotEqual PtrDiff"
)
_TEST_AND_SET, _CLEAR = numbers("OpAtomicFlag*", "TestAndSet Clear")
_FLOAT = OP["OpTypeFloat"]
_ROUNDING = ENUM["Decoration.FPRoundingMode"]
_CONVERT = OP["OpFConvert"]
_TO_INTEGER = frozenset(numbers("Op*", "ConvertFToS ConvertFToU"))
_TO_FLOAT = frozenset(numbers("Op*", "ConvertSToF ConvertUToF FConvert"))
_EVEN, _ZERO, _UP, _DOWN = numbers("FPRoundingMode.*", "RTE RTZ RTP RTN")
# rounding mode -> number of the instruction of GLSL.std.450 that rounds to an integer
_ROUND = {_EVEN: 2, _ZERO: 3, _UP: 9, _DOWN: 8}
_NAMES = {_ZERO: "_rtz", _UP: "_rtp", _DOWN: "_rtn"}


def constant_expressions(context: Context) -> None:
    """Compute constant expressions at the beginning of each function: Vulkan permits none of addresses outside."""
    parts = context.parts

    def compute(code: Code, definition: Instruction) -> int | None:
        if definition.opcode != _EXPRESSION:
            return None
        opcode, *words = definition.operands
        operands = [
            compute(code, parts.definitions[word]) or word if word in parts.definitions else word for word in words
        ]
        return code.add(OPCODES[opcode].name, definition.result_type, *operands)

    _compute_in_functions(context, compute)
    parts.globals.assign([item for item in parts.globals.items if item.opcode != _EXPRESSION])


def null_pointers(context: Context) -> None:
    """Make null addresses of the integer 0 at the beginning of each function: Vulkan has no null constants of them."""
    parts = context.parts

    def compute(code: Code, definition: Instruction) -> int | None:
        kind = parts.definitions.get(definition.result_type or 0)
        if definition.opcode != _NULL or kind is None or kind.opcode != POINTER or kind.operands[0] != PSB:
            return None
        return code.add("OpConvertUToPtr", definition.result_type, parts.globals.number(0, 64))

    _compute_in_functions(context, compute)


def _compute_in_functions(context: Context, compute: Callable[[Code, Instruction], int | None]) -> None:
    """Replace operands by values that each function computes at its beginning.

    compute: appends the instructions for an operand's definition, and returns the value; None if the operand remains.
    """
    parts = context.parts
    for body in parts.functions:
        code, ids = Code(parts), dict[int, int]()
        for value in (value for item in body for value in operand_ids(parts, item)):
            definition = parts.definitions.get(value)
            if definition is not None and value not in ids and (computed := compute(code, definition)) is not None:
                ids[value] = computed
        if ids:
            substitute(parts, ids, [body])
            prepend(parts, body, [], code.items)


def comparisons(context: Context) -> None:
    """Compare and subtract addresses as integers."""

    definitions = context.parts.definitions

    def may_be_null(pointer: int) -> bool:
        """Return whether a pointer is chosen at run time, and not computed from the address of a variable."""
        while definitions[pointer].opcode in DERIVING:
            pointer = definitions[pointer].operands[0]
        return definitions[pointer].opcode in (PHI, SELECT)

    def rule(code: Code, item: Instruction) -> None:
        spaces = [context.parts.types.storage_class(pointer) for pointer in item.operands]
        nulls = [definitions[pointer].opcode == _NULL for pointer in item.operands]
        if any(nulls) and spaces[0] != spaces[1]:
            # A pointer to private or local memory, and the null constant of a generic pointer.
            pointer = item.operands[nulls.index(False)]
            if may_be_null(pointer):
                null = context.parts.globals.intern("OpConstantNull", result_type=definitions[pointer].result_type)
                code.finish(item, item.name, pointer, null)
                return
            name = "OpConstantFalse" if item.opcode == _PTR_EQUAL else "OpConstantTrue"
            code.finish(item, "OpCopyObject", context.parts.globals.intern(name, result_type=item.result_type))
            return
        if spaces[0] != PSB:
            code.keep(item)
            return
        long = context.parts.globals.integer(64)
        left, right = (code.add("OpConvertPtrToU", long, pointer) for pointer in item.operands)
        if item.opcode == _PTR_DIFF:
            size = context.layout.size(context.parts.types.pointee(item.operands[0]))
            difference = code.add("OpISub", long, left, right)
            code.finish(item, "OpSDiv", difference, context.parts.globals.number(size, 64))
        else:
            code.finish(item, "OpIEqual" if item.opcode == _PTR_EQUAL else "OpINotEqual", left, right)

    rewrite(context.parts, dict.fromkeys((_PTR_EQUAL, _PTR_NOT_EQUAL, _PTR_DIFF), rule))


def flags(context: Context) -> None:
    """Make operations on flags atomics of integers."""

    def test_and_set(code: Code, item: Instruction) -> None:
        old = code.add("OpAtomicExchange", context.parts.globals.integer(32), *item.operands, code.u32(1))
        code.finish(item, "OpINotEqual", old, code.u32(0))

    def clear(code: Code, item: Instruction) -> None:
        code.add("OpAtomicStore", None, *item.operands, code.u32(0))

    rewrite(context.parts, {_TEST_AND_SET: test_and_set, _CLEAR: clear})


def float_atomics(context: Context) -> None:
    """Load, store and exchange floats as integers, which all devices can do atomically."""
    parts, globals_ = context.parts, context.parts.globals

    def rule(code: Code, item: Instruction) -> None:
        pointer, *operands = item.operands
        pointee = parts.definitions[parts.types.pointee(pointer)]
        if pointee.opcode != _FLOAT:
            code.keep(item)
            return
        integer, space = globals_.integer(pointee.operands[0]), parts.types.storage_class(pointer)
        kind = context.layout.pointer(integer) if space == PSB else globals_.pointer(integer, space)
        place = code.add("OpBitcast", kind, pointer)
        if item.name != "OpAtomicLoad":
            operands[-1] = code.add("OpBitcast", integer, operands[-1])
        if item.result is None:
            code.add(item.name, None, place, *operands)
        else:
            code.finish(item, "OpBitcast", code.add(item.name, integer, place, *operands))

    rewrite(parts, dict.fromkeys(numbers("OpAtomic*", "Load Store Exchange"), rule))


def roundings(context: Context) -> None:
    """Round before conversions to integers that state how; refuse such conversions to narrower floats."""
    parts = context.parts
    modes = {id_: words[1] for id_, rows in parts.decorations().items() for words in rows if words[0] == _ROUNDING}
    glsl = context.glsl

    def rule(code: Code, item: Instruction) -> None:
        mode = modes.get(item.result or 0)
        a = Arithmetic(code, glsl)
        value = item.operands[0]
        if is_to_half(a, item):
            code.finish(item, "OpCopyObject", to_half(a, value, _EVEN if mode is None else mode))
            return
        if mode is None:
            code.keep(item)
            return
        if item.opcode in _TO_INTEGER:
            code.finish(item, item.name, a.call(_ROUND[mode], value) if mode != _ZERO else value)
            return
        bits = parts.definitions[a.scalar(item.result_type or 0)].operands[0]
        exact = {16: 11, 32: 24, 64: 53}.get(bits, 0)
        is_exact = a.bits(value) <= (bits if a.is_float(value) else exact)
        if mode != _EVEN and not is_exact:
            what = f"a conversion to a float of {bits} bits with the rounding mode {_NAMES[mode]}: use _rte"
            raise context.refused(what)
        code.keep(item)

    def is_to_half(a: Arithmetic, item: Instruction) -> bool:
        """Return whether an instruction converts floats to halves, of scalars or vectors."""
        kinds = [parts.definitions[type_id].opcode for type_id in (item.result_type or 0, code_type(item))]
        if item.opcode != _CONVERT or any(kind not in (_FLOAT, VECTOR) for kind in kinds):
            return False
        types = [parts.definitions[a.scalar(type_id)].operands for type_id in (code_type(item), item.result_type or 0)]
        return types == [(32,), (16,)]

    def code_type(item: Instruction) -> int:
        return parts.types.of(item.operands[0])

    rewrite(parts, dict.fromkeys((*_TO_INTEGER, *_TO_FLOAT), rule))
    parts.forget(set(modes))
