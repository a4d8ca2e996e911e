"""The operations that only OpenCL C has: their kernels compile for every route, and their buffers catch faults."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from test_profile import CPU, NATIVE

import coopmat
from coopmat.cts.comparison import fault
from coopmat.cts.experiment import PATTERN, Argument, Experiment
from coopmat.cts.operations import OPERATIONS, Case, Setting
from coopmat.cts.operations.builtins import Application
from coopmat.cts.operations.maps import Mapped
from coopmat.cts.profile import profile_for
from coopmat.cts.writers.c import CWriter
from coopmat.matrices.numpy_reference import Array
from coopmat.matrices.routes import LOWERED_ROUTES
from coopmat.matrices.supported import parse_variants
from coopmat.matrices.variants import COMPONENT_TYPES, Layout, MatrixType, Use

OURS = (
    *("component_wise", "neighbours", "scalar_add", "scalar_sub", "scalar_mul", "scalar_div", "init_runtime"),
    "prefetch",
    *("element_access", "coord", "load_checked", "store_checked", "control_flow", "nested_struct", "two_subgroups"),
)
PROFILE = profile_for(CPU, "lanes")
TYPE = MatrixType(COMPONENT_TYPES["s16"], 3, 5, Use.B)
FACTORS = parse_variants("5x3x4.s8xu8_s32_s32")[0]


def case_of(name: str) -> Case:
    """A small one, of no square shape."""
    parameters = {
        **dict.fromkeys(("load_checked", "store_checked"), (TYPE, Layout.ROW_MAJOR)),
        "component_wise": Application(TYPE, "mad_sat", "msm"),
        "neighbours": Mapped(replace(TYPE, columns=6), "coded", 2),
        "two_subgroups": (FACTORS, 2),
    }.get(name, TYPE)
    return Case("x", 8, parameters)


def experiment_of(name: str) -> Experiment:
    return OPERATIONS[name].experiment(Setting(case_of(name), PROFILE))


def text_of(name: str, case: Case, kernel: str, profile: object = PROFILE) -> str:
    setting = Setting(case, profile)  # type: ignore[arg-type]
    writer = CWriter(OPERATIONS[name].experiment(setting), case.sub_group_size)
    OPERATIONS[name].write(setting, writer)
    return writer.text(kernel)


def outputs(experiment: Experiment) -> Iterator[tuple[Argument, Array]]:
    for argument in experiment.arguments:
        if argument.expected is not None:
            yield argument, argument.expected


def test_they_are_all_there() -> None:
    found = [name for name, operation in OPERATIONS.items() if operation.modes == ("c",)]
    assert sorted(found) == sorted([*OURS, "matrixmuladd_scaled", "matrixmuladd_tf32"])


def test_a_scaled_multiply_add_that_lacks_a_scale_or_a_block_is_wrong() -> None:
    """Its results are rounded, so that the last bit may differ."""
    variant = parse_variants("5x6x40.e4m3xe5m2_f32_f32")[0]
    experiment = OPERATIONS["matrixmuladd_scaled"].experiment(Setting(Case("x", 8, variant), PROFILE))
    (out,) = (argument for argument in experiment.arguments if argument.is_output)
    assert out.expected is not None and out.place is not None and fault(out, out.expected) == ""
    finite = out.place.indices()[np.isfinite(out.expected[out.place.indices()])]
    assert np.isnan(out.expected[out.place.indices()]).sum() > 0 and len(finite) > 10
    for at in finite:
        wrong = out.expected.copy()
        wrong[at] *= 1.25
        assert fault(out, wrong)


def test_tf32_has_the_shapes_of_the_instructions_and_inputs_that_no_rounding_changes() -> None:
    profile = profile_for(CPU, "lanes")
    (mma,) = LOWERED_ROUTES["mma:emulated"].tf32
    profile = replace(profile, lowered=LOWERED_ROUTES["mma:emulated"], sizes=(32,))
    case, *_ = OPERATIONS["matrixmuladd_tf32"].cases(profile)
    assert case.name.startswith(f"{2 * mma.m}x{2 * mma.n}x{2 * mma.k}.f32xf32_f32_f32")
    assert "CLK_COOPERATIVE_MATRIX_OPERAND_TF32" in text_of("matrixmuladd_tf32", case, "k")
    experiment = OPERATIONS["matrixmuladd_tf32"].experiment(Setting(case, profile))
    for argument in experiment.arguments[:2]:
        assert argument.place is not None
        assert not np.any(argument.before[argument.place.indices()].view(np.uint32) & 0x1FFF)


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("route", ["one", "scratch"])
def test_names_are_different_and_types_all_there(name: str, route: str) -> None:
    cases = list(OPERATIONS[name].cases(profile_for(CPU, route)))
    names = [case.name for case in cases]
    assert len(names) == len(set(names)) >= 20
    assert not [text for text in names if " " in text or "*" in text]
    found = {component for component in COMPONENT_TYPES if any(f".{component}" in text for text in names)}
    if name != "two_subgroups":
        assert found == set(COMPONENT_TYPES)
    if name == "neighbours":
        assert any(re.search(r"\.column1\b", text) for text in names)


@pytest.mark.parametrize("name", OURS)
def test_what_is_right_passes_and_anything_else_does_not(name: str) -> None:
    experiment = experiment_of(name)
    rng = np.random.default_rng(1)
    for argument in experiment.arguments:
        unchanged = fault(argument, argument.before)
        assert (unchanged == "") == (argument.expected is None)
    found = list(outputs(experiment))
    assert found
    for argument, expected in found:
        assert fault(argument, expected) == ""
        for at in {0, expected.size - 1, *(int(n) for n in rng.integers(0, expected.size, 8))}:
            wrong = expected.copy()
            wrong[at] ^= 1
            assert fault(argument, wrong)


@pytest.mark.parametrize("name", OURS)
def test_inputs_depend_on_the_name_and_the_seed_alone(name: str) -> None:
    case = case_of(name)
    first, again = (OPERATIONS[name].experiment(Setting(case, PROFILE, 3)) for _ in range(2))
    for one, other in zip(first.arguments, again.arguments, strict=True):
        assert one.name == other.name and np.array_equal(one.before, other.before)
    others = [OPERATIONS[name].experiment(Setting(replace(case, name=text), PROFILE, 3)) for text in ("y", "z")]
    assert (
        len({e.arguments[-1].expected.tobytes() for e in (first, *others) if e.arguments[-1].expected is not None}) > 1
    )


# --- faults that a device may have


def test_a_tile_that_is_not_zero_outside_is_caught() -> None:
    """As an unchecked load reads it: the padding's pattern and the next row."""
    experiment = experiment_of("load_checked")
    out = experiment.argument("out")
    assert out.expected is not None
    assert np.count_nonzero(out.expected == 0) > 5 * TYPE.rows * TYPE.columns
    clamped = np.where(out.expected == 0, np.int16(PATTERN), out.expected)
    assert fault(out, clamped)


