"""Operators, fills, and multiplication by scalars, in every form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from coopmat.cts import values
from coopmat.cts.values import whole_range
from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import Array
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType, Use

from .axes import draw_matrix, types
from .rows import Row, Writer, key

BINARY = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
# form -> operator: a scalar on either side, and compound assignments
WITH_SCALARS = {form: o for o in BINARY for form in (f"m {o} s", f"s {o} m", f"m {o}= s")}
INT, FLOAT = COMPONENT_TYPES["s32"], COMPONENT_TYPES["f32"]


def rows() -> Iterator[Row]:
    for n, component in enumerate(types()):
        for use in Use:
            yield _operators(component, use)
        for m, source in enumerate(scalars()):
            if n % 4 == m % 4 or source == component:
                yield _with_scalars(component, source, Use((n + m) % 3))
        yield _fills(component, Use(n % 3))


def scalars() -> list[ComponentType]:
    """Return the scalar types that a fill or an operator converts."""
    return [t for t in COMPONENT_TYPES.values() if not t.is_bits]


def _operators(component: ComponentType, use: Use) -> Row:
    names = [form for o in BINARY for form in (o, f"{o}=")] + ["unary -"]
    keys = {name: key(name, type=component, use=use.name) for name in names}

    def write(w: Writer) -> None:
        matrix = draw_matrix(w, component, use)
        x, y = (whole_range(w.rng, component, matrix.rows, matrix.columns) for _ in range(2))
        y = values.divisors(component, y)
        t = w.matrix("x", matrix, x)
        w.matrix("y", matrix, y)
        for operator, word in BINARY.items():
            wanted = numpy_reference.binary(component, word, x, y)
            off = numpy_reference.division_tolerance(component, wanted) if word == "div" else 0.0
            w.result(keys[operator], f"x {operator} y", matrix, wanted, off)
            w.line(f"{t} z{word} = x; z{word} {operator}= y;")
            w.result(keys[f"{operator}="], f"z{word}", matrix, wanted, off)
        w.result(keys["unary -"], "-x", matrix, numpy_reference.negate(component, x))

    return Row(f"operators {component} {use.name}", tuple(keys.values()), write, everywhere=use == Use.ACCUMULATOR)


def _value(rng: np.random.Generator, source: ComponentType, to: ComponentType) -> Any:
    """Return a scalar whose conversion is defined."""
    return values.convertible(rng, source, to, 1)[0]


def _with_scalars(component: ComponentType, source: ComponentType, use: Use) -> Row:
    keys = {form: key(form, type=component, scalar=source) for form in WITH_SCALARS}

    def write(w: Writer) -> None:
        matrix = draw_matrix(w, component, use)
        x = values.divisors(component, whole_range(w.rng, component, matrix.rows, matrix.columns))
        t = w.matrix("x", matrix, x)
        value = _divisor(w.rng, source, component)
        s = w.scalar(value, source)
        full = np.broadcast_to(numpy_reference.convert(np.array([value]), source, component), x.shape)
        for n, (form, case) in enumerate(keys.items()):
            operator = WITH_SCALARS[form]
            operands = (full, x) if form.startswith("s") else (x, full)
            wanted = numpy_reference.binary(component, BINARY[operator], *operands)
            off = numpy_reference.division_tolerance(component, wanted) if operator == "/" else 0.0
            text = f"{s} {operator} x" if form.startswith("s") else f"x {operator} {s}"
            if form.endswith("= s"):
                w.line(f"{t} z{n} = x; z{n} {operator}= {s};")
                text = f"z{n}"
            w.result(case, text, matrix, wanted, off)

    return Row(f"operators of {component} with {source}", tuple(keys.values()), write)


def _divisor(rng: np.random.Generator, source: ComponentType, to: ComponentType) -> Any:
    """Return a scalar whose conversion is defined, and is not zero."""
    while True:
        value = _value(rng, source, to)
        converted = numpy_reference.convert(np.array([value]), source, to)
        if not to.is_integer or (converted == values.divisors(to, converted)).all():
            return value


def _fills(component: ComponentType, use: Use) -> Row:
    """Return a row with fills by a run-time scalar of each type, and by constants."""
    run_time = {source: key("fill", type=component, scalar=source) for source in scalars()}
    constants: dict[str, tuple[ComponentType, Any]] = {"-1": (INT, -1), "0": (INT, 0), "2.75f": (FLOAT, 2.75)}
    constant = {text: key("fill with a constant", type=component, value=text) for text in constants}

    def write(w: Writer) -> None:
        matrix = draw_matrix(w, component, use)
        t = w.type("T", matrix)

        def full(source: ComponentType, value: Any) -> Array:
            one = numpy_reference.convert(np.array([value], source.numpy), source, component)
            return np.full((matrix.rows, matrix.columns), one[0])

        for n, (source, case) in enumerate(run_time.items()):
            value = _value(w.rng, source, component)
            w.line(f"{t} m{n} = coop_mat_init({w.scalar(value, source)});")
            w.result(case, f"m{n}", matrix, full(source, value))
        for text, case in constant.items():
            w.result(case, f"({t})coop_mat_init({text})", matrix, full(*constants[text]))

    return Row(f"fills {component}", (*run_time.values(), *constant.values()), write)
