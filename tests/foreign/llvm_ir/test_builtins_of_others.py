"""Builtin functions of OpenCL C in IR of other compilers, by their mangled names."""

from __future__ import annotations

import numpy as np
import pytest
from builtin_modules import Function, new_module, supported_names
from differential import Launch, Value, execute
from llvmlite import ir

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.foreign.llvm_ir.builtin_functions import _OF_BACKEND
from coopmat.frontend import builtins as table
from coopmat.frontend.builtins import Overload, overloads
from coopmat.frontend.storage_types import is_storage_vector
from coopmat.frontend.types import VOID, Type, is_bits
from coopmat.ir.lower.builtin_calls import mangle


def _is_small(t: Type) -> bool:
    """Return whether a type, or that of a vector's components, is one for storage only."""
    return is_bits(t) or is_storage_vector(t)


def _rows() -> list[Overload]:
    """Return one overload of each builtin whose lowering is ours."""
    chosen = []
    for name in supported_names():
        row = table.find(name)
        assert row is not None
        if row.lowering not in _OF_BACKEND:
            possible = [
                o
                for o in overloads(row)
                if not any(is_bits(t) or is_storage_vector(t) for t in (o.result, *o.parameters))
            ]
            chosen += possible[7 * len(name) % len(possible) :][:1] if possible else []
    return chosen


def _module(chosen: list[Overload]) -> str:
    module = new_module()
    for number, overload in enumerate(chosen):
        function = Function(module, f"call{number}", overload.result, overload.parameters)
        arguments = list(function.function.args)
        power = overload.row.power_of_two
        if power is not None:
            arguments[power] = ir.Constant(arguments[power].type, 4)
        name = mangle(overload.name, overload.parameters)
        result = function.call(name, function.types.of(overload.result), arguments)
        if overload.result == VOID:
            function.builder.ret_void()
        else:
            function.builder.ret(result)
    return module.finish()


def _check(chosen: list[Overload]) -> None:
    module = coopmat.compile(_module(chosen), ["--validate", "--spirv-version=1.6"], language="ir")
    imports = [line for line in module.spirv_text.splitlines() if line.endswith(" Import")]
    assert module.spirv and imports == []


def test_a_sample_of_builtins() -> None:
    _check(_rows()[::12])


@pytest.mark.slow
def test_every_builtin() -> None:
    rows = _rows()
    for start in range(0, len(rows), 64):
        _check(rows[start : start + 64])


