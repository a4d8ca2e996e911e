"""`gemm`: products of matrices by the kernel of gemm.cl."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType

from .kernels import Product
from .operands import (
    NUMBERS,
    Description,
    Operand,
    component_of,
    describe_array,
    events_before,
    number,
    operand,
    require_memory,
    require_separate_elements,
)
from .panels import Format, Packed

INPUTS = frozenset({"f16", "bf16", "f32", "f64", "e4m3", "e5m2", "s8", "u8"})
OUTPUTS = INPUTS | {"s32"}
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
    array's `events` is the launch's. a, b and c may have any strides and offsets. What follows the sum is calculated in
    REAL: double if A or C is double, int if C is int, else float. Bias and scales are arrays of REAL.

    queue: an in-order or out-of-order command queue. The launch waits for `wait_for` and for the arrays' events.
    a, b: arrays of m x k and k x n components, or batches of them in three dimensions. A batch of one matrix serves all
        matrices of the other. `trans_a` and `trans_b` transpose them first. b may be what `pack` has returned.
    c: the array for the result, m x n, or a batch; by default a new array, with three dimensions if a or b has three.
        `beta` needs an array.
    bias: an array with the shape (n,), added to each row, or (m, 1), added to each column.
    activation: "relu", "gelu" (by erf) or "silu", or OpenCL C that defines a function `REAL activation(REAL x)`.
    scale_a, scale_b: numbers, or arrays of m factors for the rows of A and n factors for the columns of B.
    dtype_a, dtype_b: "bf16" for arrays of uint16, "e4m3" or "e5m2" for arrays of uint8.
    out_dtype: the type of a new array: a dtype, or one of these names. By default, it is int32 for integers (float32 if
        they are scaled), float64 for double, else float32. With `c`, it names the type of its numbers.

    Raises TypeError for types, and ValueError for values, shapes, contexts or memory; nothing is enqueued then.
    """
    events = events_before(queue, wait_for)
    packed, b, trans_b, dtype_b = _unpacked(b, trans_b, dtype_b)
    factors = {"alpha": number("alpha", alpha), "beta": number("beta", beta)}
    arrays = _arrays({"a": a, "b": b, "c": c, "scale_a": scale_a, "scale_b": scale_b, "bias": bias}, factors)
    described = _described(arrays, packed)
    flags = (factors["alpha"] != 1, factors["beta"] != 0, scale_a is not None or scale_b is not None)
    how = (bool(trans_a), bool(trans_b), *_words(dtype_a=dtype_a, dtype_b=dtype_b, activation=activation))
    product = _product(described, flags, _output_type(out_dtype), *how, packed and packed.format)
    _check_factors(factors, product.types[3], {"scale_a": scale_a, "scale_b": scale_b})
    require_memory(arrays, queue)
    return product.run(queue, arrays, factors, events)


def _unpacked(b: Any, trans_b: bool, dtype_b: str | None) -> tuple[Packed | None, Any, bool, str | None]:
    """Return b if it is packed, else None; and its array, transposition and type.

    Raises ValueError if the call describes what is packed.
    """
    if not isinstance(b, Packed):
        return None, b, trans_b, dtype_b
    if trans_b or dtype_b is not None:
        raise ValueError("trans_b, dtype_b: b is packed; they are arguments of `pack`")
    return b, b.data, b.transpose, b.dtype


def _described(arrays: dict[str, Any], packed: Packed | None) -> tuple[tuple[str, Description], ...]:
    """Return the names and descriptions of the arrays; that of b before it was packed."""
    described = {name: describe_array(name, value) for name, value in arrays.items()}
    return tuple((described | ({"b": packed.described} if packed else {})).items())


def _arrays(given: dict[str, Any], factors: dict[str, float]) -> dict[str, Any]:
    """Return the arguments that are arrays. Multiply `factors["alpha"]` by scales that are numbers."""
    arrays = {}
    for name, value in given.items():
        if isinstance(value, NUMBERS) and name.startswith("scale"):
            factors["alpha"] *= number(name, value)
        elif value is not None or name in ("a", "b"):
            arrays[name] = value
    return arrays


def _words(**given: Any) -> tuple[str | None, ...]:
    """Return the values of these arguments. Raises TypeError if one is neither a str nor None."""
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name}: expected a str, not {type(value).__name__}")
    return tuple(given.values())


