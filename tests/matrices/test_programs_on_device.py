"""Matrix programs in OpenCL C, through every lowering and subgroup size, against numpy; and native, as valid SPIR-V."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np
import pytest
from matrix_programs import LAYOUTS, TARGETS, Case, Kernel, Target, equal, program_text, run, spelled

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.matrices import reference
from coopmat.matrices.reference import Array
from coopmat.matrices.variants import (
    COMPONENT_TYPES,
    ComponentType,
    Layout,
    MatrixType,
    Operands,
    Use,
    default_operands,
)

TYPES = [row for row in COMPONENT_TYPES.values() if row.name != "bf16"]
INTEGERS = [t for t in TYPES if t.is_integer]
FLOATS = [t for t in TYPES if not t.is_integer]
SIZES = (1, 3, 4, 7, 8, 16, 32)
F32, S32, S8, F16 = (COMPONENT_TYPES[name] for name in ("f32", "s32", "s8", "f16"))
LANES = (8, 16, 32)
Item = TypeVar("Item")
Theme = Callable[[np.random.Generator, Target], Iterator[Case]]
THEMES: dict[str, Theme] = {}


def theme(function: Theme) -> Theme:
    THEMES[function.__name__] = function
    return function


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize("name", THEMES)
def test_programs(device: DeviceInfo, name: str, target: Target) -> None:
    if target.route == "lanes" and target.sub_group_size not in device.sub_group_sizes:
        pytest.skip(f"the device has no subgroups of {target.sub_group_size}")
    run(device, target, list(THEMES[name](np.random.default_rng(7), target)))


def draw(rng: np.random.Generator, component: ComponentType, *shape: int) -> Array:
    """Integers over their whole range; small numbers of either sign, exact in half."""
    dtype = np.dtype(component.numpy)
    if component.is_integer:
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    return (rng.integers(-64, 65, shape) / 8).astype(dtype)


def draw_matrix(rng: np.random.Generator, component: ComponentType, largest: int = 16) -> MatrixType:
    rows, columns = rng.choice([size for size in SIZES if size <= largest], 2)
    return MatrixType(component, int(rows), int(columns), Use(int(rng.integers(3))))


def share(items: Iterable[Item], target: Target) -> list[Item]:
    """All of them; for lanes each subgroup size gets a third: what differs between the sizes is little."""
    taken = list(items)
    return taken[LANES.index(target.sub_group_size) :: len(LANES)] if target.route == "lanes" else taken


# --- memory ----------------------------------------------------------------------------------------


@theme
def memory(rng: np.random.Generator, target: Target) -> Iterator[Case]:
    """Layouts, paddings, offsets and address spaces; what is not the matrix's stays."""
    spaces = itertools.cycle(["global", "constant", "local"])
    for number, (component, layout) in enumerate(itertools.product(TYPES, LAYOUTS)):
        yield _copy(rng, component, layout, next(spaces), 32 if number % 4 == 0 else 8)
    yield _same_rows(rng)


def _copy(rng: np.random.Generator, component: ComponentType, layout: Layout, space: str, largest: int) -> Case:
    matrix = draw_matrix(rng, component, largest)
    t, size = component.opencl_c, matrix.rows * matrix.columns
    to = Layout(int(rng.integers(2)))
    extents = [(matrix.columns, matrix.rows)[item] for item in (layout, to)]
    strides = [extent + int(rng.integers(4)) for extent in extents]
    offset = int(rng.integers(5))
    room = offset + max(matrix.rows, matrix.columns) * (max(strides) + 1) + size
    k = Kernel(f"copy {matrix} {space} {layout.name} {strides} to {to.name}")
    source, before = draw(rng, component, room), draw(rng, component, room)
    p = k.buffer(source, t, space if space == "constant" else "global")
    q = k.buffer(before.copy(), t)
    stride = k.scalar(np.uint64(strides[0]), "ulong") if offset % 2 else strides[0]
    k.type("T", matrix)
    if space == "local":
        k.line(f"local {t} l[{room}], m[{room}];")
        k.line(f"for (int i = get_local_id(0); i < {room}; i += get_local_size(0)) {{ l[i] = {p}[i]; m[i] = {q}[i]; }}")
        k.line("barrier(CLK_LOCAL_MEM_FENCE);")
        k.line(f"T x = coop_mat_load(l + {offset}, {LAYOUTS[layout]}, {stride});")
        k.line(f"coop_mat_store(&m[{offset}], x, {LAYOUTS[to]}, {strides[1]}); barrier(CLK_LOCAL_MEM_FENCE);")
        k.line(f"for (int i = get_local_id(0); i < {room}; i += get_local_size(0)) {q}[i] = m[i];")
    else:
        k.line(f"T x = coop_mat_load({p} + {offset}, {LAYOUTS[layout]}, {stride});")
        k.line(f"coop_mat_store({q} + {offset}, x, {LAYOUTS[to]}, {strides[1]});")
    expected = before.copy()
    loaded = reference.load(source[offset:], matrix.shape, layout, strides[0])
    reference.store(expected[offset:], loaded, to, strides[1])
    k.checks.append(lambda results, target: equal(results[1], expected))
    return k.case()


