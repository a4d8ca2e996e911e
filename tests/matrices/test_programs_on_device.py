"""Larger programs with matrices, through the lowerings, against numpy; and native. Single operations: test_table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np
import pytest
from matrix_programs import TARGETS, Case, Kernel, Target, equal, program_text, run, spelled
from matrix_table import native

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.matrices.numpy_reference import Array, numpy_binary
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType, MatrixType, Use

F32, S8, F16 = (COMPONENT_TYPES[name] for name in ("f32", "s8", "f16"))
LANES = (8, 16, 32)
Item = TypeVar("Item")
Theme = Callable[[np.random.Generator, Target], Iterator[Case]]
THEMES: dict[str, Theme] = {}


def theme(function: Theme) -> Theme:
    THEMES[function.__name__] = function
    return function


@pytest.mark.covering
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


def share(items: Iterable[Item], target: Target) -> list[Item]:
    """All of them; for lanes each subgroup size gets a third: what differs between the sizes is little."""
    taken = list(items)
    return taken[LANES.index(target.sub_group_size) :: len(LANES)] if target.route == "lanes" else taken


# --- contexts --------------------------------------------------------------------------------------


@theme
def contexts(rng: np.random.Generator, target: Target) -> Iterator[Case]:
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
    # Components of values that are no objects.
    k.line("@M part = v; for (uint i = 0; i < coop_mat_length(part); i++) part[i] = (v + same)[i] + @twice(v)[i];")
    k.store("part", F32, whole * 3 + whole[0])
    k.store(f"((@M)coop_mat_load({p}, COLUMN, 4)) - @get({p})", F32, values.reshape(8, 4).T - whole)
    yield k.case()


@theme
def types_from_contexts(rng: np.random.Generator, target: Target) -> Iterator[Case]:
    """Braces, members, elements, operands, ?:, comma, overloads and returns tell a call its matrix type."""
    matrix = MatrixType(F32, 5, 7, Use.ACCUMULATOR)
    wide = MatrixType(COMPONENT_TYPES["f64"], 5, 7, Use.ACCUMULATOR)
    values = draw(rng, F32, 5, 7)
    k = Kernel("types from contexts")
    p, n = k.buffer(values.ravel(), "float"), k.scalar(np.int32(3), "int")
    k.outside.append(f"typedef {spelled(matrix)} @M; typedef {spelled(wide)} @W;")
    k.outside.append("struct @S { int n; @M m; }; struct @T { struct @S s[2]; @M more[2][2]; };")
    k.outside.append("__attribute__((overloadable)) @M @o(@M m, int n) { return m * n; }")
    k.outside.append("__attribute__((overloadable)) @M @o(@W w, const global float *p) { return (@M)w; }")
    k.outside.append("@M @made(int n) { if (n) return coop_mat_init(n); return -coop_mat_init(1); }")
    load = f"coop_mat_load({p}, ROW, 7)"
    k.line(
        f"struct @T t = {{ {{ 1, {load}, {{ 2, coop_mat_init({n}) }} }},",
        f"                {{ [1] = {{ coop_mat_init(5), {load} }} }} }};",
        f"t.more[0][1] = coop_mat_init(1) + {load}; t.more[0][0] = {n} * coop_mat_init(2) - t.s[0].m;",
        f"@M list[] = {{ [1] = {load}, coop_mat_init(7) }}; list[0] = (list[0] = list[1], list[1] / coop_mat_init(2));",
        f"list[1] += coop_mat_init({n}); @W w = coop_mat_convert(list[1]); struct @T copy = t, *q = &copy;",
        f"q->s[1].m -= {n} ? coop_mat_init(4) : list[0]; q->more[1][0][0] = 9;",
        "if (get_sub_group_local_id() == 0) { } t.more[1][1] = @made(0) + @made(6);",
    )
    ones = np.ones((5, 7), np.float32)
    k.store("t.s[0].m", F32, values)
    k.store("t.s[1].m", F32, ones * 3)
    k.store("copy.s[1].m", F32, -ones)
    k.store("t.more[0][0]", F32, 6 - values)
    k.store("t.more[0][1]", F32, 1 + values)
    k.store("t.more[1][0]", F32, ones * 5)
    k.store("t.more[1][1]", F32, ones * 5)
    k.store("list[0]", F32, values / 2)
    k.store("list[2]", F32, ones * 7)
    k.store("(@M)w", F32, values + 3)
    k.store(f"@o(-{load}, {n})", F32, values * -3)
    k.store(f"@o(w, {p})", F32, values + 3)
    k.store(f"({n} ? {load} : list[0]) + (@M){{ coop_mat_init(1) }}", F32, values + 1)
    yield k.case()


@theme
def jumps(rng: np.random.Generator, target: Target) -> Iterator[Case]:
    """Matrices in loops with break and continue, in a switch whose cases fall through, and behind private pointers."""
    s32 = COMPONENT_TYPES["s32"]
    matrix = MatrixType(s32, 6, 6, Use.ACCUMULATOR)
    for steps, choice in ((0, 0), (5, 1), (9, 2)):
        k = Kernel(f"jumps {steps} {choice}")
        k.outside.append(f"typedef {spelled(matrix)} @M; struct @S {{ @M m[2]; @M *p; }};")
        k.outside.append("@M *@pick(struct @S *s, int i) { s->p = &s->m[i & 1]; return s->p; }")
        n, c = k.scalar(np.int32(steps), "int"), k.scalar(np.int32(choice), "int")
        k.line(
            "struct @S s; s.m[0] = coop_mat_init(1); s.m[1] = coop_mat_init(2); @M sum = coop_mat_init(0);",
            "for (int i = 0; ; i++) {",
            f"    if (i == {n}) break;",
            "    if (i % 3 == 1) { *@pick(&s, i) += sum; continue; }",
            "    @M step = i & 1 ? s.m[0] : *@pick(&s, i + 1);",
            "    do { sum = sum + step; if (i == 6) break; step = -step; } while (0);",
            "}",
            f"switch ({c}) {{ case 0: sum = sum + coop_mat_init(10); case 1: sum = sum * 2; break;",
            "default: { @M other = sum; other = other * other; sum = other; } }",
        )
        a, b, total = 1, 2, 0
        for i in range(steps):
            if i % 3 == 1:
                a, b = (a, b + total) if i & 1 else (a + total, b)
                continue
            total += a if i & 1 else b
        total = {0: (total + 10) * 2, 1: total * 2}.get(choice, total * total)
        k.store("sum", s32, np.full((6, 6), total, np.int32))
        k.store("s.m[0]", s32, np.full((6, 6), a, np.int32))
        k.store("s.m[1]", s32, np.full((6, 6), b, np.int32))
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
        t, add = matrix.component, lambda x, y: numpy_binary("add", x, y)
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
        t, add = matrix.component, lambda x, y: numpy_binary("add", x, y)
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
        k.store("s", t, numpy_binary("sub", add(a, c), c))
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
        t, add = matrix.component, lambda x, y: numpy_binary("add", x, y)
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
    cases = list(THEMES[name](np.random.default_rng(7), Target("native", 16)))
    assert not native.faults(coopmat.compile(program_text(cases), ["--matrices", "native"], name="cases.cl"))
