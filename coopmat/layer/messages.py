"""The messages between the layer and its helper (`source/message.c`): lists of fields, each a name and bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterable

_SIZES = struct.Struct("=II")
SIZE = struct.Struct("=Q")
"""What precedes a message on the socket: its size in bytes."""

Fields = list[tuple[str, bytes]]


def packed(fields: Iterable[tuple[str, bytes | str | int]]) -> bytes:
    """Return the message of these fields; text is encoded as UTF-8, numbers as decimal digits."""
    parts = []
    for name, value in fields:
        data = value if isinstance(value, bytes) else str(value).encode(errors="replace")
        parts += [_SIZES.pack(len(name.encode()), len(data)), name.encode(), data]
    return b"".join(parts)


def unpacked(data: bytes) -> Fields:
    """Return the fields of a message. Raises ValueError if the message ends within a field."""
    fields: Fields = []
    at = 0
    while at < len(data):
        if len(data) - at < _SIZES.size:
            raise ValueError("a message ends within a field")
        name_size, size = _SIZES.unpack_from(data, at)
        at += _SIZES.size
        end = at + name_size + size
        if end > len(data):
            raise ValueError("a message ends within a field")
        fields.append((data[at : at + name_size].decode(errors="replace"), data[at + name_size : end]))
        at = end
    return fields
