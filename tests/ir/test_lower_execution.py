"""Lowered functions run on the host and give what C says."""

from __future__ import annotations

import ctypes
import math
import struct

import pytest
from hypothesis import given, settings, strategies as st
from ir_support import Jit

INT_MAX, INT_MIN = 2**31 - 1, -(2**31)

CONTROL = """
int by_switch(int x) {
    int r = 0;
    switch (x) {
    case 1: r += 1;
    case 2: { r += 2; break; case 3: r += 100; }
    default: r += 1000; break;
    case 4: return 7;
    }
    return r;
}
int into_loop(int x, int n) {
    int count = 0;
    switch (x) {
        int y;
        while (n > 0) { case 1: count += 10; case 2: y = 1; count += y; --n; }
    }
    return count;
}
int by_goto(int n) { int s = 0, i = 0; again: if (i < n) { s += i; ++i; goto again; } return s; }
int jump_in(int x) { int s = 0; if (x) goto inside; if (s) { inside: s = 5; } return s; goto inside; }
int loops(int n) {
    int s = 0;
    for (int i = 0; i < n; ++i) {
        if (i == 3) continue;
        if (i > 7) break;
        int j = 0;
        do { if (j == 2) continue; s += j; } while (++j < i);
        while (j --> 0) s ^= j;
    }
    return s;
}
int endless(int n) { for (;;) { if (n-- < 0) break; if (n == 5) return 55; } return n; }
int chain(int x) { if (x < 1) return 1; else if (x < 2) x = 20; else if (x < 3) return 3; else x = 40; return x; }
int choose(int x) { return x > 3 ? x > 5 ? 1 : 2 : x < -3 ? 3 : 4; }
int after_return(int x) { return x; x = 3; while (x) { x--; } return 9; }
int count_evaluations(int a, int b) {
    int n = 0;
    bool r = (++n, a) && (++n, b) || (n += 10, !a);
    return n * 2 + r;
}
int not_in_branch(int a, int b) { if (!(a && !(b || a > 3))) return 1; return 2; }
int constants(int a) { int n = 0; if (0 && ++n) n = 100; if (1 || ++n) n += 1; if (0) { n = 5; } return n + (a && 0); }
int unrolled(int n) {
    int s = 0;
    __attribute__((opencl_unroll_hint)) for (int i = 0; i < 8; ++i) s += i * n;
    __attribute__((opencl_unroll_hint(2))) while (n > 0) { if (n-- == 3) continue; s += n; }
    __attribute__((opencl_unroll_hint(1))) do s += 1; while (s < 10);
    return s;
}
"""


@pytest.fixture(scope="module")
def control() -> Jit:
    return Jit(CONTROL)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        *[("by_switch", (x,), r) for x, r in [(0, 1000), (1, 3), (2, 2), (3, 1100), (4, 7), (-1, 1000)]],
        *[("into_loop", (x, n), r) for x, n, r in [(0, 3, 0), (1, 3, 33), (2, 3, 23), (1, 0, 11)]],
        *[("by_goto", (n,), sum(range(n))) for n in (0, 1, 10)],
        *[("jump_in", (x,), r) for x, r in [(0, 0), (1, 5)]],
        *[("endless", (n,), r) for n, r in [(3, -2), (9, 55), (-5, -6)]],
        *[("chain", (x,), r) for x, r in [(0, 1), (1, 20), (2, 3), (3, 40)]],
        *[("choose", (x,), r) for x, r in [(6, 1), (5, 2), (-4, 3), (0, 4)]],
        ("after_return", (4,), 4),
        *[("count_evaluations", (a, b), r) for a, b, r in [(0, 1, 23), (1, 1, 5), (1, 0, 24)]],
        *[("not_in_branch", (a, b), r) for a, b, r in [(0, 0, 1), (1, 0, 2), (1, 1, 1), (4, 0, 1)]],
        *[("constants", (a,), 1) for a in (0, 1)],
        *[("unrolled", (n,), 28 * n + sum(i for i in range(n) if i != 2) + 1) for n in (1, 5)],
    ],
)
def test_control_flow(control: Jit, name: str, arguments: tuple[int, ...], expected: int) -> None:
    assert control.int(name, *arguments) == expected


