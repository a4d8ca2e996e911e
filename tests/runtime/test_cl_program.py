"""coopmat.Program and coopmat.hook: pyopencl's programs, with matrices."""

from __future__ import annotations

import pickle
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coopmat
from coopmat.cache import CACHE_DIRECTORY, NO_CACHE
from coopmat.devices import DeviceInfo, opencl
from coopmat.runtime import cl_program, device_build

SOURCE = """
#define M(U) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, N, N, CLK_COOPERATIVE_MATRIX_##U)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#ifndef N
#define N 8
#endif
typedef float A M(A);
typedef float B M(B);
typedef float C M(ACCUMULATOR);
kernel void gemm(global const float *a, global const float *b, global float *c, int k)
{
    C s = coop_mat_init(0.0f);
    for (int i = 0; i < k; i += N) {
        A x = coop_mat_load(a + i, ROW, k);
        B y = coop_mat_load(b + i * N, ROW, N);
        s = coop_mat_mulAdd(x, y, s);
    }
    coop_mat_store(c, s, ROW, N);
}
kernel void scale(global float *p, float factor, local float *unused)
{
    A m = coop_mat_load(p, ROW, N);
    coop_mat_store(p, m * factor, ROW, N);
}
"""
PLAIN = "kernel void f(global int *x, int n) { x[get_global_id(0)] = n; }"


@pytest.fixture
def context(device: DeviceInfo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv(CACHE_DIRECTORY, str(tmp_path / "cache"))
    monkeypatch.delenv(NO_CACHE, raising=False)
    warnings.simplefilter("ignore", opencl().CompilerWarning)
    yield opencl().Context([device.handle])


class Gemm:
    """Buffers and the right answer for SOURCE's gemm."""

    def __init__(self, context: Any, n: int = 8, k: int = 24) -> None:
        cl = opencl()
        rng = np.random.default_rng(1)
        self.k, self.queue = k, cl.CommandQueue(context)
        self.a, self.b = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((n, k), (k, n)))
        self.c = np.zeros((n, n), np.float32)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        self.buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (self.a, self.b, self.c)]

    def right(self) -> bool:
        opencl().enqueue_copy(self.queue, self.c, self.buffers[2])
        return bool(np.array_equal(self.c, self.a @ self.b))


@pytest.mark.parametrize(
    ("options", "route", "size"),
    [
        (None, "one", 1),
        ("--matrices lanes", "lanes", 16),
        (["--matrices", "scratch", "--sub-group-size", "8"], "scratch", 8),
    ],
)
def test_gemm_by_every_route(context: Any, options: Any, route: str, size: int) -> None:
    program = coopmat.Program(context, SOURCE).build(options)
    kernel, gemm = program.gemm, Gemm(context)
    assert (kernel.matrix_route, kernel.sub_group_size()) == (route, size)
    assert kernel.sub_group_size(context.devices[0]) == size
    assert kernel.local_size_for_sub_groups(2) == (2 * size,)
    for count in (0, 10**6):
        with pytest.raises(ValueError, match=rf"a work-group of kernel 'gemm' has 1 to \d+ subgroups, not {count}"):
            kernel.local_size_for_sub_groups(count)
    with pytest.raises(TypeError):
        kernel.local_size_for_sub_groups(1.5)
    event = kernel(gemm.queue, (size,), None, *gemm.buffers, gemm.k)
    event.wait()
    assert gemm.right()
    # Once more, by the arguments' own call.
    kernel.set_args(*gemm.buffers, np.int32(gemm.k))
    opencl().enqueue_nd_range_kernel(gemm.queue, kernel, (size,), (size,)).wait()
    assert gemm.right()


def test_local_sizes_of_kernels_that_require_one(context: Any) -> None:
    sized = "kernel __attribute__((reqd_work_group_size({}, 1))) void f(global int *p) {{"
    use = "int m __attribute__((coop_mat(memory_scope_sub_group, 4, 4, CLK_COOPERATIVE_MATRIX_A))) = coop_mat_init(1);"
    for sizes, count in (("64, 1", 4), ("8, 8", None)):
        text = f"{sized.format(sizes)} {use} coop_mat_store(p, m, 0, 4); }}"
        kernel = coopmat.Program(context, text).build("--matrices lanes --sub-group-size 16").f
        if count is not None:
            assert kernel.local_size_for_sub_groups(count) == (64,)
        with pytest.raises(ValueError, match=rf"has the local size \({sizes}, 1\), not 1 subgroups"):
            kernel.local_size_for_sub_groups(1)


