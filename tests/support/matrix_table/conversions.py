"""Conversions of matrices between all component types, by cast and by builtin, with rounding and saturation."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from coopmat.cts import values
from coopmat.matrices import numpy_reference
from coopmat.matrices.variants import ComponentType, MatrixType, Use

from .axes import draw_matrix, types
from .rows import Key, Row, Writer, key

ROUNDINGS = ("", "rte", "rtz", "rtp", "rtn")


def rows() -> Iterator[Row]:
    for n, source in enumerate(types()):
        yield _casts(source, [t for t in types() if not t.is_bits], Use(n % 3))
        yield _casts(source, [t for t in types() if t.is_bits], Use(n % 3))
        for m, to in enumerate(types()):
            yield _builtins(source, to, Use((n + m) % 3))
            yield _with_uses(source, to, n + m)
        for use in Use:
            yield _transpose(source, use)
            yield _changes_of_use(source, use)


def forms(to: ComponentType) -> Iterator[tuple[str, bool]]:
    """Return the rounding modes and saturation of conversions to a type.

    Between integers, rounding has no effect. Not every type can saturate.
    """
    return itertools.product(ROUNDINGS, (False, True) if to.saturates else (False,))


def _casts(source: ComponentType, targets: list[ComponentType], use: Use) -> Row:
    keys = {to: key("cast", type=source, to=to) for to in targets}

    def write(w: Writer) -> None:
        matrix = draw_matrix(w, source, use)
        for n, (to, case) in enumerate(keys.items()):
            x = values.convertible(w.rng, source, to, matrix.rows, matrix.columns)
            w.matrix(f"x{n}", matrix, x)
            result = replace(matrix, component=to)
            w.result(case, f"({w.type(f'R{n}', result)})x{n}", result, numpy_reference.convert(x, source, to))

    return Row(f"casts of {source} to {targets[0]} and others", tuple(keys.values()), write)


def _builtins(source: ComponentType, to: ComponentType, use: Use) -> Row:
    keys: dict[tuple[str, bool], Key] = {
        form: key("coop_mat_convert", type=source, to=to, rounding=form[0], saturate=form[1]) for form in forms(to)
    }

    def write(w: Writer) -> None:
        matrix = draw_matrix(w, source, use, 0.0)
        x = values.convertible(w.rng, source, to, matrix.rows, matrix.columns)
        wild = values.whole_range(w.rng, source, matrix.rows, matrix.columns)
        w.matrix("x", matrix, x)
        if to.saturates:
            w.matrix("wild", matrix, wild)
        result = replace(matrix, component=to)
        t = w.type("R", result)
        for n, ((rounding, saturate), case) in enumerate(keys.items()):
            name = "coop_mat_convert" + "_sat" * saturate + f"_{rounding}" * bool(rounding)
            w.line(f"{t} y{n} = {name}({'wild' if saturate else 'x'});")
            wanted = numpy_reference.convert(wild if saturate else x, source, to, rounding, saturate)
            w.result(case, f"y{n}", result, wanted)

    return Row(f"conversions of {source} to {to}", tuple(keys.values()), write)


def _changes_of_use(component: ComponentType, use: Use) -> Row:
    """Return a row with conversions to each use by a cast and by the builtin, also to the same use."""
    forms = tuple(itertools.product(Use, ("cast", "builtin")))
    keys = {(to, form): key("change of use", type=component, use=use.name, to=to.name, form=form) for to, form in forms}

    def write(w: Writer) -> None:
        matrix = draw_matrix(w, component, use, 0.3)
        x = values.whole_range(w.rng, component, matrix.rows, matrix.columns)
        w.matrix("x", matrix, x)
        for n, ((to, form), case) in enumerate(keys.items()):
            result = replace(matrix, use=to)
            t = w.type(f"T{n}", result)
            w.line(f"{t} y{n} = {f'({t})x' if form == 'cast' else 'coop_mat_convert(x)'};")
            w.result(case, f"y{n}", result, x)

    return Row(f"changes of use of {component} {use.name}", tuple(keys.values()), write, everywhere=True)


def _with_uses(source: ComponentType, to: ComponentType, n: int) -> Row:
    """Return a row with conversions of component type and use at once: by a cast, and saturated if the type can be."""
    use, other = Use(n % 3), Use((n + 1 + n // 3 % 2) % 3)
    uses = {"use": use.name, "to use": other.name}
    keys = {False: key("conversion and change of use", type=source, to=to, saturate=False, **uses)}
    if to.saturates:
        keys[True] = key("conversion and change of use", type=source, to=to, saturate=True, **uses)

    def write(w: Writer) -> None:
        matrix = draw_matrix(w, source, use, 0.2)
        result = replace(matrix, component=to, use=other)
        t = w.type("R", result)
        for saturate, case in keys.items():
            draw = values.whole_range(w.rng, source, matrix.rows, matrix.columns)
            x = draw if saturate else values.convertible(w.rng, source, to, matrix.rows, matrix.columns)
            name = f"x{int(saturate)}"
            w.matrix(name, matrix, x)
            w.line(f"{t} y{name} = {f'coop_mat_convert_sat({name})' if saturate else f'({t}){name}'};")
            w.result(case, f"y{name}", result, numpy_reference.convert(x, source, to, "", saturate))

    return Row(f"conversions of {source} to {to} for other uses", tuple(keys.values()), write)


def _transpose(component: ComponentType, use: Use) -> Row:
    case = key("coop_mat_transpose", type=component, use=use.name)

    def write(w: Writer) -> None:
        matrix = draw_matrix(w, component, use, 0.3)
        x = values.whole_range(w.rng, component, matrix.rows, matrix.columns)
        w.matrix("x", matrix, x)
        result = MatrixType(component, matrix.columns, matrix.rows, Use(w.rng.integers(3)))
        w.line(f"{w.type('T', result)} y = coop_mat_transpose(x);")
        w.result(case, "y", result, x.T)

    return Row(f"transposes of {component} {use.name}", (case,), write)
