"""Kernels of matrices beside the same in plain OpenCL C, which is longer: what is under plain/ is right, too."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import coopmat
from coopmat.devices import DeviceInfo, opencl
from coopmat.runtime import parse_header, run_source

KERNELS = Path(__file__).parents[2] / "kernels"
HERE = Path(__file__).parent
PLAIN = sorted((HERE / "plain").glob("*.cl"))
# Attention in plain OpenCL C is checked with the other kernels of this folder.
COUNTERPARTS = {"flash_attention": HERE / "attention.cl", **{path.stem: path for path in PLAIN}}


def lines_of_code(path: Path) -> int:
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return sum(1 for line in text.splitlines() if line.strip())


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: path.stem)
def test_the_plain_one_is_right(path: Path, device: DeviceInfo) -> None:
    source = path.read_bytes()
    for run in parse_header(source.decode(), path.name):
        result = run_source(source, path.name, run, device, [])
        assert result.checks and result.ok


@pytest.mark.parametrize("name", COUNTERPARTS)
def test_the_one_of_matrices_is_shorter(name: str) -> None:
    assert 10 < lines_of_code(KERNELS / f"{name}.cl") < lines_of_code(COUNTERPARTS[name])


@pytest.mark.parametrize("folder", [KERNELS, HERE / "plain"], ids=["matrices", "plain"])
def test_outside_of_the_image_there_are_zeros(folder: Path, device: DeviceInfo) -> None:
    """The convolution's own check leaves the borders out."""
    height, width, channels, filters, size = 8, 24, 32, 64, 5
    rng = np.random.default_rng(3)
    image = rng.uniform(-1, 1, (height, width, channels)).astype(np.float16)
    weights = rng.uniform(-1, 1, (size * size * channels, filters)).astype(np.float16)
    out = np.zeros((height, width, filters), np.float32)
    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (image, weights, out)]
    extents = {"HEIGHT": height, "WIDTH": width, "CHANNELS": channels, "FILTERS": filters, "SIZE": size}
    options = [f"-D{name}={value}" for name, value in extents.items()]
    matrices = folder is KERNELS
    program = coopmat.Program(context, (folder / "conv2d.cl").read_text(encoding="utf-8"))
    kernel = program.build([*options, *(["--matrices", "one"] if matrices else [])]).conv2d
    tile, group = (16, (1, 1)) if matrices else (4, (16, 16))
    kernel(queue, (filters // tile, height * width // tile), group, *buffers)
    cl.enqueue_copy(queue, out, buffers[2])
    padded = np.pad(image.astype(np.float32), ((2, 2), (2, 2), (0, 0)))
    seen = np.concatenate([padded[y : y + height, x : x + width] for y in range(size) for x in range(size)], 2)
    assert np.allclose(out, seen @ weights.astype(np.float32), atol=1e-3)
