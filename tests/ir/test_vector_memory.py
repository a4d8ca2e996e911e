"""`vloadn` and `vstoren`: accesses of LLVM's own in private memory, calls elsewhere."""

from __future__ import annotations

import re

import coopmat
from coopmat.spirv.emit import EmitOptions, emit

SOURCE = """
kernel void k(global float *o, const global float *a, uint n) {
    float m[23];
    vstore4(vload4(n, a), 1, m + 1);
    vstore3(vload3(0, a), 5, m);
    vstore4(vload4(1, m + 1), 0, o);
    vstore3(vload3(5, m), 2, o);
}
"""


def test_private_memory_is_accessed_by_instructions() -> None:
    ir = coopmat.compile(SOURCE).llvm_ir
    assert len(re.findall(r"load <4 x float>, ptr %\S+, align 4", ir)) == 1
    assert len(re.findall(r"store <4 x float> %\S+, ptr %\S+, align 4", ir)) == 1
    # A vector of three would reach into what lies behind it.
    assert "load <3 x float>" not in ir and "store <3 x float>" not in ir
    assert len(re.findall(r"call spir_func <\d x float> @\"_Z6vload\dmPU3AS1Kf\"", ir)) == 2
    assert not re.search(r"_Z\d+v(load|store)\dm?\w*P(K?)f\"", ir)


def test_arrays_in_private_memory_go_to_registers() -> None:
    result = emit(coopmat.compile(SOURCE).llvm_ir, EmitOptions(passes="O1", want=frozenset({"llvm_ir"})))
    assert result.llvm_ir is not None and "alloca" not in result.llvm_ir
