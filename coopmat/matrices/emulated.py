"""What a device without matrix instructions is tested with: a selection of what the lowerings compute.

That is everything: component types of one class, in any order (`may_multiply`), and every shape. In the selection every
type of A meets every type of B, and either every type of C; every pair of `DIMENSIONS` occurs as (M, N), as (N, K) and
as (M, K). Most products are small, since they become straight-line code. The order is fixed: the same list every time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, product
from math import gcd, prod
from typing import TypeVar, overload

from .supported import parse_variants
from .variants import COMPONENT_TYPES, ComponentType, Kind, MatrixType, Use, Variant, may_multiply

DIMENSIONS = (1, 2, 3, 4, 5, 7, 8, 16, 32, 64)
SUB_GROUP_SIZES = (1, 4, 8, 16, 32)

# Multiplications of a shape that may occur with any number of pairings.
_SMALL = 128
# Above it a shape occurs with component types that compile fast: no saturation, no 64 bits.
_DEAR = 1024
# M K above it takes ten seconds as straight-line code, unless N is such that it becomes a loop.
_LONGEST = 1024
# Components of a single matrix. Of 4096, a device's compiler takes minutes over a kernel with an array of matrices;
# products have such ones.
_FEW_COMPONENTS = 64
_MOST_COMPONENTS = 1024
# Products of the sizes that programs have.
_LARGE = parse_variants(
    "16x16x16.f16xf16_f32_f32 16x16x16.bf16xbf16_f32_f32 16x16x16.u8xs8_s32_s32.sat 32x32x32.s8xs8_s32_s32"
)

Item = TypeVar("Item")
Shape = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Pairing:
    """The component types of A, B and the accumulator, and whether the sum saturates."""

    a: ComponentType
    b: ComponentType
    c: ComponentType
    saturating: bool

    def variant(self, shape: Shape) -> Variant:
        """`shape` is M, N, K."""
        return Variant(*shape, self.a, self.b, self.c, self.c, self.saturating)


def every_pairing(components: Iterable[ComponentType] = COMPONENT_TYPES.values()) -> tuple[Pairing, ...]:
    """All that the language allows of these component types; C and the result are of one type."""
    types = tuple(components)
    return tuple(
        Pairing(a, b, c, saturating)
        for a, b, c in product(types, repeat=3)
        if may_multiply(a, b, c)
        for saturating in ((False, True) if c.is_integer else (False,))
    )


def pairings(components: Iterable[ComponentType] = COMPONENT_TYPES.values(), *, turn: int = 0) -> tuple[Pairing, ...]:
    """Every A with every B, saturating and not, and with such a C that every A and every B meets every C too."""
    types = tuple(components)
    found = []
    for saturating in (False, True):
        for kind in Kind:
            row = [t for t in types if t.kind is kind]
            if saturating and kind is not Kind.INTEGER:
                continue
            for (i, a), (j, b) in product(enumerate(row), repeat=2):
                found.append(Pairing(a, b, row[(i + j + turn + saturating) % len(row)], saturating))
    return tuple(found)


def covering_shapes() -> tuple[Shape, ...]:
    """M, N, K, with each pair of `DIMENSIONS` in each two of the places."""
    values, most = len(DIMENSIONS), max(DIMENSIONS)
    shapes: list[Shape] = []
    shape: Shape
    for m, n in product(range(values), repeat=2):
        # The indices add up to 8 or 18, so that any two of them give the third and no two are large.
        shape = (DIMENSIONS[m], DIMENSIONS[n], DIMENSIONS[(values - 2 - m - n) % values])
        if shape[0] * shape[2] <= _LONGEST:
            shapes.append(shape)
        else:
            shapes += [(shape[0], most, shape[2]), (shape[0], shape[1], 1), (1, shape[1], shape[2])]
    return tuple(dict.fromkeys(shapes))


def multiply_adds(
    components: Iterable[ComponentType] = COMPONENT_TYPES.values(), *, turn: int = 0
) -> tuple[Variant, ...]:
    """The list for devices that have these component types. Another `turn` puts types together differently."""
    types = tuple(components)
    shapes = covering_shapes()
    dear = sorted((s for s in shapes if prod(s) > _DEAR), key=lambda s: (s[0] * s[2], s), reverse=True)
    others = [s for s in shapes if prod(s) <= _DEAR]
    small = [s for s in others if prod(s) <= _SMALL]
    found = pairings(types, turn=turn)
    fast = sorted((p for p in found if not p.saturating and p.c.bits <= 32), key=lambda p: p.c.is_integer)
    variants = [pairing.variant(shape) for pairing, shape in zip(cycle(fast), dear, strict=False)]
    # There are so few of floating point that they come once more, with small shapes.
    left = [pairing for pairing in found if pairing not in fast[: len(dear)] or not pairing.c.is_integer]
    # So that neighbours, which share component types, get shapes that are far apart.
    step = next(s for s in range(len(left) * 2 // 5 + 1, 2 * len(left) + 2) if gcd(s, len(left)) == 1)
    for i in range(max(len(left), len(others))):
        pairing, rest = left[i * step % len(left)], small[i % len(small)]
        variants.append(pairing.variant(others[i] if i < len(others) else rest))
    large = [variant for variant in _LARGE if all(component in types for component in variant.components)]
    return tuple(dict.fromkeys([*variants, *large]))


def few_multiply_adds(variants: Iterable[Variant]) -> tuple[Variant, ...]:
    """Of small ones, as many as it takes to have each component type in each place, saturating or not, and each
    dimension in each place."""

    def facts(v: Variant) -> Iterator[Hashable]:
        yield from enumerate((v.m, v.n, v.k))
        yield from (
            (place, component.name, v.saturating) for place, component in zip("abc", v.components, strict=False)
        )

    return covering([v for v in variants if v.m * v.n * v.k <= 4 * _SMALL], facts)


def covering(items: Sequence[Item], facts: Callable[[Item], Iterable[Hashable]]) -> tuple[Item, ...]:
    """Items, in their order, that together have all facts: again and again the one that has most new ones."""
    left = {item: set(facts(item)) for item in items}
    chosen: set[Item] = set()
    while True:
        best = max(left, key=lambda item: len(left[item]), default=None)
        if best is None or not left[best]:
            return tuple(item for item in items if item in chosen)
        chosen.add(best)
        new = left.pop(best)
        for others in left.values():
            others -= new


def matrix_types(
    components: Iterable[ComponentType] = COMPONENT_TYPES.values(), *, turn: int = 0
) -> tuple[MatrixType, ...]:
    """For operations on single matrices: each component type with each use, four shapes for each component type.

    Every dimension occurs as rows and as columns; the first for each component type are small and do so already.
    """
    types, n = tuple(components), len(DIMENSIONS)
    n_types, found = len(types), []
    for i in range(4 * n_types):
        (turns, which), rows = divmod(i, n_types), i % n
        # In each ten, the indices of rows and columns add up to the same, modulo ten.
        columns = (n - 1 + 3 * (i // n) - rows) % n
        most = _FEW_COMPONENTS if i < n_types else _MOST_COMPONENTS
        while DIMENSIONS[rows] * DIMENSIONS[columns] > most:
            columns -= 1
        # Uses alternate, and a component type comes with another one each time.
        use = Use((i + turns * (n_types % len(Use) == 0) + turn) % len(Use))
        found.append(MatrixType(types[which], DIMENSIONS[rows], DIMENSIONS[columns], use))
    return tuple(dict.fromkeys(found))


class EveryMultiplyAdd(Sequence[Variant]):
    """Every pairing with every shape of `DIMENSIONS`: a thousand shapes for each, made when they are asked for."""

    def __init__(self, components: Iterable[ComponentType] = COMPONENT_TYPES.values()) -> None:
        self._pairings = every_pairing(components)
        self._shapes = [(m, n, k) for m, n, k in product(DIMENSIONS, repeat=3)]

    def __len__(self) -> int:
        return len(self._pairings) * len(self._shapes)

    @overload
    def __getitem__(self, index: int) -> Variant: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Variant]: ...
    def __getitem__(self, index: int | slice) -> Variant | Sequence[Variant]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        which, shape = divmod(index % len(self), len(self._shapes))
        return self._pairings[which].variant(self._shapes[shape])


def every_matrix_type(components: Iterable[ComponentType] = COMPONENT_TYPES.values()) -> tuple[MatrixType, ...]:
    """Each component type with each use and each shape of `DIMENSIONS`."""
    return tuple(MatrixType(t, r, c, use) for t, use, r, c in product(components, Use, DIMENSIONS, DIMENSIONS))
