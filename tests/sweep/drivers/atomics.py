"""Atomic functions: what they return and leave behind when one work-item acts on an object of its own, and what is left
when a whole work-group acts on one object, in operations whose outcome no order changes."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from cases import BOTH, KERNEL, OURS, Array, Case, Check, Driver, Fault, Same
from differential import NUMPY

from coopmat.frontend.builtins import Overload
from coopmat.frontend.types import VOID, AddressSpace, AtomicType, PointerType

from .folding import as_array, operands

GROUP, GROUPS = 32, 4
ITEMS = GROUP * GROUPS
_BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"
_NAME = re.compile(r"(atomic|atom)_(?P<operation>\w+?)(?P<explicit>_explicit)?")
# For loads, for stores, and for what does both.
_ORDERS = {
    "load": ("relaxed", "acquire", "seq_cst"),
    "store": ("relaxed", "release", "seq_cst"),
    "both": ("relaxed", "acquire", "release", "acq_rel", "seq_cst"),
}


@dataclass(frozen=True)
class Operation:
    """`new` is what the object holds afterwards, of what it held and the operand; `operand` is a folding operation
    whose operands suit it. `orders` is a row of _ORDERS."""

    new: Callable[[Any, Any], Any]
    operand: str = "max"
    orders: str = "both"


_OPERATIONS: dict[str, Operation] = {
    **dict.fromkeys(("init", "store"), Operation(lambda old, b: b, orders="store")),
    "load": Operation(lambda old, b: old, orders="load"),
    **dict.fromkeys(("exchange", "xchg"), Operation(lambda old, b: b)),
    **dict.fromkeys(("fetch_add", "add"), Operation(lambda old, b: old + b, "add")),
    **dict.fromkeys(("fetch_sub", "sub"), Operation(lambda old, b: old - b, "add")),
    **dict.fromkeys(("fetch_or", "or"), Operation(lambda old, b: old | b, "or")),
    **dict.fromkeys(("fetch_xor", "xor"), Operation(lambda old, b: old ^ b, "or")),
    **dict.fromkeys(("fetch_and", "and"), Operation(lambda old, b: old & b, "or")),
    **dict.fromkeys(("fetch_min", "min"), Operation(min)),
    **dict.fromkeys(("fetch_max", "max"), Operation(max)),
    "inc": Operation(lambda old, b: old + 1),
    "dec": Operation(lambda old, b: old - 1),
    "flag_test_and_set": Operation(lambda old, b: 1),
    "flag_clear": Operation(lambda old, b: 0, orders="store"),
}
_COMPARE = ("compare_exchange_strong", "compare_exchange_weak", "cmpxchg")
# Which order of the work-items matters to nobody; the others are tried alone.
_CONTENDED = {
    *("fetch_add", "add", "fetch_sub", "sub", "fetch_or", "or", "fetch_xor", "xor", "fetch_and", "and"),
    *("fetch_min", "min", "fetch_max", "max", "inc", "dec", "exchange", "xchg", "flag_test_and_set"),
}


def _operation(overload: Overload) -> str:
    match = _NAME.fullmatch(overload.name)
    return match["operation"] if match else ""


def _object(overload: Overload) -> tuple[AddressSpace, str, str]:
    """The address space, the element's type, and what the object's pointer points to."""
    pointer = overload.parameters[0]
    assert isinstance(pointer, PointerType)
    pointee = pointer.pointee
    element = str(pointee.value) if isinstance(pointee, AtomicType) else str(pointee)
    return pointer.qualifiers.space, element, str(pointee)


def _extras(overload: Overload, used: int) -> str:
    """Memory orders and scope for the parameters after the `used` ones."""
    missing = len(overload.parameters) - used
    if not missing:
        return ""
    operation = _operation(overload)
    seed = zlib.crc32(str(overload).encode())
    if operation in _COMPARE:
        words = [("acq_rel", "acquire"), ("seq_cst", "seq_cst"), ("relaxed", "relaxed")][seed % 3]
    else:
        orders = _ORDERS[_OPERATIONS[operation].orders]
        words = (orders[seed % len(orders)],)
    scope = "memory_scope_work_group" if _object(overload)[0] is AddressSpace.LOCAL else "memory_scope_device"
    extras = [*(f"memory_order_{word}" for word in words), scope][:missing]
    return "".join(f", {extra}" for extra in extras)


def _pointers(overload: Overload) -> tuple[str, str, str, str]:
    """Declarations, the work-item's own object `p`, the work-group's `q`, and what stores them back to `m` and `c`."""
    space, element, pointee = _object(overload)
    if space is AddressSpace.GLOBAL:
        return "", f"((volatile global {pointee} *)(m + i))", f"((volatile global {pointee} *)(c + g))", ""
    word = "local" if space is AddressSpace.LOCAL else "__generic"
    declare = f"local {element} s[{GROUP}]; local {element} t; s[l] = m[i]; if (l == 0) t = c[g]; {_BARRIER}"
    back = f"{_BARRIER} m[i] = s[l]; if (l == 0) c[g] = t;"
    if space is AddressSpace.LOCAL:
        return declare, f"((volatile local {pointee} *)(s + l))", f"((volatile local {pointee} *)&t)", back
    # Generic pointers lead to global memory for some work-items and to local memory for others.
    choose = f"volatile {word} {pointee} *p = (volatile {word} {pointee} *)(i % 2 ? (__generic {element} *)(s + l)"
    choose += f" : (__generic {element} *)(m + i)); volatile {word} {pointee} *q = (volatile {word} {pointee} *)&t;"
    back = f"{_BARRIER} if (i % 2) m[i] = s[l]; if (l == 0) c[g] = t;"
    return f"{declare} {choose}", "p", "q", back


class _Multiset:
    """In each work-group the values are the expected ones, in any order."""

    def __init__(self, expected: Array) -> None:
        self.expected = np.sort(expected, axis=1)

    def __call__(self, ours: Array, theirs: Array | None) -> Fault | None:
        right = self._right(ours)
        if right:
            return None
        kind = BOTH if theirs is not None and not self._right(theirs) else OURS
        return kind, f"the work-items of a group got other values than these: {self.expected.tolist()[:2]}"

    def _right(self, values: Array) -> bool:
        return bool(np.array_equal(np.sort(values.reshape(self.expected.shape), axis=1), self.expected))


def _simple(overload: Overload) -> Case:
    name, operation = _operation(overload), _OPERATIONS[_operation(overload)]
    _, element, _ = _object(overload)
    takes_operand = name not in ("load", "inc", "dec", "flag_test_and_set", "flag_clear")
    operand = ", b[i]" if takes_operand else ""
    extras = _extras(overload, 2 if takes_operand else 1)
    declare, p, q, back = _pointers(overload)
    returns = overload.result != VOID
    contended = name in _CONTENDED
    text = (
        f"kernel void {KERNEL}(global {element} *m, global const {element} *b, global {element} *r,"
        f" global {element} *c, global {element} *o) {{ size_t i = get_global_id(0), l = get_local_id(0),"
        f" g = get_group_id(0); {declare} {'r[i] = ' * returns}{overload.name}({p}{operand}{extras});"
        + (f" o[i] = {overload.name}({q}{operand}{extras});" if contended else "")
        + f" {back} }}"
    )
    flags = "flag" in name
    values = operands(operation.operand, element, ITEMS)
    start = np.arange(ITEMS) % 2 if flags else np.roll(values, 1)
    memory = start.astype(NUMPY[element])
    shared = np.zeros(GROUPS, memory.dtype) if flags else values[:GROUPS].copy()
    blank = np.full(ITEMS, 77, memory.dtype)
    pairs = list(zip(memory.tolist(), values.tolist(), strict=True))
    checks: dict[int, Check] = {0: Same(reference=as_array([operation.new(old, b) for old, b in pairs], element))}
    if returns:
        checks[2] = Same(reference=memory)
    if contended:
        checks |= _contention(name, operation, shared, values.reshape(GROUPS, GROUP), element)
    return Case(text, [memory, values, blank, shared, blank.copy()], checks, (ITEMS,), (GROUP,))


def _contention(name: str, operation: Operation, shared: Array, values: Array, element: str) -> dict[int, Check]:
    if name in ("exchange", "xchg"):
        # What was there and what is put there, but for the last one of these, which nobody knows.
        return {}
    left = []
    for start, row in zip(shared.tolist(), values.tolist(), strict=True):
        for b in row:
            start = operation.new(start, b)
        left.append(start)
    checks: dict[int, Check] = {3: Same(reference=as_array(left, element))}
    if name in ("inc", "dec"):
        step = 1 if name == "inc" else -1
        seen = [as_array([start + step * k for k in range(GROUP)], element) for start in shared.tolist()]
        checks[4] = _Multiset(np.stack(seen))
    if name == "flag_test_and_set":
        checks[4] = _Multiset(np.array([[0, *[1] * (GROUP - 1)]] * GROUPS))
    return checks


def _compare_exchange(overload: Overload) -> Case:
    """Every other comparison holds. Then each work-item adds one, as often as it takes."""
    _, element, _ = _object(overload)
    declare, p, q, back = _pointers(overload)
    if _operation(overload) == "cmpxchg":
        call = f"r[i] = {overload.name}({p}, x[i], b[i]); e[i] = 77;"
        loop = f"{element} old = 0, seen; while ((seen = {overload.name}({q}, old, old + 1)) != old) old = seen;"
    else:
        pointer = overload.parameters[1]
        assert isinstance(pointer, PointerType)
        before, expected, after = {
            AddressSpace.PRIVATE: (f"{element} h;", "h", "e[i] = h;"),
            AddressSpace.LOCAL: (f"local {element} h[{GROUP}];", "h[l]", "e[i] = h[l];"),
            AddressSpace.GLOBAL: ("", "e[i]", ""),
            AddressSpace.GENERIC: (f"__generic {element} *h = e + i;", "*h", ""),
        }[pointer.qualifiers.space]
        declare += f" {before} {expected} = x[i];"
        address = "h" if expected == "*h" else f"&{expected}"
        extras = _extras(overload, 3)
        call = f"r[i] = {overload.name}({p}, {address}, b[i]{extras}); {after}"
        loop = f"{expected} = 0; while (!{overload.name}({q}, {address}, {expected} + 1{extras})) ;"
        loop = f"{element} keep = e[i]; {loop} e[i] = keep;"
    text = (
        f"kernel void {KERNEL}(global {element} *m, global const {element} *b, global const {element} *x,"
        f" global {element} *r, global {element} *e, global {element} *c) {{ size_t i = get_global_id(0),"
        f" l = get_local_id(0), g = get_group_id(0); {declare} {call} {loop} {back} }}"
    )
    values = operands("add", element, ITEMS)
    memory, desired = values, np.roll(values, 5)
    holds = np.arange(ITEMS) % 2 == 0
    expected_values = np.where(holds, memory, memory + memory.dtype.type(1))
    blank = np.full(ITEMS, 77, memory.dtype)
    legacy = _operation(overload) == "cmpxchg"
    checks: dict[int, Check] = {
        0: Same(reference=np.where(holds, desired, memory)),
        3: Same(reference=memory if legacy else holds.astype(memory.dtype)),
        5: Same(reference=np.full(GROUPS, GROUP, memory.dtype)),
    }
    if not legacy:
        checks[4] = Same(reference=memory)
    shared = np.zeros(GROUPS, memory.dtype)
    return Case(text, [memory, desired, expected_values, blank, blank.copy(), shared], checks, (ITEMS,), (GROUP,))


DRIVERS = (
    Driver("compare and exchange", lambda o: _operation(o) in _COMPARE, _compare_exchange),
    Driver("atomics", lambda o: _operation(o) in _OPERATIONS, _simple),
)
