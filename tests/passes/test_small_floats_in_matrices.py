"""Components of native matrices of bfloat16 are changed in place, though they have no address."""

from __future__ import annotations

import pytest
from valid_modules import assert_valid

import coopmat

SOURCE = """
typedef bfloat16 M __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 2, 2,
    CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
kernel void k(global bfloat16 *p, global float *f)
{
    M m[2];
    m[0] = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 2);
    m[1] = m[0];
    for (uint i = 0; i < coop_mat_length(m[0]); i++) {
        m[i % 2][i] += 1.0f;
        f[i] = m[1][i]++ + --m[0][i];
    }
    coop_mat_store(p, m[1], CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 2);
}
"""


@pytest.mark.parametrize("matrices", ["native", "one", "lanes", "scratch"])
def test_components_of_bfloat16_change_in_place(matrices: str) -> None:
    module = coopmat.compile(SOURCE, ["--matrices", matrices, "--verify-passes"], name="components.cl")
    assert_valid(module)
