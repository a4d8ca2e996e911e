"""What the matrices of a Vulkan module require of addresses and strides: 16 bytes, or a shorter line of the matrix."""

from __future__ import annotations

import pytest
from vulkan_modules import vulkan

from coopmat.spirv.module import OP, Module as SpirvModule
from coopmat.vulkan.modules import LaunchDescription

SOURCE = """
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
typedef TYPE M __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, R, C, CLK_COOPERATIVE_MATRIX_A)));
kernel void k(global const TYPE *a, global TYPE *b, int n, long other, int k)
{
    M m = coop_mat_load(a, ROW, n);
    coop_mat_store(b, m, COLUMN, STRIDE);
}
"""


def described(type_: str, rows: int, columns: int, stride: str) -> tuple[LaunchDescription, list[int]]:
    """Return the launch description, and the Aligned operands of the load and the store."""
    macros = {"TYPE": type_, "R": rows, "C": columns, "STRIDE": stride}
    module = vulkan(SOURCE, *(f"-D{name}={value}" for name, value in macros.items()))
    assert module.launch is not None
    code = SpirvModule.parse(module.spirv).instructions
    load = next(item for item in code if item.opcode == OP["OpCooperativeMatrixLoadKHR"])
    store = next(item for item in code if item.opcode == OP["OpCooperativeMatrixStoreKHR"])
    return module.launch, [load.operands[4], store.operands[5]]


@pytest.mark.parametrize(
    ("type_", "rows", "columns", "expected"),
    [
        ("char", 8, 8, (8, 8)),
        ("char", 8, 16, (16, 8)),
        ("char", 16, 8, (8, 16)),
        ("half", 8, 8, (16, 16)),
        ("half", 8, 4, (8, 16)),
        ("int", 16, 16, (16, 16)),
    ],
)
def test_alignments_and_multiples(type_: str, rows: int, columns: int, expected: tuple[int, int]) -> None:
    launch, aligned = described(type_, rows, columns, "other")
    a, b, n, other, k = launch.kernels["k"].arguments
    assert (a.alignment, b.alignment) == expected
    assert aligned == list(expected)
    size = {"char": 1, "half": 2, "int": 4}[type_]
    assert (n.multiple, other.multiple, k.multiple) == (expected[0] // size, expected[1] // size, None)


def test_an_argument_that_is_the_stride_of_two_matrices() -> None:
    launch, _ = described("char", 8, 16, "n")
    assert launch.kernels["k"].arguments[2].multiple == 16


def test_strides_that_are_calculated_are_not_described() -> None:
    launch, _ = described("char", 8, 8, "8*k")
    assert [row.multiple for row in launch.kernels["k"].arguments[2:]] == [8, None, None]
