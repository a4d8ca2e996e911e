"""Conversions of integers, truth values and vectors of them that the backend cannot all do by itself."""

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


TRUTHS = """
define spir_kernel void @{name}(ptr addrspace(1) %to, <{count} x i32> %a, <{count} x i32> %b) {{
  %truth = icmp slt <{count} x i32> %a, %b
{body}
  store <{count} x {result}> %value, ptr addrspace(1) %to, align 1
  ret void
}}
"""


@pytest.mark.parametrize("passes", ["none", "O1"])
def test_vectors_of_truth_values(passes: str) -> None:
    """Into floats of either sign, into integers, and out of them."""
    bodies = []
    for count in (2, 3, 4, 8, 16):
        for element in ("half", "float", "double"):
            for operation in ("uitofp", "sitofp"):
                bodies.append(
                    (count, element, f"  %value = {operation} <{count} x i1> %truth to <{count} x {element}>")
                )
        for width in WIDTHS:
            wide = f"<{count} x i{width}>"
            for operation in ("zext", "sext"):
                bodies.append((count, f"i{width}", f"  %value = {operation} <{count} x i1> %truth to {wide}"))
                steps = f"  %wide = {operation} <{count} x i1> %truth to {wide}\n  %sum = add {wide} %wide, %wide\n"
                steps += f"  %low = trunc {wide} %sum to <{count} x i1>\n"
                bodies.append((count, "i64", f"{steps}  %value = zext <{count} x i1> %low to <{count} x i64>"))
    functions = [
        TRUTHS.format(name=f"k{number}", count=count, result=result, body=body)
        for number, (count, result, body) in enumerate(bodies)
    ]
    result = emit("".join(functions), EmitOptions(passes=passes))  # type: ignore[arg-type]
    assert result.spirv is not None
    assert validate(result.spirv, "spv1.4") is None