def test_native_matrices_where_the_device_has_none_are_an_error_of_the_options(context: Any) -> None:
    if "cl_khr_cooperative_matrix" in context.devices[0].extensions.split():
        pytest.skip("the device has native matrices")
    program = coopmat.Program(context, SOURCE)
    with pytest.raises(coopmat.CompileError, match="has no cl_khr_cooperative_matrix") as caught:
        program.build("--matrices native")
    (item,) = caught.value.diagnostics
    assert item.code == "no-route" and item.message.endswith("; use --matrices one")
    assert isinstance(caught.value, opencl().RuntimeError)
    with coopmat.hook(), pytest.raises(coopmat.CompileError, match="use --matrices one"):
        opencl().Program(context, SOURCE).build("--matrices native")
    assert program.build("--matrices one").gemm.matrix_route == "one"


def test_it_is_a_pyopencl_program(context: Any) -> None:
    cl = opencl()
    program = coopmat.Program(context, SOURCE)
    assert program.build(options=["-DN=4"]) is program and isinstance(program, cl.Program)
    assert program.kernel_names.split(";") == ["gemm", "scale"] and program.num_kernels == 2
    assert [kernel.function_name for kernel in program.all_kernels()] == ["gemm", "scale"]
    assert program.source == SOURCE and program.context == context and len(program.binaries) == 1
    assert program.get_build_info(context.devices[0], cl.program_build_info.STATUS) == 0
    assert isinstance(program.gemm, cl.Kernel) and program.gemm.num_args == 4
    names = [program.gemm.get_arg_info(n, cl.kernel_arg_info.NAME) for n in range(4)]
    types = [program.gemm.get_arg_info(n, cl.kernel_arg_info.TYPE_NAME) for n in range(4)]
    assert names == ["a", "b", "c", "k"] and types[3] == "int"
    with pytest.raises(AttributeError, match="gemm, scale"):
        program.nothing  # noqa: B018
    # As bytes, and as pyopencl's own kernel object.
    again = coopmat.Program(context, SOURCE.encode()).build()
    kernel = cl.Kernel(again, "gemm")
    gemm = Gemm(context)
    kernel(gemm.queue, (1,), (1,), *gemm.buffers, np.int32(gemm.k))
    assert gemm.right()


def test_binaries_can_be_loaded(context: Any) -> None:
    built = coopmat.Program(context, SOURCE).build()
    loaded = coopmat.Program(context, context.devices, built.binaries).build()
    gemm = Gemm(context)
    loaded.gemm(gemm.queue, (1,), None, *gemm.buffers, np.int32(gemm.k))
    assert gemm.right()


def test_arrays_and_shared_virtual_memory(context: Any) -> None:
    cl = opencl()
    from pyopencl import array as cl_array

    program, gemm = coopmat.Program(context, SOURCE).build(), Gemm(context)
    arrays = [cl_array.to_device(gemm.queue, array) for array in (gemm.a, gemm.b, gemm.c)]
    program.gemm(gemm.queue, (1,), None, *(array.data for array in arrays), gemm.k)
    assert np.array_equal(arrays[2].get(), gemm.a @ gemm.b)
    if not context.devices[0].svm_capabilities & cl.device_svm_capabilities.COARSE_GRAIN_BUFFER:
        return
    shared = [cl.SVM(cl.csvm_empty(context, array.shape, array.dtype)) for array in (gemm.a, gemm.b, gemm.c)]
    for target, array in zip(shared, (gemm.a, gemm.b, gemm.c), strict=True):
        with target.map_rw(gemm.queue) as mapped:
            mapped[:] = array
    program.gemm(gemm.queue, (1,), None, *shared, gemm.k)
    with shared[2].map_ro(gemm.queue) as mapped:
        assert np.array_equal(mapped, gemm.a @ gemm.b)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a[:3], "takes 4 arguments .*not 3"),
        (lambda a: [*a, 1], "takes 4 arguments .*not 5"),
        (lambda a: [*a[:3], 1.5], r"argument 4 .*'k' \(int\): needs an integer, not 1.5"),
        (lambda a: [*a[:3], 2**31], "cannot hold 2147483648"),
        (lambda a: [*a[:3], np.int64(8)], "needs numpy.int32, not numpy.int64"),
        (lambda a: [*a[:3], a[0]], "needs a value, not a pyopencl.Buffer"),
        (lambda a: [a[0], 3, *a[2:]], r"argument 2 .*'b' \(global const float \*\): needs a buffer, not 3"),
        (lambda a: [a[0], np.zeros(4, np.float32), *a[2:]], "copy it to the device first"),
        (lambda a: [opencl().LocalMemory(4), *a[1:]], "needs a buffer, not a pyopencl.LocalMemory"),
    ],
)
def test_wrong_arguments_are_named(context: Any, change: Any, message: str) -> None:
    program, gemm = coopmat.Program(context, SOURCE).build(), Gemm(context)
    arguments = change([*gemm.buffers, gemm.k])
    with pytest.raises(cl_program.ArgumentError, match=f"kernel 'gemm'.*{message}|{message}") as caught:
        program.gemm(gemm.queue, (1,), None, *arguments)
    assert isinstance(caught.value, opencl().LogicError) and isinstance(caught.value, TypeError)
    with pytest.raises(cl_program.ArgumentError):
        program.gemm.set_args(*arguments)


