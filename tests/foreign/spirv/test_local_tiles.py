"""Tiles in local memory of our own native modules, which a lowering makes more subgroups of than they were made for."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import coopmat
from coopmat.spirv.module import OP, Instruction, Module, decode_string, encode_string

SOURCE = """
typedef float T __attribute__((coop_mat(memory_scope_sub_group, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
static T turned(T m) { return coop_mat_transpose(m); }
kernel SIZE void k(global float *p) { T m = coop_mat_load(p, 0, 8); coop_mat_store(p, turned(turned(m)), 0, 8); }
kernel SIZE void plain(global float *p) { *p = 1; }
"""
ROUTES = [("one", 1), ("lanes", 4), ("scratch", 2), ("lanes", 16)]
SIXTEEN = "__attribute__((reqd_work_group_size(16, 1, 1)))"


def native(size: str = SIXTEEN) -> coopmat.Module:
    return coopmat.compile(SOURCE.replace("SIZE", size), ["--matrices", "native"])


def lowered(code: str | bytes, route: str, size: int, language: str = "spv") -> coopmat.Module:
    options = ["--matrices", route, *(["--sub-group-size", str(size)] if size > 1 else [])]
    module = coopmat.compile(code, options, language=language)
    module.validate()
    return module


def rooms(module: coopmat.Module) -> list[tuple[int, int]]:
    """Return for each variable with tiles how many its name states, and how many it has room for."""
    text = module.spirv_text
    found = re.findall(r"^%coop_mat_tiles_(\d+)_\w+ = OpVariable %_ptr_Workgroup__arr_float_uint_(\d+) ", text, re.M)
    return [(int(stated), int(count) // 64) for stated, count in found]


@pytest.mark.parametrize("language", ["spv", "ir"])
@pytest.mark.parametrize(("route", "size"), ROUTES)
def test_every_subgroup_has_a_tile(route: str, size: int, language: str) -> None:
    made = native()
    assert rooms(made) == [(2, 2)]
    module = lowered(made.spirv if language == "spv" else made.llvm_ir, route, size, language)
    count = max(2, 16 // size)
    assert rooms(module) == [(count, count)]
    most = {"k": count * size, "plain": None}
    assert {name: info.max_work_items for name, info in module.kernels.items()} == most
    assert not module.diagnostics


def test_a_kernel_of_any_size_has_a_largest_one() -> None:
    module = lowered(native("").spirv, "one", 1)
    assert rooms(module) == [(16, 16)] and module.kernels["k"].max_work_items == 16
    (warning,) = module.diagnostics
    assert "'k' has local memory for work-groups of 16 work-items; reqd_work_group_size" in warning.message
    assert not lowered(native("").spirv, "lanes", 16).diagnostics


def test_more_than_any_device_has_is_refused() -> None:
    with pytest.raises(coopmat.CompileError, match="'k' needs local memory for 1048576 subgroups, more than"):
        lowered(native(SIXTEEN.replace("16", "1048576")).spirv, "one", 1).spirv  # noqa: B018


@pytest.mark.parametrize("name", ["coop_mat_tiles.0.float", "coop_mat_tiles.7.float", "coop_mat_tiles.999999.f", ""])
def test_other_variables_are_left_as_they_are(name: str) -> None:
    """A name is no proof: tiles are as many as the name says."""
    module = Module.parse(native().spirv)
    tiles = next(i for i in module.instructions if i.name == "OpName" and "tiles." in decode_string(i.operands[1:])[0])
    at = module.instructions.index(tiles)
    renamed = replace(tiles, operands=(tiles.operands[0], *encode_string(name or "coop_mat_tiles.2.float")))
    # Either another name, or the same one twice.
    module.instructions[at : at + bool(name)] = [renamed]
    result = lowered(module.to_bytes(), "one", 1)
    assert result.kernels["k"].max_work_items == (None if name else 16)


def test_uses_of_every_kind_see_the_former_type() -> None:
    """A copy of the variable's address has the type that its users expect."""
    module = Module.parse(native().spirv)
    code = module.instructions
    tiles = next(i for i in code if i.name == "OpVariable" and i.operands[0] == 4)
    at = next(n for n, i in enumerate(code) if i.name == "OpInBoundsPtrAccessChain" and tiles.result in i.operands)
    copy = Instruction(OP["OpCopyObject"], (tiles.result or 0,), tiles.result_type, module.new_id())
    chain = replace(code[at], operands=(copy.result or 0, *code[at].operands[1:]))
    code[at : at + 1] = [copy, chain]
    assert rooms(lowered(module.to_bytes(), "one", 1)) == [(16, 16)]
