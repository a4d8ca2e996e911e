"""Reductions: reduce_row, reduce_column, reduce_all, reduce_2x2, by builtins and by functions of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from coopmat.matrices.numpy_reference import Array, narrow, widen
from coopmat.matrices.variants import ComponentType, MatrixType, Use

from ..experiment import Experiment
from ..functions import Function, Scalars, V, of_builtin
from ..profile import Profile
from ..values import whole_range
from ..writers import Writer
from .base import Case, Operation, Setting, Turns, round_robin

ROW, COLUMN, ALL, BLOCKS = 1, 2, 3, 4
# The largest number of components of a lowered matrix, since each becomes a separate branch or exchange. The lengths of
# the result in a reduced dimension, which is free.
_MOST = 256
_FREE = (1, 3, 8)
# The largest numbers of components with a difficult value, so that results remain exact or meaningful: nonzero terms of
# an exact sum of small floats; factors of a product that are even, or not 1 or -1; special values (such as infinities)
# that are compared.
_TERMS = 8
_FACTORS = 3
_SPECIAL = 4


# --- the functions that combine two components


def _sum(component: ComponentType) -> Function:
    def body(s: Scalars[V], x: V, y: V) -> V:
        return s.binary("add", component, x, y)

    return Function("sum", (component, component), component, body)


def _product(component: ComponentType) -> Function:
    def body(s: Scalars[V], x: V, y: V) -> V:
        return s.binary("mul", component, x, y)

    return Function("product", (component, component), component, body)


def _bits(component: ComponentType) -> Function:
    """Return exclusive or, a function for integers only."""

    def body(s: Scalars[V], x: V, y: V) -> V:
        return s.binary("xor", component, x, y)

    return Function("bits", (component, component), component, body)


def _extreme(component: ComponentType, greatest: bool) -> Function:
    """Return max or min: a builtin, or for small floats, which have no builtin, a function of the program."""
    name = "max" if greatest else "min"
    if not component.is_bits:
        return of_builtin(name if component.is_integer else f"f{name}", component)

    def body(s: Scalars[V], x: V, y: V) -> V:
        return s.select(component, s.is_less(component, x, y), *((y, x) if greatest else (x, y)))

    return Function(name, (component, component), component, body)


FUNCTIONS: dict[str, Callable[[ComponentType], Function]] = {
    "sum": _sum,
    "max": lambda component: _extreme(component, True),
    "product": _product,
    "min": lambda component: _extreme(component, False),
    "bits": _bits,
}


def reducible(rng: np.random.Generator, kind: str, component: ComponentType, *shape: int) -> Array:
    """Return values whose reduction gives the same result in every order, and depends on nearly every value.

    Integers have their whole range; sums and products of floats are exact.
    """
    if kind in ("max", "min"):
        return _ordered(rng, component, *shape)
    if kind == "product":
        # Only a few factors are even: a product of many even integers is zero.
        few = _few(rng, np.ones(shape, np.int64), 0, _FACTORS)
        if component.is_integer:
            return np.asarray(
                (whole_range(rng, component, *shape) | np.array(1, component.numpy)) << few.astype(component.numpy)
            )
        powers = few * rng.choice([-1, 1], shape)
        return narrow(component, rng.choice([-1.0, 1.0], shape) * np.exp2(powers))
    if component.is_integer:
        return whole_range(rng, component, *shape)
    numbers = rng.integers(-2, 3, shape)
    return narrow(component, _few(rng, numbers, 0, _TERMS) if component.is_bits else numbers)


def _ordered(rng: np.random.Generator, component: ComponentType, *shape: int) -> Array:
    """Return values that mostly differ, with at most `_SPECIAL` that are easily mishandled."""
    anything = whole_range(rng, component, *shape)
    few = _few(rng, np.ones(shape, np.int64), 0, _SPECIAL) == 1
    if component.is_integer:
        limits = np.iinfo(component.numpy)
        return np.where(few, anything, rng.integers(limits.min, limits.max, shape, component.numpy, endpoint=True))
    values = np.where(few, widen(component, anything), rng.standard_normal(shape) * 4)
    # Avoid results that depend on the order: zeros of both signs are equal, and comparisons with NaN may return either
    # operand (fmax returns the number).
    values = np.where(values == 0, 0, values)
    return narrow(component, np.where(np.isnan(values), 1, values) if component.is_bits else values)


def _few(rng: np.random.Generator, numbers: Array, rest: int, most: int) -> Array:
    """Return the numbers, of which all except `most` random ones are replaced by `rest`."""
    order = rng.permutation(numbers.size).reshape(numbers.shape)
    return np.where(order < most, numbers, rest)


# --- the variants


@dataclass(frozen=True)
class Reduction:
    source: MatrixType
    target: MatrixType
    function: str


def _cases(profile: Profile, how: int) -> Iterable[Case]:
    """Yield two functions for each component type and shape of accumulators; all in exhaustive profiles."""
    cases: dict[str, Case] = {}
    turns = Turns(profile)
    for matrix, size in profile.matrix_types:
        source = _source(profile, matrix, how)
        if source is None or not profile.has_type(source, size):
            continue
        names = [name for name in FUNCTIONS if source.component.is_integer or name != "bits"]
        targets = [target for target in _targets(source, how) if profile.has_type(target, size)]
        for target in round_robin(profile, f"{how} {source}", targets):
            for name in turns.next(f"{how} {source.component}", names, 2):
                text = f"{source.name}.{target.name}.{name}{profile.suffix(size)}"
                cases.setdefault(text, Case(text, size, Reduction(source, target, name)))
    yield from cases.values()


def _source(profile: Profile, matrix: MatrixType, how: int) -> MatrixType | None:
    """Return an accumulator type that can be reduced, with a shape as near to the matrix's as possible.

    Return None if blocks of 2 x 2 are reduced and a native matrix has an odd side.
    """
    rows, columns = matrix.rows, matrix.columns
    if how == BLOCKS and not profile.is_native:
        rows, columns = rows + rows % 2, columns + columns % 2
    if rows * columns > _MOST and not (profile.is_native or profile.exhaustive):
        rows, columns = (min(n, 16) for n in (rows, columns))
    if how == BLOCKS and (rows % 2 or columns % 2):
        return None
    return replace(matrix, rows=rows, columns=columns, use=Use.ACCUMULATOR)


def _targets(source: MatrixType, how: int) -> Iterable[MatrixType]:
    """Yield types of results; a reduced dimension has the source's length or one of `_FREE`."""
    rows, columns = source.rows, source.columns
    if how == BLOCKS:
        yield replace(source, rows=rows // 2, columns=columns // 2)
        return
    heights = (rows,) if how == ROW else tuple(dict.fromkeys((rows, *_FREE)))
    widths = (columns,) if how == COLUMN else tuple(dict.fromkeys((columns, *_FREE)))
    for height in heights:
        for width in widths:
            yield replace(source, rows=height, columns=width)


# --- the results


def groups_of(values: Array, how: int) -> Array:
    """Return an array (rows, columns, n) of the n components that are combined to each component of the result.

    Reduced dimensions have the length 1.
    """
    rows, columns = values.shape
    if how == ROW:
        return np.asarray(values[:, None, :])
    if how == COLUMN:
        return np.asarray(values.T[None, :, :])
    if how == ALL:
        return np.asarray(values.reshape(1, 1, -1))
    blocks = values.reshape(rows // 2, 2, columns // 2, 2).transpose(0, 2, 1, 3)
    return np.asarray(blocks.reshape(rows // 2, columns // 2, 4))


def combined(function: Function, groups: Array) -> Array:
    """Return the function's reduction along the last axis."""
    result: Array = groups[..., 0]
    for number in range(1, groups.shape[-1]):
        result = function.value(result, groups[..., number])
    return result


def _experiment(setting: Setting, how: int) -> Experiment:
    reduction: Reduction = setting.parameters
    source, target, kind = reduction.source, reduction.target, reduction.function
    rng, component, shape = setting.random(), source.component, (target.rows, target.columns)
    x = reducible(rng, kind, component, source.rows, source.columns)
    result = combined(FUNCTIONS[kind](component), groups_of(x, how))
    arguments = [setting.input("x", source, x), setting.output("out", target, np.broadcast_to(result, shape))]
    if _is_rounded(reduction):
        y = _terms(rng, source)
        total, tolerance = _rounded_sum(component, groups_of(y, how))
        tolerance = np.broadcast_to(tolerance, shape)
        arguments.insert(1, setting.input("y", source, y))
        arguments.append(setting.output("rounded", target, np.broadcast_to(total, shape), tolerance))
    return Experiment(arguments)


def _is_rounded(reduction: Reduction) -> bool:
    """Return whether the experiment has a second sum, which is rounded differently in every order."""
    return reduction.function == "sum" and not (
        reduction.source.component.is_integer or reduction.source.component.is_bits
    )


def _terms(rng: np.random.Generator, matrix: MatrixType) -> Array:
    """Return random numbers; if there are several rows and columns, one number in the first row is infinite or NaN."""
    y = rng.standard_normal((matrix.rows, matrix.columns))
    if matrix.rows > 1 and matrix.columns > 1:
        y[0, rng.integers(matrix.columns)] = rng.choice([np.inf, -np.inf, np.nan])
    return narrow(matrix.component, y)


def _rounded_sum(component: ComponentType, groups: Array) -> tuple[Array, Array]:
    """Return the sums, rounded once, and the largest error of a sum in any order: (n - 1) eps sum |x|."""
    wide = groups.astype(np.longdouble)
    with np.errstate(all="ignore"):
        total, size = wide.sum(axis=-1), np.abs(wide).sum(axis=-1)
        tolerance = (groups.shape[-1] - 1) * component.epsilon * size.astype(np.float64)
    return narrow(component, total), tolerance


def _write(setting: Setting, w: Writer, how: int) -> None:
    reduction: Reduction = setting.parameters
    function = FUNCTIONS[reduction.function](reduction.source.component)
    inputs = [argument for argument in w.experiment.arguments if not argument.is_output]
    outputs = [argument for argument in w.experiment.arguments if argument.is_output]
    for x, out in zip(inputs, outputs, strict=True):
        w.store(out, w.reduce(reduction.source, reduction.target, how, function, w.load(x)))


def _operation(name: str, how: int) -> Operation:
    return Operation(
        name,
        lambda profile: _cases(profile, how),
        lambda setting: _experiment(setting, how),
        lambda setting, w: _write(setting, w, how),
    )


OPERATIONS = (
    _operation("reduce_row", ROW),
    _operation("reduce_column", COLUMN),
    _operation("reduce_all", ALL),
    _operation("reduce_2x2", BLOCKS),
)
