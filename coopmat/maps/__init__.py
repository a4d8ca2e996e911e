"""Maps of matrices: which lane holds each component in which slot and register, as text, SVG, PNG, HTML and JSON.

`lane_map("16x16.A.f16", "mma")` is a LaneMap, and `multiply_add_map("8x8.A.f32", "8x8.B.f32", "8x8.C.f32", "lanes")` a
MultiplyAddMap. Notebooks show both as pictures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

from ..matrices.hardware_multiplies import FragmentProduct, Product
from ..matrices.lane_layouts import LaneLayout
from ..matrices.routes import LISTED_ROUTES, LOWERED_ROUTES, LoweredRoute
from ..matrices.variants import EVERY_COMPONENT_TYPE, MatrixType, Operands, Use, Variant, default_operands

__all__ = ["LaneMap", "MapError", "MultiplyAddMap", "lane_map", "multiply_add_map", "parse_type", "register"]

_NAME = re.compile(r"(\d+)x(\d+)\.([ABC])\.(\w+)")
# The most components of a map: larger ones are no pictures any more.
_MOST = 128 * 128


class MapError(ValueError):
    """Raised if a map is impossible; the text says why."""


@dataclass(frozen=True)
class LaneMap:
    """The places of a matrix's components.

    lane_layout: the lane layout of `matrix` by the route `route`.
    product: the instruction that requires the layout; None if no instruction does.
    """

    matrix: MatrixType
    route: str
    lane_layout: LaneLayout
    product: Product | None = None

    @cached_property
    def places(self) -> list[tuple[int, int, int, int]]:
        """(lane, slot, row, column) of each component; one that several lanes hold occurs once for each."""
        layout = self.lane_layout
        pairs = ((lane, slot) for lane in range(layout.lanes) for slot in range(layout.length(lane)))
        return [(lane, slot, *layout.place(lane, slot)) for lane, slot in pairs]

    @cached_property
    def holders(self) -> dict[tuple[int, int], list[tuple[int, int]]]:
        """(row, column) -> the lanes and slots that hold the component."""
        result: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for lane, slot, row, column in self.places:
            result.setdefault((row, column), []).append((lane, slot))
        return result

    @property
    def name(self) -> str:
        """The name of the matrix type."""
        return self.matrix.name

    @property
    def maps(self) -> tuple[LaneMap, ...]:
        """A tuple of only this map; `MultiplyAddMap.maps` has three."""
        return (self,)

    @property
    def tile(self) -> tuple[int, int]:
        """The rows and columns of the instruction's operand, or of the whole matrix."""
        return self.product.shapes[self.matrix.use] if self.product else (self.matrix.rows, self.matrix.columns)

    @property
    def register_bits(self) -> int | None:
        """The size of a register of the instruction; None if the route uses variables in private memory."""
        if not isinstance(self.product, FragmentProduct):
            return None
        return 8 * self.product.instructions[0].registers[self.matrix.use].size

    def register(self, slot: int) -> int | None:
        """Return the number of the register that holds a slot, from 0 on."""
        bits = self.register_bits
        return None if bits is None else slot * self.matrix.component.bits // bits

    def label(self, row: int, column: int) -> str:
        """Return the lanes and the slot of a component, such as "3:7", or "3,19:7" if two lanes hold it."""
        holders = self.holders[row, column]
        return f"{','.join(str(lane) for lane, _ in holders)}:{holders[0][1]}"

    @property
    def title(self) -> str:
        """The matrix, the route and the distribution in one line."""
        by = f" ({self.product.name})" if self.product else ""
        return f"{self.matrix.name} by {self.route}{by}: {self.distribution}"

    @property
    def distribution(self) -> str:
        """The numbers of lanes and slots, the size of registers, and the number of copies."""
        layout = self.lane_layout
        copies = f", each component in {layout.copies} lanes" if layout.copies > 1 else ""
        bits = self.register_bits
        registers = f" in registers of {bits} bits" if bits else ""
        lanes = f"{layout.lanes} lane{'s' * (layout.lanes > 1)}"
        slots = f"{layout.slots} slot{'s' * (layout.slots > 1)} each"
        return f"{lanes}, {slots}{registers}{copies}"

    def to_json(self) -> list[dict[str, int]]:
        """Return {lane, slot, row, column} of each component."""
        return [dict(zip(("lane", "slot", "row", "column"), place, strict=True)) for place in self.places]

    def text(self, *, color: bool = False, width: int = 120) -> str:
        """Return the map for a terminal of `width` columns: a cell "lane:slot" for each component."""
        from .text import grid

        return grid(self, color, width)

    def svg(self) -> str:
        return _svg([self])

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        return f"<figure>{self.svg()}<figcaption>{escape(self.title)}</figcaption></figure>"


