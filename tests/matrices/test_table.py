"""The table of cases: a covering selection on the device and as native modules; that it has all; that it would see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matrix_programs import Target
from matrix_table import execution, native, requirements, table
from matrix_table.axes import LOWERED, MAINTENANCE, NATIVE, PARTS, SIZES, all_targets, lowered_targets, targets
from matrix_table.execution import Runner
from matrix_table.rows import Check, Key
from repeats import slow_where

from coopmat.devices import DeviceInfo
from coopmat.matrices.numpy_reference import convert, narrow, widen
from coopmat.matrices.routes import LOWERED_ROUTES, OPENCL_C_ONLY
from coopmat.matrices.variants import COMPONENT_TYPES

SEED = 0
BATCH = 60
TARGETS = all_targets()
ROUTES = [*SIZES, "native", "native:maint1"]


def _of_another_size(target: Target) -> bool:
    """Every operation runs on each lowering in subgroups of 16 (of 1 by `one`), and natively. But for products the
    routes of instructions are as these."""
    return ":emulated" in target.route or (target.route in ("lanes", "scratch") and target.sub_group_size != 16)


@pytest.mark.parametrize("target", slow_where(_of_another_size, [*TARGETS, NATIVE, MAINTENANCE]), ids=str)
def test_a_covering_selection(device: DeviceInfo, target: Target, pytestconfig: pytest.Config) -> None:
    """Each operation runs on every target and with every value of every axis; with --all, on every route with every
    component type. `tools/matrix-table` runs all rows."""
    every_type = pytestconfig.getoption("--all")
    everywhere = (*targets(device), NATIVE, MAINTENANCE)
    if target not in everywhere:
        pytest.skip(f"the device has no subgroups of {target.sub_group_size}")
    chosen = everywhere if every_type else tuple(t for t in everywhere if not _of_another_size(t))
    rows = [row for where, row in table.covering(chosen, SEED, every_type) if where == target]
    runner = Runner(device, SEED)
    found = [
        finding for start in range(0, len(rows), BATCH) for finding in runner.run(target, rows[start : start + BATCH])
    ]
    assert len(rows) > 30
    assert not found, "\n".join(map(str, found))


@pytest.mark.device
def test_all_copies_of_components_are_written(device: DeviceInfo) -> None:
    """RDNA3 has A and B in two lanes each; the whole table of that target runs with --all."""
    target = Target("wmma:emulated@gfx11", 32)
    if target not in targets(device):
        pytest.skip("the device has no subgroups of 32")
    names = ("changes of use of f16 B", "transposes of u8 A", "elements u8 B", "coordinates f16 A")
    rows = [row for row in table.all_rows() if row.name in names]
    assert len(rows) == len(names) and all("16, 16, " in row.plan(target, SEED).text for row in rows)
    assert not Runner(device, SEED).run(target, rows)


def test_every_generation_of_instructions_is_in_the_table() -> None:
    """But for those whose products another target has, too."""
    having = {row.name for target in TARGETS for row in LOWERED_ROUTES[target.route].products}
    routes = [name for name in LOWERED_ROUTES if name not in OPENCL_C_ONLY]
    assert {row.name for name in routes for row in LOWERED_ROUTES[name].every_product} == having


_IN_C = [target for target in TARGETS if target.route == "one" or target.sub_group_size == 16]


@pytest.mark.parametrize("target", slow_where(lambda target: target.route != "one", _IN_C), ids=str)
def test_functions_of_components_in_opencl_c(device: DeviceInfo, target: Target) -> None:
    """By names of the library's texts; `tools/matrix-table --in-c` runs all rows so."""
    in_c = replace(target, more=(execution.IN_C,))
    names = ("maps of s32 ACCUMULATOR", "builds of u8 A", "reductions of s16")
    rows = [row for row in table.rows_on(target.route) if row.name in names]
    found = Runner(device, SEED).run(in_c, rows)
    assert len(rows) == len(names)
    assert not found, "\n".join(map(str, found))


def test_native_modules_that_are_lowered(device: DeviceInfo) -> None:
    """Lowered native modules have more subgroups than they were compiled for: every staged operation has room."""
    everywhere = tuple(lowered_targets(device))
    pairs = list(table.covering(everywhere, SEED))
    runner = Runner(device, SEED)
    found = [finding for target in everywhere for finding in runner.run(target, [r for t, r in pairs if t == target])]
    assert {target for target, _ in pairs} == set(everywhere)
    assert not found, "\n".join(map(str, found))


@pytest.mark.slow
@pytest.mark.parametrize("target", LOWERED, ids=str)
def test_more_native_modules_that_are_lowered(device: DeviceInfo, target: Target) -> None:
    rows = table.rows_for(target, LOWERED)[::20] if target in lowered_targets(device) else []
    found = Runner(device, SEED).run(target, rows)
    assert not found, "\n".join(map(str, found))


