"""Operations on matrices in control flow that parts the work-items of a subgroup: what is told, and what is not."""

from __future__ import annotations

import time

import pytest

from coopmat.compiler import compile
from coopmat.diagnostics import CompileError, Diagnostic

CODE = "coop-mat-nonuniform"
HEAD = """
#define M(NAME, USE) typedef float NAME __attribute__((coop_mat(memory_scope_sub_group, 16, 16, USE)));
M(F, CLK_COOPERATIVE_MATRIX_ACCUMULATOR) M(A, CLK_COOPERATIVE_MATRIX_A) M(B, CLK_COOPERATIVE_MATRIX_B)
#define LOAD coop_mat_load(p, 0, 16ul)
#define OP coop_mat_store(p, m, 0, 16ul)
void operate(global float *p) { F m = LOAD; }
void through(global float *p) { operate(p + 1); }
uint own(uint x) { return x + get_sub_group_local_id(); }
uint same(uint x) { return x * 2; }
uint shared(uint x) { return sub_group_broadcast(x, 0); }
uint early(uint x) { if (x > 3) return 1; return 0; }
void put(uint x, private uint *to) { *to = x; }
"""
KERNEL = "kernel {} void k(global float *p, global uint *g, uint n) {{ F m = coop_mat_init(0.0f); {} }}"


def findings(body: str, attributes: str = "") -> list[Diagnostic]:
    module = compile(HEAD + KERNEL.format(attributes, body), ["-Wno-everything", f"-W{CODE}"])
    return module.diagnostics


