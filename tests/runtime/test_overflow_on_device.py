"""What C leaves undefined of signed arithmetic stays undefined in LLVM IR and SPIR-V, as clang has it; -fwrapv defines
it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from differential import Launch, Value, execute

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.spirv import tools

# Statements over `T x, y; T *p`, and the instructions that they become.
SIGNED = {
    "x = x + y;": ["add nsw"],
    "x = x - y;": ["sub nsw"],
    "x = x * y;": ["mul nsw"],
    "x = -y;": ["sub nsw"],
    "x++;": ["add nsw"],
    "--x;": ["add nsw"],
    "x += y; x -= y; x *= y;": ["add nsw", "sub nsw", "mul nsw"],
    "x = x << y;": ["shl"],
    "x = x / y;": ["sdiv"],
}


def _operations(source: str, *options: str) -> list[str]:
    text = coopmat.compile(source, list(options)).llvm_ir
    return re.findall(r"= ((?:add|sub|mul|shl|sdiv|udiv)(?: n[us]w)*) ", text)


def _source(kind: str, statement: str) -> str:
    return f"kernel void f(global {kind} *p, {kind} x, {kind} y) {{ {statement} *p = x; }}"


@pytest.mark.parametrize("statement", SIGNED)
@pytest.mark.parametrize("kind", ["int", "long"])
def test_overflow_of_signed_scalars_is_undefined(kind: str, statement: str) -> None:
    assert _operations(_source(kind, statement)) == SIGNED[statement]


@pytest.mark.parametrize("statement", SIGNED)
@pytest.mark.parametrize("kind", ["uint", "ulong", "int4", "long2"])
def test_unsigned_integers_and_vectors_wrap(kind: str, statement: str) -> None:
    assert not [operation for operation in _operations(_source(kind, statement)) if "w" in operation]


@pytest.mark.parametrize("kind", ["char", "short", "uchar", "ushort"])
def test_narrow_integers_are_promoted_but_not_when_they_count(kind: str) -> None:
    assert _operations(_source(kind, "x = x * y;")) == ["mul nsw"]
    assert _operations(_source(kind, "x += y;")) == ["add nsw"]
    assert _operations(_source(kind, "x++;")) == ["add"]


@pytest.mark.parametrize("statement", SIGNED)
@pytest.mark.parametrize("kind", ["int", "long", "short"])
def test_an_option_makes_overflow_wrap(kind: str, statement: str) -> None:
    assert not [op for op in _operations(_source(kind, statement), "-fwrapv") if "nsw" in op]
    again = _operations(_source(kind, statement), "-fwrapv", "-fno-wrapv")
    assert again == _operations(_source(kind, statement))


def test_wrapping_values_are_what_they_should_be(device: DeviceInfo) -> None:
    results = (
        *("a + b", "a * b", "-a + (b - b)", "a++", "a", "a--", "--a", "(a += b)", "(a -= b)", "(a *= b)"),
        "a",
    )
    body = " ".join(f"o[{at}] = {value};" for at, value in enumerate(results))
    source = f"kernel void f(global int *o, int a, int b) {{ {body} }}"
    most, least = 2**31 - 1, -(2**31)
    wanted = [least, most, -most, most, least, least, most - 1, most, most - 1, most - 1, most - 1]
    for options in (["--matrices", "one"], ["--matrices", "native"], ["--matrices", "one", "--emit-c"]):
        module = coopmat.compile(source, [*options[:2], "-fwrapv"])
        program = module.opencl_c if "--emit-c" in options else module.spirv
        arguments = [np.zeros(len(results), np.int32), *(Value(np.array(x, np.int32)) for x in (most, 1))]
        (result,) = execute(device, program, [Launch("f", arguments)])
        assert result[0].tolist() == wanted


def test_components_of_matrices_wrap_on_every_route() -> None:
    matrix = (
        "__attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 4, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)))"
    )
    source = f"""
    typedef int I {matrix};
    kernel void f(global int *p) {{
        I a = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 4);
        a = a + a * a - -a;
        coop_mat_store(p, a * 7, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 4);
    }}
    """
    for route in ("one", "lanes", "scratch"):
        text = coopmat.compile(source, ["--matrices", route]).llvm_ir
        bodies = re.findall(r"^define [^\n]*@\"?cm_(?:add|sub|mul|scalar_mul|negate)\w*.*?^}", text, re.M | re.S)
        assert len(bodies) >= 4 and not any("nsw" in body for body in bodies), route


def test_the_decorations_leave_and_their_extension_is_named_only_where_it_must_be() -> None:
    source = "kernel void f(global int *p, int x, int y) { *p = x + y; }"
    for version, named in (("1.2", True), ("1.3", True), ("1.4", False), ("1.6", False)):
        text = tools.disassemble(coopmat.compile(source, ["--spirv-version", version]).spirv)
        assert text.count("NoSignedWrap") == 1
        assert ('OpExtension "SPV_KHR_no_integer_wrap_decoration"' in text) is named


@pytest.mark.parametrize("matrices", ["native", "one", "scratch"])
def test_flags_of_ir_that_is_read_stay(matrices: str) -> None:
    ir = """
    define spir_kernel void @f(ptr addrspace(1) %p, i32 %n) {
      %a = add nsw i32 %n, 1
      %b = mul nuw i32 %a, 3
      %c = sub nuw nsw i32 %b, %n
      store i32 %c, ptr addrspace(1) %p
      ret void
    }
    """
    text = tools.disassemble(coopmat.compile(ir, ["--matrices", matrices, "-O0"], language="ir").spirv)
    assert (text.count("NoSignedWrap"), text.count("NoUnsignedWrap")) == (2, 2)


def test_opencl_c_that_wraps_says_so() -> None:
    source = _source("int", "x = x + y; x -= y; x++; y = -x; x = y * x;")
    plain = coopmat.compile(source, ["--matrices", "one"]).opencl_c
    assert "uint" not in plain and "x + y" in plain
    wrapping = coopmat.compile(source, ["--matrices", "one", "-fwrapv"]).opencl_c
    assert wrapping.count("uint") + wrapping.count("u;") >= 4 and "x + y" not in wrapping


def test_constants_fold_as_they_did() -> None:
    text = coopmat.compile("kernel void f(global int *p) { *p = 3 + 4 * -2; }", ["-fwrapv"]).llvm_ir
    assert "store i32 -5" in text


def test_trees_of_matrix_types_wrap() -> None:
    source = """
    typedef int m2 __attribute__((matrix_type(2, 2)));
    kernel void f(global m2 *p) { *p = *p * *p + *p - *p * 3; }
    """
    for options in ([], ["--matrices", "one"]):
        text = coopmat.compile(source, options).llvm_ir
        arithmetic = re.findall(r"= (?:add|sub|mul) .*<?\d* ?x? ?i32", text)
        assert arithmetic and not [line for line in arithmetic if "nsw" in line]
