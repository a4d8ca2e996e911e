"""What becomes of a module where LLVM's optimisation makes types that SPIR-V lacks."""

from __future__ import annotations

import re

import pytest

from coopmat.spirv import tools
from coopmat.spirv.emit import EmitOptions, EmitResult, emit
from coopmat.spirv.llvm_text import illegal_types

# The optimiser's own way: element 4 of a <32 x i8>, of an <8 x i32>'s truncated element; then of a truncated vector's.
ELEMENT = """
define spir_kernel void @k(ptr addrspace(1) %p) {
  %v = alloca <8 x i32>
  %x = load <8 x i32>, ptr addrspace(1) %p
  store <8 x i32> %x, ptr %v
  %y = load <8 x i32>, ptr %v
  %e = extractelement <8 x i32> %y, i32 1
  %n = trunc i32 %e to i8
  store i8 %n, ptr addrspace(1) %p
  ret void
}
"""
TRUNCATED = ELEMENT.replace(
    "  %e = extractelement <8 x i32> %y, i32 1\n  %n = trunc i32 %e to i8\n",
    "  %t = trunc <8 x i32> %y to <8 x i8>\n  %n = extractelement <8 x i8> %t, i32 1\n",
)
# A byte of a vector changed through memory: an insertion into a <64 x i8>.
ODD = """
define {head} @odd(ptr addrspace(1) %p, i8 %n) {tail} {{
  %u = alloca [64 x i8], align 64
  %x = load <16 x float>, ptr addrspace(1) %p
  store <16 x float> %x, ptr %u
  %b = getelementptr i8, ptr %u, i64 7
  store i8 %n, ptr %b
  %y = load <16 x float>, ptr %u
  store <16 x float> %y, ptr addrspace(1) %p
  ret void
}}
"""
ODD_KERNEL = ODD.format(head="spir_kernel void", tail="")
# Loops and variables that only an optimised function loses.
SUM = """
define internal spir_func float @sum(ptr addrspace(1) %q) {
  %s = alloca float
  %i = alloca i64
  store float 0.0, ptr %s
  store i64 0, ptr %i
  br label %loop
loop:
  %j = load i64, ptr %i
  %e = getelementptr float, ptr addrspace(1) %q, i64 %j
  %x = load float, ptr addrspace(1) %e
  %t = load float, ptr %s
  %u = fadd float %t, %x
  store float %u, ptr %s
  %next = add i64 %j, 1
  store i64 %next, ptr %i
  %more = icmp ult i64 %next, 4
  br i1 %more, label %loop, label %end
end:
  %r = load float, ptr %s
  ret float %r
}
define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %q, i8 %n) {
  CALL
  %r = call spir_func float @sum(ptr addrspace(1) %q)
  store float %r, ptr addrspace(1) %q
  ret void
}
"""
HELPED = ODD.format(head="internal spir_func void", tail="TAIL") + SUM.replace(
    "CALL", "call spir_func void @odd(ptr addrspace(1) %p, i8 %n)"
)
BESIDE = ODD_KERNEL + SUM.replace("CALL", "")
CASES = {
    "element": ELEMENT,
    "truncated": TRUNCATED,
    "odd kernel": ODD_KERNEL,
    "beside": BESIDE,
    "helped": HELPED.replace("TAIL", ""),
    "helped, never inline": HELPED.replace("TAIL", "noinline"),
    "helped, always inline": HELPED.replace("TAIL", "alwaysinline"),
}
LEVELS = ("O1", "O2", "O3")


def _emit(text: str, passes: str) -> tuple[EmitResult, str]:
    result = emit(text, EmitOptions(passes=passes, want=frozenset({"spirv", "llvm_ir"})))  # type: ignore[arg-type]
    assert result.llvm_ir is not None
    return result, result.llvm_ir


def _body(text: str, name: str) -> str:
    found = re.search(rf"^define .*@{name}\((?:.*\n)*?}}", text, re.MULTILINE)
    assert found is not None
    return found[0]


