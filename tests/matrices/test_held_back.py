"""Lowered matrices whose functions stay calls and whose loops stay loops: by -O0, and where a module is large."""

from __future__ import annotations

import numpy as np
import pytest
from repeats import slow_where

import coopmat
from coopmat.devices import DeviceInfo, opencl

STRIDE = 20
FORMS = {"-O0": ["-O0"], "calls": ["--budget", "inlined-instructions=1"]}
SHAPES = [(rows, columns) for rows in (1, 3, 7, 8) for columns in (1, 3, 5, 7, 9, 17)]
LAYOUTS = (("COLUMN", "COLUMN"), ("ROW", "COLUMN"), ("COLUMN", "ROW"))


def source() -> str:
    kernels = []
    for rows, columns in SHAPES:
        for number, (loaded, stored) in enumerate(LAYOUTS):
            name = f"add_{rows}_{columns}_{number}"
            kernels.append(
                f"""#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
typedef int M{name}
    __attribute__((coop_mat(SUBGROUP, {rows}, {columns}, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
kernel void {name}(global const int *x, global int *out)
{{
    M{name} a = coop_mat_load(x, CLK_COOPERATIVE_MATRIX_LAYOUT_{loaded}_MAJOR, {STRIDE});
    M{name} b = coop_mat_load(x + 7, CLK_COOPERATIVE_MATRIX_LAYOUT_{loaded}_MAJOR, {STRIDE});
    coop_mat_store(out, a + b, CLK_COOPERATIVE_MATRIX_LAYOUT_{stored}_MAJOR, {STRIDE});
}}"""
            )
    return "\n".join(kernels)


def at(rows: int, columns: int, layout: str) -> tuple[np.ndarray, np.ndarray]:
    """Indices of rows and columns of an array of rows of STRIDE components, of which a matrix is the corner."""
    r, c = np.indices((rows, columns))
    return (r, c) if layout == "ROW" else (c, r)


@pytest.mark.device
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", slow_where(lambda size: size != 8, [4, 8, 16]))
def test_sums_of_every_lane(device: DeviceInfo, form: str, size: int) -> None:
    """The conformance runner found 7 x 5 in subgroups of 4, beside a large kernel: lanes 1 to 3 did not store."""
    if size not in device.sub_group_sizes:
        pytest.skip(f"the device has no subgroups of {size}")
    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    options = ["--matrices", "lanes", "--sub-group-size", str(size), *FORMS[form]]
    program = cl.Program(context, coopmat.compile(source(), options).spirv).build()
    memory = np.arange(STRIDE * STRIDE, dtype=np.int32)
    x, shifted = memory.reshape(STRIDE, STRIDE), np.append(memory[7:], np.zeros(7, np.int32)).reshape(STRIDE, STRIDE)
    wrong = []
    for rows, columns in SHAPES:
        for number, (loaded, stored) in enumerate(LAYOUTS):
            out = np.full((STRIDE, STRIDE), -1, np.int32)
            expected = out.copy()
            source_at = at(rows, columns, loaded)
            expected[at(rows, columns, stored)] = x[source_at] + shifted[source_at]
            flags = cl.mem_flags
            read = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=memory)
            written = cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=out)
            kernel = cl.Kernel(program, f"add_{rows}_{columns}_{number}")
            kernel(queue, (size,), (size,), read, written)
            cl.enqueue_copy(queue, out, written)
            if not np.array_equal(out, expected):
                wrong.append(f"{rows} x {columns}, {loaded}, {stored}")
    assert wrong == []
