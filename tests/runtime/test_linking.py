"""`compile` and `link_program` of pyopencl's programs with matrices, on a device."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opencl_devices import device_of

import coopmat
from coopmat.devices import DeviceInfo, opencl

FUNCTION = """
#define MATRIX(T, use) T __attribute__((coop_mat(memory_scope_sub_group, 8, 8, CLK_COOPERATIVE_MATRIX_##use)))
typedef struct { global const int *a, *b; global int *c; } Operands;
extern constant int bias;
#ifdef __opencl_c_program_scope_global_variables
global int calls = 1;
#endif
MATRIX(int, ACCUMULATOR) own(MATRIX(int, ACCUMULATOR) m) { return m + m; }
void multiply(Operands o, int first) {
    MATRIX(int, A) x = coop_mat_load(o.a, 0, 8);
    MATRIX(int, B) y = coop_mat_load(o.b, 0, 8);
    MATRIX(int, ACCUMULATOR) z = coop_mat_init(first + bias);
    coop_mat_store(o.c, own(coop_mat_mulAdd(x, y, z)), 0, 8);
}
"""
HEADER = "typedef struct { global const int *a, *b; global int *c; } Operands; void multiply(Operands o, int first);"
CALLER = """
#include "multiply.h"
int doubled(int);
kernel void product(global const int *a, global const int *b, global int *c) {
    Operands o = {a, b, c};
    multiply(o, doubled(FIRST));
}
"""
ENABLE = "#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable\n"
PLAIN = """
constant int bias = 3;
int doubled(int x) { return 2 * x; }
kernel void count(global int *c) { c[get_global_id(0)] = get_global_id(0); }
"""
OPTIONS = "-DFIRST=2"


def is_right(context: Any, kernel: Any) -> bool:
    cl = opencl()
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-9, 9, (8, 8)).astype(np.int32) for _ in range(2))
    c = np.zeros((8, 8), np.int32)
    buffers = [cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=array) for array in (a, b, c)]
    queue = cl.CommandQueue(context)
    size = kernel.local_size_for_sub_groups(1)
    kernel(queue, size, size, *buffers)
    cl.enqueue_copy(queue, c, buffers[2])
    return bool((c == 2 * (a @ b + 7)).all())


@pytest.mark.parametrize("name", ["cpu", "pocl", "oclgrind"])
@pytest.mark.parametrize("route", ["one", "lanes", "scratch"])
def test_programs_of_several_objects(name: str, route: str) -> None:
    device = device_of(name)
    if route != "one" and not device.takes_spirv:
        pytest.skip("the route's functions cannot be shared there")
    cl = opencl()
    context = cl.Context([device.handle])
    header = coopmat.Program(context, HEADER)

    def compiled(text: str) -> Any:
        headers = [("multiply.h", header)] if "#include" in text else []
        return coopmat.Program(context, text).compile(
            f"{OPTIONS} --matrices {route}" if text != PLAIN else "", headers=headers
        )

    plain = compiled(PLAIN)
    library = coopmat.link_program(context, [compiled(FUNCTION), plain], "-create-library")
    caller = compiled(ENABLE + CALLER)
    assert caller.source == ENABLE + CALLER
    for objects in ([compiled(FUNCTION), plain, caller], [caller, library]):
        program = coopmat.link_program(context, objects)
        kernel = program.product
        assert is_right(context, kernel) and kernel.matrix_route == route
        assert kernel.sub_group_size() == (1 if route == "one" else 16)
        assert sorted(k.function_name for k in program.all_kernels()) == ["count", "product"]
        program.count(cl.CommandQueue(context), (4,), None, cl.Buffer(context, 0, 16))


def test_the_hook_links(device: DeviceInfo) -> None:
    cl = opencl()
    context = cl.Context([device.handle])
    header = cl.Program(context, HEADER)
    with coopmat.hook():
        function, plain = cl.Program(context, FUNCTION).compile(), cl.Program(context, PLAIN).compile()
        caller = cl.Program(context, ENABLE + CALLER).compile([OPTIONS], headers=[("multiply.h", header)])
        program = cl.link_program(context, [function, plain, caller])
        others = cl.link_program(context, [plain])
    assert is_right(context, program.product) and isinstance(program, coopmat.Program)
    assert type(others) is cl.Program and cl.link_program is not coopmat.link_program


def test_callers_of_matrices_that_the_driver_compiled(device: DeviceInfo) -> None:
    cl = opencl()
    context = cl.Context([device.handle])
    header, function = cl.Program(context, HEADER), coopmat.Program(context, FUNCTION).compile()
    caller = coopmat.Program(context, CALLER).compile(OPTIONS, headers=[("multiply.h", header)])
    plain = coopmat.Program(context, PLAIN).compile()
    with pytest.raises(coopmat.CompileError, match="'multiply' has matrices, and a program without matrices"):
        coopmat.link_program(context, [function, caller, plain])


def test_subgroups_of_other_sizes(device: DeviceInfo) -> None:
    context = opencl().Context([device.handle])
    options = f"{OPTIONS} --matrices lanes"
    text = FUNCTION.replace("extern constant int bias", "constant int bias = 0")
    function = coopmat.Program(context, text).compile(options + " --sub-group-size 8")
    caller = coopmat.Program(
        context, ENABLE + HEADER + "kernel void product(global int *c) { multiply((Operands){c, c, c}, 1); }"
    )
    with pytest.raises(coopmat.CompileError, match="'product' is compiled for subgroups of 16, and 'multiply'"):
        coopmat.link_program(context, [function, caller.compile(options)])


def test_errors_are_pyopencls(device: DeviceInfo) -> None:
    cl = opencl()
    context = cl.Context([device.handle])
    with pytest.raises(cl.RuntimeError, match="has a matrix in its signature"):
        coopmat.Program(context, FUNCTION + "void f(MATRIX(int, A) m); void g(MATRIX(int, A) m) { f(m); }").compile()


_AS_OBJECT_AND_AS_PROGRAM = '''
import sys, numpy as np, pyopencl as cl, coopmat
context = coopmat.context("portable")
program = coopmat.Program(context, """
kernel void f(global int *p) {
    int m __attribute__((coop_mat(memory_scope_sub_group, 2, 2, CLK_COOPERATIVE_MATRIX_A))) = coop_mat_init(3);
    coop_mat_store(p, m, 0, 2);
}""")
if sys.argv[1] == "compile":
    program.compile()
else:
    queue, out = cl.CommandQueue(context), np.zeros(4, np.int32)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, out.nbytes)
    program.build().f(queue, (1,), None, buffer)
    cl.enqueue_copy(queue, out, buffer)
    print(*out)
'''


def test_an_object_does_not_replace_a_program_in_pocls_cache(tmp_path: Path) -> None:
    device_of("pocl")
    kept = {f"{name}_CACHE_DIR": str(tmp_path / name) for name in ("POCL", "COOPMAT")}
    for directory in kept.values():
        Path(directory).mkdir()
    for what, printed in (("compile", ""), ("build", "3 3 3 3\n")):
        words = [sys.executable, "-c", _AS_OBJECT_AND_AS_PROGRAM, what]
        done = subprocess.run(words, env=os.environ | kept, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, printed), done.stderr
