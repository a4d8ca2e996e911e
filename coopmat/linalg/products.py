"""`gemm`: products of matrices by the kernel of gemm.cl."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyopencl.array
from pyopencl.array import Array

from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType

from .kernels import Product
from .operands import Operand, component_of, is_integer, operand, require_distinct, require_memory

_INPUTS = frozenset({"f16", "bf16", "f32", "f64", "e4m3", "e5m2", "s8", "u8"})
_OUTPUTS = _INPUTS | {"s32"}
_NUMBERS = (int, float, np.integer, np.floating)
# Name of an activation -> its function of a REAL x in OpenCL C.
_ACTIVATIONS = {
    "relu": "return fmax(x, (REAL)0);",
    "gelu": "return (REAL)0.5 * x * (1 + erf(x * (REAL)0.70710678118654752));",
    "silu": "return x / (1 + exp(-x));",
}


def gemm(
    queue: Any,
    a: Any,
    b: Any,
    c: Any = None,
    *,
    alpha: float = 1,
    beta: float = 0,
    trans_a: bool = False,
    trans_b: bool = False,
    bias: Any = None,
    activation: str | None = None,
    scale_a: Any = None,
    scale_b: Any = None,
    dtype_a: str | None = None,
    dtype_b: str | None = None,
    out_dtype: Any = None,
    wait_for: Sequence[Any] | None = None,
) -> Any:
    """Enqueue C = activation(alpha * scale_a * scale_b * (A B) + beta * C + bias), and return the array of C.

    Products are added up in float; in double for arrays of double, in int for integers. The last event of the returned
    array's `events` is that of the launch. a, b and c may have any strides and offsets. What follows the sum is
    calculated in REAL: double if A or C is double, int if C is int, else float. Bias and scales are arrays of REAL.

    queue: an in-order or out-of-order command queue. The launch waits for `wait_for` and for the arrays' events.
    a, b: arrays of m x k and k x n components, or batches of them in three dimensions. A batch of one matrix serves all
        matrices of the other batch. With `trans_a` and `trans_b`, they are transposed first.
    c: the array for the result, m x n, or a batch; by default a new array. `beta` needs one.
    bias: an array with the shape (n,), added to each row, or (m, 1), added to each column.
    activation: "relu", "gelu" (by erf) or "silu", or OpenCL C that defines a function `REAL activation(REAL x)`.
    scale_a, scale_b: numbers, or arrays of m factors for the rows of A and n factors for the columns of B.
    dtype_a, dtype_b: "bf16" for arrays of uint16, "e4m3" or "e5m2" for arrays of uint8.
    out_dtype: the type of a new array: a dtype, or one of these names. By default, it is int32 for integers (float32 if
        they are scaled), float64 for double, else float32. With `c`, it names the type of its numbers.

    Raises TypeError for types, and ValueError for values, shapes, contexts or memory; nothing is enqueued then.
    """
    events = _events(queue, wait_for)
    left, right = operand("a", a, dtype_a, queue, trans_a), operand("b", b, dtype_b, queue, trans_b)
    total, (shape, inner) = _sum_type(left, right), _shape(left, right)
    name = _output_name(total, c, out_dtype, is_scaled=not (scale_a is None and scale_b is None))
    real = _real_type(total, name)
    factors = {"alpha": _number("alpha", alpha), "beta": _number("beta", beta)}
    vectors = _vectors(queue, real, shape, factors, {"scale_a": scale_a, "scale_b": scale_b, "bias": bias})
    _check_factors(factors, real, has_output=c is not None)
    output = _output(queue, c, name, shape, {"a": a, "b": b, **vectors})
    types, flags = (left.component, right.component, total, real, output.component), _flags(factors, name, vectors)
    product = Product(types, flags, _activation(activation, real), (*shape, inner))
    return product.run(queue, (left, right, output), vectors, factors, events)


def _sum_type(left: Operand, right: Operand) -> ComponentType:
    """Return the type in which products are added up. Raises TypeError for operands that cannot be multiplied."""
    for item in (left, right):
        if item.component.name not in _INPUTS:
            raise TypeError(f"{item.name}: the type {item.component} is not supported (supported: {_names(_INPUTS)})")
    types = left.component, right.component
    if types[0].kind is not types[1].kind or (types[0] != types[1] and "f64" in (types[0].name, types[1].name)):
        raise TypeError(f"a, b: {types[0]} and {types[1]} cannot be multiplied; convert one of the arrays")
    return COMPONENT_TYPES["s32" if is_integer(types[0]) else "f64" if types[0].name == "f64" else "f32"]


def _real_type(total: ComponentType, name: str) -> ComponentType:
    """Return the type in which the scales, the bias and the activation are calculated, for a result of this name."""
    return total if name == "s32" else COMPONENT_TYPES["f64" if "f64" in (name, total.name) else "f32"]


def _shape(left: Operand, right: Operand) -> tuple[tuple[int, int, int], int]:
    """Return the shape of the result (batch, m, n), and k. Raises ValueError if the operands' shapes do not fit."""
    batches = left.shape[0], right.shape[0]
    if left.shape[2] != right.shape[1]:
        words = f"a has {left.shape[2]} columns, b has {right.shape[1]} rows"
        raise ValueError(f"a, b: {words}: these numbers must be equal (behind trans_a and trans_b)")
    if batches[0] != batches[1] and 1 not in batches:
        raise ValueError(
            f"a, b: batches of {batches[0]} and {batches[1]} matrices; they must be equal, or one of them 1"
        )
    batch = batches[1] if batches[0] == 1 else batches[0]
    return (batch, left.shape[1], right.shape[2]), left.shape[2]