def test_loops_match_python(control: Jit) -> None:
    def loops(n: int) -> int:
        s = 0
        for i in range(n):
            if i == 3:
                continue
            if i > 7:
                break
            j = 0
            while True:
                if j != 2:
                    s += j
                j += 1
                if j >= i:
                    break
            while j > 0:
                j -= 1
                s ^= j
        return s

    assert [control.int("loops", n) for n in range(12)] == [loops(n) for n in range(12)]


OBJECTS = """
typedef struct { char c; float3 v; int a[3]; } S;
typedef union { int i; float f; uchar b[8]; } U;
typedef struct __attribute__((packed)) { char c; int i; S s; U u; } P;
typedef struct __attribute__((aligned(32))) { int x; } Wide;
typedef struct { char c; Wide w[2]; } Holder;
constant int table[4] = {1, 2, 3, 4};
constant float weights[2][2] = {{1.5f, 2.5f}, {3.5f}};
constant S record = {1, (float3)(1.0f, 2.0f, 3.0f), {4, 5}};
constant U word = {7};
constant U words[3] = {{1}, {.f = 2.0f}, {.b = {0, 1}}};
constant int *constant second = &table[1];
constant char text[6] = "ab";
S make(int x) { S s = {(char)x, (float3)(x), {x, x + 1, x + 2}}; return s; }
int sum(S s) { s.a[0] += s.c; return s.a[0] + s.a[1] + s.a[2] + (int)s.v.y; }
int by_value(int x) { S s = make(x); S t = s; t.a[1] = 9; int first = sum(t); return first * 1000 + sum(s); }
int unions(int x) { U u; u.i = 0x01020304; U v = u; v.b[0] = (uchar)x; return v.i; }
int pun(int x) { U u; u.f = 1.0f; u.b[7] = 3; return x ? u.i : words[1].i; }
int packed(int x) {
    P p; p.c = 1; p.i = x; p.s = make(x); p.u.i = 5; S *s = &p.s;
    return sum(p.s) + p.i + p.u.b[0] + s->a[2]; }
int aligned(int x) { Holder h = {1, {{x}, {x + 1}}}; Holder g = h; return g.w[1].x * 100 + sizeof(Holder); }
int constants(int i) {
    return table[i] + (int)weights[1][0] + record.a[i] + (int)record.v.z + word.i + words[2].b[1] + *second + text[1]; }
int arrays(int i) {
    int a[100] = {1, 2, 3}; a[i] += 10;
    int b[2][3] = {{1}, {4, 5}}; return a[i] + a[2] + a[50] + b[1][1] + b[0][2]; }
int big(int i) {
    int a[40] = {0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,
        20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39};
    return a[i];
}
int literal(int x) {
    S *s = &(S){1, (float3)(2.0f), {x}};
    return s->a[0] + s->a[2] + ((S){1, (float3)(2.0f), {3, 4, 5}}).a[1]; }
int selected(int x) { S s = make(1), t = make(2); S r = x ? s : t; return (x > 1 ? t : r).c * 10 + make(x).c; }
int assigned(int x) { S s, t, r; r = s = t = make(x); r.a[0] = 0; return sum(t) + s.a[0]; }
int strings(int i) { char s[] = "hello"; const constant char *p = "xyz"; return s[i] + p[i] + (int)sizeof(s); }
int pointers(int i) {
    int a[8] = {10, 11, 12, 13, 14, 15, 16, 17}; int *p = a + i, *q = &a[6]; p++; --q; *p++ = 3;
    return (int)(q - p) * 1000 + p[-1] + *p + (p < q) + (q != 0); }
int bytes(int x) { int a[2] = {x, 0x11223344}; char *p = (char *)a; return *(short *)(p + 4) + p[7]; }
int casts(int x) { int y = x; ulong n = (ulong)&y; return *(int *)n; }
int volatiles(int x) { volatile int v = x; v += 2; v++; return v; }
"""
S_FIELDS = {x: x + x + (x + 1) + (x + 2) + x for x in range(10)}


@pytest.fixture(scope="module")
def objects() -> Jit:
    return Jit(OBJECTS)