def test_local_memory_and_floats(context: Any) -> None:
    program, gemm = coopmat.Program(context, SOURCE).build(), Gemm(context, 8, 8)
    program.scale(gemm.queue, (1,), None, gemm.buffers[0], 2.0, opencl().LocalMemory(64))
    got = np.empty_like(gemm.a)
    opencl().enqueue_copy(gemm.queue, got, gemm.buffers[0])
    assert np.array_equal(got, 2 * gemm.a)
    with pytest.raises(cl_program.ArgumentError, match="LocalMemory"):
        program.scale(gemm.queue, (1,), None, gemm.buffers[0], 2.0, gemm.buffers[1])


def test_partial_subgroups_are_refused(context: Any) -> None:
    program, gemm = coopmat.Program(context, SOURCE).build("--matrices lanes"), Gemm(context)
    for sizes in (((7,), (7,)), ((24,), None)):
        with pytest.raises(cl_program.LaunchError, match=r"partial subgroups|multiple") as caught:
            program.gemm(gemm.queue, *sizes, *gemm.buffers, gemm.k)
        assert str(sizes[0][0]) in str(caught.value) and isinstance(caught.value, opencl().LogicError)


def test_errors_are_pyopencls_too(context: Any) -> None:
    cl = opencl()
    with pytest.raises(coopmat.CompileError) as caught:
        coopmat.Program(context, SOURCE.replace("coop_mat_init(0.0f)", "coop_mat_init()")).build()
    error: Any = caught.value
    assert isinstance(error, cl.RuntimeError) and error.code == cl.status_code.BUILD_PROGRAM_FAILURE
    assert "argument-count" in str(error) and [d.code for d in error.diagnostics] == ["argument-count"]
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    with pytest.raises(cl.RuntimeError, match="--matrices takes"):
        coopmat.Program(context, SOURCE).build("--matrices nonsense")


def test_driver_errors_keep_the_code(context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = b"\x03\x02\x23\x07" + bytes(16)
    monkeypatch.setattr(coopmat.Module, "spirv", property(lambda module: broken))
    with pytest.raises(coopmat.BuildError) as caught:
        coopmat.Program(context, SOURCE).build()
    assert isinstance(caught.value, opencl().RuntimeError)
    path = Path(caught.value.source_path)
    assert path.suffix == ".spv" and path.read_bytes() == broken
    path.unlink()


def test_warnings_reach_the_user(context: Any) -> None:
    text = SOURCE.replace("C s =", "int unused_thing; C s =")
    with pytest.warns(opencl().CompilerWarning):
        coopmat.Program(context, text).build("-Wall")


def test_cache_spares_the_compiler(context: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    compiled: list[str] = []
    original = device_build.compiler.compile

    def compile_and_count(source: str, *arguments: Any, **others: Any) -> Any:
        compiled.append(source)
        return original(source, *arguments, **others)

    monkeypatch.setattr(device_build.compiler, "compile", compile_and_count)
    (tmp_path / "tile.h").write_text("#define N 8\n")
    text, options = '#include "tile.h"\n' + SOURCE, f"-I {tmp_path}"
    for _ in range(3):
        gemm = Gemm(context)
        coopmat.Program(context, text).build(options).gemm(gemm.queue, (1,), None, *gemm.buffers, gemm.k)
        assert gemm.right()
    assert len(compiled) == 1
    (tmp_path / "tile.h").write_text("#define N 4\n")
    assert coopmat.Program(context, text).build(options).gemm.num_args == 4
    coopmat.Program(context, text).build([options, "-DX"])
    assert len(compiled) == 3
    for path in (tmp_path / "cache" / "entries").rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-7])
    gemm = Gemm(context, 4)
    coopmat.Program(context, text).build(options).gemm(gemm.queue, (1,), None, *gemm.buffers, gemm.k)
    assert gemm.right() and len(compiled) == 4


