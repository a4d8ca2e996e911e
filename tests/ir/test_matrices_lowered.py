"""Matrices in arrays, records, functions and behind pointers: right by reference, valid as native values."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from ir_support import lower_source

from coopmat.devices import DeviceInfo, opencl
from coopmat.spirv.emit import EmitOptions, emit
from coopmat.spirv.legalize import legalize
from coopmat.spirv.tools import validate

SIZE = 32
SOURCE = """
#define S CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
typedef float __attribute__((coop_mat(S, 16, 16, CLK_COOPERATIVE_MATRIX_A))) A;
typedef float __attribute__((coop_mat(S, 16, 16, CLK_COOPERATIVE_MATRIX_B))) B;
typedef float __attribute__((coop_mat(S, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR))) C;
typedef int __attribute__((coop_mat(S, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR))) CI;
typedef struct { int tag; C m; float s; C two[2]; } T;
C twice(C m) { m = m + m; return m; }
void bump(C *m) { *m = *m - (C)coop_mat_init(1.0f); (*m)[0] += 100.0f; }
T wrap(C m, float s) { T t; t.m = m; t.s = s; t.tag = 3; t.two[0] = m; t.two[1] = twice(m); return t; }
C pick(T t, int i) { return i ? t.two[1] : t.m; }
kernel void k(const global float *a, const global float *b, global float *c, int n) {
  C acc[2][2];
  for (int i = 0; i < 2; ++i) for (int j = 0; j < 2; ++j) acc[i][j] = coop_mat_init(0.0f);
  for (int k = 0; k < 32; k += 16) {
    A x[2]; B y[2];
    __attribute__((opencl_unroll_hint)) for (int i = 0; i < 2; ++i) x[i] = coop_mat_load(a + i * 16 * 32 + k, 0, 32);
    __attribute__((opencl_unroll_hint)) for (int j = 0; j < 2; ++j) y[j] = coop_mat_load(b + k * 32 + j * 16, 0, 32);
    for (int i = 0; i < 2; ++i) for (int j = 0; j < 2; ++j) acc[i][j] = coop_mat_mulAdd(x[i], y[j], acc[i][j]);
  }
  C z = acc[0][0];
  T t = wrap(acc[0][1], 2.0f);
  T u = t;
  u.m = -u.m;
  u.m *= u.s;
  acc[0][1] = n ? pick(u, n) : u.m;         // n = 0: -2 * acc ; n = 1: 2 * acc
  bump(&acc[1][0]);
  acc[1][0] = acc[1][0] + (C)coop_mat_init(1.0f);
  CI ci = (CI)acc[1][1];
  acc[1][1] = (C)(ci * 2 / (ci - ci + (CI)coop_mat_init(2)));
  for (int i = 0; i < 2; ++i) for (int j = 0; j < 2; ++j) coop_mat_store(c + i * 16 * 32 + j * 16, acc[i][j], 0, 32);
}
"""


def _spirv(matrices: str) -> bytes:
    module = lower_source(SOURCE, matrices=matrices)
    emitted = emit(module.text, EmitOptions(extensions=module.extensions, passes=module.passes)).spirv  # type: ignore[arg-type]
    assert emitted is not None
    return legalize(emitted)


@pytest.mark.parametrize(("route", "lanes"), [("one", 1), ("lanes", 16), ("scratch", 16)])
def test_by_reference(device: DeviceInfo, route: str, lanes: int) -> None:
    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernel = cl.Program(context, _spirv(route)).build().k
    random = np.random.default_rng(0)
    a, b = (random.integers(-3, 4, (SIZE, SIZE)).astype(np.float32) for _ in range(2))
    for n in (0, 1):
        c = np.full((SIZE, SIZE), 7, np.float32)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        buffers = [cl.Buffer(context, flags, hostbuf=x) for x in (a, b, c)]
        kernel(queue, (lanes,), (lanes,), *buffers, np.int32(n))
        cl.enqueue_copy(queue, c, buffers[2])
        queue.finish()
        expected = a @ b
        expected[:16, 16:] *= 2 if n else -2
        bumped = c[16:, :16] - expected[16:, :16]
        # Every work-item adds 100 to one component of its own.
        assert sorted(bumped.flat)[-lanes:] == [100] * lanes
        assert np.count_nonzero(bumped) == lanes
        c[16:, :16] -= bumped
        np.testing.assert_array_equal(c, expected)


def test_native_is_valid() -> None:
    assert validate(_spirv("native"), "spv1.4") is None
