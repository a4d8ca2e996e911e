"""Our own native modules, lowered as SPIR-V, on a device."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from opencl_devices import sub_group_device

import coopmat
from coopmat.devices import DeviceInfo, opencl
from coopmat.spirv.module import Module

KERNELS = Path(__file__).parents[3] / "kernels"
LD = 80
GEMM = [f"-D{name}={value}" for name, value in {"TM": 2, "TN": 2, "K": 64, "LDA": LD, "LDB": LD, "LDC": LD}.items()]
ROUTES = [["one"], ["lanes", "--sub-group-size", "8"], ["lanes"], ["scratch", "--sub-group-size", "8"]]


@pytest.fixture(scope="module")
def device() -> DeviceInfo:
    return sub_group_device()


@pytest.fixture(scope="module")
def native() -> bytes:
    return coopmat.compile((KERNELS / "gemm_f32.cl").read_text(), GEMM).spirv


@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
def test_a_product_of_matrices(native: bytes, device: DeviceInfo, route: list[str]) -> None:
    module = coopmat.compile(native, ["--matrices", *route], language="spv")
    names = {item.name for item in Module.parse(module.spirv).instructions}
    assert not [name for name in names if "Cooperative" in name]
    kernel = module.kernels["gemm_f32"]
    lanes = kernel.sub_group_size or 1
    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    program = cl.Program(context, module.spirv).build(cache_dir=False)
    rng = np.random.default_rng(1)
    a, b, c = (rng.integers(-8, 8, (64, LD)).astype(np.float32) for _ in range(3))
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=x) for x in (a, b, c)]
    program.gemm_f32(queue, (2 * lanes, 2), (lanes, 1), *buffers)
    result = np.empty_like(c)
    cl.enqueue_copy(queue, result, buffers[2])
    assert np.array_equal(result[:, :64], a[:, :64] @ b[:, :64])
    assert np.array_equal(result[:, 64:], c[:, 64:])


def test_native_goes_through_unchanged(native: bytes) -> None:
    module = coopmat.compile(native, language="spv")
    assert module.spirv == native
    assert module.kernels["gemm_f32"].uses_matrices
