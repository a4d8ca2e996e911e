"""What a program and its kernels tell of themselves."""

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
device = ctx.devices[0]
prg = cl.Program(
    ctx,
    MATRICES
    + """
kernel void one(global float *p, int n) { A m = coop_mat_load(p, ROW, n); coop_mat_store(p, m, ROW, n); }
kernel void two(global float *p, local float *scratch, global int *q) { p[get_global_id(0)] = q[0]; }
""",
).build(devices=[device])
assert sorted(prg.kernel_names.split(";")) == ["one", "two"]
assert prg.num_devices == 1 and prg.devices == [device] and prg.context == ctx
names = {}
for kernel in prg.all_kernels():
    info = cl.kernel_arg_info
    names[kernel.function_name] = [kernel.get_arg_info(i, info.NAME) for i in range(kernel.num_args)]
    limit = kernel.get_work_group_info(cl.kernel_work_group_info.WORK_GROUP_SIZE, device)
    multiple = kernel.get_work_group_info(cl.kernel_work_group_info.PREFERRED_WORK_GROUP_SIZE_MULTIPLE, device)
    assert limit >= multiple >= 1
assert names == {"one": ["p", "n"], "two": ["p", "scratch", "q"]}
space = cl.kernel_arg_address_qualifier
assert prg.two.get_arg_info(1, cl.kernel_arg_info.ADDRESS_QUALIFIER) == space.LOCAL
