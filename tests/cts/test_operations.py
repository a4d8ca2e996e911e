"""The operations: names of variants, kernels in both languages, and whether the buffers tell right from wrong."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import coopmat
from coopmat.cts.experiment import GUARD, Argument, Place
from coopmat.cts.operations import OPERATIONS, Case, Operation, Setting
from coopmat.cts.operations.inputs import plain, saturating, wrapping
from coopmat.cts.operations.memory import wrong_lengths
from coopmat.cts.profile import Profile
from coopmat.cts.writers.assembly import AssemblyWriter
from coopmat.cts.writers.c import CWriter
from coopmat.devices import DeviceInfo
from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import Array, narrow, widen
from coopmat.matrices.variants import (
    COMPONENT_TYPES,
    SMALL_FLOATS,
    Layout,
    MatrixType,
    Operands,
    Use,
    Variant,
    default_operands,
)
from coopmat.spirv.tools import assemble, validate

# Those of OpenCL-CTS #2655.
UPSTREAM = re.findall(
    r"\w+",
    """length constant copy copy_stride0 copy_workgroup composite composite_array composite_rvalue convert negate add
    sub mul div matrixmuladd matrixmuladd_array matrixmuladd_saturating matrixmuladd_wrapping matrixmuladd_stride0
    multicomponent_load multicomponent_store func""",
)
# Ours that SPIR-V has, too: by SPV_EXT_cooperative_matrix_maintenance1.
FURTHER = (
    *("convert_use", "transpose", "reduce_row", "reduce_column", "reduce_all", "reduce_2x2"),
    *("map", "map_multiple", "build", "workgroup_scope", "matrixmuladd_same_c"),
)
IN_BOTH = (*UPSTREAM, *FURTHER)
TYPE = r"\d+x\d+\.[ABC]\.[a-z0-9]+"
MULTIPLY_ADD = r"\d+x\d+x\d+\.\w+x\w+_\w+_\w+\.(no)?sat"
COMPONENT = r"[a-z]+\d+(?:m\d)?"
POINTEE = rf"{COMPONENT}(x\d+)?"
LAYOUT = r"(rowm|colm|packed)"
NAMES = {
    "copy": rf"{TYPE}\.{LAYOUT}\.{LAYOUT}",
    "copy_stride0": rf"{TYPE}\.(rowm|colm)\.(rowm|colm)",
    "convert": rf"{TYPE}\.{TYPE}",
    "multicomponent_load": rf"{TYPE}\.inBuf_{POINTEE}\.outBuf_{COMPONENT}",
    "multicomponent_store": rf"{TYPE}\.inBuf_{COMPONENT}\.outBuf_{POINTEE}",
    **dict.fromkeys(("convert_use", "transpose"), rf"{TYPE}\.{TYPE}"),
    **dict.fromkeys(
        ("reduce_row", "reduce_column", "reduce_all", "reduce_2x2"), rf"{TYPE}\.{TYPE}\.(sum|product|max|min|bits)"
    ),
    **dict.fromkeys(("map", "map_multiple", "build"), rf"{TYPE}\.\w+"),
    "workgroup_scope": rf"({TYPE}|{MULTIPLY_ADD})\.workgroup\.[123]subgroups",
}
DEVICE = DeviceInfo(
    index="0:0",
    platform="Some OpenCL",
    name="CPU",
    kind="CPU",
    version="OpenCL 3.0",
    driver="1",
    spirv_versions=("1.4",),
    sub_groups=True,
    sub_group_sizes=(8,),
    extensions=frozenset(),
    fp16=True,
    fp64=True,
    compute_units=2,
    local_memory=32768,
)
SHAPES = ((5, 5), (3, 8), (8, 2))
VARIANTS = [
    "5x5x3.f16xf16_f32_f32.nosat",
    "3x8x5.f32xf32_f32_f32.nosat",
    "4x4x4.f64xf64_f64_f64.nosat",
    "4x6x8.bf16xbf16_f32_f32.nosat",
    "4x4x16.s8xs8_s32_s32.nosat",
    "5x3x7.u8xs16_s32_s32.nosat",
    "5x6x16.u16xu16_u16_u16.nosat",
    "4x4x4.s64xs64_s64_s64.nosat",
    "4x8x16.s8xs8_s8_s8.sat",
    "8x4x16.s8xu8_s32_s32.sat",
    "9x9x5.u8xu8_u8_u8.sat",
    "4x8x16.s64xs64_s64_s64.sat",
    "6x9x7.u32xu32_u32_u32.sat",
    "3x2x64.s16xs16_s16_s16.sat",
]


def make_profile(route: str = "lanes", exhaustive: bool = False) -> Profile:
    from coopmat.matrices.supported import parse_variants

    size = None if route == "one" else 8
    types = [
        (MatrixType(component, *SHAPES[(number + use) % 3], use), size)
        for number, component in enumerate(COMPONENT_TYPES.values())
        for use in Use
    ]
    multiply_adds = tuple((variant, size) for variant in parse_variants(" ".join(VARIANTS)))
    return Profile(DEVICE, route, multiply_adds, tuple(types), exhaustive=exhaustive)


PROFILE = make_profile()


def cases(operation: Operation, mode: str = "c") -> list[Case]:
    return [case for case in operation.cases(PROFILE) if operation.has(mode, case)]


def covering(operation: Operation, mode: str, count: int) -> list[Case]:
    found = cases(operation, mode)
    step = max(1, len(found) // count)
    return found[::step][:count]


def written(operation: Operation, case: Case, kind: type[CWriter] | type[AssemblyWriter], name: str = "test") -> str:
    setting = Setting(case, PROFILE)
    writer = kind(operation.experiment(setting), case.sub_group_size)
    operation.write(setting, writer)
    return writer.text(name)


# --- which there are


def test_all_of_upstreams_are_there() -> None:
    assert set(UPSTREAM) <= set(OPERATIONS)
    assert [name for name, o in OPERATIONS.items() if o.modes == ("spirv", "c")] == [
        n for n in OPERATIONS if n in IN_BOTH
    ]


@pytest.mark.parametrize("name", IN_BOTH)
def test_names_of_variants(name: str) -> None:
    pattern = NAMES.get(name, MULTIPLY_ADD if name.startswith("matrixmuladd") else TYPE)
    for exhaustive in (False, True):
        for route, suffix in (("one", ""), ("lanes", r"\.sg8")):
            names = [case.name for case in OPERATIONS[name].cases(make_profile(route, exhaustive))]
            assert names and len(names) == len(set(names))
            assert [n for n in names if not re.fullmatch(pattern + suffix, n)] == []


@pytest.mark.parametrize("name", IN_BOTH)
def test_an_exhaustive_run_has_every_variant(name: str) -> None:
    every = {case.name: case for case in OPERATIONS[name].cases(make_profile(exhaustive=True))}
    assert [case.name for case in cases(OPERATIONS[name]) if every.get(case.name) != case] == []


def test_conversions_cover_most_pairs() -> None:
    pairs = {tuple(re.findall(rf"\.[ABC]\.({COMPONENT})", case.name)) for case in cases(OPERATIONS["convert"])}
    assert len(pairs) == 14 * 12  # most of the 13 others
    names = {case.name.split(".")[0] for case in cases(OPERATIONS["convert"])}
    assert len(names) == len(SHAPES)


def test_conversions_of_few_types_have_every_target() -> None:
    few = replace(PROFILE, matrix_types=PROFILE.matrix_types[::3])
    names = [case.name for case in OPERATIONS["convert"].cases(few)]
    assert len(names) == 4 * 14
    pairs = [re.findall(rf"\.[ABC]\.({COMPONENT})", name) for name in names]
    assert {source for source, _ in pairs} == {target for _, target in pairs} == set(COMPONENT_TYPES)


def test_what_spirv_leaves_out() -> None:
    left_out = Counter(
        name
        for name, operation in OPERATIONS.items()
        for case in operation.cases(PROFILE)
        if "spirv" in operation.modes and not operation.has("spirv", case)
    )
    arithmetic = dict.fromkeys(("add", "sub", "mul", "div", "negate"), 3 * len(SMALL_FLOATS))
    # Conversions between small floats and integers.
    conversions = {"convert": 47, "convert_use": 11, "transpose": 17}
    assert {name: n for name, n in left_out.items() if name != "copy"} == arithmetic | conversions
    assert all(".packed" in case.name for case in set(OPERATIONS["copy"].cases(PROFILE)) - set(copies_in_spirv()))


def copies_in_spirv() -> list[Case]:
    return cases(OPERATIONS["copy"], "spirv")


@pytest.mark.parametrize(("name", "buffer"), [("multicomponent_load", "inBuf"), ("multicomponent_store", "outBuf")])
def test_pointees_are_vectors_and_of_other_types(name: str, buffer: str) -> None:
    """The pointee is another one than the component type: narrower, wider, of another kind, a vector or a scalar."""
    sizes, kinds = set(), set()
    for case in cases(OPERATIONS[name]):
        found = re.search(rf"\.{buffer}_({COMPONENT})(x\d+)?", case.name)
        assert found
        component, scalar = case.parameters.matrix.component, COMPONENT_TYPES[found[1]]
        assert found[2] or scalar != component, case.name
        sizes.add((scalar.size > component.size) - (scalar.size < component.size))
        kinds.add((scalar.is_integer, component.is_integer, found[2]))
    assert sizes == {-1, 0, 1}
    assert len(kinds) > 12


def test_copies_of_a_row_and_of_a_column() -> None:
    places = [
        place
        for case in cases(OPERATIONS["copy_stride0"])
        for place in (OPERATIONS["copy_stride0"].experiment(Setting(case, PROFILE)).argument("x").place,)
        if place is not None
    ]
    assert {place.stride for place in places} == {0}
    assert {place.layout for place in places} == {Layout.ROW_MAJOR, Layout.COLUMN_MAJOR}


def test_work_items_read_what_is_stored_to_local_memory_without_a_barrier() -> None:
    case = cases(OPERATIONS["copy_workgroup"])[0]
    lines = written(OPERATIONS["copy_workgroup"], case, CWriter)
    stores, reads, barriers = (
        [at.start() for at in re.finditer(word, lines)]
        for word in (r"coop_mat_store\(stored", r"= stored\[", r"barrier\(")
    )
    assert len(stores) == 1 and len(reads) == 2 and len(barriers) == 2
    assert barriers[0] < stores[0] < min(reads) <= max(reads) < barriers[1]
    assembly = written(OPERATIONS["copy_workgroup"], case, AssemblyWriter)
    before, _, after = assembly.partition("OpCopyMemory")
    assert before.rindex("OpCooperativeMatrixStoreKHR") > before.rindex("OpControlBarrier")
    assert "OpControlBarrier" in after


# --- kernels


def test_kernels_compile() -> None:
    """All in one program, as the runner has them."""
    texts = []
    for name in OPERATIONS:
        for case in covering(OPERATIONS[name], "c", 3):
            texts.append(written(OPERATIONS[name], case, CWriter, f"t{len(texts)}"))
    options = ["--matrices", "native", "--native-profile", "maint1", "--spirv-version", "1.4", "-Werror"]
    module = coopmat.compile("\n".join(texts), options)
    assert len(module.kernels) == len(texts)
    assert module.llvm_ir


@pytest.mark.parametrize("name", IN_BOTH)
def test_modules_are_valid(name: str) -> None:
    for case in covering(OPERATIONS[name], "spirv", 5):
        text = written(OPERATIONS[name], case, AssemblyWriter)
        assert validate(assemble(text, "spv1.4"), "spv1.4") is None, f"{case.name}\n{text}"


def test_instructions_of_the_modules() -> None:
    """What an operation is there to test is in its module."""
    wanted = {
        "length": "OpCooperativeMatrixLengthKHR",
        "constant": "OpConstantComposite",
        "copy_workgroup": "OpControlBarrier",
        "composite": "OpAccessChain",
        "composite_array": "OpTypeArray",
        "composite_rvalue": "OpAccessChain",
        "matrixmuladd_array": "OpTypeArray",
        "matrixmuladd_saturating": "SaturatingAccumulationKHR",
        "func": "OpFunctionCall",
        "multicomponent_load": "OpTypeVector",
        "convert_use": "CooperativeMatrixConversionsEXT",
        "transpose": "CooperativeMatrixTransposeEXT",
        "reduce_row": " Row ",
        "reduce_column": " Column ",
        "reduce_all": " Row|Column ",
        "reduce_2x2": " 2x2 ",
        "map": "OpCooperativeMatrixPerElementOpEXT",
        "build": "OpCooperativeMatrixPerElementOpEXT",
        "workgroup_scope": "LocalSize",
    }
    for name, word in wanted.items():
        assert word in written(OPERATIONS[name], cases(OPERATIONS[name], "spirv")[0], AssemblyWriter), name
    case = next(c for c in cases(OPERATIONS["div"], "spirv") if ".u32" in c.name)
    assert "OpUDiv" in written(OPERATIONS["div"], case, AssemblyWriter)


# --- buffers: what is right passes, what is wrong is caught


def off_by_one(argument: Argument, values: Array) -> Array:
    """With another value in one place: the next one, or what lies beyond the tolerance; a number where none must be."""
    component = argument.component
    values = values.copy()
    wide = widen(component, values).astype(np.float64)
    at = int(np.argmax(np.isfinite(wide)))
    if np.isnan(wide[at]):
        values[at] = 0
    elif np.any(tolerance := np.asarray(argument.tolerance)):
        values[at] = narrow(component, wide[at : at + 1] + 4 * tolerance.max())[0]
    else:
        values.view(f"u{component.size}")[at] ^= 1
    return values


def wrong_results(argument: Argument) -> dict[str, Array]:
    place, right = argument.place, argument.expected
    assert place is not None and right is not None
    places = place.indices()

    def touched(at: int) -> Array:
        memory = right.copy()
        memory.view(f"u{argument.component.size}")[at] ^= 1
        return memory

    wrong = {"before": touched(0), "behind": touched(-1), "just before": touched(place.offset - 1)}
    wrong["just behind"] = touched(int(places.max()) + 1)
    padding = sorted(set(range(place.offset, int(places.max()))) - set(places.ravel().tolist()))
    if padding:
        wrong["padding"] = touched(padding[0])
    values = right[places]
    wrong["nothing"] = argument.before
    wrong["one off"] = place.with_values(off_by_one(argument, values.ravel()).reshape(values.shape))
    return wrong


@pytest.mark.parametrize("name", [name for name in IN_BOTH if name != "length"])
def test_wrong_results_are_caught(name: str) -> None:
    for case in cases(OPERATIONS[name]):
        experiment = OPERATIONS[name].experiment(Setting(case, PROFILE))
        assert any(argument.is_output for argument in experiment.arguments)
        for argument in experiment.arguments:
            if argument.is_output:
                assert argument.expected is not None and not argument.wrong(argument.expected).any()
                for what, memory in wrong_results(argument).items():
                    assert argument.wrong(memory).any(), f"{case.name}: {argument.name}: {what}"
            else:
                assert not argument.wrong(argument.before).any()
                changed = argument.before.copy()
                # To another value, not to another NaN.
                changed[0] = off_by_one(argument, changed[:1])[0]
                assert argument.wrong(changed).any()


# Results whose rows or columns are the same.
SAME = ("length", "constant", "copy_stride0", *(name for name in FURTHER if name.startswith("reduce")))


@pytest.mark.parametrize("name", [n for n in IN_BOTH if n not in SAME])
def test_transposed_results_are_caught(name: str) -> None:
    """Of square matrices, and what a neighbouring row or column has."""
    tried = 0
    for case in cases(OPERATIONS[name]):
        if name == "build" and case.parameters.function == "identity":
            continue
        for argument in OPERATIONS[name].experiment(Setting(case, PROFILE)).arguments:
            if argument.expected is None or argument.place is None or argument.place.matrix.rows < 3:
                continue
            if argument.name == "reduced":
                continue
            values = argument.expected[argument.place.indices()]
            wrong = [np.roll(values, 1, axis=0), np.roll(values, 1, axis=1)]
            wrong += [values.T] if values.shape[0] == values.shape[1] else []
            # Rows that are all the same come of factors with stride 0.
            wrong = [w for w in wrong if name != "matrixmuladd_stride0" or w.tobytes() != values.tobytes()]
            for other in wrong:
                tried += 1
                assert argument.wrong(argument.place.with_values(other)).any(), case.name
    assert tried > 5


def test_lengths() -> None:
    matrix = MatrixType(COMPONENT_TYPES["f32"], 3, 5, Use.A)
    untouched = 0xA5A5A5A5

    def buffer(*lengths: int) -> Array:
        return np.array([untouched] * GUARD + list(lengths) + [untouched] * GUARD, np.uint32)

    def fault(*lengths: int, lanes: int | None = 4) -> str:
        return wrong_lengths(matrix, buffer(*lengths), untouched, lanes)

    assert fault(3, 3, 3, 6, 15, 0, 0, 0) == ""
    assert fault(15, 15, untouched, lanes=None) == ""
    assert "hold 16 components together" in fault(3, 3, 3, 6, 4, 4, 4, 4)
    assert "work-item 4 holds 16" in fault(3, 3, 3, 6, 16, 0, 0, 0)
    assert fault(3, 3, 3, untouched) and fault(untouched, untouched, lanes=None) and fault(3, 3, lanes=None)
    touched = buffer(3, 3, 3, 6)
    touched[-1] = 3
    assert "guards" in wrong_lengths(matrix, touched, untouched, 4)


# --- inputs


def integer_variants(name: str) -> list[Case]:
    return [case for case in cases(OPERATIONS[name]) if case.parameters.a.is_integer]


def exact(case: Case, inputs: Any) -> Array:
    products = inputs.a.astype(object) @ inputs.b.astype(object)
    return np.asarray(products + inputs.c.astype(object))


@pytest.mark.parametrize("case", integer_variants("matrixmuladd_saturating"), ids=lambda case: case.name)
def test_saturating_inputs(case: Case) -> None:
    """Whether each product is added with saturation, or only C at the end, the result is the same; it often does
    saturate, at either end where the products can be negative."""
    variant: Variant = case.parameters
    inputs = saturating(Setting(case, PROFILE).random(), variant)
    low, high = np.iinfo(variant.c.numpy).min, np.iinfo(variant.c.numpy).max
    running = inputs.c.astype(object)
    for k in range(variant.k):
        running = np.clip(running + np.outer(inputs.a[:, k].astype(object), inputs.b[k].astype(object)), low, high)
    mask = default_operands(variant.a, variant.b, variant.c) | Operands.SATURATING
    final, _ = numpy_reference.mul_add((variant.a, variant.b, variant.c), inputs.a, inputs.b, inputs.c, mask)
    assert np.array_equal(running, final.astype(object))
    total = exact(case, inputs)
    over, under = np.mean(total > high), np.mean(total < low)
    assert over + under > 0.15
    assert over > 0.05
    assert under > 0.05 or not (variant.c.signed and (variant.a.signed or variant.b.signed))


@pytest.mark.parametrize("case", integer_variants("matrixmuladd_wrapping"), ids=lambda case: case.name)
def test_wrapping_inputs(case: Case) -> None:
    """Plain ones fit into the result, where a product of the smallest factors does; wrapping ones do not, where
    products can be that great."""
    variant: Variant = case.parameters
    rng = Setting(case, PROFILE).random()
    low, high = int(np.iinfo(variant.c.numpy).min), int(np.iinfo(variant.c.numpy).max)
    fits = exact(case, plain(rng, variant))
    assert np.all(fits <= high) and (np.all(fits >= low) or not variant.c.signed)
    overflows = exact(case, wrapping(rng, variant))
    assert np.mean((overflows > high) | (overflows < low)) > 0.1


def test_floating_inputs_have_what_is_no_number() -> None:
    for case in cases(OPERATIONS["matrixmuladd"]):
        if case.parameters.a.is_integer:
            continue
        out = OPERATIONS["matrixmuladd"].experiment(Setting(case, PROFILE)).argument("out")
        assert out.expected is not None and out.place is not None
        results = widen(out.component, out.expected[out.place.indices()]).astype(np.float64)
        assert 0 < np.mean(~np.isfinite(results)) < 0.7, case.name


def test_conversions_to_integers_are_defined_and_reach_the_limits() -> None:
    for case in cases(OPERATIONS["convert"]):
        source, target = case.parameters.source.component, case.parameters.target.component
        if source.is_integer or not target.is_integer:
            continue
        x, out = OPERATIONS["convert"].experiment(Setting(case, PROFILE)).arguments
        assert x.place is not None and out.expected is not None
        values = widen(source, x.before[x.place.indices()]).astype(np.float64)
        limits = np.iinfo(target.numpy)
        assert np.all((np.trunc(values) >= limits.min) & (np.trunc(values) <= limits.max)), case.name
        assert np.abs(values).max() > min(limits.max, 2**15, source.largest) / 32


def test_places() -> None:
    """Strides and offsets are what the device asks for, and not always multiples of more."""
    matrix = MatrixType(COMPONENT_TYPES["f16"], 3, 5, Use.A)
    places = [place(PROFILE, matrix, f"{n}") for n in range(40)]
    assert any(p.offset % 2 for p in places) and any(p.stride % 2 for p in places)
    assert {p.layout for p in places} == {Layout.ROW_MAJOR, Layout.COLUMN_MAJOR}
    picky = replace(PROFILE, pointer_alignment=16, stride_multiple=8)
    for vector in (1, 2, 3, 16):
        for p in [place(picky, matrix, f"{n}", vector) for n in range(20)]:
            step = 4 if vector == 3 else vector
            assert p.offset * 2 % 16 == 0 and p.stride * 2 % 8 == 0 and p.offset % step == 0 and p.stride % step == 0
            assert p.room % step == 0 and p.offset >= GUARD and p.indices().max() < p.room - GUARD


def place(profile: Profile, matrix: MatrixType, name: str, vector: int = 1) -> Place:
    case = Case(name, None, matrix)
    return Setting(case, profile).place("x", matrix, vector=vector)
