"""Matrices in programs: control_flow, nested_struct, two_subgroups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import Array, narrow
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType, MatrixType, Variant

from ..experiment import Argument, Experiment
from ..profile import Profile
from ..values import moderate
from ..writers.c import CWriter
from .base import Case, Operation, Setting, of_matrices
from .inputs import Inputs, is_plain, multiply_add_cases, operands_of, plain, product, types_of
from .stack import Stack

_C = ("c",)
# The number of multiply-adds of a test, in addition to its matrix types.
_FEW = 12
_MOST_ROWS, _MOST_COLUMNS, _MOST_PRODUCTS = 5, 16, 512


def _multiply_adds(profile: Profile, suffix: str = "", first: int = 0) -> Iterator[Case]:
    return multiply_add_cases(profile, is_plain, _MOST_PRODUCTS, suffix, _FEW, first)


def _type_cases(profile: Profile) -> Iterator[Case]:
    """Yield the cases of `type_cases`, with lowered matrices, whose shape is free, cut to a small size.

    The number of rows is irrelevant for these programs, but not for the time that devices take to compile them.
    """
    cases: dict[str, Case] = {}
    for matrix, size in profile.matrix_types:
        if not profile.is_native:
            matrix = replace(matrix, rows=min(matrix.rows, _MOST_ROWS), columns=min(matrix.columns, _MOST_COLUMNS))
        case = Case(matrix.name + profile.suffix(size), size, matrix)
        cases.setdefault(case.name, case)
    yield from cases.values()


def _control(values: Sequence[int]) -> Argument:
    """Return the buffer `control` with numbers that select a kernel's path."""
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
    """Compute in numpy what the function `_CHOOSE` of the kernel returns."""

    def add(x: Array, y: Array) -> Array:
        return numpy_reference.binary(component, "add", x, y)

    if which == 0:
        return b
    if which in (1, 2):
        return add(numpy_reference.negate(component, a) if which == 1 else a, b)
    if which == 3:
        return numpy_reference.binary(component, "sub", b, a)
    return numpy_reference.negate(component, b) if which == 4 else a


def _walked(component: ComponentType, x: Array, y: Array, control: Sequence[int]) -> tuple[Array, Array]:
    """Return the values of s and t after the statements `_WALK` of the kernel."""
    s, t = x, y
    for which in control[1 : control[0] + 1]:
        if which == _SKIP:
            continue
        if which == _STOP:
            break
        s = _chosen(component, s, t, which)
        while which > 3:
            t = numpy_reference.binary(component, "sub", t, x)
            which -= 2
        t = t if which & 1 else s
    if control[0] & 1:
        return t, s
    return (s if control[0] % 4 == 2 else numpy_reference.negate(component, s)), t


def _walk(rng: np.random.Generator) -> list[int]:
    """Return the values of the kernel's buffer `control`: a count, then the path of each iteration of `_WALK`.

    The order of the paths is random. Each occurs once, one of 0 to 5 perhaps again at the end. _STOP, which ends the
    loop, is not among the first four.
    """
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
    values = {name: moderate(rng, component, matrix.rows, matrix.columns) for name in "xy"}
    walk = _walk(rng)
    s, t = _walked(component, values["x"], values["y"], walk)
    return Experiment([_control(walk), *setting.inputs(values), *setting.outputs({"first": s, "second": t})])


def _write_flow(setting: Setting, w: CWriter) -> None:
    if isinstance(setting.parameters, Variant):
        _write_sum(setting, w)
        return
    _, x, y, first, second = w.experiment.arguments
    names = {"M": w.type(setting.parameters), "x": w.load(x), "y": w.load(y)}
    w.outside += _CHOOSE.format(**names).splitlines()
    w.lines_of(_WALK, **names)
    w.store(first, "s")
    w.store(second, "t")


# --- control_flow, of multiply-adds: a sum of products of blocks; some blocks are skipped, and one ends the loop

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
    """Make an experiment with factors of -1, 0 and 1, whose sums are exact in every type and order."""
    variant: Variant = setting.parameters
    rng = setting.random()
    # Of four blocks in random order, two are added, one is skipped (_SKIP), and one, not the first, ends the loop
    # (_STOP): blocks after it are not reached.
    ways = [int(way) for way in rng.permutation([0, 0, _SKIP])]
    ways.insert(int(rng.integers(1, _BLOCKS)), _STOP)
    steps = [k for k, way in enumerate(ways[: ways.index(_STOP)]) if way != _SKIP]
    stacks = _sum_stacks(setting)
    factors = [[_small(rng, stack.place.matrix) for _ in range(_BLOCKS)] for stack in stacks]
    matrix = types_of(variant)[2]
    c = result = _small(rng, matrix)
    for k in steps:
        result, _ = product(variant, Inputs(factors[0][k], factors[1][k], result))
    return Experiment(
        [
            _control([_BLOCKS, *ways]),
            *(stack.input(blocks) for stack, blocks in zip(stacks, factors, strict=True)),
            setting.input("c", matrix, c),
            setting.output("out", matrix, result),
        ]
    )


