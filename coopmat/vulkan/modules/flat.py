"""Flat memory: private or work-group variables as arrays of integers, for memory that is accessed as several types.

    float f[4]; *(int *)f        ->   uint memory[4];   a pointer is an index, an access converts the bits

All variables of a group of pointers are parts of one array, so that a pointer chosen at run time is an index, too. The
integers are as wide as all offsets and accesses allow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...spirv.checks import STRIDE_AT
from ...spirv.module import ENUM, OP, Instruction
from ...spirv.refusal import Refused
from .code import Code, Rule, operand_ids, rewrite
from .constants import constant_bytes
from .context import Context
from .layout import PSB
from .pointers import (
    ARRAY,
    BITCAST,
    CHAINS,
    COPY_OBJECT,
    COPY_SIZED,
    ELEMENT_CHAINS,
    FUNCTION,
    LOAD,
    PHI,
    POINTER,
    PRIVATE,
    SELECT,
    STORE,
    STRUCT,
    VARIABLE,
    VECTOR,
    WORKGROUP,
    Pointers,
)

_INT = OP["OpTypeInt"]
_ALIGNED = ENUM["MemoryAccess.Aligned"]
_ATOMICS = frozenset(number for name, number in OP.items() if name.startswith("OpAtomic"))
_CHOICES = (PHI, SELECT)
_WIDEST = 8
# The variables of a group begin at multiples of this number of bytes.
_VARIABLE_STEP = 16
# The largest number of integers that a copy moves without a loop.
_MOST_UNROLLED = 32
# The index that represents a null pointer.
_NULL = 0xFFFFFFFF


@dataclass(slots=True)
class _Memory:
    """The array of one group.

    unit: the bytes of one integer.
    variable: the id of the array.
    element: the type of the integers.
    """

    unit: int
    storage_class: int
    variable: int = 0
    element: int = 0


def flatten(context: Context, pointers: Pointers) -> None:
    """Replace the flat variables and their pointers."""
    if pointers.flat_groups:
        _Flattener(context, pointers).run()


class _Flattener:
    def __init__(self, context: Context, pointers: Pointers) -> None:
        self.context, self.parts, self.pointers = context, context.parts, pointers
        self.layout, self.globals = context.layout, context.parts.globals
        self.uint = self.globals.integer(32)
        # The pointee of each flat pointer, before pointers become indices.
        self.pointees = {
            pointer: self.parts.types.pointee(pointer) for pointer in pointers.parents if pointers.is_flat(pointer)
        }
        if any(map(self.parts.types.carries, self.pointees.values())):
            matrices = [pointer for pointer, type_id in self.pointees.items() if self.parts.types.carries(type_id)]
            matrices.sort(key=lambda pointer: self.parts.definitions[pointer].opcode not in _CHOICES)
            what = "a pointer to cooperative matrices that is cast, copied or chosen at run time: use the variable"
            raise context.refused(what, *matrices)
        self.memories: dict[int, _Memory] = {}
        # The index of each variable's first integer.
        self.starts: dict[int, int] = {}

    def run(self) -> None:
        for group, variables in self.pointers.groups():
            classes = {self.pointers.storage_class(variable) for variable in variables}
            # Pointers that are only null need an array, too, in front of accesses that never happen.
            space = next((c for c in (WORKGROUP, PRIVATE, FUNCTION) if c in classes), PRIVATE)
            self.memories[group] = _Memory(math.gcd(_WIDEST, *map(self.element_size, variables)), space)
        for body in self.parts.functions:
            for item in body:
                self.measure(item)
        self.align_copies()
        for group, variables in self.pointers.groups():
            self.allocate(self.memories[group], variables)
        self.rewrite()

    def align_copies(self) -> None:
        """Give the arrays between which memory is copied integers of the same width."""
        copies = [item for body in self.parts.functions for item in body if item.opcode == COPY_SIZED]
        pairs = [[self.memory(p) for p in item.operands[:2] if p in self.pointees] for item in copies]
        for _ in pairs:
            for memories in pairs:
                unit = math.gcd(*(memory.unit for memory in memories)) if memories else 0
                for memory in memories:
                    memory.unit = unit

    def memory(self, pointer: int) -> _Memory:
        return self.memories[self.pointers.group(pointer)]

    # --- the width of the integers

    def measure(self, item: Instruction) -> None:
        """Make the integers of an instruction's memory narrow enough for its accesses and offsets."""
        flat = [value for value in operand_ids(self.parts, item) if value in self.pointees]
        if not flat:
            return
        if item.opcode == COPY_SIZED:
            for pointer in flat:
                memory = self.memory(pointer)
                memory.unit = math.gcd(memory.unit, self.parts.types.constants.value(item.operands[2]))
            return
        memory = self.memory(flat[0])
        if item.opcode in CHAINS | ELEMENT_CHAINS:
            steps = [step for _, step in self.terms(item)]
        elif item.opcode in (LOAD, STORE, *STRIDE_AT) or item.opcode in _ATOMICS:
            steps = [size for leaf in self.leaves(self.pointees[flat[0]]) for size in leaf]
        else:
            return
        memory.unit = math.gcd(memory.unit, *steps)

    def terms(self, item: Instruction) -> Iterator[tuple[int | None, int]]:
        """Yield the parts of a chain's offset as (index, bytes that it is multiplied by), or (None, constant bytes)."""
        base, *indices = item.operands
        type_id = self.pointees[base]
        if item.opcode in ELEMENT_CHAINS:
            yield self.term(indices.pop(0), self.layout.size(type_id))
        for index in indices:
            kind = self.parts.definitions[type_id]
            if kind.opcode == STRUCT:
                at = self.parts.types.constants.value(index)
                yield None, list(self.layout.members(kind))[at][0]
                type_id = kind.operands[at]
            elif kind.opcode in (ARRAY, VECTOR):
                type_id = kind.operands[0]
                yield self.term(index, self.layout.size(type_id))
            else:
                raise self.context.refused(
                    "a cooperative matrix that is accessed through pointers of other types", base
                )

    def term(self, index: int, step: int) -> tuple[int | None, int]:
        value = self.value(index)
        return (index, step) if value is None else (None, value * step)

    def leaves(self, type_id: int, start: int = 0) -> Iterator[tuple[int, int]]:
        """Yield the offset and the size of each scalar in a type."""
        kind = self.parts.definitions[type_id]
        if kind.opcode in (STRUCT, ARRAY, VECTOR):
            for at, member in self.members(kind):
                yield from self.leaves(member, start + at)
        else:
            try:
                yield start, self.layout.size(type_id)
            except Refused:
                what = "a cooperative matrix in memory that is accessed through pointers of other types"
                raise self.context.refused(what, type_id) from None

    def choices(self, variable: int) -> list[int]:
        """Return the pointers of a variable's group that are chosen at run time."""
        members = (
            pointer for pointer in self.pointees if self.pointers.group(pointer) == self.pointers.group(variable)
        )
        return [pointer for pointer in members if self.parts.definitions[pointer].opcode in _CHOICES]

    # --- the arrays

    def allocate(self, memory: _Memory, variables: list[int]) -> None:
        memory.element = self.globals.integer(8 * memory.unit)
        end, data = 0, bytearray()
        length = None
        for variable in variables:
            end = -(-end // _VARIABLE_STEP) * _VARIABLE_STEP
            self.starts[variable] = end // memory.unit
            length = self.run_time_length(variable, memory)
            if length is not None and len(variables) > 1:
                what = "a pointer that may point to a local argument or to other local memory: use a pointer for each"
                raise self.context.refused(what, *self.choices(variable))
            item = self.parts.definitions[variable]
            size = 0 if length is not None else self.layout.size(self.pointees[variable])
            data = data.ljust(end, b"\0") + (
                constant_bytes(self.context, item.operands[1], size) if item.operands[1:] else b""
            )
            end += size
        if length is None:
            length = self.globals.number(max(-(-end // memory.unit), 1))
        array = self.globals.intern("OpTypeArray", memory.element, length)
        self.declare(
            memory, array, self.initializer(memory, array, bytes(data.ljust(end, b"\0"))) if data.strip(b"\0") else ()
        )
        for variable in variables:
            if self.parts.definitions[variable].operands[0] != FUNCTION:
                self.globals.assign(item for item in self.globals.items if item.result != variable)

    def element_size(self, variable: int) -> int:
        """Return the size of an element of an array whose length is a specialisation constant; 0 for other variables.

        The integers are not wider than this, so that a whole number of them makes an array of any length.
        """
        kind = self.parts.definitions[self.pointees[variable]]
        if kind.opcode != ARRAY or self.parts.definitions[kind.operands[1]].opcode != OP["OpSpecConstant"]:
            return 0
        return self.layout.size(kind.operands[0])

    def run_time_length(self, variable: int, memory: _Memory) -> int | None:
        """Return the length of the array for a variable whose length is a specialisation constant; None for others."""
        size = self.element_size(variable)
        if not size:
            return None
        length = self.parts.definitions[self.pointees[variable]].operands[1]
        operands = (OP["OpIMul"], length, self.globals.number(size // memory.unit))
        return self.globals.add(Instruction(OP["OpSpecConstantOp"], operands, self.uint, self.parts.module.new_id()))

    def initializer(self, memory: _Memory, array: int, data: bytes) -> tuple[int, ...]:
        step = memory.unit
        words = [int.from_bytes(data[at : at + step], "little") for at in range(0, len(data), step)]
        count = self.parts.types.constants.value(self.parts.definitions[array].operands[1])
        numbers_ = [self.globals.number(word, 8 * step) for word in (*words, *(0,) * (count - len(words)))]
        return (self.globals.intern("OpConstantComposite", *numbers_, result_type=array),)

    def declare(self, memory: _Memory, array: int, initializer: tuple[int, ...]) -> None:
        pointer = self.globals.pointer(array, memory.storage_class)
        memory.variable = self.parts.module.new_id()
        item = Instruction(VARIABLE, (memory.storage_class, *initializer), pointer, memory.variable)
        if memory.storage_class == FUNCTION:
            self.parts.define([item])
        else:
            self.globals.add(item)

    # --- instructions

    def rewrite(self) -> None:
        rules: dict[int, Callable[[Code, Instruction], None]] = {
            **dict.fromkeys((*CHAINS, *ELEMENT_CHAINS), self.chain),
            **dict.fromkeys((BITCAST, COPY_OBJECT), self.copy),
            **dict.fromkeys(_ATOMICS, self.atomic),
            **dict.fromkeys(STRIDE_AT, self.matrix),
            PHI: self.phi,
            SELECT: self.select,
            LOAD: self.load,
            STORE: self.store,
            VARIABLE: self.variable,
            COPY_SIZED: self.copy_sized,
            OP["OpConvertPtrToU"]: self.number,
            OP["OpPtrEqual"]: self.compare,
            OP["OpPtrNotEqual"]: self.compare,
        }
        self.declared: set[int] = set()

        def if_flat(rule: Rule) -> Rule:
            def run(code: Code, item: Instruction) -> None:
                values = (item.result or 0, *operand_ids(self.parts, item))
                if item.opcode == COPY_SIZED or any(value in self.pointees for value in values):
                    rule(code, item)
                else:
                    code.keep(item)

            return run

        rewrite(self.parts, {opcode: if_flat(rule) for opcode, rule in rules.items()})

    def index(self, pointer: int) -> int:
        """Return the index that a flat pointer became."""
        if pointer in self.starts:
            return self.globals.number(self.starts[pointer])
        return self.globals.number(_NULL) if self.pointers.is_empty(pointer) else pointer

    def variable(self, code: Code, item: Instruction) -> None:
        memory = self.memory(item.result or 0)
        if memory.storage_class == FUNCTION and memory.variable not in self.declared:
            self.declared.add(memory.variable)
            code.keep(self.parts.definitions[memory.variable])

    def chain(self, code: Code, item: Instruction) -> None:
        unit = self.memory(item.result or 0).unit
        constant, total = 0, self.index(item.operands[0])
        for index, step in list(self.terms(item)):
            if index is None:
                constant += step
                continue
            part = self.as_uint(code, index)
            if step != unit:
                part = code.add("OpIMul", self.uint, part, code.u32(step // unit))
            total = code.add("OpIAdd", self.uint, total, part)
        operands = (total, code.u32(constant // unit & 0xFFFFFFFF))
        code.add("OpIAdd", self.uint, *operands, result=item.result)

    def value(self, index: int) -> int | None:
        """Return the signed value of a constant index; None for other values."""
        item = self.parts.definitions[index]
        if item.opcode == OP["OpConstantNull"]:
            return 0
        if item.opcode != OP["OpConstant"]:
            return None
        bits = self.parts.definitions[item.result_type or 0].operands[0]
        number = sum(word << 32 * n for n, word in enumerate(item.operands))
        return number - (1 << bits) if number >> (bits - 1) & 1 else number

    def as_uint(self, code: Code, value: int) -> int:
        bits = self.parts.definitions[code.type_of(value)].operands[0]
        return value if bits == 32 else code.add("OpSConvert" if bits < 32 else "OpUConvert", self.uint, value)

    def copy(self, code: Code, item: Instruction) -> None:
        code.add("OpCopyObject", self.uint, self.index(item.operands[0]), result=item.result)

    def phi(self, code: Code, item: Instruction) -> None:
        words = (self.index(word) if n % 2 == 0 else word for n, word in enumerate(item.operands))
        code.add("OpPhi", self.uint, *words, result=item.result)

    def select(self, code: Code, item: Instruction) -> None:
        condition, *values = item.operands
        code.add("OpSelect", self.uint, condition, *map(self.index, values), result=item.result)

    def compare(self, code: Code, item: Instruction) -> None:
        name = "OpIEqual" if item.name == "OpPtrEqual" else "OpINotEqual"
        code.finish(item, name, *map(self.index, item.operands))

    def number(self, code: Code, item: Instruction) -> None:
        """Convert a pointer to an integer: the number of its byte, plus one, since only a null pointer is 0."""
        pointer = item.operands[0]
        bytes_ = code.add("OpIMul", self.uint, self.index(pointer), code.u32(self.memory(pointer).unit))
        following = code.add("OpIAdd", self.uint, bytes_, code.u32(_VARIABLE_STEP))
        is_null = code.add("OpIEqual", self.globals.intern("OpTypeBool"), self.index(pointer), code.u32(_NULL))
        following = code.add("OpSelect", self.uint, is_null, code.u32(0), following)
        is_wide = self.parts.definitions[item.result_type or 0].operands[0] != 32
        code.finish(item, "OpUConvert" if is_wide else "OpCopyObject", following)

    def place(self, code: Code, memory: _Memory, index: int, offset: int = 0) -> int:
        """Return a pointer to the integer `offset` bytes behind the integer `index`."""
        if offset:
            index = code.add("OpIAdd", self.uint, index, code.u32(offset // memory.unit))
        pointer = self.globals.pointer(memory.element, memory.storage_class)
        return code.add("OpInBoundsAccessChain", pointer, memory.variable, index)

    def atomic(self, code: Code, item: Instruction) -> None:
        pointer, *operands = item.operands
        memory = self.memory(pointer)
        kind = self.parts.definitions[self.pointees[pointer]]
        if kind.opcode != _INT or kind.operands[0] != 8 * memory.unit:
            what = "an atomic on local memory that is also accessed as another type: use an array of its own"
            raise self.context.refused(what)
        place = self.place(code, memory, self.index(pointer))
        code.keep(Instruction(item.opcode, (place, *operands), item.result_type, item.result))

    def matrix(self, code: Code, item: Instruction) -> None:
        """Load or store a matrix by a pointer to an integer of the array: the stride is in units of the integers."""
        pointer, *rest = item.operands
        memory, at = self.memory(pointer), STRIDE_AT[item.opcode] - 1
        factor = self.layout.size(self.pointees[pointer]) // memory.unit
        if factor > 1 and at < len(rest):
            type_id, constant = code.type_of(rest[at]), self.value(rest[at])
            number = self.globals.number(factor * (constant or 1), self.parts.definitions[type_id].operands[0])
            rest[at] = number if constant else code.add("OpIMul", type_id, rest[at], number)
        place = self.place(code, memory, self.index(pointer))
        code.keep(Instruction(item.opcode, (place, *rest), item.result_type, item.result))

    # --- loads

    def load(self, code: Code, item: Instruction) -> None:
        pointer = item.operands[0]
        value = self.loaded(code, self.memory(pointer), self.index(pointer), self.pointees[pointer], 0)
        code.finish(item, "OpCopyObject", value)

    def loaded(self, code: Code, memory: _Memory, index: int, type_id: int, at: int) -> int:
        """Return the value of a type that is stored `at` bytes behind the integer `index`."""
        kind = self.parts.definitions[type_id]
        if kind.opcode in (STRUCT, ARRAY, VECTOR):
            parts = [self.loaded(code, memory, index, member, at + offset) for offset, member in self.members(kind)]
            return code.add("OpCompositeConstruct", type_id, *parts)
        words = []
        for offset in range(0, self.layout.size(type_id), memory.unit):
            words.append(code.add("OpLoad", memory.element, self.place(code, memory, index, at + offset)))
        return self.combined(code, words, memory.unit, type_id)

    def members(self, kind: Instruction) -> list[tuple[int, int]]:
        """Return the offset and the type of each member of a struct, array or vector."""
        if kind.opcode == STRUCT:
            return list(self.layout.members(kind))
        is_array = kind.opcode == ARRAY
        count = self.parts.types.constants.value(kind.operands[1]) if is_array else kind.operands[1]
        size = self.layout.size(kind.operands[0])
        return [(n * size, kind.operands[0]) for n in range(count)]

    def combined(self, code: Code, words: list[int], unit: int, type_id: int) -> int:
        """Return the scalar of a type whose bits are these integers of `unit` bytes."""
        kind = self.parts.definitions[type_id]
        if len(words) == 8:
            words = [self.combined(code, words[:4], 1, self.uint), self.combined(code, words[4:], 1, self.uint)]
            unit = 4
        if len(words) > 1:
            vector = self.globals.intern("OpTypeVector", self.globals.integer(8 * unit), len(words))
            bits = code.add("OpCompositeConstruct", vector, *words)
            integer = self.globals.integer(8 * unit * len(words))
            words = [code.add("OpBitcast", integer, bits)]
        if kind.opcode == POINTER:
            return code.add("OpConvertUToPtr", type_id, words[0])
        return words[0] if code.type_of(words[0]) == type_id else code.add("OpBitcast", type_id, words[0])

    # --- stores

    def store(self, code: Code, item: Instruction) -> None:
        pointer, value = item.operands[:2]
        if pointer in self.pointees:
            self.stored(code, self.memory(pointer), self.index(pointer), value, 0)
        else:
            what = "a pointer to private or local memory that is stored in memory: store an index"
            raise self.context.refused(what, pointer, value)

    def stored(self, code: Code, memory: _Memory, index: int, value: int, at: int) -> None:
        """Store a value `at` bytes behind the integer `index`."""
        kind = self.parts.definitions[code.type_of(value)]
        if kind.opcode in (STRUCT, ARRAY, VECTOR):
            for n, (offset, member) in enumerate(self.members(kind)):
                part = code.add("OpCompositeExtract", member, value, n)
                self.stored(code, memory, index, part, at + offset)
            return
        words = self.split(code, value, kind, memory.unit)
        for n, word in enumerate(words):
            code.add("OpStore", None, self.place(code, memory, index, at + n * memory.unit), word)

    def split(self, code: Code, value: int, kind: Instruction, unit: int) -> list[int]:
        """Return the bits of a scalar as integers of `unit` bytes."""
        size = self.layout.size(kind.result or 0)
        integer = self.globals.integer(8 * size)
        if kind.opcode == POINTER:
            value = code.add("OpConvertPtrToU", integer, value)
        elif kind.result != integer:
            value = code.add("OpBitcast", integer, value)
        count = size // unit
        if count == 1:
            return [value]
        if count == 8:
            halves = self.split(code, value, self.parts.definitions[integer], 4)
            return [word for half in halves for word in self.split(code, half, self.parts.definitions[self.uint], 1)]
        element = self.globals.integer(8 * unit)
        vector = code.add("OpBitcast", self.globals.intern("OpTypeVector", element, count), value)
        return [code.add("OpCompositeExtract", element, vector, n) for n in range(count)]

    # --- copies

    def copy_sized(self, code: Code, item: Instruction) -> None:
        target, source, size = item.operands[:3]
        bytes_ = self.parts.types.constants.value(size)
        flat = next((p for p in (target, source) if p in self.pointees), None)
        alignment = item.operands[4] if len(item.operands) > 4 and item.operands[3] & _ALIGNED else 1
        unit = self.memory(flat).unit if flat else math.gcd(bytes_, alignment, _WIDEST)
        element = self.globals.integer(8 * unit)
        access = (_ALIGNED, min(alignment, unit))
        words = [access if pointer not in self.pointees else () for pointer in (target, source)]
        places = [self.places(code, pointer, element) for pointer in (target, source)]

        def move(n: int) -> None:
            to, from_ = (place(n) for place in places)
            code.add("OpStore", None, to, code.add("OpLoad", element, from_, *words[1]), *words[0])

        count = bytes_ // unit
        if count > _MOST_UNROLLED:
            one = code.u32(1)
            code.loop(code.u32(0), code.u32(count), lambda n: code.add("OpIAdd", self.uint, n, one), move)
            return
        for n in range(count):
            move(code.u32(n))

    def places(self, code: Code, pointer: int, element: int) -> Callable[[int], int]:
        """Return a function from the number of an integer, a value, to a pointer to that integer."""
        if pointer in self.pointees:
            memory, first = self.memory(pointer), self.index(pointer)
            return lambda n: self.place(code, memory, code.add("OpIAdd", self.uint, first, n))
        if self.pointers.storage_class(pointer) != PSB:
            raise self.context.refused("a copy between pointers of different types: copy the elements")
        address = self.layout.pointer(element)
        start = code.add("OpBitcast", address, pointer) if code.type_of(pointer) != address else pointer
        return lambda n: code.add("OpPtrAccessChain", address, start, n)
