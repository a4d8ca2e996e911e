"""Types whose matrices are private storage: which they are, what they become, how large that is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ...matrices.strategies import Strategy, storage_alignment, storage_components
from ...matrices.variants import MatrixType
from .operations import LLVM_NAMES, MENTION, TYPE, matrix_of
from .text import Malformed, split, tokens

_SIZES = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "i1": 1}
_NAMED = re.compile(r"%(?:\"[^\"]*\"|[-\w.$]+)")


@dataclass(slots=True)
class Storage:
    """`types` are the module's named types. Sizes and alignments are in bytes, by the rules of SPIR-V's data layout."""

    strategy: Strategy
    sub_group_size: int
    types: dict[str, str]
    _layouts: dict[str, tuple[int, int]] = field(default_factory=dict)
    _carrying: dict[str, bool] = field(default_factory=dict)

    def carries(self, text: str) -> bool:
        """Whether a value of the type has matrices in it."""
        known = self._carrying.get(text)
        if known is None:
            named = _NAMED.findall(text) if "%" in text else []
            known = MENTION in text or any(self.carries(self.types[name]) for name in named if name in self.types)
            self._carrying[text] = known
        return known

    def of(self, matrix: MatrixType) -> str:
        count = storage_components(self.strategy, matrix, self.sub_group_size)
        # Vectors give the storage its alignment inside records, too.
        width = storage_alignment(self.strategy, matrix) // matrix.component.size
        name = "i16" if matrix.component.name == "bf16" else LLVM_NAMES[matrix.component]
        return f"[{count // width} x {name if width == 1 else f'<{width} x {name}>'}]"

    def lowered(self, text: str) -> str:
        """Text with the storage's type in place of each matrix type."""

        def change(match: re.Match[str]) -> str:
            matrix = matrix_of(match[0])
            assert matrix is not None
            return self.of(matrix)

        return TYPE.sub(change, text) if MENTION in text else text

    def layout(self, text: str) -> tuple[int, int]:
        """Size and alignment of a type, with storage for its matrices."""
        known = self._layouts.get(text)
        if known is None:
            known = self._layouts[text] = self._layout(self.lowered(text))
        return known

    def _layout(self, text: str) -> tuple[int, int]:
        if text in _SIZES:
            return _SIZES[text], _SIZES[text]
        if text.startswith("ptr"):
            return 8, 8
        if re.fullmatch(r"i\d+", text):
            size = _power(-(-int(text[1:]) // 8))
            return size, min(size, 8)
        if text in self.types:
            return self.layout(self.types[text])
        sequence = re.fullmatch(r"([\[<])(\d+) x (.*)[\]>]", text, re.DOTALL)
        if sequence:
            size, align = self.layout(sequence[3])
            if sequence[1] == "[":
                return int(sequence[2]) * size, align
            whole = _power(int(sequence[2]) * size)
            return whole, whole
        record = re.fullmatch(r"(<?)\{(.*)\}>?", text, re.DOTALL)
        if record is None:
            raise Malformed("ir-not-supported", f"the size of the type {text} is not known", text)
        return self._record(record[2], packed=bool(record[1]))

    def _record(self, members: str, packed: bool) -> tuple[int, int]:
        size, most = 0, 1
        for words in split(tokens(members)):
            bytes_, align = self.layout("".join(words))
            align = 1 if packed else align
            size = -(-size // align) * align + bytes_
            most = max(most, align)
        return -(-size // most) * most, most


def _power(n: int) -> int:
    return 1 << max(n - 1, 0).bit_length()
