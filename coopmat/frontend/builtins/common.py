"""Common functions (OpenCL C 3.0, section 6.15.4); min, max and clamp stand with the integer functions."""

from __future__ import annotations

from .rows import rows

SECTION = "6.15.4"

TABLE = (
    *rows("degrees radians sign", "Tn @(Tn) for T in floats, n in any", section=SECTION, pure=True),
    *rows(
        "mix",
        "Tn @(Tn, Tn, Tn) for T in floats, n in any",
        "Tn @(Tn, Tn, T) for T in floats, n in vectors",
        section=SECTION,
        pure=True,
    ),
    *rows(
        "step",
        "Tn @(Tn, Tn) for T in floats, n in any",
        "Tn @(T, Tn) for T in floats, n in vectors",
        section=SECTION,
        pure=True,
    ),
    *rows(
        "smoothstep",
        "Tn @(Tn, Tn, Tn) for T in floats, n in any",
        "Tn @(T, T, Tn) for T in floats, n in vectors",
        section=SECTION,
        pure=True,
    ),
)
