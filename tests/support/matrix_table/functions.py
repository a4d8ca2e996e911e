"""Functions of components: builtins, and functions of the program as operands of map, build and reduce."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np

from coopmat.cts import values
from coopmat.frontend import builtins
from coopmat.frontend.sema.matrices import is_component_wise
from coopmat.frontend.types import SCALARS
from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import Array, narrow, widen
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType, MatrixShape, MatrixType, Use

from .axes import draw_matrix, types
from .rows import Row, Writer, key

# The prefix of the directions' names.
_REDUCE = "CLK_COOPERATIVE_MATRIX_REDUCE_"
HOW = {f"{_REDUCE}ROW": 1, f"{_REDUCE}COLUMN": 2, f"{_REDUCE}ROW | {_REDUCE}COLUMN": 3, f"{_REDUCE}2X2": 4}
COMBINED = ("sum", "larger")
MAPS = ("one", "two", "value", "pointer", "of other arguments", "neighbours")
BUILDS = ("alone", "value", "pointer", "neighbours")
# pattern (m: matrix, s: scalar) -> number of operands
KINDS = {"m": 1, "mm": 2, "ms": 2, "sm": 2, "mmm": 3, "mss": 3, "sms": 3, "ssm": 3, "mms": 3}
_OF_A_ROW = 8
UINT = COMPONENT_TYPES["u32"]


def rows() -> Iterator[Row]:
    for n, component in enumerate(types()):
        for m, how in enumerate(HOW):
            yield _reductions(component, how, COMBINED[(n + m) % 2])
        yield _other_reductions(component, n)
        for use in Use:
            yield _maps(component, use)
            yield _builds(component, use)
        for count in (1, 2, 3):
            yield _builtins(component, Use((n + count) % 3), count)
        names = sorted(builtins_of(component))
        for first in range(0, len(names), _OF_A_ROW):
            yield _every_builtin(component, names[first : first + _OF_A_ROW], Use(first // _OF_A_ROW % 3))


# --- reductions ------------------------------------------------------------------------------------


def _unsigned(component: ComponentType) -> str:
    """Return the type in which sums are defined: an unsigned type for integers, which wrap."""
    name = component.opencl_c
    return f"u{name.removeprefix('u')}" if component.is_integer else "float" if component.is_bits else name


def _combining(w: Writer, component: ComponentType, name: str) -> None:
    t, wide = component.opencl_c, "float" if component.is_bits else component.opencl_c
    body = {
        "sum": f"({t})(({_unsigned(component)})x + ({_unsigned(component)})y)",
        "larger": f"({wide})x > ({wide})y ? x : y",
    }[name]
    w.outside.append(f"{t} @{name}({t} x, {t} y) {{ return {body}; }}")


def _combined(component: ComponentType, name: str, how: int, x: Array, shape: MatrixShape) -> Array:
    function = {"sum": np.add, "larger": np.maximum}[name]
    return narrow(component, numpy_reference.reduce(function, how, widen(component, x), shape))


def _summands(w: Writer, component: ComponentType, name: str, rows: int, columns: int) -> Array:
    """Return values whose sum is exact in every order.

    They are any integers, or small floats; in formats of few bits, only a few of them are not zero.
    """
    if component.is_integer:
        return values.whole_range(w.rng, component, rows, columns)
    if name == "larger":
        return values.moderate(w.rng, component, rows, columns)
    drawn = w.rng.integers(-2, 3, (rows, columns))
    if component.is_bits:
        drawn = np.where(w.rng.random((rows, columns)) < 3 / (rows * columns), drawn, 0)
    return narrow(component, drawn.astype(np.float32))


def _drawn(w: Writer, component: ComponentType, how: int) -> tuple[MatrixType, MatrixType]:
    """Return a matrix and the result of its reduction, whose reduced dimensions may have another length."""
    matrix = draw_matrix(w, component, Use.ACCUMULATOR, 0.4)
    rows, columns = matrix.rows, matrix.columns
    if how == 4:
        return MatrixType(component, 2 * rows, 2 * columns, Use.ACCUMULATOR), matrix
    free = w.rng.integers(1, 9, 2)
    rows, columns = {1: (rows, free[0]), 2: (free[0], columns), 3: tuple(free)}[how]
    return matrix, MatrixType(component, int(rows), int(columns), Use.ACCUMULATOR)


def _reductions(component: ComponentType, how: str, name: str) -> Row:
    case = key("coop_mat_reduce", type=component, how=how, function=name)

    def write(w: Writer) -> None:
        matrix, result = _drawn(w, component, HOW[how])
        x = _summands(w, component, name, matrix.rows, matrix.columns)
        w.matrix("x", matrix, x)
        _combining(w, component, name)
        w.line(f"{w.type('R', result)} y = coop_mat_reduce(x, {how}, @{name});")
        w.result(case, "y", result, _combined(component, name, HOW[how], x, result.shape))

    return Row(f"reduction of {component} {HOW[how]} {name}", (case,), write, everywhere=True)


def _other_reductions(component: ComponentType, n: int) -> Row:
    """Return a row with two successive reductions, in each direction with the function that another row lacks.

    One of the reductions uses a builtin, if the type has one.
    """
    keys = [
        key("coop_mat_reduce", type=component, how=how, function=COMBINED[(n + m + 1) % 2]) for m, how in enumerate(HOW)
    ]
    by_builtin = [] if component.is_bits else [key("coop_mat_reduce by a builtin", type=component)]

    def write(w: Writer) -> None:
        for name in COMBINED:
            _combining(w, component, name)
        for number, case in enumerate(keys):
            _, how, name = case.on("how", "function")
            matrix, result = _drawn(w, component, HOW[how])
            x = _summands(w, component, name, matrix.rows, matrix.columns)
            w.matrix(f"x{number}", matrix, x)
            w.line(f"{w.type(f'R{number}', result)} y{number} = coop_mat_reduce(x{number}, {how}, @{name});")
            w.result(case, f"y{number}", result, _combined(component, name, HOW[how], x, result.shape))
        for case in by_builtin:
            matrix, result = _drawn(w, component, 1)
            x = values.moderate(w.rng, component, matrix.rows, matrix.columns)
            w.matrix("x", matrix, x)
            w.line(f"{w.type('R', result)} y = coop_mat_reduce(x, 1, max);")
            w.result(case, "y", result, _combined(component, "larger", 1, x, result.shape))

    return Row(f"reductions of {component}", (*keys, *by_builtin), write)


# --- maps ------------------------------------------------------------------------------------------


def _maps(component: ComponentType, use: Use) -> Row:
    keys = {form: key("coop_mat_map", type=component, use=use.name, form=form) for form in MAPS}

    def write(w: Writer) -> None:
        matrix = draw_matrix(w, component, use, 0.3)
        t = component.opencl_c
        x, y = (values.whole_range(w.rng, component, matrix.rows, matrix.columns) for _ in range(2))
        w.matrix("x", matrix, x)
        w.line(f"{w.matrix('y', matrix, y)} z;")
        r, c = np.indices(x.shape)
        table = values.whole_range(w.rng, component, matrix.columns)
        pointer = w.buffer(table, t)
        edge = int(w.rng.integers(matrix.rows + 1))
        scalar = values.whole_range(w.rng, component, 1)
        places = numpy_reference.convert(r.astype(np.uint32), UINT, component)
        w.outside += [
            f"{t} @f(uint r, uint c, {t} x) {{ return (r + c) % 2 ? x : ({t})r; }}",
            f"{t} @g(uint r, uint c, {t} x, {t} y) {{ return r < c ? x : y; }}",
            f"{t} @h(uint r, uint c, {t} x, long edge) {{ return r < edge ? x : ({t})r; }}",
            f"{t} @p(uint r, uint c, {t} x, global const {t} *p, uint n) {{ return r == n ? p[c] : x; }}",
        ]
        v, load = neighbours(component, matrix.columns)
        w.outside.append(
            f"{v} @n(uint r, uint c, {v} x, global const {t} *p, uint n) {{ return r == n ? {load('p + c')} : x; }}"
        )
        calls = {
            "one": ("x, @f", np.where((r + c) % 2 > 0, x, places)),
            "two": ("x, y, @g", np.where(r < c, x, y)),
            "value": (f"x, @h, {w.number(edge)}", np.where(r < edge, x, places)),
            "pointer": (f"x, @p, {pointer}, {w.number(edge)}", np.where(r == edge, table[c], x)),
            "neighbours": (f"x, @n, {pointer}, {w.number(edge)}", np.where(r == edge, table[c], x)),
            # The function of two matrices, and of a matrix and a scalar.
            "of other arguments": (f"x, @g, {w.scalar(scalar[0], component)}", np.where(r < c, x, scalar)),
        }
        for form, (arguments, wanted) in calls.items():
            w.line(f"z = coop_mat_map({arguments});")
            w.result(keys[form], "z", matrix, wanted.astype(x.dtype))

    return Row(f"maps of {component} {use.name}", tuple(keys.values()), write, everywhere=use == Use.ACCUMULATOR)


def neighbours(component: ComponentType, length: int) -> tuple[str, Callable[[str], str]]:
    """Return the widest type of neighbours in a line of this length, and a function that writes its load.

    Types without vectors have single components only.
    """
    width = 1 if component.is_bits else next(n for n in (16, 8, 4, 2, 1) if length % n == 0)
    if width == 1:
        return component.opencl_c, lambda pointer: f"*({pointer})"
    return f"{component.opencl_c}{width}", lambda pointer: f"vload{width}(0, {pointer})"


def _builds(component: ComponentType, use: Use) -> Row:
    """Return a row with builds from row and column, with a factor, from weights of four bits, and from neighbours."""
    keys = {form: key("coop_mat_build", type=component, use=use.name, form=form) for form in BUILDS}
    down = key("coop_mat_build_columns", type=component, use=use.name)

    def write(w: Writer) -> None:
        matrix = draw_matrix(w, component, use, 0.3)
        t, columns = component.opencl_c, matrix.columns
        r, c = np.indices((matrix.rows, columns), np.uint32)
        weights = w.rng.integers(0, 256, (matrix.rows * columns + 1) // 2, np.uint8)
        pointer, scalar = w.buffer(weights, "uchar"), values.whole_range(w.rng, component, 1)
        at = r * columns + c
        table = values.whole_range(w.rng, component, matrix.rows + columns)
        (v, load), (vd, load_down) = (neighbours(component, n) for n in (columns, matrix.rows))
        w.outside += [
            f"{v} @n(uint r, uint c, global const {t} *p) {{ return {load('p + r + c')}; }}",
            f"{vd} @d(uint r, uint c, global const {t} *p) {{ return {load_down('p + r + c')}; }}",
        ]
        of_table = w.buffer(table, t)
        w.outside += [
            f"{t} @f(uint r, uint c) {{ return ({t})(r * 2 + c); }}",
            f"{t} @g(uint r, uint c, {t} x) {{ return r == c ? x : ({t})c; }}",
            f"{t} @w(uint r, uint c, global const uchar *w, uint n)"
            " { uint i = r * n + c; uint v = w[i / 2] >> i % 2 * 4 & 15; " + f"return ({t})v; }}",
        ]
        calls = {
            "alone": ("@f", r * 2 + c),
            "value": (f"@g, {w.scalar(scalar[0], component)}", c),
            "pointer": (f"@w, {pointer}, {w.number(columns)}", weights[at // 2] >> at % 2 * 4 & 15),
        }
        t = w.type("T", matrix)
        for case, name, function in ((keys["neighbours"], "build", "@n"), (down, "build_columns", "@d")):
            w.line(f"{t} m_{name} = coop_mat_{name}({function}, {of_table});")
            w.result(case, f"m_{name}", matrix, table[r + c])
        for form, (arguments, numbers) in calls.items():
            wanted = numpy_reference.convert(numbers.astype(np.uint32), UINT, component)
            w.line(f"{t} m_{form} = coop_mat_build({arguments});")
            w.result(keys[form], f"m_{form}", matrix, np.where(r == c, scalar, wanted) if form == "value" else wanted)

    return Row(f"builds of {component} {use.name}", (*keys.values(), down), write)


# --- builtins --------------------------------------------------------------------------------------

_Meaning = Callable[..., Array]


def _exact(component: ComponentType, count: int) -> tuple[str, _Meaning]:
    """Return a builtin of `count` operands with a defined result, and its meaning in numpy."""
    if component.is_integer:
        integers: dict[int, tuple[str, _Meaning]] = {
            1: (
                "popcount",
                lambda x: np.array([bin(int(v) % 2**component.bits).count("1") for v in x.flat]).reshape(x.shape),
            ),
            2: ("max", np.maximum),
            3: ("clamp", lambda x, low, high: np.minimum(np.maximum(x, low), high)),
        }
        return integers[count]

    def fused(x: Array, y: Array, z: Array) -> Array:
        # The drawn values make long double exact, so that the result is rounded once.
        wide = x.astype(np.longdouble) * y.astype(np.longdouble) + z.astype(np.longdouble)
        return wide.astype(x.dtype)

    floats: dict[int, tuple[str, _Meaning]] = {1: ("fabs", np.abs), 2: ("fmax", np.maximum), 3: ("fma", fused)}
    return floats[count]


def _builtins(component: ComponentType, use: Use, count: int) -> Row:
    """Return a row with builtins on matrices and scalars in every place; scalars are converted from another type."""
    name, function = _exact(component, count)
    keys = {kind: key("builtin", type=component, operands=kind) for kind, n in KINDS.items() if n == count}

    def write(w: Writer) -> None:
        matrix = draw_matrix(w, component, use, 0.3)
        shape = matrix.rows, matrix.columns
        operands = sorted_operands(w, component, count, shape)
        for n, x in enumerate(operands):
            w.matrix(f"x{n}", matrix, x)
        for kind, case in keys.items():
            arguments, numbers = [], []
            for n, letter in enumerate(kind):
                x = operands[n]
                if letter == "s":
                    # The least component is the lower bound, the greatest the upper: values between are unchanged.
                    value = widen(component, np.sort(x.ravel())[:1] if n < count - 1 else np.sort(x.ravel())[-1:])
                    x = np.broadcast_to(narrow(component, value), shape)
                    source = COMPONENT_TYPES["f32"] if component.is_bits else component
                    arguments.append(w.scalar(value[0], source))
                else:
                    arguments.append(f"x{n}")
                numbers.append(widen(component, x))
            wanted = narrow(component, np.asarray(function(*numbers)))
            w.result(case, f"{name}({', '.join(arguments)})", matrix, wanted)

    return Row(f"builtins of {component}, {count} operands", tuple(keys.values()), write)


def sorted_operands(w: Writer, component: ComponentType, count: int, shape: tuple[int, int]) -> list[Array]:
    """Return positive operands for which most builtins are defined; each operand is less than the next one."""
    if component.is_integer:
        drawn = np.sort(w.rng.integers(1, 100, (count, *shape)), axis=0)
        drawn += 5 * np.arange(count)[:, None, None]
        return [x.astype(component.numpy) for x in drawn]
    drawn = np.sort(w.rng.integers(1, 24, (count, *shape)), axis=0) / 8
    return [narrow(component, x.astype(np.float32)) for x in drawn]


@cache
def builtins_of(component: ComponentType) -> dict[str, int]:
    """Return the builtins on matrices of this component type, each with its number of operands.

    They are taken from the compiler's table of functions of scalars. Parameters and result have the type, or float for
    small floats.
    """
    t = SCALARS["float" if component.is_bits else component.opencl_c]
    names = (row.name for family in builtins.FAMILIES for row in family.TABLE if is_component_wise(row.name))
    found: dict[str, int] = {}
    for name in dict.fromkeys(names):
        row = builtins.find(name)
        for overload in builtins.overloads(row) if row is not None else ():
            if {*overload.parameters, overload.result} == {t}:
                found[name] = len(overload.parameters)
    return found


def _every_builtin(component: ComponentType, names: Sequence[str], use: Use) -> Row:
    """Return a row that compares builtins on a matrix with the device's own builtins on each component."""
    keys = {name: key("every builtin", type=component, name=name) for name in names}

    def write(w: Writer) -> None:
        matrix = draw_matrix(w, component, use, 0.1)
        shape, size = (matrix.rows, matrix.columns), matrix.rows * matrix.columns
        t, name_of_type = w.type("T", matrix), component.opencl_c
        operands = sorted_operands(w, component, 3, shape)
        pointers = [w.buffer(x.ravel(), name_of_type) for x in operands]
        for n, pointer in enumerate(pointers):
            w.line(f"{t} x{n} = coop_mat_load({pointer}, ROW, {matrix.columns});")
        for name, case in keys.items():
            count = builtins_of(component)[name]
            number = len(w.buffers)
            out = w.buffer(w.pattern(2 * size, component), name_of_type)
            matrices = ", ".join(f"x{n}" for n in range(count))
            wide = "(float)" if component.is_bits else ""
            scalars = ", ".join(f"{wide}{pointer}[i]" for pointer in pointers[:count])
            w.line(f"coop_mat_store({out}, {name}({matrices}), ROW, {matrix.columns});")
            # Store one by one to volatile memory, so that the compiler cannot vectorize the calls.
            w.line(f"volatile global {name_of_type} *v{number} = {out} + {size};")
            w.line("for (uint i = get_local_id(0); i < " + f"{size}; i += get_local_size(0))")
            w.line(f"    v{number}[i] = ({name_of_type}){name}({scalars});")
            w.look(case, number, component, lambda got, name=name: _differ(component, name, got))

    place = zlib.crc32(" ".join(names).encode())
    return Row(f"every builtin of {component} {names[0]} {place % 100}", tuple(keys.values()), write)


def _differ(component: ComponentType, name: str, got: Array) -> str:
    """Describe the differences between both halves of a buffer, "" if there are none.

    Results may differ in rounding: a device's function of vectors may round otherwise than that of scalars.
    """
    one, other = (part.copy() for part in np.split(got, 2))
    tolerance: Array | float = 0.0
    if not component.is_integer:
        with np.errstate(all="ignore"):
            size = np.abs(widen(component, other).astype(np.float64))
            ulps = 8192 if name.startswith(("half_", "native_")) else 1 if component.is_bits else 16
            tolerance = ulps * component.epsilon * np.where(np.isfinite(size), size, 0.0)
    wrong = numpy_reference.wrong_places(component, one, other, tolerance)
    return f"{np.count_nonzero(wrong)} differ: {one[wrong][:4]}, scalars {other[wrong][:4]}" if wrong.any() else ""
