"""The operation component_wise: builtins of scalars on matrices, and on matrices and scalars together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import Array, narrow, widen
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType, MatrixType

from ..experiment import Argument, Experiment
from ..profile import Profile
from ..values import moderate, whole_range
from ..writers.c import CWriter
from .base import Case, Operation, Setting, Turns

# The number of builtins for each matrix type.
_EACH = 3
Has = Callable[[ComponentType], bool]
Draw = Callable[..., list[Array]]


@dataclass(frozen=True)
class Builtin:
    """A builtin function.

    patterns: kinds of operands, separated by blanks: in each pattern, an m is a matrix and an s a scalar.
    meaning: the function that computes the result from arrays of the type in which the builtin is computed.
    has: whether the builtin exists for a component type.
    draw: the function that returns as many operands as a pattern has, of a component type and a shape.
    ulps: the allowed error in units in the last place.
    """

    name: str
    patterns: str
    meaning: Callable[..., Array]
    has: Has
    draw: Draw
    ulps: float = 0.0


def _is_float(component: ComponentType) -> bool:
    return not component.is_integer


def _is_integer(component: ComponentType) -> bool:
    return component.is_integer


def _is_unsigned(component: ComponentType) -> bool:
    return component.is_integer and not component.signed


def _is_of_24_bits(component: ComponentType) -> bool:
    return component.name in ("s32", "u32")


def _has_ordered(component: ComponentType) -> bool:
    """Return True: these builtins have overloads for integers and floats."""
    return True


# --- operands


def _any_values(rng: np.random.Generator, component: ComponentType, count: int, *shape: int) -> list[Array]:
    return [whole_range(rng, component, *shape) for _ in range(count)]


def _without(*left_out: str) -> Draw:
    """Return a function that draws any values except some kinds, in floats.

    The kinds are "zeros" (builtins may return a zero of either sign), "nan" and "infinite".
    """

    def draw(rng: np.random.Generator, component: ComponentType, count: int, *shape: int) -> list[Array]:
        result = []
        for values in _any_values(rng, component, count, *shape):
            if component.is_integer:
                result.append(values)
                continue
            wide = widen(component, values)
            wide = np.where((wide == 0) & ("zeros" in left_out), 1, wide)
            wide = np.where(np.isnan(wide) & ("nan" in left_out), 2, wide)
            result.append(narrow(component, np.where(np.isinf(wide) & ("infinite" in left_out), -3, wide)))
        return result

    return draw


def _moderate(rng: np.random.Generator, component: ComponentType, count: int, *shape: int) -> list[Array]:
    return [moderate(rng, component, *shape) for _ in range(count)]


def _bounded(rng: np.random.Generator, component: ComponentType, count: int, *shape: int) -> list[Array]:
    """Return an operand, for floats without zeros and NaNs, and a lower and an upper bound.

    Each bound is the same for all components.
    """
    x, bounds = _without("zeros", "nan")(rng, component, 1, *shape)[0], moderate(rng, component, 2)
    low, high = sorted(bounds, key=lambda value: float(widen(component, value[None])[0]))
    return [x, np.full(shape, low), np.full(shape, high)]


def _cancelling(rng: np.random.Generator, component: ComponentType, count: int, *shape: int) -> list[Array]:
    """Return x, y and z for x y + z.

    For half of the components, the sum is so small that a rounded product would lose it.
    """
    steps = rng.integers(1, 4, shape) * numpy_reference.arithmetic_type(component).epsilon
    wide = [rng.uniform(0.5, 4, shape) * rng.choice([-1.0, 1.0], shape) for _ in range(3)]
    half = rng.random(shape) < 0.5
    cancelling = (1 + steps, 1 - steps, np.full(shape, -1.0))
    return [narrow(component, np.where(half, *both)) for both in zip(cancelling, wide, strict=True)]


def _of_24_bits(rng: np.random.Generator, component: ComponentType, count: int, *shape: int) -> list[Array]:
    low = -(2**23) if component.signed else 0
    return [rng.integers(low, low + 2**24, shape).astype(component.numpy) for _ in range(count)]


# --- the expected results


def _exactly(function: Callable[..., int], *operands: Array) -> Array:
    """Return the results of a function on Python's integers, modulo 2^bits."""
    dtype = operands[0].dtype
    values = np.vectorize(function, otypes=[object])(*(x.astype(object) for x in operands))
    return np.asarray((values % 2 ** (8 * dtype.itemsize)).astype(f"u{dtype.itemsize}").view(dtype))


def _of_integers(function: Callable[..., int]) -> Callable[..., Array]:
    return lambda *operands: _exactly(function, *operands)


def _saturated(function: Callable[..., int]) -> Callable[..., Array]:
    def result(*operands: Array) -> Array:
        limits = np.iinfo(operands[0].dtype)
        return _exactly(lambda *x: min(max(function(*x), int(limits.min)), int(limits.max)), *operands)

    return result


