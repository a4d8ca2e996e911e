"""Kernels of programs with matrices, as users of pyopencl call them: one program, many ways to set arguments."""

from __future__ import annotations

import copyreg
import os
import pickle
import runpy
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import coopmat
from coopmat.cache import CACHE_DIRECTORY, NO_CACHE
from coopmat.devices import DeviceInfo, opencl
from coopmat.runtime import device_build
from coopmat.runtime.cl_program import ArgumentError, Kernel, LaunchError

SOURCE = """
typedef float A __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 4, CLK_COOPERATIVE_MATRIX_A)));
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#ifndef BY
#define BY 1
#endif
typedef struct { int a; float b; } S;
typedef float real;
kernel void scale(global float *p, float factor)
{
    A m = coop_mat_load(p, ROW, 4);
    coop_mat_store(p, m * (factor * BY), ROW, 4);
}
kernel void numbers(global float *o, char c, ulong u, double d, half h, float4 v, S s, real r, uint n, global int *nul)
{
    o[0] = c; o[1] = u; o[2] = d; o[3] = h; o[4] = v.x + v.w * 1000; o[5] = s.a; o[6] = s.b; o[7] = r;
    o[8] = n & 0xffff; o[9] = nul == 0;
}
kernel void sizes(global int *o) { o[get_global_id(0)] = get_global_size(0) * 10 + get_local_size(0); }
kernel void read(read_only image2d_t i, sampler_t s, global float *o) { o[0] = read_imagef(i, s, (int2)(1, 0)).x; }
kernel void room(global float *o, local float *l) { l[get_local_id(0)] = 1; o[0] = l[0]; }
"""


@pytest.fixture(scope="module")
def built(device: DeviceInfo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    cl = opencl()
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setenv(CACHE_DIRECTORY, str(tmp_path_factory.mktemp("cache")))
        patch.delenv(NO_CACHE, raising=False)
        warnings.simplefilter("ignore", cl.CompilerWarning)
        context = cl.Context([device.handle])
        program = coopmat.Program(context, SOURCE).build()
        queue = cl.CommandQueue(context)
        buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 64)
        yield SimpleNamespace(
            context=context, program=program, queue=queue, buffer=buffer, device=device.handle, index=device.index
        )


def floats(built: SimpleNamespace, buffer: Any = None) -> list[float]:
    got = np.empty(16, np.float32)
    opencl().enqueue_copy(built.queue, got, buffer or built.buffer)
    return got.tolist()


def number_arguments(built: SimpleNamespace) -> list[Any]:
    from pyopencl import cltypes

    structure = np.zeros(1, np.dtype([("a", np.int32), ("b", np.float32)]))[0]
    structure["a"], structure["b"] = 7, 8
    return [built.buffer, -3, 2**60, 0.5, 1.5, cltypes.make_float4(1, 2, 3, 4), structure, 9.0, 2**32 - 1, None]


NUMBERS = [-3, 2.0**60, 0.5, 1.5, 4001, 7, 8, 9, 65535, 1]


def test_every_kind_of_argument(built: SimpleNamespace) -> None:
    arguments, kernel = number_arguments(built), built.program.numbers
    kernel(built.queue, (1,), None, *arguments)
    assert floats(built)[:10] == NUMBERS
    other = built.program.numbers
    for number, value in enumerate(arguments):
        other.set_arg(number, value)
    opencl().enqueue_nd_range_kernel(built.queue, other, (1,), (1,))
    assert floats(built)[:10] == NUMBERS


