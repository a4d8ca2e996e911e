"""What there is to test on a device."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from coopmat.cts import profile
from coopmat.cts.profile import Profile, profile_for
from coopmat.devices import DeviceInfo
from coopmat.matrices.supported import parse_variants
from coopmat.matrices.variants import COMPONENT_TYPES, MatrixType, Use

CPU = DeviceInfo(
    index="0:0",
    platform="Some OpenCL",
    name="CPU",
    kind="CPU",
    version="OpenCL 3.0",
    driver="1",
    spirv_versions=("1.2",),
    sub_groups=True,
    sub_group_sizes=(8, 16, 64),
    extensions=frozenset(),
    fp16=True,
    fp64=True,
    compute_units=2,
    local_memory=32768,
)
VARIANTS = parse_variants(
    "16x16x16.f16xf16_f32_f32 16x16x16.f16xf16_f16_f16 8x16x32.s8xs8_s32_s32.sat 8x16x32.s8xs8_s32_s32"
)
NATIVE = replace(
    CPU,
    extensions=frozenset({"cl_khr_cooperative_matrix"}),
    variants=VARIANTS,
    pointer_alignment=16,
    stride_multiple=32,
)


def sizes(profile: Profile) -> set[int | None]:
    return {size for _, size in (*profile.multiply_adds, *profile.matrix_types)}


def components(profile: Profile) -> set[str]:
    used = {c.name for variant, _ in profile.multiply_adds for c in variant.components}
    assert used == {m.component.name for m, _ in profile.matrix_types}
    return used


@pytest.mark.parametrize(("route", "expected"), [("one", {1}), ("lanes", {8, 16}), ("scratch", {1, 4, 8, 16, 32})])
def test_sizes_of_subgroups_are_dealt_out(route: str, expected: set[int]) -> None:
    profile = profile_for(CPU, route)
    assert sizes(profile) == expected and not profile.is_native
    assert components(profile) == set(COMPONENT_TYPES)
    # Whatever a type has is met in subgroups of every size, alone or in a multiply-add.
    matrices = {(m, size) for m, size in profile.matrix_types}
    assert {(m.use, size) for m, size in matrices} == set(product(Use, expected))
    matrices |= {(m, size) for variant, size in profile.multiply_adds for m in variant.matrix_types()}
    for fact in (lambda m: m.component.is_integer, lambda m: m.component.size):
        assert {(fact(m), size) for m, size in matrices} == set(product({fact(m) for m, _ in matrices}, expected))
    assert profile == profile_for(CPU, route)
    assert profile.multiply_adds != profile_for(CPU, route, seed=1).multiply_adds


@pytest.mark.parametrize("route", ["one", "lanes", "scratch"])
def test_a_few_and_all(route: str) -> None:
    few, some, every = (profile_for(CPU, route, **how) for how in ({"wimpy": True}, {}, {"exhaustive": True}))
    assert len(few.matrix_types) == 14 and len(some.matrix_types) == (56 if route == "one" else 28)
    assert len(few.multiply_adds) <= 32 and 128 <= len(some.multiply_adds) <= 200
    assert components(few) == components(some)
    assert {m for m, _ in few.matrix_types} < {m for m, _ in some.matrix_types} < {m for m, _ in every.matrix_types}
    assert {v for v, _ in few.multiply_adds} < {v for v, _ in some.multiply_adds}
    assert len(every.multiply_adds) == (2 * 8**3 + 6**3) * 1000 and every.exhaustive and not some.exhaustive
    variant, size = every.multiply_adds[-1]
    assert (variant.name, size in sizes(some)) == ("64x64x64.e5m2xe5m2_e5m2_e5m2.nosat", True)


def test_types_that_the_device_lacks_are_left_out() -> None:
    lacking = replace(CPU, fp16=False, fp64=False)
    for wimpy in (False, True):
        assert components(profile_for(lacking, "one", wimpy=wimpy)) == set(COMPONENT_TYPES) - {"f16", "f64"}


def test_instructions_without_subgroups_of_opencls(monkeypatch: pytest.MonkeyPatch) -> None:
    """NVIDIA's devices have neither those nor values of half, and multiply matrices of half."""
    monkeypatch.setattr(profile, "instructions", lambda device, route: ("mma_m16n8k16_f16_f32",))
    found = profile_for(replace(CPU, sub_groups=False, sub_group_sizes=(), fp16=False), "mma", wimpy=True)
    assert sizes(found) == {32}
    assert not any(matrix.component.name == "f16" for matrix, _ in found.matrix_types)
    assert any(variant.name == "48x16x48.f16xf16_f32_f32.nosat" for variant, _ in found.multiply_adds)


def test_what_a_device_cannot_have() -> None:
    with pytest.raises(ValueError, match="no subgroups"):
        profile_for(replace(CPU, sub_groups=False), "lanes")
    with pytest.raises(ValueError, match="does not report which matrices it has"):
        profile_for(CPU, "native")
    with pytest.raises(ValueError, match="no route 'two'"):
        profile_for(CPU, "two")
    unknown = replace(CPU, sub_group_sizes=())
    assert sizes(profile_for(unknown, "lanes")) == {16}
    assert sizes(profile_for(replace(CPU, sub_group_sizes=(64,)), "lanes")) == {64}


def test_a_native_device_has_its_own_list() -> None:
    profile = profile_for(NATIVE, "native")
    assert profile.multiply_adds == tuple((variant, None) for variant in VARIANTS)
    assert (profile.pointer_alignment, profile.stride_multiple) == (16, 32)
    names = [m.name for m, _ in profile.matrix_types]
    assert names == [
        "16x16.A.f16",
        "16x16.B.f16",
        "16x16.C.f32",
        "16x16.C.f16",
        "8x32.A.s8",
        "32x16.B.s8",
        "8x16.C.s32",
    ]
    few = profile_for(NATIVE, "native", wimpy=True)
    assert set(few.matrix_types) == set(profile.matrix_types) and len(few.multiply_adds) == 3
    doubled: Any = replace(NATIVE, variants=VARIANTS + parse_variants("16x16x16.f16xf16_f16_f32"))
    assert len(profile_for(doubled, "native", wimpy=True).multiply_adds) == 3
    assert profile.has_type(MatrixType(COMPONENT_TYPES["u8"], 8, 32, Use.A), None)
    assert not profile.has_type(MatrixType(COMPONENT_TYPES["u8"], 8, 8, Use.A), None)


def test_lanes_hold_no_more_than_compilers_take() -> None:
    """The code of a work-item has no loops over its components."""
    profile = profile_for(replace(CPU, sub_group_sizes=(4, 8, 16, 32)), "lanes")
    held = [
        matrix.rows * matrix.columns / (size or 1)
        for variant, size in profile.multiply_adds
        for matrix in variant.matrix_types()
    ]
    held += [matrix.rows * matrix.columns / (size or 1) for matrix, size in profile.matrix_types]
    assert 64 < max(held) <= 256
    assert sizes(profile) == {4, 8, 16, 32}