def _of_bits(function: Callable[[int, int], int]) -> Callable[[Array], Array]:
    """Return a function on arrays that applies `function` to each component's bit pattern and its width in bits."""

    def result(x: Array) -> Array:
        bits = 8 * x.dtype.itemsize
        return _exactly(lambda v: function(int(v) % 2**bits, bits), x)

    return result


def _high(x: Array, y: Array, z: Array | None = None) -> Array:
    bits = 8 * x.dtype.itemsize
    if z is None:
        return _exactly(lambda a, b: (a * b) >> bits, x, y)
    return _exactly(lambda a, b, c: ((a * b) >> bits) + c, x, y, z)


def _rotated(x: Array, y: Array) -> Array:
    bits = 8 * x.dtype.itemsize

    def of(a: int, b: int) -> int:
        a, b = a % 2**bits, b % bits
        return a << b | a >> (bits - b)

    return _exactly(of, x, y)


def _fused(x: Array, y: Array, z: Array) -> Array:
    """Return x y + z, rounded once."""
    if x.dtype == np.float64:
        exact = np.vectorize(lambda a, b, c: float(Fraction(a) * Fraction(b) + Fraction(c)), otypes=[np.float64])
        return np.asarray(exact(x, y, z))
    # A product has at most 48 bits, and the numbers are near 1: longdouble is exact.
    wide = [v.astype(np.longdouble) for v in (x, y, z)]
    return np.asarray((wide[0] * wide[1] + wide[2]).astype(x.dtype))


def _rounded_away(x: Array) -> Array:
    """Return the nearest integers; ties are rounded away from zero."""
    whole = np.trunc(x)
    step = np.where(np.abs(x - whole) >= 0.5, np.copysign(1, x), 0)
    return np.asarray(np.copysign(whole + step, x), x.dtype)


def _difference(x: Array, y: Array) -> Array:
    return np.where(np.isnan(x) | np.isnan(y), np.nan, np.where(x > y, x - y, 0)).astype(x.dtype)


def _by_magnitude(greater: bool) -> Callable[[Array, Array], Array]:
    def result(x: Array, y: Array) -> Array:
        a, b = (np.abs(x), np.abs(y)) if greater else (np.abs(y), np.abs(x))
        return np.where(a > b, x, np.where(b > a, y, np.fmax(x, y) if greater else np.fmin(x, y)))

    return result


def _sign(x: Array) -> Array:
    return np.where(np.isnan(x), 0, np.where(x == 0, x, np.copysign(1, x))).astype(x.dtype)


def _step(edge: Array, x: Array) -> Array:
    return np.where(x < edge, 0, 1).astype(x.dtype)


BUILTINS = (
    # Integers and floats.
    Builtin("max", "mm ms", np.maximum, _has_ordered, _without("zeros", "nan", "infinite")),
    Builtin("clamp", "mmm mss mms", lambda x, low, high: np.minimum(np.maximum(x, low), high), _has_ordered, _bounded),
    Builtin("min", "mm sm", np.minimum, _has_ordered, _without("zeros", "nan", "infinite")),
    # Floats: exact results, or rounded once.
    Builtin("fma", "mmm mms smm", _fused, _is_float, _cancelling),
    Builtin("fmax", "mm ms sm", np.fmax, _is_float, _without("zeros")),
    Builtin("fmin", "mm ms sm", np.fmin, _is_float, _without("zeros")),
    Builtin("nextafter", "mm", np.nextafter, lambda t: _is_float(t) and not t.is_bits, _without("zeros")),
    Builtin("copysign", "mm sm", np.copysign, _is_float, _without("nan")),
    Builtin("fdim", "mm ms", _difference, _is_float, _any_values),
    Builtin("fmod", "mm ms", np.fmod, _is_float, _any_values),
    Builtin("maxmag", "mm", _by_magnitude(True), _is_float, _without("zeros", "nan")),
    Builtin("minmag", "ms", _by_magnitude(False), _is_float, _without("zeros", "nan")),
    Builtin("step", "mm sm", _step, _is_float, _without("nan")),
    Builtin("round", "m", _rounded_away, _is_float, _any_values),
    Builtin("sign", "m", _sign, _is_float, _any_values),
    *(Builtin(f.__name__, "m", f, _is_float, _any_values) for f in (np.fabs, np.ceil, np.floor, np.trunc, np.rint)),
    # Floats: results with an allowed error.
    Builtin("exp", "m", np.exp, _is_float, _moderate, 3),
    Builtin("sqrt", "m", np.sqrt, _is_float, _any_values, 3),
    Builtin("rsqrt", "m", lambda x: 1 / np.sqrt(x), _is_float, _moderate, 3),
    # Integers.
    Builtin("add_sat", "mm ms", _saturated(lambda x, y: x + y), _is_integer, _any_values),
    Builtin("sub_sat", "mm sm", _saturated(lambda x, y: x - y), _is_integer, _any_values),
    Builtin("mad_sat", "mmm msm", _saturated(lambda x, y, z: x * y + z), _is_integer, _any_values),
    Builtin("hadd", "mm", _of_integers(lambda x, y: (x + y) >> 1), _is_integer, _any_values),
    Builtin("rhadd", "ms", _of_integers(lambda x, y: (x + y + 1) >> 1), _is_integer, _any_values),
    Builtin("mul_hi", "mm sm", _high, _is_integer, _any_values),
    Builtin("mad_hi", "mmm", _high, _is_integer, _any_values),
    Builtin("rotate", "mm ms", _rotated, _is_integer, _any_values),
    Builtin("clz", "m", _of_bits(lambda x, bits: bits - x.bit_length()), _is_integer, _any_values),
    Builtin("ctz", "m", _of_bits(lambda x, bits: (x & -x).bit_length() - 1 if x else bits), _is_integer, _any_values),
    Builtin("popcount", "m", _of_bits(lambda x, bits: x.bit_count()), _is_integer, _any_values),
    Builtin("abs_diff", "mm", _of_integers(lambda x, y: abs(x - y)), _is_unsigned, _any_values),
    Builtin("abs", "m", _of_integers(abs), _is_unsigned, _any_values),
    Builtin("mul24", "mm", _of_integers(lambda x, y: x * y), _is_of_24_bits, _of_24_bits),
    Builtin("mad24", "mms", _of_integers(lambda x, y, z: x * y + z), _is_of_24_bits, _of_24_bits),
)
_BY_NAME = {builtin.name: builtin for builtin in BUILTINS}


