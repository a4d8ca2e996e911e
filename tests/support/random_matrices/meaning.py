"""The semantics of operations on matrix types in numpy, from Clang's specification, which expands them to elements.

Nothing is contracted. Integers wrap modulo 2^bits, like the elements of a char matrix after the conversion back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

ELEMENTS: dict[str, Any] = {
    **{"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32},
    **{"uint": np.uint32, "long": np.int64, "ulong": np.uint64, "half": np.float16, "float": np.float32},
    "double": np.float64,
}
SMALL_INTEGERS = ("char", "uchar", "short", "ushort")


def elementwise(op: str, a: Array, b: Array) -> Array:
    with np.errstate(all="ignore"):
        result: Array = {"+": np.add, "-": np.subtract, "*": np.multiply}[op](a, b)
    assert result.dtype == a.dtype == b.dtype
    return result


def product(a: Array, b: Array) -> Array:
    """Return the matrix product: Elt = 0; Elt += a[r][k] * b[k][c] for each k in order."""
    result = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for k in range(a.shape[1]):
        result = elementwise("+", result, elementwise("*", a[:, k, None], b[None, k, :]))
    return result


def fits(values: Array, element: str) -> bool:
    """Return whether C defines the conversion; a float outside of the integer type's range is undefined."""
    target = np.dtype(ELEMENTS[element])
    if values.dtype.kind != "f" or target.kind == "f":
        return True
    wide = np.trunc(values.astype(np.float64))
    limits = np.iinfo(target)
    return bool(np.all((wide >= float(limits.min)) & (wide < float(limits.max))))


def converted(values: Array, element: str) -> Array:
    """Return each element converted by a cast, rounded once to the nearest."""
    target = np.dtype(ELEMENTS[element])
    with np.errstate(all="ignore"):
        if values.dtype.kind == "f" and target.kind != "f":
            values = np.trunc(values.astype(np.float64))
        elif target == np.float16 and values.dtype.kind != "f":
            # As halves, integers of 64 bits that are rounded to double are infinite, so double rounding does not
            # matter.
            values = values.astype(np.float64)
        return values.astype(target)
