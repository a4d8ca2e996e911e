"""Functions of vectors give what the functions of scalars give that they are made from, bit for bit."""

from __future__ import annotations

import random

import numpy as np
import pytest
from opencl_devices import sub_group_device

import coopmat

HEAD = """
#define USE CLK_COOPERATIVE_MATRIX_ACCUMULATOR
#define ACC(T) T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 6, 32, USE)))
typedef struct { float scale; uchar part[16]; } Block;
constant int table[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
"""
# By name: the functions, f(r, c, x, y, p, b, n) of floats the last of them.
FUNCTIONS = {
    "sum": "float f(ARGS) { return x + 2.0f * y - (float)r + c; }",
    "builtins": "float f(ARGS) { return fmax(sqrt(fabs(x)), exp(y)) + clamp(x, -0.5f, 0.5f); }",
    "choice": "float f(ARGS) { return x > y ? x - y : y * 0.5f; }",
    "mask": "float f(ARGS) { return c + n > 3 * r ? -INFINITY : x; }",
    "truths": "float f(ARGS) { return (x > 0) + (y < x) * 2 + !(x > y); }",
    "logic": "float f(ARGS) { return x > 0 && y > 0 || c == 5 ? 1.0f : 0.0f; }",
    "early": "float f(ARGS) { if (x < 0) return -1.0f; if (y < 0) return x; return x * y; }",
    "local": "float f(ARGS) { float z = x; if (y > z) z += y; else z -= 1; z *= 2; return z; }",
    "uniform-branch": "float f(ARGS) { float z = x; if (n & 1) z = y; else { z = x + y; } return z; }",
    "uniform-end": "float f(ARGS) { if (r == 2) return y; if (n == 3) return x + 1; return x - 1; }",
    "loop": "float f(ARGS) { float z = 0; for (int i = 0; i < 5; ++i) { if (x > i) z += x; z += i; } return z; }",
    "break": "float f(ARGS) { float z = x; for (uint i = 0; i < 9; i++) { if (i == n) break; z += y; } return z; }",
    "neighbours": "float f(ARGS) { return x + p[c] * p[r]; }",
    "from": "float f(ARGS) { return p[r * 32 + c] + p[n + c]; }",
    "wrapped": "float f(ARGS) { return p[c - 5 < 40u ? c - 5 : 0] + p[c + 0xfffffff8u < 16u ? c + 0xfffffff8u : 7]; }",
    "signed": "float f(ARGS) { int k = (int)c - 4; return k >= 0 ? p[k] : x; }",
    "gathered": "float f(ARGS) { return p[(c * 7 + r) % 32] + table[c & 7]; }",
    "inside": "float f(ARGS) { return r < 4 && c < 21 ? p[r * 21 + c] : 0.0f; }",
    "blocks": "float f(ARGS) { const global Block *k = b + c / 16; return k->scale * (k->part[c % 16] & 15); }",
    "halves": "float f(ARGS) { uchar q = b[0].part[c % 16]; return (c % 32 < 16 ? q & 15 : q >> 4) - 8; }",
    "bool": "float f(ARGS) { const bool in = x > y && c < 20; return in ? p[c] : (float)in + (bool)x; }",
    "quotient": "float f(ARGS) { int d = (int)(y * 4); return d != 0 ? 100 / d : -1; }",
    "integers": "float f(ARGS) { uint k = (c << 3 ^ r) * 2654435761u; return (float)(k >> 20) + (char)(c * 37); }",
    "called": "float g(float u, float v) { if (u > v) return u; return v + 1; }"
    " float f(ARGS) { return g(x, y) + g(y, 0); }",
    "relations": "float f(ARGS) { return isnan(x / 0.0f * 0.0f) + isgreater(x, y) + signbit(y); }",
    "bits": "float f(ARGS) { return as_float(as_uint(x) & 0xffff0000u) + popcount(as_int(y)); }",
    "counted": "float f(ARGS) { float z = x; int i = 0; while (z < 8) { z = fabs(z) * 2 + 1; i++; } return i; }",
    "array": "float f(ARGS) { float z[4] = { x, y, x + y, x - y }; return z[c & 3]; }",
    "changed-parameter": "float f(ARGS) { x += y; c += 2; return x * c; }",
}
# What is left as a function of scalars, because it has no vectors.
SCALAR = {"counted", "array", "changed-parameter"}
ARGS = "uint r, uint c, float x, float y, const global float *p, const global Block *b, uint n"
KERNEL = """
kernel void k(const global float *x, const global float *y, const global float *p, const global Block *b, uint n,
              global float *o)
{
    ACC(float) u = coop_mat_load(x, 0, 32), v = coop_mat_load(y, 0, 32);
    coop_mat_store(o, coop_mat_map(u, v, f, p, b, n), 0, 32);
}
"""


def source(function: str) -> str:
    return HEAD + function.replace("ARGS", ARGS) + KERNEL


