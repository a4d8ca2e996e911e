"""The layout of types that contain matrices, as LLVM assumes it: members, offsets, sizes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .operations import MENTION, TYPE
from .text import NAME, Malformed, split, tokens

_SIZES = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "i1": 1}


@dataclass(slots=True)
class Storage:
    """Queries about types; sizes and alignments are in bytes, by the rules of SPIR-V's data layout.

    types: name of a named type -> its body.
    mixed: whether a variable of the module contains matrices and other members (see `parameters`).
    """

    types: dict[str, str]
    # Set by `parameters.state`.
    mixed: bool = False
    _opaque: dict[str, tuple[int, int]] = field(default_factory=dict)
    _carrying: dict[str, bool] = field(default_factory=dict)

    def carries(self, text: str) -> bool:
        """Return whether a value of the type contains matrices."""
        result = self._carrying.get(text)
        if result is None:
            type_names = NAME.findall(text) if "%" in text else []
            result = MENTION in text or any(self.carries(self.types[name]) for name in type_names if name in self.types)
            self._carrying[text] = result
        return result

    def is_mixed(self, text: str) -> bool:
        """Return whether an object of the type contains matrices and something else."""
        return self.carries(text) and any(
            not self.carries(kind) or self.is_mixed(kind) for kind, _ in self.members(text)
        )

    def opaque_layout(self, text: str) -> tuple[int, int]:
        """Return the size and alignment of a type as LLVM assumes them: a matrix has 8 bytes."""
        layout = self._opaque.get(text)
        if layout is None:
            layout = (8, 8) if TYPE.fullmatch(text) else _layout(text, self.types, self.opaque_layout)
            self._opaque[text] = layout
        return layout

    def members(self, text: str) -> list[tuple[str, int]]:
        """Return (type, offset in `opaque_layout`) of a struct's members, or of an array's first element, if any."""
        body = self.types.get(text, text)
        sequence = re.fullmatch(r"\[(\d+) x (.*)\]", body, re.DOTALL)
        if sequence:
            return [(sequence[2], 0)] if int(sequence[1]) else []
        record = re.fullmatch(r"(<?)\{(.*)\}>?", body, re.DOTALL)
        return _placed(record[2], bool(record[1]), self.opaque_layout)[0] if record else []


Layout = Callable[[str], "tuple[int, int]"]


def _layout(text: str, types: Mapping[str, str], of: Layout) -> tuple[int, int]:
    if text in _SIZES:
        return _SIZES[text], _SIZES[text]
    if text.startswith("ptr"):
        return 8, 8
    if re.fullmatch(r"i\d+", text):
        size = _power(-(-int(text[1:]) // 8))
        return size, min(size, 8)
    if text in types:
        return of(types[text])
    sequence = re.fullmatch(r"([\[<])(\d+) x (.*)[\]>]", text, re.DOTALL)
    if sequence:
        size, align = of(sequence[3])
        if sequence[1] == "[":
            return int(sequence[2]) * size, align
        whole = _power(int(sequence[2]) * size)
        return whole, whole
    record = re.fullmatch(r"(<?)\{(.*)\}>?", text, re.DOTALL)
    if record is None:
        raise Malformed("ir-not-supported", f"the size of the type {text} is not known", text)
    _, size, most = _placed(record[2], bool(record[1]), of)
    return size, most


def _placed(members: str, packed: bool, of: Layout) -> tuple[list[tuple[str, int]], int, int]:
    """Return (type, offset) of a struct's members, and the struct's size and alignment."""
    members_at, size, most = [], 0, 1
    for words in split(tokens(members)):
        kind = "".join(words)
        bytes_, align = of(kind)
        align = 1 if packed else align
        offset = -(-size // align) * align
        members_at.append((kind, offset))
        size, most = offset + bytes_, max(most, align)
    return members_at, -(-size // most) * most, most


def _power(n: int) -> int:
    return 1 << max(n - 1, 0).bit_length()
