"""A program that knows OpenCL and nothing of coopmat: `application.py STEP [ARGUMENT]` prints what it saw as JSON."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
from processes import children

EXTENSION = "cl_khr_cooperative_matrix"
SOURCE = """
#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable
#define MATRIX(T, use) T __attribute__((coop_mat(memory_scope_sub_group, 8, 8, CLK_COOPERATIVE_MATRIX_##use)))
kernel void product(global const int *a, global const int *b, global int *c) {
    MATRIX(int, A) x = coop_mat_load(a, 0, 8);
    MATRIX(int, B) y = coop_mat_load(b, 0, 8);
    MATRIX(int, ACCUMULATOR) z = coop_mat_init(FIRST);
    coop_mat_store(c, coop_mat_mulAdd(x, y, z), 0, 8);
}
kernel void plain(global int *c) { c[get_global_id(0)] = get_global_id(0); }
"""
# Three objects that need one another, the first of the device's own compiler.
OWN = "constant int bias = 3; int doubled(int x) { return 2 * x; }"
MULTIPLY = """
#define MATRIX(T, use) T __attribute__((coop_mat(memory_scope_sub_group, 8, 8, CLK_COOPERATIVE_MATRIX_##use)))
extern constant int bias;
void multiply(global const int *a, global const int *b, global int *c, int first) {
    MATRIX(int, A) x = coop_mat_load(a, 0, 8);
    MATRIX(int, B) y = coop_mat_load(b, 0, 8);
    MATRIX(int, ACCUMULATOR) z = coop_mat_init(first + bias);
    coop_mat_store(c, coop_mat_mulAdd(x, y, z), 0, 8);
}
"""
HEADER = "void multiply(global const int *a, global const int *b, global int *c, int first); int doubled(int);"
CALLER = """
#include "multiply.h"
kernel void product(global const int *a, global const int *b, global int *c) { multiply(a, b, c, doubled(FIRST)); }
"""
ENABLE = "#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable"
PLAIN = "kernel void plain(global int *c) { c[get_global_id(0)] = 3 * get_global_id(0); }"
COUNT = 64


def device() -> Any:
    wanted = os.environ.get("TEST_PLATFORM", "Intel")
    return next(d for p in cl.get_platforms() if wanted in p.name for d in p.get_devices())


def product_of(program: Any, first: int) -> bool:
    """Whether the kernel `product` is right, launched with one subgroup of its own size."""
    context = program.context
    queue = cl.CommandQueue(context)
    rng = np.random.default_rng(first)
    a, b = (rng.integers(-9, 9, (8, 8)).astype(np.int32) for _ in range(2))
    c = np.zeros((8, 8), np.int32)
    flags = cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (a, b, c)]
    kernel = cl.Kernel(program, "product")
    kernel.set_args(*buffers)
    size = sub_group_size(kernel)
    cl.enqueue_nd_range_kernel(queue, kernel, (size,), (size,))
    cl.enqueue_copy(queue, c, buffers[2])
    return bool((c == a @ b + first).all())


def sub_group_size(kernel: Any) -> int:
    own = device()
    return int(kernel.get_sub_group_info(own, cl.kernel_sub_group_info.LOCAL_SIZE_FOR_SUB_GROUP_COUNT, 1)[0])


def built(context: Any, source: Any, options: str = "-DFIRST=1") -> Any:
    return cl.Program(context, source).build(options)


def source() -> dict[str, Any]:
    context = cl.Context([device()])
    program = built(context, SOURCE)
    kernel = cl.Kernel(program, "product")
    again = cl.Program(context, SOURCE).build("-DFIRST=5")
    return {
        "right": [product_of(program, 1), product_of(again, 5)],
        "sub_group_size": sub_group_size(kernel),
        "program": kernel.program == program,
        "names": sorted(program.kernel_names.split(";")),
        "options": program.get_build_info(device(), cl.program_build_info.OPTIONS).split()[:1],
        "source": program.source == SOURCE,
        "extensions": device().extensions.split().count(EXTENSION),
        "features": sorted(v.name for v in device().opencl_c_features),
        "versions": [v.name for v in device().extensions_with_version].count(EXTENSION),
    }


def intermediate() -> dict[str, Any]:
    """A module with matrices, from a file."""
    il = Path(sys.argv[2]).read_bytes()
    context = cl.Context([device()])
    program = cl.Program(context, il).build()
    return {"right": product_of(program, 1)}


def again() -> dict[str, Any]:
    """Programs of a source, of one that includes a file, and of the device's variants; how many helpers it took."""
    context = cl.Context([device()])
    right = product_of(built(context, SOURCE), 1)
    if len(sys.argv) > 2:
        right &= product_of(built(context, '#include "own.cl"', f"-DFIRST=2 -I {sys.argv[2]}"), 2)
    return {"right": right, "helpers": len(children()), "records": len(variants()["records"]) > 10}


