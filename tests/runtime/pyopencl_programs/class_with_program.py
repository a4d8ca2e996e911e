"""A class that owns context, queue and program, and a context manager around its queue."""

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array

MATRICES = """
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define USE(U) CLK_COOPERATIVE_MATRIX_##U
#define MATRIX(R, C, U) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, R, C, USE(U))))
typedef float A MATRIX(8, 8, A);
typedef float B MATRIX(8, 8, B);
typedef float C MATRIX(8, 8, ACCUMULATOR);
"""


class Multiplier:
    def __init__(self):
        self.context = cl.create_some_context(interactive=False)
        self.program = cl.Program(
            self.context,
            MATRICES
            + """
        kernel void product(global const float *a, global const float *b, global float *c) {
          A x = coop_mat_load(a, ROW, 8); B y = coop_mat_load(b, ROW, 8); C s = coop_mat_init(0.0f);
          coop_mat_store(c, coop_mat_mulAdd(x, y, s), ROW, 8);
        }""",
        ).build()

    def __call__(self, a, b):
        with cl.CommandQueue(self.context) as queue:
            a, b = cl_array.to_device(queue, a), cl_array.to_device(queue, b)
            c = cl_array.zeros_like(a)
            self.program.product(queue, (self.program.product.sub_group_size(),), None, a.data, b.data, c.data)
            return c.get()


multiply = Multiplier()
left, right = (np.random.default_rng(n).integers(-5, 5, (8, 8)).astype(np.float32) for n in (1, 2))
assert np.array_equal(multiply(left, right), left @ right)
assert np.array_equal(multiply(right, left), right @ left)
