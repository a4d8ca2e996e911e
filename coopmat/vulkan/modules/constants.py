"""The bytes of constants in memory."""

from __future__ import annotations

from ...spirv.module import OP, numbers
from .context import Context

_STRUCT, _ARRAY, _VECTOR = numbers("OpType*", "Struct Array Vector")
EMPTY = frozenset(numbers("Op*", "ConstantNull Undef"))


def constant_bytes(context: Context, constant: int, size: int) -> bytes:
    """Return the bytes of a constant of `size` bytes, with zeros between members and for undefined parts."""
    data = bytearray(size)
    _write(context, constant, data, 0)
    return bytes(data)


def _write(context: Context, constant: int, data: bytearray, at: int) -> None:
    definitions, layout = context.parts.definitions, context.layout
    item = definitions[constant]
    if item.opcode in EMPTY:
        return
    kind = definitions[item.result_type or 0]
    if item.opcode == OP["OpConstant"]:
        words = b"".join(word.to_bytes(4, "little") for word in item.operands)
        size = layout.size(item.result_type or 0)
        data[at : at + size] = words[:size]
    elif item.opcode == OP["OpConstantComposite"] and kind.opcode == _STRUCT:
        for (offset, _), part in zip(layout.members(kind), item.operands, strict=True):
            _write(context, part, data, at + offset)
    elif item.opcode == OP["OpConstantComposite"] and kind.opcode in (_ARRAY, _VECTOR):
        size = layout.size(kind.operands[0])
        for n, part in enumerate(item.operands):
            _write(context, part, data, at + n * size)
    else:
        raise context.refused("a table whose elements are no numbers: use indices in the place of pointers", constant)
