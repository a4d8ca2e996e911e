"""Loads and stores of vectors at the addresses of their components, and of halves: vloadn, vstore_half and others."""

from __future__ import annotations

from ...spirv.module import ENUM, Instruction
from .code import Code
from .context import Context
from .layout import PSB
from .pointers import VECTOR

_ALIGNED, _ROUNDING = ENUM["MemoryAccess.Aligned"], ENUM["Decoration.FPRoundingMode"]
# The largest vector that one access moves.
_WIDTH = 4
# vloada_halfn and vstorea_halfn move vectors of three halves at multiples of four.
_PADDED = 4


class VectorData:
    """The rewriting of the functions for vector data; `names` lists them."""

    names = frozenset(
        (
            *("vloadn", "vstoren", "vload_half", "vload_halfn", "vloada_halfn", "vstore_half", "vstore_half_r"),
            *("vstore_halfn", "vstore_halfn_r", "vstorea_halfn", "vstorea_halfn_r", "prefetch"),
        )
    )

    def __init__(self, context: Context) -> None:
        self.context, self.parts, self.globals = context, context.parts, context.parts.globals

    def rewrite(self, code: Code, item: Instruction, name: str) -> None:
        operands = item.operands[2:]
        if name == "prefetch":
            return
        if name.startswith("vload"):
            offset, pointer = operands[:2]
            value = self.load(code, item.result_type or 0, offset, pointer, name)
            code.finish(item, "OpCopyObject", value)
        else:
            value, offset, pointer = operands[:3]
            self.store(code, value, offset, pointer, name, operands[3] if name.endswith("_r") else 0)

    def shape(self, type_id: int) -> tuple[int, int]:
        """Return the component type and the number of components of a vector or scalar type."""
        kind = self.parts.definitions[type_id]
        return (kind.operands[0], kind.operands[1]) if kind.opcode == VECTOR else (type_id, 1)

    def load(self, code: Code, type_id: int, offset: int, pointer: int, name: str) -> int:
        element, count = self.shape(type_id)
        memory = self.half(name) or element
        first = self.first(code, offset, pointer, self.step(name, count))
        parts: list[int] = []
        for at, width in self.pieces(pointer, count):
            place = self.place(code, first, pointer, memory, at, width)
            kind = self.vector(memory, width)
            value = code.add("OpLoad", kind, place, *self.access(pointer, memory))
            parts.append(value if memory == element else code.add("OpFConvert", self.vector(element, width), value))
        return parts[0] if len(parts) == 1 else code.add("OpCompositeConstruct", type_id, *parts)

    def store(self, code: Code, value: int, offset: int, pointer: int, name: str, mode: int) -> None:
        element, count = self.shape(code.type_of(value))
        memory = self.half(name) or element
        first = self.first(code, offset, pointer, self.step(name, count))
        scalars = [value] if count == 1 else [code.add("OpCompositeExtract", element, value, n) for n in range(count)]
        for at, width in self.pieces(pointer, count):
            place = self.place(code, first, pointer, memory, at, width)
            part = value
            if width != count:
                own = scalars[at : at + width]
                part = own[0] if width == 1 else code.add("OpCompositeConstruct", self.vector(element, width), *own)
            if memory != element:
                part = code.add("OpFConvert", self.vector(memory, width), part)
                if mode:
                    self.parts.decorate(part, [(_ROUNDING, mode)])
            code.add("OpStore", None, place, part, *self.access(pointer, memory))

    def half(self, name: str) -> int:
        """Return the type half if the function accesses halves; otherwise 0."""
        return self.globals.intern("OpTypeFloat", 16) if "half" in name else 0

    def step(self, name: str, count: int) -> int:
        """Return the number of elements between vectors in memory."""
        return _PADDED if count == 3 and name.startswith(("vloada", "vstorea")) else count

    def vector(self, element: int, width: int) -> int:
        return element if width == 1 else self.globals.intern("OpTypeVector", element, width)

    def pieces(self, pointer: int, count: int) -> list[tuple[int, int]]:
        """Return the first component and the number of components of each access."""
        width = min(count, _WIDTH) if self.parts.types.storage_class(pointer) == PSB else 1
        return [(at, width) for at in range(0, count, width)]

    def first(self, code: Code, offset: int, pointer: int, step: int) -> int:
        """Return the index of the first element."""
        if step == 1:
            return offset
        kind = code.type_of(offset)
        bits = self.parts.definitions[kind].operands[0]
        return code.add("OpIMul", kind, offset, self.globals.number(step, bits))

    def place(self, code: Code, first: int, pointer: int, memory: int, at: int, width: int) -> int:
        """Return a pointer to `width` elements from the element `first + at` on."""
        kind = code.type_of(first)
        if at:
            bits = self.parts.definitions[kind].operands[0]
            first = code.add("OpIAdd", kind, first, self.globals.number(at, bits))
        place = code.add("OpPtrAccessChain", code.type_of(pointer), pointer, first)
        space = self.parts.types.storage_class(pointer)
        target = self.vector(memory, width)
        pointer_type = self.context.layout.pointer(target) if space == PSB else self.globals.pointer(target, space)
        return place if pointer_type == code.type_of(pointer) else code.add("OpBitcast", pointer_type, place)

    def access(self, pointer: int, memory: int) -> tuple[int, ...]:
        """Return the memory operands: addresses need only the alignment of the elements."""
        size = self.context.layout.size(memory)
        return (_ALIGNED, size) if self.parts.types.storage_class(pointer) == PSB else ()