def test_operand_masks_reach_the_native_instructions() -> None:
    rows = [row for row in table.rows_on("native") if row.name.startswith("multiply-add s8 ")]
    module = execution.compile_plans(NATIVE, [row.plan(NATIVE, SEED) for row in rows])
    words = [line.split() for line in module.spirv_text.splitlines() if "OpCooperativeMatrixMulAddKHR" in line]
    masks = {frozenset(line[-1].split("|")) for line in words if len(line) > 7}
    wanted = [case.on("mask", "saturating")[1:] for row in rows for case in row.keys]
    explicit = {(mask, saturating) for mask, saturating in wanted if mask not in ("none", "0") or saturating == "True"}
    assert len(masks) >= len(explicit - {("none", "False")}) > 24
    assert sum("SaturatingAccumulationKHR" in line[-1] for line in words) == sum(s == "True" for _, s in wanted)


@pytest.mark.parametrize("route", ROUTES)
def test_whatever_the_language_allows_is_in_the_table(route: str) -> None:
    assert not requirements.missing(route, table.rows_on(route))


def test_the_table_knows_all_that_the_compiler_has_for_matrices() -> None:
    assert not requirements.unknown()
    assert not requirements.without_cases(table.all_rows())


def test_targets_share_all_rows(device: DeviceInfo) -> None:
    everywhere = (*targets(device), NATIVE, MAINTENANCE)
    assert {target.route for target in everywhere} == set(ROUTES)
    for route in ROUTES:
        run = {row.name for t in everywhere if t.route == route for row in table.rows_for(t, everywhere)}
        assert run == {row.name for row in table.rows_on(route)}


def test_a_requirement_without_a_case_is_seen() -> None:
    rows = [row for row in table.all_rows() if not row.name.startswith("multiply-add f16 f32 f64")]
    assert ("multiply-add", "f16", "f32", "f64") in requirements.missing("one", rows)


def test_wrong_results_and_touched_padding_are_seen() -> None:
    row = next(row for row in table.all_rows() if row.name == "operators f16 A")
    for check in row.plan(Target("one", 1), SEED).checks:
        assert not check.fault(check.expected.copy())
        for place in (0, check.expected.size // 2, -1):
            got = check.expected.copy()
            got.view(np.uint16)[place] ^= 0x4000
            assert "differ" in check.fault(got)


@pytest.mark.parametrize("name", ["f16", "f32", "f64", "bf16"])
def test_zeros_have_signs_and_nans_are_equal(name: str) -> None:
    component = COMPONENT_TYPES[name]
    values = narrow(component, np.array([0.0, np.nan, 1.0]))
    check = Check(Key("x", ()), 0, component, values, np.array([0.0, 0.0, 0.1]))
    assert not check.fault(narrow(component, np.array([0.0, -np.nan, 1.0625])))
    assert check.fault(narrow(component, np.array([-0.0, np.nan, 1.0])))
    assert check.fault(narrow(component, np.array([0.0, np.nan, 1.25])))
    assert check.fault(narrow(component, np.array([0.0, 0.0, 1.0])))


def test_a_kernel_that_does_not_build_is_found_among_others(device: DeviceInfo) -> None:
    def write(w) -> None:
        row.write(w)
        w.line("M x = 1;")

    row = next(row for row in table.all_rows() if row.name == "operators s32 A")
    others = [r for r in table.all_rows() if r.name.startswith("operators u8")]
    bad = type(row)("bad", row.keys, write)
    (finding,) = execution.Runner(device, SEED).run(Target("one", 1), [others[0], bad, others[1]])
    assert finding.row == "bad" and "CompileError" in finding.text


def test_bf16_by_hand() -> None:
    bf16, double = COMPONENT_TYPES["bf16"], COMPONENT_TYPES["f64"]
    # 1 + 2^-8 is a tie; one more bit, even far away, is above it.
    above = 1 + 2.0**-8 + 2.0**-40
    assert widen(bf16, narrow(bf16, np.array([1 + 2.0**-8, 1 + 3 * 2.0**-8]))).tolist() == [1.0, 1.015625]
    rounded = {
        r: float(widen(bf16, convert(np.array([above]), double, bf16, r))[0]) for r in ("", "rte", "rtz", "rtp", "rtn")
    }
    assert rounded == {"": 1.0078125, "rte": 1.0078125, "rtz": 1.0, "rtp": 1.0078125, "rtn": 1.0}
    assert float(widen(bf16, convert(np.array([-above]), double, bf16, "rtn"))[0]) == -1.0078125


UNDEFINED = """
%f = OpTypeFloat 32
%m = OpTypeCooperativeMatrixKHR %f %a %b %c %d
%p = OpTypePointer Function %m
%u = OpTypeInt 32 0
%v = OpVariable %p Function
%n = OpConstant %u 4
%1 = OpSelect %m %x %y %z
%2 = OpPtrAccessChain %g %v %n %n
OpCooperativeMatrixStoreKHR %v %1 %n %n
"""


def test_undefined_uses_of_matrices_are_seen() -> None:
    assert list(native.readings(UNDEFINED)) == [
        "OpSelect between matrices",
        "OpPtrAccessChain into a matrix",
        "OpCooperativeMatrixStoreKHR: the stride is no 64-bit integer",
        "OpCooperativeMatrixStoreKHR through a pointer to Function",
    ]


def test_no_part_of_the_language_gets_lost() -> None:
    """The table leaves out what a route does not take."""
    assert not [(name, route) for name, part in PARTS.items() for route in ROUTES if part.missing(route)]
