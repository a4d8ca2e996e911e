"""What host and kernel say of subgroups is the same on every route."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat
from coopmat.devices import DeviceInfo, opencl
from coopmat.diagnostics import CompileError
from coopmat.runtime import Program
from coopmat.runtime.launch_rules import LaunchRules

SOURCE = """
#define ACCUMULATOR CLK_COOPERATIVE_MATRIX_ACCUMULATOR
typedef float M __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 16, ACCUMULATOR)));
uint ask(uint what) {
    uint answers[6] = {get_sub_group_size(), get_sub_group_local_id(), get_sub_group_id(),
        get_num_sub_groups(), get_max_sub_group_size(), sub_group_reduce_add(1u)};
    return answers[what];
}
ATTRIBUTES kernel void matrices(global uint *o) {
    M m = coop_mat_init(1.0f);
    o += get_global_id(0) * 8;
    for (uint i = 0; i < 6; ++i) o[i] = ask(i);
    o[6] = coop_mat_length(m);
    float sum = 0;
    for (uint i = 0; i < coop_mat_length(M); ++i) sum += m[i];
    o[7] = (uint)sum;
}
kernel void plain(global uint *o) {
    o += get_global_id(0) * 8;
    for (uint i = 0; i < 6; ++i) o[i] = ask(i);
}
"""


def build(device: DeviceInfo, *options: str, attributes: str = "") -> Program:
    return Program(coopmat.compile(SOURCE, [f"-DATTRIBUTES={attributes}", *options]), device)


def launch(kernel: LaunchRules, items: int, local: int | None = None) -> np.ndarray:
    """What each work-item answers, of shape (items, 8)."""
    cl, program = opencl(), kernel.program
    size = kernel.local_size_for((items,), None if local is None else (local,))
    out = np.full((items, 8), 99, np.uint32)
    buffer = cl.Buffer(program.context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=out)
    kernel.handle(program.queue, (items,), size, buffer)
    cl.enqueue_copy(program.queue, out, buffer)
    return out


def expected(size: int, items: int, local: int) -> np.ndarray:
    item = np.arange(items)
    n = np.ones(items, int)
    return np.stack([size * n, item % size, item % local // size, local // size * n, size * n, size * n], axis=1)


@pytest.mark.parametrize("kernel", ["matrices", "plain"])
def test_a_subgroup_of_one(device: DeviceInfo, kernel: str) -> None:
    found = build(device, "--matrices", "one").kernel(kernel)
    assert found.info.sub_group_size == found.sub_group_size == 1
    out = launch(found, 24, 6)
    assert out[:, :6].tolist() == expected(1, 24, 6).tolist()
    if kernel == "matrices":
        assert out[:, 6:].tolist() == [[128, 128]] * 24


@pytest.mark.parametrize("kernel", ["matrices", "plain"])
@pytest.mark.parametrize("size", [8, 16, 32])
def test_lanes(device: DeviceInfo, kernel: str, size: int) -> None:
    if size not in device.sub_group_sizes:
        pytest.skip(f"the device has no subgroups of {size}")
    found = build(device, "--matrices", "lanes", "--sub-group-size", str(size)).kernel(kernel)
    assert found.info.sub_group_size == found.sub_group_size == size
    items = size * 6
    out = launch(found, items, size * 2)
    assert out[:, :6].tolist() == expected(size, items, size * 2).tolist()
    if kernel == "matrices":
        # Each subgroup holds the matrix once; nobody counts a component that is another's.
        assert out[:, 6].reshape(6, size).sum(axis=1).tolist() == [128] * 6
        assert out[:, 7].tolist() == out[:, 6].tolist()


@pytest.mark.parametrize(("size", "options"), [(8, ()), (32, ()), (16, ("--sub-group-size", "16"))])
def test_the_kernel_may_ask_for_its_size(device: DeviceInfo, size: int, options: tuple[str, ...]) -> None:
    attributes = f"__attribute__((intel_reqd_sub_group_size({size}))) __attribute__((reqd_work_group_size({size},1,1)))"
    found = build(device, "--matrices", "lanes", *options, attributes=attributes).kernel("matrices")
    assert (found.info.sub_group_size, found.info.reqd_work_group_size) == (size, (size, 1, 1))
    assert launch(found, size * 2)[:, :6].tolist() == expected(size, size * 2, size).tolist()


def test_partial_subgroups_are_refused(device: DeviceInfo) -> None:
    kernel = build(device, "--matrices", "lanes", "--sub-group-size", "16").kernel("matrices")
    for items, local in ((24, 24), (40, None), (48, 24), (8, 8)):
        with pytest.raises(CompileError) as failure:
            launch(kernel, items, local)
        assert failure.value.diagnostics[0].code in ("partial-subgroup", "launch")
    assert launch(kernel, 32)[:, 0].tolist() == [16] * 32


def test_without_matrices_the_device_decides(device: DeviceInfo) -> None:
    source = "kernel void k(global uint *o) { o[get_global_id(0) * 8] = get_sub_group_size(); }"
    found = Program(coopmat.compile(source), device).kernel("k")
    assert found.info.sub_group_size is None
    assert set(launch(found, 128, 64)[:, 0].tolist()) == {found.sub_group_size}


def test_kernels_of_one_program_have_sizes_of_their_own(device: DeviceInfo) -> None:
    kernel = SOURCE[SOURCE.index("ATTRIBUTES kernel") : SOURCE.index("kernel void plain")]
    two = SOURCE.replace("ATTRIBUTES", "__attribute__((intel_reqd_sub_group_size(8)))")
    two += kernel.replace("ATTRIBUTES", "__attribute__((intel_reqd_sub_group_size(16)))").replace("matrices", "other")
    program = Program(coopmat.compile(two, ["--matrices", "lanes"]), device)
    for name, size in (("matrices", 8), ("other", 16)):
        found = program.kernel(name)
        assert found.info.sub_group_size == size
        out = launch(found, size * 6, size * 2)
        assert out[:, :6].tolist() == expected(size, size * 6, size * 2).tolist()
        assert out[:, 6].reshape(6, size).sum(axis=1).tolist() == [128] * 6


@pytest.mark.parametrize("size", [4, 16])
@pytest.mark.parametrize("kernel", ["matrices", "plain"])
def test_scratch(device: DeviceInfo, kernel: str, size: int) -> None:
    program = build(device, "--matrices", "scratch", "--sub-group-size", str(size))
    assert not {"GroupNonUniform", "SubgroupDispatch", "Groups"} & set(program.module.spirv_text.split())
    found = program.kernel(kernel)
    assert (found.info.sub_group_size, found.info.max_work_items) == (size, 256)
    out = launch(found, size * 6, size * 2)
    assert out[:, :6].tolist() == expected(size, size * 6, size * 2).tolist()
    if kernel == "matrices":
        assert out[:, 6].reshape(6, size).sum(axis=1).tolist() == [128] * 6
        with pytest.raises(CompileError, match="partial subgroups"):
            launch(found, size * 3, size * 3 // 2)
    with pytest.raises(CompileError, match="more than the 256 work-items"):
        launch(found, 512, 512)


def test_without_matrices_there_are_no_subgroups_of_one(device: DeviceInfo) -> None:
    source = """__attribute__((intel_reqd_sub_group_size(8)))
    kernel void k(global uint *o) { o[get_global_id(0) * 8] = get_sub_group_size(); }"""
    module = coopmat.compile(source, ["--matrices", "one"])
    found = Program(module, device).kernel("k")
    assert found.info.sub_group_size == 8 and not module.diagnostics
    assert set(launch(found, 64, 64)[:, 0].tolist()) == {8}


def test_a_size_that_is_not_given_is_told(device: DeviceInfo) -> None:
    attributes = "__attribute__((intel_reqd_sub_group_size(8)))"
    module = coopmat.compile(SOURCE.replace("ATTRIBUTES", attributes), ["--matrices", "one"])
    assert module.kernels["matrices"].sub_group_size == 1
    (told,) = module.diagnostics
    assert told.code == "sub-group-size" and told.span is not None
    assert "asks for subgroups of 8, and --matrices one makes them of one" in told.message
    quiet = coopmat.compile(SOURCE.replace("ATTRIBUTES", attributes), ["--matrices", "one", "-Wno-sub-group-size"])
    assert quiet.kernels and not quiet.diagnostics
