"""`attention`: softmax(scale * Q K^T) V by the kernels of attention.cl."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array

from coopmat.matrices.variants import COMPONENT_TYPES

from .contexts import keep
from .kernels import Kernel, build, kernel_of, sub_group_size
from .operands import (
    Description,
    Operand,
    describe_array,
    events_before,
    number,
    operand,
    require_memory,
    require_separate_elements,
)
from .panels import scratch_of

_LONGEST_ROW = 256
_MOST_ROWS = 2**30  # of Q, K and V: the kernels count with int, beyond the last tile
_TYPES = {"lengths": ("int32",), "out": ("float32", "float16")}


# The macros of attention.cl.
_Variant = namedtuple("_Variant", "ROWS WIDTH STEP BLOCKS COLUMNS SIZE D TYPE O_TYPE PANELS CAUSAL")


def attention(
    queue: Any,
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    scale: float | None = None,
    kv_heads: int | None = None,
    lengths: Any = None,
    out: Any = None,
    wait_for: Sequence[Any] | None = None,
) -> Any:
    """Enqueue softmax(scale * Q K^T) V for each head, and return the array of the results.

    The last event of the returned array's `events` is that of the launch. The components of a row must be consecutive;
    all other strides and the offsets are free. A row that attends to no column becomes zeros.

    queue: an in-order or out-of-order command queue. The launch waits for `wait_for` and for the arrays' events.
    q: an array of float16 with the shape (heads, rows, size). size is 1 to 256.
    k, v: arrays of float16 with the shape (kv_heads, columns, size). kv_heads divides heads: head h of q uses head
        h // (heads // kv_heads).
    causal: whether row r attends only to columns up to r + (columns - rows). The masks are aligned at the end, as for a
        key-value cache: the last row attends to all columns.
    scale: the factor of the products; by default 1 / sqrt(size).
    kv_heads: the number of heads of k and v, if it should be checked.
    lengths: the number of columns to which rows may attend: an int, or an array of int32 with a number for each head of
        q, which counts as 0 if it is less, and as `columns` if it is greater. Columns behind may have any values.
    out: the array for the results, of float32 or float16, with the shape of q; by default a new array of float32.

    Raises TypeError for types, and ValueError for values, shapes, contexts or memory; nothing is enqueued then.
    """
    events = events_before(queue, wait_for)
    is_int = isinstance(lengths, (int, np.integer))
    optional = {"lengths": None if is_int else lengths, "out": out}
    arrays = {"q": q, "k": k, "v": v} | {name: array for name, array in optional.items() if array is not None}
    operands = _operands(tuple((name, describe_array(name, array)) for name, array in arrays.items()))
    (heads, rows, size), (groups, columns, _) = operands["q"].shape, operands["k"].shape
    if kv_heads is not None and kv_heads != groups:
        raise ValueError(f"kv_heads: {kv_heads} is not the number of heads of k and v, which is {groups}")
    if is_int and not 0 <= lengths <= columns:
        raise ValueError(f"lengths: {lengths} is not a number of columns; expected 0 to {columns}")
    numbers = rows, columns, int(lengths) if is_int else columns, columns - rows, heads // (groups or 1)
    scale = _scale(scale, size) * math.log2(math.e)
    require_memory(arrays, queue, "out")
    if out is None:
        arrays["out"] = pyopencl.array.empty(queue, (heads, rows, size), np.float32)
    if heads and rows:
        arrays["out"].add_event(_enqueue(queue, operands, arrays, bool(causal), (*numbers, scale), events))
    return arrays["out"]


@lru_cache(maxsize=512)
def _operands(described: tuple[tuple[str, Description], ...]) -> Mapping[str, Operand]:
    """Return the arrays as operands; `lengths` has a row for each head. Raises TypeError and ValueError."""
    arrays = dict(described)
    for name, array in described:
        allowed = _TYPES.get(name, ("float16",))
        if str(array.dtype) not in allowed:
            raise TypeError(f"{name}: expected an array of {' or '.join(allowed)}, not {array.dtype}")
        dimensions = 1 if name == "lengths" else 3
        if len(array.shape) != dimensions:
            raise ValueError(f"{name}: expected {dimensions} dimensions, not {len(array.shape)}")
        if dimensions == 1:
            arrays[name] = array._replace(shape=(*array.shape, 1, 1), strides=(*array.strides, 0, 0))
    _check_shapes({name: array.shape for name, array in arrays.items()})
    operands = {name: operand(name, array, None) for name, array in arrays.items()}
    shape = operands["q"].shape
    operands.setdefault("out", Operand("out", COMPONENT_TYPES["f32"], shape, (0, 0, 0)).dense())
    for name, item in operands.items():
        if item.shape[2] > 1 and item.strides[2] != 1:
            raise ValueError(f"{name}: the components of a row must be consecutive, not {item.strides[2]} apart")
    if math.prod(shape):
        require_separate_elements(operands["out"])
    return operands


def _check_shapes(shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise ValueError if the shapes do not fit each other, or the kernels."""
    (heads, rows, size), (groups, columns, _) = shapes["q"], shapes["k"]
    if not 1 <= size <= _LONGEST_ROW:
        raise ValueError(f"q: its rows have {size} components; expected 1 to {_LONGEST_ROW}")
    if rows > _MOST_ROWS or columns > _MOST_ROWS:
        raise ValueError(f"q, k: they have {rows} and {columns} rows; expected at most {_MOST_ROWS}")
    if heads % groups if groups else heads:
        raise ValueError(f"k: it has {groups} heads; expected a divisor of {heads}, the number of heads of q")
    expected = {"k": (groups, columns, size), "v": (groups, columns, size), "out": (heads, rows, size)}
    expected["lengths"] = (heads, 1, 1)
    for name in expected.keys() & shapes.keys():
        if shapes[name] != expected[name]:
            found, wanted = (x[:1] if name == "lengths" else x for x in (shapes[name], expected[name]))
            raise ValueError(f"{name}: expected the shape {wanted}, not {found}")


