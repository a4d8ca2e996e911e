"""Loops and guards that a device's compiler gets wrong are written in other words, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

import coopmat
from coopmat.faults import avoid_device_faults
from coopmat.spirv import tools
from coopmat.spirv.module import Module


def _assembly(body: str, parameters: str = "uint n", options: tuple[str, ...] = ()) -> str:
    source = f"kernel void f(global const float *a, global float *o, {parameters}) {{ float s = 0; {body} o[0] = s; }}"
    return tools.disassemble(coopmat.compile(source, ["-w", *options]).spirv)


@pytest.mark.parametrize("options", [(), ("--matrices", "one"), ("-O0",), ("--matrices", "one", "-O2")])
@pytest.mark.parametrize(
    "loop",
    [
        "for (uint k = 0; k <= n; k++) s += a[k];",
        "for (uint k = 0; !(k > n); ++k) s += a[k];",
        "for (uint k = 0; n - 1 >= k; k++) s += a[k];",
        "uint k = 0; while (k <= n) { s += a[k]; k += 1; }",
        "uint k = 0; if (n) do { s += a[k]; } while (++k <= n);",
        "for (short k = 0; k < (short)n + 1; k++) s += a[k];",
        "for (uint j = 0; j < 9; j++) for (uint k = 0; k <= n; k++) s += a[k + j];",
    ],
)
def test_loops_whose_counter_may_wrap_have_hidden_starts(loop: str, options: tuple[str, ...]) -> None:
    assert "Volatile" in _assembly(loop, options=options)


@pytest.mark.parametrize("options", [(), ("--matrices", "one")])
@pytest.mark.parametrize(
    "loop",
    [
        "for (uint k = 0; k < n; k++) s += a[k];",
        "for (int k = 0; k <= (int)n; k++) s += a[k];",
        "for (uint k = 0; k <= 40; k++) s += a[k];",
        "for (uint k = 1; k <= n; k++) s += a[k];",
        "for (uint k = n; k > 0; k--) s += a[k];",
        "for (uint k = 0; k != n; k++) s += a[k];",
    ],
)
def test_other_loops_stay_as_they_are(loop: str, options: tuple[str, ...]) -> None:
    assert "Volatile" not in _assembly(loop, options=options)


def test_a_signed_counter_that_wraps_by_an_option_is_hidden() -> None:
    loop = "for (int k = 0; k <= n; k++) s += a[k];"
    assert "Volatile" not in _assembly(loop, "int n")
    assert "Volatile" in _assembly(loop, "int n", ("-fwrapv",))


IDS = "int l = get_local_id(0), g = get_group_id(0), G = get_global_id(0); "


@pytest.mark.parametrize("options", [(), ("--matrices", "one"), ("-O0",)])
@pytest.mark.parametrize(
    "test",
    [
        "39 - l >= 16 * g",
        "n - 16 * g - l > -1",
        "-l >= 16 * g - n",
        "l - 3 + 16 * g >= 20",
        "(ulong)n - get_local_id(0) >= 16ul * g",
        "16 * g + l <= n && l == 7",
        "G == 24",
        "l != 0",
        "l <= 0",
        "16 * g + l < n",
        "G > 2 && G <= 3",
        "G <= n && G >= n",
    ],
)
def test_what_is_more_than_the_order_of_an_id_is_hidden_from_guards(test: str, options: tuple[str, ...]) -> None:
    text = _assembly(f"{IDS} if ({test}) s = 1;", "int n", options)
    assert "OpBitwiseXor" in text and "Volatile" in text


@pytest.mark.parametrize("options", [(), ("--matrices", "one")])
@pytest.mark.parametrize("test", ["G < n", "l > 2", "l < 4 && G < n", "n - 16 * g > 3", "n - 1 > G"])
def test_other_guards_stay_as_they_are(test: str, options: tuple[str, ...]) -> None:
    assert "Volatile" not in _assembly(f"{IDS} if ({test}) s = 1;", "int n", options)


@pytest.mark.parametrize("options", [(), ("--matrices", "one")])
@pytest.mark.parametrize(("bound", "masked"), [("n", True), ("(ulong)(n - 1)", True), ("(uint)n", False), ("9", False)])
def test_bounds_of_ids_without_a_sign_have_no_more_bits_than_ids(
    bound: str, masked: bool, options: tuple[str, ...]
) -> None:
    text = _assembly(f"if (get_global_id(0) < {bound}) s = 1;", "int n", options)
    assert ("4611686018427387903" in text) == masked and "Volatile" not in text


@pytest.mark.parametrize("options", [(), ("--matrices", "one"), ("-O0",)])
def test_equalities_of_narrow_counters_are_hidden_where_loops_end(options: tuple[str, ...]) -> None:
    loop = "{} k = 3; do {{ s += a[k]; ++k; }} while (k != n);"
    assert "Volatile" in _assembly(loop.format("uchar"), options=options)
    assert "Volatile" in _assembly(loop.format("short"), options=options)
    if "-O0" not in options:  # What a variable holds may be an id.
        assert "Volatile" not in _assembly(loop.format("uint"), options=options)


@pytest.mark.parametrize("options", [(), ("--matrices", "one"), ("-O0",)])
@pytest.mark.parametrize("test", ["a[l] < 3", "l > 3", "a[n] < a[l]"])
def test_conditions_that_a_loop_does_not_change_are_hidden_in_it(test: str, options: tuple[str, ...]) -> None:
    loop = f"{IDS} if (a[l] > 2) for (int k = 0; k < n; k++) {{ s += a[k]; if ({test}) s += 2; }}"
    assert "OpLogicalNotEqual" in _assembly(loop, "int n", options)


@pytest.mark.parametrize("options", [(), ("--matrices", "one")])
@pytest.mark.parametrize(
    ("guard", "test"),
    [("a[l] > 2", "n < 9"), ("a[l] > 2", "a[k] > 2"), ("a[l] > 2", "a[get_group_id(0)] > 2")],
)
def test_conditions_that_differ_not_or_change_stay(guard: str, test: str, options: tuple[str, ...]) -> None:
    loop = f"{IDS} if ({guard}) for (int k = 0; k < n; k++) {{ s += a[k]; if ({test}) s += 2; }}"
    assert "OpLogicalNotEqual" not in _assembly(loop, "int n", options)


@pytest.mark.parametrize("options", [(), ("-O0",)])
def test_narrow_counters_are_hidden_where_loops_end_with_their_bounds(options: tuple[str, ...]) -> None:
    loop = "for (uchar k = 3; {}; k += 2) s += a[k];"
    for test in ("k <= n", "n - 1 >= k", "!(k > n)"):
        assert "OpBitwiseXor" in _assembly(loop.format(test), "int n", options)
    assert "OpBitwiseXor" in _assembly("for (short k = n; !(k < 0); k--) s += a[k];", "int n", options)
    assert "OpBitwiseXor" not in _assembly(loop.format("k < n"), "int n")


def test_functions_of_others_are_rewritten_once_and_stay_valid() -> None:
    body = f"{IDS} if (39 - l >= 16 * g) for (ulong k = 0; k <= n; k++) s += a[k];"
    source = f"kernel void f(global const float *a, global float *o, uint n) {{ float s = 0; {body} o[0] = s; }}"
    binary = coopmat.compile(source, ["-w"]).spirv
    again = coopmat.compile(binary, ["--matrices", "scratch"], language="spv").spirv
    module = Module.parse(again)
    before = len(module.instructions)
    avoid_device_faults(module)
    assert tools.validate(module.to_bytes(), "spv1.4") is None
    # What is hidden already has no constant start; a guard is hidden as often as it is asked for.
    assert len(module.instructions) - before <= 6


STRIDED = "for ({}) s += fabs({});"


@pytest.mark.parametrize("options", [(), ("--matrices", "one")])
@pytest.mark.parametrize(
    ("loop", "element", "hidden"),
    [
        ("int k = 0; k < n; k++", "a[2 * k]", True),
        ("long k = 0; k < n; k++", "a[3 * k + 1]", True),
        ("int k = 0; k < n; k += 2", "a[k]", True),
        ("int k = 0; k < n; k++", "as_float(((global const int *)a)[2 * k])", True),
        ("int k = 0; k < n; k++", "((global const float4 *)a)[k].y", True),
        ("int k = 0; k < n; k++", "a[k]", False),
        ("int k = 0; k < n; k++", "a[k + 1]", False),
        ("int k = 0; k < n; k++", "a[2 * k] * 2", False),
        ("int k = get_global_id(0); k < n; k++", "a[2 * k]", False),
    ],
)
def test_strided_elements_are_hidden_from_builtins(
    loop: str, element: str, hidden: bool, options: tuple[str, ...]
) -> None:
    text = _assembly(STRIDED.format(loop, element), "int n", options)
    assert ("OpBitwiseXor" in text and "Volatile" in text) == hidden


def test_kernels_in_subgroups_hide_no_elements() -> None:
    """They are vectorized over their work-items: a multiply-add of lanes would hide each component of B."""
    source = (Path(__file__).parents[2] / "kernels" / "gemm_batched.cl").read_text(encoding="utf-8")
    options = ["-DM=24", "-DN=16", "-DK=32", "--matrices"]
    text = tools.disassemble(coopmat.compile(source, [*options, "lanes"]).spirv)
    assert "fma" in text and "OpBitwiseXor" not in text


@pytest.mark.parametrize("options", [(), ("--matrices", "one"), ("-O0",)])
@pytest.mark.parametrize(
    "value",
    ["-a[n]", "a[n] * -1", "a[n] / -1.0f", "-0.0f - a[n]", "as_float(as_uint(a[n]) ^ 0x80000000)", "(-vload3(n, a)).y"],
)
def test_negations_are_hidden_beside_barriers(value: str, options: tuple[str, ...]) -> None:
    barrier = "barrier(CLK_LOCAL_MEM_FENCE);"
    text = _assembly(f"s = {value}; {barrier} if (n > 3) s += 1;", "uint n", options)
    assert "Volatile" in text and "OpFNegate" not in text
    assert "Volatile" not in _assembly(f"s = {value}; if (n > 3) s += 1;", "uint n", options)


MATRIX = """
typedef int C __attribute__((coop_mat(memory_scope_sub_group, 8, 12, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
kernel void f(global int *p, uint n)
{
    C m = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 12);
    %s
    coop_mat_store(p, m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 12);
}
"""


@pytest.mark.parametrize(
    ("body", "hidden"),
    [
        ("m = max(m, 3);", True),
        ("for (uint i = 0; i < coop_mat_length(m); i++) m[i] = max(m[i], 3);", True),
        ("for (uint i = 0; i < coop_mat_length(m); i++) m[i] = m[i] * 3;", False),
        ("for (uint i = 0; i < n; i++) m[i] = max(m[i] + 3, 3);", False),
        ("for (uint i = 1; i <= n; i++) p[i] = m[i];", False),
        ("for (uint i = 0; i <= n; i++) p[i] = m[i];", True),
    ],
)
def test_loops_over_components_of_others_are_rewritten_before_they_are_lowered(body: str, hidden: bool) -> None:
    """The device's compiler dies of some lengths where a builtin is called."""
    native = coopmat.compile(MATRIX % body, ["-w"]).spirv
    text = tools.disassemble(coopmat.compile(native, ["--matrices", "one"], language="spv").spirv)
    assert ("Volatile" in text) == hidden
    assert "Volatile" not in tools.disassemble(native)


def test_both_sides_of_an_equality_of_a_value_and_a_counter_are_hidden() -> None:
    """The device's compiler dies where one alone is."""
    function = "int g(uint f) { for (int k = 0; k < 2; k++) if (f == k) return 1; return 0; }"
    source = f"__attribute__((noinline)) {function} kernel void f(global int *o) {{ o[0] = g(o[1]); }}"
    text = tools.disassemble(coopmat.compile(source, ["-w"]).spirv)
    assert text.count("OpBitwiseXor") == 2


@pytest.mark.parametrize(("value", "is_volatile"), [("7", True), ("(uchar)n", False)])
def test_stores_to_private_memory_of_constants_are_volatile(value: str, is_volatile: bool) -> None:
    fill = "uchar t[32]; for (int i = 0; i < 32; i++) t[i] = 4;"
    assert ("Volatile" in _assembly(f"{fill} t[3] = {value}; s = t[n & 31];")) == is_volatile


@pytest.mark.parametrize(("condition", "is_filled"), [("if (n < 5)", True), ("", False)])
def test_private_memory_that_may_be_read_unwritten_is_filled(condition: str, is_filled: bool) -> None:
    code = _assembly(f"float t[8]; {condition} t[n & 3] = a[0]; s = sub_group_broadcast(t[n & 7], 1);")
    assert ("OpConstantNull %_arr" in code) == is_filled
