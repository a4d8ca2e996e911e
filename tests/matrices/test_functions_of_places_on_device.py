"""Matrices built by functions with loops, returns and switches, also as native modules that are lowered afterwards."""

from __future__ import annotations

import numpy as np
import pytest
from differential import Launch, execute

import coopmat
from coopmat.devices import DeviceInfo

LOOP = "for (int i = 0; i < k; i++) if (r == i) return c % 3 + z;"
FUNCTIONS = {
    f"{LOOP} return r & 3;": lambda r, c: np.where(r < 2, c % 3 + 1, r & 3),
    "for (int i = k; i > 0; i--) { if (r == i) return z; if (c == i) break; } return r + c;": lambda r, c: np.where(
        (r == 2) | ((r == 1) & (c != 2)), 1, r + c
    ),
    f"{LOOP} switch (c & 3) {{ case 0: return 1; case 2: r++; default: return r & 3; }}": lambda r, c: np.where(
        r < 2, c % 3 + 1, np.where(c % 4 == 0, 1, np.where(c % 4 == 2, r + 1, r) & 3)
    ),
}
SOURCE = """
#define SG CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
typedef float M __attribute__((coop_mat(SG, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
static float at(uint r, uint c, int k, const uchar z) {{ {} }}
kernel __attribute__((reqd_work_group_size(48, 1, 1))) void f(global float *o)
{{
    M m = coop_mat_build(at, 2, 1);
    coop_mat_store(o + get_sub_group_id() * 64, m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
}}
"""


@pytest.mark.parametrize("language", ["cl", "ir", "spv"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_matrices_are_built_by_functions(device: DeviceInfo, function: str, language: str) -> None:
    source, options = SOURCE.format(function), ["-w", "--sub-group-size", "16"]
    module = coopmat.compile(source, [*options, "--matrices", "lanes" if language == "cl" else "native"])
    if language != "cl":
        text = module.spirv if language == "spv" else module.llvm_ir
        module = coopmat.compile(text, [*options, "--matrices", "lanes"], language=language)
    (result,) = execute(device, module.spirv, [Launch("f", [np.zeros((3, 8, 8), np.float32)], (48,), (48,))])
    np.testing.assert_array_equal(result[0].reshape(3, 8, 8), [FUNCTIONS[function](*np.indices((8, 8)))] * 3)
