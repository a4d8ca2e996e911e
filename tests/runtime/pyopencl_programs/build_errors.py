"""Errors of builds, caught as pyopencl's."""

import pyopencl as cl

MATRICES = """
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define USE(U) CLK_COOPERATIVE_MATRIX_##U
#define MATRIX(R, C, U) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, R, C, USE(U))))
typedef float A MATRIX(8, 8, A);
typedef float B MATRIX(8, 8, B);
typedef float C MATRIX(8, 8, ACCUMULATOR);
"""

ctx = cl.create_some_context(interactive=False)
for source, word in (
    ("kernel void f(global int *p) { p[0] = nothing; }", "nothing"),
    (MATRICES + "kernel void f(global float *p) { A m = coop_mat_load(p, ROW); m = 3; }", "m = 3"),
):
    try:
        cl.Program(ctx, source).build()
    except cl.RuntimeError as error:
        assert error.code == cl.status_code.BUILD_PROGRAM_FAILURE
        assert word in str(error), error
    else:
        raise AssertionError("it built")
try:
    missing = cl.Program(ctx, "kernel void f(global int *p) { p[0] = 1; }").build().g
except AttributeError:
    pass
else:
    raise AssertionError("there is no kernel g")
