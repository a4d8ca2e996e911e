"""The operation a b + c: plain, in arrays, with C used twice, saturating, wrapping, with a stride of 0, and scaled."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import cycle, product as product_of

import numpy as np

from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import Array
from coopmat.matrices.variants import COMPONENT_TYPES, SCALE_BLOCK, Operands, Variant

from ..experiment import Argument, Experiment, matrix_input
from ..profile import SLOW, Profile
from ..writers import Value, Writer
from ..writers.c import CWriter
from .base import MOST, Case, Operation, Setting, sample_evenly
from .inputs import (
    Inputs,
    is_plain,
    multiply_add_cases,
    operands_of,
    plain,
    product,
    saturating,
    types_of,
    wrapping,
)

# The largest number of products of components in a lowered multiply-add, in general and on slow routes. Devices'
# compilers take seconds over larger ones, since the lowering makes straight-line code of them.
_LARGE, _LARGE_WHERE_SLOW = 1024, 512


def _cases(keep: Callable[[Variant], bool], first: int = 0, large: bool = False) -> Callable[[Profile], Iterable[Case]]:
    """Return a function that yields the multiply-adds for which `keep` is true; `first` rotates the choice.

    Unless `large` is true or the profile is exhaustive, large lowered multiply-adds are left out.
    """

    def cases(profile: Profile) -> Iterable[Case]:
        most = _LARGE_WHERE_SLOW if profile.route in SLOW else _LARGE
        products = math.inf if large or profile.exhaustive else most
        return multiply_add_cases(profile, keep, products, first=first)

    return cases


# --- matrixmuladd, matrixmuladd_saturating, matrixmuladd_wrapping


def _experiment(draw: Callable[[np.random.Generator, Variant], Inputs]) -> Callable[[Setting], Experiment]:
    def experiment(setting: Setting) -> Experiment:
        variant: Variant = setting.parameters
        types, inputs = types_of(variant), draw(setting.random(), variant)
        buffers = [setting.input(*parts) for parts in zip("abc", types, inputs, strict=True)]
        return Experiment([*buffers, setting.output("out", types[2], *product(variant, inputs))])

    return experiment


def _write(setting: Setting, w: Writer) -> None:
    a, b, c, out = w.experiment.arguments
    variant: Variant = setting.parameters
    w.store(out, w.multiply_add(types_of(variant), w.load(a), w.load(b), w.load(c), operands_of(variant)))


# --- matrixmuladd_stride0: in one, two or all three of the matrices, a single row or column is repeated


def _stride0_experiment(setting: Setting) -> Experiment:
    variant: Variant = setting.parameters
    inputs = plain(setting.random(), variant)
    letters = setting.random("chosen").choice([*"abc", "ab", "bc", "ac", "abc"])
    buffers = []
    for name, matrix, values in zip("abc", types_of(variant), inputs, strict=True):
        place = setting.place(name, matrix)
        if name in letters:
            place = replace(place, stride=0)
            values = place.with_values(values)[place.indices()]
            inputs = inputs._replace(**{name: values})
        buffers.append(matrix_input(name, place, values))
    return Experiment([*buffers, setting.output("out", types_of(variant)[2], *product(variant, inputs))])


# --- matrixmuladd_same_c: two multiply-adds add to one C, which neither may change. If Mesa's lavapipe divides a
# multiply-add along K, it overwrites C


def _same_c_experiment(setting: Setting) -> Experiment:
    variant: Variant = setting.parameters
    inputs = plain(setting.random(), variant)
    a, b, c = types_of(variant)
    factors = inputs.b, np.ascontiguousarray(inputs.b[:, ::-1])
    return Experiment(
        [
            setting.input("a", a, inputs.a),
            *(setting.input(f"b{number}", b, factor) for number, factor in enumerate(factors)),
            setting.input("c", c, inputs.c),
            *(
                setting.output(f"out{number}", c, *product(variant, inputs._replace(b=factor)))
                for number, factor in enumerate(factors)
            ),
        ]
    )


def _write_same_c(setting: Setting, w: Writer) -> None:
    a, *factors, c, first, second = w.experiment.arguments
    variant: Variant = setting.parameters
    left, total = w.load(a), w.load(c)
    for factor, out in zip(factors, (first, second), strict=True):
        w.store(out, w.multiply_add(types_of(variant), left, w.load(factor), total, operands_of(variant)))


# --- matrixmuladd_array: a sum of two products, with the operands in arrays


def _array_experiment(setting: Setting) -> Experiment:
    """Make an experiment for a0 b0 + a1 b1 + c, which equals one multiply-add with twice the k."""
    variant: Variant = setting.parameters
    deep = replace(variant, k=2 * variant.k)
    inputs = plain(setting.random(), deep)
    a, b, c = types_of(variant)
    return Experiment(
        [
            *(setting.input(f"a{number}", a, block) for number, block in enumerate(np.hsplit(inputs.a, 2))),
            *(setting.input(f"b{number}", b, block) for number, block in enumerate(np.vsplit(inputs.b, 2))),
            setting.input("c", c, inputs.c),
            setting.output("out", c, *product(deep, inputs)),
        ]
    )


def _write_array(setting: Setting, w: Writer) -> None:
    *inputs, out = w.experiment.arguments
    variant: Variant = setting.parameters
    types = types_of(variant)
    a, b, sums = (w.array(matrix, count) for matrix, count in zip(types, (2, 2, 1), strict=True))
    for (array, index), argument in zip(((a, 0), (a, 1), (b, 0), (b, 1), (sums, 0)), inputs, strict=True):
        w.assign(array(w.number(index)), w.load(argument))

    def multiply(k: Value) -> None:
        total = sums(w.number(0))
        factors = w.read(a(k)), w.read(b(k))
        w.assign(total, w.multiply_add(types, *factors, w.read(total), operands_of(variant)))

    w.repeat(2, multiply)
    w.store(out, w.read(sums(w.number(0))))


# --- matrixmuladd_scaled: blocks of 32 columns of A and rows of B have scales


# Shapes (M, N, K) on lowered routes: a part of a block, one, two, and a last one that is short.
_SHAPES = ((4, 8, 8), (8, 16, 32), (3, 5, 64), (8, 4, 40), (1, 16, 33), (16, 1, 64))


def _is_scaled(variant: Variant) -> bool:
    is_small = not variant.a.is_integer and max(variant.a.bits, variant.b.bits) <= 8
    return is_small and variant.c.name in ("f32", "f16", "bf16")


def _scaled_cases(profile: Profile) -> Iterable[Case]:
    if profile.is_native:
        return multiply_add_cases(profile, _is_scaled)
    components = dict.fromkeys(component for variant, _ in profile.multiply_adds for component in variant.components)
    types = product_of([a for a in components if not a.is_integer], repeat=3)
    sizes = cycle(sorted({size for _, size in profile.multiply_adds}, key=str))
    variants = (Variant(*shape, a, b, c, c) for (a, b, c), shape in product_of(types, _SHAPES))
    pairs = ((variant, next(sizes)) for variant in variants if _is_scaled(variant))
    cases = [Case(f"{variant.name}{profile.suffix(size)}", size, variant) for variant, size in pairs]
    return sample_evenly(profile, cases, min(len(profile.multiply_adds) // 8, MOST // 2))


def _scaled_experiment(setting: Setting) -> Experiment:
    """Make an experiment with scales of 1/32 to 32; that of one column is NaN. Padding of scales is NaN, too."""
    variant: Variant = setting.parameters
    rng, types = setting.random("scales"), types_of(variant)
    inputs = plain(setting.random(), variant)
    blocks = -(-variant.k // SCALE_BLOCK)
    scales = [np.full((lines, blocks + 1), 255, np.uint8) for lines in (variant.m, variant.n)]
    for array in scales:
        array[:, :-1] = rng.integers(122, 133, (len(array), blocks))
    if variant.n > 2:
        scales[1][rng.integers(variant.n), 0] = 255
    a, b, c = (numpy_reference.widen(t.component, x).astype(np.float64) for t, x in zip(types, inputs, strict=True))
    a, b = a * _powers(scales[0], variant.k), b * _powers(scales[1], variant.k).T
    with np.errstate(all="ignore"):
        exact, size = a @ b + c, np.abs(a) @ np.abs(b) + np.abs(c)
    bound = (variant.k + 2) * variant.c.epsilon * size
    arguments = [setting.input(*parts) for parts in zip("abc", types, inputs, strict=True)]
    named = zip(("sa", "sb"), scales, strict=True)
    arguments += [Argument(name, COMPONENT_TYPES["u8"], array.ravel()) for name, array in named]
    return Experiment([*arguments, setting.output("out", types[2], numpy_reference.narrow(variant.c, exact), bound)])


def _powers(scales: Array, k: int) -> Array:
    """Return the numbers of E8M0 scales, one for each component along K; the last scale of a row is padding."""
    numbers = np.where(scales == 255, np.nan, np.ldexp(1.0, scales.astype(int) - 127))
    return np.repeat(numbers[:, :-1], SCALE_BLOCK, axis=1)[:, :k]


def _write_scaled(setting: Setting, w: CWriter) -> None:
    a, b, c, sa, sb, out = w.experiment.arguments
    variant: Variant = setting.parameters
    stride = -(-variant.k // SCALE_BLOCK) + 1
    operands = f"{w.load(a)}, {sa.name}, {stride}, {w.load(b)}, {sb.name}, {stride}, {w.load(c)}"
    w.store(out, w.variable(types_of(variant)[2], f"coop_mat_mulAdd_scaled({operands})"))


# --- matrixmuladd_tf32: factors of float with 10 bits of mantissa, of which no rounding loses any


def _tf32_cases(profile: Profile) -> Iterable[Case]:
    """Yield multiply-adds of float, of the shapes of instructions too."""
    rows = profile.lowered.tf32 if profile.lowered is not None else ()
    units = [(row.variants(2, 2, 2)[0], row.lanes) for row in rows if row.lanes in profile.sizes]
    own = replace(profile, multiply_adds=[*units, *profile.multiply_adds])
    return multiply_add_cases(own, lambda v: {t.name for t in v.components} == {"f32"})


def _tf32_experiment(setting: Setting) -> Experiment:
    variant: Variant = setting.parameters
    inputs = plain(setting.random(), variant)
    short = {name: (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32) for name, x in inputs._asdict().items()}
    inputs = inputs._replace(a=short["a"], b=short["b"])
    types = types_of(variant)
    buffers = [setting.input(*parts) for parts in zip("abc", types, inputs, strict=True)]
    return Experiment([*buffers, setting.output("out", types[2], *product(variant, inputs))])


def _write_tf32(setting: Setting, w: Writer) -> None:
    a, b, c, out = w.experiment.arguments
    w.store(out, w.multiply_add(types_of(setting.parameters), w.load(a), w.load(b), w.load(c), Operands.TF32))


OPERATIONS = (
    Operation("matrixmuladd_tf32", _tf32_cases, _tf32_experiment, _write_tf32, ("c",)),
    Operation("matrixmuladd", _cases(is_plain, large=True), _experiment(plain), _write, narrow=True),
    Operation("matrixmuladd_same_c", _cases(is_plain, 3), _same_c_experiment, _write_same_c, narrow=True),
    Operation("matrixmuladd_array", _cases(is_plain, 1), _array_experiment, _write_array, narrow=True),
    Operation("matrixmuladd_saturating", _cases(lambda v: v.saturating), _experiment(saturating), _write),
    Operation("matrixmuladd_wrapping", _cases(lambda v: is_plain(v) and v.a.is_integer), _experiment(wrapping), _write),
    Operation("matrixmuladd_stride0", _cases(is_plain, 2), _stride0_experiment, _write, narrow=True),
    Operation("matrixmuladd_scaled", _scaled_cases, _scaled_experiment, _write_scaled, ("c",)),
)
