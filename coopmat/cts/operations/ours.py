"""Operations of the language for which SPIR-V has no single instruction: element access, coordinates, prefetch.

Each has the mode "c" alone, as have those of `scalars`, `checked` and `programs`.
"""

from __future__ import annotations

import numpy as np

from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import Array, narrow
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType, MatrixType

from ..experiment import GUARD, Argument, Experiment, pattern
from ..writers.c import CWriter
from .base import Operation, Setting, of_matrices, type_cases

_C = ("c",)

# --- element_access: m[i] read, written, assigned with an operator


def _elements(component: ComponentType, x: Array, y: Array) -> Array:
    """Return ((~y ^ x) >> 1) + (x >> 1), which never overflows; for floats, 3 (x - y) by single operations."""
    if component.is_integer and not component.is_bits:
        return np.asarray(((~y ^ x) >> 1) + (x >> 1), x.dtype)
    total = numpy_reference.binary(component, "add", numpy_reference.negate(component, y), x)
    three = narrow(component, np.full(x.shape, 3.0))
    return numpy_reference.binary(component, "mul", total, three)


# kind of component type -> statements of the kernel. "storage" is for floats of 8 bits, which have no arithmetic: the
# statements compute in float.
_ELEMENT_LINES = {
    "storage": (
        "{t}[i] = ({s})-(float){y}[i];",
        "{t}[i] = ({s})((float){t}[i] + (float){x}[i]);",
        "{t}[i] = ({s})((float){t}[i] * 3);",
    ),
    "integer": ("{t}[i] = ~{y}[i];", "{t}[i] ^= {x}[i];", "{t}[i] >>= 1;", "{t}[i] += {x}[i] >> 1;"),
    "float": ("{t}[i] = -{y}[i];", "{t}[i] += {x}[i];", "{t}[i] *= 3;"),
}
# Reverse the components twice, so that every component returns to its position.
_EXCHANGE = """\
for (uint n = coop_mat_length({t}), turn = 0; turn < 2; turn++)
    for (uint i = 0; i < n / 2; i++) {{
        {s} saved = {t}[i];
        {t}[i] = {t}[n - 1 - i];
        {t}[n - 1 - i] = saved;
    }}"""

_element_experiment = of_matrices(lambda component, x, y: {"out": _elements(component, x, y), "kept": x})


def _write_elements(setting: Setting, w: CWriter) -> None:
    component = setting.parameters.component
    x, y, out, unchanged = w.experiment.arguments
    names = {"x": w.load(x), "y": w.load(y), "t": w.variable(setting.parameters, "coop_mat_init(0)")}
    kind = "storage" if component.is_bits and component.bits == 8 else component.kind.value
    lines = "\n".join(_ELEMENT_LINES[kind])
    w.block(
        "for (uint i = 0; i < coop_mat_length({t}); i++)".format(**names),
        lambda: w.lines_of(lines, **names, s=component.opencl_c),
    )
    w.lines_of(_EXCHANGE, **names, s=component.opencl_c)
    w.store(out, names["t"])
    w.store(unchanged, names["x"])


# --- coord: the coordinates of all work-items' components cover the matrix, each as often as the component is held


_COORD_LINES = """\
for (uint i = 0; i < coop_mat_length({m}); i++) {{
    uint2 at = coop_mat_coord({m}, i);
    bool inside = at.x < {rows}u && at.y < {columns}u;
    atomic_inc(counts + {guard} + (inside ? at.x * {columns}u + at.y : {all}u));
    if (inside)
        out[{offset} + {place}] = {m}[i];
    {n}[i] = ({s})((at.x * 5 + at.y * 3) & 127);
}}"""


def _coord_experiment(setting: Setting) -> Experiment:
    """Make an experiment with the argument `counts`.

    The kernel counts there how often each component is visited, and, in the last item, visits outside of the matrix.
    """
    matrix: MatrixType = setting.parameters
    component, size = matrix.component, matrix.rows * matrix.columns
    uint = COMPONENT_TYPES["u32"]
    values = setting.drawn("x")
    counts = pattern(size + 1 + 2 * GUARD, uint)
    counts[GUARD : GUARD + size + 1] = 0
    copies = setting.profile.copies(matrix, setting.case.sub_group_size)
    expected = counts.copy()
    expected[GUARD : GUARD + size] = copies or 1

    def look(actual: Array) -> str:
        return wrong_visits(actual, counts, copies)

    rows, columns = np.indices((matrix.rows, matrix.columns))
    # Numbers that differ between neighbours; every component type can represent them up to rounding.
    codes = narrow(component, (rows * 5 + columns * 3) & 127)
    outputs = setting.outputs({"out": values["x"], "codes": codes})
    return Experiment([*setting.inputs(values), Argument("counts", uint, counts, expected, look=look), *outputs])


def wrong_visits(actual: Array, before: Array, copies: int | None) -> str:
    """Return a description of the errors in the numbers of visits of each component, "" if there are none.

    actual: the numbers between guards; the last one counts visits outside of the matrix.
    before: the initial contents, with the guards.
    copies: the required number of visits; if it is None, at least one is required.
    """
    if np.any(actual[:GUARD] != before[:GUARD]) or np.any(actual[-GUARD:] != before[-GUARD:]):
        return "the guards have been written to"
    visits, outside = actual[GUARD : -GUARD - 1], actual[-GUARD - 1]
    if outside:
        return f"{outside} of the coordinates are outside of the matrix"
    wrong = np.flatnonzero(visits != copies if copies else visits == 0)
    if not wrong.size:
        return ""
    wanted = f"{copies}" if copies else "1 or more"
    return f"{wrong.size} components were not visited {wanted} times; component {wrong[0]} {visits[wrong[0]]} times"


def _write_coord(setting: Setting, w: CWriter) -> None:
    matrix = setting.parameters
    x, _, out, codes = w.experiment.arguments
    at = out.place
    assert at is not None
    m, n = w.load(x), w.variable(matrix, "coop_mat_init(0)")
    place = f"at.x * {at.stride} + at.y" if at.layout == 0 else f"at.y * {at.stride} + at.x"
    sizes = {"rows": matrix.rows, "columns": matrix.columns, "all": matrix.rows * matrix.columns, "guard": GUARD}
    w.lines_of(_COORD_LINES, m=m, n=n, **sizes, offset=at.offset, place=place, s=matrix.component.opencl_c)
    w.store(codes, n)


# --- prefetch: a hint without effect, on memory that is read, memory that is written, and other memory


_PREFETCH_LINES = """\
coop_mat_prefetch({M}, {x});
coop_mat_prefetch({M}, {out});
{M} {m} = coop_mat_load({x});
for (uint n = 0; n < 2; n++)
    coop_mat_prefetch({m}, {y});"""

_prefetch_experiment = of_matrices(lambda component, x, y: {"out": x, "other": y})


def _write_prefetch(setting: Setting, w: CWriter) -> None:
    _, y, out, other = w.experiment.arguments
    accesses = {argument.name: ", ".join(w.address(argument)) for argument in w.experiment.arguments}
    m = w.fresh("m")
    w.lines_of(_PREFETCH_LINES, M=w.type(setting.parameters), m=m, **accesses)
    w.store(out, m)
    w.store(other, w.load(y))


OPERATIONS = (
    Operation("prefetch", type_cases, _prefetch_experiment, _write_prefetch, _C, narrow=True),
    Operation("element_access", type_cases, _element_experiment, _write_elements, _C, narrow=True),
    Operation("coord", type_cases, _coord_experiment, _write_coord, _C),
)
