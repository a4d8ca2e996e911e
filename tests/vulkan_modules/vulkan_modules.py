"""Vulkan modules of short sources, for the tests of this folder."""

from __future__ import annotations

import pytest

import coopmat
from coopmat import CompileError
from coopmat.compiler import Module
from coopmat.spirv.module import Module as SpirvModule
from coopmat.spirv.tools import find_tools

TARGET = ("--target-env", "vulkan1.3", "-w")


def vulkan(source: str, *options: str) -> Module:
    """Compile a source for Vulkan; spirv-val must accept the module."""
    if find_tools() is None:
        pytest.skip("no spirv-val is installed")
    module = coopmat.compile(source, [*TARGET, *options])
    assert module.spirv
    assert module.validated
    return module


def names(module: Module) -> list[str]:
    """The names of all instructions of a module."""
    return [item.name for item in SpirvModule.parse(module.spirv).instructions]


def refusal(source: str, *options: str) -> str:
    """The message with which a source is refused."""
    with pytest.raises(CompileError) as caught:
        _ = coopmat.compile(source, [*TARGET, *options]).spirv
    return caught.value.diagnostics[-1].message
