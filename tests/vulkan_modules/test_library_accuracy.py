"""The libraries of builtin functions, compiled for an OpenCL device and compared with numpy's long double."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from opencl_devices import full_device

from coopmat.vulkan.modules import library

Array = np.ndarray[Any, np.dtype[Any]]
WIDE = np.longdouble
PI = WIDE("3.14159265358979323846264338327950288")
# Type of a library -> numpy's type, bits of the significand, largest exponent.
TYPES = {"float": (np.float32, 24, 127), "double": (np.float64, 53, 1023)}


def sinpi(x: Array, quadrants: int = 0) -> Array:
    """Return sin(pi * x), or a later quadrant's; x is reduced exactly."""
    n = np.rint(2 * x)
    r, quadrant = PI * (x - n / 2), np.where(np.isfinite(n), n + quadrants, 0) % 4
    return np.select([quadrant == 0, quadrant == 1, quadrant == 2], [np.sin(r), np.cos(r), -np.sin(r)], -np.cos(r))


def cospi(x: Array) -> Array:
    return sinpi(x, 1)


def each(function: Callable[..., float]) -> Callable[..., Array]:
    """Return a function of arrays for one of Python's doubles; NaN where that fails."""

    def one(*values: float) -> float:
        try:
            return function(*values)
        except (ValueError, OverflowError):
            return math.nan

    return lambda *columns: np.array([one(*map(float, row)) for row in zip(*columns, strict=True)], WIDE)


def signed_root(x: Array, n: Array) -> Array:
    return np.sign(x) * np.power(np.abs(x), 1 / n.astype(WIDE))


# Function -> (reference, the range of the arguments: their exponents, or the numbers themselves, limits in ulp of
# OpenCL C 3.0, 7.4, for float and double).
Row = tuple[Callable[..., Array], tuple[float, float] | None, float, float]
ONE: dict[str, Row] = {
    "acos": (np.arccos, (-1, 1), 4, 4),
    "acosh": (np.arccosh, (1, 50), 4, 4),
    "acospi": (lambda x: np.arccos(x) / PI, (-1, 1), 5, 5),
    "asin": (np.arcsin, (-1, 1), 4, 4),
    "asinh": (np.arcsinh, None, 4, 4),
    "asinpi": (lambda x: np.arcsin(x) / PI, (-1, 1), 5, 5),
    "atan": (np.arctan, None, 5, 5),
    "atanh": (np.arctanh, (-1, 1), 5, 5),
    "atanpi": (lambda x: np.arctan(x) / PI, None, 5, 5),
    "cbrt": (np.cbrt, None, 2, 2),
    "cos": (np.cos, None, 4, 4),
    "cosh": (np.cosh, (-80, 80), 4, 4),
    "cospi": (cospi, (-40, 40), 4, 4),
    "erf": (each(math.erf), (-6, 6), 16, 16),
    "erfc": (each(math.erfc), (-6, 9), 16, 16),
    "exp": (np.exp, (-80, 80), 3, 3),
    "exp10": (lambda x: np.power(WIDE(10), x), (-35, 35), 3, 3),
    "exp2": (np.exp2, (-120, 120), 3, 3),
    "expm1": (np.expm1, (-50, 80), 3, 3),
    "log": (np.log, (0, 1e30), 3, 3),
    "log10": (np.log10, (0, 3), 3, 3),
    "log1p": (np.log1p, (-1, 3), 2, 2),
    "log2": (np.log2, (0, 3), 3, 3),
    "sin": (np.sin, None, 4, 4),
    "sinh": (np.sinh, (-80, 80), 4, 4),
    "sinpi": (sinpi, (-40, 40), 4, 4),
    "tan": (np.tan, None, 5, 5),
    "tanh": (np.tanh, (-22, 22), 5, 5),
    "tanpi": (lambda x: sinpi(x) / cospi(x), (-40, 40), 6, 6),
    "tgamma": (each(math.gamma), (-20, 30), 16, 16),
}
TWO: dict[str, Row] = {
    "atan2": (np.arctan2, None, 6, 6),
    "atan2pi": (lambda y, x: np.arctan2(y, x) / PI, None, 6, 6),
    "fmod": (np.fmod, None, 0, 0),
    "hypot": (np.hypot, None, 4, 4),
    "pow": (np.power, (0, 20), 16, 16),
    "pown": (np.power, (0.3, 3), 16, 16),
    "powr": (np.power, (0, 20), 16, 16),
    "remainder": (each(math.remainder), None, 0, 0),
    "rootn": (signed_root, None, 16, 16),
}
FUNCTIONS = ONE | TWO
OF_INTEGERS = ("pown", "rootn")
SPECIAL = [0.0, 1.0, 0.5, 2.0, 3.0, 10.0, 1.5, 2.5, 22.0, 0.75, math.pi / 2, math.pi, 16777217.0, math.inf, math.nan]
COUNT = 4000


