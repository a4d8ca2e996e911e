"""The features of a variant, derived from its name: component types, use, pairing of a multiply-add."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MATRIX = re.compile(r"\d+x\d+\.([ABC])\.([a-z]+\d+)")
_MULTIPLY_ADD = re.compile(r"\d+x\d+x\d+\.([a-z]+\d+)x([a-z]+\d+)_([a-z]+\d+)_")


@dataclass(frozen=True)
class Features:
    """The features of a variant, empty if the name does not tell. `component` is the matrix's type, or the
    accumulator's; `pairing` are the types of A and B (`s8 × u8`); `target` is the component type of a conversion's
    result; `use` is A, B or C."""

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
