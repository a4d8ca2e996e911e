"""Geometric functions (OpenCL C 3.0, section 6.15.5)."""

from __future__ import annotations

from functools import partial

from .integer import DOT
from .rows import rows

_rows = partial(rows, section="6.15.5", pure=True)

TABLE = (
    *_rows("cross", "Tn @(Tn, Tn) for T in floats, n in 3 4"),
    *_rows(
        "dot",
        "T @(Tn, Tn) for T in floats, n in 1 2 3 4",
        f"uint @(uchar4, uchar4) needs {DOT}",
        f"int @(char4, char4) needs {DOT}",
        f"int @(uchar4, char4) needs {DOT}",
        f"int @(char4, uchar4) needs {DOT}",
        section="6.15.5, cl_khr_integer_dot_product",
        lowering="dot",
    ),
    *_rows("distance", "T @(Tn, Tn) for T in floats, n in 1 2 3 4", lowering="geometry"),
    *_rows("length", "T @(Tn) for T in floats, n in 1 2 3 4", lowering="geometry"),
    *_rows("normalize", "Tn @(Tn) for T in floats, n in 1 2 3 4", lowering="geometry"),
    *_rows("fast_distance", "float @(floatn, floatn) for n in 1 2 3 4"),
    *_rows("fast_length", "float @(floatn) for n in 1 2 3 4"),
    *_rows("fast_normalize", "floatn @(floatn) for n in 1 2 3 4"),
)