# --- the operation


@dataclass(frozen=True)
class Application:
    """The builtin `name` on operands of a matrix type and scalars, in the order of the letters of `pattern`."""

    matrix: MatrixType
    name: str
    pattern: str


def _cases(profile: Profile) -> Iterable[Case]:
    """Yield `_EACH` builtins for each matrix type, in turn; all of them if the profile is exhaustive."""
    turns = Turns(profile)
    for matrix, size in profile.matrix_types:
        options = [(b.name, p) for b in BUILTINS if b.has(matrix.component) for p in b.patterns.split()]
        # Matrix types with the same builtins share the turns: one component type has fewer matrix types than builtins.
        for name, pattern in turns.next(str(options), options, _EACH):
            text = f"{matrix.name}.{name}_{pattern}{profile.suffix(size)}"
            yield Case(text, size, Application(matrix, name, pattern))


def _scalar_type(component: ComponentType) -> ComponentType:
    """Return a wider type that has all of the component type's values, or the type itself if there is none."""
    if component.is_integer:
        return COMPONENT_TYPES["s64"] if component.bits < 64 else component
    return COMPONENT_TYPES["f32"] if component.bits <= 16 else component


def _experiment(setting: Setting) -> Experiment:
    application: Application = setting.parameters
    matrix, builtin = application.matrix, _BY_NAME[application.name]
    component, shape = matrix.component, (matrix.rows, matrix.columns)
    drawn = builtin.draw(setting.random(), component, len(application.pattern), *shape)
    operands, arguments = [], []
    for name, kind, values in zip("xyz", application.pattern, drawn, strict=False):
        if kind == "s":
            other = _scalar_type(component)
            values = np.full(shape, values[0, 0])
            arguments.append(Argument(name, other, numpy_reference.convert(values[0, :1], component, other)))
        else:
            arguments.append(setting.input(name, matrix, values))
        operands.append(values)
    with np.errstate(all="ignore"):
        result = builtin.meaning(*(widen(component, values) for values in operands))
        result = narrow(component, np.asarray(result))
    tolerance = _tolerance(component, result, builtin.ulps)
    return Experiment([*arguments, setting.output("out", matrix, result, tolerance)])


def _tolerance(component: ComponentType, result: Array, ulps: float) -> Array | float:
    """Return the allowed absolute error of the results: `ulps` units in the last place.

    For bfloat16 and 8-bit floats it is one unit, unless `ulps` is 0, since only their final rounding can differ.
    """
    if not ulps:
        return 0.0
    with np.errstate(all="ignore"):
        wide = np.abs(widen(component, result).astype(np.float64))
        unit = np.maximum(wide * component.epsilon, component.normal * component.epsilon)
        return np.where(np.isfinite(wide), unit * (1 if component.is_bits else ulps), 0.0)


def _write(setting: Setting, w: CWriter) -> None:
    application: Application = setting.parameters
    *inputs, out = w.experiment.arguments
    operands = [w.load(argument) if argument.place else f"{argument.name}[0]" for argument in inputs]
    w.store(out, w.variable(application.matrix, f"{application.name}({', '.join(operands)})"))


OPERATIONS = (Operation("component_wise", _cases, _experiment, _write, ("c",)),)
