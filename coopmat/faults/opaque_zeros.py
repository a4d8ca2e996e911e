"""Opaque zeros and other constants, which a device's compiler cannot see: values of volatile variables.

They replace constants, or are combined with values, to prevent optimisations that are wrong.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from functools import cached_property

from ..spirv.module import ENUM, OP, Instruction, Module, instruction, numbers
from ..spirv.module_globals import FUNCTION

LABEL = OP["OpLabel"]
CONSTANTS = frozenset({OP["OpConstant"], OP["OpConstantNull"]})
_VARIABLE, _TYPE_POINTER, _NULL = OP["OpVariable"], OP["OpTypePointer"], OP["OpConstantNull"]
_TYPE_INT, _XOR, _LOAD, _ADD = OP["OpTypeInt"], OP["OpBitwiseXor"], OP["OpLoad"], OP["OpIAdd"]
_TYPE_FLOAT, _TYPE_VECTOR, _BITCAST, _SPLAT = numbers("Op*", "TypeFloat TypeVector Bitcast CompositeConstruct")
_VOLATILE, _BUILT_IN = ENUM["MemoryAccess.Volatile"], ENUM["Decoration.BuiltIn"]
_SUBGROUP_SIZE = ENUM["ExecutionMode.SubgroupSize"]
# The ids of a work-item.
_IDS = frozenset(numbers("BuiltIn.*", "LocalInvocationId GlobalInvocationId LocalInvocationIndex GlobalLinearId"))


@dataclass
class Globals:
    """The part of a module that precedes its functions, and all definitions.

    `added` are new types and constants, which must be inserted there.
    """

    module: Module
    added: list[Instruction] = field(default_factory=list)

    @cached_property
    def definitions(self) -> dict[int, Instruction]:
        """Each id -> its defining instruction, including new instructions."""
        return dict(self.module.definitions())

    def new_instruction(self, opcode: int, type_id: int, *operands: int) -> Instruction:
        """Return a new instruction with a result of the type `type_id`, and add it to `definitions`."""
        item = Instruction(opcode, operands, type_id, self.module.new_id())
        self.definitions[item.result or 0] = item
        return item

    @cached_property
    def _entry_points(self) -> frozenset[int]:
        """The ids of the kernels."""
        code = self.module.instructions
        return frozenset(item.operands[1] for item in code if item.opcode == OP["OpEntryPoint"])

    @cached_property
    def requires_subgroups(self) -> bool:
        """Whether all kernels require a size of subgroups."""
        code = self.module.instructions
        modes = (item.operands for item in code if item.opcode == OP["OpExecutionMode"])
        return self._entry_points <= {words[0] for words in modes if words[1] == _SUBGROUP_SIZE}

    @cached_property
    def _id_variables(self) -> frozenset[int]:
        """The variables that hold ids of a work-item."""
        decorations = (i.operands for i in self.module.instructions if i.opcode == OP["OpDecorate"])
        return frozenset(words[0] for words in decorations if words[1] == _BUILT_IN and words[2] in _IDS)

    def is_kernel(self, function: list[Instruction]) -> bool:
        """Return whether a function is a kernel."""
        return function[0].result in self._entry_points

    def is_id_variable(self, pointer: int) -> bool:
        """Return whether a pointer is a variable with ids of a work-item, or is derived from such a variable."""
        if pointer in self._id_variables:
            return True
        item = self.definitions.get(pointer)
        return item is not None and any(word in self._id_variables for word in item.operands)

    def is_private(self, pointer: int) -> bool:
        """Return whether a pointer is a private variable."""
        item = self.definitions.get(pointer)
        return item is not None and item.opcode == _VARIABLE and item.operands[0] == FUNCTION

    def is_constant(self, value: int) -> bool:
        item = self.definitions.get(value)
        return item is not None and item.opcode in CONSTANTS

    def is_zero(self, value: int) -> bool:
        return self.is_constant(value) and not any(self.definitions[value].operands)

    @cached_property
    def _ids(self) -> dict[tuple[int, int | None, tuple[int, ...]], int]:
        """(opcode, type, operands) -> id, for the types and constants that `_find` may look up."""
        found = (_TYPE_INT, _TYPE_VECTOR, _TYPE_POINTER, *CONSTANTS)
        items = (i for i in self.module.instructions if i.opcode in found)
        return {(i.opcode, i.result_type, i.operands): i.result or 0 for i in items}

    def pointer(self, pointee: int) -> int:
        """Return the id of the type of pointers to private memory with this pointee type."""
        return self._find("OpTypePointer", None, FUNCTION, pointee)

    def null(self, type_id: int) -> int:
        """Return the id of the null constant of a type."""
        return self._find("OpConstantNull", type_id)

    def constant(self, type_id: int, *words: int) -> int:
        """Return the id of a constant of a type."""
        return self._find("OpConstant", type_id, *words)

    def type_of(self, value: int) -> int:
        """Return the id of a value's type."""
        type_id = self.definitions[value].result_type
        assert type_id is not None
        return type_id

    def integer(self, bits: int = 32, count: int = 1) -> int:
        """Return the id of the type of unsigned integers of `bits` bits, or of vectors of `count` such integers."""
        scalar = self._find("OpTypeInt", None, bits, 0)
        return self._find("OpTypeVector", None, scalar, count) if count > 1 else scalar

    def shape(self, value: int) -> tuple[int, int, int] | None:
        """Return (scalar type, bits, number of components) of a value that is a number or a vector.

        Return None for other values.
        """
        item = self.definitions.get(value)
        type_id, count = (item.result_type or 0) if item is not None else 0, 1
        if type_id in self.definitions and self.definitions[type_id].opcode == _TYPE_VECTOR:
            type_id, count = self.definitions[type_id].operands
        scalar = self.definitions.get(type_id)
        if scalar is None or scalar.opcode not in (_TYPE_INT, _TYPE_FLOAT):
            return None
        return type_id, scalar.operands[0], count

    def is_floating(self, type_id: int) -> bool:
        """Return whether a scalar type is a floating-point type."""
        return self.definitions[type_id].opcode == _TYPE_FLOAT

    def width(self, value: int) -> int | None:
        """Return the bits of a scalar integer; return None for other values."""
        item = self.definitions.get(value)
        kind = self.definitions.get(item.result_type or 0) if item is not None else None
        return kind.operands[0] if kind is not None and kind.opcode == _TYPE_INT else None

    def _find(self, name: str, type_id: int | None, *operands: int) -> int:
        """Return the id of a type or constant; add it if it does not exist."""
        key = OP[name], type_id, operands
        if key not in self._ids:
            self._ids[key] = self.module.new_id()
            self.added.append(Instruction(OP[name], operands, type_id, self._ids[key]))
            self.definitions[self._ids[key]] = self.added[-1]
        return self._ids[key]


