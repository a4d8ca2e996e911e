"""Vector data load and store functions (OpenCL C 3.0, section 6.15.7)."""

from __future__ import annotations

from functools import partial

from ..types import VECTOR_SIZES
from .rows import Builtin, rows

_rows = partial(rows, section="6.15.7")
ROUNDINGS = ("", "_rte", "_rtz", "_rtp", "_rtn")


def _loads_and_stores(n: int) -> tuple[Builtin, ...]:
    types = "numbers" if n == 3 else "numbers storage"
    return (
        *_rows(f"vload{n}", f"T{n} @(size_t, readable const T *) for T in {types}", lowering="vector_load"),
        *_rows(f"vstore{n}", f"void @(T{n}, size_t, writable T *) for T in {types}", lowering="vector_store"),
    )


def _half_loads_and_stores(n: str, aligned: str = "") -> tuple[Builtin, ...]:
    # The aligned functions for half3 access vectors that are four halves apart, so they need a different lowering. The
    # other aligned functions differ from the unaligned ones only in the alignment that they promise.
    lowering = "aligned_half3" if aligned and n == "3" else "call"
    load = f"float{n} @(size_t, readable const half *)"
    store = f"void @(T{n}, size_t, writable half *) for T in float double"
    stores = " ".join(f"vstore{aligned}_half{n}{rounding}" for rounding in ROUNDINGS)
    return (*_rows(f"vload{aligned}_half{n}", load, lowering=lowering), *_rows(stores, store, lowering=lowering))


TABLE = (
    *(row for n in VECTOR_SIZES for row in _loads_and_stores(n)),
    *(row for n in ("", *map(str, VECTOR_SIZES)) for row in _half_loads_and_stores(n)),
    *(row for n in map(str, VECTOR_SIZES) for row in _half_loads_and_stores(n, aligned="a")),
)