def _scale(scale: Any, size: int) -> float:
    """Return the factor of the products. Raises TypeError or ValueError if it is no finite number."""
    factor = 1 / math.sqrt(size) if scale is None else number("scale", scale)
    # The kernel multiplies by log2(e), too, in float.
    if not abs(factor) <= float(np.finfo(np.float32).max) / 2:
        raise ValueError(f"scale: {scale} is not finite, or too large for float")
    return factor


def _enqueue(
    queue: Any, operands: Mapping[str, Operand], arrays: Mapping[str, Any], causal: bool, numbers: Any, before: Any
) -> Any:
    """Enqueue the kernels, and return the event of the last one.

    numbers: the last arguments of `attention`. before: the events to wait for besides those of the arrays.
    """
    events = [*before, *(event for array in arrays.values() for event in array.events)]
    (heads, rows, _), (groups, columns, _) = operands["q"].shape, operands["k"].shape
    variant, pack, kernel = _choose(queue, operands, causal)
    work_items = kernel.sub_group_size
    sizes, local = (-(-rows // (variant.ROWS * variant.BLOCKS)) * work_items, heads), (work_items, 1)
    items = [operands.get(name) for name in ("q", "k", "v", "out", "lengths")]
    buffers = [arrays[name].base_data if name in arrays else None for name in ("q", "k", "v", "out", "lengths")]
    offsets = [item.offset if item else 0 for item in items]
    steps = [item.strides[0] if item else 0 for item in items]
    lines = [item.strides[1] for item in items[:4] if item]
    if not pack or not columns:
        return kernel.enqueue(queue, sizes, local, [*buffers, *offsets, *steps, *lines, *numbers], events)
    panels = -(-columns // variant.COLUMNS)
    step = 2 * panels * variant.COLUMNS * variant.D

    def attend_to_panels(buffer: Any, waits: list[Any]) -> Any:
        arguments = [*buffers[1:3], buffer, *offsets[1:3], *steps[1:3], *lines[1:3], columns]
        packed = pack.enqueue(queue, (panels * work_items, groups), local, arguments, waits)
        buffers[1:3], offsets[1:3], steps[1:3] = (buffer, buffer), (0, 0), (step, step)
        return kernel.enqueue(queue, sizes, local, [*buffers, *offsets, *steps, *lines, *numbers], [packed])

    return scratch_of(queue.context, queue.device).launch(queue, 4 * groups * step, events, attend_to_panels)


def _choose(queue: Any, operands: Mapping[str, Operand], causal: bool) -> tuple[_Variant, Kernel | None, Kernel]:
    """Return a variant with its kernels."""
    (heads, rows, size), groups = operands["q"].shape, operands["k"].shape[0]
    common = operands["out"].component.opencl_c, int(causal)
    if queue.device.type & cl.device_type.CPU and sub_group_size(queue.context, queue.device) == 1:
        variant = _variant_of_one(rows, rows * heads // groups, size, *common)
    else:
        depth = -(-size // 16) * 16
        variant = _Variant(16, 16, 16, 1, 32, size, depth, "half", common[0], 0, common[1])
    return variant, *_kernels(queue.context, queue.device, variant)


@lru_cache(maxsize=512)
def _variant_of_one(rows: int, uses: int, size: int, o_type: str, causal: int) -> _Variant:
    """Return a variant for a subgroup of one. `uses` is the number of rows of Q that read the same K and V."""
    # Products of 24 vectors of 16 sums fit the registers. Narrow ones are a tenth slower, but have fewer zeros.
    width = min((64, 32, 16), key=lambda width: (-(-size // width) * width * {64: 10, 32: 11, 16: 13}[width], -width))
    depth = -(-size // width) * width
    height = min(384 // width, rows)
    if uses < 16:
        return _Variant(height, width, 16, 1, 64, size, depth, "float", o_type, 0, causal)
    blocks = min(4 * width // 64 or 1, -(-rows // height))
    return _Variant(height, width, 1, blocks, 128, size, depth, "float", o_type, 1, causal)


@keep
def _kernels(context: Any, device: Any, variant: _Variant) -> tuple[Kernel | None, Kernel]:
    """Return the kernel `pack`, if the variant has panels, and `attention`; the context keeps them."""
    program = build(context, device, "attention.cl", [f"-D{name}={x}" for name, x in variant._asdict().items()])
    types = [None] * 5 + [np.uint64] * 5 + [np.int64] * 9 + [np.int32] * 4 + [np.uint32, np.float32]
    kernel = kernel_of(program, device, "attention", types)
    if not variant.PANELS:
        return None, kernel
    return kernel_of(program, device, "pack", [None] * 3 + [np.uint64] * 2 + [np.int64] * 4 + [np.int32]), kernel
