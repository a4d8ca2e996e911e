"""Atomic types, atomic functions, events and fences: where they may stand and what their calls mean (6.15.8 to 12)."""

from __future__ import annotations

import pytest
from sema_support import analysed, expect, good, type_of

from coopmat.features import Features
from coopmat.frontend import builtins
from coopmat.frontend.macros import option_macros
from coopmat.frontend.parse import parse
from coopmat.frontend.preprocess import PreprocessOptions, preprocess
from coopmat.frontend.sema.functions import analyse
from coopmat.frontend.types import AtomicType

ATOMICS = """volatile global atomic_int *gi, local atomic_uint *lu, global atomic_long *gl, local atomic_ulong *ll,
global atomic_float *gf, global atomic_double *gd, global atomic_flag *flag, atomic_int *any, local atomic_size_t *size,
global int *pi, local uint *pu, global float *pf, global long *pl, int e, global int *ge, event_t event"""
CALLS = {
    "atomic_load(gi)": "int",
    "atomic_load_explicit(lu, memory_order_acquire)": "uint",
    "atomic_load_explicit(any, memory_order_acquire, memory_scope_work_group)": "int",
    "atomic_store(gd, 1)": "void",
    "atomic_exchange(gf, 2)": "float",
    "atomic_fetch_add(size, 1)": "ulong",
    "atomic_fetch_add(gf, 1.5f)": "float",
    "atomic_fetch_max_explicit(gd, 1.5, memory_order_relaxed)": "double",
    "atomic_fetch_or_explicit(ll, 1, memory_order_release, memory_scope_device)": "ulong",
    "atomic_compare_exchange_strong(gi, &e, 3)": "bool",
    "atomic_compare_exchange_weak(gi, ge, 3)": "bool",
    "atomic_compare_exchange_weak(any, ge, 3)": "bool",
    "atomic_flag_test_and_set(flag)": "bool",
    "atomic_flag_clear_explicit(flag, memory_order_release, memory_scope_device)": "void",
    "atomic_init(gi, 3)": "void",
    "atomic_add(pi, 1)": "int",
    "atomic_inc(pu)": "uint",
    "atomic_xchg(pf, 1)": "float",
    "atomic_cmpxchg(pi, 1, 2)": "int",
    "atom_add(pl, 1)": "long",
    "atom_min(pi, 1)": "int",
    "atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group)": "void",
    "get_fence(any)": "uint",
    "get_fence(pi)": "uint",
    "to_global(any)": "global atomic_int *",
    "to_local(pu)": "local uint *",
    "to_private(&e)": "private int *",
    "async_work_group_copy(lf, cf, 4, 0)": "event_t",
    "async_work_group_strided_copy(lf, cf, 4, 2, event)": "event_t",
    "async_work_group_copy_2D2D(lf, 0, cf, 0, 4, 8, 8, 16, 8, 0)": "event_t",
    "wait_group_events(1, &event)": "void",
    "sizeof(*gl) + sizeof(atomic_flag)": "ulong",
}


@pytest.mark.parametrize("text", CALLS)
def test_types_of_calls(text: str) -> None:
    assert type_of(text, f"{ATOMICS}, local float3 *lf, const global float3 *cf") == CALLS[text]


def test_objects_that_are_right() -> None:
    unit = good(
        """
        global atomic_int first = ATOMIC_VAR_INIT(5);
        atomic_uint second = 6u;
        global atomic_flag flag = ATOMIC_FLAG_INIT;
        atomic_int many[4] = { 1, 2 };
        struct S { atomic_int count; atomic_flag flag; float f; };
        global struct S all[2] = { { 3 }, { 4, 0, 1.5f } };
        void f(volatile atomic_int *p) { static atomic_long own = 7; atomic_int here; atomic_init(&here, 1); }
        kernel void k(global struct S *s, local atomic_float *l)
        {
            local atomic_int total, each[8];
            local struct S in_local;
            struct S copy = *s;
            *s = copy;
            f(&total); f(each + 1); f(&in_local.count); f(&s->count); f(&many[2]);
            event_t one = 0, two[3] = { 0 };
            two[1] = one;
        }"""
    )
    assert {v.name for v in unit.variables if isinstance(v.type, AtomicType)} >= {"first", "second", "flag"}


