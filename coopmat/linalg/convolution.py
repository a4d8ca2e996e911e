"""`conv2d`: convolutions of images, as products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import pyopencl.array

from .kernels import Product, patches_kernel
from .operands import Description, describe_array, events_before, renamed_errors, require_memory
from .products import product_of

_MOST_BYTES = 1 << 26  # of the memory for patches, unless those of one image need more


@dataclass(frozen=True)
class _Shape:
    """The sizes of a convolution. Pairs are (height, width).

    image, kernel, out: the sizes of an image, of the kernel and of a result.
    depth: the input channels of a group. filters: the output channels of a group.
    """

    images: int
    image: tuple[int, int]
    kernel: tuple[int, int]
    out: tuple[int, int]
    channels: int
    depth: int
    filters: int
    groups: int
    stride: tuple[int, int]
    padding: tuple[int, int]
    dilation: tuple[int, int]

    @property
    def inner(self) -> int:
        """The number of components that a result reads."""
        return prod(self.kernel) * self.depth

    @property
    def needs_no_patches(self) -> bool:
        """Whether each result reads one pixel, in order."""
        return self.kernel == (1, 1) and self.stride == (1, 1) and self.padding == (0, 0)


def conv2d(
    queue: Any,
    x: Any,
    w: Any,
    out: Any = None,
    *,
    stride: int | tuple[int, int] = 1,
    padding: int | tuple[int, int] = 0,
    dilation: int | tuple[int, int] = 1,
    groups: int = 1,
    bias: Any = None,
    activation: str | None = None,
    dtype_x: str | None = None,
    dtype_w: str | None = None,
    out_dtype: Any = None,
    wait_for: Sequence[Any] | None = None,
) -> Any:
    """Enqueue the convolution of images, and return the array of the results: images x height x width x filters.

    Products are added up as by `gemm`. Memory for the parts of images that the results read is allocated, at most
    64 MiB, or what one image needs.

    queue, activation, out_dtype, wait_for: as for `gemm`.
    x: a contiguous array of images x height x width x channels.
    w: a contiguous array of filters x height x width x (channels / groups).
    out: a contiguous array for the results; by default a new one.
    stride, padding, dilation: numbers of pixels, or pairs for the height and the width. Images are padded by zeros.
    groups: the number of parts into which channels and filters are divided; each part of the filters reads one part of
        the channels.
    bias: an array with the shape (filters,).
    dtype_x, dtype_w: "bf16" for arrays of uint16, "e4m3" or "e5m2" for arrays of uint8.

    Raises TypeError for types, and ValueError for values, shapes, contexts or memory; nothing is enqueued then.
    """
    events = events_before(queue, wait_for)
    arrays = {"x": x, "w": w} | {name: item for name, item in (("out", out), ("bias", bias)) if item is not None}
    for name, array in arrays.items():
        _require_contiguous(name, array, 1 if name == "bias" else 4)
    pairs = {"stride": stride, "padding": padding, "dilation": dilation}
    shape = _shape(x.shape, w.shape, groups, **{name: _pair(name, pair) for name, pair in pairs.items()})
    result_shape = (shape.images, *shape.out, w.shape[0])
    _require_shapes(arrays, out=result_shape, bias=(w.shape[0],))
    require_memory(arrays, queue, "out")
    described, options = _described(arrays), (dtype_x, dtype_w, activation, out_dtype)
    dtype = _product(shape, described, options, 0, shape.images, 0).types[4].numpy
    result = out if out is not None else pyopencl.array.empty(queue, result_shape, dtype)
    if result.size:
        arrays["out"] = result
        _enqueue(queue, shape, arrays, options, [*events, *x.events, *w.events])
    return result


def _described(arrays: dict[str, Any]) -> dict[str, Description]:
    return {name: describe_array(name, array) for name, array in arrays.items()}


_Options = tuple[str | None, str | None, str | None, Any]  # dtype_x, dtype_w, activation, out_dtype


@dataclass
class _Memory:
    """An argument of a product, in place of an array: arrays are slow to create.

    events: what the product waits for, and behind them the event of the product that writes the memory.
    """

    base_data: Any
    events: list[Any] = field(default_factory=list)

    def add_event(self, event: Any) -> None:
        self.events.append(event)


def _product(
    shape: _Shape, arrays: dict[str, Description], options: _Options, first: int, images: int, group: int
) -> Product:
    """Return the product for a group and some images, the first of which is `first`. Raises TypeError and ValueError.

    A's rows are what the results read: patches, or the pixels of x.
    """
    dtype_x, dtype_w, activation, out_dtype = options
    x, w, results, inner = arrays["x"], arrays["w"], prod(shape.out), shape.inner

    def part(array: Description, rows: int, columns: int, line: int, begin: int) -> Description:
        size = array.dtype.itemsize
        return Description(array.dtype, (rows, columns), (line * size, size), array.offset + begin * size)

    rows, filters, channel = images * results, shape.filters, group * shape.depth
    if shape.needs_no_patches:
        left = part(x, rows, inner, shape.channels, first * results * shape.channels + channel)
    else:
        left = part(x._replace(offset=0), rows, inner, inner, 0)
    matrices = {"a": left, "b": part(w, filters, inner, inner, group * filters * inner)}
    if "out" in arrays:
        line = shape.groups * filters
        matrices["c"] = part(arrays["out"], rows, filters, line, first * results * line + group * filters)
    if "bias" in arrays:
        bias = arrays["bias"]
        begin = bias.offset + group * filters * bias.dtype.itemsize
        matrices["bias"] = bias._replace(shape=(filters,), offset=begin)
    with renamed_errors(a="x", b="w", c="out", dtype_a="dtype_x", dtype_b="dtype_w"):
        return product_of(matrices, out_dtype, trans_b=True, dtype_a=dtype_x, dtype_b=dtype_w, activation=activation)


def _enqueue(
    queue: Any,
    shape: _Shape,
    arrays: dict[str, Any],
    options: _Options,
    events: list[Any],
) -> None:
    """Enqueue the products of all groups, for some images at a time."""
    described = _described(arrays)
    x, out, results = arrays["x"], arrays["out"], prod(shape.out)
    size = results * shape.inner * x.dtype.itemsize
    step = shape.images if shape.needs_no_patches else max(1, min(shape.images, _MOST_BYTES // max(1, size)))
    patches = x if shape.needs_no_patches else pyopencl.array.empty(queue, (step * results, shape.inner), x.dtype)
    # Each product waits for the one before: all use the memory of `patches`, and the last event follows all others.
    events = [*events, *out.events]
    for first in range(0, shape.images, step):
        images = min(step, shape.images - first)
        for group in range(shape.groups):
            product = _product(shape, described, options, first, images, group)
            if patches is not x and shape.inner:
                events = [_enqueue_patches(queue, shape, x, first, images, group, patches, events)]
            memory = {"a": _Memory(patches.base_data), "b": _Memory(arrays["w"].base_data), "c": _Memory(out.base_data)}
            if "bias" in arrays:
                memory["bias"] = _Memory(arrays["bias"].base_data, arrays["bias"].events[:])
            events = product.run(queue, memory, {"alpha": 1, "beta": 0}, events).events
    out.add_event(events[-1])


def _enqueue_patches(
    queue: Any, shape: _Shape, x: Any, first: int, images: int, group: int, patches: Any, events: list[Any]
) -> Any:
    """Enqueue the copy of what the results of a group read to the rows of `patches`, and return its event."""
    size = x.dtype.itemsize
    kernel = patches_kernel(queue.context, queue.device, size)
    begin = x.offset // size + first * prod(shape.image) * shape.channels
    numbers = [begin, *shape.image, shape.channels, group * shape.depth, shape.depth]
    numbers += [shape.kernel[1], *shape.out, *shape.stride, *shape.padding, *shape.dilation]
    global_size = shape.inner, images * prod(shape.out)
    return kernel.enqueue(queue, global_size, None, [x.base_data, patches.base_data, *numbers], events)


def _require_contiguous(name: str, array: Any, dimensions: int) -> None:
    """Raise TypeError if an argument is no array, and ValueError if its dimensions, strides or offset do not fit."""
    if len(describe_array(name, array).shape) != dimensions:
        raise ValueError(f"{name}: expected {dimensions} dimensions, not {len(array.shape)}")
    if not array.flags.c_contiguous:
        raise ValueError(f"{name}: expected a contiguous array, not the strides {array.strides}")
    if array.offset % array.dtype.itemsize:
        raise ValueError(f"{name}: its offset must be a multiple of {array.dtype.itemsize} bytes, not {array.offset}")


def _require_shapes(arrays: dict[str, Any], **expected: tuple[int, ...]) -> None:
    """Raise ValueError if one of the arrays that are given has another shape than the expected one of its name."""
    for name, shape in expected.items():
        if name in arrays and tuple(arrays[name].shape) != shape:
            raise ValueError(f"{name}: expected the shape {shape}, not {tuple(arrays[name].shape)}")


def _pair(name: str, value: Any) -> tuple[int, int]:
    """Return a number, or a pair of numbers, as a pair. Raises ValueError for other values."""
    pair = (value, value) if isinstance(value, (int, np.integer)) else value
    least = 0 if name == "padding" else 1
    if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not all(isinstance(x, (int, np.integer)) for x in pair):
        raise ValueError(f"{name}: expected an integer or a pair of integers, not {value!r}")
    if min(pair) < least:
        raise ValueError(f"{name}: expected at least {least}, not {value!r}")
    if max(pair) >= 1 << 31:
        raise ValueError(f"{name}: expected at most 2147483647, not {value!r}")
    return int(pair[0]), int(pair[1])


def _shape(image: tuple[int, ...], weights: tuple[int, ...], groups: int, **pairs: tuple[int, int]) -> _Shape:
    """Return the sizes of a convolution. Raises ValueError if they do not fit."""
    channels, filters = image[3], weights[0]
    if not isinstance(groups, (int, np.integer)) or groups < 1 or channels % groups or filters % groups:
        words = f"of the {channels} channels of x and of the {filters} filters of w"
        raise ValueError(f"groups: expected a positive divisor {words}, not {groups!r}")
    if weights[3] != channels // groups:
        raise ValueError(f"w: expected {channels // groups} channels (those of x divided by groups), not {weights[3]}")
    if not (weights[1] and weights[2]):
        raise ValueError(f"w: expected a kernel of at least one pixel, not {weights[1]} x {weights[2]}")
    sizes = [image[1 + i] + 2 * pairs["padding"][i] - pairs["dilation"][i] * (weights[1 + i] - 1) for i in (0, 1)]
    out = [max(0, -(-size // step)) for size, step in zip(sizes, pairs["stride"], strict=True)]
    return _Shape(
        image[0],
        (image[1], image[2]),
        (weights[1], weights[2]),
        (out[0], out[1]),
        channels,
        weights[3],
        filters // groups,
        groups,
        **pairs,
    )
