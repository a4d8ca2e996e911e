"""The kernels of products with quantized weights, on bytes of the whole range, against decoders in numpy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from quantized_blocks import BLOCKS, decode, random_blocks

from coopmat.devices import DeviceInfo
from coopmat.options import CompileOptions
from coopmat.runtime import Program, launch, parse_header
from coopmat.runtime.launch import compile_for

KERNELS = Path(__file__).parents[2] / "kernels"
ROUTES = ("one", "lanes", "scratch", *(f"{name}:emulated" for name in ("x86", "mma", "wmma", "dpas")))


def check(name: str, route: str, device: DeviceInfo, *options: str) -> None:
    source = (KERNELS / f"gemm_{name}.cl").read_text(encoding="utf-8")
    (run,) = parse_header(source, name)
    m, n, k = 32, 64, 256 if BLOCKS[name][0] == 256 else 128
    blocks, rng = random_blocks(name, n, k), np.random.default_rng(1)
    x = rng.uniform(-1, 1, (m, k)).astype(np.float16)
    flags = CompileOptions.from_arguments(["-w", "--matrices", route, *run.options, *options])
    module = compile_for(source.encode(), flags, device, name=f"gemm_{name}.cl")
    y = launch(Program(module, device), run, arrays={"w": blocks, "x": x}).after["y"]
    w = decode(name, blocks)
    # Weights are rounded to half, but those of MXFP4, and if T is float.
    rounding = 2.0**-18 if name == "mxfp4" or options else 2.0**-11
    bound = rounding * (np.abs(x.astype(float)) @ np.abs(w).T)
    assert np.all(np.abs(y - x.astype(float) @ w.T) <= 2 * bound) and np.abs(w).max() < 65504


@pytest.mark.covering
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", BLOCKS)
def test_every_route(name: str, route: str, device: DeviceInfo) -> None:
    check(name, route, device)


@pytest.mark.parametrize("name", ["q4_k", "mxfp4"])
def test_weights_of_float(name: str, device: DeviceInfo) -> None:
    check(name, "one", device, "-DT=float")


def test_the_least_and_the_nan_scale_of_mxfp4(device: DeviceInfo) -> None:
    source = (KERNELS / "gemm_mxfp4.cl").read_text(encoding="utf-8")
    (run,) = parse_header(source, "mxfp4")
    blocks = random_blocks("mxfp4", 64, 128)
    blocks[0, 0, 0], blocks[1, :, 0], blocks[2, :, 0] = 255, 0, 254
    x = np.full((32, 128), 2.0**-14, np.float16)
    flags = CompileOptions.from_arguments(["-w", "--matrices", "one", *run.options])
    module = compile_for(source.encode(), flags, device, name="gemm_mxfp4.cl")
    y = launch(Program(module, device), run, arrays={"w": blocks, "x": x}).after["y"]
    expected = x.astype(float) @ decode("mxfp4", blocks).T
    assert np.isnan(y[:, 0]).all() and np.abs(y[:, 1]).max() < 2.0**-126
    assert np.allclose(y[:, 2:], expected[:, 2:], rtol=1e-5, atol=1e-6)
