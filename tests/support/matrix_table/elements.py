"""Access to elements: coop_mat_length, m[i] and coop_mat_coord."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coopmat.cts import values
from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import Array, widen
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType, MatrixType, Use

from .axes import copies, draw_matrix, types
from .rows import Key, Row, Writer, key

UINT = COMPONENT_TYPES["u32"]
FORMS = ("coop_mat_length", "m[i]", "m[i] =", "m[i] op=", "m[i]++")


def rows() -> Iterator[Row]:
    for component in types():
        for use in Use:
            yield _elements(component, use)
            yield _coordinates(component, use)


def _elements(component: ComponentType, use: Use) -> Row:
    # The language has no arithmetic on single bfloat16 values.
    forms = FORMS if not component.is_bits else FORMS[:3]
    keys = {form: key(form, type=component, use=use.name) for form in forms}

    def write(w: Writer) -> None:
        matrix = draw_matrix(w, component, use, 0.3)
        x = values.whole_range(w.rng, component, matrix.rows, matrix.columns)
        t, name, held = w.matrix("x", matrix, x), component.opencl_c, copies(w.target, matrix)
        lengths = w.buffer(np.zeros(w.target.sub_group_size, np.uint32), "uint")
        w.line(f"uint n = coop_mat_length(x); {lengths}[get_local_id(0)] = coop_mat_length({t});")
        w.look(keys["coop_mat_length"], len(w.buffers) - 1, UINT, lambda got: _sum_is(got, x.size * held))
        _reads(w, keys["m[i]"], component, np.repeat(x.ravel(), held))
        w.line(f"{t} y = x; for (uint i = 0; i < n; ++i) y[i] = x[n - 1 - i];")
        # After two reversals, the order is the original one.
        w.line(f"{t} z = y; for (uint i = 0; i < n; ++i) {{ {name} v = y[n - 1 - i]; z[i] = v; }}")
        w.result(keys["m[i] ="], "z", matrix, x)
        if not component.is_bits:
            plus = numpy_reference.binary(component, "add", x, np.ones_like(x))
            w.line(f"{t} u = x, v = x; for (uint i = 0; i < coop_mat_length(u); ++i) {{ u[i] += 1; v[i]++; }}")
            w.result(keys["m[i] op="], "u", matrix, plus)
            w.result(keys["m[i]++"], "v", matrix, plus)

    return Row(f"elements {component} {use.name}", tuple(keys.values()), write, everywhere=True)


def _sum_is(got: Array, size: int) -> str:
    return "" if int(got.sum()) == size else f"the lengths {got.tolist()} add up to {int(got.sum())}, not {size}"


def _reads(w: Writer, case: Key, component: ComponentType, x: Array) -> None:
    """Check that every component of x is read once by each work-item that holds it."""
    out = len(w.buffers)
    seen = w.buffer(w.pattern(w.target.sub_group_size * x.size, component), component.opencl_c)
    w.line(f"for (uint i = 0; i < n; ++i) {seen}[get_local_id(0) * {x.size} + i] = x[i];")
    pattern = w.pattern(1, component)

    def look(got: Array) -> str:
        bits = f"u{component.size}"
        rest = np.full(got.size - x.size, pattern.view(bits)[0], bits)
        wanted = np.sort(np.concatenate([x.ravel().view(bits), rest]))
        found = np.sort(got.view(bits))
        wrong = np.count_nonzero(wanted != found)
        nans = 0 if component.is_integer else np.count_nonzero(np.isnan(widen(component, x)))
        # A NaN may be replaced by another NaN.
        return "" if wrong <= 2 * nans else f"{wrong} components were not read once: {got[:8]} of {x.ravel()[:8]}"

    w.look(case, out, component, look)


def _coordinates(component: ComponentType, use: Use) -> Row:
    case = key("coop_mat_coord", type=component, use=use.name)

    def write(w: Writer) -> None:
        matrix: MatrixType = draw_matrix(w, component, use, 0.3)
        x = values.whole_range(w.rng, component, matrix.rows, matrix.columns)
        t = w.matrix("x", matrix, x)
        out = len(w.buffers)
        seen = w.buffer(w.pattern(x.size, component), component.opencl_c)
        w.line("for (uint i = 0; i < coop_mat_length(x); ++i) {")
        w.line(f"    uint2 at = coop_mat_coord({w.rng.choice(['x', t])}, i);")
        w.line(f"    {seen}[at.x * {matrix.columns} + at.y] = x[i];", "}")
        w.expect(case, out, component, x.ravel())

    return Row(f"coordinates {component} {use.name}", (case,), write, everywhere=True)
