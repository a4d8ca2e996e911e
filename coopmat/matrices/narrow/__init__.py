"""Accesses to matrices in memory whose components have 4 bits: a byte has two components, the first in its low bits.

Elsewhere each component has a byte, so that only these functions differ from those of other types.
"""

from __future__ import annotations

from typing import Any

from .. import spelling
from ..lane_layouts import Whole
from ..library_function import LibraryFunction
from ..library_functions import Load, Store, bytes_of_row, each, each_component, shuffle_macros
from ..routes import Target
from ..variants import ComponentType, Layout, MatrixType


def load(matrix: MatrixType, *how: Any) -> Load:
    """Return the library function that loads a matrix; `how` are the further fields of `Load`."""
    return (LoadNibbles if matrix.component.is_nibble else Load)(matrix, *how)


def store(matrix: MatrixType, *how: Any) -> Store:
    """Return the library function that stores a matrix; `how` are the further fields of `Store`."""
    return (StoreNibbles if matrix.component.is_nibble else Store)(matrix, *how)


class LoadNibbles(Load):
    """A `Load` of components of 4 bits."""

    __slots__ = ()

    def needs(self, target: Target) -> tuple[LibraryFunction, ...]:
        return ()

    def definitions(self, target: Target) -> dict[str, str]:
        m, w = self.matrix, target.width(self.matrix)
        is_whole = type(target.lane_layout(m)) is Whole
        in_vectors = is_whole and w > 1 and self.layout == Layout.ROW_MAJOR and not (self.checked or self.volatile)
        out = self.matrix_definitions(target, "LOAD_NIBBLES_WHOLE" if in_vectors else "LOAD_NIBBLES")
        out |= self.place_definitions() | {"CODE(x)": _component("(x)", m.component, 1)}
        if in_vectors:
            v = spelling.vector(m.component, w)
            twice = f"vload{w // 2}(0, p).s{''.join(f'{i // 2:x}' for i in range(w))}" if w > 2 else f"({v})(*(p))"
            halves = f"({v})({', '.join(('0', '4')[i % 2] for i in range(w))})"
            out["NIBBLES(p)"] = _component(f"({twice} >> {halves})", m.component, w)
        else:
            out["EACH"] = each_component(target, m, target.lane_layout(m).slots)
        return self.guarded(target, out)


class StoreNibbles(Store):
    """A `Store` of components of 4 bits. One work-item stores both components of a byte, and keeps others' bits."""

    __slots__ = ()

    def needs(self, target: Target) -> tuple[LibraryFunction, ...]:
        return ()

    def definitions(self, target: Target) -> dict[str, str]:
        m, pack = self.matrix, self.layout.pack(self.matrix.component)
        out = self.matrix_definitions(target, "STORE_NIBBLES") | self.place_definitions()
        steps = each(m.rows * m.columns, target.lane_layout(m).has_vectors)
        out |= {"EACH": steps, "BARRIER": target.barrier(self.space)}
        out |= shuffle_macros(target, m.component)
        line = {Layout.COLUMN_MAJOR: "(c)", Layout.PACKED_A: f"((c) / {pack})"}.get(self.layout, f"((r) / {pack})")
        # With an odd stride, two lines can share a byte.
        every = self.space == "private" or target.route.has_one_work_item
        return out | {"LINE(r, c)": line, "STORES(l)": "1" if every else "(lane == (stride % 2 ? 0 : (l) % CM_SG))"}

    def scratch_bytes(self, target: Target) -> int:
        return bytes_of_row(target, self.matrix.component)


def _component(x: str, component: ComponentType, w: int) -> str:
    """Return an expression for a component, or a vector of `w`, from the low bits of `x`."""
    v = spelling.vector(component, w)
    bits = f"({x} & ({v})15)"
    return f"({v})(({bits} ^ ({v})8) - ({v})8)" if component.is_integer and component.signed else f"({v}){bits}"
