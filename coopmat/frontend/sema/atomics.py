"""Atomic types and events: what they need, where their objects may stand, memory orders (OpenCL C 3.0, 6.15.12).

An atomic object is read and changed by functions only. It starts with a value in global memory, where the value is
the program's, and with `atomic_init` elsewhere. An event is a value in private memory.
"""

from __future__ import annotations

from ...diagnostics import Note, Span
from .. import typed
from ..builtins import Overload
from ..types import (
    DOUBLE,
    EVENT,
    FLOAT,
    INT,
    INTPTR_T,
    LONG,
    PTRDIFF_T,
    SIZE_T,
    UINT,
    UINTPTR_T,
    ULONG,
    AddressSpace,
    ArrayType,
    AtomicType,
    Type,
)
from .context import Context, EnumConstant
from .values import constant_value

TYPES: dict[str, Type] = {
    **{f"atomic_{t.name}": AtomicType(t) for t in (INT, UINT, LONG, ULONG, FLOAT, DOUBLE)},
    "atomic_size_t": AtomicType(SIZE_T),
    "atomic_ptrdiff_t": AtomicType(PTRDIFF_T),
    "atomic_intptr_t": AtomicType(INTPTR_T),
    "atomic_uintptr_t": AtomicType(UINTPTR_T),
    "atomic_flag": AtomicType(INT, flag=True),
    "event_t": EVENT,
}
_PLACES = {
    "parameter": "be a parameter",
    "result": "be the result of a function",
    "assignment": "be assigned to",
    "address-space": "be in {} memory",
    "member": "be a member of a struct or union",
}
_WIDE = "cl_khr_int64_base_atomics cl_khr_int64_extended_atomics"

# The enumerators of memory_scope and memory_order: values, and what they need beside OpenCL C 2.0 (6.15.12.1, .2).
_ENUMERATORS = {
    "memory_scope_work_item": (0, ""),
    "memory_scope_work_group": (1, ""),
    "memory_scope_device": (2, ""),
    "memory_scope_all_svm_devices": (3, "__opencl_c_atomic_scope_all_devices"),
    "memory_scope_all_devices": (3, "__opencl_c_atomic_scope_all_devices"),
    "memory_scope_sub_group": (4, "cl_khr_subgroups"),
    "memory_order_relaxed": (0, ""),
    "memory_order_acquire": (2, ""),
    "memory_order_release": (3, ""),
    "memory_order_acq_rel": (4, ""),
    "memory_order_seq_cst": (5, "__opencl_c_atomic_order_seq_cst"),
}

# memory_order_acquire, release, acq_rel: what a load, a store and a failure cannot be.
_ACQUIRE, _RELEASE, _BOTH = 2, 3, 4
_LOADS, _STORES = (_RELEASE, _BOTH), (_ACQUIRE, _BOTH)
# By builtin: the number of an order's argument, and the orders that it cannot be.
_WRONG_ORDERS: dict[str, tuple[int, tuple[int, ...]]] = {
    "atomic_load_explicit": (1, _LOADS),
    "atomic_store_explicit": (2, _STORES),
    "atomic_flag_clear_explicit": (1, _STORES),
    "atomic_compare_exchange_strong_explicit": (4, _LOADS),
    "atomic_compare_exchange_weak_explicit": (4, _LOADS),
}


def predeclared(c: Context) -> list[EnumConstant]:
    """The enumerators that every program of this version knows."""
    return [
        EnumConstant(None, name, INT, value)
        for name, (value, needs) in _ENUMERATORS.items()
        if c.features.missing(f"CL2.0 {needs}") is None
    ]


def check_type(c: Context, t: Type, span: Span) -> None:
    """Gives up where the language version or an extension that the type comes with is off."""
    if not isinstance(t, AtomicType):
        return
    needs = f"CL2.0 {_WIDE}" if t.value.bits == 64 else "CL2.0"
    if t.value is DOUBLE:
        needs += " cl_khr_fp64"
    missing = c.features.missing(needs)
    if missing == "CL2.0":
        notes = [Note("it comes with -cl-std=CL2.0 and newer")]
        c.fail("extension-off", f"OpenCL C {c.features.version / 100:.1f} has no '{t}'", span, notes=notes)
    if missing is not None:
        c.fail("extension-off", f"the type '{t}' needs {missing}, which is off", span)


def refuse(c: Context, t: Type, place: str, span: Span, what: str = "") -> None:
    """Gives up on an atomic object or event that cannot be there; `place` is a key above, and in the code."""
    if isinstance(t, ArrayType):
        refuse(c, t.element, place, span, what)
    elif isinstance(t, AtomicType) and place in ("parameter", "result", "assignment"):
        notes = [Note("a function can have a pointer to it")]
        if place == "assignment":
            clear = "atomic_flag_test_and_set or atomic_flag_clear" if t.flag else "atomic_init or atomic_store"
            notes = [Note(f"{clear} changes it")]
        c.fail(f"atomic-{place}", f"an object of type '{t}' cannot {_PLACES[place]}", span, notes=notes)
    elif t == EVENT and place in ("address-space", "member"):
        c.fail(f"event-{place}", f"an object of type '{t}' cannot {_PLACES[place].format(what)}", span)


def check_variable(c: Context, decl: typed.VarDecl, span: Span | None) -> None:
    """A variable of one of these types; `span` is its initial value's."""
    space = decl.qualifiers.space
    if space is not AddressSpace.PRIVATE:
        refuse(c, decl.type, "address-space", decl.span, str(space))
    t = decl.type
    while isinstance(t, ArrayType):
        t = t.element
    if isinstance(t, AtomicType) and span is not None and space is not AddressSpace.GLOBAL:
        notes = [] if t.flag else [Note(f"use atomic_init(&{decl.name}, ...)")]
        message = (
            f"an atomic object can have an initial value in global memory only, not '{decl.name}' in {space} memory"
        )
        c.fail("atomic-initializer", message, span, notes=notes)


def check_order(c: Context, overload: Overload, arguments: list[typed.Expr]) -> None:
    """Warns of an order that has no meaning there; a meaningful one is taken."""
    at, wrong = _WRONG_ORDERS.get(overload.name, (0, ()))
    if at == 0 or at >= len(arguments):
        return
    order = constant_value(arguments[at])
    if order in wrong:
        name = {_ACQUIRE: "acquire", _RELEASE: "release", _BOTH: "acq_rel"}[order]  # type: ignore[index]
        message = f"'{overload.name}' cannot have memory_order_{name} here; another order is taken"
        c.warn("atomic-memory-ordering", message, arguments[at].span)
