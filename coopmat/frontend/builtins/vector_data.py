"""Vector data load and store functions (OpenCL C 3.0, section 6.15.7)."""

from __future__ import annotations

from ..types import VECTOR_SIZES
from .rows import Builtin, rows

SECTION = "6.15.7"
ROUNDINGS = ("", "_rte", "_rtz", "_rtp", "_rtn")


def _loads_and_stores(n: int) -> tuple[Builtin, ...]:
    return (
        *rows(f"vload{n}", f"T{n} @(size_t, readable const T *) for T in numbers", section=SECTION),
        *rows(f"vstore{n}", f"void @(T{n}, size_t, writable T *) for T in numbers", section=SECTION),
    )


def _half_loads_and_stores(n: str) -> tuple[Builtin, ...]:
    # The variants with an `a` are for vectors only.
    loads = f"vload_half{n}" + (f" vloada_half{n}" if n else "")
    stores = "".join(f" vstore_half{n}{r}" + (f" vstorea_half{n}{r}" if n else "") for r in ROUNDINGS)
    return (
        *rows(loads, f"float{n} @(size_t, readable const half *)", section=SECTION),
        *rows(stores, f"void @(T{n}, size_t, writable half *) for T in float double", section=SECTION),
    )


TABLE = (
    *(row for n in VECTOR_SIZES for row in _loads_and_stores(n)),
    *(row for n in ("", *map(str, VECTOR_SIZES)) for row in _half_loads_and_stores(n)),
)
