"""The values that builtins are tried on: edge cases in every combination, then random ones.

Of a row's element type all component counts get the same stream of VALUES scalars, cut into vectors, so that its
reference is computed once.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Sequence
from functools import cache

import numpy as np
from cases import Array
from differential import NUMPY

# Divides by 3 and by 16, into vectors whose number divides by 16.
VALUES = 1536
# All pairs, or triples of the first few, are at most half of the values.
_PAIRS, _TRIPLES = 27, 9


@cache
def edges(name: str) -> Array:
    """The edge cases of an element type; the first few are those that matter most together."""
    kind = np.dtype(NUMPY[name])
    if kind.kind != "f":
        span = np.iinfo(kind)
        some = [0, 1, span.max, span.min, span.max // 2, span.min // 2, 2, span.max - 1, span.min + 1, 3, 7, 10, 100]
        if span.min < 0:
            some[6:6] = [-1, -2, -3]
        powers = [1 << bit for bit in range(2, span.bits - 1, 3)]
        return np.array([*some, *powers, *(p - 1 for p in powers)][:_PAIRS], kind)
    limits = np.finfo(kind)
    one, infinite = kind.type(1), kind.type(np.inf)
    integral = kind.type(2.0**limits.nmant)
    values = [0.0, -0.0, 1.0, -1.5, np.inf, np.nan, limits.max, limits.tiny, limits.smallest_subnormal]
    values += [-1.0, 0.5, -0.5, 2.5, -np.inf, limits.min, -limits.tiny, -limits.smallest_subnormal]
    values += [limits.tiny / kind.type(2), np.nextafter(one, infinite), np.nextafter(one, kind.type(0)), 3.0, -2.0]
    values += [np.pi / 2, np.pi, 10.0, integral, integral / 2 + 0.5]
    return np.array(values[:_PAIRS]).astype(kind)


def integers(name: str, count: int, generator: np.random.Generator) -> Array:
    """Half over the whole range, half of few bits."""
    kind = np.dtype(NUMPY[name])
    span = np.iinfo(kind)
    values = generator.integers(span.min, span.max, count, kind, endpoint=True)
    return np.where(generator.random(count) < 0.5, values, values >> generator.integers(0, span.bits, count, kind))


def floats(name: str, count: int, generator: np.random.Generator, low: float, high: float, wild: bool) -> Array:
    """Most between the bounds, the others of all magnitudes and small ones if `wild`."""
    kind = np.dtype(NUMPY[name])
    limits = np.finfo(kind)
    near = generator.uniform(low, high, count)
    exponents = generator.uniform(np.log2(float(limits.tiny)), np.log2(float(limits.max)), count)
    sign = generator.choice([-1.0, 1.0], count)
    moderate = generator.standard_normal(count) * 2.0 ** generator.integers(-6, 9, count)
    pick = generator.integers(0, 10 if wild else 6, count)
    with np.errstate(all="ignore"):
        return np.where(pick < 6, near, np.where(pick < 8, moderate, sign * 2.0**exponents)).astype(kind)


Ranges = Sequence[tuple[float, float]]


def arguments(
    names: Sequence[str],
    label: str,
    ranges: Ranges = (),
    special: bool = True,
    wild: bool = True,
    values: int = VALUES,
) -> list[Array]:
    """An array for each element type in `names`: all combinations of edge cases unless `special` is false, then
    random values, which lie in the ranges unless `wild`. `label` is the seed; `ranges` are bounds for most floats, the
    last one for all further arguments."""
    generator = np.random.default_rng(zlib.crc32(f"{label} {' '.join(names)}".encode()))
    each = {1: len(edges(names[0])), 2: _PAIRS, 3: _TRIPLES}.get(len(names), 5)
    combined = list(itertools.product(*(edges(name)[:each] for name in names))) if special else []
    rest = values - len(combined)
    columns = []
    for number, name in enumerate(names):
        bounds = ranges[min(number, len(ranges) - 1)] if ranges else (-8.0, 8.0)
        is_float = np.dtype(NUMPY[name]).kind == "f"
        random = floats(name, rest, generator, *bounds, wild) if is_float else integers(name, rest, generator)
        first = np.array([row[number] for row in combined], NUMPY[name])
        columns.append(np.concatenate([first, random]))
    # Edge cases and random values side by side in one vector.
    order = generator.permutation(values)
    return [column[order] for column in columns]


def finite(values: Array, limit: float = np.inf, least: float = 0.0) -> Array:
    """The same floats with others in the place of NaNs, infinities, and magnitudes beyond the bounds."""
    with np.errstate(all="ignore"):
        magnitude = np.abs(values)
        bad = ~np.isfinite(values) | (magnitude > limit) | ((magnitude < least) & (magnitude > 0))
    replacement = np.linspace(-2, 2, values.size).astype(values.dtype).reshape(values.shape)
    return np.where(bad, replacement, values)
