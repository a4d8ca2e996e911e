"""Launches on Vulkan devices, compared with numpy, and the launches that are refused before the driver sees them."""

from __future__ import annotations

import dataclasses
import gc
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from vulkan_support import ADDRESSES, INT64, MAINTENANCE, SCALE, SCALE_LAUNCH, compiled, open_device

from coopmat import CompileError
from coopmat.vulkan import Device, LocalMemory, Program
from coopmat.vulkan.driver import LogicalDevice, Pipeline
from coopmat.vulkan.modules.launch import LaunchDescription, MatrixProduct, MatrixShape, Requirements


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    with open_device() as opened:
        yield opened


@pytest.fixture
def scale(device: Device) -> Program:
    return device.load_spirv(compiled(SCALE), SCALE_LAUNCH)


def expected(x: np.ndarray, factor: float, offset: int, local: int) -> np.ndarray:
    return x * np.float32(factor) + np.tile(np.arange(local)[::-1], x.size // local).astype(np.float32) + offset


@pytest.mark.parametrize("local", [8, 16, 64])
def test_arrays_numbers_and_local_memory(scale: Program, local: int) -> None:
    x = np.arange(256, dtype=np.float32)
    y = np.zeros_like(x)
    seconds = scale.main(256, local, x, y, 0.5, np.uint32(3), LocalMemory(4 * local))
    assert np.array_equal(y, expected(x, 0.5, 3, local))
    assert 0 < seconds < 10


def test_two_dimensions_and_repeated_runs(scale: Program) -> None:
    x = np.arange(64, dtype=np.float32)
    y = np.zeros_like(x)
    kernel = scale.kernel()
    with scale.bind(kernel, {"y": y, "x": x, "factor": 2.0, "tile": LocalMemory(64), "offset": 0}) as launch:
        for _ in range(3):
            launch.run((16, 4), (16, 1))
        launch.run(64, 16)
        assert np.array_equal(launch.read("y"), expected(x, 2.0, 0, 16))
        assert np.array_equal(launch.read("x"), x)
        assert launch.read("factor") == 2.0
        with pytest.raises(CompileError, match="'main' has no argument 'z', but x, y, factor, offset, tile"):
            launch.read("z")
    assert not y.any()
    with pytest.raises(CompileError, match="the launch of kernel 'main' is closed"):
        launch.read("y")
    with pytest.raises(CompileError, match="the launch of kernel 'main' is closed"):
        launch.run(64, 16)
    with pytest.raises(CompileError, match=r"has the arguments x, .*: 'f' is none of them, 'factor' is missing"):
        scale.bind(kernel, {"x": x, "y": y, "f": 2.0, "offset": 0, "tile": LocalMemory(64)})


def test_the_host_chooses_a_local_size(scale: Program) -> None:
    x = np.ones(48, np.float32)
    y = np.zeros_like(x)
    scale.main(48, None, x, y, 1.0, 0, LocalMemory(4 * 64))
    assert np.array_equal(y, expected(x, 1.0, 0, 48))


def test_an_array_that_only_is_read_may_be_read_only(scale: Program) -> None:
    x = np.ones(16, np.float32)
    x.flags.writeable = False
    y = np.zeros(16, np.float32)
    scale.main(16, 16, x, y, 1.0, 0, LocalMemory(64))
    assert y.any()
    y.flags.writeable = False
    with pytest.raises(CompileError, match="kernel 'main' writes 'y', whose array is read-only"):
        scale.main(16, 16, x, y, 2.0, 0, LocalMemory(64))


X = np.zeros(64, np.float32)


@pytest.mark.parametrize(
    ("sizes", "values", "message"),
    [
        ((60, 16), (X, X, 1.0, 0, LocalMemory(64)), r"global size \(60,\) is no multiple of local size \(16,\)"),
        ((64, (16, 1)), (X, X, 1.0, 0, LocalMemory(64)), "differ in dimensions"),
        ((1 << 20, 1 << 12), (X, X, 1.0, 0, LocalMemory(64)), "more than the device's"),
        (((1, 1, 1, 1), None), (X, X, 1.0, 0, LocalMemory(64)), "a global size has one to three positive integers"),
        ((64, 16.0), (X, X, 1.0, 0, LocalMemory(64)), "a local size has one to three positive integers, not 16.0"),
        ((64.5, 16), (X, X, 1.0, 0, LocalMemory(64)), "a global size has one to three positive integers, not 64.5"),
        ((64, 16), (X, X, 1.0), r"takes 5 arguments \(const float\* x, float\* y, float factor, .*\), not 3"),
        ((64, 16), (X, X, 1.0, 0, 64), r"'tile' \(float\*\) of kernel 'main' needs a LocalMemory\(bytes\), not a int"),
        ((64, 16), (X, 1, 1.0, 0, LocalMemory(64)), r"'y' \(float\*\) of kernel 'main' needs a numpy array"),
        ((64, 16), (X, X[::2], 1.0, 0, LocalMemory(64)), "needs an array in C's order"),
        ((64, 16), (X.astype(float), X, 1.0, 0, LocalMemory(64)), "needs an array of float32, not .* float64"),
        ((64, 16), (X.astype(">f4"), X, 1.0, 0, LocalMemory(64)), "needs numbers in this machine's byte order"),
        ((64, 16), (X, X.astype(np.int32), 1.0, 0, LocalMemory(64)), "needs an array of float32, not .* of int32"),
        ((64, 16), (X, X, 1.0, 1.5, LocalMemory(64)), "'offset' .* needs an integer, not 1.5"),
        ((64, 16), (X, X, 1.0, -1, LocalMemory(64)), "'offset' .* cannot hold -1"),
        ((64, 16), (X, X, 1.0, "a", LocalMemory(64)), "'offset' .* needs an integer, not a str"),
        ((64, 16), (X, X, np.int32(1), 0, LocalMemory(64)), "'factor' .* needs numpy.float32, not numpy.int32 1"),
        ((64, 16), (X, X, np.float64(1), 0, LocalMemory(64)), "'factor' .* needs numpy.float32, not numpy.float64 1.0"),
        ((64, 16), (X, X, 1.0, 0, LocalMemory(1 << 24)), "needs 16777216 bytes of local memory"),
    ],
)
def test_wrong_launches_are_refused(scale: Program, sizes: tuple, values: tuple, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        scale.main(*sizes, *values)


def _requiring(**fields: tuple) -> LaunchDescription:
    return dataclasses.replace(SCALE_LAUNCH, requires=Requirements(**{"features": (ADDRESSES, MAINTENANCE), **fields}))


@pytest.mark.parametrize(
    ("description", "message"),
    [
        (_requiring(extensions=("VK_XX_none",)), "lacks the extension VK_XX_none"),
        (_requiring(features=("VkPhysicalDeviceFeatures.shaderNone",)), "shaderNone, which this version .* not know"),
        (
            _requiring(matrix_types=(MatrixShape("float64", "A", "subgroup", 3, 5),)),
            r"lacks the matrix type 3x5\.A\.f64",
        ),
        (
            _requiring(
                matrix_products=(MatrixProduct(3, 5, 7, *["float8e4m3"] * 2, *["float32"] * 2, "subgroup", False),)
            ),
            r"lacks the multiply-add 3x5x7\.e4m3xe4m3_f32_f32\.nosat",
        ),
        (dataclasses.replace(SCALE_LAUNCH, target_env="vulkan9.0"), r"lacks Vulkan 9\.0 \(it has 1\.\d\)"),
    ],
)
def test_a_device_that_lacks_something_is_named_with_it(
    device: Device, description: LaunchDescription, message: str
) -> None:
    with pytest.raises(CompileError, match=message):
        device.load_spirv(compiled(SCALE), description)


def test_everything_missing_is_listed_at_once(device: Device) -> None:
    both = _requiring(extensions=("VK_XX_none", "VK_XX_other"))
    with pytest.raises(CompileError, match="VK_XX_none; the extension VK_XX_other"):
        device.load_spirv(compiled(SCALE), both)


def test_a_subgroup_size_that_the_device_lacks(device: Device) -> None:
    kernel = dataclasses.replace(SCALE_LAUNCH.kernels["main"], sub_group_size=3)
    description = dataclasses.replace(SCALE_LAUNCH, kernels={"main": kernel})
    with pytest.raises(CompileError, match=r"kernel 'main' needs subgroups of 3, and .* has subgroups of"):
        device.load_spirv(compiled(SCALE), description).kernel("main")


def test_a_required_subgroup_size_needs_full_subgroups(device: Device) -> None:
    size = device.info.sub_group_size
    kernel = dataclasses.replace(SCALE_LAUNCH.kernels["main"], sub_group_size=size)
    program = device.load_spirv(compiled(SCALE), dataclasses.replace(SCALE_LAUNCH, kernels={"main": kernel}))
    x, y = np.ones(4 * size, np.float32), np.zeros(4 * size, np.float32)
    program.main(4 * size, 2 * size, x, y, 1.0, 0, LocalMemory(8 * size))
    assert np.array_equal(y, expected(x, 1.0, 0, 2 * size))
    with pytest.raises(CompileError, match="no multiple of the subgroup size"):
        program.main(4 * size, size // 2, x, y, 1.0, 0, LocalMemory(8 * size))


def test_work_groups_have_few_enough_subgroups(device: Device) -> None:
    limits = {**device.info.limits, "maxComputeWorkgroupSubgroups": 2}
    size = device.info.sub_group_size
    sizes = (size, 2 * size)
    with Device(dataclasses.replace(device.info, limits=limits, requires_sizes=True, sub_group_sizes=sizes)) as small:
        program = small.load_spirv(compiled(SCALE), SCALE_LAUNCH)
        program.main(2 * size, 2 * size, X, X.copy(), 1.0, 0, LocalMemory(8 * size))
        with pytest.raises(CompileError, match=f"more than the device's 2 subgroups in a work-group, of {size} work"):
            program.main(4 * size, 4 * size, X, X.copy(), 1.0, 0, LocalMemory(16 * size))


def test_a_required_work_group_size(device: Device) -> None:
    kernel = dataclasses.replace(SCALE_LAUNCH.kernels["main"], work_group_size=(16, 1, 1))
    program = device.load_spirv(compiled(SCALE), dataclasses.replace(SCALE_LAUNCH, kernels={"main": kernel}))
    x, y = np.ones(32, np.float32), np.zeros(32, np.float32)
    program.main(32, None, x, y, 1.0, 0, LocalMemory(64))
    assert np.array_equal(y, expected(x, 1.0, 0, 16))
    with pytest.raises(CompileError, match=r"local size \(8,\) for kernel 'main', which requires \(16,\)"):
        program.main(32, 8, x, y, 1.0, 0, LocalMemory(64))


def test_a_required_work_group_size_of_more_dimensions(device: Device) -> None:
    kernel = dataclasses.replace(SCALE_LAUNCH.kernels["main"], work_group_size=(16, 2, 1))
    program = device.load_spirv(compiled(SCALE), dataclasses.replace(SCALE_LAUNCH, kernels={"main": kernel}))
    with pytest.raises(CompileError, match=r"of \(16, 2, 1\), and global size \(64,\) has fewer dimensions"):
        program.main(64, None, X, X.copy(), 1.0, 0, LocalMemory(64))


def test_the_alignment_of_addresses(device: Device) -> None:
    kernel = SCALE_LAUNCH.kernels["main"]
    strict = tuple(dataclasses.replace(row, alignment=1 << 62) for row in kernel.arguments)
    description = dataclasses.replace(SCALE_LAUNCH, kernels={"main": dataclasses.replace(kernel, arguments=strict)})
    program = device.load_spirv(compiled(SCALE), description)
    with pytest.raises(CompileError, match=f"'x' is at no multiple of {1 << 62} bytes"):
        program.main(64, 16, X, X, 1.0, 0, LocalMemory(64))


def test_unknown_kernels(scale: Program) -> None:
    with pytest.raises(CompileError, match="there is no kernel 'other'; the kernels are: main"):
        scale.kernel("other")
    with pytest.raises(AttributeError, match="no kernel 'other'"):
        scale.other  # noqa: B018


def test_two_sets_of_features_are_two_devices_and_both_are_freed() -> None:
    with open_device() as device:
        one = device.load_spirv(compiled(SCALE), SCALE_LAUNCH)
        other = device.load_spirv(compiled(SCALE), _requiring(features=(ADDRESSES, MAINTENANCE, INT64)))
        assert device.logical(one.launch) is not device.logical(other.launch)
        for program in (one, other, one):
            y = np.zeros_like(X)
            program.main(64, 16, X, y, 1.0, 1, LocalMemory(64))
            assert np.array_equal(y, expected(X, 1.0, 1, 16))
        del one, other, program
        gc.collect()
    device.close()


def test_a_text_that_is_no_launch_description(device: Device) -> None:
    with pytest.raises(ValueError, match="no launch description"):
        device.load_spirv(b"", "[]")


def test_modules_that_do_not_have_the_described_kernels(device: Device) -> None:
    kernel = SCALE_LAUNCH.kernels["main"]
    far = dataclasses.replace(kernel.arguments[0], offset=24)
    for spirv, kernels, message in (
        (b"", {"main": kernel}, "the bytes are no SPIR-V module: 0 bytes"),
        (b"text" * 9, {"main": kernel}, "the bytes are no SPIR-V module: the magic number of SPIR-V is missing"),
        (compiled(SCALE), {"other": kernel}, "no kernel 'other' for Vulkan; its kernels are: main"),
        (compiled(SCALE), {"main": dataclasses.replace(kernel, arguments=(far,))}, "not fit in its 24 bytes"),
        (compiled(SCALE), {"main": dataclasses.replace(kernel, push_constant_bytes=26)}, "not fit in its 26 bytes"),
    ):
        with pytest.raises(CompileError, match=message):
            device.load_spirv(spirv, dataclasses.replace(SCALE_LAUNCH, kernels=kernels))


def test_threads_open_one_device_for_a_set_of_features(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*arguments: object) -> LogicalDevice:
        time.sleep(0.2)
        return LogicalDevice(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("coopmat.vulkan.program.LogicalDevice", slow)
    with open_device() as device, ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(device.logical, [SCALE_LAUNCH] * 4))) == 1


def test_threads_compile_a_pipeline_once(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*arguments: object, **named: object) -> Pipeline:
        time.sleep(0.2)
        return Pipeline(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("coopmat.vulkan.program.Pipeline", slow)
    program = device.load_spirv(compiled(SCALE), SCALE_LAUNCH)
    with ThreadPoolExecutor(4) as pool:
        pipelines = [pool.submit(program.pipeline, program.kernel(), (16,), {3: 16}) for _ in range(4)]
    assert len({future.result() for future in pipelines}) == 1


def test_threads_may_share_a_device(scale: Program) -> None:
    def work(factor: int) -> bool:
        x, y = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
        for _ in range(10):
            scale.main(256, 16, x, y, factor, 0, LocalMemory(64))
        return np.array_equal(y, expected(x, factor, 0, 16))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))


def test_a_closed_device_frees_what_still_exists() -> None:
    device = open_device()
    program = device.load_spirv(compiled(SCALE), SCALE_LAUNCH)
    launch = program.bind(program.kernel(), {"x": X, "y": X, "factor": 1.0, "offset": 0, "tile": LocalMemory(64)})
    launch.run((64,), (16,))
    device.close()
    for use in (
        lambda: launch.run(64, 16),
        lambda: launch.read("y"),
        lambda: program.main(64, 16, X, X, 1.0, 0, LocalMemory(64)),
    ):
        with pytest.raises(CompileError, match="is closed"):
            use()
    launch.close()
    device.close()