@pytest.mark.parametrize(
    ("name", "argument", "expected"),
    [
        ("by_value", 3, (3 + 3 + 9 + 5 + 3) * 1000 + S_FIELDS[3]),
        ("unions", 0xFF, 0x010203FF),
        ("pun", 1, struct.unpack("i", struct.pack("f", 1.0))[0]),
        ("pun", 0, struct.unpack("i", struct.pack("f", 2.0))[0]),
        ("packed", 4, S_FIELDS[4] + 4 + 5 + 6),
        ("aligned", 2, 300 + 96),
        ("constants", 1, 2 + 3 + 5 + 3 + 7 + 1 + 2 + ord("b")),
        ("constants", 2, 3 + 3 + 0 + 3 + 7 + 1 + 2 + ord("b")),
        ("arrays", 1, 12 + 3 + 0 + 5 + 0),
        ("big", 37, 37),
        ("literal", 6, 6 + 0 + 4),
        ("selected", 0, 20),
        ("selected", 1, 11),
        ("selected", 2, 22),
        ("assigned", 5, S_FIELDS[5] + 5),
        ("strings", 1, ord("e") + ord("y") + 6),
        ("pointers", 1, 2 * 1000 + 3 + 13 + 1 + 1),
        ("bytes", 0, 0x3344 + 0x11),
        ("casts", 42, 42),
        ("volatiles", 5, 8),
    ],
)
def test_objects(objects: Jit, name: str, argument: int, expected: int) -> None:
    assert objects.int(name, argument) == expected


VECTORS = """
void run(global float4 *f, global int4 *i, global char3 *c, global uint2 *u) {
    float4 a = f[0]; int4 m = i[0];
    f[1] = m ? a : -a;
    f[1].xz = a.yw;
    f[2] = a; f[2].s3 += 2.0f; f[2].xyzw = f[2].wzyx;
    f[3] = a > 2.0f ? a : (float4)(1.0f);
    f[4] = (float4)(a.xy, a.z, 9.0f);
    i[1] = a < f[2];
    i[2] = (m == 0) || (m > 5); i[3] = !m; i[4] = ~m << (int4)(1, 33, 2, 0);
    i[5] = as_int4(a); i[6] = convert_int4(a);
    c[1] = c[0].zxy; c[1].y = 5; c[2] = (char3)(1); c[2].lo = (char2)(7, 8);
    float3 three = as_float3(m); i[7] = as_int4(three); i[7].w = 0;
    uint2 w = u[0]; w %= 7u; w++; w.x ^= 0xffu; u[1] = w; u[2] = u[0] >> 3; u[3].s10 = u[0];
}
"""


def test_vectors() -> None:
    f, i, c, u = (ctypes.c_float * 20)(), (ctypes.c_int32 * 32)(), (ctypes.c_int8 * 12)(), (ctypes.c_uint32 * 8)()
    f[:4] = [1.5, 2.5, -3.5, 4.5]
    i[:4] = [0, -1, 5, 7]
    c[:3] = [1, 2, 3]
    u[:2] = [100, 0xFFFFFFFF]
    Jit(VECTORS).call("run", None, *(ctypes.cast(x, ctypes.c_void_p) for x in (f, i, c, u)))
    # A component chooses by its most significant bit.
    assert f[4:8] == [2.5, 2.5, 4.5, -4.5]
    assert f[8:12] == [6.5, -3.5, 2.5, 1.5]
    assert f[12:16] == [1.0, 2.5, 1.0, 4.5]
    assert f[16:20] == [1.5, 2.5, -3.5, 9.0]
    assert i[4:8] == [-1 if x < y else 0 for x, y in zip(f[:4], f[8:12], strict=True)]
    assert i[8:12] == [-1, 0, 0, -1]
    assert i[12:16] == [-1, 0, 0, 0]
    assert i[16:20] == [-2, 0, -24, -8]
    assert i[20:24] == list(struct.unpack("4i", struct.pack("4f", *f[:4])))
    assert i[24:28] == [1, 2, -3, 4]
    assert i[28:32] == [0, -1, 5, 0]
    assert c[4:7] == [3, 5, 2]
    assert c[8:11] == [7, 8, 1]
    assert u[2:4] == [(100 % 7 + 1) ^ 0xFF, 0xFFFFFFFF % 7 + 1]
    assert u[4:6] == [100 >> 3, 0xFFFFFFFF >> 3]
    assert u[6:8] == [0xFFFFFFFF, 100]


