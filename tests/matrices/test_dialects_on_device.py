"""Programs as LLVM IR of other dialects, also optimised by LLVM: read, lowered, run on a device, against numpy."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from matrix_programs import Target, run
from matrix_table import execution, table
from matrix_table.axes import NATIVE, targets
from opencl_devices import device_of
from optimise import optimised
from repeats import slow_where
from test_programs_on_device import THEMES

import coopmat
from coopmat.devices import DeviceInfo, opencl
from coopmat.devices.environment import processor
from coopmat.matrices.numpy_reference import Array

TARGETS = (Target("one", 1), Target("lanes", 16), Target("scratch", 16))
WAYS = (("khr", "O2"), ("rfc", ""), ("clang", "O1"))
# Each is tried on other things.
PLACES = [(target, *way, number) for number, (target, way) in enumerate(product(TARGETS, WAYS))]
each_place = pytest.mark.parametrize(("target", "dialect", "passes", "number"), PLACES, ids=lambda value: str(value))
# Each target and each way once.
each_target_and_way = pytest.mark.parametrize(
    ("target", "dialect", "passes", "number"),
    slow_where(lambda target, dialect, passes, number: number % 4, PLACES),
    ids=lambda value: str(value),
)
compile_source = coopmat.compile


def through(dialect: str, passes: str, profile: str = "khr") -> Callable[..., coopmat.Module]:
    """A compiler by way of IR: the source as native IR, that as `dialect` and through `passes`, which is read back."""

    def compile(source: str, options: Sequence[str] = (), *, name: str) -> coopmat.Module:
        text = compile_source(source, ["--dialect", dialect, "--native-profile", profile], name=name).llvm_ir
        text = optimised(text, passes) if passes else text
        return compile_source(text, options, name="cases.ll", language="ir")

    return compile


@each_place
def test_programs(
    device: DeviceInfo, target: Target, dialect: str, passes: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coopmat, "compile", through(dialect, passes))
    names = list(THEMES)
    theme = THEMES[names[(number + 3) % len(names)]]
    run(device, target, [next(iter(theme(np.random.default_rng(7), target)))])


@each_target_and_way
def test_operations(
    device: DeviceInfo, target: Target, dialect: str, passes: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A selection of what native matrices can do, with one row of bfloat16 at least."""
    there = {row.name for row in table.rows_on(target.route)}
    chosen = [row for where, row in table.covering((*targets(device), NATIVE), 0) if where == NATIVE]
    rows = [row for row in chosen if row.name in there]
    bfloat16 = [row for row in rows if "bf16" in row.name]
    picked = rows[number :: 5 * len(PLACES)] + bfloat16[number :: len(PLACES)][:1]
    assert len(picked) > 3 and bfloat16
    monkeypatch.setattr(coopmat, "compile", through(dialect, passes))
    found = execution.Runner(device, 0).run(target, picked)
    # LLVM IR has no word of its own for 8-bit floating point, and is not read with SPIR-V's.
    refused = [finding for finding in found if "components of SPIR-V's own types are not supported" in finding.text]
    assert len(refused) < len(picked)
    found = [finding for finding in found if finding not in refused]
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_functions_of_components_and_changes_of_use(
    device: DeviceInfo, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As instructions of the maintenance extension, not staged. LLVM IR has no word for 8-bit floating point."""
    rows = [row for row in table.rows_on(target.route) if not re.search(r"e[45]m[32]", row.name)]
    picked = [
        row
        for start in ("reduction of", "reductions of", "maps of", "builds of", "transposes of", "changes of use of")
        for row in [row for row in rows if row.name.startswith(start)][TARGETS.index(target) :: 14]
    ]
    assert len(picked) > 10
    monkeypatch.setattr(coopmat, "compile", through("khr", "", "maint1"))
    found = execution.Runner(device, 0).run(target, picked)
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize("dialect", ["rfc", "clang", "intel", "intel-opaque", "intel-spirv"])
@pytest.mark.parametrize("component", ["floate4m3_t", "floate5m2_t"])
def test_components_of_8_bit_floating_point(dialect: str, component: str) -> None:
    """What dialects write of them is read again; Intel's have no word for them."""
    matrix = "coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 2, 2, CLK_COOPERATIVE_MATRIX_A)"
    layout = "CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR"
    work = f"A a = coop_mat_load(p, {layout}, 2); coop_mat_store(p, a, {layout}, 2);"
    source = f"typedef {component} A __attribute__(({matrix}));\nkernel void k(global {component} *p) {{ {work} }}"
    module = coopmat.compile(source, ["-cl-ext=+cl_khr_cooperative_matrix", "-w", "--dialect", dialect])
    if dialect.startswith("intel"):
        with pytest.raises(coopmat.CompileError, match=f"--dialect {dialect}: components of SPIR-V's own types"):
            module.llvm_ir  # noqa: B018
    else:
        for matrices in ("native", "one"):
            again = coopmat.compile(module.llvm_ir, ["-w", "--matrices", matrices], language="ir")
            assert (b"SPV_KHR_cooperative_matrix" in again.spirv) == (matrices == "native")


BUILD = """
import sys
from pathlib import Path
from opencl_devices import device_of
from coopmat.devices import opencl
device, cl = device_of("cpu"), opencl()
program = cl._cl._create_program_with_il(cl.Context([device.handle]), Path(sys.argv[1]).read_bytes())
program.build(b"", [device.handle])
print("built")
"""


def test_stores_of_some_lanes_for_processors_with_avx2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler of the CPU runtime ended the process over this kernel."""
    device_of("cpu")
    if "avx2" not in " ".join(processor()):
        pytest.skip("the processor has no AVX2")
    monkeypatch.setattr(coopmat, "compile", through("clang", "O1"))
    (row,) = [row for row in table.rows_on("lanes") if row.name == "memory f32 ACCUMULATOR PACKED"]
    target = Target("lanes", 16)
    path = tmp_path / "module.spv"
    path.write_bytes(execution.compile_plans(target, [row.plan(target, 0)]).spirv)
    environment = {**os.environ, "CL_CONFIG_CPU_TARGET_ARCH": "core-avx2", "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("CL_CONFIG_LLVM_OPTIONS", None)
    command = [sys.executable, "-c", BUILD, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert "built" in done.stdout, done.stderr[-2000:]


@pytest.mark.parametrize(("name", "passes"), [("jumps", "O1"), ("structures", "O2")])
def test_pointers_that_do_not_say_to_what(
    device: DeviceInfo, name: str, passes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As clang writes parameters; and nothing is inlined. What optimisation makes of members counts bytes."""

    def compile(source: str, options: Sequence[str] = (), *, name: str) -> coopmat.Module:
        text = compile_source(source, ["--dialect", "clang"], name=name).llvm_ir
        text = re.sub(r" byref\((?:[^()]|\([^()]*\))*\)", "", text)
        text, count = re.subn(r"(?m)^(attributes #\d+ = \{)", r"\1 noinline", text)
        assert count
        return compile_source(optimised(text, passes), options, name="cases.ll", language="ir")

    monkeypatch.setattr(coopmat, "compile", compile)
    run(device, TARGETS[0], list(THEMES[name](np.random.default_rng(7), TARGETS[0]))[1:2])


# --- subgroups -----------------------------------------------------------------------------------

SUBGROUPS = """
typedef float M
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
#define INT(e) i[n++ * get_local_size(0) + l] = (e)
#define FLOAT(e) f[n++ * get_local_size(0) + l] = (e)
#define VECTOR(e) vstore4((e), n++ * get_local_size(0) + l, f)
kernel void k(global int *i, global float *f, global const int *in) {
    M m = coop_mat_load(f, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
    coop_mat_store(f, m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
    int l = get_local_id(0), x = in[l], n = 0;
    uint4 b = sub_group_ballot(x & 1), r = intel_sub_group_block_read4((global uint *)in);
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    INT(get_sub_group_local_id() + 100 * get_sub_group_size() + 10000 * get_sub_group_id());
    INT(get_num_sub_groups() + 100 * get_enqueued_num_sub_groups() + 10000 * get_max_sub_group_size());
    INT(sub_group_reduce_add(x)); INT(sub_group_any(x & 1)); INT(sub_group_scan_exclusive_add(x));
    INT(sub_group_non_uniform_reduce_logical_and(x)); INT(sub_group_clustered_reduce_max(x, 4));
    INT(b.x + sub_group_ballot_bit_count(b) + sub_group_ballot_exclusive_scan(b)); INT(sub_group_inverse_ballot(b));
    INT(sub_group_elect()); INT(sub_group_non_uniform_all_equal(x)); INT(get_sub_group_le_mask().x);
    INT((int)sub_group_broadcast((long)x, 0)); INT(sub_group_shuffle((char)x, 1)); INT(sub_group_rotate(x, 3));
    INT(intel_sub_group_shuffle_up(x, x + 1, 2)); INT(r.y);
    intel_sub_group_block_write2((global uint *)i + n++ * get_local_size(0), r.zw);
    n = 0; FLOAT(sub_group_reduce_min((float)x)); FLOAT(intel_sub_group_shuffle_down((float)x, x + 0.5f, 2));
    VECTOR(sub_group_non_uniform_broadcast((float4)(x, x + 1, x + 2, x + 3), 0));
    VECTOR(intel_sub_group_shuffle((float4)(x, 1, 2, x), 1));
}
"""


def launched(
    device: DeviceInfo, module: coopmat.Module, kernel: str, size: int | tuple[int, ...], buffers: Sequence[Array]
) -> list[Array]:
    """What a work-group leaves in the buffers."""
    local = (size,) if isinstance(size, int) else size
    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        program = cl.Program(context, module.spirv).build()
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    there = [cl.Buffer(context, flags, hostbuf=array) for array in buffers]
    getattr(program, kernel)(queue, local, local, *there)
    results = [np.empty_like(array) for array in buffers]
    for array, buffer in zip(results, there, strict=True):
        cl.enqueue_copy(queue, array, buffer)
    return results


@pytest.mark.parametrize(("target", "way"), list(zip(TARGETS, WAYS, strict=True)), ids=str)
def test_subgroup_functions(device: DeviceInfo, target: Target, way: tuple[str, str]) -> None:
    """The same as straight from the source, which is held to a reference elsewhere."""
    values = np.random.default_rng(3).integers(-8, 8, 256, np.int32)
    buffers = [np.zeros(1024, np.int32), np.zeros(1024, np.float32), values]
    compilers = (compile_source, through(*way))
    modules = [compile(SUBGROUPS, target.options, name="subgroups.cl") for compile in compilers]
    expected, got = (launched(device, module, "k", 32, buffers) for module in modules)
    assert all((x == y).all() for x, y in zip(expected, got, strict=True))
    assert np.count_nonzero(got[0]) > 300 and np.count_nonzero(got[1]) > 200


SEVERAL = """
typedef float M
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 24, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
typedef float A __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 4, CLK_COOPERATIVE_MATRIX_A)));
typedef float B __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 24, CLK_COOPERATIVE_MATRIX_B)));
__attribute__((noinline)) M twice(M m) { return m + m; }
__attribute__((noinline)) void work(global float *p) {
    A a = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 4);
    B b = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 24);
    M c = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 24);
    coop_mat_store(p, twice(coop_matmul_add(a, b, c, 0)), CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 24);
}
#define KERNEL(n) __attribute__((intel_reqd_sub_group_size(n))) kernel void k##n(global float *p) { work(p); }
KERNEL(8) KERNEL(16) KERNEL(32)
"""


@pytest.mark.parametrize(("route", "dialect", "passes"), [("lanes", "khr", ""), ("scratch", "rfc", "O1")])
def test_kernels_of_several_subgroups(device: DeviceInfo, route: str, dialect: str, passes: str) -> None:
    module = through(dialect, passes)(SEVERAL, ["--matrices", route], name="several.cl")
    values = (np.random.default_rng(4).integers(-8, 9, 96) / 4).astype(np.float32)
    whole = values.reshape(4, 24)
    expected = 2 * (values[:16].reshape(4, 4) @ whole + whole)
    for size in (8, 16, 32):
        if route == "scratch" or size in device.sub_group_sizes:
            (got,) = launched(device, module, f"k{size}", size, [values])
            assert (got.reshape(4, 24) == expected).all(), size
