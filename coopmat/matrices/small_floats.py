"""Floating-point types that numpy lacks, as bit patterns with any widths of exponent and mantissa."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .reference import Array
from .variants import ComponentType

_ROUND: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("", "rte"), np.rint), "rtz": np.trunc, "rtp": np.ceil, "rtn": np.floor
}  # fmt: skip


def decoded(component: ComponentType, patterns: Array) -> Array:
    """Return the numbers that bit patterns represent, as float32, which can represent all of them."""
    mantissa, last = component.mantissa, 2**component.exponent - 1
    bits = patterns.astype(np.int64)
    exponent, fraction = bits >> mantissa & last, bits & (2**mantissa - 1)
    significand = fraction + np.where(exponent > 0, 2**mantissa, 0)
    value = np.ldexp(significand.astype(np.float64), np.maximum(exponent, 1) - component.bias - mantissa)
    if component.infinities:
        value = np.where(exponent == last, np.where(fraction == 0, np.inf, np.nan), value)
    else:
        value = np.where((exponent == last) & (fraction == 2**mantissa - 1), np.nan, value)
    return np.asarray(np.where(bits >> (component.bits - 1) & 1, -value, value).astype(np.float32))


def encoded(component: ComponentType, x: Array, rounding: str = "", saturate: bool = False) -> Array:
    """Return the bit patterns of numbers, rounded once; the default is to nearest, with ties to even.

    A number that is too large becomes infinity, or NaN if the type has no infinity. With `saturate`, or if it is
    rounded towards zero, it becomes the largest number.
    """
    mantissa, exact = component.mantissa, x.astype(np.longdouble)
    with np.errstate(all="ignore"):
        least = 1 - component.bias
        exponent = np.where(exact == 0, least, np.maximum(np.frexp(exact)[1] - 1, least))
        units = np.abs(_ROUND[rounding](np.ldexp(exact, mantissa - exponent)))
        finite = np.isfinite(exact)
        significand = np.where(finite, units, 0).astype(np.int64)
    # If rounding carries the significand to the next power of two, the addition carries into the exponent.
    patterns = ((exponent - least).astype(np.int64) << mantissa) + significand
    infinite = (2**component.exponent - 1) << mantissa
    last = infinite + 2**mantissa - 1
    largest = infinite - 1 if component.infinities else last - 1
    beyond = infinite if component.infinities else last
    negative = np.signbit(exact)
    clamp = finite & {"rtz": np.bool_(True), "rtp": negative, "rtn": ~negative}.get(rounding, np.bool_(False))
    patterns = np.where(finite & (patterns <= largest), patterns, np.where(clamp | saturate, largest, beyond))
    patterns = np.where(np.isnan(exact), infinite | 1 << (mantissa - 1) if component.infinities else last, patterns)
    return np.asarray((patterns | negative.astype(np.int64) << (component.bits - 1)).astype(component.numpy))
