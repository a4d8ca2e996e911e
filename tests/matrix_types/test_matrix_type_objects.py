"""Objects of matrix types as C has them: members, arrays, pointers, parameters, effects within expressions."""

from __future__ import annotations

import numpy as np
import pytest
from differential import Launch, execute
from opencl_devices import PLATFORMS, device_of

import coopmat
from coopmat.options import CompileOptions
from coopmat.runtime import resolve_options

SOURCE = """
typedef int m2 __attribute__((matrix_type(2, 2)));
typedef int m23 __attribute__((matrix_type(2, 3)));
typedef int r13 __attribute__((matrix_type(1, 3)));
typedef int one __attribute__((matrix_type(1, 1)));
struct deep { char tag; m2 m; union { m23 w; int parts[6]; } u; };
struct __attribute__((packed)) tight { char tag; m2 m; m2 more[2]; };
static struct deep filled(struct deep d, int by) { d.m += by; d.u.w[1][2] = by; return d; }
static m2 doubled(m2 m) { return m * 2; }
static void bump(m2 *p, int n) { while (n--) *p += 1; }
static m2 *next(m2 *p, int *count) { ++*count; return p; }
m2 prototype(m2 a);

kernel void objects(global const m2 *given, global int *o, global struct deep *deeps, global struct tight *tights,
                    volatile global m2 *seen)
{
    m2 a = given[0], b = (m2)0, many[3] = { a, }, *p = many;
    const m2 c = a * a, d = a;
    volatile m2 v = a + a;
    struct deep zero = { 0 }, s = { .tag = 1, .m = a * 2 };
    struct tight t = { 2, a - 1 };
    int count = 0;
    for (const m2 step = a * 3; count < 2; count++)
        many[count + 1] = many[count] - step;
    *p++ += c;
    *next(p, &count) *= 2;
    many[count++ - 2] -= d;
    o[0] = count;
    o[1] = (a * a)[0][1] + doubled(a)[1][0] + (count ? a : b)[1][1];
    s = filled(s, 7);
    o[2] = s.u.parts[5] + zero.u.w[0][0] + filled(s, 3).m[1][1];
    t.m = t.m * a;
    t.more[1] = t.m + t.m;
    t.more[0] = (t.more[1][0][0] += 5, t.more[1]);
    v = v * v;
    *seen = *seen + v;
    b = a = *seen;
    bump(&a, 3);
    bump((m2 *)&s.u.parts[1], 2);
    m23 w = (m23)1;
    w[0][count - 4]++;
    w[1][1] = w[0][1]-- * 4;
    (void)(w * 2);
    int3 row = (int3)__builtin_matrix_row(w, 1);
    w = __builtin_matrix_insert_row(w, 0, (r13)(row + (int3)(1, 2, 3)));
    o[3] = (int)(one)5 + (int)__builtin_matrix_row(__builtin_matrix_column(w, 2), 1);
    switch (count) {
    default:
        ;
        m2 inside = prototype(a);
        o[4] = inside[0][0];
    }
    for (int i = 0; i < 3; i++)
        __builtin_matrix_row_major_store(many[i], o + 5 + 4 * i);
    __builtin_matrix_column_major_store(w, o + 17);
    __builtin_matrix_column_major_store(a, o + 23);
    __builtin_matrix_column_major_store(b, o + 27);
    *(global m2 *)(o + 31) = *(private m2 *)&s.u.parts[1];
    deeps[0] = s;
    tights[0] = t;
    o[35] = sizeof(struct tight) * 100 + sizeof(m23) + _Alignof(m2);
}

m2 prototype(m2 a) { return a[0][0] > 0 ? a * -1 : a; }
"""
DEEP = np.dtype([("tag", "i1"), ("padding", "V3"), ("m", "4i4"), ("parts", "6i4")])
TIGHT = np.dtype([("tag", "i1"), ("m", "4i4"), ("more", "8i4")])
# Column by column, but for the three matrices in the second line.
NUMBERS = [
    *(4, 15 + 4 + 4, 7 + 0 + 18, 5 + 1, -32),
    *(8, 18, 12, 26, -5, -15, -10, -20, -5, -15, -10, -20),
    *(2, 1, 6, 4, 4, 1, 32, 44, 65, 93, 29, 41, 62, 90, 2, 2, 2, 2, 49 * 100 + 24 + 4),
]


