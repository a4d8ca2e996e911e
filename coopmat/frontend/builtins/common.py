"""Common functions (OpenCL C 3.0, section 6.15.4); min, max and clamp are listed with the integer functions."""

from __future__ import annotations

from functools import partial

from .rows import rows

_rows = partial(rows, section="6.15.4", pure=True)

TABLE = (
    *_rows("degrees radians sign", "Tn @(Tn) for T in floats, n in any"),
    *_rows("mix", "Tn @(Tn, Tn, Tn) for T in floats, n in any", "Tn @(Tn, Tn, T) for T in floats, n in vectors"),
    *_rows("step", "Tn @(Tn, Tn) for T in floats, n in any", "Tn @(T, Tn) for T in floats, n in vectors"),
    *_rows("smoothstep", "Tn @(Tn, Tn, Tn) for T in floats, n in any", "Tn @(T, T, Tn) for T in floats, n in vectors"),
)