def _same_rows(rng: np.random.Generator) -> Case:
    """Stride 0, a stride of another type, a vector pointee, a loaded matrix as an argument and through a cast."""
    matrix = MatrixType(F32, 4, 8, Use.ACCUMULATOR)
    values = draw(rng, F32, 32)
    k = Kernel("stride 0, vectors, contexts")
    p = k.buffer(values, "float")
    k.outside.append(f"typedef {spelled(matrix)} @M;\n@M @twice(@M m) {{ return m + m; }}")
    k.outside.append("@M @get(const global float *p) { return coop_mat_load(p, ROW, 8); }")
    whole = values.reshape(4, 8)
    k.line(f"@M same = coop_mat_load({p}, ROW, 0);")
    k.store("same", F32, np.repeat(whole[:1], 4, axis=0))
    k.line(f"@M v; v = coop_mat_load((global float4 *){p}, ROW, (uchar)2);")
    k.store("v", F32, whole)
    k.store(f"@twice(coop_mat_load({p}, ROW, 8))", F32, whole * 2)
    k.store(f"((@M)coop_mat_load({p}, COLUMN, 4)) - @get({p})", F32, values.reshape(8, 4).T - whole)
    return k.case()


# --- multiply-add ----------------------------------------------------------------------------------


@theme
def mul_add(rng: np.random.Generator, target: Target) -> Iterator[Case]:
    """Every pairing of types for A and B, accumulators in turn; of lanes each subgroup size gets a third."""
    kinds = [(INTEGERS, INTEGERS), (FLOATS, FLOATS)]
    pairs = [pair for kind in kinds for pair in itertools.product(*kind)]
    for number, (a, b) in enumerate(share(pairs, target)):
        choice = INTEGERS if a.is_integer else FLOATS
        c = choice[(number // 2 + number // 8) % len(choice)]
        mask = [None, Operands(int(rng.integers(16))), Operands.SATURATING | int(rng.integers(16))][number % 3]
        yield _mul_add(rng, (a, b, c), mask if a.is_integer else None, rng.choice(SIZES[:5], 3))
    for shape in ((16, 16, 16), (32, 8, 16), (7, 32, 3)):
        yield _mul_add(rng, (F32, F32, F32), None, shape)
    yield _mul_add(rng, (S8, COMPONENT_TYPES["u8"], S32), None, (16, 16, 32))
    yield _mul_add(rng, (F16, F16, F32), Operands.NONE, (8, 16, 16))


def _mul_add(rng: np.random.Generator, types, mask: Operands | None, shape) -> Case:
    m, n, k = map(int, shape)
    uses = [MatrixType(types[0], m, k, Use.A), MatrixType(types[1], k, n, Use.B)]
    matrices = [*uses, MatrixType(types[2], m, n, Use.ACCUMULATOR)]
    values = [draw(rng, matrix.component, matrix.rows, matrix.columns) for matrix in matrices]
    kernel = Kernel(f"{m}x{n}x{k} {types[0]} {types[1]} {types[2]} {mask!r}")
    for name, matrix, value in zip("abc", matrices, values, strict=True):
        kernel.matrix(name, matrix, value)
    if mask is None:
        mask, text = default_operands(*types), ""
    else:
        words = {1: "MATRIX_A_SIGNED", 2: "MATRIX_B_SIGNED", 4: "MATRIX_C_SIGNED", 8: "MATRIX_RESULT_SIGNED"}
        words[16] = "SATURATING_ACCUMULATION"
        chosen = [f"CLK_COOPERATIVE_MATRIX_OPERAND_{word}" for bit, word in words.items() if mask & bit]
        text = ", " + (" | ".join(chosen) or "CLK_COOPERATIVE_MATRIX_OPERAND_NONE")
    name = "coop_matmul_add" if m % 2 else "coop_mat_mulAdd"
    # The result may be the addend, or an expression.
    if n % 2:
        kernel.line(f"c = {name}(a, b, c{text});")
    result = "c" if n % 2 else f"{name}(a, b, c{text})"
    expected, bound = reference.mul_add(*values, mask), reference.mul_add_bound(*values)
    kernel.store(result, types[2], expected, bound)
    return kernel.case()


# --- components ------------------------------------------------------------------------------------


@theme
def operators(rng: np.random.Generator, target: Target) -> Iterator[Case]:
    for component in share(TYPES, target):
        yield _operators(rng, component, draw_matrix(rng, component))


def _operators(rng: np.random.Generator, component: ComponentType, matrix: MatrixType) -> Case:
    x, y = (draw(rng, component, matrix.rows, matrix.columns) for _ in range(2))
    y[(y == 0) | (y == np.array(-1).astype(y.dtype))] = 3
    s = draw(rng, component, 1)[0]
    k = Kernel(f"operators on {matrix}")
    k.matrix("x", matrix, x), k.matrix("y", matrix, y)
    scalar = k.scalar(s, component.opencl_c)
    words = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
    with np.errstate(all="ignore"):
        quotient = reference.binary("div", x, y)
        # 1 ulp half, 2.5 ulp float, double correctly rounded.
        loose = {"half": 1.0, "float": 2.5}.get(component.opencl_c, 0.0)
        tolerance = loose * np.spacing(np.abs(quotient)) if loose else 0.0
    for operator, word in words.items():
        wanted = reference.binary(word, x, y)
        off = tolerance if word == "div" else 0.0
        k.store(f"x {operator} y", component, wanted, off)
        k.line(f"Tx z{word} = x; z{word} {operator}= y;")
        k.store(f"z{word}", component, wanted, off)
    k.store("-x", component, reference.negate(x))
    scaled = reference.scalar_mul(x, s)
    k.line(f"Tx w = x; w *= {scalar};")
    for text in (f"x * {scalar}", f"{scalar} * x", "w"):
        k.store(text, component, scaled)
    k.store("x * 3", component, reference.scalar_mul(x, 3))
    k.store("-(x + y) - x", component, reference.binary("sub", reference.negate(reference.binary("add", x, y)), x))
    k.store("x", component, x)  # operands are left as they were
    return k.case()


@theme
def initialisation(rng: np.random.Generator, target: Target) -> Iterator[Case]:
    """Constants and runtime scalars of every other type."""
    for number, component in enumerate(TYPES):
        matrix = draw_matrix(rng, component)
        k = Kernel(f"init {matrix}")
        k.type("T", matrix)
        for source in (TYPES[(number * 3 + 1) % 11], TYPES[(number * 5 + 4) % 11], component):
            value = draw(rng, source, 1)[0] if source.is_integer else np.dtype(source.numpy).type(5.75)
            if source.is_integer and not component.is_integer:
                value = value % np.dtype(source.numpy).type(100)  # exact in half
            scalar = k.scalar(value, source.opencl_c)
            name = f"m{len(k.scalars)}"
            k.line(f"T {name} = coop_mat_init({scalar});")
            k.store(name, component, reference.fill(matrix.shape, component, value))
        k.line("T m; m = coop_mat_init(-1);")
        k.store("m", component, reference.fill(matrix.shape, component, np.int32(-1)))
        k.store("(T)coop_mat_init(0)", component, reference.fill(matrix.shape, component, 0))
        yield k.case()


@theme
def conversion(rng: np.random.Generator, target: Target) -> Iterator[Case]:
    """Casts between all component types, in range where the source is a float."""
    for source in share(TYPES, target):
        matrix = draw_matrix(rng, source, 8)
        x = draw(rng, source, matrix.rows, matrix.columns)
        k = Kernel(f"casts of {matrix}")
        k.matrix("x", matrix, x)
        k.line("Tx positive = x * x;")
        for to in TYPES:
            k.type(f"T{to}", MatrixType(to, matrix.rows, matrix.columns, matrix.use))
            unsigned = not source.is_integer and to.is_integer and not to.signed
            value = reference.binary("mul", x, x) if unsigned else x
            k.store(f"(T{to}){'positive' if unsigned else 'x'}", to, reference.convert(value, to))
        yield k.case()


@theme
def elements(rng: np.random.Generator, target: Target) -> Iterator[Case]:
    """coop_mat_length and m[i]: read, written, in every form of assignment."""
    for number, component in enumerate(share(TYPES, target)):
        matrix = draw_matrix(rng, component, 32 if number % 3 == 0 else 8)
        x = draw(rng, component, matrix.rows, matrix.columns)
        lanes, t = target.sub_group_size, component.opencl_c
        k = Kernel(f"elements of {matrix}")
        k.matrix("x", matrix, x)
        lengths, sums = k.buffer(np.zeros(lanes, np.uint32), "uint"), k.buffer(np.zeros(lanes, component.numpy), t)
        k.line(
            f"{lengths}[get_local_id(0)] = coop_mat_length(Tx); {t} sum = 0;",
            "Tx y = x, z = x; uint n = coop_mat_length(x);",
        )
        k.line("for (uint i = 0; i < coop_mat_length(y); ++i) { y[i] = x[i] < 3 ? 3 : x[i]; sum += x[i]; }")
        k.line(
            f"for (uint i = 0; i < n; i++) {{ z[i] += 1; z[i]++; --z[i]; {t} t = z[i]; z[n - 1 - i] = z[n - 1 - i]; }}"
        )
        k.line(f"{sums}[get_local_id(0)] = sum; if (n > 0) x[0] *= 1;")
        k.store("y", component, np.maximum(x, np.array(3, x.dtype)))
        k.store("z", component, reference.binary("add", x, np.ones_like(x)))
        k.store("x", component, x)

        def check(results, target, x=x):
            assert int(results[1].sum()) == x.size
            if x.dtype.kind == "f":
                assert float(results[2].astype(float).sum()) == float(x.astype(float).sum())
            else:
                assert results[2].sum(dtype=x.dtype) == x.sum(dtype=x.dtype)

        k.checks.append(check)
        yield k.case()


# --- control flow and data structures ----------------------------------------------------------------


def _three(name: str, rng: np.random.Generator, matrix: MatrixType) -> tuple[Kernel, list[Array]]:
    """A kernel with the matrices a, b and c of the type @M, and their values."""
    values = [draw(rng, matrix.component, matrix.rows, matrix.columns) for _ in range(3)]
    k = Kernel(name)
    k.outside.append(f"typedef {spelled(matrix)} @M;")
    for letter, value in zip("abc", values, strict=True):
        k.matrix(letter, matrix, value)
    return k, values


def _shapes(rng: np.random.Generator) -> Iterator[MatrixType]:
    yield MatrixType(F32, 8, 16, Use.ACCUMULATOR)
    yield MatrixType(S8, 7, 3, Use.A)
    yield MatrixType(F16, 4, 8, Use.B)
    yield MatrixType(COMPONENT_TYPES["s64"], 3, 7, Use.ACCUMULATOR)


FUNCTIONS = """
@M @change(@M m) { m = m + m; if (coop_mat_length(m)) m[0] = 0; return m; }
@M @add(@M x, @M y) { return x + y; }
@M @choose(@M x, @M y, int which) { if (which > 1) return x; if (which < 0) { x = x + y; return x; } return y; }
@M @repeat(@M m, int n) { for (int i = 0; i < n; ++i) { if (i == 3) return m; m = @add(m, m); } return m; }
void @into(@M *out, @M m) { *out = *out + m; }
void @exchange(@M *x, @M *y) { @M t = *x; *x = *y; *y = t; }
@M @through(@M m, int depth) { @M parts[2] = {m, m + m}; @into(&parts[1], m); return parts[depth]; }
"""


@theme
def functions(rng: np.random.Generator, target: Target) -> Iterator[Case]:
    """By value in and out: a callee's copy is its own. Pointers to private matrices."""
    for matrix in _shapes(rng):
        k, (a, b, c) = _three(f"functions of {matrix}", rng, matrix)
        t, add = matrix.component, lambda x, y: reference.binary("add", x, y)
        k.outside.append(FUNCTIONS)
        n = [k.scalar(np.int32(value), "int") for value in (2, -1, 0, 5)]
        k.line("@M changed = @change(a); @M r = @repeat(b, " + n[0] + "); @M e = @repeat(b, " + n[3] + ");")
        k.store("a", t, a)
        k.store("changed + a - changed", t, a)
        for which, wanted in zip(n, (a, add(a, b), b, a), strict=True):
            k.store(f"@choose(a, b, {which})", t, wanted)
        twice = add(b, b)
        k.store("r", t, add(twice, twice))
        k.store("e", t, add(add(twice, twice), add(twice, twice)))
        k.store("@add(@add(a, b), @add(c, a))", t, add(add(a, b), add(c, a)))
        k.line("@into(&c, a); @exchange(&a, &b);")
        for name, wanted in (("a", b), ("b", a), ("c", add(c, a))):
            k.store(name, t, wanted)
        k.store(f"@through(c, {n[2]})", t, add(c, a))
        k.store(f"@through(a, {n[2]} + 1)", t, add(add(b, b), b))
        yield k.case()


STRUCTURES = """
typedef struct { int tag; @M m; float s; } @One;
typedef struct { char before; @One parts[2]; @M grid[2][2]; } @Many;
@One @make(@M m, int tag) { @One r; r.m = m; r.tag = tag; r.s = tag * 0.5f; return r; }
@Many @nest(@One x, @One y) { @Many r; r.parts[0] = x; r.parts[1] = y; for (int i = 0; i < 4;
    ++i) r.grid[i / 2][i % 2] = i & 1 ? x.m : y.m; return r; }
@M @sum(@Many v) { @M s = v.parts[0].m + v.parts[1].m; v.grid[1][1] = s; v.parts[0].m = s;
    return v.grid[1][1] - v.grid[0][1]; }
void @touch(@One *p) { p->m = p->m + p->m; p->tag++; }
"""


@theme
def structures(rng: np.random.Generator, target: Target) -> Iterator[Case]:
    """Arrays with runtime indices, records in records, assigned, passed and returned whole."""
    for matrix in share(_shapes(rng), target):
        k, (a, b, c) = _three(f"structures of {matrix}", rng, matrix)
        t, add = matrix.component, lambda x, y: reference.binary("add", x, y)
        k.outside.append(STRUCTURES)
        n = k.scalar(np.int32(1), "int")
        tags = k.buffer(np.zeros(4, np.int32), "int")
        k.line("@M list[3] = {a, b, c}; @M sums[3];")
        k.line(f"for (int i = 0; i < 3; ++i) sums[i] = list[i] + list[(i + {n}) % 3];")
        k.line(f"list[{n} + 1] = list[{n} - 1]; list[{n}] = list[{n}] + sums[{n}];")
        for text, wanted in (
            ("sums[0]", add(a, b)),
            ("sums[2]", add(c, a)),
            ("list[2]", a),
            (f"list[{n}]", add(b, add(b, c))),
        ):
            k.store(text, t, wanted)
        k.line("@One x = @make(a, 3), y = @make(b, 4), z = x; z.m = c; @touch(&z); y.m = y.m + x.m;")
        k.line(f"@Many v = @nest(x, y), w = v; w.parts[{n}].m = c; w.grid[0][{n}] = c; @M s = @sum(w);")
        k.line(
            f"if (get_local_id(0) == 0) {{ {tags}[0] = x.tag; {tags}[1] = z.tag;",
            f"{tags}[2] = w.parts[1].tag; {tags}[3] = (int)(y.s * 2); }}",
        )
        k.store("x.m", t, a)
        k.store("z.m", t, add(c, c))
        k.store("s", t, reference.binary("sub", add(a, c), c))
        k.store("v.parts[1].m", t, add(a, b))
        k.store("w.parts[1].m", t, c)
        k.store("w.grid[1][0]", t, add(a, b))
        k.store(f"v.grid[{n}][{n}]", t, a)
        k.line(f"@M *p = &w.grid[{n}][0]; *p = *p + a; p = list; p[2] = b; @M (*q)[2] = w.grid; q[0][1] = q[1][0];")
        k.store("w.grid[1][0]", t, add(add(a, b), a))
        k.store("list[2]", t, b)
        k.store("w.grid[0][1]", t, add(add(a, b), a))
        k.checks.append(lambda results, target: equal(results[3], np.array([3, 4, 4, 4], np.int32)))
        yield k.case()


@theme
def control(rng: np.random.Generator, target: Target) -> Iterator[Case]:
    """Values that meet at loops' heads and branches' ends; ?: under a uniform condition."""
    for matrix in _shapes(rng):
        k, (a, b, c) = _three(f"control flow of {matrix}", rng, matrix)
        t, add = matrix.component, lambda x, y: reference.binary("add", x, y)
        two, three = k.scalar(np.int32(2), "int"), k.scalar(np.int32(3), "int")
        k.line("@M x = a, y = b, z = c, f = a, g = b;")
        k.line(f"for (int i = 0; i < {three}; ++i) {{ @M t = x; x = y; y = t; }}")
        k.line(f"for (int i = 0; i < {two} * 2; ++i) {{ @M t = x; x = y; y = z; z = t; if (i == {two}) break; }}")
        x, y, z = b, a, c
        for _ in range(3):
            x, y, z = y, z, x
        for name, wanted in (("x", x), ("y", y), ("z", z)):
            k.store(name, t, wanted)
        k.line(f"for (int i = 0; i < {three} + 2; ++i) {{ @M t = f + g; f = g; g = t; }}")
        f, g = a, b
        for _ in range(5):
            f, g = g, add(f, g)
        k.store("f", t, f)
        k.line(f"@M r; if ({two} > 1) r = a; else r = b; if ({two} > 5) {{ r = c; }} else if ({three} == 3) r = r + b;")
        k.store("r", t, add(a, b))
        k.line(
            f"@M s = a; switch ({two}) {{ case 1: s = b; case 2: s = s + b;",
            "case 3: s = s + c; break; default: s = a; }",
        )
        k.store("s", t, add(add(a, b), c))
        k.line(
            f"@M u = {two} > {three} ? a : b; u = {two} == 2 ? u + c : u; @M w = {three} & 1 ? {two} & 1 ? a : b : c;"
        )
        k.store("u", t, add(b, c))
        k.store(f"{two} ? w : a", t, b)
        k.line(
            f"int n = {three}; @M v = a; again: v = v + b; if (--n) goto again; do {{ v = v + c; }} while (n++ < 1);"
        )
        k.store("v", t, add(add(add(add(a, b), b), b), add(c, c)))
        k.line(f"if ({two} == 2) {{ @M late = b; late = late + late;")
        k.store("late", t, add(b, b))
        k.line("return; }")
        k.store("a", t, _untouched(t, a.shape))  # not reached
        yield k.case()


def _untouched(component: ComponentType, shape: tuple[int, ...]) -> Array:
    return np.frombuffer(b"\xa5" * (int(np.prod(shape)) * component.size), component.numpy).reshape(shape).copy()


@theme
def sub_groups(rng: np.random.Generator, target: Target) -> Iterator[Case]:
    """Several subgroups in a work-group, each with tiles of its own, sharing local memory."""
    size, tiles = 8, 4
    a, b = draw(rng, F32, tiles * size, size), draw(rng, F32, size, size)
    k = Kernel("subgroups share local memory")
    k.outside.append(
        "typedef COOP(float, 8, 8, A) @A; typedef COOP(float, 8, 8, B) @B; typedef COOP(float, 8, 8, ACCUMULATOR) @C;"
    )
    pa, pb = k.buffer(a.ravel(), "float"), k.buffer(b.ravel(), "float")
    out, seen = (
        k.buffer(np.zeros(tiles * size * size, np.float32), "float"),
        k.buffer(np.zeros(tiles * 4, np.int32), "int"),
    )
    k.line(
        "local float shared[64], own[4][64]; uint tile = get_sub_group_id();",
        f"for (int i = get_local_id(0); i < 64; i += get_local_size(0)) shared[i] = {pb}[i] * 2;",
        "barrier(CLK_LOCAL_MEM_FENCE);",
        f"@A x = coop_mat_load({pa} + tile * 64, ROW, 8); @B y = coop_mat_load(shared, ROW, 8);",
        "@C z = coop_mat_mulAdd(x, y, (@C)coop_mat_init((float)tile));",
        "coop_mat_store(own[tile], z, COLUMN, 8); barrier(CLK_LOCAL_MEM_FENCE);",
        "@C next = coop_mat_load(own[(tile + 1) % 4], COLUMN, 8);",
        f"coop_mat_store({out} + tile * 64, z + next, ROW, 8);",
        f"if (get_sub_group_local_id() == 0) {{ {seen}[tile * 4] = get_sub_group_size();",
        f"{seen}[tile * 4 + 1] = get_num_sub_groups();",
        f"{seen}[tile * 4 + 2] = get_sub_group_id(); {seen}[tile * 4 + 3] = get_max_sub_group_size(); }}",
    )
    products = a.reshape(tiles, size, size) @ (b * 2) + np.arange(tiles, dtype=np.float32)[:, None, None]

    def check(results, target):
        equal(results[2], (products + np.roll(products, -1, axis=0)).ravel(), 1e-3, "tiles")
        n = target.sub_group_size
        equal(results[3].reshape(tiles, 4), np.array([[n, tiles, i, n] for i in range(tiles)], np.int32), what="sizes")

    k.checks.append(check)
    yield k.case(sub_groups=tiles)


@theme
def kernels_of_several_kinds(rng: np.random.Generator, target: Target) -> Iterator[Case]:
    """A matrix that is nobody's result, one that is only stored, and an accumulation over memory."""
    a, b = draw(rng, F32, 16, 32), draw(rng, F32, 32, 8)
    k = Kernel("accumulation")
    pa, pb, n = k.buffer(a.ravel(), "float"), k.buffer(b.ravel(), "float"), k.scalar(np.uint32(32), "uint")
    k.line(
        "typedef COOP(float, 16, 8, A) A; typedef COOP(float, 8, 8, B) B; typedef COOP(float, 16, 8, ACCUMULATOR) C;"
    )
    k.line("C sum = coop_mat_init(0.0f), unused = coop_mat_init(1.0f);")
    k.line(f"for (uint k = 0; k < {n}; k += 8) {{ A x = coop_mat_load({pa} + k, ROW, 32);")
    k.line(f"B y = coop_mat_load({pb} + k * 8, ROW, 8); if (k == 16) continue; sum = coop_mat_mulAdd(x, y, sum); }}")
    used = np.r_[0:16, 24:32]
    exact = a[:, used].astype(float) @ b[used].astype(float)
    k.store("sum", F32, exact.astype(np.float32), 1e-2)
    yield k.case()


# --- native ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", THEMES)
def test_programs_are_valid_as_native_values(name: str) -> None:
    """An own reading of the disassembly: what devices are known to refuse is not in it."""
    cases = list(THEMES[name](np.random.default_rng(7), Target("native", 16)))
    module = coopmat.compile(program_text(cases), ["--matrices", "native"], name="cases.cl")
    module.validate()
    lines = [line.split(";")[0].split() for line in module.spirv_text.splitlines()]
    lines = [line for line in lines if line]
    made = {line[0]: line[2:] for line in lines if len(line) > 2 and line[1] == "="}
    code = [(line[2], line[3:]) if len(line) > 2 and line[1] == "=" else (line[0], line[1:]) for line in lines]
    names = {instruction for instruction, _ in code}
    assert "OpTypeCooperativeMatrixKHR" in names and "OpMatrixTimesScalar" not in names
    assert not [operands for _, operands in code if "LinkageAttributes" in operands]
    assert "Linkage" not in [operands[0] for name, operands in code if name == "OpCapability"]

    def type_of(value: str) -> list[str]:
        return made[made[value][1]]

    for instruction, operands in code:
        if instruction == "OpSelect":
            assert made[operands[0]][0] != "OpTypeCooperativeMatrixKHR"
        elif instruction in ("OpCooperativeMatrixLoadKHR", "OpCooperativeMatrixStoreKHR"):
            # After the result type, or the object: pointer, layout, stride.
            stride = operands[3]
            assert type_of(stride)[:2] == ["OpTypeInt", "64"]
            pointer = made[made[operands[1 if "Load" in instruction else 0]][1]]
            assert pointer[1] in ("CrossWorkgroup", "Workgroup", "UniformConstant")
        elif instruction == "OpTypeInt":
            assert operands[1] == "0"
        elif instruction in ("OpPtrAccessChain", "OpInBoundsPtrAccessChain"):
            # From a matrix to its neighbour at most, never into it.
            base = made[type_of(operands[1])[2]]
            assert base[0] != "OpTypeCooperativeMatrixKHR" or len(operands) == 3
    wanted = {"mul_add": "OpCooperativeMatrixMulAddKHR", "elements": "OpCooperativeMatrixLengthKHR"}
    assert wanted.get(name, "OpCooperativeMatrixStoreKHR") in names
    if name == "mul_add":
        masks = {operands[4] for instruction, operands in code if instruction == wanted[name] and len(operands) > 4}
        assert len(masks) > 8 and any("SaturatingAccumulation" in mask for mask in masks)
