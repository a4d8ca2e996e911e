"""The operations of `reference` by component type instead of by dtype: for types that numpy lacks too, and with their
tolerances.

A matrix of such a type is an array of bit patterns; its arithmetic is binary32's, rounded once more, which is exact for
one operation (a binary32 has more than twice the digits).
"""

from __future__ import annotations

import numpy as np

from . import reference, small_floats
from .reference import Array
from .variants import COMPONENT_TYPES, ComponentType, Operands

F32 = COMPONENT_TYPES["f32"]
# Division, in units in the last place, one of other types; everything else is exact.
DIVISION = {"f32": 2.5, "f64": 0.0}


def widen(component: ComponentType, x: Array) -> Array:
    """Convert to the type in which numpy calculates: bit patterns become float32, everything else is unchanged."""
    return small_floats.decoded(component, x) if component.is_bits else x


def narrow(component: ComponentType, x: Array) -> Array:
    """Convert back; to bit patterns rounded to nearest, ties to even."""
    return small_floats.encoded(component, x) if component.is_bits else x.astype(component.numpy)


def arithmetic_type(component: ComponentType) -> ComponentType:
    return F32 if component.is_bits else component


def binary(component: ComponentType, operator: str, x: Array, y: Array) -> Array:
    return narrow(component, reference.binary(operator, widen(component, x), widen(component, y)))


def negate(component: ComponentType, x: Array) -> Array:
    return narrow(component, reference.negate(widen(component, x)))


def convert(x: Array, source: ComponentType, to: ComponentType, rounding: str = "", saturate: bool = False) -> Array:
    if source == to:
        return x
    if not to.is_bits:
        return reference.convert(widen(source, x), to, rounding, saturate)
    return small_floats.encoded(to, widen(source, x), rounding, saturate)


def mul_add(types: tuple[ComponentType, ...], a: Array, b: Array, c: Array, mask: Operands) -> tuple[Array, Array]:
    """Return a b + c, and the largest error that it may have."""
    if not any(t.is_bits for t in types):
        return reference.mul_add(a, b, c, mask), reference.mul_add_bound(a, b, c)
    wide = [widen(t, x).astype(np.float64) for t, x in zip(types, (a, b, c), strict=True)]
    with np.errstate(all="ignore"):
        exact = wide[0] @ wide[1] + wide[2]
        size = np.abs(wide[0]) @ np.abs(wide[1]) + np.abs(wide[2])
    return narrow(types[2], exact), (a.shape[1] + 2) * types[2].epsilon * size


# --- comparison ------------------------------------------------------------------------------------


def division_tolerance(component: ComponentType, quotient: Array) -> Array | float:
    ulps = 0.0 if component.is_integer else DIVISION.get(component.name, 1.0)
    if not ulps:
        return 0.0
    with np.errstate(all="ignore"):
        if component.is_bits:
            wide = np.abs(widen(component, quotient).astype(np.float64))
            least = component.normal * component.epsilon
            return np.where(np.isfinite(wide), np.maximum(wide * component.epsilon, least), 0.0)
        return ulps * np.spacing(np.abs(quotient)).astype(np.float64)


def wrong_places(component: ComponentType, actual: Array, expected: Array, tolerance: Array | float = 0.0) -> Array:
    """Return where two arrays differ, bit for bit, except that all NaNs are equal, and so are numbers within
    `tolerance` (absolute)."""
    same = actual.view(f"u{component.size}") == expected.view(f"u{component.size}")
    if not component.is_integer:
        with np.errstate(all="ignore"):
            x, y = widen(component, actual).astype(np.float64), widen(component, expected).astype(np.float64)
            near = np.isfinite(x) & np.isfinite(y) & (np.abs(x - y) <= tolerance) & (np.asarray(tolerance) > 0)
        same = same | near | (np.isnan(x) & np.isnan(y))
    return np.asarray(~same)