def _output_name(total: ComponentType, c: Any, out_dtype: Any, *, is_scaled: bool) -> str:
    """Return the name of the result's component type. Raises TypeError if it is not supported."""
    if c is not None and isinstance(c, Array) and not isinstance(out_dtype, str):
        if out_dtype is not None and np.dtype(out_dtype) != c.dtype:
            raise TypeError(f"out_dtype: {out_dtype} is not the type of c, {c.dtype}")
        name = component_of("c", c.dtype, None).name
    elif out_dtype is None:
        name = "f32" if is_scaled and is_integer(total) else total.name
    else:
        name = out_dtype if isinstance(out_dtype, str) and out_dtype in _OUTPUTS else _name_of_dtype(out_dtype)
    if name not in _OUTPUTS or (name == "s32" and not is_integer(total)):
        what = "c" if c is not None and out_dtype is None else "out_dtype"
        supported = _OUTPUTS if is_integer(total) else _OUTPUTS - {"s32"}
        raise TypeError(f"{what}: the type {name} is not supported (supported: {_names(supported)})")
    return name


def _name_of_dtype(dtype: Any) -> str:
    try:
        return component_of("out_dtype", np.dtype(dtype), None).name
    except TypeError as error:
        raise TypeError(f"out_dtype: {dtype} is not supported (supported: {_names(_OUTPUTS)})") from error


def _vectors(
    queue: Any, real: ComponentType, shape: tuple[int, int, int], factors: dict[str, float], given: dict[str, Any]
) -> dict[str, Any]:
    """Return the arrays among the scales and the bias. Multiply `factors["alpha"]` by scales that are numbers.

    Raises TypeError and ValueError.
    """
    shapes: dict[str, list[tuple[int, ...]]] = {"scale_a": [(shape[1],)], "scale_b": [(shape[2],)]}
    shapes["bias"] = [(shape[2],), (shape[1], 1)]
    vectors = {}
    for name, value in given.items():
        if isinstance(value, _NUMBERS) and name != "bias":
            factors["alpha"] *= _number(name, value)
        elif value is not None:
            vectors[name] = _vector(name, value, real, shapes[name], queue)
    return vectors