@pytest.mark.parametrize("passes", LEVELS)
@pytest.mark.parametrize("case", CASES)
def test_valid_of_legal_types_and_without_a_trace(case: str, passes: str) -> None:
    result, text = _emit(CASES[case], passes)
    assert result.spirv is not None and tools.validate(result.spirv, "spv1.4") is None
    assert illegal_types(text) == []
    assert '@"coopmat.kept' not in text and not re.search(r"^attributes.*optnone", text, re.MULTILINE)
    assert result.passes != "inline"


@pytest.mark.parametrize("passes", LEVELS)
@pytest.mark.parametrize("case", ["element", "truncated"])
def test_elements_of_vectors_are_truncated_after_optimisation(case: str, passes: str) -> None:
    result, text = _emit(CASES[case], passes)
    assert result.passes == passes
    assert "alloca" not in text and "extractelement <8 x i" in text


@pytest.mark.parametrize("case", ["beside", "helped", "helped, never inline", "helped, always inline"])
def test_one_odd_function_costs_the_others_nothing(case: str) -> None:
    _, text = _emit(CASES[case], "O1")
    assert "alloca" in _body(text, "odd")
    kernel = _body(text, "k")
    assert "alloca" not in kernel and "br label" not in kernel
    assert kernel.count("fadd") == 4


@pytest.mark.parametrize("tail", ["", "noinline", "alwaysinline"])
def test_only_the_user_forbids_inlining(tail: str) -> None:
    _, text = _emit(HELPED.replace("TAIL", tail), "O1")
    assert bool(re.search(r"^attributes.*noinline", text, re.MULTILINE)) == (tail == "noinline")


def test_only_variables_with_pointers_are_promoted_if_others_get_odd_types() -> None:
    """SROA would make an i24 of the other three bytes of %w."""
    text = """
    define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(3) %l, i8 %n) {
      %q = alloca ptr addrspace(3)
      %w = alloca i32
      store ptr addrspace(3) %l, ptr %q
      %x = load i32, ptr addrspace(1) %p
      store i32 %x, ptr %w
      %b = getelementptr i8, ptr %w, i64 3
      store i8 %n, ptr %b
      %y = load i32, ptr %w
      %r = load ptr addrspace(3), ptr %q
      store i32 %y, ptr addrspace(3) %r
      ret void
    }
    """
    result, text = _emit(text, "vulkan")
    assert result.passes == "vulkan"
    assert re.findall(r"= alloca .*", text) == ["= alloca i32, align 4"]


# A function that LLVM does not inline, and two calls of it with the address of one local variable.
LOCAL = """
@"k.v" = internal addrspace(3) global [8 x i32] undef, align 4
define internal spir_func i32 @f(ptr addrspace(3) %p, i32 %i) noinline {
  %a = getelementptr inbounds i32, ptr addrspace(3) %p, i32 %i
  %x = load i32, ptr addrspace(3) %a
  ret i32 %x
}
define spir_kernel void @k(ptr addrspace(1) %o, i32 %n) {
  %m = add i32 %n, 1
  %a = getelementptr inbounds [8 x i32], ptr addrspace(3) @"k.v", i64 0, i64 START
  store i32 %n, ptr addrspace(3) %a
  %x = call spir_func i32 @f(ptr addrspace(3) %a, i32 %n)
  %y = call spir_func i32 @f(ptr addrspace(3) %a, i32 %m)
  %s = add i32 %x, %y
  store i32 %s, ptr addrspace(1) %o
  ret void
}
"""


@pytest.mark.parametrize("start", ["0", "2"])
def test_only_kernels_use_local_variables_by_name(start: str) -> None:
    """LLVM would use the variable in the function itself, where PoCL 7.1 reads undefined values."""
    result, text = _emit(LOCAL.replace("START", start), "O1")
    function, kernel = _body(text, "f"), _body(text, "k")
    assert "@f(ptr addrspace(3) " in function and "@k.v" not in function and "load i32" in function
    assert kernel.count("@f(ptr addrspace(3) ") == 2 and "@k.v" in kernel
    assert "coopmat.kept" not in text
    assert result.spirv is not None and tools.validate(result.spirv, "spv1.4") is None
