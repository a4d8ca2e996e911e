"""The selection of variants that lowerings are tested with: what it covers."""

from __future__ import annotations

from itertools import combinations, product
from math import prod

import pytest

from coopmat.frontend import types as language
from coopmat.matrices import emulated
from coopmat.matrices.emulated import DIMENSIONS
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType, Use, may_multiply

EVERY = tuple(COMPONENT_TYPES.values())
NO_HALF = tuple(t for t in EVERY if t.name != "f16")
NO_DOUBLE = tuple(t for t in NO_HALF if t.name != "f64")


def test_the_rule_is_the_languages() -> None:
    """All integers or all floating point, as the front end's types have it."""
    scalars = {str(t): t for t in (*language.SMALL_FLOATS, *language.INTEGERS, *language.FLOATS)}
    for a, b, c in product(EVERY, repeat=3):
        classes = {scalars[t.opencl_c].is_float for t in (a, b, c)}
        assert may_multiply(a, b, c) == (len(classes) == 1)


@pytest.mark.parametrize("components", [EVERY, NO_HALF, NO_DOUBLE, EVERY[:1]], ids=len)
@pytest.mark.parametrize("turn", [0, 1, 5])
def test_what_the_multiply_adds_cover(components: tuple[ComponentType, ...], turn: int) -> None:
    variants = emulated.multiply_adds(components, turn=turn)
    assert len(variants) == len(set(variants))
    assert all(v.c == v.result and set(v.components) <= set(components) for v in variants)
    allowed = {(a, b) for a, b in product(components, repeat=2) if may_multiply(a, b)}
    for saturating in (False, True):
        wanted = {(a, b) for a, b in allowed if a.is_integer or not saturating}
        found = [v.components[:3] for v in variants if v.saturating == saturating]
        for first, second in combinations(range(3), 2):
            assert {(types[first], types[second]) for types in found} == wanted
    shapes = [(v.m, v.n, v.k) for v in variants]
    for first, second in combinations(range(3), 2):
        assert {(shape[first], shape[second]) for shape in shapes} == set(product(DIMENSIONS, repeat=2))


def test_most_products_are_small() -> None:
    sizes = sorted(v.m * v.n * v.k for v in emulated.multiply_adds())
    assert sizes[len(sizes) // 2] <= 512 and sum(size > 4096 for size in sizes) <= 4
    # Those of many multiplications have neither 64 bits nor saturation.
    dear = [v for v in emulated.multiply_adds() if v.m * v.n * v.k > 1024 and not v.m == v.n == v.k]
    assert not [v for v in dear if v.saturating or v.c.bits == 64]


def test_the_list_is_the_same_every_time() -> None:
    assert emulated.multiply_adds() == emulated.multiply_adds()
    assert emulated.multiply_adds(turn=1) != emulated.multiply_adds()
    assert emulated.multiply_adds()[0].name == "64x64x64.f16xf16_f16_f16.nosat"


def test_a_few_multiply_adds() -> None:
    few = emulated.few_multiply_adds(emulated.multiply_adds())
    assert len(few) <= 32 and all(v.m * v.n * v.k <= 512 for v in few)
    for place in range(3):
        assert {v.components[place] for v in few if not v.saturating} == set(EVERY)
        assert {v.components[place] for v in few if v.saturating} == {t for t in EVERY if t.is_integer}


def test_every_multiply_add() -> None:
    few = EVERY[:4]  # three of floating point and an integer
    every = emulated.EveryMultiplyAdd(few)
    pairings = 3**3 + 2
    assert len(every) == pairings * len(DIMENSIONS) ** 3 == len(set(every))
    assert set(emulated.multiply_adds(few)) <= set(every)
    assert every[-1] == every[len(every) - 1] == list(every[-2:])[1]
    with pytest.raises(IndexError):
        every[len(every)]
    assert len(emulated.EveryMultiplyAdd()) == (2 * 8**3 + 6**3) * 1000


@pytest.mark.parametrize("components", [EVERY, NO_HALF, NO_DOUBLE], ids=len)
def test_what_the_matrix_types_cover(components: tuple[ComponentType, ...]) -> None:
    types = emulated.matrix_types(components)
    assert len(types) == 4 * len(components) == len(set(types))
    assert {(m.component, m.use) for m in types} == set(product(components, Use))
    assert set(types) <= set(emulated.every_matrix_type(components))
    # The first for each component type are a selection by themselves.
    for selection in (types, types[: 2 * len(components)], types[: len(components)]):
        assert {m.component for m in selection} == set(components)
        assert {m.rows for m in selection} == {m.columns for m in selection} == set(DIMENSIONS)
        assert {m.use for m in selection} == set(Use)
    assert max(prod((m.rows, m.columns)) for m in types[: len(components)]) <= 64
