"""The sizes, alignments and offsets of types in memory, as OpenCL C defines them, and types that state these offsets.

Vulkan requires decorations of layout on types in memory that the host sees, and forbids them on all other types. So
types in buffers and push constants are copies of the module's types, with ids of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...foreign.consumers import Parts
from ...spirv.module import ENUM, OP, Instruction, numbers
from ...spirv.refusal import unsupported
from ...spirv.sections import Section

_ARRAY, _STRUCT, _POINTER, _VECTOR, _INT, _FLOAT = numbers("OpType*", "Array Struct Pointer Vector Int Float")
_ARRAY_STRIDE, _OFFSET, _PACKED = numbers("Decoration.*", "ArrayStride Offset CPacked")
PSB = ENUM["StorageClass.PhysicalStorageBuffer"]
_POINTER_BYTES = 8
# The most components that a vector of Vulkan has.
WIDEST_VECTOR = 4


class Layout:
    """The layout of one module's types.

    explicit_types: type -> its copy with explicit layout, for the structs and arrays that have one.
    """

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.explicit_types: dict[int, int] = {}
        self._plain: dict[int, int] = {}
        self._sizes: dict[int, tuple[int, int]] = {}
        self._strides: set[int] = set()
        self._packed = {id_ for id_, rows in parts.decorations().items() if (_PACKED,) in rows}
        for item in parts.globals.items:
            if item.opcode in (_ARRAY, _STRUCT, _VECTOR):
                self.measure_if_possible(item)

    def measure_if_possible(self, item: Instruction) -> None:
        """Remember the size of a type before passes change its definition; ignore types without a size."""
        from ...spirv.refusal import Refused

        try:
            self.size(item.result or 0)
        except Refused:
            return

    def size(self, type_id: int) -> int:
        """Return the bytes of a value in memory, with padding. Raise Refused for types without a size."""
        return self._measure(type_id)[0]

    def alignment(self, type_id: int) -> int:
        return self._measure(type_id)[1]

    def member_alignments(self, struct: Instruction) -> list[int]:
        """Return the alignment of each member of a struct: 1 in a packed struct."""
        is_packed = self.plain(struct.result or 0) in self._packed
        return [1 if is_packed else self.alignment(member) for member in struct.operands]

    def is_unaligned(self, struct: int) -> bool:
        """Return whether a packed struct, or one that holds it, has scalars that are not at multiples of their size."""
        if not self._holds_packed(struct):
            return False
        places = [*self.members(self.parts.definitions[struct]), (self.size(struct), struct)]
        return any(at % self.scalar_alignment(type_id) for at, type_id in places)

    def _holds_packed(self, type_id: int) -> bool:
        item = self.parts.definitions[type_id]
        if item.opcode == _ARRAY:
            return self._holds_packed(item.operands[0])
        return item.opcode == _STRUCT and (type_id in self._packed or any(map(self._holds_packed, item.operands)))

    def scalar_alignment(self, type_id: int) -> int:
        """Return the size of the largest scalar in a type."""
        item = self.parts.definitions[self._plain.get(type_id, type_id)]
        if item.opcode == _STRUCT:
            return max(map(self.scalar_alignment, item.operands), default=1)
        return self.scalar_alignment(item.operands[0]) if item.opcode in (_ARRAY, _VECTOR) else self.size(type_id)

    def _measure(self, type_id: int) -> tuple[int, int]:
        type_id = self._plain.get(type_id, type_id)
        if type_id not in self._sizes:
            self._sizes[type_id] = self._compute(self.parts.definitions[type_id])
        return self._sizes[type_id]

    def _compute(self, item: Instruction) -> tuple[int, int]:
        if item.opcode in (_INT, _FLOAT):
            return item.operands[0] // 8, item.operands[0] // 8
        if item.opcode == _POINTER:
            return _POINTER_BYTES, _POINTER_BYTES
        if item.opcode == _VECTOR:
            count = item.operands[1]
            size = self.size(item.operands[0]) * (4 if count == 3 else count)
            return size, size
        if item.opcode == _ARRAY:
            size, alignment = self._measure(item.operands[0])
            return size * self.parts.types.constants.value(item.operands[1]), alignment
        if item.opcode == _STRUCT:
            end = max((at + self.size(member) for at, member in self.members(item)), default=0)
            alignment = max(self.member_alignments(item), default=1)
            return -(-end // alignment) * alignment, alignment
        raise unsupported(item, "a type without a size in memory")

    def members(self, struct: Instruction) -> Iterator[tuple[int, int]]:
        """Yield the offset and the type of each member of a struct."""
        at = 0
        for member, alignment in zip(struct.operands, self.member_alignments(struct), strict=True):
            at = -(-at // alignment) * alignment
            yield at, member
            at += self.size(member)

    # --- types with explicit layout

    def explicit(self, type_id: int) -> int:
        """Return the type with explicit layout that corresponds to a type: another id for structs and arrays."""
        if type_id in self._plain:
            return type_id
        if type_id not in self.explicit_types:
            new = self._copy(self.parts.definitions[type_id])
            if new == type_id:
                return type_id
            self.explicit_types[type_id] = new
            self._plain[new] = type_id
        return self.explicit_types[type_id]

    def plain(self, type_id: int) -> int:
        """Return the type without layout that corresponds to a type of `explicit`."""
        return self._plain.get(type_id, type_id)

    def _copy(self, item: Instruction) -> int:
        globals_, new_id = self.parts.globals, self.parts.module.new_id
        if item.opcode == _ARRAY:
            element, length = item.operands
            new = globals_.add(Instruction(_ARRAY, (self.explicit(element), length), None, new_id()))
            self.parts.decorate(new, [(_ARRAY_STRIDE, self.size(element))])
            return new
        if item.opcode == _VECTOR and item.operands[1] > WIDEST_VECTOR:
            # `wide_vectors` makes the type an array, too.
            part = globals_.intern("OpTypeVector", item.operands[0], WIDEST_VECTOR)
            length = globals_.number(item.operands[1] // WIDEST_VECTOR)
            new = globals_.add(Instruction(_ARRAY, (part, length), None, new_id()))
            self.parts.decorate(new, [(_ARRAY_STRIDE, self.size(part))])
            return new
        if item.opcode == _STRUCT:
            members = tuple(map(self.explicit, item.operands))
            new = globals_.add(Instruction(_STRUCT, members, None, new_id()))
            offsets = [at for at, _ in self.members(item)]
            self.decorate_members(new, offsets)
            return new
        return item.result or 0

    def decorate_members(self, struct: int, offsets: list[int]) -> None:
        self.parts.sections[Section.ANNOTATION] += [
            Instruction(OP["OpMemberDecorate"], (struct, n, _OFFSET, at)) for n, at in enumerate(offsets)
        ]

    def pointer(self, pointee: int) -> int:
        """Return the type of addresses of values of the type `pointee`, with the stride of pointer arithmetic."""
        pointer = self.parts.globals.pointer(self.explicit(pointee), PSB)
        self.decorate_pointer(pointer)
        return pointer

    def decorate_pointer(self, pointer: int) -> None:
        """Decorate a type of addresses with the size of its pointee, unless it is decorated already."""
        if pointer not in self._strides:
            self._strides.add(pointer)
            size = self.size(self.parts.definitions[pointer].operands[1])
            self.parts.decorate(pointer, [(_ARRAY_STRIDE, max(size, 1))])