# `§` before what is told of; then what the notes' places say, without the blanks.
POSITIVE = {
    "id": ("if (get_local_id(0) == 0) §OP;", ["get_local_id(0) == 0", "get_local_id(0)"]),
    "variables": (
        "uint x = get_global_id(0); uint y = x * 2; y += 1; if (y > n) §OP;",
        ["y > n", "y += 1", "x * 2", "get_global_id(0)", "get_global_id(0)"],
    ),
    "lane": (
        "if (get_sub_group_local_id() & 1) { } else §m = m + m;",
        ["get_sub_group_local_id() & 1", "get_sub_group_local_id()"],
    ),
    "loop": ("for (uint i = 0; i < get_local_id(0); i++) §m = LOAD;", None),
    "loop starts": ("for (uint i = get_local_id(0); i < n; i += 8) §OP;", None),
    "while": ("uint i = g[get_local_id(0)]; while (i--) §OP;", None),
    "do": ("uint i = get_local_id(0); do §OP; while (i--);", None),
    "return": ("if (get_global_id(0) >= n) return; §OP;", ["return;", "get_global_id(0) >= n", "get_global_id(0)"]),
    "return in a loop": ("for (uint i = 0; i < n; ++i) { §OP; if (i == get_local_id(0)) return; }", None),
    "break": ("for (uint i = 0; i < n; ++i) { §OP; if (i == get_local_id(0)) break; }", None),
    "continue": ("for (uint i = 0; i < n; ++i) { if (i == get_local_id(0)) continue; §OP; }", None),
    "switch": ("switch (get_local_id(0)) { case 1: §OP; break; default: break; }", None),
    "break of a switch": ("switch (n) { case 1: if (get_local_id(0)) break; §OP; }", None),
    "goto": ("if (get_local_id(0)) goto end; §OP; end: OP;", None),
    "goto back": ("uint i = get_local_id(0); again: §OP; if (i-- > 0) goto again; OP;", None),
    "memory": (
        "uint x = g[get_local_id(0)]; if (x) §OP;",
        ["x", "g[get_local_id(0)]", "g[get_local_id(0)]", "get_local_id(0)"],
    ),
    "component": ("if (m[0] > 0) §OP;", ["m[0] > 0", "m[0]"]),
    "coordinate": ("if (coop_mat_coord(m, 0u).x > 3) §OP;", None),
    "atomic": ("if (atomic_inc(g) == 0) §OP;", ["atomic_inc(g) == 0", "atomic_inc(g)"]),
    "explicit atomic": ("if (atomic_fetch_add((global atomic_uint *)g, 1u) == 0) §OP;", None),
    "scan": ("if (sub_group_scan_inclusive_add(n) == 3) §OP;", None),
    "shuffle": ("if (sub_group_shuffle_xor((uint)get_local_id(0), 1u) == 3) §OP;", None),
    "shuffle from its own": ("if (sub_group_shuffle((uint)get_local_id(0), get_sub_group_local_id()) == 3) §OP;", None),
    "elect": ("if (sub_group_elect()) §OP;", None),
    "short circuit": ("int x = get_local_id(0) && (§m = LOAD, 1);", None),
    "conditional": ("m = get_local_id(0) ? §m + m : m;", None),
    "call": ("if (get_local_id(0)) §operate(p);", None),
    "call of a call": ("if (get_local_id(0)) §through(p);", None),
    "result": ("if (own(n)) §OP;", ["own(n)", "own(n)"]),
    "argument": ("if (same(get_local_id(0))) §OP;", None),
    "argument that decides": ("if (early(get_local_id(0))) §OP;", None),
    "pointer to a variable": ("uint x = 0; put(get_local_id(0), &x); if (x) §OP;", None),
    "pointer of a builtin": ("float x; fract((float)get_local_id(0), &x); if (x > 0) §OP;", None),
    "set by some": (
        "uint x = 0; if (get_local_id(0)) x = 1; if (x) §OP;",
        ["x", "x = 1", "get_local_id(0)", "get_local_id(0)"],
    ),
    "set by a loop": ("uint i = 0; while (i < get_local_id(0)) ++i; if (i > 3) §OP;", None),
    "carried by a loop": (
        "uint x = 0, y = 0; for (int i = 0; i < 3; i++) { if (x) §OP; x = y; y = get_local_id(0); }",
        None,
    ),
    "array": ("uint x[2]; x[0] = 0; x[1] = get_local_id(0); if (x[1]) §OP;", None),
    "record": ("struct { uint a, b; } x; x.a = get_local_id(0); if (x.b) §OP;", None),
    "vector": ("uint2 x = (uint2)(0, get_local_id(0)); if (x.x) §OP;", None),
    "one of two": ("uint x = n ? 1 : get_local_id(0); if (x) §OP;", None),
    "once for each condition": ("if (get_local_id(0)) { §OP; OP; } if (get_local_id(0) > 3) §OP;", None),
}
NEGATIVE = {
    "arguments": "if (n > 3) OP; for (uint i = 0; i < n; ++i) OP;",
    "groups": "if (get_group_id(0) < get_num_groups(0) && get_sub_group_id() == 0) OP;",
    "broadcast": "if (sub_group_broadcast(get_local_id(0), 0)) OP;",
    "reduce": "if (sub_group_reduce_max((uint)get_local_id(0)) > 3) OP;",
    "any": "if (sub_group_any(get_local_id(0) == 3)) OP; if (work_group_all(get_local_id(0) < 3)) OP;",
    "shuffle": "if (sub_group_shuffle((uint)get_local_id(0), 1u) == 3) OP;",
    "own broadcast": "if (shared(get_local_id(0))) OP;",
    "same result": "if (same(n)) OP; if (early(n)) OP;",
    "the other dimensions": "if (get_local_id(1) == 0 && get_global_id(2) < n) OP;",
    "subgroup's number": "uint id = get_global_id(0); if (id / 16 < n) OP; if (get_local_id(0) >> 5 == 0) OP;",
    "by its size": "if (get_local_id(0) / get_sub_group_size() == 0) OP;",
    "by a variable": "uint w = get_max_sub_group_size(); uint l = (uint)get_local_id(0); if (l / w == 0) OP;",
    "rounded": "uint l = get_local_id(0) & ~15u; if (l < n) OP;",
    "afterwards": "if (get_local_id(0)) g[0] = 1; OP;",
    "after the loop": "for (uint i = get_local_id(0); i < n; i += 16) g[i] = 0; OP;",
    "the variable anew": "uint i; for (i = get_local_id(0); i < n; i += 16) g[i] = 0; for (i = 0; i < n; ++i) OP;",
    "after a break": "for (uint i = 0; i < n; ++i) { if (g[get_local_id(0)]) break; } OP;",
    "after a continue": "for (uint i = 0; i < n; ++i) { OP; if (i == get_local_id(0)) continue; g[i] = 0; }",
    "after a switch": "switch (get_local_id(0)) { case 1: g[1] = 1; break; default: break; } OP;",
    "uniform return": "if (n == 0) return; OP; if (get_local_id(0)) return;",
    "memory at one place": "if (g[n]) OP; g[0] = get_local_id(0); if (g[0]) OP;",
    "local memory": "local uint x; if (get_local_id(0) == 0) x = 3; barrier(CLK_LOCAL_MEM_FENCE); if (x) OP;",
    "components": "for (uint i = 0; i < coop_mat_length(m); ++i) m[i] = m[i] > 0 ? m[i] : 0; OP;",
    "own components": "if (get_local_id(0) == 0) m[0] = 1.0f; OP;",
    "after goto": "if (get_local_id(0)) goto end; g[0] = 1; end: OP;",
    "dead": "return; if (get_local_id(0)) OP;",
    "value of both": "uint x = get_local_id(0); x = n; if (x) OP;",
    "only the address": "OP; coop_mat_store(p + get_local_id(1), m, 0, 16ul);",
}