WRONG = {
    # Values are not to be had without a function.
    "*gi §+ 1": ["invalid-operands"],
    "*gi §== *gi": ["invalid-operands"],
    "§-*gi": ["invalid-operands"],
    "§++*gi": ["atomic-assignment"],
    "§(*gi)--": ["atomic-assignment"],
    "*gi §= 1": ["atomic-assignment"],
    "*gi §+= 1": ["atomic-assignment"],
    "*gi §= *gi": ["atomic-assignment"],
    "*flag §= 0": ["atomic-assignment"],
    "e §= *gi": ["incompatible-types"],
    "if (§*gi) ;": ["invalid-condition"],
    "e = §*gi ? 1 : 2": ["invalid-condition"],
    "int x = §*gi;": ["incompatible-types"],
    "e = §(int)*gi": ["invalid-cast"],
    "e = pi[§*gi]": ["invalid-index"],
    # Objects.
    "atomic_int x = §1;": ["atomic-initializer"],
    "atomic_flag x = §ATOMIC_FLAG_INIT;": ["atomic-initializer"],
    "constant atomic_int x = §1;": ["atomic-initializer"],
    "static event_t §x;": ["event-address-space"],
    "struct { event_t §x; } s;": ["event-member"],
    "§atomic_half x;": ["not-supported"],
    # Calls.
    "§atomic_load(pi)": ["no-matching-function"],
    "§atomic_add(gi, 1)": ["no-matching-function"],
    "§atomic_add(&e, 1)": ["no-matching-function"],
    "§atomic_add(pf, 1.0f)": ["no-matching-function"],
    "§atomic_add(pl, 1)": ["no-matching-function"],
    "§atomic_store(flag, 1)": ["no-matching-function"],
    "§atomic_flag_clear(gi)": ["no-matching-function"],
    "§atomic_fetch_and(gf, 1)": ["no-matching-function"],
    "§atomic_compare_exchange_strong(gi, pf, 1)": ["no-matching-function"],
    "§atomic_fetch_add(gi)": ["no-matching-function"],
    "§atomic_load_explicit(gi, memory_order_relaxed, memory_scope_device, 0)": ["no-matching-function"],
    "§atomic_work_item_fence(CLK_LOCAL_MEM_FENCE)": ["no-matching-function"],
    "§to_global(e)": ["no-matching-function"],
    "§to_local(pi, 1)": ["argument-count"],
    "§async_work_group_copy(pu, pf, 4, 0)": ["no-matching-function"],
    "async_work_group_copy(pu, (global uint *)pi, 4, §1)": ["incompatible-types"],
    "event §= 1": ["incompatible-types"],
    "e = event §+ 1": ["invalid-operands"],
    # Orders that mean nothing there.
    "e = atomic_load_explicit(gi, §memory_order_release)": ["atomic-memory-ordering"],
    "atomic_store_explicit(gi, 1, §memory_order_acq_rel, memory_scope_device)": ["atomic-memory-ordering"],
    "atomic_flag_clear_explicit(flag, §memory_order_acquire)": ["atomic-memory-ordering"],
    "atomic_compare_exchange_weak_explicit(gi, &e, 1, memory_order_acq_rel, §memory_order_acq_rel)": [
        "atomic-memory-ordering"
    ],
}


@pytest.mark.parametrize("marked", WRONG)
def test_misuse_is_told_with_its_place(marked: str) -> None:
    before = " ".join(f"void f({ATOMICS}) {{".split())
    expect(f"{before} {marked}; }}", *WRONG[marked])


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        ("void f(§atomic_int x);", "atomic-parameter"),
        ("atomic_int §f(void);", "atomic-result"),
        ("global event_t §e;", "event-address-space"),
        ("void f(global event_t *§e);", "event-address-space"),
        ("kernel void k(event_t §e) { }", "kernel-parameter"),
        ("constant atomic_int x = §1;", "atomic-initializer"),
    ],
)
def test_misuse_at_program_scope(marked: str, code: str) -> None:
    expect(marked, code)


