"""The lowering of SPIR-V takes time in proportion to the functions of a module, however they call one another."""

from __future__ import annotations

import pytest
from test_modules import text
from timing import processor_seconds

from coopmat.foreign.spirv import kernels_of, prepare, read
from coopmat.foreign.spirv.library import Part
from coopmat.spirv.tools import assemble

_HEAD = "%plain = OpTypeFunction %void"
_LAST = "%made = OpCompositeConstruct %C %one_f"


def _function(name: str, *body: str) -> str:
    return "\n".join(
        [f"%{name} = OpFunction %void None %plain", f"%l_{name} = OpLabel", *body, "OpReturn", "OpFunctionEnd"]
    )


def _chain(count: int) -> str:
    """Each function calls the next, the last one makes a matrix."""
    calls = [f"%c{i} = OpFunctionCall %void %f{i + 1}" for i in range(count - 1)]
    functions = [_function(f"f{i}", call) for i, call in enumerate([*calls, _LAST])]
    return text(_HEAD, _function("k", "%first = OpFunctionCall %void %f0"), *functions)


def _kernels(count: int) -> str:
    entries = "\n".join(
        [f'OpEntryPoint Kernel %f{i} "f{i}"' for i in range(count)]
        + [f"OpExecutionMode %f{i} LocalSize 8 1 1" for i in range(count)]
    )
    return text(_HEAD, *(_function(f"f{i}", _LAST.replace("made", f"made{i}")) for i in range(count)), entries=entries)


def _unused(count: int) -> str:
    """Functions that nothing calls."""
    return text(_HEAD, _function("k"), *(_function(f"f{i}") for i in range(count)))


def _seconds(binary: bytes) -> float:
    def run() -> None:
        kernels_of(read(binary))
        prepare(binary, "lanes", None)

    return processor_seconds(run)


@pytest.mark.parametrize("make", [_chain, _kernels, _unused])
def test_time_is_linear_in_functions(make):
    """9 times the functions take about 9 times as long; 81 times if the time were quadratic."""
    small, large = (assemble(make(count), "spv1.4") for count in (300, 2700))
    # In turns, since a machine with other work is at times slower than at others.
    times = [(_seconds(small), _seconds(large)) for _ in range(2)]
    assert min(time for _, time in times) / min(time for time, _ in times) < 27


def _long(count: int) -> bytes:
    """A function of so many instructions, as functions of the library on small floats have them."""
    sums = "\n".join(f"%s{i} = OpIAdd %u32 %s{i - 1} %one_u" for i in range(1, count))
    code = f"""OpCapability Kernel
    OpCapability Addresses
    OpCapability Linkage
    OpMemoryModel Physical64 OpenCL
    OpDecorate %f LinkageAttributes "f" Export
    %u32 = OpTypeInt 32 0
    %one_u = OpConstant %u32 1
    %kind = OpTypeFunction %u32
    %f = OpFunction %u32 None %kind
    %entry = OpLabel
    %s0 = OpIAdd %u32 %one_u %one_u
    {sums}
    OpReturnValue %s{count - 1}
    OpFunctionEnd"""
    return assemble(code, "spv1.2")


def test_time_is_linear_in_a_library_functions_length():
    small, large = (_long(count) for count in (1000, 9000))
    times = [tuple(processor_seconds(lambda code=code: Part(code)) for code in (small, large)) for _ in range(3)]
    assert min(time for _, time in times) / min(time for time, _ in times) < 27


def test_all_callers_use_matrices():
    prepared = prepare(assemble(_chain(50), "spv1.4"), "lanes", None)
    assert [kernel.name for kernel in prepared.kernels] == ["k"]
    # Those that have to do with matrices are told to be inlined: all but the kernel.
    assert [code[0].operands[0] for code in prepared.functions] == [0] + [1] * 50
