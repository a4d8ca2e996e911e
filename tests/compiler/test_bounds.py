"""What is small costs little: sources whose work would double, or grow by the square, with each line of them."""

from __future__ import annotations

import sys
import time

import pytest
from valid_modules import assert_valid

import coopmat


def _calls(source: str, *options: str) -> int:
    """Calls of Python functions on the way to LLVM IR: work, counted, so that a busy machine does not matter."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        coopmat.compile(source, ["-w", *options]).llvm_ir  # noqa: B018
    finally:
        sys.setprofile(before)
    return count


def _growth(make, small: int, large: int) -> float:
    """How much more work the large one is; the first compilation fills caches."""
    _calls(make(small))
    return _calls(make(large)) / _calls(make(small))


_USES = {
    "member": "kernel void k(global S *s) { s[0].m0.m1 = s[1].m1.m0; }",
    "copy": "kernel void k(global S *s) { S t = s[0]; s[1] = t; local S u; u = t; }",
    "zero": "kernel void k(global S *s) { S t = {0}; S u = {{{1}}}; s[0] = t; s[1] = u; }",
    "value": "kernel void k(S s, global ulong *b) { b[0] = sizeof(s.m0) + sizeof(S); }",
    "call": "S f(S a) { a.m0 = a.m1; return a; }\nkernel void k(global S *s) { s[0] = f(s[0]); }",
}


def _records(depth: int, member: str, use: str) -> str:
    records = [f"struct S{i} {{ struct S{i - 1} m0, m1; }};" for i in range(1, depth + 1)]
    return "\n".join([f"struct S0 {{ {member} }};", *records, f"typedef struct S{depth} S;", _USES[use], ""])


@pytest.mark.covering
@pytest.mark.parametrize("member", ["float x;", "float3 x; char y;", "", "double x; uchar y[3];"])
@pytest.mark.parametrize("use", _USES)
def test_records_of_records_are_linear(use, member):
    assert _growth(lambda depth: _records(depth, member, use), 10, 40) < 6


def test_types_inside_sizeof_are_analysed_once():
    def nested(depth: int) -> str:
        inner = "int"
        for i in range(depth):
            inner = f"struct {{ char a[sizeof({inner})]; }}" if i % 2 else f"struct {{ {inner} b; }}"
        return f"kernel void k(global ulong *a) {{ a[0] = sizeof({inner}); }}"

    assert _growth(nested, 6, 24) < 6


@pytest.mark.parametrize(
    ("operand", "size"),
    [
        ("enum { A0 = 1 }", 4),
        ("enum E { A0 = 1L << 40 }", 8),
        ("struct T { int a; }", 4),
        ("union { char a; int b[3]; }", 12),
    ],
)
def test_a_type_can_be_defined_inside_sizeof(operand, size):
    ir = coopmat.compile(f"kernel void k(global ulong *a) {{ a[0] = sizeof({operand}); }}").llvm_ir
    assert f"store i64 {size}," in ir


def _seconds(source: str) -> float:
    start = time.process_time()
    coopmat.compile(source).llvm_ir  # noqa: B018
    return time.process_time() - start


def _spliced(lines: int) -> str:
    return "kernel void k(global int *s) { int " + "a\\\n" * lines + "a = 1; s[0] = " + "a" * lines + "a; }\n"


def _strings(lines: int) -> str:
    return 'kernel void k() { printf("%d"\n' + '"a"\n' * lines + ", 1); }\n"


@pytest.mark.parametrize("make", [_spliced, _strings])
def test_names_and_strings_of_many_lines_are_linear(make):
    _seconds(make(10))
    assert _seconds(make(64_000)) / min(_seconds(make(8_000)) for _ in range(3)) < 20


_NAMED = {
    "kernel": "kernel void NAME(global int *a) { a[0] = 1; }",
    "parameters": "kernel void k(global int *NAME, int NAMEb) { NAME[0] = NAMEb; }",
    "variables": "kernel void k(global int *a) { int NAME = a[0]; int NAMEb = a[1]; NAME++; a[1] = NAME * NAMEb; }",
    "functions": "int NAME(int x) { return x; }\nint NAMEb(int x) { return 3; }\n"
    "kernel void k(global int *a) { a[0] = NAME(a[1]) + NAMEb(a[2]); }",
    "objects": "constant int NAME[] = {1, 2};\nconstant int NAMEb[] = {3, 2};\n"
    "kernel void k(global int *a) { local int NAMEc; NAMEc = 1; a[0] = NAME[a[1]] + NAMEb[a[2]] + NAMEc; }",
    "labels": "kernel void k(global int *a) { NAME: a[0]++; if (a[0] < 3) goto NAME; NAMEb: if (a[0]) goto NAMEb; }",
    "records": "struct NAME { int NAMEb; };\nkernel void k(global struct NAME *a) { a[0].NAMEb = 1; }",
}


@pytest.mark.parametrize("use", _NAMED)
@pytest.mark.parametrize("length", [999, 1016, 1024, 5000])
def test_names_may_be_longer_than_llvms(use, length):
    source = _NAMED[use].replace("NAME", "n" * length)
    module = coopmat.compile(source, ["-w", "-O0"])
    assert_valid(module)
    assert list(module.kernels) == ["n" * length if use == "kernel" else "k"]
    if use == "parameters":
        assert [parameter.name for parameter in module.kernels["k"].parameters] == ["n" * length, "n" * length + "b"]


def test_names_in_llvm_ir_may_be_longer_than_llvms():
    text = """
    define spir_kernel void @k(ptr addrspace(1) %NAME) {
    NAMEb:
      %NAMEc = load i32, ptr addrspace(1) %NAME
      %NAMEd = add i32 %NAMEc, 1
      store i32 %NAMEd, ptr addrspace(1) %NAME
      ret void
    }
    """
    assert coopmat.compile(text.replace("NAME", "n" * 5000), language="ir").spirv