@pytest.mark.parametrize(
    ("number", "value", "expected"),
    [
        (4, np.float16(2.5), 2.5),
        (4, np.uint16(0x4100), 2.5),  # a half's bits
        (1, np.int8(-3), -3),
        (1, True, 1),
        (8, np.bool_(True), 1),
        (8, np.array(3, np.uint32), 3),
        (8, np.int32(-1), 65535),  # as many bits
        (7, 2, 2),
        (6, bytes(8), 0),
        (9, "buffer", 0),
    ],
)
def test_numbers_in_other_guises(built: SimpleNamespace, number: int, value: Any, expected: float) -> None:
    arguments = number_arguments(built)
    arguments[number] = built.buffer if value == "buffer" else value
    built.program.numbers(built.queue, (1,), None, *arguments)
    assert floats(built)[{9: 9, 6: 6}.get(number, number if number > 6 else number - 1)] == expected


@pytest.mark.parametrize(
    ("number", "value", "message"),
    [
        (0, "array", r"argument 1 .*'o' .*needs a buffer, not a pyopencl.Array: pass its .data"),
        (0, "image", "needs a buffer, not a pyopencl.Image"),
        (9, "x", "needs a buffer, not a str"),
        (7, 1e40, r"'r' \(float\): cannot hold 1e\+40"),
        (7, "x", "needs a number, not a str"),
        (7, 1j, "needs a number, not 1j"),
        (7, np.float64(2), "needs numpy.float32, not numpy.float64"),
        (8, "x", "needs an integer, not a str"),
        (8, np.array([3, 4], np.uint32), "needs an integer, not a numpy array"),
        (5, 1.0, "needs 16 bytes"),
        (5, np.zeros(3, np.float32), "needs 16 bytes, not 12"),
    ],
)
def test_what_does_not_fit_is_named(built: SimpleNamespace, number: int, value: Any, message: str) -> None:
    cl = opencl()
    from pyopencl import array as cl_array

    if isinstance(value, str) and value == "array":
        value = cl_array.zeros(built.queue, 4, np.float32)
    elif isinstance(value, str) and value == "image":
        value = cl.image_from_array(built.context, np.ones((2, 2), np.float32), 1)
    arguments, kernel = number_arguments(built), built.program.numbers
    arguments[number] = value
    ways = (
        lambda: kernel(built.queue, (1,), None, *arguments),
        lambda: kernel.set_args(*arguments),
        lambda: kernel.set_arg(number, value),
    )
    for way in ways:
        with pytest.raises(ArgumentError, match=message) as caught:
            way()
        assert "kernel 'numbers'" in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    with pytest.raises(ArgumentError, match="number 20 is out of range"):
        kernel.set_arg(20, 1)


def test_images_and_samplers(built: SimpleNamespace) -> None:
    cl = opencl()
    image = cl.image_from_array(built.context, np.array([[1, 5], [1, 1]], np.float32), 1)
    sampler = cl.Sampler(built.context, False, cl.addressing_mode.CLAMP, cl.filter_mode.NEAREST)
    built.program.read(built.queue, (1,), None, image, sampler, built.buffer)
    assert floats(built)[0] == 5
    with pytest.raises(ArgumentError, match=r"'i' .*needs pyopencl.Image, not a pyopencl.Sampler"):
        built.program.read(built.queue, (1,), None, sampler, image, built.buffer)


def test_types_that_the_user_names(built: SimpleNamespace) -> None:
    kernel, arguments = built.program.numbers, number_arguments(built)
    types = [None, np.int8, np.uint64, np.float64, np.float16, None, None, np.float32, np.uint32, None]
    kernel.set_scalar_arg_dtypes(types)
    arguments[7], arguments[8] = np.float64(9.5), np.int64(5)
    kernel(built.queue, (1,), None, *arguments)
    assert floats(built)[7:9] == [9.5, 5]
    arguments[8] = np.int64(2**40)
    with pytest.raises(ArgumentError, match=r"'n' .*cannot hold"):
        kernel(built.queue, (1,), None, *arguments)


