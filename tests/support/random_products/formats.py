"""The component types, independent of coopmat: decoding, encoding, and the rounding of a result."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Format:
    """A component type.

    storage: the dtype of its arrays.
    is_named: whether a call names the format, because the dtype of its arrays does not.
    """

    name: str
    storage: str
    is_named: bool = False

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.storage)

    def decode(self, stored: Array) -> Array:
        raise NotImplementedError

    def encode(self, values: Array) -> Array:
        """Return the stored form of numbers, each rounded to a component."""
        raise NotImplementedError

    def round(self, values: Array) -> Array:
        """Return the components nearest to the numbers, infinities for those that overflow."""
        raise NotImplementedError


@dataclass(frozen=True)
class Integer(Format):
    @property
    def limits(self) -> tuple[int, int]:
        found = np.iinfo(self.dtype)
        return int(found.min), int(found.max)

    def decode(self, stored: Array) -> Array:
        return stored.astype(np.int64)

    def encode(self, values: Array) -> Array:
        return self.round(values).astype(self.dtype)

    def round(self, values: Array) -> Array:
        nearest = values if values.dtype.kind == "i" else np.rint(values)
        return np.clip(nearest, *self.limits)


@dataclass(frozen=True)
class Float(Format):
    """A floating-point type.

    fraction: the number of stored bits of the significand.
    exponent: the number of bits of the exponent.
    largest: the largest finite number.
    overflow: "infinity" or "nan": the result of a number that is too large.
    """

    fraction: int = 0
    exponent: int = 0
    largest: float = 0.0
    overflow: str = "infinity"

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    @property
    def is_numpys(self) -> bool:
        return self.dtype.kind == "f"

    @cached_property
    def table(self) -> Array:
        """Return the numbers of all bit patterns of a type of one or two bytes."""
        bits = np.arange(1 << (8 * self.dtype.itemsize), dtype=np.int64)
        fraction = bits & ((1 << self.fraction) - 1)
        exponent = (bits >> self.fraction) & ((1 << self.exponent) - 1)
        is_normal = exponent > 0
        significand = fraction + (is_normal.astype(np.int64) << self.fraction)
        scale = np.maximum(exponent, 1) - self.bias - self.fraction
        numbers = np.ldexp(significand.astype(np.float64), scale)
        if self.overflow == "infinity":
            is_special = exponent == (1 << self.exponent) - 1
            numbers = np.where(is_special, np.where(fraction == 0, np.inf, np.nan), numbers)
        else:
            numbers = np.where(numbers > self.largest, np.nan, numbers)
        sign = (bits >> (self.fraction + self.exponent)) & 1
        return np.where(sign == 1, -numbers, numbers)

    def decode(self, stored: Array) -> Array:
        if self.is_numpys:
            return stored.astype(np.float64)
        found: Array = self.table[stored.astype(np.int64)]
        return found

    def encode(self, values: Array) -> Array:
        nearest = np.clip(self.round(values), -self.largest, self.largest)
        if self.is_numpys:
            return nearest.astype(self.dtype)
        positive = self.table[: len(self.table) // 2]
        positive = positive[: int(np.flatnonzero(positive == self.largest)[0]) + 1]
        bits = np.searchsorted(positive, np.abs(nearest))
        found: Array = (bits + np.where(nearest < 0, len(self.table) // 2, 0)).astype(self.dtype)
        return found

    def round(self, values: Array) -> Array:
        with np.errstate(all="ignore"):
            if self.name == "f64":
                return values.astype(np.float64)
            is_finite = np.isfinite(values)
            numbers = np.where(is_finite, values, 0)
            exponent = np.maximum(np.frexp(numbers)[1] - 1, 1 - self.bias)
            unit = exponent - self.fraction
            nearest = np.ldexp(np.rint(np.ldexp(numbers, -unit)), unit)
            nearest = np.where(np.abs(nearest) > self.largest, np.copysign(np.inf, nearest), nearest)
            found: Array = np.where(is_finite, nearest, values)
            return found


F16 = Float("f16", "float16", False, 10, 5, 65504.0)
BF16 = Float("bf16", "uint16", True, 7, 8, float(2.0**127 * (2 - 2**-7)))
F32 = Float("f32", "float32", False, 23, 8, float(np.finfo(np.float32).max))
F64 = Float("f64", "float64", False, 52, 11, float(np.finfo(np.float64).max))
E4M3 = Float("e4m3", "uint8", True, 3, 4, 448.0, "nan")
E5M2 = Float("e5m2", "uint8", True, 2, 5, 57344.0)
S8 = Integer("s8", "int8")
U8 = Integer("u8", "uint8")
S32 = Integer("s32", "int32")
FORMATS = {found.name: found for found in (F16, BF16, F32, F64, E4M3, E5M2, S8, U8, S32)}
