"""Inputs of multiply-adds: well-conditioned, with infinities and NaNs, and overflowing if overflow is defined."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import Array, narrow
from coopmat.matrices.variants import ComponentType, MatrixType, Operands, Variant, default_operands

from ..profile import Profile
from ..values import whole_range
from .base import Case, sample_evenly


class Inputs(NamedTuple):
    """The matrices A, B and C of a multiply-add."""

    a: Array
    b: Array
    c: Array


def types_of(variant: Variant) -> tuple[MatrixType, MatrixType, MatrixType]:
    """Return the types of A, B and C; OpenCL C and SPIR-V give the result the type of C."""
    return variant.matrix_types()[:3]


def operands_of(variant: Variant) -> Operands:
    mask = default_operands(variant.a, variant.b, variant.c)
    return mask | Operands.SATURATING if variant.saturating else mask


def product(variant: Variant, inputs: Inputs) -> tuple[Array, Array]:
    """Return the result of the multiply-add, and the absolute error that a device may have."""
    return numpy_reference.mul_add((variant.a, variant.b, variant.c), *inputs, operands_of(variant))


def multiply_add_cases(
    profile: Profile,
    keep: Callable[[Variant], bool],
    products: float = math.inf,
    suffix: str = "",
    most: int = 0,
    first: int = 0,
) -> Iterator[Case]:
    """Yield cases of at most `most` multiply-adds for which `keep` is true; `first` rotates the choice.

    Lowered multiply-adds have at most `products` products of components (m n k).
    """
    cases = [
        Case(f"{variant.name}{suffix}{profile.suffix(size)}", size, variant)
        for variant, size in profile.multiply_adds
        if variant.c == variant.result
        and keep(variant)
        and (profile.is_native or variant.m * variant.n * variant.k <= products)
    ]
    yield from sample_evenly(profile, cases, most, first)


def is_plain(variant: Variant) -> bool:
    return not variant.saturating


def plain(rng: np.random.Generator, variant: Variant) -> Inputs:
    """Return inputs whose result does not overflow.

    Integers have factors of every sign; floating point has a few infinities and NaNs.
    """
    if not variant.a.is_integer:
        return _floating(rng, variant)
    limit = _most(variant.c) // 2
    factor = max(1, math.isqrt(limit // variant.k))
    a = _integers(rng, variant.a, factor, variant.m, variant.k)
    b = _integers(rng, variant.b, factor, variant.k, variant.n)
    return Inputs(a, b, _integers(rng, variant.c, limit, variant.m, variant.n))


def _floating(rng: np.random.Generator, variant: Variant) -> Inputs:
    """Return values around 1, so that nothing overflows or becomes subnormal; a few are infinities and NaNs."""
    a, b = rng.standard_normal((variant.m, variant.k)), rng.standard_normal((variant.k, variant.n))
    c = rng.uniform(0.25, 4.0, (variant.m, variant.n)) * rng.choice([-1.0, 1.0], (variant.m, variant.n))
    odd = [np.inf, -np.inf, np.nan]
    # At most one row of A and one component of C's last row: the other results remain finite.
    if variant.m > 2:
        a[rng.integers(variant.m - 1), rng.integers(variant.k)] = rng.choice(odd)
    if variant.m * variant.n > 2:
        c[-1, rng.integers(variant.n)] = rng.choice(odd)
    return Inputs(narrow(variant.a, a), narrow(variant.b, b), narrow(variant.c, c))


def wrapping(rng: np.random.Generator, variant: Variant) -> Inputs:
    """Return integers of the whole range, extremes included, so that at least about half of the results overflow."""
    a = whole_range(rng, variant.a, variant.m, variant.k)
    b = whole_range(rng, variant.b, variant.k, variant.n)
    products = a.astype(object) @ b.astype(object)
    return Inputs(a, b, _addends(rng, variant.c, products).astype(variant.c.numpy))


def saturating(rng: np.random.Generator, variant: Variant) -> Inputs:
    """Return inputs for which about half of the results overflow, in both directions if possible.

    The result depends neither on the order of the additions nor on the step that saturates: the products of one result
    have one sign, and their sum fits into the result's type. The language leaves other cases undefined.
    """
    most = _most(variant.c)
    factor = max(1, math.isqrt(most // variant.k))
    a = np.abs(_integers(rng, variant.a, factor, variant.m, variant.k).astype(object))
    b = np.abs(_integers(rng, variant.b, factor, variant.k, variant.n).astype(object))
    # A sum of more than `most` products overflows even if all factors are 1.
    a[:, most:] = 0
    a = a * _signs(rng, variant.a, variant.c.signed, variant.m)[:, None]
    b = b * _signs(rng, variant.b, variant.c.signed, variant.n)[None, :]
    return Inputs(
        a.astype(variant.a.numpy), b.astype(variant.b.numpy), _addends(rng, variant.c, a @ b).astype(variant.c.numpy)
    )


def _signs(rng: np.random.Generator, component: ComponentType, result_signed: bool, count: int) -> Array:
    """Return a sign, 1 or -1, for each row or column of factors; all are 1 if a type is unsigned."""
    either = component.signed and result_signed
    return np.array([int(rng.choice([-1, 1])) if either else 1 for _ in range(count)], object)


def _addends(rng: np.random.Generator, component: ComponentType, products: Array) -> Array:
    """Return addends for the sums of products.

    With half of the addends, the sum overflows. A quarter gives the extreme value exactly or nearly, and a quarter is
    random.
    """
    low, high = _least(component), _most(component)
    c = np.empty(products.shape, object)
    for at, product in np.ndenumerate(products):
        chance, end = rng.random(), high if product > 0 or (product == 0 and rng.random() < 0.5) else low
        if chance < 0.5:
            c[at] = end - (int(product) * int(rng.integers(0, 8))) // 8
        elif chance < 0.75:
            c[at] = end - int(product) - int(rng.integers(0, 2)) * (1 if end == high else -1)
        else:
            c[at] = low + int((high - low) * rng.random())
        c[at] = min(max(c[at], low), high)
    return c


def _integers(rng: np.random.Generator, component: ComponentType, most: int, *shape: int) -> Array:
    """Return random integers of a magnitude up to `most`."""
    if component.is_bits:
        return whole_range(rng, component, *shape)
    high = min(most, _most(component))
    return rng.integers(-high if component.signed else 0, high, shape, component.numpy, endpoint=True)


def _most(component: ComponentType) -> int:
    return int(np.iinfo(component.numpy).max)


def _least(component: ComponentType) -> int:
    return int(np.iinfo(component.numpy).min)