def marks(body: str) -> tuple[str, list[int]]:
    """The text without its marks, and their columns in the line that the kernel makes."""
    text = KERNEL.format("", body)
    columns = []
    while "§" in text:
        columns.append(text.index("§") + 1)
        text = text.replace("§", "", 1)
    return text, columns


@pytest.mark.parametrize("name", POSITIVE)
def test_told(name: str) -> None:
    body, path = POSITIVE[name]
    line, columns = marks(body)
    found = findings(body.replace("§", ""))
    assert [item.code for item in found] == [CODE] * len(columns)
    # An assignment is told of at what is operated on.
    for item, column in zip(found, columns, strict=True):
        assert item.span is not None and 0 <= item.span.column - column <= 4
    if path is not None:
        spans = [note.span for note in found[0].notes if note.span is not None]
        last = spans if spans[-1].line == item.span.line else spans[:-1]
        assert [line[span.column - 1 : span.end_column - 1] for span in last] == path


@pytest.mark.parametrize("name", NEGATIVE)
def test_not_told(name: str) -> None:
    assert findings(NEGATIVE[name]) == []


SIXTEEN = "__attribute__((intel_reqd_sub_group_size(16)))"


@pytest.mark.parametrize(
    ("attributes", "body", "told"),
    [
        ("__attribute__((reqd_work_group_size(4, 16, 1)))", "if (get_local_id(1)) OP;", True),
        ("__attribute__((reqd_work_group_size(16, 16, 1)))", "if (get_local_id(1)) OP;", False),
        (f"__attribute__((reqd_work_group_size(8, 16, 1))) {SIXTEEN}", "if (get_global_id(1)) OP;", True),
        (f"__attribute__((reqd_work_group_size(8, 2, 4))) {SIXTEEN}", "if (get_local_id(2)) OP;", False),
        ("__attribute__((reqd_work_group_size(1, 16, 1)))", "if (get_local_id(0)) OP;", False),
        (SIXTEEN, "if (get_local_id(0) / 8) OP;", True),
        (SIXTEEN, "if (get_local_id(0) / 32) OP;", False),
        ("", "if (get_local_id(0) / 4) OP;", True),
        ("", "if ((get_local_id(0) + n) / 16) OP;", True),
        ("", "if (get_local_id(0) % 64 / 16) OP; if ((get_local_id(0) & 127) >> 5) OP;", False),
        ("", "if (get_local_id(0) % 6 / 16) OP;", True),
        ("", "if ((get_local_id(0) & 5) >> 5) OP;", True),
        ("", "if (get_global_id(0) - get_local_id(0) > n) OP; if (get_local_id(0) - get_local_id(0) % 32) OP;", False),
        ("", "if (get_global_id(0) - 2 * get_local_id(0) > n) OP;", True),
        ("", "if ((get_local_id(1) * get_local_size(0) + get_local_id(0)) / 32 == n) OP;", False),
        ("", "uint id = get_local_id(0) + (get_local_id(1) << 5); if (id / n == 1) OP; if (id >> 5 & 1) OP;", False),
    ],
)
def test_sizes_that_are_known(attributes: str, body: str, told: bool) -> None:
    assert bool(findings(body, attributes)) == told


