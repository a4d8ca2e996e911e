"""Which arguments a function's results are defined for, and where most of its random ones should lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from cases import Array
from inputs import Ranges, finite

Transform = Callable[[list[Array]], list[Array]]


@dataclass(frozen=True)
class Domain:
    """`ranges`: bounds of most random floats of each argument. `special`: whether edge cases are tried.
    `wild`: whether numbers of all magnitudes are. `fit` maps arguments to defined ones."""

    ranges: Ranges = ()
    special: bool = True
    wild: bool = True
    fit: Transform = list


def _finite(arguments: list[Array]) -> list[Array]:
    return [finite(a) if a.dtype.kind == "f" else a for a in arguments]


def _moderate(arguments: list[Array]) -> list[Array]:
    """Neither squares nor their sums leave the normal numbers; integers stay as they are."""
    if arguments[0].dtype.kind != "f":
        return arguments
    if arguments[0].dtype.kind != "f":
        return arguments
    limits = np.finfo(arguments[0].dtype)
    return [finite(a, float(limits.max) ** 0.5 / 8, float(limits.tiny) ** 0.5 * 8) for a in arguments]


def _ordered(first: int, second: int) -> Transform:
    """Argument `first` is at most argument `second`; no NaNs."""

    def fit(arguments: list[Array]) -> list[Array]:
        numbers = [np.nan_to_num(a) if a.dtype.kind == "f" else a for a in arguments]
        low, high = np.minimum(numbers[first], numbers[second]), np.maximum(numbers[first], numbers[second])
        numbers[first], numbers[second] = low, high
        return numbers

    return fit


def _edges_apart(arguments: list[Array]) -> list[Array]:
    """smoothstep: the first edge below the second, both of moderate size."""
    low, high, x = (finite(a, 1000.0, 1e-3) for a in arguments)
    low, high = np.minimum(low, high), np.maximum(low, high)
    return [low, (high + (high - low < 0.01) * np.asarray(1, high.dtype)).astype(high.dtype), x]


def _within(limit: float, least: float = 0.0) -> Transform:
    def fit(arguments: list[Array]) -> list[Array]:
        return [finite(a, limit, least) if a.dtype.kind == "f" else a for a in arguments]

    return fit


def _24_bits(arguments: list[Array]) -> list[Array]:
    """The factors of mul24 and mad24 fit 24 bits, with sign."""
    return [a >> 8 if number < 2 else a for number, a in enumerate(arguments)]


def _fields(arguments: list[Array]) -> list[Array]:
    """The bits from `offset`, `count` of them, lie in the value."""
    *values, offset, count = arguments
    bits = values[0].dtype.itemsize * 8
    offset = offset % (bits + 1)
    return [*values, offset, count % (bits - offset + 1)]


def _small_exponents(limit: int) -> Transform:
    """Most exponents are small; the edge cases stay."""

    def fit(arguments: list[Array]) -> list[Array]:
        x, n = arguments
        return [x, np.where(np.arange(n.size) % 4 == 0, n, n % (2 * limit) - limit).astype(n.dtype)]

    return fit


def _domains() -> dict[str, Domain]:
    found = {
        **dict.fromkeys(["acos", "asin", "acospi", "asinpi", "atanh"], Domain([(-1.0, 1.0)])),
        **dict.fromkeys(["pow", "powr"], Domain([(0.0, 4.0), (-20.0, 20.0)])),
        **dict.fromkeys(["log", "log2", "log10", "log1p", "sqrt", "rsqrt"], Domain([(0.0, 20.0)])),
        **dict.fromkeys(["exp", "exp2", "exp10", "expm1", "sinh", "cosh", "tanh"], Domain([(-12.0, 12.0)])),
        **dict.fromkeys(["sin", "cos", "tan", "sincos", "sinpi", "cospi", "tanpi"], Domain([(-50.0, 50.0)])),
        **dict.fromkeys(["lgamma", "lgamma_r"], Domain([(0.1, 40.0)])),
        **dict.fromkeys(["max", "min", "degrees", "radians", "sign", "step"], Domain(fit=_finite)),
        **dict.fromkeys(["dot", "cross", "length", "distance", "normalize"], Domain([(-100.0, 100.0)], fit=_moderate)),
        **dict.fromkeys(
            ["fast_length", "fast_distance", "fast_normalize"], Domain([(0.5, 100.0)], special=False, wild=False)
        ),
        # half_cos, half_sin and half_tan take -2^16 to 2^16.
        **dict.fromkeys(["half_cos", "half_sin", "half_tan"], Domain([(-50.0, 50.0)], fit=_within(2.0**16))),
        **dict.fromkeys(["native_cos", "native_sin", "native_tan"], Domain([(0.1, 1.4)], special=False, wild=False)),
        **dict.fromkeys(
            [
                "native_exp",
                "native_exp2",
                "native_exp10",
                "native_log",
                "native_log2",
                "native_log10",
                "native_recip",
                "native_rsqrt",
                "native_sqrt",
                "native_divide",
                "native_powr",
            ],
            Domain([(1.1, 9.0)], special=False, wild=False),
        ),
        **dict.fromkeys(["mul24", "mad24"], Domain(fit=_24_bits)),
        "mix": Domain([(-100.0, 100.0), (-100.0, 100.0), (0.0, 1.0)], fit=_moderate),
        **dict.fromkeys(
            ["bitfield_insert", "bitfield_extract_signed", "bitfield_extract_unsigned"], Domain(fit=_fields)
        ),
        "acosh": Domain([(1.0, 50.0)]),
        "tgamma": Domain([(-20.0, 30.0)]),
        "half_powr": Domain([(0.0, 4.0), (-9.0, 9.0)]),
        "clamp": Domain(fit=_ordered(1, 2)),
        "smoothstep": Domain(fit=_edges_apart),
        "pown": Domain([(-3.0, 3.0)], fit=_small_exponents(24)),
        "rootn": Domain([(-3.0, 100.0)], fit=_small_exponents(12)),
        "ldexp": Domain(fit=_small_exponents(200)),
    }
    return found


DOMAINS = _domains()
