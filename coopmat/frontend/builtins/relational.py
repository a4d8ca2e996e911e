"""Relational functions (OpenCL C 3.0, section 6.15.6): they yield 0 or 1 for scalars, 0 or -1 for vector components."""

from __future__ import annotations

from functools import partial

from .rows import rows

_rows = partial(rows, section="6.15.6", pure=True)

TABLE = (
    *_rows(
        "isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater isordered isunordered",
        "int @(T, T) for T in floats",
        "Sn @(Tn, Tn) for T in floats, n in vectors",
    ),
    *_rows(
        "isfinite isinf isnan isnormal signbit", "int @(T) for T in floats", "Sn @(Tn) for T in floats, n in vectors"
    ),
    *_rows("any all", "int @(Tn) for T in char short int long, n in any", lowering="any_all"),
    *_rows("bitselect", "Tn @(Tn, Tn, Tn) for T in numbers, n in any"),
    *_rows("select", "Tn @(Tn, Tn, Sn) for T in numbers, n in any", "Tn @(Tn, Tn, Un) for T in numbers, n in any"),
)