FUNCTIONS = """
void below(global float *p, uint x, uint n) { F m = LOAD; if (x < n) OP; }
void deeper(global float *p, uint n, uint y) { uint z = y + 1; below(p, z, n); }
void turns(global float *p, uint n) { F m = LOAD; for (uint i = 0; i < n; i++) m += m; }
void tile(global float *p, uint id, uint width) { F m = LOAD; if (id / width == 0) OP; if (id >> 4 == 1) OP; }
uint number(uint id) { return id / 32; }
struct S { uint id, n; };
void member(global float *p, struct S s) { F m = LOAD; if (s.n) OP; }
F chosen(F m, uint x) { if (x) return m; return m * 2; }
"""


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("below(p, §get_local_id(0), n);", ["OP", "get_local_id(0)"]),
        ("deeper(p, n, §g[get_local_id(0)] + 2);", ["OP", "g[get_local_id(0)]", "get_local_id(0)"]),
        ("deeper(p, §get_global_id(0), 3);", ["OP", "get_global_id(0)"]),
        ("turns(p, §get_sub_group_local_id());", ["m += m", "get_sub_group_local_id()"]),
        ("tile(p, 3, §get_local_id(0));", None),
        ("m = chosen(m, §get_local_id(0));", None),
        ("turns(p, n); deeper(p, n, 3); tile(p, get_local_id(0), 16); if (number(get_local_id(0))) OP;", []),
        ("struct S s = { get_local_id(0), n }; member(p, s); deeper(p, get_group_id(0), get_local_id(1));", []),
        ("uint w = get_max_sub_group_size(); tile(p, get_global_id(0), w); m = chosen(m, w); m = chosen(m, n);", []),
    ],
)
def test_arguments_that_decide_about_an_operation(body: str, path: list[str] | None) -> None:
    """They are told of where they are given; the notes begin at the operation."""
    source = HEAD + FUNCTIONS + KERNEL.format("", body)
    found = compile(source.replace("§", ""), ["-Wno-everything", f"-W{CODE}"]).diagnostics
    lines = source.replace("§", "").split("\n")
    line = next(text for text in source.split("\n") if text.startswith("kernel"))
    assert [item.span and item.span.column for item in found] == ([line.index("§") + 1] if "§" in line else [])
    if path:
        spans = [note.span for note in found[0].notes if note.span is not None]
        assert [lines[span.line - 1][span.column - 1 : span.end_column - 1] for span in spans] == path