def _vector(name: str, array: Any, real: ComponentType, shapes: list[tuple[int, ...]], queue: Any) -> Any:
    """Return an array of scales or of a bias. Raises TypeError and ValueError if it does not fit."""
    if not isinstance(array, Array):
        raise TypeError(f"{name}: expected a pyopencl.array.Array, not {type(array).__name__}")
    if str(array.dtype) != real.numpy:
        raise TypeError(f"{name}: expected an array of {real.numpy}, not {array.dtype}")
    if tuple(array.shape) not in shapes:
        raise ValueError(f"{name}: expected the shape {' or '.join(map(str, shapes))}, not {array.shape}")
    if not array.flags.c_contiguous:
        raise ValueError(f"{name}: expected an array whose elements are consecutive in memory")
    require_memory(name, array, queue)
    return array


def _events(queue: Any, wait_for: Any) -> list[Any]:
    """Return the events to wait for. Raises TypeError if the queue or an event is another object."""
    if not isinstance(queue, pyopencl.CommandQueue):
        raise TypeError(f"queue: expected a pyopencl.CommandQueue, not {type(queue).__name__}")
    events = list(wait_for or ())
    if not all(isinstance(event, pyopencl.Event) for event in events):
        raise TypeError("wait_for: expected a sequence of pyopencl.Event")
    return events


def _number(name: str, value: Any) -> float:
    """Return a factor as a number of Python. Raises TypeError for other objects."""
    if not isinstance(value, _NUMBERS):
        raise TypeError(f"{name}: expected a number, not {type(value).__name__}")
    return value.item() if isinstance(value, np.generic) else value


def _check_factors(factors: dict[str, float], real: ComponentType, *, has_output: bool) -> None:
    """Make alpha and beta integers if the result is. Raises ValueError if they do not fit."""
    for name, value in factors.items():
        if is_integer(real):
            if value != value // 1:
                raise ValueError(f"{name}: {value} is no integer, and the result is; ask for out_dtype=numpy.float32")
            if not -(2**31) <= value < 2**31:
                raise ValueError(f"{name}: {value} does not fit an int, the type of the result")
            factors[name] = int(value)
    if factors["beta"] != 0 and not has_output:
        raise ValueError(f"beta: {factors['beta']} needs an array c, to which the product is added")


def _flags(factors: dict[str, float], name: str, vectors: dict[str, Any]) -> frozenset[str]:
    """Return the macros of gemm.cl that are 1. `name` is the type of the result."""
    bias = vectors.get("bias")
    flags = {
        "HAS_ALPHA": factors["alpha"] != 1,
        "HAS_BETA": factors["beta"] != 0,
        "SCALE_A": "scale_a" in vectors,
        "SCALE_B": "scale_b" in vectors,
        "BIAS_BY_ROWS": bias is not None and bias.ndim == 2,
        "BIAS_BY_COLUMNS": bias is not None and bias.ndim == 1,
        "ROUND": name in ("s8", "u8"),
    }
    return frozenset(flag for flag, is_set in flags.items() if is_set)


def _output(queue: Any, c: Any, name: str, shape: tuple[int, int, int], inputs: dict[str, Any]) -> Operand:
    """Return the array for the result, which is created if c is None.

    Raises ValueError if c has another shape, or shares memory with an input.
    """
    if c is None:
        dims = shape if shape[0] > 1 else shape[1:]
        c = pyopencl.array.empty(queue, dims, COMPONENT_TYPES[name].numpy)
    output = operand("c", c, name, queue, transpose=False)
    if output.shape != shape:
        raise ValueError(f"c: expected the shape {shape if shape[0] > 1 else shape[1:]}, not {c.shape}")
    require_distinct(output, inputs)
    return output


def _activation(activation: str | None, real: ComponentType) -> str:
    """Return the OpenCL C of an activation. Raises TypeError and ValueError."""
    if activation is None:
        return ""
    if not isinstance(activation, str):
        raise TypeError(f"activation: expected a str, not {type(activation).__name__}")
    if is_integer(real):
        raise ValueError("activation: the result is integers; ask for out_dtype=numpy.float32")
    if activation in _ACTIVATIONS:
        return f"REAL activation(REAL x) {{ {_ACTIVATIONS[activation]} }}"
    if not re.search(r"\bactivation\s*\(", activation):
        names = ", ".join(_ACTIVATIONS)
        raise ValueError(f"activation: expected {names}, or OpenCL C that defines REAL activation(REAL x)")
    return activation


def _names(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))
