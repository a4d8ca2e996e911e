"""What LLVM's reader lets pass in IR, and its backend for SPIR-V does not survive, or turns into no valid module."""

from __future__ import annotations

import pytest

import coopmat
from coopmat.compiler import compile as compile_source

MATRIX = 'target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2)'
OTHER = 'target("spirv.CooperativeMatrixKHR", float, 3, 8, 4, 2)'
LOAD = "_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1filu6mf8x8C"
CALLS = f"""define spir_func {MATRIX} @f({MATRIX} %m, i32 %i) {{
  ret {MATRIX} %m
}}

define spir_kernel void @k(ptr addrspace(1) %a) {{
  %m = call spir_func {MATRIX} @{LOAD}(ptr addrspace(1) %a, i32 0, i64 8)
  %x = call spir_func RESULT @f(ARGUMENTS)
  ret void
}}

declare spir_func {MATRIX} @{LOAD}(ptr addrspace(1), i32, i64)
"""
METADATA = """define spir_kernel void @k(ptr addrspace(1) %a) !KIND !1 {
  store i32 1, ptr addrspace(1) %a
  ret void
}

!1 = NODE
!2 = !{i32 19}
!3 = !{!2}
"""
NAMED = METADATA.replace(" !KIND !1", "") + "!KIND = !{!1}\n"
OF_FUNCTIONS = {
    "kernel_arg_access_qual": ['!{!"none"}'],
    "kernel_arg_type_qual": ['!{!""}', '!{!"const, volatile"}'],
    "reqd_work_group_size": ["!{i32 8, i32 1, i32 1}"],
    "work_group_size_hint": ["!{i32 8, i32 1, i32 1}"],
    "intel_reqd_sub_group_size": ["!{i32 8}"],
    "vec_type_hint": ["!{<4 x float> undef, i32 0}", "!{i32 poison, i32 1}"],
    "spirv.ParameterDecorations": ["!{!3}"],
}
OF_MODULES = {
    "opencl.ocl.version": ["!{i32 3, i32 0}"],
    "opencl.used.extensions": ["!{}", '!{!"cl_khr_fp16", !"cl_khr_fp64"}'],
    "spirv.ExecutionMode": ["!{ptr @k, i32 31}", "!{ptr @k, i32 17, i32 8, i32 1, i32 1}"],
    "spirv.MemoryModel": ["!{i32 2, i32 2}"],
}
BAD = ["!{i32 0}", "!{}", '!{!"x"}', "!{null}", "!{i64 7, i64 7}", "!{float 1.0, i32 1, i32 1}", "!{ptr @k, !2}"]


def _compile(text: str, *options: str) -> bytes:
    return compile_source(text, options, name="in.ll", language="ir").spirv


def _call(result: str, arguments: str) -> str:
    return CALLS.replace("RESULT", result).replace("ARGUMENTS", arguments)


@pytest.mark.parametrize("route", ["native", "one", "lanes", "scratch"])
@pytest.mark.parametrize(
    ("result", "arguments"),
    [
        (MATRIX, ""),
        (MATRIX, f"{MATRIX} %m"),
        (MATRIX, f"{MATRIX} %m, i32 1, i32 2"),
        (MATRIX, f"i32 1, {MATRIX} %m"),
        (MATRIX, f"{MATRIX} %m, i64 1"),
        (MATRIX, f"{OTHER} undef, i32 1"),
        (OTHER, f"{MATRIX} %m, i32 1"),
        ("i32", f"{MATRIX} %m, i32 1"),
    ],
)
def test_a_function_is_called_as_it_is(result, arguments, route):
    with pytest.raises(coopmat.CompileError, match="@f is called as") as caught:
        _compile(_call(result, arguments), "--matrices", route)
    (found,) = caught.value.diagnostics
    assert found.code == "ir-call" and found.span is not None and found.span.line == 7


@pytest.mark.parametrize("route", ["native", "one", "lanes", "scratch"])
def test_calls_that_fit_are_as_before(route):
    assert _compile(_call(MATRIX, f"{MATRIX} %m, i32 1"), "--matrices", route)


@pytest.mark.parametrize(
    ("template", "kind", "node"),
    [
        (template, kind, node)
        for template, kinds in ((METADATA, OF_FUNCTIONS), (NAMED, OF_MODULES))
        for kind, good in kinds.items()
        for node in (*good, *BAD)
    ],
)
def test_metadata_is_taken_or_told(template, kind, node):
    text = template.replace("KIND", kind).replace("NODE", node)
    good = {**OF_FUNCTIONS, **OF_MODULES}[kind]
    try:
        assert _compile(text, "--no-validate")
    except coopmat.CompileError as error:
        (found,) = error.diagnostics
        assert found.code == "ir-metadata" and f"!{kind} holds" in found.message
        assert found.span is not None and kind in text.split("\n")[found.span.line - 1]
        assert node not in good