@dataclass(frozen=True)
class MultiplyAddMap:
    """The maps of A, B and the accumulator of a multiply-add, and the instruction that computes it.

    product: the instruction; None if the route has none, and general code computes the multiply-add.
    """

    a: LaneMap
    b: LaneMap
    c: LaneMap
    product: Product | None

    @property
    def maps(self) -> tuple[LaneMap, ...]:
        """The maps of A, B and the accumulator."""
        return self.a, self.b, self.c

    @property
    def name(self) -> str:
        """The title: no shorter name is unique."""
        return self.title

    @property
    def title(self) -> str:
        """The multiply-add, and how many of which instruction compute it."""
        a, b, c = (m.matrix for m in self.maps)
        shape = f"{c.rows} x {c.columns} x {a.columns}"
        head = f"{shape} multiply-add of {a.component} x {b.component} + {c.component} by {self.a.route}"
        p = self.product
        if p is None:
            return f"{head}: no instruction, general code"
        count = (c.rows // p.m) * (c.columns // p.n) * (a.columns // p.k)
        return f"{head}: {count} of {p.name} ({p.m} x {p.n} x {p.k})"

    def to_json(self) -> dict[str, Any]:
        """Return the places of `a`, `b` and `c`, and the instruction with its shape, or None."""
        p = self.product
        instruction = None if p is None else {"name": p.name, "m": p.m, "n": p.n, "k": p.k}
        return {**{letter: m.to_json() for letter, m in zip("abc", self.maps, strict=True)}, "instruction": instruction}

    def text(self, *, color: bool = False, width: int = 120) -> str:
        return "\n".join([self.title, "", *(m.text(color=color, width=width) for m in self.maps)])

    def svg(self) -> str:
        return _svg(self.maps, product=True, title=self.title)

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        return f"<figure>{self.svg()}<figcaption>{escape(self.title)}</figcaption></figure>"


def _svg(maps: Sequence[LaneMap], *, product: bool = False, title: str = "") -> str:
    from .svg import document

    return document(maps, product, title)


def parse_type(text: str) -> MatrixType:
    """Return the matrix type with the name `text`, such as 16x16.A.f16. Raises MapError."""
    match = _NAME.fullmatch(text)
    if match is None:
        raise MapError(f"'{text}' is no matrix type: write ROWSxCOLUMNS.USE.TYPE, such as 16x16.A.f16")
    if match[4] not in EVERY_COMPONENT_TYPE:
        raise MapError(f"'{text}': '{match[4]}' is no component type: choose from {', '.join(EVERY_COMPONENT_TYPE)}")
    try:
        return MatrixType(EVERY_COMPONENT_TYPE[match[4]], int(match[1]), int(match[2]), Use("ABC".index(match[3])))
    except ValueError as error:
        raise MapError(f"'{text}': {error}") from None


def lane_map(matrix: MatrixType | str, route: str = "lanes", sub_group_size: int | None = None) -> LaneMap:
    """Return the map of a matrix, in subgroups of `sub_group_size`, or of the route's usual size. Raises MapError."""
    matrix = parse_type(matrix) if isinstance(matrix, str) else matrix
    row = _route(route)
    lanes = _lanes(row, sub_group_size)
    if matrix.of_work_group:
        raise MapError(f"{matrix.name}: matrices of a work-group have no maps yet")
    if matrix.rows * matrix.columns > _MOST:
        raise MapError(f"{matrix.name}: a map has at most {_MOST} components, not {matrix.rows * matrix.columns}")
    layout = row.lane_layout(matrix, lanes)
    return LaneMap(matrix, route, layout, next(_requiring(row, matrix, layout), None))


def _requiring(route: LoweredRoute, matrix: MatrixType, layout: LaneLayout) -> Iterator[Product]:
    """Yield the instructions that require this lane layout of the matrix."""
    return (p for p in route.products if p.lanes == layout.lanes and p.lane_layout(matrix) == layout)


def multiply_add_map(
    a: MatrixType | str,
    b: MatrixType | str,
    c: MatrixType | str,
    route: str = "lanes",
    sub_group_size: int | None = None,
    operands: Operands | None = None,
) -> MultiplyAddMap:
    """Return the maps of a multiply-add's operands. Raises MapError.

    operands: the mask of the multiply-add; by default the one that follows from the types.
    """
    maps = [lane_map(matrix, route, sub_group_size) for matrix in (a, b, c)]
    ta, tb, tc = types = [m.matrix for m in maps]
    if tuple(t.use for t in types) != tuple(Use):
        raise MapError(f"a multiply-add takes A, B and C, not {', '.join(t.name for t in types)}")
    if (ta.columns, ta.rows, tb.columns) != (tb.rows, tc.rows, tc.columns):
        raise MapError(f"shapes do not fit: {ta.shape} times {tb.shape} plus {tc.shape}")
    if len({t.component.kind for t in types}) > 1:
        raise MapError("the component types must be all integers, or all floating point")
    row = _route(route)
    mask = default_operands(*(t.component for t in types)) if operands is None else operands
    product = row.product(ta, tb, tc, mask, maps[0].lane_layout.lanes)
    # The tiles are those of the instruction that computes the multiply-add.
    a_map, b_map, c_map = (LaneMap(m.matrix, route, m.lane_layout, product or m.product) for m in maps)
    return MultiplyAddMap(a_map, b_map, c_map, product)


def _route(name: str) -> LoweredRoute:
    if name == "native":
        raise MapError("the device's driver chooses the lanes of native matrices: coop_mat_print_lanes(m) prints them")
    if name not in LOWERED_ROUTES:
        routes = ", ".join(route for route in LISTED_ROUTES if route != "native")
        raise MapError(f"'{name}' is no route: choose from {routes}")
    return LOWERED_ROUTES[name]


def _lanes(route: LoweredRoute, sub_group_size: int | None) -> int:
    if sub_group_size is not None and not 1 <= sub_group_size <= 128:
        raise MapError(f"a subgroup has 1 to 128 work-items, not {sub_group_size}")
    return route.size(sub_group_size)


def register(shell: Any) -> None:
    """Let an IPython shell show a MatrixType and a Variant as their maps by the route `lanes`."""
    formatter = shell.display_formatter.formatters["image/svg+xml"]
    formatter.for_type(MatrixType, lambda matrix: lane_map(matrix).svg())
    formatter.for_type(Variant, lambda variant: multiply_add_map(*variant.matrix_types()[:3]).svg())
