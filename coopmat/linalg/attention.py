"""`attention`: softmax(scale * Q K^T) V by the kernels of attention.cl."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyopencl as cl
import pyopencl.array
from pyopencl.tools import first_arg_dependent_memoize

from .kernels import Kernel, build, kernel_of
from .operands import (
    Description,
    Operand,
    describe_array,
    events_before,
    operand,
    require_memory,
    require_separate_elements,
)
from .panels import scratch_of

_MAX_SIZE = 256
_MAX_COUNT = 2**31 - 2**16  # of rows and columns: the kernels calculate with int, beyond the last tile


class _Variant(NamedTuple):
    """The macros of attention.cl."""

    ROWS: int
    COLUMNS: int
    SIZE: int
    D: int
    O_TYPE: str
    TYPE: str
    PANELS: int
    CAUSAL: int


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
    all other strides and offsets are free. A row that attends to no column becomes zeros.

    queue: an in-order or out-of-order command queue. The launch waits for `wait_for` and for the arrays' events.
    q: an array of float16 with the shape (heads, rows, size); size is at most 256.
    k, v: arrays of float16 with the shape (kv_heads, columns, size). kv_heads divides heads: consecutive heads of q share
        a head of k and v, as many as heads / kv_heads.
    causal: whether row r attends only to columns up to r + (columns - rows). The last row attends to all columns, as if
        k and v also had the keys and values of earlier rows (a key-value cache).
    scale: the factor of the products; by default 1 / sqrt(size).
    kv_heads: the expected number of heads of k and v; only checked.
    lengths: the number of columns to which rows may attend: an int, or an array of int32 with a number for each head of
        q. Numbers outside 0 to columns count as the nearest of these. Columns beyond it are not read as numbers.
    out: the array for the results, of float32 or float16, with the shape of q; by default a new array of float32.

    Raises TypeError for types, and ValueError for values, shapes, contexts or memory; nothing is enqueued then.
    """
    events = events_before(queue, wait_for)
    arrays = {"q": q, "k": k, "v": v}
    arrays |= {name: x for name, x in (("lengths", lengths), ("out", out)) if _is_array(name, x)}
    operands = _operands(tuple((name, describe_array(name, array)) for name, array in arrays.items()))
    (heads, rows, size), (groups, columns, _) = operands["q"].shape, operands["k"].shape
    if kv_heads is not None and kv_heads != groups:
        raise ValueError(f"kv_heads: {kv_heads!r} is not the number of heads of k and v, {groups}")
    length = columns if lengths is None or "lengths" in arrays else _length(lengths, columns)
    factor = _scale(scale, size)
    require_memory(arrays, queue, "out")
    if out is None:
        arrays["out"] = pyopencl.array.empty(queue, q.shape, np.float32)
    result = arrays["out"]
    for array in arrays.values():
        events += array.events
    if heads and rows:
        numbers = (rows, columns, length, columns - rows, heads // groups, factor * math.log2(math.e))
        memory = {name: array.base_data for name, array in arrays.items()}
        result.add_event(_enqueue(queue, operands, memory, bool(causal), numbers, events))
    return result


def _is_array(name: str, value: Any) -> bool:
    """Return whether an optional argument is an array. Lengths may be an int instead."""
    return value is not None and not (name == "lengths" and isinstance(value, (int, np.integer)))


@lru_cache(maxsize=512)
def _operands(described: tuple[tuple[str, Description], ...]) -> dict[str, Operand]:
    """Return the arrays as operands; of `lengths` as a column. Raises TypeError and ValueError."""
    arrays = dict(described)
    for name, array in arrays.items():
        allowed = {"out": ("float32", "float16"), "lengths": ("int32",)}.get(name, ("float16",))
        if str(array.dtype) not in allowed:
            raise TypeError(f"{name}: expected an array of {' or '.join(allowed)}, not {array.dtype}")
        if name != "lengths" and len(array.shape) != 3:
            raise ValueError(f"{name}: expected 3 dimensions, not {len(array.shape)}")
    (heads, rows, size), (groups, columns, _) = arrays["q"].shape, arrays["k"].shape
    if not 1 <= size <= _MAX_SIZE:
        raise ValueError(f"q: its rows have {size} components; expected 1 to {_MAX_SIZE}")
    for name, count in ("q", rows), ("k", columns):
        if count > _MAX_COUNT:
            raise ValueError(f"{name}: it has {count} rows; expected at most {_MAX_COUNT}")
    if heads % groups if groups else heads:
        raise ValueError(f"k: its number of heads, {groups}, does not divide that of q, {heads}")
    shapes = {"k": (groups, columns, size), "v": (groups, columns, size), "out": (heads, rows, size)}
    shapes["lengths"] = (heads,)
    for name, array in arrays.items():
        if array.shape != shapes.get(name, array.shape):
            raise ValueError(f"{name}: expected the shape {shapes[name]}, not {array.shape}")
    if "lengths" in arrays:
        array = arrays["lengths"]
        arrays["lengths"] = array._replace(shape=(heads, 1, 1), strides=(*array.strides, 0, 0))
    operands = {name: operand(name, array, None) for name, array in arrays.items()}
    for name, item in operands.items():
        if item.shape[2] > 1 and item.strides[2] != 1:
            raise ValueError(f"{name}: the components of a row must be consecutive, not {item.strides[2]} apart")
    if "out" in operands:
        require_separate_elements(operands["out"])
    else:
        operands["out"] = Operand("out", operand("out", arrays["q"]._replace(dtype=np.dtype(np.float32), strides=(0, 0, 0), offset=0), None).component, (heads, rows, size), (0, 0, 0)).dense()
    return operands


def _length(lengths: Any, columns: int) -> int:
    if not 0 <= lengths <= columns:
        raise ValueError(f"lengths: {lengths} is not a number of columns; expected 0 to {columns}")
    return int(lengths)


def _scale(scale: Any, size: int) -> float:
    if scale is None:
        return 1 / math.sqrt(size)
    if isinstance(scale, bool) or not isinstance(scale, (int, float, np.integer, np.floating)):
        raise TypeError(f"scale: expected a number, not {type(scale).__name__}")
    if not math.isfinite(scale):
        raise ValueError(f"scale: {scale} is not finite")
    return float(scale)


def _enqueue(
    queue: Any, operands: dict[str, Operand], memory: dict[str, Any], causal: bool, numbers: Any, events: list[Any]
) -> Any:
    """Enqueue the kernels, and return the event of the last one."""
    context, device = queue.context, queue.device
    (heads, rows, _), (groups, columns, _) = operands["q"].shape, operands["k"].shape
    for variant in _variants(device, operands, causal):
        pack, kernel = _kernels(context, device, variant)
        if variant.ROWS <= 16 or kernel.sub_group_size == 1:
            break
    size = kernel.sub_group_size
    q, k, v, o = (operands[name] for name in ("q", "k", "v", "out"))
    lengths = operands.get("lengths")
    offsets = [item.offset if item else 0 for item in (q, k, v, o, lengths)]
    steps = [item.strides[0] if item else 0 for item in (q, k, v, o, lengths)]
    lines = [item.strides[1] for item in (q, k, v, o)]
    arguments = [memory.get(name) for name in ("q", "k", "v", "out", "lengths")]
    global_size = (-(-rows // variant.ROWS) * size, heads)
    if not pack or not columns:
        return kernel.enqueue(queue, global_size, (size, 1), [*arguments, *offsets, *steps, *lines, *numbers], events)
    tiles = -(-columns // variant.COLUMNS)
    panel = 2 * variant.D * variant.COLUMNS
    scratch = scratch_of(context, device)
    with scratch.lock:
        panels = scratch.require(context, groups * tiles * panel * (4 if variant.TYPE == "float" else 2))
        before = events if scratch.event is None else [*events, scratch.event]
        packed = pack.enqueue(queue, (tiles * size, groups), (size, 1), [*arguments[1:3], panels, *offsets[1:3], *steps[1:3], *lines[1:3], columns], before)
        arguments[1] = arguments[2] = panels
        offsets[1:3], steps[1:3] = (0, 0), (tiles * panel,) * 2
        scratch.event = kernel.enqueue(queue, global_size, (size, 1), [*arguments, *offsets, *steps, *lines, *numbers], [packed])
        return scratch.event


def _variants(device: Any, operands: dict[str, Operand], causal: bool) -> list[_Variant]:
    rows, size = operands["q"].shape[1:]
    depth = size if size % 8 == 0 else -(-size // 16) * 16
    o_type = operands["out"].component.opencl_c
    general = _Variant(16, 16, size, depth, o_type, "half", 0, int(causal))
    if not device.type & cl.device_type.CPU:
        return [general]
    import os
    R, C, P = int(os.environ.get("AR", 64)), int(os.environ.get("AC", 64)), int(os.environ.get("AP", 1))
    return [_Variant(R, C, size, depth, o_type, os.environ.get("AT", "float"), P, int(causal)), general]


@first_arg_dependent_memoize  # type: ignore[untyped-decorator]
def _kernels(context: Any, device: Any, variant: _Variant) -> tuple[Kernel | None, Kernel]:
    """Return the kernels `pack`, if the variant has it, and `attention`; the context keeps them."""
    program = build(context, device, "attention.cl", [f"-D{name}={x}" for name, x in variant._asdict().items()])
    types = [None] * 5 + [np.uint64] * 5 + [np.int64] * 9 + [np.int32] * 4 + [np.uint32, np.float32]
    kernel = kernel_of(program, device, "attention", types)
    if not variant.PANELS:
        return None, kernel
    return kernel_of(program, device, "pack", [None] * 3 + [np.uint64] * 2 + [np.int64] * 4 + [np.int32]), kernel
