"""The features of a variant, derived from its name: component types, use, pairing of a multiply-add."""

from __future__ import annotations

import re
from dataclasses import dataclass

from coopmat.matrices.variants import COMPONENT_TYPES

_TYPE = f"({'|'.join(sorted(COMPONENT_TYPES, key=len, reverse=True))})"
_MATRIX = re.compile(rf"\d+x\d+\.([ABC])\.{_TYPE}")
_MULTIPLY_ADD = re.compile(rf"\d+x\d+x\d+\.{_TYPE}x{_TYPE}_{_TYPE}_")


@dataclass(frozen=True)
class Features:
    """The features of a variant, empty if the name does not tell. `component` is the matrix's type, or the
    accumulator's; `pairing` are the types of A and B (`s8 × u8`); `target` is the component type of a
    second matrix; `use` is A, B or C."""

    component: str = ""
    use: str = ""
    pairing: str = ""
    target: str = ""


def features(variant: str) -> Features:
    if match := _MULTIPLY_ADD.match(variant):
        a, b, c = match.groups()
        return Features(c, pairing=f"{a} × {b}")
    matches = _MATRIX.findall(variant)
    if not matches:
        return Features()
    use, component = matches[0]
    return Features(component, use, target=matches[1][1] if len(matches) > 1 else "")
