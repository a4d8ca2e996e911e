"""Headers by -I, as one string and as a list, with a directory of blanks in its name."""

import tempfile
from pathlib import Path

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
with tempfile.TemporaryDirectory() as place:
    (Path(place) / "tile.h").write_text(MATRICES + "#define FACTOR 3\n")
    text = """#include "tile.h"
    kernel void f(global float *p) {
        A m = coop_mat_load(p, ROW, 8);
        coop_mat_store(p, m * FACTOR, ROW, 8);
    }"""
    programs = [
        cl.Program(ctx, text).build(f"-I {place} -DX=1"),
        cl.Program(ctx, text).build(["-I", place, "-D", "X=1"]),
    ]
    for program in programs:
        values = np.arange(64, dtype=np.float32)
        buffer = cl.Buffer(ctx, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
        program.f(queue, program.f.local_size_for_sub_groups(1), None, buffer)
        got = np.empty_like(values)
        cl.enqueue_copy(queue, got, buffer)
        assert np.array_equal(got, 3 * values)
