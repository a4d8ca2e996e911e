"""Multiply-adds of float that request tf32: 19 bits of each factor, where a route has the instruction."""

from __future__ import annotations

import numpy as np
import pytest
from differential import Launch, execute

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.matrices.routes import LOWERED_ROUTES

# route -> (subgroup size, whether it has the instruction)
ROUTES = {
    **{"mma:emulated": (32, True), "dpas:emulated": (16, True), "mma:emulated@sm_75": (32, False)},
    **{"one": (1, False), "lanes": (8, False), "wmma:emulated": (32, False), "x86:emulated": (1, False)},
}
TF32 = "CLK_COOPERATIVE_MATRIX_OPERAND_TF32"
SOURCE = """
#define TYPE(T, r, c, use) \\
    T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, r, c, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void products(const global float *p, const global float *q, global float *out)
{
    TYPE(float, 16, 16, A) a = coop_mat_load(p, ROW_MAJOR, 16ul);
    TYPE(float, 16, 16, B) b = coop_mat_load(q, ROW_MAJOR, 16ul);
    TYPE(float, 16, 16, ACCUMULATOR) c = coop_mat_init(1);
    coop_mat_store(out, coop_mat_mulAdd(a, b, c, CLK_COOPERATIVE_MATRIX_OPERAND_TF32), ROW_MAJOR, 16ul);
    coop_mat_store(out + 256, coop_mat_mulAdd(a, b, c), ROW_MAJOR, 16ul);
}
"""


@pytest.mark.parametrize("route", ROUTES)
def test_products(device: DeviceInfo, route: str) -> None:
    size, has_instruction = ROUTES[route]
    options = ["--matrices", route, f"-DLANES={size}", "-Rpass=matrix"]
    module = coopmat.compile(SOURCE, [*options, *(["--sub-group-size", str(size)] if size > 1 else [])])
    rng = np.random.default_rng(3)
    x, y = (rng.standard_normal((16, 16)).astype(np.float32) for _ in range(2))
    launch = Launch("products", [x, y, np.zeros((2, 16, 16), np.float32)], (size,), (size,))
    ((found),) = (buffers[2] for buffers in execute(device, module.spirv, [launch]))
    exact = x.astype(np.float64) @ y + 1
    short = [(z.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64) for z in (x, y)]
    rounded = short[0] @ short[1] + 1
    assert np.abs(rounded - exact).max() > 1e-3
    np.testing.assert_allclose(found[0], rounded if has_instruction else exact, rtol=0, atol=2e-5)
    np.testing.assert_allclose(found[1], exact, rtol=0, atol=2e-5)
    remarks = [item.message for item in module.diagnostics if "multiply-add" in item.message]
    assert any("tf32" in text for text in remarks) is has_instruction, remarks


def test_only_programs_that_request_it_have_its_lane_layouts() -> None:
    for route in LOWERED_ROUTES.values():
        assert not any(getattr(row, "is_of_tf32", False) for row in route.every_product)
        assert len(route.with_tf32().products) == len(route.products) + len(route.tf32)
    assert [row.name for row in LOWERED_ROUTES["mma"].tf32] == ["mma_m16n8k8_tf32_f32"]
    assert len(LOWERED_ROUTES["dpas"].tf32) == 4


@pytest.mark.parametrize("t", ["half", "double", "char"])
def test_other_components_are_an_error(t: str) -> None:
    source = SOURCE.replace("TYPE(float, 16, 16, A)", f"TYPE({t}, 16, 16, A)").replace("float *p", f"{t} *p")
    source = source.replace("coop_mat_mulAdd(a, b, c), ROW", "c, ROW")
    if t == "char":
        source = source.replace("float", "int")
        source = source.replace("(int, 16, 16, B)", "(char, 16, 16, B)").replace("int *q", "char *q")
    with pytest.raises(coopmat.CompileError) as caught:
        coopmat.compile(source, ["-DLANES=1", "-w"])
    assert [item.code for item in caught.value.diagnostics] == ["coop-mat-operands"]


def test_native_modules_have_no_such_operand() -> None:
    options = ["-DLANES=16", "-w", "--matrices", "native"]
    other = SOURCE.replace(TF32, "CLK_COOPERATIVE_MATRIX_OPERAND_NONE")
    assert coopmat.compile(SOURCE, options).spirv == coopmat.compile(other, options).spirv
