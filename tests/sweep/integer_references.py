"""The integer functions on exact Python integers (OpenCL C 3.0, section 6.15.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from cases import Array, dtype, scalar
from differential import NUMPY

from coopmat.frontend.builtins import Overload
from coopmat.frontend.types import ScalarType

Function = Callable[..., Any]


def _saturated(t: ScalarType, value: Any) -> Any:
    limits = np.iinfo(NUMPY[t.name])
    return np.clip(value, int(limits.min), int(limits.max))


def _bits(t: ScalarType, a: Any) -> Any:
    return a & ((1 << t.bits) - 1)


def _rotate(t: ScalarType, a: Any, b: Any) -> Any:
    shift = b % t.bits
    return (_bits(t, a) << shift) | (_bits(t, a) >> (t.bits - shift))


def _each(function: Callable[[int], int]) -> Callable[[Any], Any]:
    return np.vectorize(lambda v: function(int(v)), otypes=[object])


def _trailing_zeros(t: ScalarType) -> Callable[[Any], Any]:
    return _each(lambda v: t.bits if v == 0 else (v & -v).bit_length() - 1)


def _field(a: Any, offset: Any, count: Any) -> Any:
    return (a >> offset) & ((1 << count) - 1)


def _signed_field(t: ScalarType, a: Any, offset: Any, count: Any) -> Any:
    field = _field(_bits(t, a), offset, count)
    return field - (((field << 1) >> count) & 1) * (1 << count)


def _inserted(t: ScalarType, base: Any, insert: Any, offset: Any, count: Any) -> Any:
    mask = ((1 << count) - 1) << offset
    return (base & ~mask) | ((insert << offset) & mask)


def _packed(a: Any, signed: bool) -> list[Any]:
    """The four bytes of each uint."""
    bytes_ = [(a >> shift) & 0xFF for shift in (0, 8, 16, 24)]
    return [b - ((b >> 7) << 8) for b in bytes_] if signed else bytes_


def _packed_dot(signs: str) -> Function:
    """The product of two uints as vectors of four bytes, `s`igned or `u`nsigned."""

    def dot(t: ScalarType, a: Any, b: Any) -> Any:
        first, second = (_packed(v, sign == "s") for v, sign in zip((a, b), signs, strict=True))
        return sum(x * y for x, y in zip(first, second, strict=True))

    return dot


def _saturating(signs: str) -> Function:
    """The same, added to a 32-bit integer that saturates."""

    def dot(t: ScalarType, a: Any, b: Any, c: Any) -> Any:
        low, high = (0, 2**32 - 1) if signs == "uu" else (-(2**31), 2**31 - 1)
        return np.clip(_packed_dot(signs)(t, a, b) + c, low, high)

    return dot


_DOTS = {"uu": "uu_uint", "ss": "ss_int", "su": "su_int", "us": "us_int"}

# By name: of the element type and the arguments, which are arrays of Python integers. The result is taken modulo the
# width of the result's type.
FUNCTIONS: dict[str, Function] = {
    "abs": lambda t, a: np.abs(a),
    "abs_diff": lambda t, a, b: np.abs(a - b),
    "add_sat": lambda t, a, b: _saturated(t, a + b),
    "sub_sat": lambda t, a, b: _saturated(t, a - b),
    "hadd": lambda t, a, b: (a + b) >> 1,
    "rhadd": lambda t, a, b: (a + b + 1) >> 1,
    "mul_hi": lambda t, a, b: (a * b) >> t.bits,
    "mad_hi": lambda t, a, b, c: ((a * b) >> t.bits) + c,
    "mad_sat": lambda t, a, b, c: _saturated(t, a * b + c),
    "mul24": lambda t, a, b: a * b,
    "mad24": lambda t, a, b, c: a * b + c,
    "rotate": _rotate,
    "clz": lambda t, a: t.bits - _each(int.bit_length)(_bits(t, a)),
    "ctz": lambda t, a: _trailing_zeros(t)(a),
    "popcount": lambda t, a: _each(lambda v: bin(v).count("1"))(_bits(t, a)),
    "max": lambda t, a, b: np.maximum(a, b),
    "min": lambda t, a, b: np.minimum(a, b),
    "clamp": lambda t, a, low, high: np.minimum(np.maximum(a, low), high),
    "upsample": lambda t, a, b: (a << t.bits) | _bits(t, b),
    "bitselect": lambda t, a, b, c: (a & ~c) | (b & c),
    "bit_reverse": lambda t, a: _each(lambda v: int(f"{v:0{t.bits}b}"[::-1], 2))(_bits(t, a)),
    "bitfield_insert": _inserted,
    "bitfield_extract_signed": _signed_field,
    "bitfield_extract_unsigned": lambda t, a, offset, count: _field(_bits(t, a), offset, count),
    **{f"dot_4x8packed_{name}": _packed_dot(signs) for signs, name in _DOTS.items()},
    **{f"dot_acc_sat_4x8packed_{name}": _saturating(signs) for signs, name in _DOTS.items()},
}
_RESULTS: dict[tuple[object, ...], Array] = {}


def integer_result(overload: Overload, inputs: Sequence[Array]) -> Array | None:
    """The exact results; None where the function is not one of these."""
    function = FUNCTIONS.get(overload.name)
    if function is None:
        return None
    t = scalar(overload.parameters[0])
    together = np.broadcast_arrays(*inputs)
    whole = all(a.shape == inputs[0].shape for a in inputs)
    # All component counts have the same values, some of them a few less; those of scalars are complete.
    key = (overload.name, t, len(inputs), scalar(overload.result))
    if whole and key in _RESULTS:
        return _RESULTS[key][: inputs[0].size].reshape(inputs[0].shape)
    found = wrapped(function(t, *(a.astype(object) for a in together)), dtype(overload.result))
    if whole and inputs[0].shape[1] == 1:
        _RESULTS[key] = found.ravel()
    return found


def wrapped(exact: Any, kind: Any) -> Array:
    """Exact integers modulo the width of the type."""
    kind = np.dtype(kind)
    bits = np.asarray(exact, object) & ((1 << kind.itemsize * 8) - 1)
    unsigned: Array = bits.astype(f"uint{kind.itemsize * 8}")
    return unsigned.view(kind)