def test_a_mistake_says_what_to_do() -> None:
    _, diagnostics = analysed("void f(global atomic_int *p) { *p = 1; }")
    assert [note.message for note in diagnostics.items[0].notes] == ["use atomic_init or atomic_store to change it"]


def codes(source: str, cl_std: str = "CL3.0", **extensions: bool) -> list[str]:
    from coopmat.diagnostics import Diagnostics

    diagnostics, macros = Diagnostics(error_limit=0), option_macros(cl_std, extensions, False)
    text = "".join(f"#define {name} {value}\n" for name, value in macros if name.startswith(("cl_", "__opencl_c_")))
    tree = parse(preprocess(text + source, "m.cl", PreprocessOptions(), diagnostics), diagnostics)
    analyse(tree, diagnostics, Features.of(cl_std, extensions))
    return [item.code for item in diagnostics.items if item.severity.is_error]


@pytest.mark.parametrize(
    ("text", "extensions"),
    [
        ("void f(global atomic_int *p) { atomic_load(p); }", ["__opencl_c_atomic_order_seq_cst"]),
        ("void f(global atomic_int *p) { atomic_load(p); }", ["__opencl_c_atomic_scope_device"]),
        ("void f(global atomic_long *p) { }", ["cl_khr_int64_base_atomics"]),
        ("void f(global atomic_size_t *p) { }", ["cl_khr_int64_extended_atomics"]),
        ("void f(global atomic_double *p) { }", ["cl_khr_fp64"]),
        ("void f(global atomic_float *p) { atomic_fetch_add(p, 1.0f); }", ["cl_ext_float_atomics"]),
        ("void f(global atomic_float *p) { atomic_fetch_min(p, 1.0f); }", ["__opencl_c_ext_fp32_local_atomic_min_max"]),
        ("void f(global long *p) { atom_min(p, 1); }", ["cl_khr_int64_extended_atomics"]),
        ("void f(global int *p) { to_local(p); }", ["__opencl_c_generic_address_space"]),
    ],
)
def test_what_is_off_is_told(text: str, extensions: list[str]) -> None:
    assert codes(text) == []
    assert codes(text, **dict.fromkeys(extensions, False)) == ["extension-off"]


def test_enumerators_come_with_their_features() -> None:
    source = "int order = memory_order_{}; int scope = memory_scope_{};"
    assert codes(source.format("seq_cst", "all_devices")) == codes(source.format("acq_rel", "sub_group")) == []
    assert codes(source.format("seq_cst", "device"), __opencl_c_atomic_order_seq_cst=False) == ["undeclared-identifier"]
    assert codes(source.format("acquire", "sub_group"), cl_khr_subgroups=False) == ["undeclared-identifier"]
    assert codes("constant int x = memory_scope_device;", "CL1.2") == ["undeclared-identifier"]


def test_versions() -> None:
    assert codes("void f(global atomic_int *p);", "CL1.2") == ["extension-off"]
    assert (
        codes("void f(global int *p) { atomic_add(p, 1); atom_inc(p); event_t e; wait_group_events(1, &e); }", "CL1.2")
        == []
    )
    explicit = (
        "void f(global atomic_int *p) { atomic_load_explicit(p, memory_order_relaxed, memory_scope_work_group); }"
    )
    without = dict.fromkeys(("__opencl_c_atomic_order_seq_cst", "__opencl_c_atomic_scope_device"), False)
    assert codes(explicit, **without) == []


def test_every_atomic_has_its_forms() -> None:
    for name in builtins.names():
        if name.startswith("atomic_") and name.endswith("_explicit"):
            row, plain = builtins.find(name), builtins.find(name.removesuffix("_explicit"))
            assert row is not None and plain is not None
            assert len(builtins.overloads(row)) == 2 * len(builtins.overloads(plain))