def kernels(kind: str) -> str:
    """Return a kernel for each function, which also stores the results of the device's own function."""

    def call(name: str) -> str:
        second = "" if name in ONE else ", (int)b[i]" if name in OF_INTEGERS else ", b[i]"
        arrays = ", ".join(f"global {kind} *{array}" for array in "opab")
        body = f"o[i] = __vk_{name}(a[i]{second}); p[i] = {name}(a[i]{second});"
        return f"kernel void test_{name}({arrays}) {{ size_t i = get_global_id(0); {body} }}"

    return "\n".join(map(call, FUNCTIONS))


@cache
def built(kind: str) -> Any:
    """Return the program of a library."""
    import pyopencl as cl

    context = cl.Context([full_device().handle])
    return context, cl.CommandQueue(context), cl.Program(context, library.source(kind) + kernels(kind)).build("-w")


def computed(kind: str, name: str, *columns: Array) -> tuple[Array, Array]:
    """Return the results of the library's function, and of the device's."""
    import pyopencl as cl

    context, queue, program = built(kind)
    access = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, access, hostbuf=column) for column in (columns * 2)[:2]]
    results = np.empty_like(columns[0]), np.empty_like(columns[0])
    targets = [cl.Buffer(context, cl.mem_flags.WRITE_ONLY, result.nbytes) for result in results]
    getattr(program, f"test_{name}")(queue, columns[0].shape, None, *targets, *buffers)
    for result, target in zip(results, targets, strict=True):
        cl.enqueue_copy(queue, result, target)
    return results


def arguments(kind: str, name: str, bounds: tuple[float, float] | None) -> list[Array]:
    """Return random arguments, with special ones in front; pairs of all special ones for functions of two."""
    dtype, _, largest = TYPES[kind]
    random = np.random.default_rng(len(name))

    def column() -> Array:
        signs = random.choice([-1.0, 1.0], COUNT)
        numbers = signs * np.exp2(random.uniform(*((-largest + 1, largest) if bounds is None else (-20, 4)), COUNT))
        near = random.uniform(*(bounds or (-4, 4)), COUNT)
        numbers = np.where(random.random(COUNT) < 0.6, near, numbers)
        return numbers

    special = np.array([*SPECIAL, *(-value for value in SPECIAL)])
    if name in ONE:
        return [np.concatenate([special, column()]).astype(dtype)]
    first, second = (np.ravel(grid) for grid in np.meshgrid(special, special))
    others = column() if name not in OF_INTEGERS else np.rint(random.uniform(-40, 40, COUNT))
    rows = [np.concatenate([first, column()]), np.concatenate([second, others])]
    if name in OF_INTEGERS:
        keep = np.isfinite(rows[1])
        rows = [row[keep] for row in (rows[0], np.trunc(rows[1]))]
    return [row.astype(dtype) for row in rows]


def _check_special(result: Array, own: Array, right: Array, columns: list[Array]) -> None:
    """Compare infinities, NaN and the signs of exact zeros with the device's own function."""
    tiny = np.finfo(result.dtype).tiny
    same = (np.abs(own) > np.finfo(result.dtype).max / 2) | (np.abs(own) < 2 * tiny)
    same |= np.isfinite(result) & np.isfinite(own)
    same |= (result == own) | np.isnan(result) & np.isnan(own)
    same &= (right != 0) | (own != 0) | (np.signbit(result) == np.signbit(own)) | (np.abs(result) > 0)
    assert same.all(), [*(column[~same] for column in columns), result[~same], own[~same]]


@pytest.mark.device
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", TYPES)
def test_errors_are_within_the_limits_of_opencl(kind: str, name: str) -> None:
    reference, bounds, *limits = FUNCTIONS[name]
    dtype, bits, largest = TYPES[kind]
    columns = arguments(kind, name, bounds)
    result, own = computed(kind, name, *columns)
    found = result.astype(WIDE)
    with np.errstate(all="ignore"):
        right = reference(*(column.astype(WIDE) for column in columns))
        _check_special(result, own, right, columns)
        in_range = np.isfinite(right) & (np.abs(right) >= WIDE(2) ** (1 - largest)) | (right == 0)
        in_range &= (np.abs(right) < WIDE(2) ** largest) & np.isfinite(own)
        ulp = WIDE(2) ** (np.maximum(np.frexp(right)[1], 2 - largest) - bits)
        errors = np.where(in_range, np.abs(found - right) / ulp, 0)
    assert not np.isnan(errors).any(), [column[np.isnan(errors)] for column in columns]
    worst = int(np.argmax(errors))
    print(f"{kind} {name}: {errors[worst]:.2f} ulp")
    # The reference has an error of its own: up to 2 ulp of double for functions of Python's.
    slack = 0.01 if dtype is np.float32 or name not in ("tgamma", "erf", "erfc") else 2
    assert errors[worst] <= limits[kind == "double"] + slack, [column[worst] for column in columns]
