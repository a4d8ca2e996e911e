"""A selection of the matrix types and multiply-adds that lowered routes compute, to test devices without instructions.

They compute all combinations: component types of one class (`may_multiply`) and all shapes. In the selection,
every type of A occurs with every type of B, and each of these with every type of C. Every pair of `DIMENSIONS` occurs
as (M, N), as (N, K) and as (M, K). Most multiply-adds are small, because they become straight-line code. The order is
fixed: the list is the same in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, product
from math import gcd, prod
from typing import TypeVar, overload

from .supported import parse_variants
from .variants import COMPONENT_TYPES, EVERY_COMPONENT_TYPE, ComponentType, Kind, MatrixType, Use, Variant, may_multiply

DIMENSIONS = (1, 2, 3, 4, 5, 7, 8, 16, 32, 64)
SUB_GROUP_SIZES = (1, 4, 8, 16, 32)

# The largest M N K of shapes that `multiply_adds` repeats for further pairings, after every shape has occurred.
_SMALL = 128
# If M N K exceeds this, a shape occurs only with component types that compile fast: no saturation, no 64 bits.
_DEAR = 1024
# If M K exceeds this, straight-line code takes ten seconds to compile. `covering_shapes` then combines M and K with the
# largest N only, for which a loop is emitted.
_LONGEST = 1024
# The most components of a matrix in `matrix_types`: for the first shape of each component type, and for the others.
# A device's compiler takes minutes over arrays of matrices of 4096 components; only multiply-adds have such matrices.
_FEW_COMPONENTS = 64
_MOST_COMPONENTS = 1024
# Multiply-adds of the sizes that programs use.
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
        """Return the variant of a shape (M, N, K)."""
        return Variant(*shape, self.a, self.b, self.c, self.c, self.saturating)


def every_pairing(components: Iterable[ComponentType] = COMPONENT_TYPES.values()) -> tuple[Pairing, ...]:
    """Return all pairings of these component types that the language allows; C and the result have the same type."""
    types = tuple(components)
    return tuple(
        Pairing(a, b, c, saturating)
        for a, b, c in product(types, repeat=3)
        if may_multiply(a, b, c)
        for saturating in ((False, True) if c.is_integer else (False,))
    )


def pairings(components: Iterable[ComponentType] = COMPONENT_TYPES.values(), *, turn: int = 0) -> tuple[Pairing, ...]:
    """Return pairings in which every A occurs with every B, both with and without saturation.

    The types of C are chosen so that every A and every B occurs with every C; `turn` rotates this choice.
    """
    types = tuple(components)
    result = []
    for saturating in (False, True):
        for kind in Kind:
            row = [t for t in types if t.kind is kind]
            if saturating and kind is not Kind.INTEGER:
                continue
            for (i, a), (j, b) in product(enumerate(row), repeat=2):
                result.append(Pairing(a, b, row[(i + j + turn + saturating) % len(row)], saturating))
    return tuple(result)


def covering_shapes() -> tuple[Shape, ...]:
    """Return shapes (M, N, K) in which each pair of `DIMENSIONS` occurs in each two of the three positions."""
    values, most = len(DIMENSIONS), max(DIMENSIONS)
    shapes: list[Shape] = []
    shape: Shape
    for m, n in product(range(values), repeat=2):
        # The indices add up to 8 or 18: any two of them determine the third, and no two are large.
        shape = (DIMENSIONS[m], DIMENSIONS[n], DIMENSIONS[(values - 2 - m - n) % values])
        if shape[0] * shape[2] <= _LONGEST:
            shapes.append(shape)
        else:
            shapes += [(shape[0], most, shape[2]), (shape[0], shape[1], 1), (1, shape[1], shape[2])]
    return tuple(dict.fromkeys(shapes))


def multiply_adds(
    components: Iterable[ComponentType] = COMPONENT_TYPES.values(), *, turn: int = 0
) -> tuple[Variant, ...]:
    """Return the selection for devices that have these component types; another `turn` pairs the types differently."""
    types = tuple(components)
    shapes = covering_shapes()
    dear = sorted((s for s in shapes if prod(s) > _DEAR), key=lambda s: (s[0] * s[2], s), reverse=True)
    others = [s for s in shapes if prod(s) <= _DEAR]
    small = [s for s in others if prod(s) <= _SMALL]
    candidates = pairings(types, turn=turn)
    fast = sorted((p for p in candidates if not p.saturating and p.c.bits <= 32), key=lambda p: p.c.is_integer)
    variants = [pairing.variant(shape) for pairing, shape in zip(cycle(fast), dear, strict=False)]
    # Floating-point pairings are few, so they are repeated with small shapes.
    queue = [pairing for pairing in candidates if pairing not in fast[: len(dear)] or not pairing.c.is_integer]
    # With this step, adjacent pairings, which share component types, get very different shapes.
    step = next(s for s in range(len(queue) * 2 // 5 + 1, 2 * len(queue) + 2) if gcd(s, len(queue)) == 1)
    for i in range(max(len(queue), len(others))):
        pairing, rest = queue[i * step % len(queue)], small[i % len(small)]
        variants.append(pairing.variant(others[i] if i < len(others) else rest))
    large = [variant for variant in _LARGE if all(component in types for component in variant.components)]
    return tuple(dict.fromkeys([*variants, *large]))


def narrow_multiply_adds() -> tuple[Variant, ...]:
    """Return multiply-adds of every pair of integer factors of which at least one has 4 bits."""
    factors = [EVERY_COMPONENT_TYPE[name] for name in ("s4", "u4", "s8", "u8")]
    pairs = [(a, b) for a, b in product(factors, repeat=2) if a.is_nibble or b.is_nibble]
    shapes = cycle(((16, 16, 16), (3, 5, 7), (8, 8, 32), (1, 16, 4), (16, 32, 8)))
    sums = cycle(COMPONENT_TYPES[name] for name in ("s32", "u32", "s16"))
    return tuple(Variant(*shape, a, b, c, c) for (a, b), shape, c in zip(pairs, shapes, sums, strict=False))


def few_multiply_adds(variants: Iterable[Variant]) -> tuple[Variant, ...]:
    """Return a few of the small variants that cover all component types and dimensions.

    Each component type occurs in each position, with and without saturation, and each dimension in each position.
    """

    def facts(v: Variant) -> Iterator[Hashable]:
        yield from enumerate((v.m, v.n, v.k))
        yield from (
            (place, component.name, v.saturating) for place, component in zip("abc", v.components, strict=False)
        )

    return covering([v for v in variants if v.m * v.n * v.k <= 4 * _SMALL], facts)


def covering(items: Sequence[Item], facts: Callable[[Item], Iterable[Hashable]]) -> tuple[Item, ...]:
    """Return items, in their order, that together have all facts.

    The choice is greedy: the next item is the one with the most new facts.
    """
    remaining_facts = {item: set(facts(item)) for item in items}
    selection: set[Item] = set()
    while True:
        best = max(remaining_facts, key=lambda item: len(remaining_facts[item]), default=None)
        if best is None or not remaining_facts[best]:
            return tuple(item for item in items if item in selection)
        selection.add(best)
        new = remaining_facts.pop(best)
        for others in remaining_facts.values():
            others -= new


def matrix_types(
    components: Iterable[ComponentType] = COMPONENT_TYPES.values(), *, turn: int = 0
) -> tuple[MatrixType, ...]:
    """Return matrix types for operations on single matrices: each component type with each use, in four shapes.

    Every dimension occurs as a number of rows and of columns. The first shape of each component type is small, and
    these small shapes alone include every dimension.
    """
    types, n = tuple(components), len(DIMENSIONS)
    n_types, result = len(types), []
    for i in range(4 * n_types):
        (turns, which), rows = divmod(i, n_types), i % n
        # In each run of n types, the indices of rows and columns have a constant sum modulo n. So every dimension
        # occurs as both, unless the limit below shrinks the shape.
        columns = (n - 1 + 3 * (i // n) - rows) % n
        most = _FEW_COMPONENTS if i < n_types else _MOST_COMPONENTS
        while DIMENSIONS[rows] * DIMENSIONS[columns] > most:
            columns -= 1
        # The use alternates from type to type, and each of a type's four shapes has another use than the one before.
        use = Use((i + turns * (n_types % len(Use) == 0) + turn) % len(Use))
        result.append(MatrixType(types[which], DIMENSIONS[rows], DIMENSIONS[columns], use))
    return tuple(dict.fromkeys(result))


class EveryMultiplyAdd(Sequence[Variant]):
    """A sequence of the variants of every pairing with every shape of `DIMENSIONS`, made on access."""

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
    """Return matrix types of each component type with each use and each shape of `DIMENSIONS`."""
    return tuple(MatrixType(t, r, c, use) for t, use, r, c in product(components, Use, DIMENSIONS, DIMENSIONS))