def _sum_stacks(setting: Setting) -> list[Stack]:
    a, b, _ = types_of(setting.parameters)
    return [Stack.of(setting, name, matrix, _BLOCKS) for name, matrix in (("a", a), ("b", b))]


def _small(rng: np.random.Generator, matrix: MatrixType) -> Array:
    component = matrix.component
    low = -1 if component.signed else 0
    return narrow(component, rng.integers(low, 2, (matrix.rows, matrix.columns)))


def _write_sum(setting: Setting, w: CWriter) -> None:
    types = types_of(setting.parameters)
    a, b = _sum_stacks(setting)
    c = w.load(w.experiment.argument("c"))
    names = {"A": w.type(types[0]), "B": w.type(types[1]), "a": a.load("k"), "b": b.load("k"), "c": c}
    w.lines_of(_SUM, **names, product=f"coop_mat_mulAdd(a_k, b_k, {c})", skip=_SKIP, stop=_STOP)
    w.store(w.experiment.argument("out"), c)


# --- nested_struct: matrices in nested structures and arrays that are copied, passed, returned, changed by pointers

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


def _members(component: ComponentType, x: Array, y: Array, z: Array) -> dict[str, Array]:
    """Return the values of `_MEMBERS` after `_STRUCT_BODY`, named out0, out1, ...

    `tag` is 3 after the call of `_turned`, so that `_change` sets the second item of the pair.
    """
    values = [x, z, x, z, z, x, numpy_reference.negate(component, x), x, z]
    return {f"out{n}": value for n, value in enumerate(values)}


def _write_struct(setting: Setting, w: CWriter) -> None:
    x, y, z, *outputs = w.experiment.arguments
    names = {"M": w.type(setting.parameters), "x": w.load(x), "y": w.load(y), "z": w.load(z)}
    w.outside += _STRUCTS.format(**names).splitlines()
    w.lines_of(_STRUCT_BODY, **names)
    for output, member in zip(outputs, _MEMBERS, strict=True):
        w.store(output, member)


# --- two_subgroups: each subgroup of each work-group has separate matrices

_SUB_GROUPS = (2, 3)
_NUMBER = "get_group_id(0) * get_num_sub_groups() + get_sub_group_id()"


def _subgroup_cases(profile: Profile) -> Iterable[Case]:
    """Yield multiply-adds in work-groups of two subgroups, and others in work-groups of three."""
    for turn, count in enumerate(_SUB_GROUPS):
        for case in _multiply_adds(profile, f".{count}subgroups", first=turn):
            yield replace(case, parameters=(case.parameters, count))


def _subgroup_stacks(setting: Setting) -> tuple[int, list[Stack]]:
    """Return the number of subgroups of the launch, and the stacks of their matrices."""
    variant, count = setting.parameters
    a, b, c = types_of(variant)
    outputs = (("a", a), ("b", b), ("c", c), ("out", c))
    return 2 * count, [Stack.of(setting, name, matrix, 2 * count) for name, matrix in outputs]


def _subgroup_experiment(setting: Setting) -> Experiment:
    variant, count = setting.parameters
    rng = setting.random()
    total, (*stacks, out) = _subgroup_stacks(setting)
    inputs = [plain(rng, variant) for _ in range(total)]
    results, tolerances = zip(*(product(variant, item) for item in inputs), strict=True)
    buffers = [stack.input(matrices) for stack, matrices in zip(stacks, zip(*inputs, strict=True), strict=True)]
    return Experiment([*buffers, out.output(results, tolerances)], sub_groups=count, groups=total // count)


def _write_subgroups(setting: Setting, w: CWriter) -> None:
    variant, _ = setting.parameters
    _, (*stacks, out) = _subgroup_stacks(setting)
    w.line(f"uint number = {_NUMBER};")
    x, y, z = (w.variable(s.place.matrix, s.load("number")) for s in stacks)
    w.line(out.store("number", w.multiply_add(types_of(variant), x, y, z, operands_of(variant))))


OPERATIONS = (
    Operation("control_flow", _flow_cases, _flow_experiment, _write_flow, _C),
    Operation("nested_struct", _type_cases, of_matrices(_members, "xyz"), _write_struct, _C),
    Operation("two_subgroups", _subgroup_cases, _subgroup_experiment, _write_subgroups, _C),
)
