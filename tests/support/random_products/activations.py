"""The activations that calls draw: their text, their numbers, and how they enlarge an error."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Activation:
    """An activation.

    text: the argument of the call.
    value: the function.
    slope: its Lipschitz constant.
    relative: its own error in units of eps * |result|.
    argument: its own error in units of eps * |x|.
    """

    text: str
    value: Callable[[Array], Array]
    slope: float
    relative: float = 0.0
    argument: float = 0.0


def _gelu(x: Array) -> Array:
    # erfc has no cancellation for negative arguments.
    factor = np.vectorize(lambda number: math.erfc(-number / math.sqrt(2)), otypes=[np.float64])
    found: Array = 0.5 * x * factor(x.astype(np.float64))
    return found


def _silu(x: Array) -> Array:
    found: Array = x / (1 + np.exp(-x))
    return found


def _leaky(x: Array) -> Array:
    return np.where(x > 0, x, x / 64)


_TWO_FUNCTIONS = """
#define LIMIT ((REAL)6)
static REAL upper(REAL x) { return fmin(x, LIMIT); }
REAL activation(REAL x)
{
    // A function of two functions.
    return fmax(upper(x), (REAL)0) - (REAL)1;
}
"""
# OpenCL promises erf to 16 ulp, exp to 3 and a division to 2.5 ulp in float.
ACTIVATIONS = {
    "relu": Activation("relu", lambda x: np.maximum(x, 0), 1.0),
    "gelu": Activation("gelu", _gelu, 1.13, 4.0, 10.0),
    "silu": Activation("silu", _silu, 1.1, 10.0),
    "fabs": Activation("REAL activation(REAL x) { return fabs(x); }", np.abs, 1.0),
    "leaky": Activation("REAL activation(REAL x) { return x > 0 ? x : x / 64; }", _leaky, 1.0),
    "softsign": Activation(
        "REAL activation(REAL x) { return x / (1 + fabs(x)); }", lambda x: x / (1 + np.abs(x)), 1.0, 4.0
    ),
    "two_functions": Activation(_TWO_FUNCTIONS, lambda x: np.clip(x, 0, 6) - 1, 1.0, 1.0),
}
