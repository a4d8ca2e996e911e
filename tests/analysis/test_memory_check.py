"""Strides and addresses of native matrices that a device does not take, as far as they are certain."""

from __future__ import annotations

import pytest

import coopmat
from coopmat.diagnostics import CompileError, Diagnostic
from coopmat.options import CompileOptions

HEAD = """
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define PACKED CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED
typedef half M __attribute__((coop_mat(memory_scope_sub_group, 8, 8, CLK_COOPERATIVE_MATRIX_B)));
typedef struct { char c; half h[64]; } S;
constant half table[256] = { 1 };
"""
KERNEL = "kernel void k(global half *p, constant half *q, local half *l, global char *b, uint n)\n"
STRIDE, POINTER, ARGUMENT = "coop-mat-target-stride", "coop-mat-target-pointer", "coop-mat-alignment"
RULES = CompileOptions(pointer_alignment=16, stride_multiple=16, device="the device under test")


def told(source: str, options: CompileOptions = RULES) -> list[Diagnostic]:
    try:
        return coopmat.compile(HEAD + source, options).diagnostics
    except CompileError as error:
        return error.diagnostics


def codes(body: str, options: CompileOptions = RULES) -> list[str]:
    return [item.code for item in told(f"{KERNEL}{{ {body} }}", options)]


@pytest.mark.parametrize(
    ("stride", "wrong"),
    [
        ("8", False),
        ("0", False),
        ("12", True),
        ("(uchar)20", True),
        ("8 * n", False),
        ("12 * n", False),
        ("8 * n + 4", True),
        ("(n << 3) - 4", True),
        ("(n << 4) + 40", False),
        ("n", False),
        ("(size_t)(n * 16 + 1) * 3", True),
        ("LD", True),
        ("odd", True),
        ("changed", False),
    ],
)
def test_strides(stride: str, wrong: bool) -> None:
    body = f"const uint LD = 12; uint odd = 8 * n + 2, changed = 12; changed++; M m = coop_mat_load(p, ROW, {stride});"
    assert codes(body) == [STRIDE] * wrong
    assert codes(body.replace("coop_mat_load(p,", "coop_mat_init(1); coop_mat_store(p, m,"), RULES) in (
        [STRIDE] * wrong,
        ["coop-mat-zero-stride"],
    )


@pytest.mark.parametrize(
    ("pointer", "code"),
    [
        ("p", ""),
        ("p + 8", ""),
        ("p + n", ""),
        ("p + 4", ARGUMENT),
        ("&p[8 * n + 1]", ARGUMENT),
        ("q + 1", ARGUMENT),
        ("moved", ARGUMENT),
        ("changed", ""),
        ("l + 1", ""),
        ("(global half *)(b + 1)", ARGUMENT),
        ("tile", ""),
        ("tile + 8 * n", ""),
        ("tile + 8 * n + 1", POINTER),
        ("grid[n]", ""),
        ("grid[2 * n + 1]", POINTER),
        ("grid[2 * n]", ""),
        ("s.h", POINTER),
        ("table + 2", POINTER),
        ("table + 16", ""),
        ("(local half *)(local char *)tile + 7", POINTER),
        ("(n ? tile : tile + 1)", ""),
    ],
)
def test_addresses(pointer: str, code: str) -> None:
    body = "local half tile[512], grid[4][12]; local S s; global half *moved = p + 1, *changed = p + 1; changed += 7;"
    assert codes(f"{body} M m = coop_mat_load({pointer}, ROW, (size_t)16);") == [code] * bool(code)


def test_what_no_instruction_reads_lies_anywhere() -> None:
    body = "half own[100]; M m = coop_mat_load(own + 1, ROW, (size_t)9); "
    body += "m = coop_mat_load_checked(p + 1, ROW, (size_t)9, n, n, n, n); m = coop_mat_load(p + 1, PACKED, (size_t)9);"
    assert codes(body) == []


def test_components_that_are_larger_than_what_a_device_wants() -> None:
    body = "M m = coop_mat_load((global half *)(b + 1), ROW, (size_t)9);"
    assert codes(body, CompileOptions(pointer_alignment=1, stride_multiple=1)) == [ARGUMENT]
    assert codes(body, CompileOptions(stride_multiple=4)) == [ARGUMENT, STRIDE]