def product_of(
    arrays: dict[str, Description],
    out_dtype: Any,
    *,
    trans_b: bool,
    dtype_a: str | None,
    dtype_b: str | None,
    activation: str | None,
) -> Product:
    """Return the product of arrays of these descriptions without factors, in any memory.

    arrays: those of `gemm` by its names. The other arguments are as for `gemm`. Raises TypeError and ValueError.
    """
    words = _words(dtype_a=dtype_a, dtype_b=dtype_b, activation=activation)
    return _product(tuple(arrays.items()), (False,) * 3, _output_type(out_dtype), False, trans_b, *words, None)


@lru_cache(maxsize=512)
def _product(
    described: tuple[tuple[str, Description], ...],
    has_factors: tuple[bool, bool, bool],
    out_dtype: str | np.dtype[Any] | None,
    trans_a: bool,
    trans_b: bool,
    dtype_a: str | None,
    dtype_b: str | None,
    activation: str | None,
    packed: Format | None,
) -> Product:
    """Return the product of arrays of these descriptions, in any memory. Raises TypeError and ValueError.

    has_factors: whether alpha is not 1, whether beta is not 0, whether there is a scale.
    packed: the panels of B; None if B is an array.
    """
    arrays = dict(described)
    left = operand("a", arrays["a"], dtype_a, transpose=trans_a)
    right = operand("b", arrays["b"], dtype_b, transpose=trans_b)
    total, (shape, inner) = sum_type(left.component, right.component), _shape(left, right)
    if packed is not None and not packed.is_for(left.component):
        raise ValueError(
            f"b: it was packed for a of type {packed.left}, not {left.component.name}; see dtype_a of `pack`"
        )
    name = _output_name(total, arrays.get("c"), out_dtype, is_scaled=has_factors[2])
    real = real_type(total, name)
    offsets = _offsets(real, shape, arrays)
    if has_factors[1] and "c" not in arrays:
        raise ValueError("beta: it needs an array for the result, to which the product is added, unless it is 0")
    is_batch = 3 in (len(arrays["a"].shape), len(arrays["b"].shape))
    output = _output(arrays.get("c"), name, shape, is_batch=is_batch)
    types = (left.component, right.component, total, real, output.component)
    flags = _flags(has_factors, name, arrays)
    sizes, code = (*shape, inner), _activation(activation, real)
    return Product((left, right, output), types, flags, code, sizes, offsets, packed, is_batch)


def forget_launches() -> None:
    """Make all products choose their tiles anew."""
    _product.cache_clear()


def sum_type(*types: ComponentType) -> ComponentType:
    """Return the type in which products of two types are added up. Raises TypeError if they cannot be multiplied."""
    for name, component in zip("ab", types, strict=True):
        if component.name not in INPUTS:
            raise TypeError(f"{name}: the type {component} is not supported (supported: {_names(INPUTS)})")
    if types[0].kind is not types[1].kind or (types[0] != types[1] and "f64" in (types[0].name, types[1].name)):
        raise TypeError(f"a, b: {types[0]} and {types[1]} cannot be multiplied; convert one of them")
    return COMPONENT_TYPES["s32" if types[0].is_integer else "f64" if types[0].name == "f64" else "f32"]


def real_type(total: ComponentType, name: str) -> ComponentType:
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


def _output_type(out_dtype: Any) -> str | np.dtype[Any] | None:
    """Return `out_dtype` as a name of a component type, or as a dtype. Raises TypeError if it is neither."""
    if out_dtype is None:
        return None
    if isinstance(out_dtype, str) and out_dtype in OUTPUTS:
        return str(out_dtype)
    try:
        dtype: np.dtype[Any] = np.dtype(out_dtype)
        return dtype
    except TypeError as error:
        raise TypeError(f"out_dtype: {out_dtype} is not supported (supported: {_names(OUTPUTS)})") from error


def _output_name(
    total: ComponentType, c: Description | None, out_dtype: str | np.dtype[Any] | None, *, is_scaled: bool
) -> str:
    """Return the name of the result's component type. Raises TypeError if it is not supported."""
    if isinstance(out_dtype, str):
        name = out_dtype
    elif c is not None:
        if out_dtype is not None and out_dtype != c.dtype:
            raise TypeError(f"out_dtype: {out_dtype} is not the type of c, {c.dtype}")
        name = component_of("c", c.dtype, None).name
    elif out_dtype is None:
        name = "f32" if is_scaled and total.is_integer else total.name
    else:
        name = component_of("out_dtype", out_dtype, None).name
    if name not in OUTPUTS or (name == "s32" and not total.is_integer):
        what = "c" if c is not None and out_dtype is None else "out_dtype"
        supported = OUTPUTS if total.is_integer else OUTPUTS - {"s32"}
        raise TypeError(f"{what}: the type {name} is not supported (supported: {_names(supported)})")
    return name


