"""What a lowered module says that it needs."""

from __future__ import annotations

import re

import pytest

import coopmat
from coopmat.spirv.tools import assemble

# 16 columns, held as vectors of 16; the library has no part in the length of a matrix.
LENGTH = """
OpCapability Kernel
OpCapability Addresses
OpCapability CooperativeMatrixKHR
OpExtension "SPV_KHR_cooperative_matrix"
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %kernel "test"
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%use = OpConstant %uint 0
%scope = OpConstant %uint 3
%size = OpConstant %uint 16
%matrix = OpTypeCooperativeMatrixKHR %uint %scope %size %size %use
%pointer = OpTypePointer CrossWorkgroup %uint
%variables = OpTypePointer Function %matrix
%signature = OpTypeFunction %void %pointer
%kernel = OpFunction %void None %signature
%out = OpFunctionParameter %pointer
%entry = OpLabel
%unused = OpVariable %variables Function
%length = OpCooperativeMatrixLengthKHR %uint %matrix
OpStore %out %length Aligned 4
OpReturn
OpFunctionEnd
"""


@pytest.mark.parametrize("route", ["one", "lanes", "scratch"])
def test_storage_of_vectors_without_the_library(route: str) -> None:
    options = ["--matrices", route] + (["--sub-group-size", "8"] if route != "one" else [])
    module = coopmat.compile(assemble(LENGTH, "spv1.4"), options, name="length.spv", language="spv")
    module.validate()
    vectors = re.findall(r"OpTypeVector %\w+ (8|16)\b", module.spirv_text)
    assert ("OpCapability Vector16" in module.spirv_text) == bool(vectors) == (route == "one")
    assert "CooperativeMatrix" not in module.spirv_text


@pytest.mark.parametrize("version", [None, "1.3", "1.6"])
def test_text_is_assembled_for_the_version_that_is_asked_for(version: str | None) -> None:
    options = [] if version is None else ["--spirv-version", version]
    binary = coopmat.compile(LENGTH, options, name="length.spvasm", language="spv").spirv
    assert f"{binary[6]}.{binary[5]}" == (version or "1.4")


def test_text_that_the_version_lacks_is_told_with_it() -> None:
    text = LENGTH.replace("OpReturn", "%same = OpCopyLogical %uint %length\nOpReturn")
    with pytest.raises(coopmat.CompileError, match=r"not the text of SPIR-V 1\.2") as caught:
        coopmat.compile(text, ["--spirv-version", "1.2"], name="length.spvasm", language="spv")
    assert "OpCopyLogical" in str(caught.value.diagnostics[0].notes)
