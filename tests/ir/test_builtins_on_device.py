"""Builtins as lowered, on an OpenCL device, against numpy and Python's own arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from builtin_device import ITEMS, NUMPY, ROUND, Array, Run, overload, random_values, rounded, run, scalar

from coopmat.devices import DeviceInfo
from coopmat.frontend.types import (
    CHAR,
    DOUBLE,
    FLOAT,
    FLOATS,
    HALF,
    INT,
    INTEGERS,
    LONG,
    SHORT,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    AddressSpace,
    PointerType,
    Qualifiers,
    ScalarType,
    Type,
    element_count,
    with_count,
)

COUNTS = (1, 3, 4)
# Of float64 references, relative: 16 ulp is the loosest bound of these functions (section 7.4), half 2 to 4 ulp.
TOLERANCE = {HALF: 4e-3, FLOAT: 4e-6, DOUBLE: 2e-14}
SEED = 7


# --- functions of floats -------------------------------------------------------------------------


@dataclass(frozen=True)
class Math:
    """`reference` maps float64 arrays; arguments are uniform between the bounds."""

    name: str
    reference: Callable[..., Any]
    low: float = -2.0
    high: float = 2.0
    arguments: int = 1


vectorized = np.vectorize
MATH = (
    Math("sin", np.sin),
    Math("cos", np.cos),
    Math("tan", np.tan, -1, 1),
    Math("asin", np.arcsin, -1, 1),
    Math("acospi", lambda x: np.arccos(x) / np.pi, -1, 0.9),
    Math("atan", np.arctan),
    Math("sinh", np.sinh),
    Math("cosh", np.cosh),
    Math("tanh", np.tanh),
    Math("asinh", np.arcsinh),
    Math("acosh", np.arccosh, 1.5, 4),
    Math("atanh", np.arctanh, -0.9, 0.9),
    Math("sinpi", lambda x: np.sin(np.pi * x), 0.1, 0.9),
    Math("exp", np.exp),
    Math("exp2", np.exp2),
    Math("exp10", lambda x: 10.0**x),
    Math("expm1", np.expm1),
    Math("log", np.log, 2, 9),
    Math("log2", np.log2, 2.5, 9),
    Math("log10", np.log10, 2, 9),
    Math("log1p", np.log1p, 0.5, 2),
    Math("logb", lambda x: np.floor(np.log2(np.abs(x))), 1.1, 30),
    Math("sqrt", np.sqrt, 0, 9),
    Math("rsqrt", lambda x: 1 / np.sqrt(x), 0.5, 9),
    Math("cbrt", np.cbrt),
    Math("erf", vectorized(math.erf)),
    Math("tgamma", vectorized(math.gamma), 1, 4),
    Math("lgamma", vectorized(math.lgamma), 3, 9),
    Math("floor", np.floor),
    Math("ceil", np.ceil),
    Math("trunc", np.trunc),
    Math("rint", np.rint),
    Math("round", lambda x: np.sign(x) * np.floor(np.abs(x) + 0.5)),
    Math("fabs", np.abs),
    Math("sign", np.sign),
    Math("degrees", np.degrees),
    Math("radians", np.radians),
    Math("pow", np.power, 0.5, 2, 2),
    Math("powr", np.power, 0.5, 2, 2),
    Math("atan2", np.arctan2, arguments=2),
    Math("hypot", np.hypot, arguments=2),
    Math("fmod", np.fmod, 1, 4, 2),
    Math("fdim", lambda x, y: np.maximum(x - y, 0), 1, 4, 2),
    Math("copysign", np.copysign, arguments=2),
    Math("fmax", np.fmax, arguments=2),
    Math("fmin", np.fmin, arguments=2),
    Math("max", np.maximum, arguments=2),
    Math("min", np.minimum, arguments=2),
    Math("maxmag", lambda x, y: np.where(np.abs(x) > np.abs(y), x, y), arguments=2),
    Math("step", lambda edge, x: np.where(x < edge, 0.0, 1.0), arguments=2),
    Math("fma", lambda x, y, z: x * y + z, 1, 2, 3),
    Math("mad", lambda x, y, z: x * y + z, 1, 2, 3),
    Math("mix", lambda x, y, a: x + (y - x) * a, 0.5, 1, 3),
    Math("clamp", lambda x, low, high: np.minimum(np.maximum(x, low), high), 1, 1, 3),
)
# Up to 8192 ulp, or as the device likes (sections 6.15.2 and 6.15.5).
FAST = (
    Math("half_exp", np.exp),
    Math("half_recip", lambda x: 1 / x, 1, 4),
    Math("half_powr", np.power, 0.5, 2, 2),
    Math("native_sqrt", np.sqrt, 1, 4),
    Math("native_sin", np.sin, 0.5, 2),
    Math("native_divide", np.divide, 1, 4, 2),
    Math("fast_length", lambda x: np.linalg.norm(x, axis=1, keepdims=True)),
    Math("fast_normalize", lambda x: x / np.linalg.norm(x, axis=1, keepdims=True)),
    Math("fast_distance", lambda x, y: np.linalg.norm(x - y, axis=1, keepdims=True), arguments=2),
)


def check(device: DeviceInfo, runs: Sequence[Run], references: Sequence[Sequence[Array]], loose: float = 0.0) -> None:
    """Runs everything in one program and tells all that differs. `loose` is the least relative tolerance of floats."""
    wrong = []
    for item, results, expected in zip(runs, run(device, runs), references, strict=True):
        for got, wanted in zip(results, expected, strict=True):
            tolerance = next((e for t, e in TOLERANCE.items() if NUMPY[t.name] == got.dtype), 0.0)
            if tolerance:
                tolerance = max(tolerance, loose)
                right = np.isclose(got.astype(float), wanted, tolerance, tolerance / 4)
            else:
                right = got == wanted
            if not right.all():
                at = tuple(np.argwhere(~right)[0])
                wrong.append(f"{item.overload} at {at} of {np.count_nonzero(~right)}: {got[at]} for {wanted[at]}")
    assert not wrong, "\n".join(wrong)


def test_functions_of_floats(device: DeviceInfo) -> None:
    check(device, *math_runs(MATH, FLOATS))


def test_fast_functions_of_floats(device: DeviceInfo) -> None:
    check(device, *math_runs(FAST, (FLOAT,)), loose=2e-3)


def math_runs(cases: Sequence[Math], elements: Sequence[ScalarType]) -> tuple[list[Run], list[list[Array]]]:
    runs, references = [], []
    for case in cases:
        for t in (with_count(element, count) for element in elements for count in COUNTS):
            arguments = [random_values(t, case.low, case.high, SEED + i) for i in range(case.arguments)]
            runs.append(Run(overload(case.name, *[t] * case.arguments), arguments))
            references.append([case.reference(*(a.astype(float) for a in arguments))])
    return runs, references


def test_float_functions_with_one_scalar(device: DeviceInfo) -> None:
    vector = with_count(FLOAT, 4)
    x, s = random_values(vector, -2, 2, 1), random_values(FLOAT, -2, 2, 2)
    edges = random_values(FLOAT, -2, -1, 3), random_values(FLOAT, 1, 2, 4)
    t = np.clip((x - edges[0]) / (edges[1] - edges[0]), 0, 1).astype(float)
    runs = [
        Run(overload("fmax", vector, FLOAT), [x, s]),
        Run(overload("clamp", vector, FLOAT, FLOAT), [x, *edges]),
        Run(overload("step", FLOAT, vector), [s, x]),
        Run(overload("smoothstep", FLOAT, FLOAT, vector), [*edges, x]),
        Run(overload("mix", vector, vector, FLOAT), [x, x[::-1].copy(), s]),
    ]
    references = [
        [np.maximum(x, s)],
        [np.clip(x, *edges)],
        [np.where(x < s, 0.0, 1.0)],
        [t * t * (3 - 2 * t)],
        [x + (x[::-1] - x).astype(float) * s],
    ]
    check(device, runs, references)


def test_floats_with_exponents_and_second_results(device: DeviceInfo) -> None:
    runs: list[Run] = []
    references: list[list[Array]] = []
    for element in FLOATS:
        for count in COUNTS:
            t, n = with_count(element, count), with_count(INT, count)
            x, y = random_values(t, 1, 4, 1), random_values(t, 1, 4, 2)
            k = (random_values(n, 0, 0, 3) % 5 - 2).astype(np.int32)
            k1 = k[:, :1].copy()
            wide = x.astype(float)
            for space in (AddressSpace.PRIVATE, AddressSpace.GLOBAL):
                to_float, to_int = (PointerType(p, Qualifiers(space)) for p in (t, n))
                mantissa, exponent = np.frexp(wide)
                runs += [
                    Run(overload("fract", t, to_float), [x]),
                    Run(overload("modf", t, to_float), [x]),
                    Run(overload("sincos", t, to_float), [x]),
                    Run(overload("frexp", t, to_int), [x]),
                ]
                references += [
                    [wide % 1, np.floor(wide)],
                    [wide % 1, np.floor(wide)],
                    [np.sin(wide), np.cos(wide)],
                    [mantissa, exponent],
                ]
            runs += [
                Run(overload("ldexp", t, n), [x, k]),
                Run(overload("ldexp", t, INT), [x, k1]),
                Run(overload("pown", t, n), [x, k]),
                Run(overload("ilogb", t), [x]),
                Run(overload("remainder", t, t), [x, y]),
            ]
            remainder = wide - y.astype(float) * np.rint(wide / y.astype(float))
            references += [[wide * 2.0**k], [wide * 2.0**k1], [wide**k], [np.frexp(wide)[1] - 1], [remainder]]
    check(device, runs, references)


def test_geometry(device: DeviceInfo) -> None:
    runs: list[Run] = []
    references: list[list[Array]] = []
    for element in FLOATS:
        for count in (1, 2, 3, 4):
            t = with_count(element, count)
            # Components of one sign: no cancellation, so the tolerance is that of the sum.
            a, b = random_values(t, -2, -1, 1), random_values(t, -4, -3, 2)
            x, y = a.astype(float), b.astype(float)
            length = np.linalg.norm(x, axis=1, keepdims=True)
            runs += [Run(overload(name, t, t), [a, b]) for name in ("dot", "distance")]
            references += [[np.sum(x * y, 1, keepdims=True)], [np.linalg.norm(x - y, axis=1, keepdims=True)]]
            runs += [Run(overload(name, t), [a]) for name in ("length", "normalize")]
            references += [[length], [x / length]]
    a, b = random_values(with_count(FLOAT, 3), 1, 2, 1), random_values(with_count(FLOAT, 3), -2, -1, 2)
    runs.append(Run(overload("cross", *[with_count(FLOAT, 3)] * 2), [a, b]))
    references.append([np.cross(a.astype(float), b.astype(float))])
    check(device, runs, references)


# --- relational ----------------------------------------------------------------------------------


def special_floats(t: Type) -> Array:
    values = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 6e-8])
    return np.random.default_rng(3).choice(values, (ITEMS, element_count(t))).astype(NUMPY[scalar(t).name])


def test_relational_functions_give_1_for_scalars_and_minus_1_for_vectors(device: DeviceInfo) -> None:
    def is_normal(x: Array) -> Array:
        return np.isfinite(x) & (np.abs(x) >= np.finfo(x.dtype).tiny)

    unary: dict[str, Callable[[Array], Array]] = {
        **{"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite},
        **{"signbit": np.signbit, "isnormal": is_normal},
    }
    binary: dict[str, Callable[[Array, Array], Array]] = {
        **{"isequal": np.equal, "isnotequal": np.not_equal, "isgreater": np.greater, "isless": np.less},
        **{"isgreaterequal": np.greater_equal, "islessequal": np.less_equal},
        "islessgreater": lambda x, y: (x < y) | (x > y),
        "isordered": lambda x, y: ~(np.isnan(x) | np.isnan(y)),
        "isunordered": lambda x, y: np.isnan(x) | np.isnan(y),
    }
    runs, references = [], []
    for element in FLOATS:
        for count in COUNTS:
            t = with_count(element, count)
            x = special_floats(t)
            y = x[np.random.default_rng(4).permutation(ITEMS)]
            true = 1 if count == 1 else -1
            for name, test in unary.items():
                runs.append(Run(overload(name, t), [x]))
                references.append([np.where(test(x), true, 0)])
            for name, compare in binary.items():
                runs.append(Run(overload(name, t, t), [x, y]))
                references.append([np.where(compare(x, y), true, 0)])
    check(device, runs, references)


def test_any_all_select_bitselect(device: DeviceInfo) -> None:
    runs: list[Run] = []
    references: list[list[Array]] = []
    for element in (CHAR, SHORT, INT, LONG):
        for count in COUNTS:
            t = with_count(element, count)
            x, y, c = (random_values(t, 0, 0, seed) for seed in (2, 4, 6))
            runs += [
                Run(overload("any", t), [c]),
                Run(overload("all", t), [c]),
                Run(overload("select", t, t, t), [x, y, c]),
                Run(overload("bitselect", t, t, t), [x, y, c]),
            ]
            chosen = np.where((c != 0) if count == 1 else (c < 0), y, x)
            references += [
                [np.any(c < 0, 1, keepdims=True).astype(int)],
                [np.all(c < 0, 1, keepdims=True).astype(int)],
                [chosen],
                [(x & ~c) | (y & c)],
            ]
    check(device, runs, references)


# --- integers ------------------------------------------------------------------------------------

IntegerFunction = Callable[[ScalarType, Any, Any, Any], Any]


def saturate(t: ScalarType, value: Any) -> Any:
    limits = np.iinfo(NUMPY[t.name])
    return np.clip(value, int(limits.min), int(limits.max))


def rotate(t: ScalarType, a: Any, b: Any) -> Any:
    mask, shift = (1 << t.bits) - 1, b % t.bits
    return ((a & mask) << shift) | ((a & mask) >> (t.bits - shift))


def bit_length(t: ScalarType, a: Any) -> Any:
    return np.vectorize(lambda v: (int(v) & ((1 << t.bits) - 1)).bit_length(), otypes=[object])(a)


def trailing_zeros(t: ScalarType, a: Any) -> Any:
    return np.vectorize(lambda v: t.bits if v == 0 else (int(v) & -int(v)).bit_length() - 1, otypes=[object])(a)


def population(t: ScalarType, a: Any) -> Any:
    return np.vectorize(lambda v: bin(int(v) & ((1 << t.bits) - 1)).count("1"), otypes=[object])(a)


# On exact Python integers; the result is taken modulo the width.
INTEGER: dict[str, tuple[int, IntegerFunction]] = {
    "abs": (1, lambda t, a, b, c: np.abs(a)),
    "abs_diff": (2, lambda t, a, b, c: np.abs(a - b)),
    "add_sat": (2, lambda t, a, b, c: saturate(t, a + b)),
    "sub_sat": (2, lambda t, a, b, c: saturate(t, a - b)),
    "hadd": (2, lambda t, a, b, c: (a + b) >> 1),
    "rhadd": (2, lambda t, a, b, c: (a + b + 1) >> 1),
    "mul_hi": (2, lambda t, a, b, c: (a * b) >> t.bits),
    "mad_hi": (3, lambda t, a, b, c: ((a * b) >> t.bits) + c),
    "mad_sat": (3, lambda t, a, b, c: saturate(t, a * b + c)),
    "rotate": (2, lambda t, a, b, c: rotate(t, a, b)),
    "clz": (1, lambda t, a, b, c: t.bits - bit_length(t, a)),
    "ctz": (1, lambda t, a, b, c: trailing_zeros(t, a)),
    "popcount": (1, lambda t, a, b, c: population(t, a)),
    "max": (2, lambda t, a, b, c: np.maximum(a, b)),
    "min": (2, lambda t, a, b, c: np.minimum(a, b)),
}


def wrapped(t: ScalarType, exact: Any) -> Array:
    """Exact integers modulo the width of the type."""
    bits = np.asarray(exact, object) & ((1 << t.bits) - 1)
    unsigned: npt.NDArray[Any] = bits.astype(f"uint{t.bits}")
    return unsigned.view(NUMPY[t.name])


def test_integer_functions(device: DeviceInfo) -> None:
    runs, references = [], []
    for name, (count_of_arguments, reference) in INTEGER.items():
        for element in INTEGERS:
            for count in COUNTS:
                types = [with_count(element, count)] * count_of_arguments
                arguments = [random_values(t, 0, 0, i + 1) for i, t in enumerate(types)]
                chosen = overload(name, *types)
                exact = [a.astype(object) for a in arguments] + [None] * (3 - len(arguments))
                runs.append(Run(chosen, arguments))
                references.append([wrapped(scalar(chosen.result), reference(element, *exact))])
    check(device, runs, references)


def test_24_bits_upsample_and_scalar_limits(device: DeviceInfo) -> None:
    runs: list[Run] = []
    references: list[list[Array]] = []
    for element in (INT, UINT):
        t = with_count(element, 4)
        a, b, c = (random_values(t, 0, 0, seed) for seed in (1, 2, 3))
        a, b = a >> 9, b >> 9  # their low 24 bits hold them
        exact = a.astype(object) * b.astype(object)
        runs += [Run(overload("mul24", t, t), [a, b]), Run(overload("mad24", t, t, t), [a, b, c])]
        references += [[wrapped(element, exact)], [wrapped(element, exact + c.astype(object))]]
    for narrow, low, wide in ((CHAR, UCHAR, SHORT), (USHORT, USHORT, UINT), (INT, UINT, LONG), (UINT, UINT, ULONG)):
        t, u = with_count(narrow, 3), with_count(low, 3)
        x, y = random_values(t, 0, 0, 1), random_values(u, 0, 0, 2)
        runs.append(Run(overload("upsample", t, u), [x, y]))
        references.append([wrapped(wide, (x.astype(object) << narrow.bits) | y.astype(object))])
    for element in (CHAR, UINT, LONG):
        t = with_count(element, 4)
        x, low_end = random_values(t, 0, 0, 1), random_values(element, 0, 0, 2)
        runs.append(Run(overload("max", t, element), [x, low_end]))
        references.append([np.maximum(x, low_end)])
    check(device, runs, references)


# --- conversions ---------------------------------------------------------------------------------


def test_integers_to_integers(device: DeviceInfo) -> None:
    runs, references = [], []
    for target in INTEGERS:
        for source in INTEGERS:
            for count in (1, 3):
                x = random_values(with_count(source, count), 0, 0, 2)
                t = with_count(target, count)
                exact = x.astype(object)
                runs.append(Run(overload(f"convert_{t}", with_count(source, count)), [x]))
                references.append([wrapped(target, exact)])
                runs.append(Run(overload(f"convert_{t}_sat_rtp", with_count(source, count)), [x]))
                references.append([wrapped(target, saturate(target, exact))])
    check(device, runs, references)


def test_floats_to_integers(device: DeviceInfo) -> None:
    runs, references = [], []
    for target in INTEGERS:
        limits = np.iinfo(NUMPY[target.name])
        for source in FLOATS:
            for count in (1, 3):
                t, s = with_count(target, count), with_count(source, count)
                inside = random_values(s, 0 if not target.signed else -100, 100, 2)
                inside[:4] = np.array([2.5, 3.5, 0.5, 1.5])[:, None]
                outside = random_values(s, -6e4, 6e4, 3)
                # Not NaN, which only *should* become 0 (section 6.4.3.3): the Intel CPU runtime's uint is all ones.
                outside[:2] = np.array([np.inf, -np.inf])[:, None]
                for rounding, function in ROUND.items():
                    runs.append(Run(overload(f"convert_{t}_{rounding}", s), [inside]))
                    references.append([function(inside).astype(NUMPY[target.name])])
                    runs.append(Run(overload(f"convert_{t}_sat_{rounding}", s), [outside]))
                    references.append([_saturated(function(outside), limits)])
                runs.append(Run(overload(f"convert_{t}_sat", s), [outside]))
                references.append([_saturated(np.trunc(outside), limits)])
    check(device, runs, references)


def _saturated(values: Array, limits: Any) -> Array:
    def one(v: float) -> int:
        return max(limits.min, min(limits.max, int(v))) if math.isfinite(v) else limits.max if v > 0 else limits.min

    return np.array([[one(float(v)) for v in row] for row in values], limits.dtype)


def test_rounding_to_floats(device: DeviceInfo) -> None:
    runs, expected = [], []
    for source, target in ((INT, FLOAT), (UINT, FLOAT), (INT, HALF), (USHORT, HALF), (FLOAT, HALF), (DOUBLE, FLOAT)):
        for count in (1, 4):
            s, t = with_count(source, count), with_count(target, count)
            x = random_values(s, -1000, 1000, 2)
            if target is HALF and source.is_integer:
                x = (x % 30000).astype(x.dtype)
            for rounding in ROUND:
                runs.append(Run(overload(f"convert_{t}_{rounding}", s), [x]))
                expected.append(rounded(x.ravel().tolist(), target, rounding).reshape(x.shape))
    for item, (got,), wanted in zip(runs, run(device, runs), expected, strict=True):
        np.testing.assert_array_equal(got, wanted, f"{item.overload}")


# --- vector functions ----------------------------------------------------------------------------


def test_shuffles(device: DeviceInfo) -> None:
    from_type, to_type, mask_type = with_count(SHORT, 4), with_count(SHORT, 8), with_count(USHORT, 8)
    x, y, mask = random_values(from_type, 0, 0, 1), random_values(from_type, 0, 0, 2), random_values(mask_type, 0, 0, 3)
    runs = [
        Run(overload("shuffle", from_type, mask_type), [x, mask]),
        Run(overload("shuffle2", from_type, from_type, mask_type), [x, y, mask]),
    ]
    assert all(item.overload.result == to_type for item in runs)
    both = np.concatenate([x, y], 1)
    references = [[np.take_along_axis(x, mask.astype(int) % 4, 1)], [np.take_along_axis(both, mask.astype(int) % 8, 1)]]
    check(device, runs, references)
