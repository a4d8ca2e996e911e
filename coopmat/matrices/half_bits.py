"""Matrices of half on devices without cl_khr_fp16: components are bit patterns, and arithmetic is in float."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from . import spelling
from .library_function import LibraryFunction, Parameter, Signature, Written
from .routes import Target
from .spelling import HALF_BITS
from .variants import ComponentType, MatrixType

T = TypeVar("T")

_CALL = re.compile(r"\bcm_f16_(to_float|from_float_rt[eznp])_(\d+)\b")


def in_bits(value: T) -> T:
    """Return a library function or matrix type with every half replaced by its bits."""
    if isinstance(value, ComponentType):
        return HALF_BITS if value.name == HALF_BITS.name else value  # type: ignore[return-value]
    if isinstance(value, MatrixType):
        return replace(value, component=in_bits(value.component))
    parts: dict[str, Any] = {item.name: getattr(value, item.name) for item in fields(value)}  # type: ignore[arg-type]
    matrices = {n: in_bits(part) for n, part in parts.items() if isinstance(part, (ComponentType, MatrixType))}
    return replace(value, **matrices) if matrices else value  # type: ignore[type-var]


@dataclass(frozen=True, slots=True)
class HalfFunction(Written):
    """A conversion of halves, on vectors of `width` components.

    `what` is "to_float", or "from_float_" and a rounding mode. Every device can load and store halves as floats.
    """

    what: str
    width: int

    @property
    def function_name(self) -> str:
        return f"cm_f16_{self.what}_{self.width}"

    @property
    def signature(self) -> Signature:
        types = [spelling.vector(t, self.width) for t in (spelling.FLOAT, HALF_BITS)]
        to, source = types if self.what == "to_float" else reversed(types)
        return Signature(to, (Parameter("x", source),))

    def text(self, target: Target) -> str:
        signature, suffix = self.signature, spelling.suffix(self.width)
        head = f"CM_FUNCTION {signature.returns} {self.function_name}({signature.parameters[0].type} x)"
        if self.what == "to_float":
            return f"{head}\n{{\n    return vload_half{suffix}(0, (__private const half *)&x);\n}}\n"
        store = f"vstore_half{suffix}_{self.what.rpartition('_')[2]}(x, 0, (__private half *)&bits);"
        return f"{head}\n{{\n    {signature.returns} bits;\n    {store}\n    return bits;\n}}\n"


def functions_called(texts: Iterable[str]) -> list[LibraryFunction]:
    """Return the `HalfFunction`s that these expressions call."""
    calls = {(call[1], int(call[2])) for text in texts for call in _CALL.finditer(text)}
    return [HalfFunction(what, width) for what, width in sorted(calls)]
