"""Statement expressions run as the device's own compiler runs them, and with matrices inside."""

from __future__ import annotations

import numpy as np
import pytest
from differential import Launch, Value, compare, execute

import coopmat
from coopmat.devices import DeviceInfo

SOURCE = """
#define MAX(a, b) ({ int _a = (a); int _b = (b); _a > _b ? _a : _b; })
#define SWAP(T, a, b) ({ T _t = (a); (a) = (b); (b) = _t; _t; })
typedef struct { int a; float b[3]; } S;
int sum(int n) {
    return ({ int s = 0; for (int i = 0; i < n; ++i) { if (i == 3) continue; if (i > 8) break; s += i; } s; });
}
kernel void k(global int *p, int n) {
    int m = n;
    p[0] = MAX(p[1]++, n);
    p[2] = n > 4 ? ({ p[3] = 7; int t = p[4]; t * 2; }) : sum(n);
    p[4] = n < 4 ? ({ p[5] = 7; 1; }) : sum(n);
    for (int i = 0; i < ({ int z = n; z + 1; }); i++) p[6] += i;
    ({ p[7] = 1; });
    ({ int a = 2; if (a < n) p[8] = a; });
    p[9] = n ?: 5; p[10] = p[10]++ ?: 11; p[11] = (p[12] ?: p[13]) ?: 9;
    p[14] = ({ int a = ({ int b = n; b + 1; }); a * a; });
    if (n > 100 && ({ p[15] = 99; 1; })) p[16] = 1;
    if (n > 1 || ({ p[17] = 99; 1; })) p[18] = 1;
    (void)({ while (m < 10) { m++; if (m == 7) break; } m; });
    p[19] = m;
    p[20] = SWAP(int, p[21], p[22]);
    S s = ({ S t = { n, { 1, 2, 3 } }; t.b[1] = n; t; });
    p[23] = s.a + (int)s.b[1];
    p[24] = ({ S t = s; t; }).a;
    int4 v = ({ int4 w = (int4)(n); w.y = 3; w; });
    p[25] = v.x + v.y;
    p[26] = sum(({ int i = n; i++; i; }));
    p[27] = ({ switch (n) { case 5: m = 1; break; default: m = 2; } m; });
    do p[28]++; while (({ int again = p[28] < 4; again; }));
    int a[3] = { ({ 1; }), ({ int q = n; q; }), 3 };
    p[29] = a[0] + *({ a + 1; });
    p[30] = ({ global int *q = p + 1; q; })[0];
}
"""


@pytest.mark.parametrize("n", [0, 5])
def test_as_the_devices_own_compiler(device: DeviceInfo, n: int) -> None:
    data = np.arange(40, dtype=np.int32)
    launches = [Launch("k", [data, Value(np.array(n, np.int32))])]
    compare(device, SOURCE, launches, ("native", "one"))
    # And as the text that other devices are given.
    text = coopmat.compile(SOURCE).opencl_c
    assert "({" in text
    mine, theirs = (execute(device, program, launches)[0][0].tolist() for program in (text, SOURCE))
    assert mine == theirs


MATRICES = """
#define SCOPE CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef float A __attribute__((coop_mat(SCOPE, 8, 8, CLK_COOPERATIVE_MATRIX_A)));
typedef float B __attribute__((coop_mat(SCOPE, 8, 8, CLK_COOPERATIVE_MATRIX_B)));
typedef float C __attribute__((coop_mat(SCOPE, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
typedef float M __attribute__((matrix_type(8, 8)));
#define LOAD(T, p) ({ T t_; if (n) t_ = coop_mat_load(p, ROWS, 8); else t_ = coop_mat_init(0.0f); t_; })
kernel void k(global const float *a, global const float *b, global float *c, int n) {
    C sum = ({ C zero = coop_mat_init(0.0f); for (int i = 0; i < n; ++i)
                   zero = coop_mat_mulAdd(LOAD(A, a), LOAD(B, b), zero); zero; }) + ({ coop_mat_init(1.0f); });
    coop_mat_store(c, ({ C twice = sum; twice + twice; }), ROWS, 8);
}
kernel void m(global const M *a, global const M *b, global M *c, int n) {
    *c = ({ M t = *a * *b; for (int i = 1; i < n; ++i) t += *a * *b; t; }) + ({ M one = (M)1.0f; one; });
    *c = ({ M t = *c; t + t; });
}
"""


@pytest.mark.parametrize("route", ["one", "lanes", "scratch"])
@pytest.mark.parametrize("code", ["spirv", "c"])
def test_with_matrices_inside(device: DeviceInfo, route: str, code: str) -> None:
    module = coopmat.compile(MATRICES, ["--matrices", route, "--code", code, "-Werror"])
    a, b = (np.random.default_rng(n).integers(-4, 5, (8, 8)).astype(np.float32) for n in (1, 2))
    size = (module.kernels["k"].sub_group_size or 1,)
    arguments = [a, b, np.zeros((8, 8), np.float32), Value(np.array(3, np.int32))]
    program = module.spirv if code == "spirv" else module.opencl_c
    launches = [Launch("k", arguments, size, size), Launch("m", arguments)]
    options = module.opencl_c_options if code == "c" else ()
    of_matrices, of_types = (found[2] for found in execute(device, program, launches, options))
    assert of_matrices.tolist() == (2 * (3 * (a @ b) + 1)).tolist()
    # By columns.
    assert of_types.tolist() == (2 * (3 * (a.T @ b.T) + 1)).T.tolist()


def test_native_matrices_are_valid() -> None:
    assert "OpCooperativeMatrixMulAddKHR" in coopmat.compile(MATRICES).spirv_text
