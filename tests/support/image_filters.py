"""The launches of tests/kernels/convolve.cl, and what numpy computes for them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from differential import Array, Image, Launch, Sampler, Value

F32 = float(np.finfo(np.float32).eps)


def image_filters() -> tuple[list[Launch], dict[tuple[int, int], tuple[Array, float]]]:
    """Return the launches, and (launch, argument) -> the expected contents and the largest difference."""
    random, height, width = np.random.default_rng(4), 12, 20
    picture = random.uniform(0, 1, (height, width, 4)).astype(np.float32)
    exact = picture.astype(np.float64)
    taps = np.array([1, 4, 6, 4, 1]) / 16

    def gathered(values: Array, mode: str, reach: int) -> Callable[[int, int], Array]:
        """Return a function of columns and rows: the value that far from every pixel."""
        wide = np.pad(values, ((reach, reach), (reach, reach), (0, 0)), mode=mode)  # type: ignore[call-overload]
        return lambda x, y: wide[reach + y : reach + y + height, reach + x : reach + x + width]

    at = gathered(exact, "edge", 2)
    rows = sum(taps[i + 2] * at(i, 0) for i in range(-2, 3))
    at = gathered(rows, "edge", 2)
    blurred = sum(taps[i + 2] * at(0, i) for i in range(-2, 3))
    at = gathered(exact, "constant", 1)
    gx = sum(k * (at(1, y) - at(-1, y)) for k, y in ((1, -1), (2, 0), (1, 1)))[..., :3]
    gy = sum(k * (at(x, 1) - at(x, -1)) for k, x in ((1, -1), (2, 0), (1, 1)))[..., :3]
    edges = np.concatenate([gx, gy.sum(-1, keepdims=True)], -1)

    new = np.array([31, 17], np.int32)
    x, y = ((np.arange(n) + 0.5) / n * old - 0.5 for n, old in zip(new, (width, height), strict=True))
    x, y = np.clip(x, 0, width - 1), np.clip(y, 0, height - 1)
    x0, y0 = np.minimum(x.astype(int), width - 2), np.minimum(y.astype(int), height - 2)
    fx, fy = (x - x0)[None, :, None], (y - y0)[:, None, None]
    upper = exact[y0][:, x0] * (1 - fx) + exact[y0][:, x0 + 1] * fx
    lower = exact[y0 + 1][:, x0] * (1 - fx) + exact[y0 + 1][:, x0 + 1] * fx
    resized = upper * (1 - fy) + lower * fy

    pixels = random.integers(0, 256, (height, width, 4)).astype(np.uint8)
    kernel = np.array([[0, -1, 0], [-1, 8, -1], [0, -1, 0]], np.int32)
    at = gathered(pixels.astype(np.int32), "edge", 1)
    total = sum(kernel[j + 1, i + 1] * at(i, j) for j in (-1, 0, 1) for i in (-1, 0, 1))
    sharpened = np.clip(total >> 2, 0, 255).astype(np.uint32)

    source, zeros = Image(picture, "FLOAT"), np.zeros_like(picture)
    middle, blur, edge = (Image(zeros, "FLOAT") for _ in range(3))
    linear, size = Sampler(True, "CLAMP_TO_EDGE", "LINEAR"), (width, height)
    integers = [Value(np.array(number, np.int32)) for number in (3, 2)]
    bytes_in = Image(pixels, "UNSIGNED_INT8")
    launches = [
        Launch("blur_rows", [source, middle], size),
        Launch("blur_columns", [middle, blur], size),
        Launch("sobel", [source, edge], size),
        Launch("resize", [source, linear, np.zeros((17, 31, 4), np.float32), Value(new)], (31, 17)),
        Launch("convolve", [bytes_in, np.zeros(pixels.shape, np.uint32), kernel, *integers], size),
    ]
    expected = {
        (1, 1): (blurred, 16 * F32),
        (2, 1): (edges, 64 * F32),
        (3, 2): (resized, 2e-5),  # weights from coordinates with an ulp of twenty
        (4, 1): (sharpened, 0.0),
    }
    return launches, expected
