"""Shared virtual memory, where the device has it."""

import numpy as np
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
queue = cl.CommandQueue(ctx)
if ctx.devices[0].svm_capabilities & cl.device_svm_capabilities.COARSE_GRAIN_BUFFER:
    shared = cl.SVM(cl.csvm_empty(ctx, (8, 8), np.float32))
    with shared.map_rw(queue) as mapped:
        mapped[:] = np.arange(64).reshape(8, 8)
    prg = cl.Program(
        ctx,
        MATRICES + "kernel void f(global float *p) { C m = coop_mat_load(p, ROW, 8);"
        " C two = coop_mat_init(2.0f); m = m / two; coop_mat_store(p, m, ROW, 8); }",
    )

    prg = prg.build()
    prg.f(queue, (prg.f.sub_group_size(),), None, shared)
    with shared.map_ro(queue) as mapped:
        assert np.array_equal(mapped, np.arange(64).reshape(8, 8) / 2)
