"""The operations of `reference` by component type instead of dtype, with tolerances.

They include types that numpy lacks: a matrix of such a type is an array of bit patterns. Its arithmetic is in float32
with a further rounding. For a single operation the result is exact, because float32 has more than twice the digits.
"""

from __future__ import annotations

import numpy as np

from . import reference, small_floats
from .reference import Array
from .variants import COMPONENT_TYPES, ComponentType, Operands

F32 = COMPONENT_TYPES["f32"]
# component type -> error of a division in units in the last place; 1 for other floating-point types. Other operations
# are exact.
DIVISION = {"f32": 2.5, "f64": 0.0}


def widen(component: ComponentType, x: Array) -> Array:
    """Convert an array to the type in which numpy calculates; bit patterns become float32, other types remain."""
    return small_floats.decoded(component, x) if component.is_bits else x


def narrow(component: ComponentType, x: Array) -> Array:
    """Convert an array back from the type of `widen`; bit patterns are rounded to nearest, ties to even."""
    return small_floats.encoded(component, x) if component.is_bits else x.astype(component.numpy)


def arithmetic_type(component: ComponentType) -> ComponentType:
    """Return the type in which numpy calculates with a component type."""
    return F32 if component.is_bits else component


def binary(component: ComponentType, operator: str, x: Array, y: Array) -> Array:
    """Return the result of an operator on two arrays of a component type."""
    return narrow(component, reference.binary(operator, widen(component, x), widen(component, y)))


def negate(component: ComponentType, x: Array) -> Array:
    """Return the negated components of an array of a component type."""
    return narrow(component, reference.negate(widen(component, x)))


def convert(x: Array, source: ComponentType, to: ComponentType, rounding: str = "", saturate: bool = False) -> Array:
    """Convert an array from one component type to another, like `reference.convert`."""
    if source == to:
        return x
    if not to.is_bits:
        return reference.convert(widen(source, x), to, rounding, saturate)
    return small_floats.encoded(to, widen(source, x), rounding, saturate)


def mul_add(types: tuple[ComponentType, ...], a: Array, b: Array, c: Array, mask: Operands) -> tuple[Array, Array]:
    """Return a b + c, and the largest error of each component."""
    if not any(t.is_bits for t in types):
        return reference.mul_add(a, b, c, mask), reference.mul_add_bound(a, b, c)
    wide = [widen(t, x).astype(np.float64) for t, x in zip(types, (a, b, c), strict=True)]
    with np.errstate(all="ignore"):
        exact = wide[0] @ wide[1] + wide[2]
        size = np.abs(wide[0]) @ np.abs(wide[1]) + np.abs(wide[2])
    return narrow(types[2], exact), (a.shape[1] + 2) * types[2].epsilon * size


# --- comparison ------------------------------------------------------------------------------------


def division_tolerance(component: ComponentType, quotient: Array) -> Array | float:
    """Return the largest absolute error of a quotient."""
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
    """Return a mask of the components in which two arrays differ.

    Components are compared bit for bit, except that all NaNs are equal, and numbers within the absolute `tolerance` are
    equal.
    """
    same = actual.view(f"u{component.size}") == expected.view(f"u{component.size}")
    if not component.is_integer:
        with np.errstate(all="ignore"):
            x, y = widen(component, actual).astype(np.float64), widen(component, expected).astype(np.float64)
            near = np.isfinite(x) & np.isfinite(y) & (np.abs(x - y) <= tolerance) & (np.asarray(tolerance) > 0)
        same = same | near | (np.isnan(x) & np.isnan(y))
    return np.asarray(~same)
