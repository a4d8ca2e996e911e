"""The matrices that a device supports, derived from its multiply-add variants, and the nearest supported alternatives.

SPIR-V's integers have no sign, so a matrix type is supported for either sign. The variants of multiply-adds distinguish
signs, as their operand masks do.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from .variants import COMPONENT_TYPES, ComponentType, MatrixType, Operands, Variant

_NAME = re.compile(r"(\d+)x(\d+)x(\d+)\.(\w+?)x(\w+?)_(\w+?)_(\w+?)(?:\.(sat|nosat))?")
_MOST = 4


def parse_variants(text: str) -> tuple[Variant, ...]:
    """Parse variants separated by blanks or semicolons.

    A variant is written as its name (`Variant.name`; without the suffix: not saturating), or as the draft's eight
    numbers, separated by commas. Raise ValueError if a variant is neither, or is invalid.
    """
    return tuple(_parse(word) for word in re.split(r"[\s;]+", text) if word)


def _parse(word: str) -> Variant:
    """Parse one variant; raise ValueError if it is invalid."""
    match = _NAME.fullmatch(word)
    if match is None:
        if not re.fullmatch(r"\d+(,\d+){7}", word):
            raise ValueError(f"'{word}' is no variant: write MxNxK.AxB_C_R.nosat, or eight numbers")
        return Variant.from_record([int(number) for number in word.split(",")])
    for name in match.groups()[3:7]:
        if name not in COMPONENT_TYPES:
            raise ValueError(f"'{word}': '{name}' is no component type: choose from {', '.join(COMPONENT_TYPES)}")
    m, n, k = (int(number) for number in match.groups()[:3])
    a, b, c, result = (COMPONENT_TYPES[name] for name in match.groups()[3:7])
    return Variant(m, n, k, a, b, c, result, match[8] == "sat")


def multiply_add(a: MatrixType, b: MatrixType, c: MatrixType, operands: Operands) -> Variant:
    """Return the variant that a multiply-add of these types requires.

    The mask determines which integers are signed, and whether the sum saturates.
    """
    signs = (Operands.A_SIGNED, Operands.B_SIGNED, Operands.C_SIGNED, Operands.RESULT_SIGNED)
    types = (a.component, b.component, c.component, c.component)
    ta, tb, tc, tr = (t.with_sign(bit in operands) for t, bit in zip(types, signs, strict=True))
    saturating = a.component.is_integer and Operands.SATURATING in operands
    return Variant(a.rows, b.columns, a.columns, ta, tb, tc, tr, saturating)


def _without_sign(m: MatrixType) -> MatrixType:
    """Return the matrix type with unsigned integers, which compares equal for either sign."""
    return replace(m, component=m.component.with_sign(False))


@dataclass(frozen=True)
class Supported:
    """The multiply-adds that a device has; its matrix types are their operands and results."""

    variants: tuple[Variant, ...]

    @cached_property
    def matrix_types(self) -> tuple[MatrixType, ...]:
        """The types of the operands and results, without duplicates."""
        return tuple(dict.fromkeys(m for variant in self.variants for m in variant.matrix_types()))

    @cached_property
    def _known_types(self) -> frozenset[MatrixType]:
        """The supported types with unsigned integers."""
        return frozenset(map(_without_sign, self.matrix_types))

    def has_type(self, matrix: MatrixType) -> bool:
        """Return whether the device supports a matrix type, for either sign of integers."""
        return _without_sign(matrix) in self._known_types

    def has_multiply_add(self, variant: Variant) -> bool:
        """Return whether the device supports a multiply-add."""
        return variant in self.variants

    def nearest_types(self, matrix: MatrixType) -> list[MatrixType]:
        """Return up to four supported types, the nearest first.

        Types of the same use come first, then those of the same class of components, then those of similar sizes and
        shapes.
        """

        def distance(other: MatrixType) -> tuple[float, ...]:
            component = _component_distance(matrix.component, other.component)
            shape = _ratio(matrix.rows, other.rows) + _ratio(matrix.columns, other.columns)
            return (matrix.use != other.use, component >= _OTHER_CLASS, component + shape)

        return sorted(self.matrix_types, key=distance)[:_MOST]

    def nearest_multiply_adds(self, variant: Variant) -> list[tuple[Variant, int]]:
        """Return up to four multiply-adds, each with the number of the eight entries that it shares with this variant.

        Multiply-adds of the same classes of components come first, then those that share more entries, then those of
        similar shapes.
        """

        def distance(other: Variant) -> tuple[float, ...]:
            components = zip(variant.components, other.components, strict=True)
            shape = sum(_ratio(x, y) for x, y in zip(_entries(variant)[:3], _entries(other)[:3], strict=True))
            far = sum(_component_distance(x, y) for x, y in components)
            return (far >= _OTHER_CLASS, -_shared(variant, other), shape + far)

        return [(other, _shared(variant, other)) for other in sorted(self.variants, key=distance)[:_MOST]]


# The distance between integers and floating point, which exceeds any difference of sizes.
_OTHER_CLASS = 100.0


def _component_distance(x: ComponentType, y: ComponentType) -> float:
    """Return a measure of the difference of two component types."""
    other_sign = 0.25 if x.name[0] != y.name[0] else 0.0
    return _ratio(x.bits, y.bits) + other_sign + (_OTHER_CLASS if x.kind != y.kind else 0.0)


def _ratio(x: int, y: int) -> float:
    """Return the absolute binary logarithm of the ratio of two numbers."""
    return abs(math.log2(x / y))


def _entries(variant: Variant) -> tuple[int, int, int]:
    """Return M, N and K of a variant."""
    return (variant.m, variant.n, variant.k)


def _shared(x: Variant, y: Variant) -> int:
    """Return how many of the eight properties that the draft lists for a variant (`_all`) are equal."""
    return sum(a == b for a, b in zip(_all(x), _all(y), strict=True))


def _all(variant: Variant) -> Iterable[object]:
    """Return the eight properties of a variant: M, N, K, the component types of A, B, C and the result, saturation."""
    return (*_entries(variant), *variant.components, variant.saturating)