def log() -> dict[str, Any]:
    context = cl.Context([device()])
    program = cl.Program(context, SOURCE.replace("8, 8, CLK", "8, 9, CLK"))
    try:
        program.build("-DFIRST=1")
    except cl.RuntimeError as error:
        return {"log": str(error), "alive": product_of(built(context, SOURCE), 1)}
    return {}


def plain() -> dict[str, Any]:
    context = cl.Context([device()])
    program = built(context, PLAIN, "")
    out = np.zeros(COUNT, np.int32)
    buffer = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, out.nbytes)
    queue = cl.CommandQueue(context)
    program.plain(queue, (COUNT,), None, buffer)
    cl.enqueue_copy(queue, out, buffer)
    return {"right": bool((out == 3 * np.arange(COUNT)).all()), "children": len(children())}


def killed() -> dict[str, Any]:
    """The helper dies between two builds."""
    context = cl.Context([device()])
    first = product_of(built(context, SOURCE), 1)
    helpers = children()
    for helper in helpers:
        os.kill(helper, signal.SIGKILL)
    return {"right": [first, product_of(built(context, SOURCE, "-DFIRST=2"), 2)], "helpers": len(helpers)}


def forked() -> dict[str, Any]:
    """A child of a fork asks for the variants itself, and the parent afterwards."""
    context = cl.Context([device()])
    right = product_of(built(context, SOURCE), 1)
    child = os.fork()
    if child == 0:
        os._exit(0 if len(variants()["records"]) > 0 else 1)
    return {"child": os.waitpid(child, 0)[1], "right": [right, product_of(built(context, SOURCE, "-DFIRST=3"), 3)]}


def threads() -> dict[str, Any]:
    context = cl.Context([device()])
    right: list[bool] = []
    bodies = [
        threading.Thread(
            target=lambda first=n: right.extend(  # type: ignore[misc]
                product_of(built(context, SOURCE, f"-DFIRST={first + turn}"), first + turn) for turn in range(3)
            )
        )
        for n in range(0, 64, 4)
    ]
    for body in bodies:
        body.start()
    for body in bodies:
        body.join()
    return {"right": right}


def separate() -> dict[str, Any]:
    """Kernels that call a function with matrices in another program: one compiled here, one by the driver."""
    context = cl.Context([device()])
    header = cl.Program(context, HEADER)

    def compiled(text: str) -> Any:
        return cl.Program(context, text).compile("-DFIRST=2", headers=[("multiply.h", header)])

    own, multiply = compiled(OWN), compiled(MULTIPLY)
    library = cl.link_program(context, [multiply, own], "-create-library")
    result: dict[str, Any] = {}
    # Where the link fails, pyopencl releases the program too often.
    callers = {"here": ENABLE + CALLER, **({"driver": CALLER} if os.environ["COOPMAT_ROUTE"] == "one" else {})}
    for name, text in callers.items():
        linked = cl.link_program(context, [compiled(text), library])
        result[name] = [product_of(linked, 7), sub_group_size(cl.Kernel(linked, "product"))]
    return result


def failed() -> dict[str, Any]:
    """A build that has no helper."""
    context = cl.Context([device()])
    try:
        built(context, SOURCE)
    except cl.RuntimeError as error:
        return {"log": str(error), "plain": plain()["right"]}
    return {}


def attempt() -> dict[str, Any]:
    """A build that may fail: whether its kernel is right, and how many helpers it took."""
    context = cl.Context([device()])
    try:
        right = product_of(built(context, SOURCE), 1)
    except cl.RuntimeError as error:
        return {"failed": str(error)}
    return {"right": right, "helpers": len(children())}


def variants() -> dict[str, Any]:
    own = device()
    address = _function(own, b"clGetDeviceCooperativeMatrixInfoKHR")
    query = ctypes.CFUNCTYPE(
        ctypes.c_int,
        *(ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t, ctypes.c_void_p),
        *(ctypes.c_size_t, ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)),
    )(address)
    size = ctypes.c_size_t()
    errors = [query(own.int_ptr, 0x1078, 0, None, 0, None, ctypes.byref(size))]
    records = (ctypes.c_uint * (size.value // 4))()
    errors.append(query(own.int_ptr, 0x1078, 0, None, size, records, None))
    errors.append(query(own.int_ptr, 0x1078, 0, None, size.value - 1, records, None))
    errors.append(query(own.int_ptr, 0x1079, 0, None, 0, None, ctypes.byref(size)))
    return {"errors": errors, "records": [list(records[i : i + 8]) for i in range(0, len(records), 8)]}


def _function(own: Any, name: bytes) -> int:
    """The address that the loader gives, which pyopencl has loaded."""
    path = next(
        line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "libOpenCL" in line.split()[-1]
    )
    get = ctypes.CDLL(path).clGetExtensionFunctionAddressForPlatform
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
    return int(get(own.platform.int_ptr, name) or 0)


STEPS = {
    step.__name__: step
    for step in (source, intermediate, again, log, plain, killed, forked, threads, separate, failed, attempt, variants)
}

if __name__ == "__main__":
    print(json.dumps(STEPS[sys.argv[1]]()))