SCALARS = """
float to_float(double x) { return (float)x; }
int to_int(float x) { return (int)x; }
uchar to_uchar(float x) { return (uchar)x; }
float from_uint(uint x) { return (float)x; }
float from_bool(float x) { bool b = x; return b + 0.5f; }
int flip(int x) { bool b = x; b++; b--; bool c = x; --c; return b * 10 + c; }
int compare(float a, float b) {
    return (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 | (a != b) << 5 | (!a) << 6;
}
float steps(float x) { float y = x++; x -= 0.5f; return y * 100.0f + --x; }
short narrow(short x) { x *= 3; x <<= 2; x += 1.5f; return x--; }
char wrap(char c) { c += 100; return c; }
long wide(int a, uint b) { return (long)a * b + (a < b); }
double mixed(int a, float b) { return a / 2 + b / 2 + 1e-3; }
float divided(float a, float b) { return -a / b; }
"""


@pytest.fixture(scope="module")
def scalars() -> Jit:
    return Jit(SCALARS)


def _float(x: float) -> float:
    return ctypes.c_float(x).value


def test_conversions(scalars: Jit) -> None:
    def run(name: str, result: type, *arguments: object) -> object:
        return scalars.call(name, result, *arguments)

    assert run("to_float", ctypes.c_float, ctypes.c_double(0.1)) == _float(0.1)
    assert [run("to_int", ctypes.c_int32, ctypes.c_float(x)) for x in (2.9, -2.9)] == [2, -2]
    assert run("to_uchar", ctypes.c_uint8, ctypes.c_float(200.7)) == 200
    assert run("from_uint", ctypes.c_float, ctypes.c_uint32(0xFFFFFF00)) == float(0xFFFFFF00)
    assert [run("from_bool", ctypes.c_float, ctypes.c_float(x)) for x in (0.0, 0.25, math.nan)] == [0.5, 1.5, 1.5]
    assert [scalars.int("flip", x) for x in (0, 7)] == [1, 0]
    assert run("narrow", ctypes.c_int16, ctypes.c_int16(5)) == 61
    assert run("wrap", ctypes.c_int8, ctypes.c_int8(100)) == -56
    assert run("wide", ctypes.c_int64, ctypes.c_int32(-2), ctypes.c_uint32(0xFFFFFFFF)) == -2 * 0xFFFFFFFF + 1
    assert run("mixed", ctypes.c_double, ctypes.c_int32(5), ctypes.c_float(3.0)) == 3.5 + 1e-3
    assert run("steps", ctypes.c_float, ctypes.c_float(2.0)) == 201.5
    assert run("divided", ctypes.c_float, ctypes.c_float(1.0), ctypes.c_float(0.0)) == -math.inf


@pytest.mark.parametrize("a", [0.0, -1.5, math.inf, math.nan])
@pytest.mark.parametrize("b", [0.0, 2.0, math.nan])
def test_float_comparisons(scalars: Jit, a: float, b: float) -> None:
    outcomes = (a < b, a <= b, a > b, a >= b, a == b, a != b, not a)
    found = scalars.call("compare", ctypes.c_int32, ctypes.c_float(a), ctypes.c_float(b))
    assert found == sum(outcome << bit for bit, outcome in enumerate(outcomes))


# --- random integer expressions --------------------------------------------------------------------

BITS = {"char": 8, "uchar": 8, "short": 16, "ushort": 16, "int": 32, "uint": 32, "long": 64, "ulong": 64}
COMPUTED = ("int", "uint", "long", "ulong")
VARIABLES = ("a", "b", "c")
Expression = tuple[str, str, object]
"""C text with all its conversions written out, its type, and its value as a function of a, b and c."""


def _wrapped(t: str, value: int) -> int:
    bits = BITS[t]
    value &= (1 << bits) - 1
    return value - (1 << bits) if not t.startswith("u") and value >> (bits - 1) else value


def _unsigned(t: str) -> str:
    return t if t.startswith("u") else f"u{t}"


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


OPERATORS = {
    "+": lambda t, a, b: _wrapped(t, a + b),
    "-": lambda t, a, b: _wrapped(t, a - b),
    "*": lambda t, a, b: _wrapped(t, a * b),
    "&": lambda t, a, b: _wrapped(t, a & b),
    "|": lambda t, a, b: _wrapped(t, a | b),
    "^": lambda t, a, b: _wrapped(t, a ^ b),
    "<<": lambda t, a, b: _wrapped(t, a << b % BITS[t]),
    ">>": lambda t, a, b: _wrapped(t, a >> b % BITS[t]),
}
RELATIONS = {
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "&&": lambda a, b: int(bool(a and b)),
    "||": lambda a, b: int(bool(a or b)),
}


