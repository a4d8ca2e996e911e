"""Relational functions (OpenCL C 3.0, section 6.15.6): scalars give 0 or 1, vectors 0 or -1 per component."""

from __future__ import annotations

from .rows import rows

SECTION = "6.15.6"

TABLE = (
    *rows(
        "isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater isordered isunordered",
        "int @(T, T) for T in floats",
        "Sn @(Tn, Tn) for T in floats, n in vectors",
        section=SECTION,
        pure=True,
    ),
    *rows(
        "isfinite isinf isnan isnormal signbit",
        "int @(T) for T in floats",
        "Sn @(Tn) for T in floats, n in vectors",
        section=SECTION,
        pure=True,
    ),
    *rows(
        "any all",
        "int @(Tn) for T in char short int long, n in any",
        section=SECTION,
        lowering="any_all",
        pure=True,
    ),
    *rows("bitselect", "Tn @(Tn, Tn, Tn) for T in numbers, n in any", section=SECTION, pure=True),
    *rows(
        "select",
        "Tn @(Tn, Tn, Sn) for T in numbers, n in any",
        "Tn @(Tn, Tn, Un) for T in numbers, n in any",
        section=SECTION,
        pure=True,
    ),
)
