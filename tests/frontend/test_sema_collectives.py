"""What subgroup and work-group functions ask of a program: extensions, versions, constant clusters."""

from __future__ import annotations

import pytest

import coopmat
from coopmat.diagnostics import CompileError

REFUSED = {
    "sub_group_clustered_reduce_add(i, n)": ("", "must be a constant power of two"),
    "sub_group_clustered_reduce_add(i, 3)": ("", "must be a constant power of two"),
    "sub_group_clustered_rotate(i, 1, 0)": ("", "must be a constant power of two"),
    "sub_group_elect()": ("-cl-ext=-cl_khr_subgroup_non_uniform_vote", "needs cl_khr_subgroup_non_uniform_vote"),
    "get_sub_group_size()": ("-cl-ext=-cl_khr_subgroups", "needs cl_khr_subgroups, which is off"),
    "sub_group_broadcast((int2)(i), 0).x": (
        "-cl-ext=-cl_khr_subgroup_extended_types",
        "needs cl_khr_subgroup_extended",
    ),
    "dot((char4)(1), (char4)(2))": (
        "-cl-ext=-cl_khr_integer_dot_product",
        "needs __opencl_c_integer_dot_product_input",
    ),
    "bit_reverse(i)": ("-cl-ext=-cl_khr_extended_bit_ops", "needs cl_khr_extended_bit_ops"),
    "work_group_all(i)": ("-cl-std=CL1.2", "needs __opencl_c_work_group_collective_functions"),
    "work_group_reduce_mul(i)": (
        "-cl-ext=-cl_khr_work_group_uniform_arithmetic",
        "needs cl_khr_work_group_uniform_arithmetic",
    ),
}


def compiled(expression: str, *options: str) -> coopmat.Module:
    source = f"kernel void k(global int *o, int i, uint n) {{ o[0] = {expression}; }}"
    return coopmat.compile(source, [option for option in options if option])


@pytest.mark.parametrize("expression", REFUSED)
def test_what_is_refused(expression: str) -> None:
    option, message = REFUSED[expression]
    with pytest.raises(CompileError) as caught:
        compiled(expression, option).llvm_ir  # noqa: B018
    assert message in str(caught.value)


@pytest.mark.parametrize("size", ["1", "1u << 3", "sizeof(int4)", "get_size"])
def test_sizes_of_clusters_are_constant_expressions(size: str) -> None:
    text = (
        f"enum {{ get_size = 8 }}; kernel void k(global int *o) {{ *o = sub_group_clustered_reduce_add(*o, {size}); }}"
    )
    assert "sub_group_clustered_reduce_add" in coopmat.compile(text).llvm_ir


def test_non_uniform_functions_need_spirv_1_3() -> None:
    with pytest.raises(CompileError, match=r"'sub_group_elect' needs SPIR-V 1\.3, and 1\.2 was asked for"):
        compiled("sub_group_elect()", "--spirv-version=1.2").llvm_ir  # noqa: B018
    assert compiled("sub_group_elect()", "--spirv-version=1.2", "--matrices", "scratch").spirv
    assert compiled("sub_group_reduce_add(i)", "--spirv-version=1.2").spirv


def test_extensions_of_spirv_are_asked_for_where_they_are_used() -> None:
    assert "SPV_KHR_subgroup_rotate" in compiled("sub_group_rotate(i, 1)").spirv_text
    assert "SPV_INTEL_subgroups" in compiled("intel_sub_group_shuffle(i, 1)").spirv_text
    assert "OpExtension" not in compiled("sub_group_shuffle(i, 1) + dot((char4)(1), (char4)(2))").spirv_text