def _offsets(real: ComponentType, shape: tuple[int, int, int], arrays: dict[str, Description]) -> dict[str, int]:
    """Return the offsets of scales and bias, in elements. Raises TypeError and ValueError if one does not fit."""
    shapes: dict[str, list[tuple[int, ...]]] = {"scale_a": [(shape[1],)], "scale_b": [(shape[2],)]}
    shapes["bias"] = [(shape[2],), (shape[1], 1)]
    offsets = {}
    for name in shapes.keys() & arrays.keys():
        array = arrays[name]
        if str(array.dtype) != real.numpy:
            raise TypeError(f"{name}: expected an array of {real.numpy}, not {array.dtype}")
        if array.shape not in shapes[name]:
            expected = " or ".join(map(str, shapes[name]))
            raise ValueError(f"{name}: expected the shape {expected}, not {array.shape}")
        dense = operand(name, array._replace(shape=(1, *array.shape), strides=(0, *array.strides)), None)
        if not dense.is_by_rows or dense.line > 1:
            raise ValueError(f"{name}: expected an array whose elements are consecutive in memory")
        offsets[name] = dense.offset
    return offsets


def _check_factors(factors: dict[str, float], real: ComponentType, scales: Mapping[str, Any]) -> None:
    """Make alpha and beta integers if the result is. Raises ValueError if they do not fit.

    scales: the arguments for scales; those that are numbers are factors of alpha, so errors name them.
    """
    if not real.is_integer:
        return
    for name, value in factors.items():
        others = [scale for scale, given in scales.items() if name == "alpha" and isinstance(given, NUMBERS)]
        names = ", ".join((name, *others))
        if value != value // 1:
            raise ValueError(f"{names}: {value} is no integer, and the result is; ask for out_dtype=numpy.float32")
        if not -(2**31) <= value < 2**31:
            raise ValueError(f"{names}: {value} does not fit an int, the type of the result")
        factors[name] = int(value)


def _flags(has_factors: tuple[bool, bool, bool], name: str, arrays: dict[str, Description]) -> frozenset[str]:
    """Return the macros of gemm.cl that are 1. `name` is the type of the result."""
    bias = len(arrays["bias"].shape) if "bias" in arrays else 0
    flags = {
        "HAS_ALPHA": has_factors[0],
        "HAS_BETA": has_factors[1],
        "SCALE_A": "scale_a" in arrays,
        "SCALE_B": "scale_b" in arrays,
        "BIAS_BY_ROWS": bias == 2,
        "BIAS_BY_COLUMNS": bias == 1,
        "ROUND": name in ("s8", "u8"),
    }
    return frozenset(flag for flag, is_set in flags.items() if is_set)


def _output(c: Description | None, name: str, shape: tuple[int, int, int], *, is_batch: bool) -> Operand:
    """Return the result as an operand: c, or a new array. Raises ValueError if c does not fit."""
    if c is None:
        return Operand("c", COMPONENT_TYPES[name], shape, (0, 0, 0)).dense()
    output = operand("c", c, name)
    if output.shape != shape:
        raise ValueError(f"c: expected the shape {shape if is_batch else shape[1:]}, not {c.shape}")
    require_separate_elements(output)
    return output


def _activation(activation: str | None, real: ComponentType) -> str:
    """Return the OpenCL C of an activation. Raises TypeError and ValueError."""
    if activation is None:
        return ""
    if real.is_integer:
        raise ValueError("activation: the result is integers; ask for out_dtype=numpy.float32")
    if activation in _ACTIVATIONS:
        return f"REAL activation(REAL x) {{ {_ACTIVATIONS[activation]} }}"
    if not re.search(r"\bactivation\s*\(", activation):
        names = ", ".join(_ACTIVATIONS)
        raise ValueError(f"activation: expected {names}, or OpenCL C that defines REAL activation(REAL x)")
    return activation


def _names(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))