def results(text: str, route: str, n: int) -> np.ndarray:
    cl = pytest.importorskip("pyopencl")
    context = cl.Context([sub_group_device().handle])
    queue = cl.CommandQueue(context)
    rng = np.random.default_rng(n)
    x, y = (rng.uniform(-3, 3, (6, 32)).astype(np.float32) for _ in range(2))
    y[0, :8] = x[0, :8]
    p = rng.uniform(-1, 1, 256).astype(np.float32)
    b = np.zeros(8, dtype=[("scale", "f4"), ("part", "u1", (16,))])
    b["scale"], b["part"] = rng.uniform(0, 1, 8), rng.integers(0, 256, (8, 16))
    out = np.zeros((6, 32), np.float32)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=a) for a in (x, y, p, b, out)]
    size = 16 if route == "lanes" else 1
    options = ["-cl-opt-disable"] if route == "one" else []
    program = coopmat.Program(context, text).build(["--matrices", route, *options])
    program.k(queue, (size,), (size,), *buffers[:4], np.uint32(n), buffers[4])
    cl.enqueue_copy(queue, out, buffers[4])
    return out


@pytest.mark.parametrize("name", FUNCTIONS)
def test_vectors_give_what_scalars_give(name: str) -> None:
    text = source(FUNCTIONS[name])
    for n in (0, 3):
        np.testing.assert_array_equal(results(text, "one", n), results(text, "lanes", n))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_has_vectors_has_them(name: str) -> None:
    assert is_wide(source(FUNCTIONS[name])) == (name not in SCALAR)


def is_wide(text: str) -> bool:
    module = coopmat.compile(text, ["--matrices", "one", "--verify-passes"], name="f.cl")
    return "cm_operand_0_f_16" in module.opencl_c


# --- random functions --------------------------------------------------------------------------------


class Maker:
    """A random function of float values, which is exact and defined for all of them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = ["x", "y"]

    def value(self, depth: int) -> str:
        r = self.random
        if depth == 0:
            leaves = (r.choice(self.names), f"{r.randint(-4, 4)}.0f", "(float)c", "(float)r", "(float)n", self.load())
            return r.choice(leaves)
        a, b = self.value(depth - 1), self.value(depth - 1)
        return r.choice(
            (
                *(f"({a} {op} {b})" for op in "+-"),
                f"({a} * {r.choice(('0.5f', '2.0f', '-1.0f'))})",
                *(f"{f}({a}, {b})" for f in ("fmin", "fmax")),
                *(f"{f}({a})" for f in ("fabs", "floor", "trunc")),
                f"({self.truth(depth - 1)} ? {a} : {b})",
                f"(float)(int)clamp({a}, -99.0f, 99.0f)",
            )
        )

    def load(self) -> str:
        r = self.random
        index = r.choice(("c", "r * 32 + c", "c + n", "c * 3", "c / 4 + r", "(c ^ 5)", "c % 16", "n", "c - c % 8"))
        return f"p[({index}) % 256]" if r.random() < 0.5 else f"p[{index}]"

    def truth(self, depth: int) -> str:
        r = self.random
        if depth > 0 and r.random() < 0.4:
            a, b = self.truth(depth - 1), self.truth(depth - 1)
            return r.choice((f"({a} && {b})", f"({a} || {b})", f"!{a}"))
        whole = ("c < 16", "c >= 16", "c % 16 < 8", "r & 1", "n > 1", "c == r", "c > 3 * r + n")
        if r.random() < 0.4:
            return f"({r.choice(whole)})"
        return f"({self.value(max(0, depth - 1))} {r.choice(('<', '>=', '==', '!='))} {self.value(0)})"

    def statements(self, count: int, depth: int) -> list[str]:
        r, lines = self.random, []
        for _ in range(count):
            kind = r.randrange(6)
            if kind == 0:
                name = f"z{len(self.names)}"
                lines.append(f"float {name} = {self.value(2)};")
                self.names.append(name)
            elif kind == 1 and depth:
                known = len(self.names)
                lines.append(f"if ({self.truth(1)}) {{ {' '.join(self.statements(2, depth - 1))} }}")
                del self.names[known:]
            elif kind == 2 and depth:
                known, name = len(self.names), f"i{r.randrange(10**6)}"
                body = " ".join(self.statements(2, depth - 1))
                lines.append(f"for (int {name} = 0; {name} < {r.randint(1, 4)}; ++{name}) {{ {body} }}")
                del self.names[known:]
            elif kind == 3 and not depth % 2:
                lines.append(f"if ({self.truth(1)}) return {self.value(1)};")
            else:
                lines.append(f"{r.choice(self.names)} {r.choice(('=', '+=', '-='))} {self.value(2)};")
        return lines

    def function(self) -> str:
        body = " ".join(self.statements(5, 2))
        return f"float f(ARGS) {{ {body} return {self.value(2)}; }}"


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_random_functions(first: int) -> None:
    wide = 0
    for seed in range(first, first + 8):
        text = source(Maker(seed).function())
        wide += is_wide(text)
        for n in (0, 2):
            np.testing.assert_array_equal(results(text, "one", n), results(text, "lanes", n), err_msg=f"seed {seed}")
    assert wide >= 2