def test_a_store_outside_is_caught() -> None:
    out = experiment_of("store_checked").argument("out")
    assert out.expected is not None
    written = np.flatnonzero(out.expected != out.before)
    for at in (written.min() - 1, written.max() + 1):
        wrong = out.expected.copy()
        wrong[at] = 7
        assert fault(out, wrong)
    # Of thirteen tiles seven have something inside: none of these is as large as the tile but the first two.
    assert 2 * 15 < written.size < 7 * 15


def test_coordinates_that_are_exchanged_are_caught() -> None:
    experiment = experiment_of("coord")
    counts, codes = experiment.argument("counts"), experiment.argument("codes")
    assert counts.expected is not None and codes.expected is not None and codes.place is not None
    rows, columns = np.indices((TYPE.rows, TYPE.columns))
    indices = codes.place.indices()
    assert np.array_equal(codes.expected[indices], rows * 5 + columns * 3)
    exchanged = codes.expected.copy()
    exchanged[indices] = columns * 5 + rows * 3
    assert fault(codes, exchanged)
    assert np.array_equal(np.unique(counts.expected), [0, 1, 0xA5A5A5A5])


def test_subgroups_that_do_the_same_are_caught() -> None:
    experiment = experiment_of("two_subgroups")
    assert (experiment.sub_groups, experiment.groups) == (2, 2)
    out = experiment.argument("out")
    assert out.expected is not None
    parts = np.split(out.expected, 4)
    for other in parts[1:]:
        assert not np.array_equal(parts[0], other)
    assert fault(out, np.concatenate([parts[0]] * 4))


def test_branches_lead_to_different_results() -> None:
    """Whatever a device leaves out of the walk shows in what comes out."""
    from coopmat.cts.operations.programs import _walked

    x, y = np.arange(1, 16, dtype=np.int16).reshape(3, 5), np.arange(100, 115, dtype=np.int16).reshape(3, 5)
    seen = set()
    for walk in ([0], *([1, way] for way in range(8)), [2, 7, 1], [2, 6, 1], [2, 1, 6], [3, 1, 2, 3], [3, 3, 2, 1]):
        s, t = _walked(TYPE.component, x, y, walk)
        seen.add((s.tobytes(), t.tobytes()))
    # The way 6 alone is as good as none, and so is what follows 7; 0 and 2 from here end alike.
    assert len(seen) >= 10


def test_scalars_are_exact() -> None:
    """The greatest and least integers are among them, whatever their size."""
    for name in ("s64", "u64", "u8"):
        matrix = replace(TYPE, component=COMPONENT_TYPES[name])
        seen = set()
        for text in "abcdefghijkl":
            experiment = OPERATIONS["init_runtime"].experiment(Setting(Case(text, 8, matrix), PROFILE))
            seen |= {int(n) for n in experiment.argument("s").before}
        limits = np.iinfo(matrix.component.numpy)
        assert seen >= {int(limits.min), int(limits.max), int(limits.max) // 2 + 1}


# --- kernels


@pytest.mark.parametrize("route", ["native", "one", "lanes", "scratch"])
def test_kernels_compile(route: str) -> None:
    """One program with two kernels of each operation; coordinates want an instruction that native matrices may lack."""
    device = replace(NATIVE, variants=parse_variants("16x16x16.f16xf16_f32_f32 8x8x16.s8xu8_s32_s32"))
    profile = profile_for(device if route == "native" else CPU, route, wimpy=True)
    texts: list[str] = []
    for name in OURS:
        size = next(iter(OPERATIONS[name].cases(profile))).sub_group_size
        cases = [case for case in OPERATIONS[name].cases(profile) if case.sub_group_size == size]
        texts += [text_of(name, case, f"k{len(texts)}_{n}", profile) for n, case in enumerate((cases[0], cases[-1]))]
    options = ["--matrices", route, *([] if route in ("native", "one") else ["--sub-group-size", "8"])]
    options += ["--spirv-version", "1.4", "--native-profile", "maint1"] if route == "native" else []
    module = coopmat.compile("\n".join(texts), options, name="kernels.cl")
    assert module.spirv and len(module.kernels) == 2 * len(OURS)
    assert [kernel.name for kernel in module.kernels.values() if not kernel.uses_matrices] == []
    assert list(module.diagnostics) == []