OPERANDS = {
    "load": ("m = coop_mat_load(§p + get_local_id(0), 0, 16ul); OP;", "the pointer of this load"),
    "address": ("m = coop_mat_load(§&p[get_global_id(0)], 0, 16ul); OP;", "the pointer of this load"),
    "store": ("global float *to = p + 16 * get_sub_group_local_id(); coop_mat_store(§to, m, 0, 16ul);", None),
    "pointer that moves": ("global float *to = p; to += get_local_id(0); coop_mat_store(§to, m, 0, 16ul);", None),
    "pointer from memory": ("coop_mat_store(p + §g[get_local_id(0)], m, 0, 16ul);", "the pointer of this store"),
    "stride": ("m = coop_mat_load(p, 0, §get_local_id(0)); OP;", "the stride of this load"),
    "stride of a store": ("coop_mat_store(p, m, 1, §16 + get_local_id(0));", "the stride of this store"),
    "row": ("m = coop_mat_load_checked(p, 0, n, §get_local_id(0), n, n, n); OP;", "the row where this tile starts"),
    "column": ("coop_mat_store_checked(p, m, 0, n, 0, §get_local_id(0), n, n);", "the column where this tile starts"),
    "rows": ("m = coop_mat_load_checked(p, 0, n, 0, 0, §get_local_id(0), n); OP;", None),
    "columns": ("m = coop_mat_load_checked(p, 0, n, 0, 0, n, §get_local_id(0)); OP;", None),
    "value": ("m = coop_mat_init(§(float)get_local_id(0)); OP;", "the value of this matrix"),
    "value from memory": ("float x = p[get_global_id(0)]; m = coop_mat_init(§x); OP;", "the value of this matrix"),
    "value of a component": ("F o = coop_mat_init(§m[0]); coop_mat_store(p, o, 0, 16ul);", None),
    "factor": ("m = m * §p[get_local_id(0)]; OP;", "the factor of this product"),
    "factor before": ("m = §(float)get_local_id(0) * m; OP;", "the factor of this product"),
    "compound factor": ("m *= §p[get_local_id(0)]; OP;", "the factor of this product"),
    "in one place by some": ("uint k = 0; if (get_local_id(0)) k = 1; coop_mat_store(§p + k, m, 0, 16ul);", None),
    "each": (
        "coop_mat_store(§p + get_local_id(0), m, 0, §get_local_id(0)); m *= §(float)get_local_id(0);",
        "the pointer of this store",
    ),
    "argument": ("operate(§p + get_local_id(0));", "the pointer of this load in 'operate'"),
    "argument of an argument": ("through(§p + get_local_id(0));", "the pointer of this load in 'operate'"),
    "value of an argument": ("m = scaled(m, §(float)get_local_id(0)); OP;", "the factor of this product in 'scaled'"),
}
UNIFORM_OPERANDS = {
    "groups": "coop_mat_store(p + get_group_id(0) * 256 + get_local_id(1) * 16, m, 0, n);",
    "the subgroup's number": "coop_mat_store(p + get_sub_group_id() * 256, m, 0, 16ul * get_num_sub_groups());",
    "by division": "uint tile = get_global_id(0) / get_max_sub_group_size(); coop_mat_store(p + tile * 256, m, 0, n);",
    "by a mask": "coop_mat_store(p + (get_global_id(0) & ~31u), m, 0, n);",
    "where the group begins": "coop_mat_store(p + get_global_id(0) - get_local_id(0), m, 0, n);",
    "the group's first": "uint first = get_global_id(0) - get_local_id(0); coop_mat_store(p + first, m, 0, n);",
    "where the subgroup begins": "coop_mat_store(p + (get_local_id(0) - get_sub_group_local_id()), m, 0, n);",
    "broadcast": "m *= sub_group_broadcast(p[get_local_id(0)], 0); OP;",
    "sum": "m *= sub_group_reduce_add(p[get_local_id(0)]); OP;",
    "memory": "m *= p[n]; coop_mat_store(p + g[get_group_id(0)], m, 0, (size_t)g[1]);",
    "local memory": "local float l[256]; l[get_local_id(0)] = 1; barrier(CLK_LOCAL_MEM_FENCE);"
    " m = coop_mat_load(l, 0, 16ul); m *= l[3]; OP;",
    "private memory": "float own[256]; own[get_local_id(0)] = 1; coop_mat_store((private float *)own, m, 0, 16);",
    "components": "for (uint i = 0; i < coop_mat_length(m); i++) m[i] *= p[get_local_id(0)]; OP;",
    "anew": "uint k = get_local_id(0); k = n; coop_mat_store(p + k, m, 0, 16ul);",
    "loops": "for (uint k = 0; k < n; k += 16) { m = coop_mat_load(p + k * n, 0, n); OP; } p[get_local_id(0)] = 1;",
    "never reached": "return; coop_mat_store(p + get_local_id(0), m, 0, 16ul);",
    "arguments": "operate(p + get_group_id(0)); m = scaled(m, p[3]); OP;",
}
SCALED = "F scaled(F m, float x) { m *= 2; return m * x; }\n"


@pytest.mark.parametrize("name", OPERANDS)
def test_operands_that_differ(name: str) -> None:
    """Pointers, strides, bounds and scalars; in functions they are told of where arguments are given."""
    body, what = OPERANDS[name]
    source = HEAD + SCALED + KERNEL.format("", body.replace("§", ""))
    found = compile(source, ["-Wno-everything", f"-W{CODE}"]).diagnostics
    _, columns = marks(body)
    assert [item.code for item in found] == [CODE] * len(columns)
    if "p + §" not in body:
        assert [item.span.column for item in found if item.span] == columns
    assert all(item.notes[-1].span for item in found)
    if what is not None:
        assert found[0].message == f"{what} is not the same for all work-items of a subgroup"


@pytest.mark.parametrize("name", UNIFORM_OPERANDS)
def test_operands_that_do_not(name: str) -> None:
    source = HEAD + SCALED + KERNEL.format("", UNIFORM_OPERANDS[name])
    assert compile(source, ["-Wno-everything", f"-W{CODE}"]).diagnostics == []


SHARED = """
typedef float W __attribute__((coop_mat(memory_scope_work_group, 32, 32, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
uint number(void) { return get_sub_group_id(); }
void twice(global float *q, uint x) { W w = coop_mat_load(q, 0, 32ul); if (x) coop_mat_store(q, w + w, 0, 32ul); }
"""
PUT = "coop_mat_store(p, w, 0, 32ul);"
WORK_GROUP = (
    "kernel __attribute__((reqd_work_group_size({}))) void k(global float *p, global uint *g, uint n)"
    " {{ F m = coop_mat_init(0.0f); W w = coop_mat_init(0.0f); {} }}"
)


