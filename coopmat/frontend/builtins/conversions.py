"""Explicit conversions `convert_T[_sat][_rounding]` (OpenCL C 3.0, section 6.4.3) and `as_T` (6.4.4), by rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ..matrix_terms import COMPONENTS
from ..storage_types import STORAGE_TYPES, STORAGE_VECTOR_SIZES
from ..types import (
    FLOATS,
    INTEGERS,
    SMALL_FLOATS,
    VECTOR_SIZES,
    ScalarType,
    Type,
    element_type,
    with_count,
)
from .rows import Builtin

ROUNDINGS = ("rte", "rtz", "rtp", "rtn")
_ELEMENTS: dict[str, ScalarType] = {t.name: t for t in (*INTEGERS, *FLOATS, *SMALL_FLOATS)}

_TYPE = rf"(?P<element>{'|'.join(_ELEMENTS)})(?P<count>{'|'.join(map(str, VECTOR_SIZES))})?"
_CONVERT = re.compile(rf"convert_{_TYPE}(?P<sat>_sat)?(?:_(?P<rounding>{'|'.join(ROUNDINGS)}))?")
_AS = re.compile(rf"as_{_TYPE}")


@dataclass(frozen=True, slots=True)
class ConversionName:
    """A parsed name `convert_...`.

    `rounding` is rte, rtz, rtp or rtn. If it is None, conversions to integers round towards zero and conversions to
    floats to nearest even.
    """

    target: Type
    saturate: bool
    rounding: str | None

    @property
    def plain(self) -> bool:
        return not self.saturate and self.rounding is None


@lru_cache(maxsize=4096)
def parse_conversion(name: str) -> ConversionName | None:
    """Parse a name `convert_...`; return None for any other name, and for saturation to a type that cannot saturate."""
    match = _CONVERT.fullmatch(name)
    target = _type(match)
    if match is None or target is None or (match["sat"] and not COMPONENTS[match["element"]].saturates):
        return None
    return ConversionName(target, match["sat"] is not None, match["rounding"])


@lru_cache(maxsize=4096)
def parse_as(name: str) -> Type | None:
    """Return the type to which `as_...` reinterprets its operand, or None for any other name."""
    return _type(_AS.fullmatch(name))


def _type(match: re.Match[str] | None) -> Type | None:
    """Return the type that a matched name contains, or None for no match and for vectors that do not exist."""
    if match is None:
        return None
    element, count = _ELEMENTS[match["element"]], int(match["count"] or 1)
    return with_count(element, count) if count in _counts(element) else None


def _counts(element: ScalarType) -> tuple[int, ...]:
    """Return the numbers of components that values of a type have."""
    if element.is_bits:
        return (1, *STORAGE_VECTOR_SIZES) if element in STORAGE_TYPES else (1,)
    return (1, *VECTOR_SIZES)


@lru_cache(maxsize=4096)
def row_by_rule(name: str) -> Builtin | None:
    """Return the row of a conversion, or None for any other name.

    The row of `as_T` has no signatures: its operand may have any type of T's size.
    """
    conversion = parse_conversion(name)
    if conversion is not None:
        count = getattr(conversion.target, "count", 1)
        small = " small" if count == 1 else "" if count == 3 else " storage"
        signature = f"{conversion.target} {name}(Tn) for T in numbers{small}, n in {count}"
        return Builtin(name, (signature,), "6.4.3", lowering="convert", pure=True, needs=_needs(conversion.target))
    t = parse_as(name)
    return None if t is None else Builtin(name, (), "6.4.4", lowering="analysis", pure=True, needs=_needs(t))


def _needs(t: Type) -> str:
    """Return the extension that provides a small float type, or "": for other types, naming the type requires it."""
    element = element_type(t)
    return COMPONENTS[element.name].extension or "" if isinstance(element, ScalarType) and element.is_bits else ""


def all_names() -> Iterator[str]:
    """Yield the name of every conversion."""
    for element in _ELEMENTS.values():
        for count in _counts(element):
            t = with_count(element, count)
            yield f"as_{t}"
            for saturate in ("", "_sat") if COMPONENTS[element.name].saturates else ("",):
                yield f"convert_{t}{saturate}"
                yield from (f"convert_{t}{saturate}_{rounding}" for rounding in ROUNDINGS)
