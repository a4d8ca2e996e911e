"""Matrices in programs: control_flow, nested_struct, two_subgroups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from coopmat.matrices import meaning
from coopmat.matrices.reference import Array
from coopmat.matrices.variants import (
    COMPONENT_TYPES,
    ComponentType,
    MatrixType,
    Operands,
    Variant,
    default_operands,
)

from ..experiment import Argument, Experiment, matrix_input, matrix_output
from ..profile import Profile
from ..values import moderate, whole_range
from ..writers import Writer
from .base import Case, Operation, Setting, thinned
from .inputs import plain
from .stack import Stack, opencl_c

_C = ("c",)
# Multiply-adds that a test has besides its matrix types.
_FEW = 12
_MOST_ROWS, _MOST_COLUMNS, _MOST_PRODUCTS = 5, 16, 512


def _multiply_adds(profile: Profile, suffix: str = "", first: int = 0) -> Iterator[Case]:
    found = [
        Case(f"{variant.name}{suffix}{profile.suffix(size)}", size, variant)
        for variant, size in profile.multiply_adds
        if variant.c == variant.result
        and not variant.saturating
        and (profile.is_native or variant.m * variant.n * variant.k <= _MOST_PRODUCTS)
    ]
    yield from thinned(profile, found, _FEW, first)


def _type_cases(profile: Profile) -> Iterator[Case]:
    """As `type_cases`; of lowered matrices, which may have any shape, small ones: how many rows there are makes no
    difference to programs, but to the time that devices take to compile them."""
    found: dict[str, Case] = {}
    for matrix, size in profile.types():
        if not profile.is_native:
            matrix = replace(matrix, rows=min(matrix.rows, _MOST_ROWS), columns=min(matrix.columns, _MOST_COLUMNS))
        case = Case(matrix.name + profile.suffix(size), size, matrix)
        found.setdefault(case.name, case)
    yield from found.values()


def _types(variant: Variant) -> tuple[MatrixType, MatrixType, MatrixType]:
    a, b, c, _ = variant.matrix_types()
    return a, b, c


def _operands(variant: Variant) -> Operands:
    return default_operands(variant.a, variant.b, variant.c)


def _control(values: Sequence[int]) -> Argument:
    """Numbers that decide where a kernel goes."""
    return Argument("control", COMPONENT_TYPES["u32"], np.array(values, np.uint32))


# --- control_flow, of matrix types: a random walk through branches, loops, a switch, ?: and early returns

_SKIP, _STOP = 6, 7

_CHOOSE = """\
static {M} @_choose({M} a, {M} b, uint which)
{{
    if (which == 0)
        return b;
    switch (which) {{
    case 1:
        a = -a;
    case 2:
        a = a + b;
        break;
    case 3:
        return which > 2 ? b - a : a;
    default:
        b = -b;
    }}
    return which == 4 ? b : a;
}}"""

_WALK = """\
{M} s = {x}, t = {y};
for (uint i = 1; i <= control[0]; i++) {{
    uint which = control[i];
    if (which == 6)
        continue;
    if (which == 7)
        break;
    s = @_choose(s, t, which);
    while (which > 3) {{
        t = t - {x};
        which -= 2;
    }}
    t = which & 1 ? t : s;
}}
if (control[0] & 1) {{
    {M} saved = s;
    s = t;
    t = saved;
}} else {{
    uint turns = 0;
    do
        s = -s;
    while (++turns < control[0] % 4);
}}
if (control[0] == 0)
    return;"""


def _chosen(component: ComponentType, a: Array, b: Array, which: int) -> Array:
    """What `_CHOOSE` gives."""

    def add(x: Array, y: Array) -> Array:
        return meaning.binary(component, "add", x, y)

    if which == 0:
        return b
    if which in (1, 2):
        return add(meaning.negate(component, a) if which == 1 else a, b)
    if which == 3:
        return meaning.binary(component, "sub", b, a)
    return meaning.negate(component, b) if which == 4 else a


def _walked(component: ComponentType, x: Array, y: Array, control: Sequence[int]) -> tuple[Array, Array]:
    """What `_WALK` leaves in s and t."""
    s, t = x, y
    for which in control[1 : control[0] + 1]:
        if which == _SKIP:
            continue
        if which == _STOP:
            break
        s = _chosen(component, s, t, which)
        while which > 3:
            t = meaning.binary(component, "sub", t, x)
            which -= 2
        t = t if which & 1 else s
    if control[0] & 1:
        return t, s
    return (s if control[0] % 4 == 2 else meaning.negate(component, s)), t


def _walk(rng: np.random.Generator) -> list[int]:
    """Every way once, in any order, with the end in the second half; the first number counts the others."""
    ways = [int(n) for n in rng.permutation(6)]
    ways.insert(int(rng.integers(6)), _SKIP)
    ways.insert(int(rng.integers(4, 8)), _STOP)
    ways += [int(n) for n in rng.integers(0, 6, int(rng.integers(2)))]
    return [len(ways), *ways]


def _flow_cases(profile: Profile) -> Iterable[Case]:
    yield from _type_cases(profile)
    yield from _multiply_adds(profile)


def _flow_experiment(setting: Setting) -> Experiment:
    if isinstance(setting.parameters, Variant):
        return _sum_experiment(setting)
    matrix: MatrixType = setting.parameters
    rng, component = setting.random(), matrix.component
    x, y = (moderate(rng, component, matrix.rows, matrix.columns) for _ in range(2))
    walk = _walk(rng)
    s, t = _walked(component, x, y, walk)
    return Experiment(
        [
            _control(walk),
            matrix_input("x", setting.place("x", matrix), x),
            matrix_input("y", setting.place("y", matrix), y),
            matrix_output("first", setting.place("first", matrix), s),
            matrix_output("second", setting.place("second", matrix), t),
        ]
    )


def _write_flow(setting: Setting, writer: Writer) -> None:
    w = opencl_c(writer)
    if isinstance(setting.parameters, Variant):
        _write_sum(setting, writer)
        return
    _, x, y, first, second = w.experiment.arguments
    names = {"M": w.type(setting.parameters), "x": w.load(x), "y": w.load(y)}
    w.outside += _CHOOSE.format(**names).splitlines()
    for line in _WALK.format(**names).splitlines():
        w.line(line)
    w.store(first, "s")
    w.store(second, "t")


# --- control_flow, of multiply-adds: a product of blocks, some of them skipped, up to a block that ends it

_BLOCKS = 4

_SUM = """\
for (uint k = 0; k < control[0]; k++) {{
    if (control[k + 1] == {skip})
        continue;
    if (control[k + 1] == {stop})
        break;
    {A} a_k = {a};
    {B} b_k = {b};
    {c} = {product};
}}"""


def _sum_experiment(setting: Setting) -> Experiment:
    """Factors of -1, 0 and 1, whose sums every component type holds exactly in any order."""
    variant: Variant = setting.parameters
    rng = setting.random()
    # One is skipped, one is after the end, in what order they may be.
    ways = [int(way) for way in rng.permutation([0, 0, _SKIP])]
    ways.insert(int(rng.integers(1, _BLOCKS)), _STOP)
    taken = [k for k, way in enumerate(ways[: ways.index(_STOP)]) if way != _SKIP]
    stacks = _sum_stacks(setting)
    factors = [[_small(rng, stack.place.matrix) for _ in range(_BLOCKS)] for stack in stacks]
    c = result = _small(rng, _types(variant)[2])
    for k in taken:
        types = (variant.a, variant.b, variant.c)
        result, _ = meaning.mul_add(types, factors[0][k], factors[1][k], result, _operands(variant))
    return Experiment(
        [
            _control([_BLOCKS, *ways]),
            *(stack.input(blocks) for stack, blocks in zip(stacks, factors, strict=True)),
            matrix_input("c", setting.place("c", _types(variant)[2]), c),
            matrix_output("out", setting.place("out", _types(variant)[2]), result),
        ]
    )


def _sum_stacks(setting: Setting) -> list[Stack]:
    a, b, _ = _types(setting.parameters)
    return [Stack.of(setting, name, matrix, _BLOCKS) for name, matrix in (("a", a), ("b", b))]


def _small(rng: np.random.Generator, matrix: MatrixType) -> Array:
    component = matrix.component
    low = -1 if component.signed else 0
    return meaning.narrow(component, rng.integers(low, 2, (matrix.rows, matrix.columns)))


def _write_sum(setting: Setting, writer: Writer) -> None:
    w, variant = opencl_c(writer), setting.parameters
    types = _types(variant)
    a, b = _sum_stacks(setting)
    c = w.load(w.experiment.argument("c"))
    names = {
        "A": w.type(types[0]),
        "B": w.type(types[1]),
        "a": a.load("k"),
        "b": b.load("k"),
        "c": c,
        "product": f"coop_mat_mulAdd(a_k, b_k, {c})",
        "skip": _SKIP,
        "stop": _STOP,
    }
    for line in _SUM.format(**names).splitlines():
        w.line(line)
    w.store(w.experiment.argument("out"), c)


# --- nested_struct: matrices in arrays in structs in structs, copied, passed, returned, changed through pointers

_STRUCTS = """\
typedef struct {{ {M} pair[2]; uint tag; }} @_inner;
typedef struct {{ uchar before; @_inner inner; {M} last; @_inner more[2]; }} @_outer;
static @_outer @_turned(@_outer o)
{{
    {M} saved = o.inner.pair[0];
    o.inner.pair[0] = o.last;
    o.last = saved;
    o.inner.tag += o.before;
    return o;
}}
static void @_change(@_outer *o, {M} m)
{{
    o->inner.pair[1] = o->inner.pair[0];
    o->more[1].pair[o->inner.tag & 1] = m;
    @_inner *first = &o->more[0];
    first->pair[1] = -first->pair[0];
}}"""

_STRUCT_BODY = """\
@_outer o = {{ 3, {{ {{ {x}, {y} }}, 0 }}, {z} }};
o.more[0] = o.inner;
o.more[1] = o.more[0];
@_outer turned = @_turned(o);
@_change(&turned, o.last);
o.more[1].pair[1] = turned.more[1].pair[0];
for (uint i = 0; i < coop_mat_length({M}); i++)
    o.last[i] = turned.inner.pair[1][i];"""

_MEMBERS = (
    *("o.inner.pair[0]", "o.last", "o.more[1].pair[1]", "turned.inner.pair[0]", "turned.inner.pair[1]"),
    *("turned.last", "turned.more[0].pair[1]", "turned.more[1].pair[0]", "turned.more[1].pair[1]"),
)


def _members(component: ComponentType, x: Array, y: Array, z: Array) -> list[Array]:
    """What `_STRUCT_BODY` leaves in `_MEMBERS`: tag is 3 after the turn, so that `_change` sets the second."""
    return [x, z, x, z, z, x, meaning.negate(component, x), x, z]


def _struct_experiment(setting: Setting) -> Experiment:
    matrix: MatrixType = setting.parameters
    rng, component = setting.random(), matrix.component
    inputs = {name: whole_range(rng, component, matrix.rows, matrix.columns) for name in "xyz"}
    results = _members(component, *inputs.values())
    return Experiment(
        [
            *(matrix_input(name, setting.place(name, matrix), values) for name, values in inputs.items()),
            *(matrix_output(f"out{n}", setting.place(f"out{n}", matrix), values) for n, values in enumerate(results)),
        ]
    )


def _write_struct(setting: Setting, writer: Writer) -> None:
    w = opencl_c(writer)
    x, y, z, *outputs = w.experiment.arguments
    names = {"M": w.type(setting.parameters), "x": w.load(x), "y": w.load(y), "z": w.load(z)}
    w.outside += _STRUCTS.format(**names).splitlines()
    for line in _STRUCT_BODY.format(**names).splitlines():
        w.line(line)
    for output, member in zip(outputs, _MEMBERS, strict=True):
        w.store(output, member)


# --- two_subgroups: each subgroup of each work-group has matrices of its own

_SUB_GROUPS = (2, 3)
_NUMBER = "get_group_id(0) * get_num_sub_groups() + get_sub_group_id()"


def _subgroup_cases(profile: Profile) -> Iterable[Case]:
    """Multiply-adds in work-groups of two subgroups, others in work-groups of three."""
    for turn, count in enumerate(_SUB_GROUPS):
        for case in _multiply_adds(profile, f".{count}subgroups", first=turn):
            yield replace(case, parameters=(case.parameters, count))


def _subgroup_stacks(setting: Setting) -> tuple[int, list[Stack]]:
    """How many subgroups run in all, and where the matrices of each lie."""
    variant, count = setting.parameters
    a, b, c = _types(variant)
    total = 2 * count
    named = (("a", a), ("b", b), ("c", c), ("out", c))
    return total, [Stack.of(setting, name, matrix, total) for name, matrix in named]


def _subgroup_experiment(setting: Setting) -> Experiment:
    variant, count = setting.parameters
    rng = setting.random()
    total, (a, b, c, out) = _subgroup_stacks(setting)
    inputs = [plain(rng, variant) for _ in range(total)]
    types = (variant.a, variant.b, variant.c)
    results = [meaning.mul_add(types, item.a, item.b, item.c, _operands(variant)) for item in inputs]
    return Experiment(
        [
            a.input([item.a for item in inputs]),
            b.input([item.b for item in inputs]),
            c.input([item.c for item in inputs]),
            out.output([result for result, _ in results], [tolerance for _, tolerance in results]),
        ],
        sub_groups=count,
        groups=total // count,
    )


def _write_subgroups(setting: Setting, writer: Writer) -> None:
    w, (variant, _) = opencl_c(writer), setting.parameters
    _, (a, b, c, out) = _subgroup_stacks(setting)
    w.line(f"uint number = {_NUMBER};")
    x, y, z = (w.variable(s.place.matrix, s.load("number")) for s in (a, b, c))
    w.line(out.store("number", w.multiply_add(_types(variant), x, y, z, _operands(variant))))


OPERATIONS = (
    Operation("control_flow", _flow_cases, _flow_experiment, _write_flow, _C),
    Operation("nested_struct", _type_cases, _struct_experiment, _write_struct, _C),
    Operation("two_subgroups", _subgroup_cases, _subgroup_experiment, _write_subgroups, _C),
)
