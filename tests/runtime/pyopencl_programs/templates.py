"""Sources made from templates: one program for each type and tile, with matrices."""

from string import Template

import numpy as np
import pyopencl as cl
from pyopencl.tools import dtype_to_ctype

ctx = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(ctx)
template = Template("""
#define TILE coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, $n, $n, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)
typedef $type tile __attribute__((TILE));
kernel void square(global $type *p) {
  tile m = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, $n);
  coop_mat_store(p, m * m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, $n);
}""")
for dtype in (np.float32, np.int32, np.uint8):
    for n in (4, 5):
        prg = cl.Program(ctx, template.substitute(type=dtype_to_ctype(dtype), n=n)).build()
        values = np.arange(n * n).astype(dtype)
        buffer = cl.Buffer(ctx, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
        prg.square(queue, (prg.square.sub_group_size(),), None, buffer)
        got = np.empty_like(values)
        cl.enqueue_copy(queue, got, buffer)
        assert np.array_equal(got, values * values), (dtype, n)
