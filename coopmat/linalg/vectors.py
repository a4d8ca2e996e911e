"""`gemv`: products of a matrix and one to sixteen vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .operands import describe_array, renamed_errors
from .products import gemm

MOST_VECTORS = 16


def gemv(
    queue: Any,
    a: Any,
    x: Any,
    y: Any = None,
    *,
    alpha: float = 1,
    beta: float = 0,
    trans_a: bool = False,
    bias: Any = None,
    activation: str | None = None,
    dtype_a: str | None = None,
    dtype_x: str | None = None,
    out_dtype: Any = None,
    wait_for: Sequence[Any] | None = None,
) -> Any:
    """Enqueue y = activation(alpha * A x + beta * y + bias), and return the array of y.

    queue, alpha, beta, activation, out_dtype, wait_for: as for `gemm`.
    a: an array of n x k components; of k x n with `trans_a`.
    x: an array of k components; or of m x k components, m vectors in rows, m at most 16.
    y: the array for the result, of n or m x n components; by default a new one. `beta` needs one.
    bias: an array with the shape (n,), added to each vector.
    dtype_a, dtype_x: "bf16" for arrays of uint16, "e4m3" or "e5m2" for arrays of uint8.

    Raises TypeError for types, and ValueError for values, shapes, contexts or memory; nothing is enqueued then.
    """
    rows, out = _matrices(a, x, y, inner=0 if trans_a else 1)
    options: dict[str, Any] = {"alpha": alpha, "beta": beta, "bias": bias, "activation": activation}
    options |= {"dtype_a": dtype_x, "dtype_b": dtype_a, "out_dtype": out_dtype}
    with renamed_errors(a="x", b="a", c="y", dtype_a="dtype_x", dtype_b="dtype_a"):
        result = gemm(queue, rows, a, out, trans_b=not trans_a, wait_for=wait_for, **options)
    if len(x.shape) == 2:
        return result
    # y and its row share a list of events.
    return result.reshape(result.shape[1]) if y is None else y


def _matrices(a: Any, x: Any, y: Any, *, inner: int) -> tuple[Any, Any]:
    """Return x and y as matrices whose rows are vectors. Raises TypeError and ValueError if they do not fit a.

    inner: the dimension of a that has as many components as a vector of x.
    """
    dimensions = len(describe_array("x", x).shape)
    if dimensions not in (1, 2):
        raise ValueError(f"x: expected 1 dimension, or 2 for several vectors, not {dimensions}")
    if len(describe_array("a", a).shape) != 2:
        raise ValueError(f"a: expected 2 dimensions, not {len(a.shape)}")
    if y is not None and len(describe_array("y", y).shape) != dimensions:
        raise ValueError(f"y: expected {dimensions} dimensions, as x has, not {len(y.shape)}")
    rows = x if dimensions == 2 else _as_row(x)
    if rows.shape[0] > MOST_VECTORS:
        raise ValueError(f"x: expected at most {MOST_VECTORS} vectors, not {rows.shape[0]}; use gemm")
    if rows.shape[1] != a.shape[inner]:
        raise ValueError(f"x: expected vectors of {a.shape[inner]} components, as a has columns, not {rows.shape[1]}")
    out = y if y is None or dimensions == 2 else _as_row(y)
    length = a.shape[1 - inner]
    if out is not None and tuple(out.shape) != (rows.shape[0], length):
        raise ValueError(f"y: expected {length} components for each vector, not the shape {y.shape}")
    return rows, out


def _as_row(x: Any) -> Any:
    """Return a vector as a matrix of one row, in the same memory."""
    return x[None, :]
