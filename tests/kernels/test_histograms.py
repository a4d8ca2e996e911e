"""Histograms: atomics in local and global memory, those of OpenCL C 1.x and those of C11."""

from __future__ import annotations

import numpy as np
from differential import Launch, Local
from kernel_check import check, scalars

from coopmat.devices import DeviceInfo


def test_histograms(device: DeviceInfo) -> None:
    random = np.random.default_rng(5)
    words = random.integers(0, 2**32, 3000, np.uint32)
    words[100:600] = 0x01010101  # many into one bin
    counts = np.bincount(words.view(np.uint8), minlength=256).astype(np.uint32)
    pixels = random.integers(0, 256, (500, 4)).astype(np.uint8)
    luma = ((pixels[:, :3].astype(np.int32) * (77, 150, 29)).sum(1) >> 8).astype(np.int32)
    bins = np.concatenate([np.bincount(pixels[:, c], minlength=256) for c in range(3)]).astype(np.int32)
    mixed = np.bitwise_xor.reduce(luma << (np.arange(500, dtype=np.int32) % 24))
    ranges = np.array([luma.min(), luma.max(), mixed, np.bitwise_or.reduce(1 << luma // 8)], np.int32)
    which, weight = random.integers(0, 256, 400).astype(np.uint8), random.integers(-99, 99, 400).astype(np.float32)
    sums = np.bincount(which & 7, weight, 8).astype(np.float32)  # of integers: exact in any order
    start = np.array([2**31 - 1, -(2**31), 0, 0], np.int32)
    rgba = [pixels, *scalars(np.uint32, 500), bins * 0, start, Local(3 * 256 * 4)]
    launches = [
        Launch("histogram256", [words, *scalars(np.uint32, len(words)), counts * 0], (512,), (64,)),
        Launch("histogram_rgba", rgba, (512,), (64,)),
        Launch("weighted", [which, weight, sums * 0], (400,)),
    ]
    check(device, "histogram.cl", launches, {(0, 2): counts, (1, 2): bins, (1, 3): ranges, (2, 2): sums})


def test_histogram_with_c11_atomics(device: DeviceInfo) -> None:
    data = np.random.default_rng(6).integers(0, 256, 5000).astype(np.uint8)
    counts = np.bincount(data, minlength=256).astype(np.uint32)
    launch = Launch("histogram256", [data, *scalars(np.uint32, len(data)), counts * 0], (512,), (64,))
    check(device, "histogram_c11.cl", [launch], {(0, 2): counts})
