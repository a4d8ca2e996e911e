"""`coopmat.variants` of devices whose matrix instructions only OpenCL C reaches."""

from __future__ import annotations

from dataclasses import replace

import pytest

import coopmat
from coopmat.cli import devices as listing
from coopmat.devices import DeviceInfo
from coopmat.diagnostics import Severity
from coopmat.matrices.routes import LOWERED_ROUTES
from coopmat.matrices.variants import Variant
from coopmat.options import CompileOptions
from coopmat.runtime import variants as room

CPU = DeviceInfo(
    index="0:0", platform="Intel(R) OpenCL", name="CPU", kind="CPU", version="OpenCL 3.0", driver="1",
    spirv_versions=("1.4",), sub_groups=True, sub_group_sizes=(16, 32), extensions=frozenset(), fp16=True, fp64=True,
    compute_units=2, local_memory=32768, opencl_c="CL3.0", handle=object(),
)  # fmt: skip
NVIDIA = replace(CPU, platform="NVIDIA CUDA", kind="GPU", spirv_versions=(), sub_group_sizes=(32,))

TEXT = """
typedef {a} A __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, {m}, {k}, CLK_COOPERATIVE_MATRIX_A)));
typedef {b} B __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, {k}, {n}, CLK_COOPERATIVE_MATRIX_B)));
typedef {c} C __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, {m}, {n},
    CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
kernel {size} void k(global {a} *a, global {b} *b, global {c} *c)
{{
    A x = coop_mat_load(a, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, {k});
    B y = coop_mat_load(b, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, {n});
    C z = coop_mat_mulAdd(x, y, (C)coop_mat_init(0){mask});
    coop_mat_store(c, z, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, {n});
}}
"""


def instruction_of(variant: Variant, route: str, available: tuple[str, ...], lanes: int) -> bool:
    """Whether the compiler, asked by -Rpass=matrix, names an instruction for this multiply-add."""
    signs = [
        f"CLK_COOPERATIVE_MATRIX_OPERANDS_{place}_SIGNED"
        for place, component in zip(("A", "B", "C", "RESULT"), variant.components, strict=True)
        if component.is_integer and component.signed
    ]
    mask = ", " + " | ".join([*signs, "CLK_COOPERATIVE_MATRIX_OPERANDS_SATURATING"]) if variant.saturating else ""
    size = f"__attribute__((intel_reqd_sub_group_size({lanes})))" if lanes > 1 else ""
    names = {letter: component.opencl_c for letter, component in zip("abc", variant.components, strict=False)}
    text = TEXT.format(m=variant.m, n=variant.n, k=variant.k, size=size, mask=mask, **names)
    options = CompileOptions(matrices=route, instructions=available, remarks="matrix")
    module = coopmat.compile(text, options)
    assert module.opencl_c
    (remark,) = (item for item in module.diagnostics if item.severity is Severity.REMARK)
    return " of v" in remark.message or " of mma_" in remark.message


@pytest.mark.parametrize(
    ("device", "route", "lanes", "wanted"),
    [
        (CPU, "x86", 1, ("vpdpbusd",)),
        (CPU, "x86", 1, ("vdpbf16ps", "vpdpbusd")),
        (NVIDIA, "mma", 32, ("m16n8k16_f16_f32", "m16n8k32_s8_s32")),
    ],
)
def test_what_runs_on_the_unit_comes_first(monkeypatch, device, route, lanes, wanted):
    available = tuple(
        row.name for row in LOWERED_ROUTES[route].every_product if any(row.name.endswith(name) for name in wanted)
    )
    assert len(available) == len(wanted)
    monkeypatch.setattr(room, "instructions", lambda device, route, asks: available)
    on_unit, others = coopmat.variants(device, unit=True), coopmat.variants(device, unit=False)
    every = coopmat.variants(device)
    assert every[: len(on_unit)] == on_unit and set(others) <= set(every)
    assert on_unit and others and not set(on_unit) & set(others)
    assert coopmat.variants(device, lanes, unit=True) == on_unit
    # Subgroups of another size reach none of them, and lose none of the others.
    other = next(size for size in (1, 16, 32) if size != lanes and size in (1, *device.sub_group_sizes))
    assert coopmat.variants(device, other, unit=True) == ()
    assert len(coopmat.variants(device, other, unit=False)) >= len(others)
    for variant in on_unit[:: max(1, len(on_unit) // 8)]:
        assert instruction_of(variant, route, available, lanes), variant
    for variant in [v for v in others if v.m * v.n * v.k <= 256][::25]:
        assert not instruction_of(variant, route, available, lanes), variant


def test_the_listing_tells_shapes_and_types(monkeypatch):
    assert "which the first use or --probe tests" in listing._rows(CPU)["matrix unit"]
    monkeypatch.setattr(room, "instructions", lambda device, route, asks: ("vdpbf16ps",))
    text = listing._rows(CPU)["matrix unit"]
    assert text == "by --matrices x86, and auto: multiples of 1x16x2: bf16 times bf16 to f32; others by general code"
    found = listing.as_dict(CPU)
    assert found["unit"] == "x86" and found["unit_variants"] == ["1x16x2.bf16xbf16_f32_f32.nosat"]
    assert "x86" in found["lowerings"]
    plain = replace(CPU, platform="another")
    assert listing._rows(plain)["matrix unit"] == "none known"
    assert listing.as_dict(plain)["unit"] is None and coopmat.variants(plain, unit=True) == ()
