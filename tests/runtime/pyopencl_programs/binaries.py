"""Binaries taken from one program and loaded into another, through a file."""

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
source = (
    MATRICES
    + "kernel void twice(global float *p) { A m = coop_mat_load(p, ROW, 8); coop_mat_store(p, m + m, ROW, 8); }"
)
built = cl.Program(ctx, source).build()
size = built.twice.sub_group_size()
with tempfile.TemporaryDirectory() as place:
    path = Path(place) / "program.bin"
    path.write_bytes(built.get_info(cl.program_info.BINARIES)[0])
    loaded = cl.Program(ctx, ctx.devices, [path.read_bytes()]).build()
values = np.arange(64, dtype=np.float32)
buffer = cl.Buffer(ctx, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
loaded.twice(queue, (size,), (size,), buffer)
got = np.empty_like(values)
cl.enqueue_copy(queue, got, buffer)
assert np.array_equal(got, 2 * values)
