"""Matrices of half on devices without cl_khr_fp16: their components are bit patterns, computed with as floats."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, TypeVar

from ..matrices import spelling
from ..matrices.spelling import HALF_BITS
from ..matrices.variants import ComponentType, MatrixType

T = TypeVar("T")

_CALL = re.compile(r"\bcm_f16_(to_float|from_float_(rt[eznp]))_(\d+)\b")


def in_bits(value: T) -> T:
    """A library function or matrix type with every half replaced."""
    if isinstance(value, ComponentType):
        return HALF_BITS if value.name == HALF_BITS.name else value  # type: ignore[return-value]
    if isinstance(value, MatrixType):
        return replace(value, component=in_bits(value.component))
    parts: dict[str, Any] = {item.name: getattr(value, item.name) for item in fields(value)}  # type: ignore[arg-type]
    matrices = {n: in_bits(part) for n, part in parts.items() if isinstance(part, (ComponentType, MatrixType))}
    return replace(value, **matrices) if matrices else value  # type: ignore[type-var]


def functions_for(text: str) -> Iterator[str]:
    """The definitions of the conversions that the text calls. Every device loads and stores halves as floats."""
    for name, what, rounding, width in dict.fromkeys((m[0], m[1], m[2], int(m[3])) for m in _CALL.finditer(text)):
        f, h = (spelling.vector(t, width) for t in (spelling.FLOAT, HALF_BITS))
        suffix = spelling.suffix(width)
        if what == "to_float":
            body = f"return vload_half{suffix}(0, (__private const half *)&x);"
            yield f"static CM_INLINE {f} {name}({h} x)\n{{\n    {body}\n}}"
        else:
            store = f"vstore_half{suffix}_{rounding}(x, 0, (__private half *)&bits);"
            yield f"static CM_INLINE {h} {name}({f} x)\n{{\n    {h} bits;\n    {store}\n    return bits;\n}}"