@pytest.mark.parametrize("options", [CompileOptions(), CompileOptions(matrices="one", pointer_alignment=16)])
def test_only_where_a_device_is_known_and_its_instructions_are_used(options: CompileOptions) -> None:
    assert codes("M m = coop_mat_load(p + 1, ROW, (size_t)9);", options) == []


def test_functions_count_where_a_kernel_calls_them() -> None:
    function = "void f(global half *p) { M m = coop_mat_load(p + 1, ROW, (size_t)9); }\n"
    assert [item.code for item in told(f"{function}{KERNEL}{{ f(p); }}")] == [STRIDE]
    assert told(f"{function}{KERNEL}{{ }}") == []


def test_messages_say_what_is_wanted() -> None:
    stride, pointer = told(
        f"{KERNEL}{{ local half t[99]; M m = coop_mat_load(p, ROW, 12); m = coop_mat_load(t + 3, ROW, n); }}"
    )
    wanted = (
        "a stride of 12 components (24 bytes) is not a multiple of 16 bytes (8 components), which the device under test"
    )
    assert stride.message == f"{wanted} requires"
    assert stride.notes[0].message == "the next larger multiple: 16 components"
    assert pointer.message.startswith("misaligned matrix: its address is 6 modulo 16")


def test_variables_that_lead_back_to_themselves_and_long_chains() -> None:
    chain = "".join(f"uint v{i + 1} = v{i} + v{i};" for i in range(60))
    assert (
        codes(f"uint x = x + 1; M m = coop_mat_load(p, ROW, x); uint v0 = n; {chain} m = coop_mat_load(p, ROW, v60);")
        == []
    )


def test_constant_strides_of_ir_and_spirv() -> None:
    source = (
        HEAD + KERNEL + "{ M m = coop_mat_load(p, ROW, (size_t)12); coop_mat_store((global half2 *)p, m, ROW, 6); }"
    )
    module = coopmat.compile(source, ["-w"])
    for text, language in ((module.llvm_ir, "ir"), (module.spirv, "spv")):
        with pytest.raises(CompileError) as caught:
            coopmat.compile(text, RULES, language=language)
        # SPIR-V has no lines to tell the two apart by.
        found = [item.code for item in caught.value.diagnostics]
        assert found == [STRIDE] * (2 if language == "ir" else 1)
        coopmat.compile(text, ["--matrix-stride-multiple", "8"], language=language)


BYTES = "typedef char C __attribute__((coop_mat(memory_scope_sub_group, {}, CLK_COOPERATIVE_MATRIX_B)));\n"


@pytest.mark.parametrize(
    ("shape", "layout", "stride", "wrong"),
    [
        *(("8, 8", "ROW", "8", False), ("8, 8", "ROW", "12", True), ("8, 8", "ROW", "0", False)),
        *(("8, 16", "ROW", "24", True), ("8, 16", "ROW", "32", False), ("8, 32", "ROW", "24", True)),
        *(("8, 16", "COLUMN", "24", False), ("16, 8", "COLUMN", "24", True), ("16, 8", "ROW", "24", False)),
    ],
)
def test_vulkan_requires_the_alignment_of_a_line(shape: str, layout: str, stride: str, wrong: bool) -> None:
    source = BYTES.format(shape) + f"kernel void k(global char *p) {{ C m = coop_mat_load(p, {layout}, {stride}); }}"
    source = source.replace("ROW", "CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR")
    source = source.replace("COLUMN,", "CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR,")
    assert [d.code for d in told(source, CompileOptions(target_env="vulkan1.3"))] == [STRIDE] * wrong


def test_vulkan_requires_the_alignment_of_a_line_at_addresses() -> None:
    source = BYTES.format("8, 8") + "kernel void k(global char *p) { C m = coop_mat_load(p + %d, ROW, 8); }"
    options = CompileOptions(target_env="vulkan1.3")
    assert told(source % 8, options) == []
    assert [d.code for d in told(source % 4, options)] == [ARGUMENT]
