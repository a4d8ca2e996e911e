"""The compared calls: operations, types and shapes, the inputs, and the results by numpy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coopmat.matrices.variants import COMPONENT_TYPES
from coopmat.options import UsageError

Array = NDArray[Any]


@dataclass(frozen=True)
class Operation:
    """An operation of `coopmat.linalg`.

    sizes: the names of the sizes of a shape, in order. The first may be omitted if `is_batched`.
    types: the component types of the inputs, or the formats of the weights.
    shapes: the shapes that are compared by default.
    """

    sizes: tuple[str, ...]
    types: tuple[str, ...]
    shapes: tuple[str, ...]
    is_batched: bool = False


_SQUARES = tuple("x".join([str(side)] * 3) for side in (128, 256, 480, 512, 960, 1000, 1024, 2048))
OPERATIONS: Mapping[str, Operation] = {
    "gemm": Operation(
        ("BATCH", "M", "N", "K"),
        ("f32", "f16", "bf16", "s8", "u8"),
        (
            *_SQUARES,
            *(f"{m}x4096x4096" for m in (1, 8, 64, 512)),
            "512x11008x4096",
            "2048x2304x768",
            "96x128x64x128",
            "333x777x555",
        ),
        is_batched=True,
    ),
    "gemv": Operation(
        ("VECTORS", "N", "K"), ("f32", "f16", "bf16", "s8"), ("1x4096x4096", "1x11008x4096", "16x4096x4096")
    ),
    "attention": Operation(("HEADS", "ROWS", "SIZE"), ("f16",), ("8x1024x64", "8x1024x128")),
    "gemm_quantized": Operation(("M", "N", "K"), ("q4_0", "q8_0"), tuple(f"{m}x4096x4096" for m in (1, 8, 32, 512))),
    "conv2d": Operation(
        ("IMAGES", "HEIGHT", "WIDTH", "CHANNELS", "FILTERS", "KERNEL"),
        ("f32", "f16", "bf16"),
        ("1x56x56x64x64x3", "8x28x28x128x128x3", "1x56x56x64x256x1", "1x224x224x3x64x7"),
    ),
}
# Format of weights -> the bytes of a block of 32 weights.
_BLOCK_BYTES = {"q4_0": 18, "q8_0": 34}
_BLOCK = 32


@dataclass(frozen=True)
class Case:
    """A call that the contenders compute.

    operation: a key of OPERATIONS. type, shape: as in `Operation`; the shape has all sizes.
    is_causal: whether the mask of attention is causal.
    is_constant: whether B never changes, so that a contender may copy it once, in the order in which it reads B.
    """

    operation: str
    type: str
    shape: tuple[int, ...]
    is_causal: bool = False
    is_constant: bool = False

    @property
    def label(self) -> str:
        """The shape as text, such as "128x64x128"; that of causal attention with a remark."""
        sizes = self.shape[1:] if OPERATIONS[self.operation].is_batched and self.shape[0] == 1 else self.shape
        return "x".join(map(str, sizes)) + (", causal" if self.is_causal else "")

    @property
    def peak_type(self) -> str:
        """The component type whose measured peak bounds the call."""
        return self.type if self.type in COMPONENT_TYPES else "f32"

    @property
    def flop(self) -> float:
        """The number of operations; a multiply-add is two."""
        return self._counts[0]

    @property
    def bytes(self) -> float:
        """The bytes of the inputs and of the result, whose components have 4 bytes."""
        _flop, first, second, results = self._counts
        if self.operation == "gemm_quantized":
            return 4 * first + second * _BLOCK_BYTES[self.type] / _BLOCK + 4 * results
        return COMPONENT_TYPES[self.type].size * (first + second) + 4 * results

    @property
    def _counts(self) -> tuple[float, float, float, float]:
        """The operations, and the numbers of components of the first input, of the other inputs, and of the result."""
        if self.operation == "attention":
            heads, rows, size = self.shape
            pairs = heads * (rows * (rows + 1) / 2 if self.is_causal else rows * rows)
            return 4 * pairs * size, heads * rows * size, 2 * heads * rows * size, heads * rows * size
        if self.operation == "conv2d":
            images, height, width, channels, filters, kernel = self.shape
            results = images * height * width * filters
            inner = kernel * kernel * channels
            return 2 * results * inner, images * height * width * channels, filters * inner, results
        batch, m, n, k = (1,) * (4 - len(self.shape)) + self.shape
        return 2 * batch * m * n * k, batch * m * k, batch * k * n, batch * m * n


def cases_of(
    operations: Sequence[str], types: Sequence[str], shapes: Sequence[str], *, is_constant: bool = False
) -> list[Case]:
    """Return the cases of some operations, or of all if none is named. Raises UsageError for wrong arguments.

    types, shapes: restrict the comparison; if empty, the operations' defaults are used. Operations that have none of
    the types are left out. Shapes need exactly one operation. B of bytes is always constant.
    """
    if shapes and len(operations) != 1:
        raise UsageError("--shapes needs exactly one operation")
    known = {name for operation in OPERATIONS.values() for name in operation.types}
    for name in types:
        if name not in known:
            raise UsageError(f"--types: {name} is not supported (supported: {', '.join(sorted(known))})")
    cases = [
        case
        for operation in operations or OPERATIONS
        for name in _types_of(operation, types)
        for shape in shapes or OPERATIONS[operation].shapes
        for case in _variants(operation, name, _parsed(operation, shape), is_constant)
    ]
    if not cases:
        raise UsageError(f"--types: none of {', '.join(types)} is supported by {', '.join(operations)}")
    return cases


def _types_of(operation: str, types: Sequence[str]) -> list[str]:
    supported = OPERATIONS[operation].types
    return [name for name in types if name in supported] if types else list(supported)


def _parsed(operation: str, text: str) -> tuple[int, ...]:
    """Return the sizes of a shape such as "128x64x128". Raises UsageError."""
    row = OPERATIONS[operation]
    sizes = tuple(int(word) if word.isascii() and word.isdigit() else 0 for word in text.split("x"))
    if row.is_batched and len(sizes) == len(row.sizes) - 1:
        sizes = (1, *sizes)
    if len(sizes) != len(row.sizes) or min(sizes) < 1:
        optional = f"[{row.sizes[0]}x]" if row.is_batched else f"{row.sizes[0]}x"
        raise UsageError(f"--shapes: expected {optional}{'x'.join(row.sizes[1:])} for {operation}, not {text}")
    if operation == "gemm_quantized" and sizes[-1] % _BLOCK:
        raise UsageError(f"--shapes: K of gemm_quantized must be a multiple of {_BLOCK}, not {sizes[-1]}")
    if operation == "conv2d" and sizes[-1] % 2 == 0:
        raise UsageError(f"--shapes: KERNEL of conv2d must be odd, not {sizes[-1]}")
    return sizes


def _variants(operation: str, name: str, shape: tuple[int, ...], is_constant: bool) -> Iterator[Case]:
    if operation == "gemm":
        yield Case(operation, name, shape, is_constant=is_constant or name in ("s8", "u8"))
    else:
        yield Case(operation, name, shape)
    if operation == "attention":
        yield Case(operation, name, shape, is_causal=True)


# --- inputs and results ---------------------------------------------------------------------------------


def inputs_of(case: Case) -> tuple[Array, ...]:
    """Return the inputs, the same in each process: as float32, halves for attention, and uint8 for blocks of weights.

    The components of products are small whole numbers: each order of summation gives the same result, also in half.
    That of B of gemv and gemm_quantized are by columns.
    """
    random = np.random.default_rng(0)

    def whole(least: int, *shape: int) -> Array:
        return random.integers(least, 3, shape, np.int8).astype(np.float32)

    if case.operation == "attention":
        return tuple(random.uniform(-1, 1, case.shape).astype(np.float16) for _ in range(3))
    if case.operation == "conv2d":
        images, height, width, channels, filters, kernel = case.shape
        return whole(0, images, height, width, channels), whole(-2, filters, kernel, kernel, channels)
    *batch, m, n, k = case.shape
    lead = tuple(size for size in batch if size > 1)
    if case.operation == "gemm_quantized":
        blocks = random.integers(0, 256, (n, k // _BLOCK, _BLOCK_BYTES[case.type]), np.uint8)
        scales = random.uniform(0.01, 0.1, blocks.shape[:2]).astype(np.float16)
        blocks[..., :2] = scales[..., None].view(np.uint8)
        return random.uniform(-1, 1, (m, k)).astype(np.float32), blocks
    return whole(0, *lead, m, k), whole(-2, *lead, n, k) if case.operation == "gemv" else whole(-2, *lead, k, n)


def float_inputs(case: Case, inputs: Sequence[Array]) -> list[Array]:
    """Return the inputs in float32; weights are decoded to a matrix of n x k."""
    if case.operation == "gemm_quantized":
        return [inputs[0], decoded(case.type, inputs[1])]
    return [array.astype(np.float32, copy=False) for array in inputs]


def decoded(name: str, blocks: Array) -> Array:
    """Return the weights of blocks "q4_0" or "q8_0", with a row for each row of blocks."""
    data = blocks[..., 2:]
    whole = np.concatenate([data & 15, data >> 4], 2) - np.float32(8) if name == "q4_0" else data.view(np.int8)
    weights: Array = whole * blocks[..., :2].copy().view(np.float16).astype(np.float32)
    return weights.reshape(len(blocks), -1)


def reference(case: Case, *inputs: Array, out: Array | None = None) -> Array:
    """Return the result of a case by numpy. Products are written to `out`, if it is an array."""
    if case.operation == "attention":
        return _attention(*inputs, is_causal=case.is_causal)
    a, b = inputs
    if case.operation == "conv2d":
        kernel = b.shape[1]
        pad = (kernel // 2, kernel // 2)
        windows = np.lib.stride_tricks.sliding_window_view(np.pad(a, ((0, 0), pad, pad, (0, 0))), b.shape[1:3], (1, 2))
        return np.asarray(np.tensordot(windows, b, ((3, 4, 5), (3, 1, 2))))
    result: Array = np.matmul(a, b if case.operation == "gemm" else b.T, out=out)
    return result


def _attention(q: Array, k: Array, v: Array, *, is_causal: bool) -> Array:
    scores = q @ k.swapaxes(1, 2) * np.float32(q.shape[2] ** -0.5)
    if is_causal:
        scores = np.where(np.tri(q.shape[1], dtype=bool), scores, np.float32(-np.inf))
    parts = np.exp(scores - scores.max(2, keepdims=True))
    return np.asarray(parts @ v / parts.sum(2, keepdims=True))


def require_right(case: Case, computed: str, result: Array, expected: Array) -> None:
    """Raise ArithmeticError if a result differs from numpy's by more than its type and operation explain.

    computed: the type in which the contender computes.
    """
    is_rounded = case.operation in ("attention", "gemm_quantized") or computed in ("f16", "bf16")
    limit = (5e-3 if is_rounded else 1e-5) * float(np.abs(expected).max())
    if result.shape != expected.shape or not float(np.abs(result.astype(np.float64) - expected).max()) <= limit:
        raise ArithmeticError("the result differs from numpy's")
