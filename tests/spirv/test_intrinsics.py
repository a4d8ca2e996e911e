"""Intrinsics that the backend would compile wrongly, and types of variables that it would deduce wrongly."""

from __future__ import annotations

import itertools
import re

import pytest

from coopmat.spirv import tools
from coopmat.spirv.emit import EmitOptions, emit

# The variable's type -> its beginning in the names of spirv-dis.
TYPES = {
    "[3 x i64]": "arr_ulong",
    "[24 x i8]": "arr_uchar",
    "[3 x ptr]": "arr__ptr",
    "[3 x ptr addrspace(1)]": "arr__ptr",
    "[2 x [2 x ptr addrspace(1)]]": "arr__arr__ptr",
    "{ i64, ptr addrspace(1) }": "struct",
    "{ ptr addrspace(1), i64 }": "struct",
    "[2 x { ptr addrspace(1), i64 }]": "arr__struct",
}
ACCESSES = {
    "stored": "store ptr addrspace(1) %g, ptr %v",
    "loaded": "%a = load ptr addrspace(1), ptr %v\n store i8 1, ptr addrspace(1) %a",
    "indexed": "%b = getelementptr inbounds ptr addrspace(1), ptr %v, i64 %n\n store ptr addrspace(1) %g, ptr %b",
    "loaded by index": """%c = getelementptr inbounds ptr addrspace(1), ptr %v, i64 %n
      %d = load ptr addrspace(1), ptr %c
      store i16 1, ptr addrspace(1) %d""",
    "by bytes": "%e = getelementptr inbounds i8, ptr %v, i64 8\n store ptr addrspace(1) %g, ptr %e",
    "loaded by bytes": """%f = getelementptr inbounds i8, ptr %v, i64 16
      %h = load ptr addrspace(1), ptr %f
      %i = ptrtoint ptr addrspace(1) %h to i64
      store i64 %i, ptr addrspace(1) %g""",
    "number": "store i32 1, ptr %v",
}


@pytest.mark.parametrize("kind", TYPES)
def test_variables_that_hold_pointers_keep_their_types(kind: str) -> None:
    """All pairs of accesses, each in a function of its own."""
    pairs = list(itertools.combinations(ACCESSES.values(), 2))
    functions = "".join(
        f"""
        define spir_kernel void @k{number}(ptr addrspace(1) %g, i64 %n) {{
          %v = alloca {kind}, align 16
          {first}
          {second}
          ret void
        }}
        """
        for number, (first, second) in enumerate(pairs)
    )
    spirv = emit(re.sub(r"(?m)^ *(?=define|\})", "", functions), EmitOptions()).spirv
    assert spirv is not None and tools.validate(spirv, "spv1.4") is None
    found = re.findall(r"OpVariable %_ptr_Function__(\w+) Function", tools.disassemble(spirv))
    assert len(found) == len(pairs) and all(name.startswith(TYPES[kind]) for name in found)


def _moves(*calls: str) -> str:
    body = "\n".join(f"  call void @llvm.memmove.p1.p1.i64({call}, i1 false)" for call in calls)
    return f"""
define spir_kernel void @k(ptr addrspace(1) %p, i64 %n) {{
  %q = getelementptr i8, ptr addrspace(1) %p, i64 4
{body}
  ret void
}}
declare void @llvm.memmove.p1.p1.i64(ptr addrspace(1), ptr addrspace(1), i64, i1)
"""


@pytest.mark.parametrize(
    ("call", "width", "count"),
    [
        ("ptr addrspace(1) align 4 %p, ptr addrspace(1) align 4 %q, i64 12", "uint", 3),
        ("ptr addrspace(1) noundef align 16 %p, ptr addrspace(1) align 4 dereferenceable(64) %q, i64 64", "uint", 16),
        ("ptr addrspace(1) align 8 %q, ptr addrspace(1) align 8 %p, i64 8", "ulong", 1),
        ("ptr addrspace(1) align 2 %q, ptr addrspace(1) align 4 %p, i64 7", "uchar", 7),
        ("ptr addrspace(1) %q, ptr addrspace(1) nonnull %p, i64 2", "uchar", 2),
    ],
)
def test_short_moves_load_all_before_they_store(call: str, width: str, count: int) -> None:
    spirv = emit(_moves(call), EmitOptions()).spirv
    assert spirv is not None and tools.validate(spirv, "spv1.4") is None
    text = tools.disassemble(spirv)
    assert re.findall(r"OpLoad %(\w+)|(OpStore)|(OpCopyMemory)", text) == (
        [(width, "", "")] * count + [("", "OpStore", "")] * count
    )


def test_long_moves_are_loops() -> None:
    fixed, variable = (f"ptr addrspace(1) align 4 %p, ptr addrspace(1) align 4 %q, i64 {size}" for size in ("80", "%n"))
    spirv = emit(_moves(fixed, variable), EmitOptions()).spirv
    assert spirv is not None
    text = tools.disassemble(spirv)
    assert "OpCopyMemory" not in text and text.count("OpBranchConditional") >= 2
