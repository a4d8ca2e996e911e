"""Multiply-adds that a lowering's devices have instructions for: each is a section of the library's."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from .holdings import Holding, Interleaved
from .variants import COMPONENT_TYPES, ComponentType, MatrixType, Use, Variant


@dataclass(frozen=True, slots=True)
class Product:
    """`a`, `b` and `c` name the component types that it takes, each with each; the shape of a matrix is a multiple of
    `m`, `n` and `k`, which are the instruction's. `pack` is how many rows of B lie together; `feature` is
    what a processor that has it says in Linux."""

    section: str
    a: tuple[str, ...]
    b: tuple[str, ...]
    c: tuple[str, ...]
    m: int
    n: int
    k: int
    pack: int = 1
    feature: str = ""

    def takes(self, a: MatrixType, b: MatrixType, c: MatrixType) -> bool:
        names = zip((a, b, c), (self.a, self.b, self.c), strict=True)
        return all(matrix.component.name in allowed for matrix, allowed in names) and not (
            c.rows % self.m or c.columns % self.n or a.columns % self.k
        )

    def holding(self, matrix: MatrixType) -> Holding | None:
        """How a matrix must lie for the instruction, None where any way will do."""
        if matrix.use is not Use.B or matrix.component.name not in self.b:
            return None
        if self.pack == 1 or matrix.rows % self.k or matrix.columns % self.n:
            return None
        return Interleaved(matrix.rows, matrix.columns, 1, self.pack)

    def variants(self) -> tuple[Variant, ...]:
        """One for each choice of component types, of a shape that is several of the instruction's."""
        m, n, k = 3 * self.m, 2 * self.n, 3 * self.k
        types = (map(COMPONENT_TYPES.__getitem__, names) for names in product(self.a, self.b, self.c))
        return tuple(
            Variant(m, n, k, a, b, c, c, saturating)
            for a, b, c in types
            for saturating in ((False, True) if c.is_integer else (False,))
        )


def _integers(*bits: int) -> tuple[str, ...]:
    return tuple(row.name for row in COMPONENT_TYPES.values() if row.is_integer and row.bits in bits)


_BYTES = _integers(8)
# Intel's SDM, volume 2: VPDPBUSD adds four products of bytes, unsigned and signed, to each of 16 integers of 32 bits;
# VDPBF16PS two products of bfloat16 to each of 16 floats.
X86 = (
    Product("MUL_ADD_BYTES", _BYTES, _BYTES, _integers(8, 16, 32), 1, 16, 4, pack=4, feature="avx512_vnni"),
    Product("MUL_ADD_BFLOAT16", ("bf16",), ("bf16",), ("f32",), 1, 16, 2, pack=2, feature="avx512_bf16"),
)


def joined(component: ComponentType, pack: int) -> str:
    """`pack` vectors of 16 components, loaded from rows of memory, as 16 words in which those of a column lie
    together."""
    bits = "as_uchar16" if component.bits == 8 else ""
    parts = (
        f"convert_uint16({bits}(vload16(0, p + CM_OFFSET(r + {i}, c)))) << {i * component.bits}" for i in range(pack)
    )
    return f"({' | '.join(parts)})"
