"""Types whose objects are restricted: images, samplers, atomic types, events, and halves without cl_khr_fp16.

OpenCL C 3.0, sections 6.3.1.1 (halves), 6.3.3 (types), 6.8 (access qualifiers), 6.12 (restrictions), 6.15.12 (atomics),
6.15.15.1 (samplers).

- An image is an argument from the host; a sampler may also be a constant of the program. Neither can be changed.
- An atomic object is accessed only by functions. It can be initialised in global memory; elsewhere, `atomic_init` is
  required.
- An event is a value in private memory.
- Without cl_khr_fp16, a program may have pointers to halves, for vload_half and similar functions, but no values of
  type half. With `half_bits`, scalars may be used in everything but builtins of halves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NoReturn

from ...diagnostics import Note, Span
from ...features import IMAGES
from .. import syntax, typed
from ..builtins import Overload, parse_conversion
from ..nodes import Node, children
from ..types import (
    DOUBLE,
    EVENT,
    FLOAT,
    HALF,
    INT,
    INTPTR_T,
    LONG,
    PTRDIFF_T,
    SAMPLER,
    SIZE_T,
    UINT,
    UINTPTR_T,
    ULONG,
    AddressSpace,
    ArrayType,
    AtomicType,
    ImageType,
    Qualifiers,
    RecordType,
    ScalarType,
    Type,
    element_type,
    is_opaque,
)
from .context import Context, EnumConstant
from .values import constant_value, rvalue

ACCESSES = ("read_only", "write_only", "read_write")

# Bits of a sampler's value: coordinates (bit 0), addressing mode (bits 1 to 3), filter mode (0x10 or 0x20).
_ADDRESSINGS, _FILTERS = (0, 2, 4, 6, 8), (0x10, 0x20)

_PLACES = {
    "member": "be a member of a struct or union",
    "array": "be an element of an array",
    "pointer": "be pointed to",
    "result": "be the result of a function",
    "variable": "be a variable: it must be a parameter",
    "assignment": "be changed",
    "operand": "be a side of '?:'",
    "cast": "be the result of a cast",
}
_OF_ATOMICS = {"parameter": "be a parameter", "result": "be the result of a function", "assignment": "be assigned to"}
_OF_EVENTS = {"address-space": "be in {} memory", "member": "be a member of a struct or union"}


def refuse(c: Context, t: Type, place: str, span: Span, what: str = "") -> None:
    """Report an error if an object of type `t` cannot be in a place.

    `place` is a key of one of the tables above and part of the error code; `what` completes the table's text.
    """
    if is_opaque(t) and place in _PLACES:
        kind, some = ("sampler", "a sampler") if t == SAMPLER else ("image", f"an image ('{t}')")
        c.fail(f"{kind}-{place}", f"{some} cannot {_PLACES[place]}", span)
    while isinstance(t, ArrayType):
        t = t.element
    if isinstance(t, AtomicType) and place in _OF_ATOMICS:
        notes = [Note("use a pointer to the object")]
        if place == "assignment":
            clear = "atomic_flag_test_and_set or atomic_flag_clear" if t.flag else "atomic_init or atomic_store"
            notes = [Note(f"use {clear} to change it")]
        c.fail(f"atomic-{place}", f"an object of type '{t}' cannot {_OF_ATOMICS[place]}", span, notes=notes)
    elif t == EVENT and place in _OF_EVENTS:
        c.fail(f"event-{place}", f"an object of type '{t}' cannot {_OF_EVENTS[place].format(what)}", span)


# --- images ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Need:
    """A feature that an image type requires, from language version `since` on."""

    name: str
    since: int = 100


def _needs(t: ImageType) -> list[_Need]:
    needs = [_Need(IMAGES)]
    if t.access == "read_write":
        needs.append(_Need("__opencl_c_read_write_images"))
    if t.access == "write_only" and t.name == "image3d_t":
        needs += [_Need("cl_khr_3d_image_writes"), _Need("__opencl_c_3d_image_writes", 300)]
    if "depth" in t.name:
        needs.append(_Need("cl_khr_depth_images"))
    return needs


def access_words(words: list[syntax.Word]) -> list[syntax.Word]:
    return [word for word in words if word.text.strip("_") in ACCESSES]


def with_access(c: Context, t: Type, words: list[syntax.Word], span: Span, *, by_name: bool) -> Type:
    """Return `t` with its access qualifiers, checked.

    `by_name`: the type is named by a typedef, which already has an access qualifier, explicit or implicit.
    """
    if words and not isinstance(t, ImageType):
        c.fail("access-qualifier", f"'{words[0].text}' is for images only, not for '{t}'", words[0].span)
    if not isinstance(t, ImageType):
        if t == SAMPLER:
            _need(c, t, [_Need(IMAGES)], span)
        return t
    accesses = {word.text.strip("_") for word in words}
    if len(accesses) > 1 or (accesses and by_name):
        qualifiers = f"'{words[0].text}' and '{words[-1].text}'" if len(accesses) > 1 else f"'{words[0].text}' on '{t}'"
        c.fail("access-qualifier", f"two access qualifiers: {qualifiers}", words[-1].span)
    if accesses:
        t = replace(t, access=accesses.pop())
    _need(c, t, _needs(t), span)
    return t


def _need(c: Context, t: Type, needs: list[_Need], span: Span) -> None:
    for need in needs:
        if c.features.version >= need.since and need.name not in c.features:
            c.fail("extension-off", f"the type '{t}' needs {need.name}, which is off", span)


# --- samplers --------------------------------------------------------------------------------------


def declare_variable(
    c: Context, d: syntax.Declarator, t: Type, qualifiers: Qualifiers, node: syntax.Initializer | None
) -> typed.VarDecl:
    """Declare a variable of an opaque type: a sampler with a constant initial value, which never changes.

    Inside a function, another sampler may be the initial value, as in clang.
    """
    if isinstance(t, ImageType):
        refuse(c, t, "variable", d.span)
    name, outside = d.name or "", c.function is None
    if qualifiers.space not in (AddressSpace.PRIVATE, AddressSpace.CONSTANT):
        c.fail("sampler-address-space", f"sampler '{name}' cannot be in {qualifiers.space} memory", d.span)
    if outside and qualifiers.space is AddressSpace.PRIVATE and not qualifiers.const:
        message = f"sampler '{name}' at program scope must be const or in constant memory"
        c.fail("sampler-address-space", message, d.span)
    decl = typed.VarDecl(d.span, name, t, qualifiers, "static" if outside else "automatic")
    c.declare(decl)
    if node is None:
        c.fail("sampler-initializer", f"sampler '{name}' needs an initial value", d.span)
    if isinstance(node, syntax.InitializerList):
        c.fail("sampler-initializer", f"the initial value of sampler '{name}' cannot be in braces", node.span)
    value = c.analyse(node)
    if outside and not isinstance(value, typed.IntConst):
        value = _constant_of(c, value, node.span)
    decl.initializer = converted(c, value, node.span, f"the initial value of sampler '{name}'")
    return decl


def _constant_of(c: Context, e: typed.Expr, span: Span) -> typed.Expr:
    value = rvalue(e)
    if value.type == SAMPLER:
        c.fail("sampler-initializer", "a sampler at program scope needs a constant, not a sampler", span)
    return value


def converted(c: Context, e: typed.Expr, span: Span, what: str) -> typed.Expr:
    """Return `e` as a sampler: it must be a sampler, or a 32-bit integer constant made of the CLK_ macros."""
    e = rvalue(e)
    if e.type == SAMPLER:
        return e
    if not isinstance(e.type, ScalarType) or e.type not in (INT, UINT):
        c.fail("sampler-initializer", f"{what} must be a 32-bit integer, not '{e.type}'", span)
    if not isinstance(e, typed.IntConst):
        c.fail("sampler-initializer", f"{what} must be a constant", span)
    bits = e.value & 0xFFFFFFFF
    if bits & ~0x3F or bits & 0x0E not in _ADDRESSINGS:
        notes = [Note("combine one CLK_NORMALIZED_COORDS_, one CLK_ADDRESS_ and one CLK_FILTER_ macro")]
        c.fail("sampler-initializer", f"{what} is not a valid sampler: {bits:#x}", span, notes=notes)
    if bits & 0x30 not in _FILTERS:
        c.warn("spir-compat", f"{what} has no filter mode: CLK_FILTER_NEAREST is used", span)
    return typed.Convert(e.span, SAMPLER, typed.ConvertKind.SAMPLER, e)


# --- atomic types and events -----------------------------------------------------------------------


TYPES: dict[str, Type] = {
    **{f"atomic_{t.name}": AtomicType(t) for t in (INT, UINT, LONG, ULONG, FLOAT, DOUBLE)},
    "atomic_size_t": AtomicType(SIZE_T),
    "atomic_ptrdiff_t": AtomicType(PTRDIFF_T),
    "atomic_intptr_t": AtomicType(INTPTR_T),
    "atomic_uintptr_t": AtomicType(UINTPTR_T),
    "atomic_flag": AtomicType(INT, flag=True),
    "event_t": EVENT,
}
_WIDE = "cl_khr_int64_base_atomics cl_khr_int64_extended_atomics"

# Enumerator of memory_scope or memory_order -> (value, features required besides OpenCL C 2.0) (6.15.12.1, .2).
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

# Values of memory_order_acquire, release and acq_rel; the orders invalid for loads (and failures) and for stores.
_ACQUIRE, _RELEASE, _BOTH = 2, 3, 4
_LOADS, _STORES = (_RELEASE, _BOTH), (_ACQUIRE, _BOTH)
# Builtin -> (index of the argument with a memory order, values that are invalid for it).
_WRONG_ORDERS: dict[str, tuple[int, tuple[int, ...]]] = {
    "atomic_load_explicit": (1, _LOADS),
    "atomic_store_explicit": (2, _STORES),
    "atomic_flag_clear_explicit": (1, _STORES),
    "atomic_compare_exchange_strong_explicit": (4, _LOADS),
    "atomic_compare_exchange_weak_explicit": (4, _LOADS),
}


def memory_enumerators(c: Context) -> list[EnumConstant]:
    """Return the enumerators that are predeclared in this language version."""
    return [
        EnumConstant(None, name, INT, value)
        for name, (value, needs) in _ENUMERATORS.items()
        if c.features.missing(f"CL2.0 {needs}") is None
    ]


def check_atomic(c: Context, t: Type, span: Span) -> None:
    """Report an atomic type whose language version or required extensions are not enabled."""
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


def check_atomic_variable(c: Context, decl: typed.VarDecl, span: Span | None) -> None:
    """Report an event outside of private memory, and an atomic variable with an initial value outside of global memory.

    span: the place of the initial value; None if there is none.
    """
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


def check_memory_order(c: Context, overload: Overload, arguments: list[typed.Expr]) -> None:
    """Warn of a memory order that is invalid for the operation; the lowering replaces it by a valid, stronger one."""
    at, wrong = _WRONG_ORDERS.get(overload.name, (0, ()))
    if at == 0 or at >= len(arguments):
        return
    order = constant_value(arguments[at])
    if order in wrong:
        name = {_ACQUIRE: "acquire", _RELEASE: "release", _BOTH: "acq_rel"}[order]  # type: ignore[index]
        message = f"'{overload.name}' cannot have memory_order_{name} here; a valid order is used"
        c.warn("atomic-memory-ordering", message, arguments[at].span)


# --- halves ----------------------------------------------------------------------------------------


def _holds_half(t: Type) -> bool:
    while isinstance(t, ArrayType):
        t = t.element
    if isinstance(t, RecordType):
        return any(_holds_half(item.type) for item in t.fields or ())
    return element_type(t) is HALF


def refuse_half(c: Context, t: Type, span: Span) -> NoReturn:
    notes = [Note("remove -cl-ext=-cl_khr_fp16; without it vload_half and vstore_half access halves")]
    c.fail("extension-off", f"a value of type '{t}' needs cl_khr_fp16, which is turned off", span, notes=notes)


def _is_refused(c: Context, t: Type) -> bool:
    """Return whether a value or object of the type needs cl_khr_fp16; with `half_bits`, scalars do not."""
    if "cl_khr_fp16" in c.features or not _holds_half(t):
        return False
    while isinstance(t, ArrayType):
        t = t.element
    has_bits = c.half_bits and t is HALF
    c.unit.has_small_floats |= has_bits
    return not has_bits


def check_half(c: Context, t: Type, span: Span) -> None:
    """Report an object of a type that contains halves, if that needs cl_khr_fp16."""
    if _is_refused(c, t):
        refuse_half(c, t, span)


def check_builtin_of_half(c: Context, t: Type, span: Span) -> None:
    """Report a parameter or result of a builtin that is a half, if that needs cl_khr_fp16."""
    if "cl_khr_fp16" not in c.features and element_type(t) is HALF:
        refuse_half(c, t, span)


def check_halves(c: Context, decl: typed.FunctionDecl) -> None:
    """Report the halves that a function declares, takes, returns or computes with, without cl_khr_fp16."""
    with c.recover():
        check_half(c, decl.type.result, decl.span)
    for parameter in decl.parameters:
        with c.recover():
            check_half(c, parameter.type, parameter.span)
    work: list[Node] = [decl.body] if decl.body is not None else []
    while work:
        node = work.pop()
        t = None
        if isinstance(node, typed.VarDecl) or (isinstance(node, typed.Expr) and not isinstance(node, typed.LValue)):
            t = node.type
        if t is not None and (_is_refused(c, t) or _is_builtin_of_halves(node)):
            with c.recover():
                refuse_half(c, t if _holds_half(t) else HALF, node.span)
        else:
            work += reversed(children(node))


def _is_builtin_of_halves(node: Node) -> bool:
    """Return whether the device computes with halves in a builtin call.

    Conversions do not: they become functions on bits.
    """
    if not isinstance(node, typed.BuiltinCall) or parse_conversion(node.name) is not None:
        return False
    return any(element_type(t) is HALF for t in (node.type, *node.parameters))