def test_two_kernels_of_a_name_keep_their_arguments(built: SimpleNamespace) -> None:
    cl = opencl()
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(built.context, flags, hostbuf=np.ones(16, np.float32)) for _ in range(3)]
    first, second = built.program.scale, built.program.scale
    first.set_args(buffers[0], 2.0)
    second.set_args(buffers[1], 3.0)
    third = second.clone()
    third.set_arg(0, buffers[2])
    assert isinstance(third, Kernel) and third.matrix_route == first.matrix_route
    for kernel in (first, second, third):
        cl.enqueue_nd_range_kernel(built.queue, kernel, (1,), (1,))
    assert [floats(built, buffer)[0] for buffer in buffers] == [2, 3, 3]
    third(built.queue, (1,), None, buffers[2], 5)
    assert floats(built, buffers[2])[0] == 15


def test_types_of_pyopencls_own_kernels(built: SimpleNamespace) -> None:
    from pyopencl import array as cl_array
    from pyopencl.elementwise import ElementwiseKernel

    preamble = SOURCE.partition("kernel void")[0] + "float two(void) { A m = coop_mat_init(2.0f); return 2; }"
    with coopmat.hook():
        kernel = ElementwiseKernel(
            built.context, "float a, float *x, float *y", "y[i] = a * x[i] + two()", "f", preamble=preamble
        )
        x = cl_array.to_device(built.queue, np.arange(8, dtype=np.float32))
        y = cl_array.empty_like(x)
        kernel(3, x, y)
    assert y.get().tolist() == [3 * n + 2 for n in range(8)]


def test_a_kernel_outlives_its_program(built: SimpleNamespace) -> None:
    kernel = coopmat.Program(built.context, SOURCE).build().scale
    assert kernel.program.kernel_names == kernel.clone().program.kernel_names == built.program.kernel_names


def test_a_call_can_be_captured(built: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYOPENCL_CTX", built.index)
    script = tmp_path / "captured.py"
    built.program.scale.capture_call(str(script), built.queue, (1,), None, built.buffer, np.float32(2))
    with coopmat.hook():
        runpy.run_path(str(script), run_name="__main__")


def test_sizes(built: SimpleNamespace) -> None:
    kernel, queue = built.program.sizes, built.queue
    got = np.empty(4, np.int32)

    def launch(*sizes: Any, **others: Any) -> list[int]:
        kernel(queue, *sizes, built.buffer, **others)
        opencl().enqueue_copy(queue, got, built.buffer)
        return list(map(int, got))

    assert launch((4,), (2,)) == launch([4], [2]) == launch((np.int64(4),), (2,)) == [42] * 4
    assert launch((2,), (2,), g_times_l=True) == launch((2,), (2, 1), g_times_l=True) == [42] * 4
    assert launch((4, 1, 1), (4, 1, 1)) == [44] * 4
    marker = opencl().enqueue_marker(queue)
    assert launch((4,), (2,), global_offset=(0,), wait_for=[marker], allow_empty_ndrange=True) == [42] * 4
    for sizes, message in [((4,), (0,)), "local size"], [((-4,), None), "global size"], [(4, None), "global size 4"]:
        with pytest.raises(LaunchError, match=f"{message}.*kernel 'sizes'.*needs one to three integers") as caught:
            launch(*sizes)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_errors_of_launches_name_the_kernel(built: SimpleNamespace) -> None:
    cl = opencl()
    with pytest.raises(
        cl.LogicError, match=r"kernel 'sizes', global size \(1048576,\).* up to \d+ work-items"
    ) as caught:
        built.program.sizes(built.queue, (1 << 20,), (1 << 20,), built.buffer)
    assert caught.value.code == cl.status_code.INVALID_WORK_GROUP_SIZE
    with pytest.raises(cl.Error, match=rf"kernel 'room'.* needs {1 << 30} of \d+ bytes of local memory"):
        built.program.room(built.queue, (1,), None, built.buffer, cl.LocalMemory(1 << 30))
    with pytest.raises(ArgumentError, match=r"'l' \(local float \*\): needs pyopencl.LocalMemory\(bytes\), not None"):
        built.program.room(built.queue, (1,), None, built.buffer, None)
    gone = cl.Buffer(built.context, cl.mem_flags.READ_WRITE, 64)
    gone.release()
    with pytest.raises(ArgumentError, match=r"argument 1 of kernel 'room', 'o'"):
        built.program.room(built.queue, (1,), None, gone, cl.LocalMemory(4))
    with pytest.raises(cl.LogicError, match=r"kernel 'sizes'.*local size \(2,\)"):
        built.program.sizes(built.queue, (4, 1), (2,), built.buffer)


def test_a_program_is_built_again(built: SimpleNamespace) -> None:
    program, values = coopmat.Program(built.context, SOURCE.encode()), np.ones(16, np.float32)
    for options, expected in (None, 2), ("-DBY=5", 10):
        assert program.build(options) is program
        opencl().enqueue_copy(built.queue, built.buffer, values)
        program.scale(built.queue, (1,), None, built.buffer, 2)
        assert floats(built)[0] == expected
    info = opencl().program_build_info
    assert "-DBY=5" in program.get_build_info(built.device, info.OPTIONS)
    assert isinstance(program.get_build_info(built.device, info.LOG), str) and program.source == SOURCE


def test_devices_of_a_context(built: SimpleNamespace) -> None:
    cl = opencl()
    try:
        parts = built.device.create_sub_devices([cl.device_partition_property.EQUALLY, 1])[:2]
    except cl.Error:
        pytest.skip("the device has no parts")
    context = cl.Context(parts)
    for devices in (None, parts[1:], parts[1:]):  # from the compiler and from the cache
        program = coopmat.Program(context, SOURCE + "\n").build(devices=devices)
        queue = cl.CommandQueue(context, parts[-1])
        buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=np.ones(16, "f4"))
        program.scale(queue, (1,), None, buffer, 2)
        got = np.empty(16, np.float32)
        cl.enqueue_copy(queue, got, buffer)
        assert got[0] == 2 and len(program.binaries) == len(devices or parts)