@pytest.mark.parametrize(
    ("body", "messages"),
    [
        (
            f"if (get_sub_group_id() == 0) {PUT}",
            ["this store is not reached by all work-items of a work-group together"],
        ),
        (f"if (get_sub_group_id() == 0) OP; {PUT}", []),
        ("w = coop_mat_load(p + number(), 0, 32ul);", ["the pointer of this load is not the same for"]),
        ("m = coop_mat_load(p + number(), 0, 32ul);", []),
        ("w *= (float)get_sub_group_id(); m *= (float)get_sub_group_id();", ["the factor of this product is not the"]),
        (f"if (get_local_id(0) / 16) {PUT}", ["this store is not reached"]),
        (f"if (get_local_id(0) / 64 || get_global_id(0) >> 6 & 1) {PUT}", []),
        (f"if (get_local_id(1)) {PUT}", ["this store is not reached"]),
        (f"if (get_local_id(2) || get_group_id(0)) {PUT}", []),
        (f"if (get_global_id(0) - get_local_id(0)) {PUT}", []),
        (f"if (get_local_id(0) - get_sub_group_local_id()) {PUT}", ["this store is not reached"]),
        (f"if (sub_group_any(n)) {PUT}", ["this store is not reached"]),
        (f"if (work_group_any(get_local_id(0))) {PUT}", []),
        (f"if (sub_group_broadcast(n, 0)) {PUT}", ["this store is not reached"]),
        (f"if (get_local_id(0)) {{ OP; {PUT} }}", ["this operation", "this store is not reached"]),
        (
            "twice(p, get_sub_group_id());",
            ["an operation on matrices in 'twice' is not reached by all work-items of a"],
        ),
        ("twice(p + get_group_id(0), n);", []),
    ],
)
def test_matrices_of_a_work_group(body: str, messages: list[str]) -> None:
    """What differs between subgroups is told of for matrices of a work-group, and of subgroups' matrices not."""
    source = HEAD + SHARED + WORK_GROUP.format("64, 2, 1", body)
    found = compile(source, ["-Wno-everything", f"-W{CODE}"]).diagnostics
    of_sub_group = "this store is not reached by all work-items of a subgroup"
    texts = [item.message.replace(of_sub_group, "this operation") for item in found]
    assert len(texts) == len(messages), texts
    for text, message in zip(texts, messages, strict=True):
        assert text.startswith(message), texts
    for item in found:
        assert item.notes[-1].span is not None


def test_options() -> None:
    source = HEAD + KERNEL.format("", "if (get_local_id(0)) OP;")
    for options, count in (([], 1), (["-w"], 0), ([f"-Wno-{CODE}"], 0)):
        assert [item.code for item in compile(source, options).diagnostics].count(CODE) == count
    with pytest.raises(CompileError):
        compile(source, [f"-Werror={CODE}"])


def test_deep_and_long_code_takes_little_time() -> None:
    deep = "".join(f"for (uint i{n} = 0; i{n} < n; ++i{n}) " for n in range(60)) + "{ x += get_local_id(0); }"
    long = " + ".join(["x"] * 3000)
    calls = "".join(f"if (g[{n}] > x) m = m + m;\n" for n in range(400))
    start = time.process_time()
    found = findings(f"uint x = 0; {deep} x = {long};\n{calls}")
    assert len(found) == 400
    assert time.process_time() - start < 20


