"""a b + c: plain, of matrices in arrays, saturating, wrapping, and from memory with stride 0."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from coopmat.matrices import meaning
from coopmat.matrices.reference import Array
from coopmat.matrices.variants import MatrixType, Operands, Variant, default_operands

from ..experiment import Experiment, Place, matrix_input, matrix_output
from ..profile import SLOW, Profile
from ..writers import Value, Writer
from .base import Case, Operation, Setting, thinned
from .inputs import Inputs, plain, saturating, wrapping

# Products of components that devices' compilers take seconds over, where a lowering makes straight-line code of them:
# on a slow route fewer do.
_LARGE, _LARGE_WHERE_SLOW = 1024, 512


def _cases(keep: Callable[[Variant], bool], first: int = 0, large: bool = False) -> Callable[[Profile], Iterable[Case]]:
    """The multiply-adds that `keep` is true for; `first` makes the choice among too many of them another one. Lowered
    ones without the `large`, unless the profile is exhaustive."""

    def cases(profile: Profile) -> Iterable[Case]:
        every = large or profile.is_native or profile.exhaustive
        most = _LARGE_WHERE_SLOW if profile.route in SLOW else _LARGE
        found = [
            Case(variant.name + profile.suffix(size), size, variant)
            for variant, size in profile.multiply_adds
            # OpenCL C's and SPIR-V's have one type for C and the result.
            if variant.c == variant.result and keep(variant) and (every or variant.m * variant.n * variant.k <= most)
        ]
        return thinned(profile, found, first=first)

    return cases


def _types(variant: Variant) -> tuple[MatrixType, MatrixType, MatrixType]:
    a, b, c, _ = variant.matrix_types()
    return a, b, c


def _operands(variant: Variant) -> Operands:
    mask = default_operands(variant.a, variant.b, variant.c)
    return mask | Operands.SATURATING if variant.saturating else mask


def _meaning(variant: Variant, inputs: Inputs) -> tuple[Array, Array]:
    """The result, and how far a device may be off."""
    types = (variant.a, variant.b, variant.c)
    return meaning.mul_add(types, inputs.a, inputs.b, inputs.c, _operands(variant))


# --- matrixmuladd, matrixmuladd_saturating, matrixmuladd_wrapping


def _experiment(draw: Callable[[np.random.Generator, Variant], Inputs]) -> Callable[[Setting], Experiment]:
    def experiment(setting: Setting) -> Experiment:
        variant: Variant = setting.parameters
        a, b, c = _types(variant)
        inputs = draw(setting.random(), variant)
        result, tolerance = _meaning(variant, inputs)
        return Experiment(
            [
                matrix_input("a", setting.place("a", a), inputs.a),
                matrix_input("b", setting.place("b", b), inputs.b),
                matrix_input("c", setting.place("c", c), inputs.c),
                matrix_output("out", setting.place("out", c), result, tolerance),
            ]
        )

    return experiment


def _write(setting: Setting, w: Writer) -> None:
    a, b, c, out = w.experiment.arguments
    variant: Variant = setting.parameters
    w.store(out, w.multiply_add(_types(variant), w.load(a), w.load(b), w.load(c), _operands(variant)))


# --- matrixmuladd_stride0: one, two or all three of the matrices are a row or a column, again and again


def _stride0_experiment(setting: Setting) -> Experiment:
    variant: Variant = setting.parameters
    inputs = plain(setting.random(), variant)
    chosen = setting.random("chosen").choice([*"abc", "ab", "bc", "ac", "abc"])
    places: dict[str, Place] = {}
    for name, matrix in zip("abc", _types(variant), strict=True):
        place = places[name] = setting.place(name, matrix)
        if name in chosen:
            values = getattr(inputs, name)
            places[name] = repeated = replace(place, stride=0)
            inputs = replace(inputs, **{name: repeated.with_values(values)[repeated.indices()]})
    result, tolerance = _meaning(variant, inputs)
    return Experiment(
        [
            *(matrix_input(name, place, getattr(inputs, name)) for name, place in places.items()),
            matrix_output("out", setting.place("out", _types(variant)[2]), result, tolerance),
        ]
    )


# --- matrixmuladd_array: a product of two blocks each, in arrays


def _array_experiment(setting: Setting) -> Experiment:
    """a0 b0 + a1 b1 + c, as if of one multiply-add twice as deep."""
    variant: Variant = setting.parameters
    deep = replace(variant, k=2 * variant.k)
    inputs = plain(setting.random(), deep)
    result, tolerance = _meaning(deep, inputs)
    a, b, c = _types(variant)
    blocks = [
        *((f"a{number}", a, block) for number, block in enumerate(np.hsplit(inputs.a, 2))),
        *((f"b{number}", b, block) for number, block in enumerate(np.vsplit(inputs.b, 2))),
        ("c", c, inputs.c),
    ]
    return Experiment(
        [
            *(matrix_input(name, setting.place(name, matrix), values) for name, matrix, values in blocks),
            matrix_output("out", setting.place("out", c), result, tolerance),
        ]
    )


def _write_array(setting: Setting, w: Writer) -> None:
    a0, a1, b0, b1, c, out = w.experiment.arguments
    variant: Variant = setting.parameters
    types = _types(variant)
    a, b, sums = (w.array(matrix, count) for matrix, count in zip(types, (2, 2, 1), strict=True))
    filled = ((a, 0, a0), (a, 1, a1), (b, 0, b0), (b, 1, b1), (sums, 0, c))
    for array, index, argument in filled:
        w.assign(w.item(array, w.number(index)), w.load(argument))

    def multiply(k: Value) -> None:
        total = w.item(sums, w.number(0))
        factors = w.read(w.item(a, k)), w.read(w.item(b, k))
        w.assign(total, w.multiply_add(types, *factors, w.read(total), _operands(variant)))

    w.repeat(2, multiply)
    w.store(out, w.read(w.item(sums, w.number(0))))


def _is_plain(variant: Variant) -> bool:
    return not variant.saturating


OPERATIONS = (
    Operation("matrixmuladd", _cases(_is_plain, large=True), _experiment(plain), _write),
    Operation("matrixmuladd_array", _cases(_is_plain, 1), _array_experiment, _write_array),
    Operation("matrixmuladd_saturating", _cases(lambda v: v.saturating), _experiment(saturating), _write),
    Operation(
        "matrixmuladd_wrapping", _cases(lambda v: _is_plain(v) and v.a.is_integer), _experiment(wrapping), _write
    ),
    Operation("matrixmuladd_stride0", _cases(_is_plain, 2), _stride0_experiment, _write),
)
