"""Every overload of the table through LLVM's SPIR-V backend: nothing left to import, and spirv-val content."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product

import pytest
from builtin_modules import HERE, Function, new_module, one_function_each, supported_names
from llvmlite import ir
from repeats import slow_where

from coopmat.diagnostics import InternalError
from coopmat.frontend import builtins as table
from coopmat.frontend.builtins import Overload
from coopmat.frontend.storage_types import is_storage_vector
from coopmat.frontend.typed import BuiltinCall
from coopmat.frontend.types import FLOAT, INT, UINT, VOID, Type, is_bits
from coopmat.ir.lower.builtins import lower_builtin
from coopmat.ir.lower.synchronization import constant_value
from coopmat.ir.type_map import I32
from coopmat.spirv.emit import EmitOptions, emit
from coopmat.spirv.legalize import legalize
from coopmat.spirv.module import Module, decode_string
from coopmat.spirv.tools import target_env_for, validate

LINKAGE_ATTRIBUTES, BUILT_IN, IMPORT = 41, 11, 1


def imports(spirv: bytes) -> list[str]:
    """What is imported, the BuiltIn variables aside."""
    decorations = [i.operands for i in Module.parse(spirv).instructions if i.name == "OpDecorate"]
    built_in = {operands[0] for operands in decorations if operands[1] == BUILT_IN}
    found = []
    for target, decoration, *literals in decorations:
        if decoration == LINKAGE_ATTRIBUTES and target not in built_in:
            name, words = decode_string(literals)
            if literals[words] == IMPORT:
                found.append(name)
    return found


def overloads_of(wanted: Callable[[str], object]) -> list[Overload]:
    rows = (table.find(name) for name in supported_names() if wanted(name))
    return [
        overload
        for row in rows
        if row is not None
        for overload in table.overloads(row)
        # Those of storage types are the library's; a pass replaces those of their vectors.
        if not any(is_bits(t) or is_storage_vector(t) for t in (overload.result, *overload.parameters))
    ]


FAMILIES: dict[str, Callable[[str], object]] = {
    "conversions to integers": re.compile(r"convert_u?(char|short|int|long)").match,
    "conversions to floats": re.compile(r"convert_(half|float|double)").match,
    "loads, stores, shuffles": re.compile("(vload|vstore|shuffle)").match,
    "the rest": lambda name: not re.match("(convert_|vload|vstore|shuffle)", name),
}


@pytest.mark.parametrize(
    ("family", "version"), slow_where(lambda _, version: version != "1.4", product(FAMILIES, ("1.2", "1.4")))
)
def test_every_overload_becomes_valid_spirv(family: str, version: str) -> None:
    overloads = overloads_of(FAMILIES[family])
    overloads = [o for o in overloads if o.row.spirv <= version]
    assert len(overloads) > 900
    for start in range(0, len(overloads), 1000):
        some = overloads[start : start + 1000]
        extensions = tuple(sorted({name for o in some for name in o.row.extensions.split()}))
        emitted = emit(one_function_each(some, version), EmitOptions(version, extensions)).spirv
        assert emitted is not None
        spirv = legalize(emitted)
        assert imports(spirv) == []
        assert validate(spirv, target_env_for(version, spirv)) is None


def test_a_misspelled_builtin_would_be_seen() -> None:
    call = "define spir_func void @f() {\n call spir_func void @_Z4snipv()\n ret void\n}\n"
    spirv = emit("declare spir_func void @_Z4snipv()\n" + call)
    assert spirv.spirv is not None and imports(spirv.spirv) == ["_Z4snipv"]


def barrier_text(name: str, *arguments: ir.Value) -> str:
    module = new_module()
    function = Function(module, "f", VOID, [UINT])
    if not arguments:
        arguments = (function.function.args[0],)
    types: list[Type] = [UINT, *[INT] * (len(arguments) - 1)]
    found = table.resolve(name, types)
    assert isinstance(found, Overload)
    assert function.builtin(found, arguments) is None
    function.builder.ret_void()
    return module.finish()


def i32(value: int) -> ir.Constant:
    return ir.Constant(I32, value)


BARRIERS = {
    # local memory, sequentially consistent: 0x100 | 0x10
    "i32 2, i32 2, i32 272": ("barrier", (i32(1),)),
    # local and global memory
    "i32 2, i32 2, i32 784": ("work_group_barrier", (i32(3),)),
    # memory_scope_device is SPIR-V's scope 1; global memory
    "i32 2, i32 1, i32 528": ("work_group_barrier", (i32(2), i32(2))),
    "i32 3, i32 3, i32 272": ("sub_group_barrier", (i32(1),)),
    # memory_scope_all_svm_devices, image memory
    "i32 3, i32 0, i32 2064": ("sub_group_barrier", (i32(4), i32(3))),
    # acquire-release, acquire, release
    "i32 2, i32 264": ("mem_fence", (i32(1),)),
    "i32 2, i32 514": ("read_mem_fence", (i32(2),)),
    "i32 2, i32 772": ("write_mem_fence", (i32(3),)),
}


@pytest.mark.parametrize("expected", BARRIERS)
def test_barriers_and_fences_have_constant_scopes_and_semantics(expected: str) -> None:
    name, arguments = BARRIERS[expected]
    function = "_Z21__spirv_MemoryBarrierjj" if "fence" in name else "_Z22__spirv_ControlBarrierjjj"
    assert f'call spir_func void @"{function}"({expected})' in barrier_text(name, *arguments)


def test_flags_that_are_no_constant_are_computed() -> None:
    spirv = emit(barrier_text("barrier")).spirv
    assert spirv is not None and imports(spirv) == []
    assert validate(spirv, "spv1.4") is None


def test_constants_are_seen_through_operators() -> None:
    function = Function(new_module(), "f", VOID, [UINT])
    builder, parameter = function.builder, function.function.args[0]
    assert constant_value(builder.or_(i32(1), builder.add(i32(1), i32(1)))) == 3
    assert constant_value(builder.trunc(ir.Constant(ir.IntType(64), 6), I32)) == 6
    assert constant_value(builder.or_(parameter, i32(1))) is None


def test_pure_and_convergent_reach_the_declaration() -> None:
    def declaration(name: str, *types: Type) -> str:
        found = table.resolve(name, types)
        assert isinstance(found, Overload)
        return next(line for line in one_function_each([found]).splitlines() if line.startswith("declare"))

    assert "readnone" in declaration("fma", FLOAT, FLOAT, FLOAT)
    assert "convergent" not in declaration("fma", FLOAT, FLOAT, FLOAT)
    assert "convergent" in declaration("sub_group_reduce_add", FLOAT)
    assert "readnone" not in declaration("sub_group_reduce_add", FLOAT)


def test_a_row_without_lowering_is_an_internal_error() -> None:
    function = Function(new_module(), "f", VOID, [])
    with pytest.raises(InternalError, match="coop_mat_load"):
        lower_builtin(function, BuiltinCall(HERE, FLOAT, "coop_mat_load", "analysis", (), []), [])
