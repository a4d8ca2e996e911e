"""The features of a variant that its name contains: component types, use, operand types of a multiply-add."""

from __future__ import annotations

import re
from dataclasses import dataclass

from coopmat.matrices.variants import COMPONENT_TYPES

_TYPE = f"({'|'.join(sorted(COMPONENT_TYPES, key=len, reverse=True))})"
_MATRIX = re.compile(rf"\d+x\d+\.([ABC])\.{_TYPE}")
_MULTIPLY_ADD = re.compile(rf"\d+x\d+x\d+\.{_TYPE}x{_TYPE}_{_TYPE}_")


@dataclass(frozen=True)
class Features:
    """The features of a variant; those that its name does not contain are "".

    component: the component type of the matrix, or of the accumulator.
    use: A, B or C.
    pairing: the component types of A and B (`s8 × u8`).
    target: the component type of the name's second matrix.
    """

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
