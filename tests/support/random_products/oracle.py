"""The numbers that a call must yield, and the largest error that floating-point arithmetic permits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .activations import ACTIVATIONS
from .draw import Call
from .formats import FORMATS, Float

Array = npt.NDArray[Any]

ROUNDINGS = 8
"""Roundings of a component besides the k of its sum: of the factors, c, the bias, and a sum of integers to float."""


@dataclass(frozen=True)
class Expected:
    """A result before it is rounded to the type of c: value +- error."""

    value: Array
    error: Array


def expected(call: Call, numbers: Mapping[str, Array | float]) -> Expected:
    """Return the result for the decoded operands; `numbers` has scale_a and scale_b also if they are numbers."""
    if call.options.is_integer:
        return _integer_result(call, numbers)
    exact = np.longdouble if "f64" in (call.options.a, call.options.out) else np.float64
    with np.errstate(all="ignore"):
        operands = {name: np.asarray(found).astype(exact) for name, found in numbers.items()}
        value = _formula(call, operands, call.alpha, call.beta)
        sizes = {name: np.abs(found) for name, found in operands.items()}
        size = _formula(call, sizes, abs(call.alpha), abs(call.beta))
        unit = call.options.epsilon / 2
        roundings = ROUNDINGS + (1 if call.options.has_integers else call.k)
        bound = roundings * unit / (1 - roundings * unit) + roundings * float(np.finfo(exact).eps)
        return _activated(call, Expected(value, bound * size))


def _integer_result(call: Call, numbers: Mapping[str, Array | float]) -> Expected:
    operands = {name: np.asarray(found).astype(np.int64) for name, found in numbers.items()}
    value = _formula(call, operands, int(call.alpha), int(call.beta))
    return Expected(value, np.zeros_like(value))


def _formula(call: Call, operands: Mapping[str, Array], alpha: float, beta: float) -> Array:
    a, b = operands["a"], operands["b"]
    a = np.swapaxes(a, -1, -2) if call.trans_a else a
    b = np.swapaxes(b, -1, -2) if call.trans_b else b
    value: Array = a @ b
    if "scale_a" in operands:
        value = value * operands["scale_a"].reshape(-1, 1)
    if "scale_b" in operands:
        value = value * operands["scale_b"].reshape(1, -1)
    value = value * value.dtype.type(alpha)
    if beta:
        value = value + value.dtype.type(beta) * operands["c"]
    if "bias" in operands:
        value = value + operands["bias"]
    return value


def _activated(call: Call, found: Expected) -> Expected:
    if not call.options.activation:
        return found
    activation = ACTIVATIONS[call.options.activation]
    value = activation.value(found.value)
    own = activation.relative * np.abs(value) + activation.argument * np.abs(found.value)
    # exp overflows where silu is nearly 0.
    least = 0 if activation.relative == 0 else 2.0 ** (-120 if call.options.real.name == "f32" else -1000)
    return Expected(value, activation.slope * found.error + own * call.options.epsilon + least)


def differences(call: Call, found: Expected, actual: Array) -> Array:
    """Return a boolean for each component: whether it is outside the rounded interval."""
    out = FORMATS[call.options.out]
    decoded = out.decode(actual)
    with np.errstate(all="ignore"):
        error = np.where(np.isfinite(found.error), found.error, 0)
        low, high = out.round(found.value - error), out.round(found.value + error)
        is_right = (low <= decoded) & (decoded <= high)
        if isinstance(out, Float):
            is_right |= np.isnan(decoded) & np.isnan(found.value)
            if out.overflow == "nan":
                is_right |= np.isnan(decoded) & (np.isinf(low) | np.isinf(high))
    return np.broadcast_to(~is_right, actual.shape)


def range_text(call: Call, found: Expected, place: tuple[int, ...]) -> str:
    """Describe the interval of one component."""
    out = FORMATS[call.options.out]
    value, error = found.value[place], found.error[place]
    ends = [float(out.round(np.asarray(value + sign * error))) for sign in (-1, 1)]
    return f"{float(value):.9g} +- {float(error):.3g}, rounded {ends[0]:.9g} to {ends[1]:.9g}"
