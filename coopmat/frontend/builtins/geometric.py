"""Geometric functions (OpenCL C 3.0, section 6.15.5)."""

from __future__ import annotations

from .integer import DOT
from .rows import rows

SECTION = "6.15.5"

TABLE = (
    *rows("cross", "Tn @(Tn, Tn) for T in floats, n in 3 4", section=SECTION, pure=True),
    *rows(
        "dot",
        "T @(Tn, Tn) for T in floats, n in 1 2 3 4",
        f"uint @(uchar4, uchar4) needs {DOT}",
        f"int @(char4, char4) needs {DOT}",
        f"int @(uchar4, char4) needs {DOT}",
        f"int @(char4, uchar4) needs {DOT}",
        section=f"{SECTION}, cl_khr_integer_dot_product",
        lowering="dot",
        pure=True,
    ),
    *rows(
        "distance",
        "T @(Tn, Tn) for T in floats, n in 1 2 3 4",
        section=SECTION,
        lowering="geometry",
        pure=True,
    ),
    *rows("length", "T @(Tn) for T in floats, n in 1 2 3 4", section=SECTION, lowering="geometry", pure=True),
    *rows("normalize", "Tn @(Tn) for T in floats, n in 1 2 3 4", section=SECTION, lowering="geometry", pure=True),
    *rows("fast_distance", "float @(floatn, floatn) for n in 1 2 3 4", section=SECTION, pure=True),
    *rows("fast_length", "float @(floatn) for n in 1 2 3 4", section=SECTION, pure=True),
    *rows("fast_normalize", "floatn @(floatn) for n in 1 2 3 4", section=SECTION, pure=True),
)