def _leaf(t: str) -> st.SearchStrategy[Expression]:
    values = st.integers(-(2**63), 2**63 - 1).map(lambda v: _wrapped(t, v))
    constants = values.map(lambda v: (f"({t}){v & 0xFFFFFFFFFFFFFFFF}ul", t, lambda env, v=v: v))
    names = st.sampled_from(VARIABLES).map(lambda n: (f"({t}){n}", t, lambda env, n=n: _wrapped(t, env[n])))
    return st.one_of(constants, names)


@st.composite
def expressions(draw: st.DrawFn, t: str, depth: int) -> Expression:
    if depth == 0:
        return draw(_leaf(t))
    kind = draw(st.sampled_from(["binary", "binary", "divide", "relation", "choice", "cast", "unary", "leaf"]))
    if kind == "leaf":
        return draw(_leaf(t))
    if kind == "cast":
        source = draw(st.sampled_from(COMPUTED))
        middle = draw(st.sampled_from(sorted(BITS)))
        text, _, value = draw(expressions(source, depth - 1))
        return f"({t})({middle})({text})", t, lambda env: _wrapped(t, _wrapped(middle, value(env)))
    if kind == "unary":
        text, _, value = draw(expressions(t, depth - 1))
        op, apply = draw(st.sampled_from([("-", lambda v: -v), ("~", lambda v: ~v), ("!", lambda v: int(v == 0))]))
        if op == "-":
            text = f"({_unsigned(t)})({text})"  # the negation of the smallest value is undefined otherwise
        return f"({t}){op}({text})", t, lambda env: _wrapped(t, apply(value(env)))
    if kind == "relation":
        operands = draw(st.sampled_from(COMPUTED))
        left, right = draw(expressions(operands, depth - 1)), draw(expressions(operands, depth - 1))
        op = draw(st.sampled_from(sorted(RELATIONS)))
        return f"({t})({left[0]} {op} {right[0]})", t, lambda env: RELATIONS[op](left[2](env), right[2](env))
    left, right = draw(expressions(t, depth - 1)), draw(expressions(t, depth - 1))
    if kind == "choice":
        condition = draw(expressions(draw(st.sampled_from(COMPUTED)), depth - 1))
        text = f"(({condition[0]}) ? ({left[0]}) : ({right[0]}))"
        return text, t, lambda env: left[2](env) if condition[2](env) else right[2](env)
    if kind == "divide":
        # Neither by zero nor the one quotient that overflows.
        op, low = draw(st.sampled_from(["/", "%"])), (1 << (BITS[t] - 2)) - 1
        text = f"(({left[0]}) {op} (({t})(({right[0]}) & ({t}){low}ul) + ({t})1))"

        def divided(env: dict[str, int]) -> int:
            a, b = left[2](env), (right[2](env) & low) + 1
            return _quotient(a, b) if op == "/" else a - b * _quotient(a, b)

        return text, t, divided
    op = draw(st.sampled_from(sorted(OPERATORS)))
    text = f"(({left[0]}) {op} ({right[0]}))"
    if op in "+-*":  # where signed results do not fit, C leaves them undefined
        text = f"(({t})(({_unsigned(t)})({left[0]}) {op} ({_unsigned(t)})({right[0]})))"
    return text, t, lambda env: OPERATORS[op](t, left[2](env), right[2](env))


@settings(max_examples=40)
@given(st.data())
def test_integer_expressions(data: st.DataObject) -> None:
    chosen = [data.draw(expressions(t, 3)) for t in COMPUTED]
    source = "".join(
        f"{t} f{n}(long a, long b, long c) {{ return {text}; }}\n" for n, (text, t, _) in enumerate(chosen)
    )
    jit = Jit(source)
    edges = st.sampled_from([0, 1, -1, INT_MAX, INT_MIN, 2**63 - 1, -(2**63)])
    env = {name: data.draw(st.one_of(edges, st.integers(-(2**63), 2**63 - 1))) for name in VARIABLES}
    for n, (_, t, value) in enumerate(chosen):
        found = jit.call(
            f"f{n}", ctypes.c_int64 if BITS[t] == 64 else ctypes.c_int32, *map(ctypes.c_int64, env.values())
        )
        assert _wrapped(t, found) == value(env)