def test_device_that_refuses_its_own_binary(context: Any, tmp_path: Path) -> None:
    coopmat.Program(context, SOURCE).build()
    cache = device_build.Cache(tmp_path / "cache")
    (path,) = (path for path in (tmp_path / "cache" / "entries").rglob("*") if path.is_file())
    key = path.parent.name + path.name
    entry = cache.get(key)
    assert entry is not None
    cache.put(key, device_build.Entry(b"not a binary", entry.facts))
    gemm = Gemm(context)
    coopmat.Program(context, SOURCE).build().gemm(gemm.queue, (1,), None, *gemm.buffers, gemm.k)
    assert gemm.right()


def test_hook_takes_matrices_and_leaves_the_rest(context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cl = opencl()
    calls: list[tuple[Any, ...]] = []
    original = cl._cl._Program

    class Recorded(original):  # type: ignore[misc, valid-type]
        def __init__(self, *arguments: Any) -> None:
            calls.append(("create", *arguments))
            super().__init__(*arguments)

        def build(self, *arguments: Any) -> Any:
            calls.append(("build", *arguments))
            return super().build(*arguments)

    build = cl.Program.build
    monkeypatch.setattr(cl._cl, "_Program", Recorded)
    monkeypatch.setenv("PYOPENCL_NO_CACHE", "1")

    def plain() -> list[tuple[Any, ...]]:
        calls.clear()
        program = cl.Program(context, PLAIN).build("-DX=1", cache_dir=False)
        assert type(program) is cl.Program and program.f.num_args == 2
        return list(calls)

    before = plain()
    with coopmat.hook():
        with coopmat.hook():
            inside = plain()
        program = cl.Program(context, SOURCE).build(["-DN=8"])
        gemm = Gemm(context)
        program.gemm(gemm.queue, (1,), None, *gemm.buffers, gemm.k)
        assert gemm.right() and isinstance(program, coopmat.Program)
    assert before and before == inside
    assert cl.Program.build is build
    with pytest.raises(cl.RuntimeError):
        cl.Program(context, SOURCE).build()


def test_hook_for_everything(context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every source is compiled here, for whoever wants this compiler's diagnostics; binaries are not."""
    cl = opencl()
    wrong = PLAIN + "kernel void g(global int *p) { p[0] = nosuch; }"
    with coopmat.hook(everything=True):
        program = cl.Program(context, PLAIN).build("-DX=1")
        assert isinstance(program, coopmat.Program) and program.f.num_args == 2
        with pytest.raises(coopmat.CompileError, match="'nosuch' is not declared"):
            cl.Program(context, wrong).build("-DX=1")
        with pytest.raises(coopmat.CompileError, match="'nosuch' is not declared"):
            coopmat.Program(context, wrong).build("-DX=1")
        with coopmat.hook(everything=False):
            assert isinstance(cl.Program(context, PLAIN).build("-DX=1"), coopmat.Program)
        binaries = program.get_info(cl.program_info.BINARIES)
        again = cl.Program(context, context.devices, binaries).build()
        assert type(again) is cl.Program and again.f.num_args == 2
    with coopmat.hook():
        assert type(cl.Program(context, PLAIN).build("-DX=1")) is cl.Program
    monkeypatch.setenv("COOPMAT_HOOK", "all")
    with coopmat.hook():
        assert isinstance(cl.Program(context, PLAIN).build("-DX=1"), coopmat.Program)
    with coopmat.hook(everything=False):
        assert type(cl.Program(context, PLAIN).build("-DX=1")) is cl.Program


def test_a_program_from_its_number(context: Any) -> None:
    cl = opencl()
    program = coopmat.Program(context, SOURCE).build()
    again = type(program).from_int_ptr(program.int_ptr)
    assert type(again) is coopmat.Program
    gemm = Gemm(context)
    again.gemm(gemm.queue, (1,), None, *gemm.buffers, gemm.k)
    assert gemm.right() and again.gemm.matrix_route == program.gemm.matrix_route
    kernel = program.gemm
    same = type(kernel).from_int_ptr(kernel.int_ptr)
    assert same == kernel and type(same) is type(kernel) and same.matrix_route == kernel.matrix_route
    plain = cl.Program(context, PLAIN).build("-DX=1")
    theirs = coopmat.Program.from_int_ptr(plain.int_ptr)
    assert type(theirs) is coopmat.Program and theirs.f.num_args == 2
    plain_kernel = cl.Kernel(plain, "f")
    other = type(kernel).from_int_ptr(plain_kernel.int_ptr)
    assert other == plain_kernel and type(other) is cl.Kernel and other.num_args == 2


def test_hook_looks_into_includes(context: Any, tmp_path: Path) -> None:
    (tmp_path / "all.h").write_text(SOURCE)
    with coopmat.hook():
        program = opencl().Program(context, '#include "all.h"').build(f"-I{tmp_path}")
        assert isinstance(program, coopmat.Program) and program.kernel_names == "gemm;scale"
        (tmp_path / "all.h").write_text(PLAIN)
        plain = opencl().Program(context, '#include "all.h"').build(f"-I{tmp_path}")
        assert not isinstance(plain, coopmat.Program)


def test_threads_have_kernels_of_their_own(context: Any) -> None:
    program = coopmat.Program(context, SOURCE).build()
    wrong: list[int] = []

    def work(seed: int) -> None:
        gemm = Gemm(context)
        for n in range(20):
            if (n + seed) % 5 == 0:
                coopmat.Program(context, SOURCE).build()
            program.gemm(gemm.queue, (1,), None, *gemm.buffers, gemm.k)
            if not gemm.right():
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_source_may_be_a_path(context: Any, tmp_path: Path) -> None:
    """Includes are looked for beside it, with matrices and without; messages have its name."""
    place = tmp_path / "a place"
    place.mkdir()
    (place / "size.h").write_text("#define N 8\n", encoding="utf-8")
    path = place / "gemm.cl"
    path.write_text('#include "size.h"\n' + SOURCE, encoding="utf-8")
    gemm = Gemm(context)
    coopmat.Program(context, path).build().gemm(gemm.queue, (1,), None, *gemm.buffers, gemm.k).wait()
    assert gemm.right()
    path.write_text('#include "size.h"\n' + SOURCE.replace("C s = ", "C s = nosuch + "), encoding="utf-8")
    with pytest.raises(coopmat.CompileError) as failure:
        coopmat.Program(context, path).build()
    assert f"{path}:13:" in str(failure.value)
    plain = place / "plain.cl"
    plain.write_text('#include "size.h"\n' + PLAIN.replace("= n", "= N"), encoding="utf-8")
    for options in (None, "-DX", ["-DX"]):
        assert coopmat.Program(context, plain).build(options).f is not None
    module = coopmat.compile(PLAIN, ["--matrices", "one"])
    (place / "plain.spv").write_bytes(module.spirv)
    assert coopmat.Program(context, place / "plain.spv").build().f is not None
    with pytest.raises(OSError, match="nothing"):
        coopmat.Program(context, place / "nothing.cl")


DEVICE_OPTIONS = (
    "-cl-uniform-work-group-size",
    "-cl-denorms-are-zero",
    "-cl-fp32-correctly-rounded-divide-sqrt",
    "-cl-no-subgroup-ifp",
    "-cl-kernel-arg-info",
)


@pytest.mark.parametrize("code", ["spirv", "c"])
def test_options_for_the_device_reach_its_build(context: Any, code: str) -> None:
    """Those that the compiler knows, but does not carry out, and those that only the device knows."""
    device = context.devices[0]
    program = coopmat.Program(context, SOURCE).build([*DEVICE_OPTIONS, "--code", code])
    assert program.gemm.matrix_route == "one"
    with coopmat.hook(everything=True):
        plain = opencl().Program(context, PLAIN).build([*DEVICE_OPTIONS, "--code", code])
    for built in (program, plain):
        options = built.get_build_info(device, opencl().program_build_info.OPTIONS).split()
        assert set(DEVICE_OPTIONS) <= set(options), options


def test_uniform_work_groups_are_held_to(context: Any) -> None:
    """A launch of 100 work-items in groups of 64 is refused, as for the device's own build with this option."""
    cl = opencl()
    queue, buffer = cl.CommandQueue(context), cl.Buffer(context, cl.mem_flags.READ_WRITE, 400)
    for everything in (False, True):
        with coopmat.hook(everything=everything):
            kernel = cl.Program(context, PLAIN).build(["-cl-uniform-work-group-size", "-cl-std=CL3.0"]).f
        kernel.set_args(buffer, np.int32(1))
        with pytest.raises(cl.LogicError, match="INVALID_WORK_GROUP_SIZE"):
            cl.enqueue_nd_range_kernel(queue, kernel, (100,), (64,))


def test_unknown_options_of_clang_are_not_passed_to_the_device() -> None:
    assert device_build.split_options("-cl-nosuch -fwrapv")[1] == ["-cl-nosuch"]
    with pytest.raises(coopmat.UsageError, match="unknown option '-fno-such'"):
        device_build.split_options("-cl-nosuch -fno-such")
