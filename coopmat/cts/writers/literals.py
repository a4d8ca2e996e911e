"""Constants as literals of OpenCL C and as operands of SPIR-V assembly."""

from __future__ import annotations

import math

import numpy as np

from coopmat.matrices.variants import ComponentType


def literal(component: ComponentType, value: int | float) -> str:
    """Return a constant expression of OpenCL C with exactly this value, which the component type can represent."""
    if component.is_integer:
        if value == -(2**63):
            return "LONG_MIN"
        return f"({component.opencl_c}){int(value)}{'ul' if value >= 2**63 else 'l' if abs(value) >= 2**31 else ''}"
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return f"({component.opencl_c}){float(value).hex()}" + ("" if component.name == "f64" else "f")


def assembly_literal(component: ComponentType, value: int | float) -> str:
    """Return the operand of OpConstant for a value that the component type can represent."""
    if component.is_integer:
        return str(int(value) % 2**component.bits)
    if component.is_bits:
        return f"!0x{component.pattern(value):08x}"
    bits = int(np.array(value, component.numpy).view(f"u{component.size}"))
    return f"!0x{bits:08x}" if component.bits <= 32 else f"!0x{bits & 0xFFFFFFFF:08x} !0x{bits >> 32:08x}"
