"""The generator of library text, without a device."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from coopmat.frontend import builtins
from coopmat.matrices import lowering, narrow
from coopmat.matrices.library_function import FromTemplate
from coopmat.matrices.library_functions import Binary, Transpose
from coopmat.matrices.lowering import LOWERED_ROUTES
from coopmat.matrices.routes import LoweredRoute, Target, Tuning
from coopmat.matrices.variants import COMPONENT_TYPES, NARROW_TYPES, Conversion, Layout, MatrixType, Operands, Use

C = COMPONENT_TYPES
ONE, LANES, SCRATCH = LOWERED_ROUTES["one"], LOWERED_ROUTES["lanes"], LOWERED_ROUTES["scratch"]
A, B, ACC = MatrixType(C["s8"], 8, 32, Use.A), MatrixType(C["u8"], 32, 12, Use.B), MatrixType(C["s32"], 8, 12, Use(2))
NIBBLES = MatrixType(NARROW_TYPES["s4"], 8, 32, Use.A)
FUNCTIONS = [
    lowering.Load(A, "global", Layout.ROW_MAJOR),
    lowering.Load(B, "local", Layout.PACKED),
    lowering.Load(B, "generic", Layout.PACKED, checked=True),
    lowering.Load(B, "constant", Layout.ROW_MAJOR, volatile=True),
    lowering.Store(ACC, "global", Layout.ROW_MAJOR),
    lowering.Store(ACC, "private", Layout.COLUMN_MAJOR),
    lowering.Store(ACC, "local", Layout.COLUMN_MAJOR, volatile=True, checked=True),
    narrow.load(NIBBLES, "global", Layout.ROW_MAJOR),
    narrow.load(NIBBLES, "global", Layout.COLUMN_MAJOR, False, True),
    narrow.store(NIBBLES, "local", Layout.COLUMN_MAJOR),
    narrow.store(replace(NIBBLES, columns=12), "private", Layout.ROW_MAJOR),
    lowering.Fill(ACC),
    lowering.Binary(ACC, "div"),
    lowering.ScalarMultiply(ACC),
    lowering.Negate(ACC),
    lowering.Convert(ACC, C["f16"]),
    lowering.Convert(ACC, C["u8"], Conversion(saturate=True)),
    Transpose(ACC, Use.A),
    lowering.Convert(ACC, C["s32"], use=Use.A),
    lowering.Convert(replace(ACC, use=Use.A), C["bf16"], use=Use.B),
    lowering.ComponentWise(ACC, "clamp", (True, False, True)),
    lowering.ComponentWise(MatrixType(C["bf16"], 8, 12, Use.A), "fmax", (False, True)),
    lowering.Map(ACC, "f", operands=1),
    lowering.Map(B, "g", operands=2),
    lowering.Map(A, "h"),
    lowering.Reduce(ACC, "join", how=1, rows=8, columns=5),
    lowering.Reduce(ACC, "join", how=2, rows=3, columns=12),
    lowering.Reduce(ACC, "join", how=3, rows=2, columns=7),
    lowering.Reduce(ACC, "join", how=4, rows=4, columns=6),
    lowering.Length(A),
    lowering.Coord(A),
    lowering.MultiplyAdd(A, B, ACC, Operands(13)),
    lowering.MultiplyAdd(A, B, ACC, Operands(21)),
    # By an instruction, where there is one, and of operands that lie for one.
    lowering.MultiplyAdd(A, replace(B, columns=16), replace(ACC, columns=16), Operands(13)),
    lowering.MultiplyAdd(
        *(MatrixType(C[name], 8, 8, use) for name, use in zip(("f16", "f16", "f32"), Use, strict=True)), Operands.NONE
    ),
]
BUILTINS = [
    lowering.substitute_builtin(ONE, name, component)
    for name, component in [
        ("get_sub_group_size", None),
        ("get_sub_group_local_id", None),
        ("get_sub_group_id", None),
        ("get_num_sub_groups", None),
        ("get_enqueued_num_sub_groups", None),
        ("sub_group_barrier", None),
        ("sub_group_reduce_add", C["f32"]),
        ("sub_group_broadcast", C["f16"]),
        ("sub_group_scan_exclusive_min", C["u8"]),
        ("sub_group_non_uniform_scan_exclusive_and", C["s64"]),
        ("sub_group_non_uniform_scan_exclusive_logical_and", None),
        ("sub_group_non_uniform_scan_exclusive_logical_xor", None),
        ("sub_group_clustered_reduce_logical_or", None),
        ("sub_group_non_uniform_all_equal", C["f64"]),
        ("sub_group_elect", None),
        ("sub_group_ballot", None),
        ("sub_group_inverse_ballot", None),
        ("sub_group_ballot_bit_count", None),
        ("sub_group_ballot_exclusive_scan", None),
        ("get_sub_group_eq_mask", None),
        ("get_sub_group_lt_mask", None),
        ("intel_sub_group_shuffle_up", C["f32"]),
        ("intel_sub_group_shuffle_down", C["f32"]),
        ("intel_sub_group_block_read", C["u32"]),
        ("intel_sub_group_block_read_us8", C["u16"]),
        ("intel_sub_group_block_read_ul16", C["u64"]),
        ("intel_sub_group_block_write", C["u32"]),
        ("intel_sub_group_block_write4", C["u32"]),
    ]
]
SCRATCH_BUILTINS = [
    lowering.substitute_builtin(SCRATCH, name, component)
    for name, component in [
        ("get_sub_group_size", None),
        ("get_max_sub_group_size", None),
        ("get_sub_group_local_id", None),
        ("get_sub_group_id", None),
        ("get_num_sub_groups", None),
        ("get_enqueued_num_sub_groups", None),
        ("sub_group_barrier", None),
        ("sub_group_broadcast", C["f16"]),
        ("sub_group_clustered_rotate", C["u8"]),
        ("intel_sub_group_shuffle_up", C["f32"]),
        ("sub_group_reduce_add", C["f32"]),
        ("sub_group_all", None),
        ("sub_group_clustered_reduce_logical_or", C["u32"]),
        ("sub_group_scan_exclusive_min", C["u8"]),
        ("sub_group_non_uniform_all_equal", C["f64"]),
        ("sub_group_elect", None),
        ("sub_group_ballot", C["s32"]),
        ("sub_group_inverse_ballot", None),
        ("sub_group_ballot_bit_extract", None),
        ("sub_group_ballot_find_msb", None),
        ("get_sub_group_lt_mask", None),
        ("intel_sub_group_block_read_us8", C["u16"]),
        ("intel_sub_group_block_read_ul16", C["u64"]),
        ("intel_sub_group_block_write4", C["u32"]),
    ]
]
# Only where the rows of a matrix lie as vectors.
WIDE = [
    lowering.Map(ACC, "f", operands=2, width=4),
    lowering.Reduce(ACC, "join", how=1, rows=8, columns=5, wide=("join_4", "join_2")),
    lowering.Reduce(ACC, "join", how=2, rows=3, columns=12, wide=("join_4", "join_2")),
    lowering.Reduce(ACC, "join", how=3, rows=2, columns=7, wide=("join_4", "join_2")),
    lowering.Load(MatrixType(C["f16"], 32, 16, Use.B), "global", Layout.COLUMN_MAJOR),
    lowering.Load(MatrixType(C["f16"], 32, 1, Use.B), "local", Layout.COLUMN_MAJOR),
    lowering.MultiplyAdd(
        MatrixType(C["f16"], 6, 32, Use.A),
        MatrixType(C["f16"], 32, 1, Use.B),
        MatrixType(C["f32"], 6, 1, Use(2)),
        Operands.NONE,
    ),
]
OTHERS_OF = {"one": [*BUILTINS, *WIDE], "lanes": [], "scratch": SCRATCH_BUILTINS, "mma:emulated": []}
TARGETS = [Target(ONE, 1), Target(LANES, 16), Target(SCRATCH, 16), Target(LOWERED_ROUTES["mma:emulated"], 32)]
targets = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.route.name)


def spelled(function: lowering.LibraryFunction, target: Target) -> str:
    """The signature as the definition writes it."""

    def parameter(p: lowering.Parameter) -> str:
        if p.space is None:
            return f"{p.type} {p.name}"
        return f"__{p.space} {'volatile ' * p.volatile}{'const ' * p.const}{p.type} *{p.name}"

    parameters = ", ".join(map(parameter, lowering.parameters(function, target))) or "void"
    return f"{function.signature.returns} {function.function_name}({parameters})"


@targets
def test_definitions_are_what_the_signatures_say(target):
    for function in FUNCTIONS + OTHERS_OF[target.route.name]:
        text = lowering.instantiate(target, [function])
        # What the function calls comes before it.
        *_, text = re.split(r"\n\n(?=#define)", text.rstrip())
        macros = dict(re.findall(r"^#define (CM_\w+) (.*)$", text, re.MULTILINE))
        macros.setdefault("CM_MORE", "")
        (header,) = re.findall(r"^CM_FUNCTION (.*)$", text, re.MULTILINE)
        for name in sorted(macros, reverse=True):
            header = re.sub(rf"\b{name}\b", macros[name], header)
        assert re.sub(r" +(?=[,)])", "", header) == spelled(function, target)


@targets
def test_every_macro_is_defined_and_undefined_again(target):
    prologue = lowering.prologue(target.route)
    library_functions = FUNCTIONS + WIDE * (target.route is ONE)
    for function in library_functions + SCRATCH_BUILTINS * target.route.exchanges_in_local_memory:
        text = lowering.instantiate(target, [function]).removeprefix(prologue)
        defined = set(re.findall(r"#define (CM_\w+)", text))
        assert set(re.findall(r"\bCM_\w+", text)) <= defined | set(re.findall(r"#define (CM_\w+)", prologue))
        assert set(re.findall(r"#undef (CM_\w+)", text)) == defined


def test_every_section_is_reached():
    used = set()
    for target in TARGETS:
        library_functions = FUNCTIONS + OTHERS_OF[target.route.name]
        library_functions += [needed for i in library_functions for needed in i.needs(target)]
        templates = [i for i in library_functions if isinstance(i, FromTemplate)]
        used |= {lowering.section(i.files(target.route), i.definitions(target)["OP"]) for i in templates}
    for file in {file for file, _ in used}:
        sections = set(lowering.library_sections(file)) - {"PROLOGUE"}
        assert sections == {section for name, section in used if name == file}


def test_text_does_not_depend_on_order_or_repetition():
    text = lowering.instantiate(Target(ONE, 1), FUNCTIONS)
    assert lowering.instantiate(Target(ONE, 1), [*reversed(FUNCTIONS), *FUNCTIONS]) == text
    for function in FUNCTIONS:
        assert text.count(f"#define CM_NAME {function.function_name}\n") == 1
    checked = FUNCTIONS[2]
    (unchecked,) = checked.needs(Target(ONE, 1))
    alone = lowering.instantiate(Target(ONE, 1), [checked])
    assert alone.index(f"CM_NAME {unchecked.function_name}") < alone.index(f"CM_NAME {checked.function_name}")


def test_different_functions_have_different_names():
    others = [
        lowering.Load(A, "global", Layout.COLUMN_MAJOR),
        lowering.Load(A, "local", Layout.ROW_MAJOR),
        lowering.Convert(ACC, C["f16"], Conversion("rtz")),
        lowering.Convert(ACC, C["u8"]),
        lowering.Binary(ACC, "mul"),
        lowering.ComponentWise(ACC, "min", (True, False, True)),
        lowering.ComponentWise(ACC, "clamp", (True, True, True)),
        lowering.Map(ACC, "g", operands=1),
        lowering.Map(A, "f", operands=1),
        lowering.Reduce(ACC, "sum", how=1, rows=8, columns=5),
        lowering.Reduce(ACC, "join", how=1, rows=8, columns=6),
        lowering.Reduce(ACC, "join", how=3, rows=8, columns=5),
        lowering.Reduce(ACC, "join", how=2, rows=4, columns=12),
        lowering.Convert(ACC, C["s32"], use=Use.B),
        lowering.Convert(ACC, C["f16"], use=Use.A),
        lowering.Fill(MatrixType(C["u32"], 8, 12, Use.ACCUMULATOR)),
        lowering.Fill(MatrixType(C["s32"], 8, 12, Use.A)),
    ]
    names = [i.function_name for i in FUNCTIONS + others]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z_]\w*", name) for name in names)


def test_storage():
    assert lowering.storage_components(ONE, B, 1) == 32 * 12
    assert lowering.storage_components(LANES, B, 8) == 32 * 2
    assert lowering.storage_components(LANES, B, 16) == 32
    assert lowering.storage_alignment(ONE, ACC, 1) == 16
    assert lowering.storage_alignment(ONE, MatrixType(C["f64"], 3, 48, Use.B), 1) == 128
    assert lowering.storage_alignment(LANES, ACC, 8) == 4


def test_sums_stay_in_registers_and_straight_line_code_is_bounded():
    def blocks(m: int, n: int, k: int, sum_bytes: int = 1536) -> tuple[int, int, str, str]:
        matrices = (
            MatrixType(C["f32"], m, k, Use.A),
            MatrixType(C["f32"], k, n, Use.B),
            MatrixType(C["f32"], m, n, Use(2)),
        )
        target = Target(ONE.tuned(Tuning(sum_bytes=sum_bytes)), 1)
        macros = lowering.MultiplyAdd(*matrices, Operands.NONE).definitions(target)
        block = int(macros["BLOCK_M"]), int(macros["BLOCK_N"])
        return (*block, macros["EACH_REGISTER_BLOCK"], macros["EACH_K"])

    assert blocks(16, 16, 16) == (16, 1, "CM_UNROLL", "CM_UNROLL")
    assert blocks(16, 16, 64) == (16, 1, "CM_UNROLL", "CM_ROLL")
    assert blocks(12, 32, 8) == (12, 2, "CM_UNROLL", "CM_UNROLL")
    assert blocks(16, 32, 16) == (8, 2, "CM_ROLL", "CM_ROLL")
    assert blocks(96, 96, 96) == (4, 6, "CM_ROLL", "CM_ROLL")
    assert blocks(16, 16, 16, 384) == (4, 1, "CM_ROLL", "CM_UNROLL")
    assert blocks(37, 48, 4) == (1, 3, "CM_ROLL", "CM_UNROLL")


def test_multiply_adds_are_checked():
    with pytest.raises(ValueError, match="takes A, B and an accumulator"):
        lowering.MultiplyAdd(B, A, ACC, Operands.NONE)
    with pytest.raises(ValueError, match="do not fit"):
        lowering.MultiplyAdd(A, MatrixType(C["u8"], 16, 12, Use.B), ACC, Operands.NONE)
    with pytest.raises(ValueError, match="mix integers"):
        lowering.MultiplyAdd(A, B, MatrixType(C["f32"], 8, 12, Use.ACCUMULATOR), Operands.NONE)


def test_bfloat16_is_held_as_bits():
    fill = lowering.Fill(MatrixType(C["bf16"], 4, 4, Use.A))
    assert spelled(fill, TARGETS[0]).endswith("(__private ushort *out, ushort value)")
    text = lowering.instantiate(TARGETS[0], [lowering.Convert(ACC, C["bf16"], Conversion("rtz"))])
    assert "bfloat16" not in text and "CM_NAME cm_s32_to_odd_4" in text and "cm_bf16_from_float_rtz_4" in text


def test_every_subgroup_builtin_is_replaced():
    rows = [row for family in builtins.FAMILIES for row in family.TABLE if row.subgroup and row.supported]
    assert len(rows) > 110
    for row in rows:
        assert lowering.substitute_builtin(ONE, row.name, C["u32"]) is not None, row.name
        assert lowering.substitute_builtin(SCRATCH, row.name, C["u32"]) is not None, row.name


def test_only_a_subgroup_of_one_replaces_builtins():
    assert lowering.substitute_builtin(LANES, "get_sub_group_size") is None
    assert lowering.substitute_builtin(ONE, "get_local_id") is None
    assert (
        lowering.substitute_builtin(ONE, "sub_group_broadcast", C["f32"]).function_name == "cm_sub_group_broadcast_f32"
    )


def test_many_divisions_of_integers_are_a_loop_in_subgroups():
    def each(operator: str, component: str, rows: int, route: LoweredRoute = LANES) -> str:
        binary = Binary(MatrixType(C[component], rows, 16, Use.A), operator)
        return binary.definitions(Target(route, 1 if route is ONE else 16))["EACH"]

    assert each("div", "u32", 32) == "CM_UNROLL"
    assert each("div", "u32", 33) == each("div", "s8", 64) == "CM_ROLL"
    assert each("mul", "u32", 64) == each("div", "f32", 64) == "CM_UNROLL"
    # Intel's compiler vectorizes the loop of a work-item that holds the whole matrix, and may crash.
    assert each("div", "u32", 33, ONE) == "CM_UNROLL"
