"""Chains of two integer conversions, of all widths, scalars and vectors: the backend cannot do them all by itself."""

from __future__ import annotations

from itertools import product

import pytest

from coopmat.spirv.emit import EmitOptions, emit
from coopmat.spirv.tools import validate

WIDTHS = (8, 16, 32, 64)


def conversions(source: int, target: int) -> tuple[str, ...]:
    return ("trunc",) if source > target else ("sext", "zext")


def function(name: str, widths: tuple[int, int, int], operations: tuple[str, str], count: int, split: bool) -> str:
    """Loads, adds, converts twice and stores; `split` puts the conversions into different blocks."""
    a, b, c = (f"i{width}" if count == 1 else f"<{count} x i{width}>" for width in widths)
    between = "  br label %next\nnext:\n" if split else ""
    return f"""
define spir_kernel void @{name}(ptr addrspace(1) %to, ptr addrspace(1) %from) {{
  %loaded = load {a}, ptr addrspace(1) %from, align 1
  %sum = add {a} %loaded, %loaded
  %first = {operations[0]} {a} %sum to {b}
{between}  %second = {operations[1]} {b} %first to {c}
  store {c} %second, ptr addrspace(1) %to, align 1
  ret void
}}
"""


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("passes", ["none", "sroa", "O1"])
def test_two_conversions_in_a_row(count: int, passes: str) -> None:
    functions = []
    for widths in product(WIDTHS, repeat=3):
        if widths[0] == widths[1] or widths[1] == widths[2]:
            continue
        for operations in product(conversions(*widths[:2]), conversions(*widths[1:])):
            for split in (False, True):
                functions.append(function(f"k{len(functions)}", widths, operations, count, split))
    result = emit("".join(functions), EmitOptions(passes=passes))  # type: ignore[arg-type]
    assert result.spirv is not None
    assert validate(result.spirv, "spv1.4") is None