@pytest.mark.parametrize(("extra", "code"), [("cpu", "spirv"), *((extra, "c") for extra in PLATFORMS)])
def test_objects_are_cs(extra: str, code: str, capfd: pytest.CaptureFixture[str]) -> None:
    device = device_of(extra)
    wanted = CompileOptions.from_arguments(["--code", code, "--matrices", "auto", "-cl-std=CL2.0", "--no-validate"])
    module = coopmat.compile(SOURCE, resolve_options(wanted, device), name="objects.cl")
    given, seen = np.array([1, 2, 3, 4], np.int32), np.array([1, 1, 2, 2], np.int32)
    launch = Launch("objects", [given, np.zeros(36, np.int32), np.zeros(1, DEEP), np.zeros(1, TIGHT), seen])
    if code == "c":
        (found,) = execute(device, module.opencl_c, [launch], module.opencl_c_options)
    else:
        (found,) = execute(device, module.spirv, [launch])
    # What a simulator calls misaligned, say.
    assert "Invalid" not in capfd.readouterr().err
    assert found[1].tolist() == NUMBERS
    deep, tight = found[2][0], found[3][0]
    assert (deep["tag"], *deep["m"], *deep["parts"]) == (1, 9, 11, 13, 15, 0, 2, 2, 2, 2, 7)
    assert (tight["tag"], *tight["m"], *tight["more"]) == (2, 4, 7, 8, 15, 13, 14, 16, 30, 13, 14, 16, 30)
    assert found[4].tolist() == [29, 41, 62, 90]


COPIES = """
typedef int m __attribute__((matrix_type(3, 3)));
struct s { m a, b; };
static void multiplied(m *p, m v) { *p = v * *p; }
static void turned(struct s *p, struct s v) { p->a = v.b * v.a; p->b = __builtin_matrix_transpose(v.a); }
__attribute__((noinline)) static m both(m *p, m v) { *p = __builtin_matrix_transpose(v); return v; }
kernel void k(global m *x, global m *o)
{
    m a = *x;
    struct s t = { a, a + 1 };
    multiplied(&a, a);
    o[0] = a;
    turned(&t, t);
    o[1] = t.a, o[2] = t.b;
    a = *x;
    a = both(&a, a);
    o[3] = a;
    m many[2] = { a, a + 3 };
    many[0] = both(&many[1], many[0] * many[1]);
    o[4] = many[0], o[5] = many[1];
    many[1] = (many[0] = many[0] * many[1]) * many[1];
    o[6] = many[1];
}
"""


@pytest.mark.parametrize("options", [["-cl-opt-disable"], ["--code", "c"]], ids=["spirv", "c"])
def test_parameters_and_results_are_copies(options: list[str]) -> None:
    module = coopmat.compile(COPIES, ["--no-validate", *options], name="copies.cl")
    x = np.arange(9, dtype=np.int32).reshape(3, 3)
    launch = Launch("k", [np.ascontiguousarray(x.T), np.zeros((7, 3, 3), np.int32)])
    code = module.opencl_c if module.code == "c" else module.spirv
    (found,) = execute(device_of("cpu"), code, [launch], module.opencl_c_options)
    product = x @ (x + 3)
    expected = [x @ x, (x + 1) @ x, x.T, x, product, product.T, product @ product.T @ product.T]
    assert [m.T.tolist() for m in found[1]] == [m.tolist() for m in expected]


CONSTANTS = """
typedef float m __attribute__((matrix_type(2, 2)));
typedef short p __attribute__((matrix_type(2, 2, column_padding(1))));
struct s { int i; m x; p y[2]; };
constant m one = (m)1.5f, zero = (m)0;
constant struct s all = { 3, (m)(1 + 1), { (p)7, (p)-0.5f } };
constant m list[3] = { (m)1, (m)(m)2 };
kernel void k(global m *o, global short *q)
{
    m many[2] = { (m)4 };
    struct s t = { 1, (m)2 };
    o[0] = one + zero, o[1] = all.x * list[1], o[2] = list[0], o[3] = list[2];
    q[0] = all.y[0][1][1] + all.y[1][0][0];
    constant m *which = q[0] ? &one : &zero;
    o[4] = *which + many[0] + many[1] + t.x + (m)t.y[1];
}
"""


@pytest.mark.parametrize(("extra", "code"), [("cpu", "spirv"), ("cpu", "c"), ("pocl", "c")])
def test_constants_of_matrix_types(extra: str, code: str) -> None:
    device = device_of(extra)
    wanted = CompileOptions.from_arguments(["--code", code, "--matrices", "auto", "--no-validate"])
    module = coopmat.compile(CONSTANTS, resolve_options(wanted, device), name="constants.cl")
    launch = Launch("k", [np.zeros((5, 4), np.float32), np.zeros(1, np.int16)])
    made = module.opencl_c if code == "c" else module.spirv
    (found,) = execute(device, made, [launch], module.opencl_c_options)
    assert found[0].tolist() == [[number] * 4 for number in (1.5, 8, 1, 0, 7.5)] and found[1] == 7
