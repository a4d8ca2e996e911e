"""Accesses to global memory at addresses of a lesser alignment than the scalar's size, which Vulkan lacks.

LLVM copies a struct of three floats as one integer of 64 bits and one of 32. Such an access is split into accesses to
integers of the alignment's size.
"""

from __future__ import annotations

from ...spirv.module import ENUM, OP, Instruction, numbers
from .arithmetic import Arithmetic
from .code import Code, Rule, rewrite
from .context import Context
from .layout import PSB
from .pointers import VECTOR

_ALIGNED = ENUM["MemoryAccess.Aligned"]
_SCALARS = frozenset(numbers("OpType*", "Int Float"))


def unaligned(context: Context) -> None:
    """Split loads and stores of scalars and vectors whose address is not aligned to the scalar's size."""
    splitter = _Unaligned(context)
    rules: dict[int, Rule] = {OP["OpLoad"]: splitter.load, OP["OpStore"]: splitter.store}
    rewrite(context.parts, rules)


class _Unaligned:
    def __init__(self, context: Context) -> None:
        self.parts, self.layout = context.parts, context.layout
        self.globals, self.definitions = context.parts.globals, context.parts.definitions

    def step(self, pointer: int, operands: tuple[int, ...]) -> int:
        """Return the alignment in bytes of an access that must be split; 0 for any other access."""
        if self.parts.types.storage_class(pointer) != PSB or not operands or not operands[0] & _ALIGNED:
            return 0
        kind = self.parts.types.pointee(pointer)
        scalar = self.definitions[kind].operands[0] if self.definitions[kind].opcode == VECTOR else kind
        is_split = self.definitions[scalar].opcode in _SCALARS and operands[1] < self.layout.size(scalar)
        return operands[1] if is_split else 0

    def pieces(self, code: Code, pointer: int, step: int, count: int) -> list[int]:
        """Return pointers to the `count` integers of `step` bytes at an address."""
        kind = self.layout.pointer(self.globals.integer(8 * step))
        first = code.add("OpBitcast", kind, pointer)
        return [code.add("OpPtrAccessChain", kind, first, code.u32(n)) if n else first for n in range(count)]

    def load(self, code: Code, item: Instruction) -> None:
        pointer, *operands = item.operands
        step, kind = self.step(pointer, tuple(operands)), item.result_type or 0
        if not step:
            code.keep(item)
            return
        a = Arithmetic(code, 0)
        scalar, width = a.scalar(kind), a.width(kind)
        count = self.layout.size(scalar) // step
        integer = self.globals.integer(8 * step)
        loaded = [code.add("OpLoad", integer, at, *operands) for at in self.pieces(code, pointer, step, count * width)]
        values = [self.joined(code, loaded[n * count : (n + 1) * count]) for n in range(width)]
        if width == 1:
            code.finish(item, "OpCopyObject", a.cast(values[0], kind))
        else:
            code.finish(item, "OpCompositeConstruct", *(a.cast(value, scalar) for value in values))

    def joined(self, code: Code, parts: list[int]) -> int:
        """Return the integer whose parts are integers, the lowest first."""
        while len(parts) > 1:
            bits = self.definitions[code.type_of(parts[0])].operands[0]
            pair = self.globals.intern("OpTypeVector", self.globals.integer(bits), 2)
            wide = self.globals.integer(2 * bits)
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [code.add("OpBitcast", wide, code.add("OpCompositeConstruct", pair, *both)) for both in pairs]
        return parts[0]

    def store(self, code: Code, item: Instruction) -> None:
        pointer, value, *operands = item.operands
        step = self.step(pointer, tuple(operands))
        if not step:
            code.keep(item)
            return
        a, kind = Arithmetic(code, 0), code.type_of(value)
        scalar, width = a.scalar(kind), a.width(kind)
        values = [value] if width == 1 else [code.add("OpCompositeExtract", scalar, value, n) for n in range(width)]
        parts = [part for one in values for part in self.parted(code, a.as_integers(one), 8 * step)]
        for at, part in zip(self.pieces(code, pointer, step, len(parts)), parts, strict=True):
            code.add("OpStore", None, at, part, *operands)

    def parted(self, code: Code, value: int, least: int) -> list[int]:
        """Return the integers of `least` bits that an integer consists of, the lowest first."""
        bits = self.definitions[code.type_of(value)].operands[0]
        if bits == least:
            return [value]
        half = self.globals.integer(bits // 2)
        pair = code.add("OpBitcast", self.globals.intern("OpTypeVector", half, 2), value)
        halves = (code.add("OpCompositeExtract", half, pair, n) for n in (0, 1))
        return [part for one in halves for part in self.parted(code, one, least)]