# On the route scratch, these operations contain barriers of the work-group.
EXCHANGES = """
M(T, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)
typedef signed4_t Nibbles __attribute__((coop_mat(memory_scope_sub_group, 16, 16, CLK_COOPERATIVE_MATRIX_A)));
float sum(float x, float y) { return x + y; }
F product(F m) { A a = coop_mat_init(1.0f); B b = coop_mat_init(1.0f); return coop_mat_mulAdd(a, b, m); }
"""
BY_THE_WORK_GROUP = {
    "multiply-add": (
        "A a = coop_mat_init(1.0f); B b = coop_mat_init(1.0f);"
        " if (get_sub_group_id() == 0) m = §coop_mat_mulAdd(a, b, m); OP;",
        "this multiply-add",
    ),
    "function": ("if (get_sub_group_id() == 0) m = §product(m); OP;", "the exchange of values in 'product'"),
    "transpose": ("if (get_sub_group_id() == 0) { T t = §coop_mat_transpose(m); m = t; } OP;", "this conversion"),
    "reduction": (
        "if (get_local_id(0) / get_sub_group_size() == 0)"
        " m = §coop_mat_reduce(m, CLK_COOPERATIVE_MATRIX_REDUCE_ROW, sum); OP;",
        "this reduction",
    ),
    "store to local memory": (
        "local float l[256]; if (get_sub_group_id() == 0) §coop_mat_store(l, m, 0, 16ul);",
        "this store",
    ),
    "subgroup function": (
        "if (get_sub_group_id() == 0) g[n] = §sub_group_reduce_add(n);",
        "this 'sub_group_reduce_add'",
    ),
    "barrier": ("if (get_sub_group_id() == 0) §sub_group_barrier(CLK_LOCAL_MEM_FENCE);", "this 'sub_group_barrier'"),
    "print": ('if (get_sub_group_id() == 0) §coop_mat_print(m, "m");', "this print"),
    "nibbles": (
        "Nibbles s = coop_mat_init(1);"
        " if (get_sub_group_id() == 0) §coop_mat_store((global signed4_t *)p, s, 0, 16ul);",
        "this store",
    ),
    "a loop": (
        "for (uint i = get_sub_group_id(); i < n; i += 4) m = §product(m); OP;",
        "the exchange of values in 'product'",
    ),
}
NOT_BY_THE_WORK_GROUP = {
    "loads, stores and operators": "if (get_sub_group_id() == 0) { F o = LOAD; m += o * 2; OP; }",
    "operands": "m = product(m); coop_mat_store(p + get_sub_group_id() * 256, m, 0, 16ul);",
    "queries": "if (get_sub_group_id() == 0) g[0] = get_sub_group_local_id() + sub_group_elect();",
    "blocks": "if (get_sub_group_id() == 0) intel_sub_group_block_write(g, intel_sub_group_block_read(g + n));",
    "groups": "if (get_group_id(0) < n) m = product(m); OP;",
}


@pytest.mark.parametrize("name", BY_THE_WORK_GROUP)
def test_the_route_scratch_needs_the_whole_work_group(name: str) -> None:
    body, what = BY_THE_WORK_GROUP[name]
    _, (column,) = marks(body)
    source = HEAD + EXCHANGES + KERNEL.format("", body.replace("§", ""))
    options = ["-Wno-everything", f"-W{CODE}", "--sub-group-size=16"]
    (found,) = compile(source, [*options, "--matrices=scratch"]).diagnostics
    assert found.span is not None and found.span.column == column
    needed = "not reached by all work-items of a work-group together, as the route scratch requires"
    assert found.message == f"{what} is {needed}"
    assert compile(source, [*options, "--matrices=lanes"]).diagnostics == []


@pytest.mark.parametrize("name", NOT_BY_THE_WORK_GROUP)
def test_operations_without_barriers_are_not_reported(name: str) -> None:
    source = HEAD + EXCHANGES + KERNEL.format("", NOT_BY_THE_WORK_GROUP[name])
    options = ["-Wno-everything", f"-W{CODE}", "--matrices=scratch", "--sub-group-size=16"]
    assert compile(source, options).diagnostics == []


@pytest.mark.parametrize("body", ["m = product(m);", "F o = coop_mat_init(1.0f); m = product(o);"])
def test_a_condition_of_work_items_is_reported_once_for_scratch(body: str) -> None:
    source = HEAD + EXCHANGES + KERNEL.format("", f"if (get_local_id(0) == 0) {{ {body} }} OP;")
    options = ["-Wno-everything", f"-W{CODE}", "--matrices=scratch", "--sub-group-size=16"]
    (found,) = compile(source, options).diagnostics
    assert found.message.endswith("is not reached by all work-items of a subgroup together")


@pytest.mark.parametrize(("items", "is_reported"), [(16, False), (32, True)])
def test_a_work_group_of_one_subgroup_is_executed_together(items: int, is_reported: bool) -> None:
    attributes = f"{SIXTEEN} __attribute__((reqd_work_group_size({items}, 1, 1)))"
    source = (
        HEAD + EXCHANGES + KERNEL.format(attributes, "if (get_sub_group_id() == 0) g[n] = sub_group_reduce_add(n);")
    )
    found = compile(source, ["-Wno-everything", f"-W{CODE}", "--matrices=scratch", "--sub-group-size=16"]).diagnostics
    assert bool(found) is is_reported
