"""Reductions: reduce_row, reduce_column, reduce_all, reduce_2x2, by builtins and by the program's own functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from coopmat.matrices import meaning
from coopmat.matrices.reference import Array
from coopmat.matrices.variants import ComponentType, MatrixType, Use

from ..experiment import Experiment
from ..functions import Function, Scalars, V, of_builtin
from ..profile import Profile
from ..values import whole_range
from ..writers import Writer
from .base import Case, Operation, Setting, Turns, dealt

ROW, COLUMN, ALL, BLOCKS = 1, 2, 3, 4
# Components of a lowered matrix, each of which becomes a branch or an exchange of its own; values of a result's side
# that is free.
_MOST = 256
_FREE = (1, 3, 8)
# Of an exact sum of small floats no more terms are other than zero, of a product no more factors even, or other than 1
# and -1; of what is compared no more are infinite, say.
_TERMS = 8
_FACTORS = 3
_SPECIAL = 4


# --- what components are combined by


def _sum(component: ComponentType) -> Function:
    def body(s: Scalars[V], x: V, y: V) -> V:
        return s.binary("add", component, x, y)

    return Function("sum", (component, component), component, body)


def _product(component: ComponentType) -> Function:
    def body(s: Scalars[V], x: V, y: V) -> V:
        return s.binary("mul", component, x, y)

    return Function("product", (component, component), component, body)


def _bits(component: ComponentType) -> Function:
    """Return a function that no floats have."""

    def body(s: Scalars[V], x: V, y: V) -> V:
        return s.binary("xor", component, x, y)

    return Function("bits", (component, component), component, body)


def _extreme(component: ComponentType, greatest: bool) -> Function:
    """Return a builtin of the component type, or for small floats, which have none, a function of the program's."""
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
    """Return values of which every order gives the same result, and of which hardly one can be left out: integers over
    their whole range; floats whose sums and products are exact."""
    if kind in ("max", "min"):
        return _ordered(rng, component, *shape)
    if kind == "product":
        # Of even factors no more than a few: a product of many is zero.
        few = _few(rng, np.ones(shape, np.int64), 0, _FACTORS)
        if component.is_integer:
            return np.asarray(
                (whole_range(rng, component, *shape) | np.array(1, component.numpy)) << few.astype(component.numpy)
            )
        powers = few * rng.choice([-1, 1], shape)
        return meaning.narrow(component, rng.choice([-1.0, 1.0], shape) * np.exp2(powers))
    if component.is_integer:
        return whole_range(rng, component, *shape)
    numbers = rng.integers(-2, 3, shape)
    return meaning.narrow(component, _few(rng, numbers, 0, _TERMS) if component.is_bits else numbers)


def _ordered(rng: np.random.Generator, component: ComponentType, *shape: int) -> Array:
    """Return values that mostly differ, with a few of those that are easily mishandled."""
    anything = whole_range(rng, component, *shape)
    few = _few(rng, np.ones(shape, np.int64), 0, _SPECIAL) == 1
    if component.is_integer:
        limits = np.iinfo(component.numpy)
        return np.where(few, anything, rng.integers(limits.min, limits.max, shape, component.numpy, endpoint=True))
    values = np.where(few, meaning.widen(component, anything), rng.standard_normal(shape) * 4)
    # Zeros of both signs are equal; of a NaN and a number fmax gives the number, and comparisons either.
    values = np.where(values == 0, 0, values)
    return meaning.narrow(component, np.where(np.isnan(values), 1, values) if component.is_bits else values)


def _few(rng: np.random.Generator, numbers: Array, rest: int, most: int) -> Array:
    """Return the numbers, all but so many of them replaced by the `rest`."""
    order = rng.permutation(numbers.size).reshape(numbers.shape)
    return np.where(order < most, numbers, rest)


# --- the variants


@dataclass(frozen=True)
class Reduction:
    source: MatrixType
    target: MatrixType
    function: str


def _cases(profile: Profile, how: int) -> Iterable[Case]:
    """Yield two functions for each component type and shape of accumulators; all if the profile is exhaustive."""
    cases: dict[str, Case] = {}
    turns = Turns(profile)
    for matrix, size in profile.matrix_types:
        source = _source(profile, matrix, how)
        if source is None or not profile.has_type(source, size):
            continue
        names = [name for name in FUNCTIONS if source.component.is_integer or name != "bits"]
        targets = [target for target in _targets(source, how) if profile.has_type(target, size)]
        for target in dealt(profile, f"{how} {source}", targets):
            for name in turns.next(f"{how} {source.component}", names, 2):
                text = f"{source.name}.{target.name}.{name}{profile.suffix(size)}"
                cases.setdefault(text, Case(text, size, Reduction(source, target, name)))
    yield from cases.values()


def _source(profile: Profile, matrix: MatrixType, how: int) -> MatrixType | None:
    """Return an accumulator of such a shape that it can be reduced, as near to the matrix as possible."""
    rows, columns = matrix.rows, matrix.columns
    if how == BLOCKS and not profile.is_native:
        rows, columns = rows + rows % 2, columns + columns % 2
    if rows * columns > _MOST and not (profile.is_native or profile.exhaustive):
        rows, columns = (min(n, 16) for n in (rows, columns))
    if how == BLOCKS and (rows % 2 or columns % 2):
        return None
    return replace(matrix, rows=rows, columns=columns, use=Use.ACCUMULATOR)


def _targets(source: MatrixType, how: int) -> Iterable[MatrixType]:
    """Yield types of results: sides that are free are as they were, or of other lengths."""
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
    """Return the components that are combined, along the last axis; the first two are the result's, 1 where it is
    free."""
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
    """Return the function's results for what lies along the last axis."""
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
    """Return whether there is a second sum, of which every order gives another result."""
    return reduction.function == "sum" and not (
        reduction.source.component.is_integer or reduction.source.component.is_bits
    )


def _terms(rng: np.random.Generator, matrix: MatrixType) -> Array:
    """Return numbers, and in the first row one that is none, if there are others."""
    y = rng.standard_normal((matrix.rows, matrix.columns))
    if matrix.rows > 1 and matrix.columns > 1:
        y[0, rng.integers(matrix.columns)] = rng.choice([np.inf, -np.inf, np.nan])
    return meaning.narrow(matrix.component, y)


def _rounded_sum(component: ComponentType, groups: Array) -> tuple[Array, Array]:
    """Return the sums, rounded once, and the greatest error that any order has: (n - 1) eps sum |x|."""
    wide = groups.astype(np.longdouble)
    with np.errstate(all="ignore"):
        total, size = wide.sum(axis=-1), np.abs(wide).sum(axis=-1)
        tolerance = (groups.shape[-1] - 1) * component.epsilon * size.astype(np.float64)
    return meaning.narrow(component, total), tolerance


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
