"""Scopes, orders and memory classes of atomics and fences in the text of modules, and what needs no atomic at all."""

from __future__ import annotations

import re

import pytest

import coopmat
from coopmat.spirv.module import OP, Module

PARAMETERS = (
    "global atomic_int *g, local atomic_uint *l, global atomic_double *d, global int *o, int e, memory_order order"
)
# Scope, then semantics: the order's bit, and 0x100 for local, 0x200 for global memory.
TEXTS = {
    "atomic_fetch_add(g, 1)": "IAdd 1 0x210",
    "atomic_fetch_add_explicit(g, 1, memory_order_relaxed)": "IAdd 1 0",
    "atomic_fetch_sub_explicit(l, 1, memory_order_release, memory_scope_work_group)": "ISub 2 0x104",
    "atomic_fetch_max_explicit(l, 1, memory_order_acq_rel, memory_scope_sub_group)": "UMax 3 0x108",
    "atomic_fetch_min_explicit(g, 1, memory_order_acquire, memory_scope_all_svm_devices)": "SMin 0 0x202",
    "atomic_fetch_max(d, 1)": "FMaxEXT 1 0x210",
    "atomic_load_explicit(l, memory_order_acquire)": "Load 1 0x102",
    "atomic_load_explicit(g, memory_order_acq_rel)": "Load 1 0x210",
    "atomic_store_explicit(g, 1, memory_order_release)": "Store 1 0x204",
    "atomic_store_explicit(g, 1, memory_order_acquire)": "Store 1 0x210",
    "atomic_exchange(d, 1)": "Exchange 1 0x210",
    "atomic_exchange_explicit(g, 1, order)": "Exchange 1 0x210",
    "atomic_exchange_explicit(g, 1, memory_order_relaxed, e)": "Exchange 0 0",
    "atomic_compare_exchange_strong(g, &e, 1)": "CompareExchange 1 0x210 0x210",
    # Failing releases nothing, and succeeding is as strong.
    "atomic_compare_exchange_weak_explicit(g, &e, 1, memory_order_release, memory_order_acquire)": (
        "CompareExchange 1 0x208 0x202"
    ),
    "atomic_compare_exchange_weak_explicit(g, &e, 1, memory_order_relaxed, memory_order_release)": (
        "CompareExchange 1 0 0"
    ),
    "atomic_compare_exchange_weak_explicit(g, &e, 1, memory_order_acquire, memory_order_seq_cst)": (
        "CompareExchange 1 0x210 0x210"
    ),
    "atomic_add(o, 1)": "IAdd 1 0",
    "atomic_dec(o)": "ISub 1 0",
    "atomic_cmpxchg(o, 1, 2)": "CompareExchange 1 0 0",
    # The address space shows.
    "atomic_fetch_or((atomic_int *)g, 1)": "Or 1 0x210",
}


@pytest.mark.parametrize("call", TEXTS)
def test_scopes_and_semantics_are_constants(call: str) -> None:
    module = coopmat.compile(
        f"kernel void k({PARAMETERS.replace('memory_order', 'int')}) {{ {call}; }}", "--no-validate -w"
    )
    name, *numbers = TEXTS[call].split()
    found = re.findall(
        r"call spir_func \S+ @\"?_Z\d+__spirv_Atomic(\w+?)P\w+\"?\(ptr\S* \S+ \S+ (.*)\)", module.llvm_ir
    )
    assert len(found) == 1, module.llvm_ir
    constants = [int(n) for n in re.findall(r"i32 (\d+)", found[0][1])][: len(numbers)]
    assert (found[0][0], constants) == (name, [int(n, 0) for n in numbers])


FENCES = {
    "atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group)": [2, 0x108],
    "atomic_work_item_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device)": [
        *(1, 0x310)
    ],
    "atomic_work_item_fence(CLK_IMAGE_MEM_FENCE, memory_order_acquire, memory_scope_work_item)": [4, 0x802],
    "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_relaxed, memory_scope_device)": None,
    "write_mem_fence(CLK_GLOBAL_MEM_FENCE)": [2, 0x204],
}


@pytest.mark.parametrize("call", FENCES)
def test_fences(call: str) -> None:
    text = coopmat.compile(f"kernel void k(global int *o) {{ {call}; }}", "--no-validate").llvm_ir
    found = re.findall(r"call spir_func void @\"?_Z21__spirv_MemoryBarrierjj\"?\(i32 (\d+), i32 (\d+)\)", text)
    wanted = FENCES[call]
    assert [[int(n) for n in pair] for pair in found] == ([] if wanted is None else [wanted])


def opcodes(source: str, options: str = "") -> list[str]:
    return [item.name for item in Module.parse(coopmat.compile(source, options).spirv).instructions]


def test_private_objects_are_read_and_written_plainly() -> None:
    source = """kernel void k(global int *o) {
        atomic_int a; atomic_flag f;
        atomic_init(&a, 3); atomic_flag_clear(&f);
        int e = 4;
        o[0] = atomic_fetch_min(&a, 2) + atomic_compare_exchange_strong(&a, &e, 1) + atomic_flag_test_and_set(&f);
    }"""
    assert not [name for name in opcodes(source) if name.startswith("OpAtomic")]


def test_generic_pointers_are_asked_for_global_memory_first() -> None:
    source = """int f(atomic_int *p) { return atomic_fetch_add(p, 1); }
    kernel void k(global atomic_int *g) { f(g); }"""
    names = opcodes(source)
    assert names.count("OpAtomicIAdd") == 2 and names.count("OpGenericCastToPtrExplicit") == 1
    explicit = coopmat.compile(source, "--no-validate").llvm_ir
    assert "GenericCastToPtrExplicit_ToGlobal" in explicit and "GenericCastToPtrExplicit_ToLocal" not in explicit


def test_float_arithmetic_declares_its_extension_and_nothing_else_does() -> None:
    text = "kernel void k(global atomic_float *f, global atomic_int *g) {{ {}; }}"
    assert "OpExtension" in opcodes(text.format("atomic_fetch_add(f, 1.0f)"))
    assert "OpExtension" not in opcodes(text.format("atomic_fetch_add(g, 1); atomic_exchange(f, 1.0f)"))


def test_64_bit_atomics_as_spirv_1_2() -> None:
    assert "OpAtomicIAdd" in opcodes("kernel void k(global long *g) { atom_inc(g); }", "--spirv-version 1.2")


def test_copies_have_a_stride_of_64_bits_and_null_events_no_operand() -> None:
    source = """kernel void k(global int *g) {
        local int l[4];
        event_t e = 0;
        for (int i = 0; i < g[0]; i++) e = async_work_group_copy(l, g, 4, e);
        wait_group_events(1, &e);
    }"""
    for options in ("--matrices native", "--matrices one"):
        module = Module.parse(coopmat.compile(source, options).spirv)
        definitions = module.definitions()
        (copy,) = (item for item in module.instructions if item.opcode == OP["OpGroupAsyncCopy"])
        width = definitions[definitions[copy.operands[4]].result_type or 0]
        assert width.operands == (64, 0)
        nulls = [item for item in module.instructions if item.opcode == OP["OpConstantNull"]]
        assert nulls and not any(item.operands for item in nulls)