class OpaqueZeros:
    """The opaque constants of one function: a zero of each integer type, and others."""

    def __init__(self, scope: Globals) -> None:
        self._globals = scope
        self._values: dict[tuple[int, int], int] = {}
        self._hidden: set[int] = set()
        self._turns: dict[int, int] = {}
        self._variables: list[Instruction] = []
        self._accesses: list[Instruction] = []

    def of(self, type_id: int, number: int = 0) -> int:
        """Return the id of an opaque zero of the type `type_id`, which is defined in the whole function.

        The compiler cannot prove that zeros with different `number`s are equal.
        """
        return self._opaque(type_id, self._globals.null(type_id), number)

    def like(self, constant: int) -> int:
        """Return the id of an opaque value that equals a constant; it is defined in the whole function."""
        return self._opaque(self._globals.type_of(constant), constant)

    def _opaque(self, type_id: int, constant: int, number: int = 0) -> int:
        """Return the id of a volatile variable's value that equals `constant`."""
        if (constant, number) not in self._values:
            variable, value = self._globals.module.new_id(), self._globals.module.new_id()
            pointer = self._globals.pointer(type_id)
            self._variables.append(instruction("OpVariable", pointer, variable, FUNCTION))
            self._accesses.append(instruction("OpStore", variable, constant))
            self._accesses.append(instruction("OpLoad", type_id, value, variable, _VOLATILE))
            self._values[constant, number] = value
        return self._values[constant, number]

    def flipped(self, value: int, shape: tuple[int, int, int], sign: int, out: list[Instruction]) -> Instruction:
        """Return the last instruction of a calculation that flips the sign bits of a number or vector if `sign` is 1.

        The instructions before it are appended to `out`. If `sign` is 0, the value stays the same, but the device's
        compiler can see neither this nor the sign. `shape` is the value's (see `Globals.shape`).
        """
        scope, (_scalar, bits, count) = self._globals, shape
        type_id, integer = scope.type_of(value), scope.integer(bits, count)
        word = sign << (bits - 1)
        words = (word & 0xFFFFFFFF, word >> 32)[: 1 + bits // 64]
        mask = self.like(scope.constant(scope.integer(bits), *words)) if sign else self.of(scope.integer(bits))
        if count > 1:
            out.append(scope.new_instruction(_SPLAT, integer, *(mask,) * count))
            mask = out[-1].result or 0
        if type_id == integer:
            return scope.new_instruction(_XOR, type_id, value, mask)
        out.append(scope.new_instruction(_BITCAST, integer, value))
        out.append(scope.new_instruction(_XOR, integer, out[-1].result or 0, mask))
        return scope.new_instruction(_BITCAST, type_id, out[-1].result or 0)

    def hide(self, item: Instruction, values: Container[int], out: list[Instruction]) -> None:
        """Replace the operands of a comparison that are among the `values` by equal opaque values.

        The opaque values are calculated at the end of `out`. Each operand has a separate zero, because the compiler
        would remove the same zero on both sides.
        """
        item.operands = tuple(
            self._equal(word, at, out) if word in values else word for at, word in enumerate(item.operands)
        )

    def _equal(self, value: int, number: int, out: list[Instruction]) -> int:
        """Return an integer equal to `value` that the device's compiler cannot compute: its xor with an opaque zero.

        A value that is such an integer already, or that is no integer, is returned unchanged. `number` selects the
        opaque zero.
        """
        if value in self._hidden or self._globals.width(value) is None:
            return value
        type_id = self._globals.type_of(value)
        out.append(self._globals.new_instruction(_XOR, type_id, value, self.of(type_id, number)))
        result = out[-1].result or 0
        self._hidden.add(result)
        return result

    def loop_variant_zero(self, type_id: int, out: list[Instruction]) -> int:
        """Return an opaque zero that is recomputed in every iteration of the enclosing loop, at the end of `out`."""
        scope = self._globals
        if type_id not in self._turns:
            self._turns[type_id] = scope.module.new_id()
            self._variables.append(instruction("OpVariable", scope.pointer(type_id), self._turns[type_id], FUNCTION))
            self._accesses.append(instruction("OpStore", self._turns[type_id], scope.null(type_id)))
        before = scope.new_instruction(_LOAD, type_id, self._turns[type_id])
        after = scope.new_instruction(_ADD, type_id, before.result or 0, self.of(type_id))
        out += (before, after, instruction("OpStore", self._turns[type_id], after.result or 0))
        return after.result or 0

    def inserted(self, code: list[Instruction]) -> list[Instruction]:
        """Return the function with the variables, and their initial accesses at its beginning."""
        if not self._values:
            return code
        entry = next(at for at, item in enumerate(code) if item.opcode == LABEL) + 1
        body = max((at for at, item in enumerate(code) if item.opcode == _VARIABLE), default=entry - 1) + 1
        return [*code[:entry], *self._variables, *code[entry:body], *self._accesses, *code[body:]]
