"""`reference`, by component type instead of by dtype: with bf16, which has no numpy dtype, and with what may differ.

A bf16 matrix is its uint16 bit patterns; its arithmetic is binary32's, rounded once more, which is exact for one
operation (a binary32 has more than twice the digits).
"""

from __future__ import annotations

import numpy as np

from . import reference
from .reference import Array
from .variants import COMPONENT_TYPES, ComponentType, Operands

F32 = COMPONENT_TYPES["f32"]
# Division, in units in the last place; everything else is exact.
DIVISION = {"f16": 1.0, "f32": 2.5, "f64": 0.0, "bf16": 1.0}


def widen(component: ComponentType, x: Array) -> Array:
    """To what numpy calculates with: bf16 becomes float32, everything else stays."""
    if component.name != "bf16":
        return x
    return (x.astype(np.uint32) << 16).view(np.float32)


def narrow(component: ComponentType, x: Array) -> Array:
    """Back; float32 (or wider, exactly representable in it up to rounding to odd) to the nearest bf16, ties to even."""
    if component.name != "bf16":
        return x.astype(component.numpy)
    single = x.astype(np.float32)
    bits = single.view(np.uint32)
    rounded = ((bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(single), np.uint16(0x7FC0), rounded).astype(np.uint16)


def arithmetic_type(component: ComponentType) -> ComponentType:
    return F32 if component.name == "bf16" else component


def binary(component: ComponentType, operator: str, x: Array, y: Array) -> Array:
    return narrow(component, reference.binary(operator, widen(component, x), widen(component, y)))


def negate(component: ComponentType, x: Array) -> Array:
    return narrow(component, reference.negate(widen(component, x)))


def convert(x: Array, source: ComponentType, to: ComponentType, rounding: str = "", saturate: bool = False) -> Array:
    if source == to:
        return x
    if to.name != "bf16":
        return reference.convert(widen(source, x), to, rounding, saturate)
    return _to_bf16(widen(source, x), rounding)


def _to_bf16(x: Array, rounding: str) -> Array:
    """Through a binary32 that is rounded to odd, so that the second rounding is the only one."""
    exact = x.astype(np.longdouble)
    with np.errstate(all="ignore"):
        single = reference.convert(x, F32, "rtz") if x.dtype != np.float32 else x
    bits = single.view(np.uint32).copy()
    finite = np.isfinite(single)
    with np.errstate(all="ignore"):
        inexact = finite & (single.astype(np.longdouble) != exact)
    bits[inexact] |= 1
    if rounding in ("", "rte"):
        return narrow(COMPONENT_TYPES["bf16"], bits.view(np.float32))
    negative, cut = (bits >> 31) == 1, (bits & 0xFFFF) != 0
    away = finite & cut & (negative if rounding == "rtn" else ~negative if rounding == "rtp" else False)
    result = ((bits >> 16) + away).astype(np.uint16)
    return np.asarray(np.where(np.isnan(single), np.uint16(0x7FC0), result).astype(np.uint16))


def mul_add(types: tuple[ComponentType, ...], a: Array, b: Array, c: Array, mask: Operands) -> tuple[Array, Array]:
    """a b + c, and how far off it may be."""
    if "bf16" not in {t.name for t in types}:
        return reference.mul_add(a, b, c, mask), reference.mul_add_bound(a, b, c)
    wide = [widen(t, x).astype(np.float64) for t, x in zip(types, (a, b, c), strict=True)]
    with np.errstate(all="ignore"):
        exact = wide[0] @ wide[1] + wide[2]
        size = np.abs(wide[0]) @ np.abs(wide[1]) + np.abs(wide[2])
    eps = 2.0**-7 if types[2].name == "bf16" else float(np.finfo(types[2].numpy).eps)
    return narrow(types[2], exact), (a.shape[1] + 2) * eps * size


# --- comparison ------------------------------------------------------------------------------------


def division_tolerance(component: ComponentType, quotient: Array) -> Array | float:
    ulps = 0.0 if component.is_integer else DIVISION[component.name]
    if not ulps:
        return 0.0
    with np.errstate(all="ignore"):
        if component.name == "bf16":
            wide = np.abs(widen(component, quotient).astype(np.float64))
            return np.where(np.isfinite(wide), np.maximum(wide * 2.0**-7, 2.0**-133), 0.0)
        return ulps * np.spacing(np.abs(quotient)).astype(np.float64)


def wrong_places(component: ComponentType, got: Array, expected: Array, tolerance: Array | float = 0.0) -> Array:
    """Where they differ: bit for bit, but any NaN is a NaN, and as near as `tolerance` (absolute) is near enough."""
    same = got.view(f"u{component.size}") == expected.view(f"u{component.size}")
    if not component.is_integer:
        with np.errstate(all="ignore"):
            x, y = widen(component, got).astype(np.float64), widen(component, expected).astype(np.float64)
            near = np.isfinite(x) & np.isfinite(y) & (np.abs(x - y) <= tolerance) & (np.asarray(tolerance) > 0)
        same = same | near | (np.isnan(x) & np.isnan(y))
    return np.asarray(~same)