@pytest.mark.parametrize(
    "hidden", ["// coop_mat\n", "/* coop_mat\ncoop_matmul_add */", 'constant char s[] = "coop_mat";']
)
def test_words_in_comments_and_strings_are_no_matrices(built: SimpleNamespace, hidden: str) -> None:
    plain = hidden + "\nkernel void f(global int *x) { x[0] = 1; }"
    with coopmat.hook(), warnings.catch_warnings():
        warnings.simplefilter("ignore", opencl().CompilerWarning)
        program = opencl().Program(built.context, plain).build()
    assert type(program) is opencl().Program and program.kernel_names == "f"


def test_includes_without_a_word_of_matrices_are_not_compiled_twice(
    built: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cl = opencl()
    (tmp_path / "a.h").write_text('#include "b.h"\n')
    (tmp_path / "b.h").write_text("#define ONE 1\n")
    text = "#include <pyopencl-complex.h>\n#include <a.h>\nkernel void f(global int *x) { x[0] = ONE; }"
    program = cl.Program(built.context, text)
    module = device_build.compiler.Module
    monkeypatch.setattr(device_build.compiler, "Module", None)
    with coopmat.hook(), warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        assert type(program.build(option for option in ("-I", str(tmp_path)))) is cl.Program
        assert program.kernel_names == "f"
        (tmp_path / "b.h").write_text(SOURCE)
        monkeypatch.setattr(device_build.compiler, "Module", module)
        assert isinstance(cl.Program(built.context, '#include "a.h"').build(["-I", str(tmp_path)]), coopmat.Program)
        name = cl.Program(built.context, "#include NAME").build(["-I", str(tmp_path), "-DNAME=<a.h>"])
        assert isinstance(name, coopmat.Program)
        with pytest.raises(cl.RuntimeError, match="No closing quotation"):
            cl.Program(built.context, SOURCE).build(['-DX="'])
        with pytest.raises(coopmat.CompileError, match='build options -DX=": No closing quotation'):
            cl.Program(built.context, SOURCE).build('-DX="')


def test_classes_made_of_programs(built: SimpleNamespace) -> None:
    cl = opencl()

    class Mine(cl.Program):  # type: ignore[misc, name-defined]
        def names(self) -> list[str]:
            return [str(kernel.function_name) for kernel in self.all_kernels()]

    with coopmat.hook(), warnings.catch_warnings():
        program = Mine(built.context, SOURCE).build()
        assert isinstance(program, Mine) and isinstance(program, coopmat.Program)
        assert program.names() == ["scale", "numbers", "sizes", "read", "room"]
        warnings.simplefilter("ignore", UserWarning)  # of pyopencl: what is compiled apart is not cached
        linked = cl.link_program(built.context, [cl.Program(built.context, SOURCE).compile()])
        assert [kernel.function_name for kernel in linked.all_kernels()]
        compiled = cl.Program(built.context, "kernel void f(global int *x) { x[0] = 1; }").compile()
        assert cl.link_program(built.context, [compiled]).kernel_names == "f"


def test_driver_errors_are_told_of_the_users_source(built: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    source = SOURCE + "kernel void wrong(global int *o)\n{\n    o[1] = 2;\n}\n"
    written = coopmat.Module.opencl_c.fget  # type: ignore[attr-defined]
    wrong = property(lambda module: written(module).replace("o[1] = 2", "o[1] = missing"))
    monkeypatch.setattr(coopmat.Module, "opencl_c", wrong)
    with pytest.raises(coopmat.BuildError) as caught:
        coopmat.Program(built.context, source).build("--code c")
    line = source.split("\n").index("    o[1] = 2;") + 1
    error: Any = pickle.loads(pickle.dumps(caught.value))
    Path(error.source_path).unlink()
    places = [str(item.span) for item in error.diagnostics if item.severity.is_error]
    assert places == [f"<program source>:{line}:5"] and "    o[1] = 2;" in str(error)
    assert isinstance(error, opencl().RuntimeError)


def test_files_that_turn_up_before_others_are_included(
    built: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d" / "x").mkdir(parents=True)
    (tmp_path / "d" / "a.h").write_text("#define FIRST 1\n")
    (tmp_path / "d" / "b.h").write_text("#define SECOND 1\n")
    (tmp_path / "d" / "x" / "inner.h").write_text('#include "b.h"\n')
    text = '#include "a.h"\n#include "x/inner.h"\n' + SOURCE.partition("kernel void numbers")[0]
    text += "kernel void which(global float *p) { p[0] = FIRST * 10 + SECOND; }"

    def answer() -> float:
        coopmat.Program(built.context, text).build("-I d").which(built.queue, (1,), None, built.buffer)
        return floats(built)[0]

    assert [answer(), answer()] == [11, 11]
    (tmp_path / "a.h").write_text("#define FIRST 7\n")  # in the working directory
    assert answer() == 71
    (tmp_path / "d" / "x" / "b.h").write_text("#define SECOND 5\n")  # beside the file that includes it
    assert answer() == 75


def test_errors_and_their_causes_can_be_sent_to_other_processes(
    built: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """dask sends exceptions as tblib pickles them: with causes and contexts."""
    support = pytest.importorskip("tblib.pickling_support")
    monkeypatch.setattr(coopmat.Module, "opencl_c", property(lambda module: "kernel void wrong() { missing; }"))
    with pytest.raises(coopmat.BuildError) as caught:
        coopmat.Program(built.context, SOURCE).build("--code c")
    with patch.dict(copyreg.dispatch_table):
        support.install()
        error: Any = pickle.loads(pickle.dumps(caught.value))
    assert str(error) == str(caught.value) and str(error.__cause__) == str(caught.value.__cause__)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_compiles(built: SimpleNamespace) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        good = coopmat.compile(SOURCE, ["--matrices", "one", "--no-validate"]).spirv[:4] == b"\x03\x02\x23\x07"
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
