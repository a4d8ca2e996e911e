"""`gemm_quantized`: products with weights in the block formats of llama.cpp, and in MXFP4."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyopencl.array

from coopmat.matrices.variants import COMPONENT_TYPES

from .contexts import keep
from .kernels import Kernel, PanelCopy, Variant, build, enqueue_copy, gemm_kernel, is_cpu, kernel_of, memory_for
from .operands import (
    Description,
    Operand,
    describe_array,
    events_before,
    operand,
    require_memory,
    require_separate_elements,
)
from .panels import CHUNK, Panels, Scratch, scratch_of
from .parameters import Tiling
from .products import gemm

# Name of a format -> the weights and the bytes of a block.
_FORMATS = {"q4_0": (32, 18), "q8_0": (32, 34), "q4_k": (256, 144), "q6_k": (256, 210), "mxfp4": (32, 17)}
_FLOAT = COMPONENT_TYPES["f32"]
_TILING = Tiling((12, 32, 1), panels=("f32", "f32"))  # that of float on CPUs
_RUN = 32  # weights that are decoded at a time, as in quantized.cl
# The most rows of A that are multiplied while weights are decoded, on CPUs and elsewhere. For more rows, it is faster
# to decode the weights before.
_MOST_ROWS, _MOST_ROWS_ELSEWHERE = 64, 8
_PANEL_BYTES = 8 << 20  # of decoded weights at a time, so that a CPU's last cache holds them


def gemm_quantized(
    queue: Any,
    a: Any,
    blocks: Any,
    format: str,
    shape: tuple[int, int],
    c: Any = None,
    *,
    wait_for: Sequence[Any] | None = None,
) -> Any:
    """Enqueue C = A W^T, where W is quantized, and return the array of C.

    Products are added up in float. The last event of the returned array's `events` is that of the launch. GPUs round
    weights to half if a is half and has more than 8 rows, except those of "mxfp4".

    queue: an in-order or out-of-order command queue. The launch waits for `wait_for` and for the arrays' events.
    a: an array of m x k numbers of float32 or float16, with any strides and offset.
    blocks: a contiguous array of uint8: the n rows of W, one behind the other, each of k weights in blocks.
    format: "q4_0", "q8_0", "q4_k", "q6_k" or "mxfp4", as llama.cpp stores them. A block of "mxfp4" is a scale of e8m0,
        then 16 bytes, whose low nibbles are the first 16 weights.
    shape: n and k. k is a multiple of a block's weights: of 256 for "q4_k" and "q6_k", else of 32.
    c: the array for the result, m x n numbers of float32 or float16, with any strides and offset. By default, it is a
        new array of float32.

    Raises TypeError for types, and ValueError for values, shapes, contexts or memory; nothing is enqueued then.
    """
    events = events_before(queue, wait_for)
    arrays = {"a": a, "blocks": blocks} | ({} if c is None else {"c": c})
    described = tuple((name, describe_array(name, value)) for name, value in arrays.items())
    product = _product(described, _format(format), _shape(shape))
    require_memory(arrays, queue)
    if c is None:
        arrays["c"] = pyopencl.array.empty(queue, product.output.shape[1:], np.float32)
    for array in arrays.values():
        events += array.events
    if product.shape[0] and product.shape[1]:
        memory = {name: array.base_data for name, array in arrays.items()}
        arrays["c"].add_event(product.run(queue, memory, events))
    return arrays["c"]


def _format(name: Any) -> str:
    """Return the name of a format. Raises TypeError and ValueError for other values."""
    if not isinstance(name, str):
        raise TypeError(f"format: expected a str, not {type(name).__name__}")
    if name not in _FORMATS:
        raise ValueError(f"format: expected {', '.join(_FORMATS)}, not {name!r}")
    return name


def _shape(shape: Any) -> tuple[int, int]:
    """Return n and k. Raises TypeError if they are no two integers, and ValueError if one is negative or too large."""
    try:
        n, k = map(operator.index, shape)
    except (TypeError, ValueError) as error:
        raise TypeError(f"shape: expected two integers, n and k, not {shape!r}") from error
    if not (0 <= n < 1 << 31 and 0 <= k < 1 << 31):
        raise ValueError(f"shape: expected n and k of 0 to 2147483647, not {(n, k)}")
    return n, k


@dataclass(frozen=True)
class _Product:
    """A product for arrays of the same description, in any memory.

    left, output: A and C.
    shape: m, n and k.
    offset: that of the blocks, in bytes.
    row_bytes: the bytes of a row of W.
    """

    left: Operand
    output: Operand
    shape: tuple[int, int, int]
    format: str
    offset: int
    row_bytes: int

    def run(self, queue: Any, memory: dict[str, Any], events: list[Any]) -> Any:
        """Enqueue the product and return its event. Operands whose rows are not consecutive in memory are copied."""
        left, output, own = self.left, self.output, memory["c"]
        if self.shape[2] and not left.is_by_rows:
            left, strided = left.dense(), memory["a"]
            memory["a"] = memory_for(queue, left)
            events = [*events, enqueue_copy(queue, self.left, strided, left, memory["a"], events)]
        if not output.is_by_rows:
            output = output.dense()
            memory["c"] = memory_for(queue, output)
        on_cpu = is_cpu(queue.device)
        if self.shape[0] <= (_MOST_ROWS if on_cpu else _MOST_ROWS_ELSEWHERE) or not self.shape[2]:
            multiply = self._multiply_rows
        else:
            multiply = self._multiply_panels if on_cpu else self._multiply_decoded
        event = multiply(queue, left, output, memory, events)
        return event if output is self.output else enqueue_copy(queue, output, memory["c"], self.output, own, [event])

    def _multiply_rows(
        self, queue: Any, left: Operand, output: Operand, memory: Mapping[str, Any], events: list[Any]
    ) -> Any:
        """Enqueue the kernel that decodes and multiplies, and return its event."""
        m, n, _k = self.shape
        if is_cpu(queue.device):
            # Their sums are in at most 16 vectors of 16: a CPU has 32 registers of this size.
            rows, columns, work_items = (m, 8, 1) if m <= 2 else (4, 4, 1)
            # A power of two, so that there are few variants.
            tiles = 1 << (-(-min(m, _MOST_ROWS) // rows) - 1).bit_length()
        else:
            rows, columns, work_items, tiles = min(m, 4), 2, 32, 1
        values: dict[str, object] = {"ROWS": rows, "COLUMNS": columns, "TILES": tiles, "WORK_ITEMS": work_items}
        values["CHUNK"] = CHUNK if tiles > 1 else 32
        for name, item in (("A", left), ("D", output)):
            values |= {f"{name}_TYPE": item.component.opencl_c, f"{name}_HALF": int(item.component.size == 2)}
        kernel = _quantized_kernel(queue.context, queue.device, self.format, "dot_rows", tuple(values.items()))
        arguments = [memory["a"], memory["blocks"], memory["c"], left.offset, left.line, self.offset]
        arguments += output.offset, output.line, *self.shape
        groups = -(-n // columns), -(-m // (tiles * rows))
        return kernel.enqueue(queue, (groups[0] * work_items, groups[1]), (work_items, 1), arguments, events)

    def _multiply_decoded(
        self, queue: Any, left: Operand, output: Operand, memory: Mapping[str, Any], events: list[Any]
    ) -> Any:
        """Enqueue the decoding of W, and the product by `gemm`. Return the last event.

        The weights get the type of A, because products of different types are slow. But half is too narrow for the
        scales of "mxfp4": then A is converted to float.
        """
        (m, n, k), component = self.shape, _FLOAT if self.format == "mxfp4" else left.component
        # The first two are for the kernel beside it.
        macros = (("SIDE", 32), ("CHUNK", CHUNK), ("ROW_HALF", int(component.size == 2)))
        decode = _quantized_kernel(queue.context, queue.device, self.format, "decode_rows", macros)
        # A panel of one row of A is this row.
        rows = Panels(left, component, 1, 1, is_b=False, is_flipped=False, has_sums=False)
        is_converted = left.component != component

        def multiply(buffer: Any, before: list[Any]) -> Any:
            arguments = [memory["blocks"], buffer, self.offset, k]
            events = [decode.enqueue(queue, (k // _RUN, n), None, arguments, before)]
            weights = pyopencl.array.Array(queue, (n, k), np.dtype(component.numpy), data=buffer)
            a, c = (_view(queue, item, memory[item.name]) for item in (left, output))
            if is_converted:
                events.append(PanelCopy.to(rows, n * k).enqueue(queue, memory, buffer, before))
                a = _view(queue, replace(left.dense(), component=component, offset=n * k), buffer)
            return gemm(queue, a, weights, c, trans_b=True, wait_for=events).events[-1]

        size = (n + (m if is_converted else 0)) * k * component.size
        return _weights_of(queue.context, queue.device).launch(queue, size, events, multiply)

    def _multiply_panels(
        self, queue: Any, left: Operand, output: Operand, memory: Mapping[str, Any], events: list[Any]
    ) -> Any:
        """Enqueue the copy of A into panels, then for some columns at a time their decoding and their product.

        Return the last event.
        """
        context, device, (m, n, k), (rows, side, _depth) = queue.context, queue.device, self.shape, _TILING.tile
        a = Panels(left, _FLOAT, rows, 1, is_b=False, is_flipped=False, has_sums=False)
        decode = _quantized_kernel(context, device, self.format, "decode", (("SIDE", side), ("CHUNK", CHUNK)))
        flags = frozenset({"PANELS"} if m % rows or n % side else {"PANELS", "WHOLE"})
        product = gemm_kernel(context, device, Variant((*[_FLOAT] * 4, output.component), flags, "", _TILING, 0))
        panel, begin = side * k, a.bytes // _FLOAT.size  # in components
        most = min(max(1, _PANEL_BYTES // (panel * _FLOAT.size)), -(-n // side)) * side

        def multiply(buffer: Any, before: list[Any]) -> Any:
            event = PanelCopy.to(a, 0).enqueue(queue, memory, buffer, before)
            for first in range(0, n, most):
                columns = min(most, n - first)
                panels, size = -(-columns // side), decode.sub_group_size
                arguments = [memory["blocks"], buffer, self.offset + first * self.row_bytes, begin, columns, k]
                event = decode.enqueue(queue, (panels * size, -(-k // CHUNK)), (size, 1), arguments, [event])
                arguments = [buffer, buffer, memory["c"], *(None, 0) * 3, 1, 0, m, columns, k, a.size, panel]
                arguments += output.line, 0, begin, output.offset + first, 0, 0, 0
                size = product.sub_group_size
                event = product.enqueue(queue, (a.count * size, panels, 1), (size, 1, 1), arguments, [event])
            return event

        return scratch_of(context, device).launch(queue, a.bytes + most * k * _FLOAT.size, events, multiply)


@lru_cache(maxsize=512)
def _product(described: tuple[tuple[str, Description], ...], format: str, shape: tuple[int, int]) -> _Product:
    """Return the product of arrays of these descriptions. Raises TypeError and ValueError."""
    arrays, (n, k), (weights, size) = dict(described), shape, _FORMATS[format]
    if k % weights:
        raise ValueError(f"shape: for {format}, k must be a multiple of {weights}, not {k}")
    left, row_bytes = _matrix("a", arrays["a"]), k // weights * size
    if left.shape[2] != k:
        raise ValueError(f"a: expected the shape (m, {k}), because shape is {shape}, not {arrays['a'].shape}")
    _check_blocks(arrays["blocks"], n * row_bytes)
    expected = (1, left.shape[1], n)
    if "c" in arrays:
        output = _matrix("c", arrays["c"])
        if output.shape != expected:
            raise ValueError(f"c: expected the shape {expected[1:]}, not {arrays['c'].shape}")
        require_separate_elements(output)
    else:
        output = Operand("c", _FLOAT, expected, (0, 0, 0)).dense()
    return _Product(left, output, (left.shape[1], n, k), format, arrays["blocks"].offset, row_bytes)


def _matrix(name: str, array: Description) -> Operand:
    """Return an argument as an operand. Raises TypeError and ValueError if it is no matrix of float32 or float16."""
    if str(array.dtype) not in ("float32", "float16"):
        raise TypeError(f"{name}: expected an array of float32 or float16, not {array.dtype}")
    if len(array.shape) != 2:
        raise ValueError(f"{name}: expected 2 dimensions, not {len(array.shape)}")
    return operand(name, array, None)


def _check_blocks(array: Description, size: int) -> None:
    """Raise TypeError or ValueError if an array is no contiguous one of at least `size` bytes."""
    if str(array.dtype) != "uint8":
        raise TypeError(f"blocks: expected an array of uint8, not {array.dtype}")
    count = 1
    for length, stride in zip(reversed(array.shape), reversed(array.strides), strict=True):
        if length > 1 and stride != count and 0 not in array.shape:
            raise ValueError(f"blocks: expected a contiguous array, not strides {array.strides}")
        count *= length
    if count < size:
        raise ValueError(f"blocks: expected at least {size} bytes, not {count}")


def _view(queue: Any, item: Operand, memory: Any) -> Any:
    """Return an operand, whose rows are consecutive, as an array."""
    size = item.component.size
    strides = item.strides[1] * size, size
    dtype = np.dtype(item.component.numpy)
    return pyopencl.array.Array(queue, item.shape[1:], dtype, data=memory, offset=item.offset * size, strides=strides)


@keep
def _weights_of(context: Any, device: Any) -> Scratch:
    """Return the memory for decoded weights of all products on a device; the context keeps it."""
    return Scratch()


@keep
def _quantized_kernel(
    context: Any, device: Any, format: str, name: str, values: tuple[tuple[str, object], ...]
) -> Kernel:
    """Return the kernel `decode`, `decode_rows` or `dot_rows` of quantized.cl; the context keeps it.

    values: names and values of macros that select the variant.
    """
    macros = (("FORMAT", format.upper()), ("DECODE", int(name != "dot_rows")), *values)
    options = [f"-D{macro}={value}" for macro, value in macros]
    types = {
        "decode": [None] * 2 + [np.uint64] * 2 + [np.uint32] * 2,
        "decode_rows": [None] * 2 + [np.uint64, np.uint32],
        "dot_rows": [None] * 3 + [np.uint64] * 5 + [np.uint32] * 3,
    }
    program = build(context, device, "quantized.cl", options)
    return kernel_of(program, device, name, types[name], has_matrices=name == "decode")
