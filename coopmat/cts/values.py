"""Inputs of matrix operations: values that a device is likely to mishandle, within the domain of the operation."""

from __future__ import annotations

from typing import Any

import numpy as np

from coopmat.matrices.numpy_reference import Array, narrow
from coopmat.matrices.variants import ComponentType


def whole_range(rng: np.random.Generator, component: ComponentType, *shape: int) -> Array:
    """Return random values of the type's whole range, about 30 % of them from `specials`."""
    if component.is_bits and component.is_integer:
        values = narrow(
            component, rng.integers(int(component.least), int(component.largest) + 1, shape).astype(np.float32)
        )
        choice = narrow(component, np.array(specials(component), np.float32))
    elif component.is_integer:
        limits = np.iinfo(component.numpy)
        values = rng.integers(limits.min, limits.max, shape, component.numpy, endpoint=True)
        choice = np.array(specials(component), component.numpy)
    else:
        values = narrow(component, rng.standard_normal(shape) * 4)
        choice = narrow(component, np.array(specials(component)))
    return np.where(rng.random(shape) < 0.3, rng.choice(choice, shape), values)


def specials(component: ComponentType) -> list[Any]:
    """Return the values that devices mishandle most easily: extremes, zeros, infinities, NaN, subnormals, ones."""
    if component.is_integer:
        least, largest = int(component.least), int(component.largest)
        return [least, largest, 0, 1, largest // 2 + 1]
    return [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, *_edges(component)]


# The types without subnormal inputs in this process.
_without_subnormals: set[str] = set()


def leave_out_subnormals() -> None:
    """Use no subnormal floats and doubles as inputs in this process, because a Vulkan device may flush them to zero."""
    _without_subnormals.update(("f32", "f64"))


def _edges(component: ComponentType) -> list[float]:
    """Return the least subnormal, five times it (negative), the least normal number, and the greatest of both signs.

    Without subnormals, the least normal number takes the place of the least subnormal.
    """
    least = component.normal * (1.0 if component.name in _without_subnormals else component.epsilon)
    return [least, -least * 5, component.normal, component.largest, -component.largest]


def moderate(rng: np.random.Generator, component: ComponentType, *shape: int) -> Array:
    """Return random integers of the whole range, or floats from -8 to 8 in steps of 1/8."""
    if component.is_integer:
        return whole_range(rng, component, *shape)
    return narrow(component, rng.integers(-64, 65, shape) / 8)


def divisors(component: ComponentType, y: Array) -> Array:
    """Return `y` with undefined integer divisors replaced by 3: 0, and -1, with which the least integer overflows."""
    if component.is_integer:
        y = np.where((y == 0) | (y == np.array(-1).astype(y.dtype)), y.dtype.type(3), y)
    return y


def convertible(rng: np.random.Generator, source: ComponentType, to: ComponentType, *shape: int) -> Array:
    """Return values whose conversion from `source` to `to` without saturation is defined.

    For floats to integers, the values have fractions and are in the target's range; for other pairs, any value is
    defined.
    """
    if source.is_integer or not to.is_integer:
        return whole_range(rng, source, *shape)
    low, high = int(to.least), int(to.largest)
    ties = rng.integers(max(low, -100), min(high, 100), shape) + rng.choice([0.0, 0.5, 0.25, -0.5, 0.75], shape)
    return narrow(source, np.clip(ties, low, high))