# As clang 19 compiles OpenCL C 3.0.
COPIES = """
@t = internal addrspace(3) global [16 x i32] undef, align 4
declare spir_func target("spirv.Event") @_Z21async_work_group_copyPU3AS3iPU3AS1Kim9ocl_event(ptr addrspace(3), ptr addrspace(1), i64, target("spirv.Event"))
declare spir_func target("spirv.Event") @_Z29async_work_group_strided_copyPU3AS3iPU3AS1Kimm9ocl_event(ptr addrspace(3), ptr addrspace(1), i64, i64, target("spirv.Event"))
declare spir_func void @_Z17wait_group_eventsiPU3AS49ocl_event(i32, ptr addrspace(4))
declare spir_func i64 @_Z12get_local_idj(i32)
define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %o, i64 %stride) {
  %e = alloca target("spirv.Event"), align 8
  %h = getelementptr inbounds i32, ptr addrspace(3) @t, i64 8
  %1 = call spir_func target("spirv.Event") @_Z21async_work_group_copyPU3AS3iPU3AS1Kim9ocl_event(ptr addrspace(3) @t, ptr addrspace(1) %p, i64 8, target("spirv.Event") zeroinitializer)
  %2 = call spir_func target("spirv.Event") @_Z29async_work_group_strided_copyPU3AS3iPU3AS1Kimm9ocl_event(ptr addrspace(3) %h, ptr addrspace(1) %p, i64 8, i64 %stride, target("spirv.Event") %1)
  store target("spirv.Event") %2, ptr %e, align 8
  %g = addrspacecast ptr %e to ptr addrspace(4)
  call spir_func void @_Z17wait_group_eventsiPU3AS49ocl_event(i32 1, ptr addrspace(4) %g)
  %i = call spir_func i64 @_Z12get_local_idj(i32 0)
  %a = getelementptr inbounds i32, ptr addrspace(3) @t, i64 %i
  %v = load i32, ptr addrspace(3) %a, align 4
  %b = getelementptr inbounds i32, ptr addrspace(1) %o, i64 %i
  store i32 %v, ptr addrspace(1) %b, align 4
  ret void
}
"""  # noqa: E501
VALUES = """
declare spir_func signext i8 @_Z20convert_char_sat_rtef(float)
declare spir_func <4 x i16> @_Z19convert_ushort4_satDv4_f(<4 x float>)
declare spir_func i32 @_Z25atomic_fetch_add_explicitPU3AS1VU7_Atomiciii12memory_order12memory_scope(ptr addrspace(1), i32, i32, i32)
declare spir_func zeroext i1 @_Z39atomic_compare_exchange_strong_explicitPU3AS1VU7_AtomiciPii12memory_orderS4_12memory_scope(ptr addrspace(1), ptr, i32, i32, i32, i32)
declare spir_func i32 @_Z10atomic_maxPU3AS1Vii(ptr addrspace(1), i32)
declare spir_func void @_Z22atomic_work_item_fencej12memory_order12memory_scope(i32, i32, i32)
define spir_kernel void @k(ptr addrspace(1) %x, ptr addrspace(1) %o, ptr addrspace(1) %u) {
  %f = load float, ptr addrspace(1) %x, align 4
  %c = call spir_func signext i8 @_Z20convert_char_sat_rtef(float %f)
  %w = sext i8 %c to i32
  %q = getelementptr inbounds i32, ptr addrspace(1) %o, i64 1
  store i32 %w, ptr addrspace(1) %q, align 4
  %v = load <4 x float>, ptr addrspace(1) %x, align 4
  %s = call spir_func <4 x i16> @_Z19convert_ushort4_satDv4_f(<4 x float> %v)
  store <4 x i16> %s, ptr addrspace(1) %u, align 8
  %1 = call spir_func i32 @_Z25atomic_fetch_add_explicitPU3AS1VU7_Atomiciii12memory_order12memory_scope(ptr addrspace(1) %o, i32 5, i32 0, i32 2)
  call spir_func void @_Z22atomic_work_item_fencej12memory_order12memory_scope(i32 2, i32 5, i32 2)
  %2 = call spir_func i32 @_Z10atomic_maxPU3AS1Vii(ptr addrspace(1) %o, i32 40)
  %e = alloca i32, align 4
  store i32 40, ptr %e, align 4
  %3 = call spir_func zeroext i1 @_Z39atomic_compare_exchange_strong_explicitPU3AS1VU7_AtomiciPii12memory_orderS4_12memory_scope(ptr addrspace(1) %o, ptr %e, i32 77, i32 5, i32 0, i32 2)
  %b = zext i1 %3 to i32
  %r = getelementptr inbounds i32, ptr addrspace(1) %o, i64 2
  store i32 %b, ptr addrspace(1) %r, align 4
  ret void
}
"""  # noqa: E501


def test_copies(device: DeviceInfo) -> None:
    numbers = np.arange(100, 200, dtype=np.int32)
    launch = Launch("k", [numbers, np.zeros(16, np.int32), Value(np.array(3, np.int64))], (16,), (16,))
    (found,) = execute(device, coopmat.compile(COPIES, language="ir").spirv, [launch])
    assert found[1].tolist() == [*range(100, 108), *range(100, 124, 3)]


def test_conversions_and_atomics(device: DeviceInfo) -> None:
    x = np.array([-200.5, 70000.0, 2.75, -1.0], np.float32)
    launch = Launch("k", [x, np.array([7, 0, 0], np.int32), np.zeros(4, np.uint16)], (1,))
    (found,) = execute(device, coopmat.compile(VALUES, language="ir").spirv, [launch])
    assert found[1].tolist() == [77, -128, 1] and found[2].tolist() == [0, 65535, 2, 0]


def test_invalid_constants() -> None:
    name = "_Z30sub_group_clustered_reduce_addij"
    text = f"declare spir_func i32 @{name}(i32, i32)\n" + (
        f"define i32 @f(i32 %i) {{\n  %x = call spir_func i32 @{name}(i32 %i, i32 3)\n  ret i32 %x\n}}\n"
    )
    with pytest.raises(coopmat.CompileError, match="argument 2 of 'sub_group_clustered_reduce_add' must be a constant"):
        _ = coopmat.compile(text, language="ir").spirv
