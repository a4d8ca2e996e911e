"""The kernels that products of matrices of given types need, for programs that launch them without Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coopmat.matrices.variants import ComponentType

from .kernels import least_of_piece, macros_of, most_of_piece, source_text, variant_of
from .operands import Operand
from .panels import CHUNK as CHUNK, Panels, panels_of
from .parameters import MOST_ROWS, TableError, Tiling, fits, is_permitted, listed, table, tables_of, tilings_of_row
from .plans import components_of
from .products import real_type

SHAPE_CLASSES = ("rows", "tall", "wide", "small", "medium", "large")
"""The classes of `shape_class`, but for those of several products."""


def measured(route: str) -> str:
    """Return where the tiles of a route were measured; empty if they were not."""
    return str(table(route)["measured"])


@dataclass(frozen=True)
class Source:
    """A source with the compiler options that select the variant.

    kernel: the name of the kernel. file: that of the file.
    work_items: those of a work-group; 0 if they are those of subgroups.
    """

    kernel: str
    file: str
    options: tuple[str, ...]
    work_items: int = 0

    @property
    def text(self) -> str:
        """The source's OpenCL C."""
        return source_text(self.file)


@dataclass(frozen=True)
class Choice:
    """A tiling with the kernel that computes it, and the conditions for the product.

    shape_class: the class of the product's shape; empty for every class.
    rows: the largest m; 0 for any.
    is_whole: whether m, n and k must be multiples of the tile's.
    piece: the bytes of which the rows of A and B, their distances and offsets must be multiples; 0 for any.
    panels: the panels of A and B, which must not be empty; no panels if the kernel reads A and B.
    """

    shape_class: str
    rows: int
    is_whole: bool
    piece: int
    tiling: Tiling
    source: Source
    panels: tuple[Panels, ...]

    @property
    def needs_k(self) -> bool:
        """Whether k must not be 0."""
        return bool(self.panels or self.tiling.block)

    @property
    def is_for_all(self) -> bool:
        """Whether there are no conditions but `needs_k`."""
        return not (self.shape_class or self.rows or self.is_whole or self.piece)


@dataclass(frozen=True)
class Listing:
    """The products C = alpha A B + beta C of row-major matrices, one at a time.

    types: the component types of A, B, the sums, alpha and beta, and C.
    transposes_b: whether B is stored as n x k.
    """

    types: tuple[ComponentType, ...]
    transposes_b: bool = False

    @classmethod
    def of(cls, names: tuple[str, ...], transposes_b: bool = False) -> Listing:
        """Return the products of components with these names: A's, B's and C's.

        If B's is missing, it is A's; if C's is missing, it is that of the sums. Raises TypeError and ValueError.
        """
        a, b, total, c = components_of(names * 2 if len(names) == 1 else names)
        return cls((a, b, total, real_type(total, c.name), c), transposes_b)

    def choices(self, route: str, instructions: tuple[str, ...], local_memory: int) -> Iterator[Choice]:
        """Yield the choices in the order of preference; the last one is for all products.

        route: the name of the table. instructions: the names of the device's instructions. local_memory: in bytes.
        """
        last, few = None, 0  # the rows of A for which there are choices
        dots = listed(table(route)["gemm"].get(self.types[0].name, {}).get("dots", [])) if self.transposes_b else []
        for row in dots:
            tiling = Tiling.from_dict(row)
            if fits(tiling, 0, self.types) and is_permitted(row, table(route)):
                yield from self._choices(tiling, "", row.get("rows", 0), row.get("whole", False))
                few = max(few, 0 if row.get("whole") else row.get("rows", 0))
        for classes in tables_of(route, self.types):
            for shape_class in (*SHAPE_CLASSES, "default"):
                for row in classes.get(shape_class, []) if shape_class != "rows" or few < MOST_ROWS else []:
                    if row.get("needs", "") not in ("", *instructions) or not is_permitted(row, table(route)):
                        continue
                    conditions = shape_class.replace("default", ""), row.get("rows", 0), row.get("whole", False)
                    for last in tilings_of_row(row):
                        if not fits(last, local_memory, self.types):
                            continue
                        if shape_class in ("rows", "default") and not (last.panels or last.block or conditions[2]):
                            most = row.get("rows", last.tile[0])
                            if few < (low := min(last.tile[0] - 1, most)):
                                yield from self._choices(last, conditions[0], low, is_whole=False, is_low=True)
                            few = max(few, most)
                        yield from self._choices(last, *conditions)
        if last is None:
            raise TableError(f"the lists allow and deny of your table exclude all tiles of {self.types[0].name}")
        yield from self._choices(Tiling(last.tile), "", 0, False)

    def _choices(
        self, tiling: Tiling, shape_class: str, rows: int, is_whole: bool, *, is_low: bool = False
    ) -> Iterator[Choice]:
        """Yield the choice of a tiling; if it has blocks, one for each size of pieces, the largest first.

        is_low: whether it is for fewer rows than the tile's, so that most loads of B need no checks.
        """
        size, pieces = self.types[0].size, {0}
        if tiling.block:
            most, least = most_of_piece(tiling, size), least_of_piece(size)
            pieces = {most, least} if most >= least else set()
        b = Operand("b", self.types[1], (1, 2, 2), (0, 2, 1))
        operands = Operand("a", self.types[0], (1, 2, 2), (0, 2, 1)), b.transposed() if self.transposes_b else b
        flags = frozenset({"HAS_ALPHA", "CHECKS_BETA", *(["ROUND"] if self.types[4].name in ("s8", "u8") else [])})
        flags |= {"IS_LOW"} if is_low else set()
        for piece in sorted(pieces, reverse=True):
            variant = variant_of(operands, self.types, flags, tiling, piece, is_whole and not tiling.block)
            panels = panels_of(operands, tiling) if tiling.panels else ()
            options = tuple(f"-D{name}={value}" for name, value in macros_of(variant).items())
            source = Source("gemm", "dot.cl" if tiling.dot else "gemm.cl", options, tiling.dot)
            yield Choice(shape_class, rows, is_whole, piece, tiling, source, panels)
