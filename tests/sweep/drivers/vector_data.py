"""Vector loads and stores, and those of halves, in each address space."""

from __future__ import annotations

import re

import numpy as np
from cases import KERNEL, Array, Case, Check, Driver, blank, dtype, in_memory, same, scalar
from inputs import arguments

from coopmat.frontend.builtins import Overload
from coopmat.frontend.types import AddressSpace, PointerType, element_count

from .conversions import rounded
from .spaces import GROUP, space_of

NAME = re.compile(r"v(?P<what>load|store)(?P<aligned>a)?(?P<half>_half)?(?P<count>\d*)(_(?P<rounding>rt[ezpn]))?")
# Work-items; vectors and elements that each one has in private memory.
ITEMS, VECTORS = 64, 3


def _match(overload: Overload) -> re.Match[str]:
    match = NAME.fullmatch(overload.name)
    assert match is not None
    return match


def _step(overload: Overload) -> int:
    """Elements from one vector in memory to the next."""
    match = _match(overload)
    count = int(match["count"] or 1)
    return 4 if count == 3 and match["aligned"] else count


def _shift(overload: Overload) -> int:
    """Elements from the buffer's start to the pointer: one, as vectors need the alignment of elements only."""
    return _step(overload) if _match(overload)["aligned"] else 1


def _pointer(overload: Overload) -> PointerType:
    found = overload.parameters[-1]
    assert isinstance(found, PointerType)
    return found


def _load(overload: Overload) -> Case:
    pointer, step, shift = _pointer(overload), _step(overload), _shift(overload)
    element, length = pointer.pointee, ITEMS * step + shift
    own = VECTORS * step + shift
    begin, offset, source = {
        AddressSpace.GLOBAL: ("", "i", f"a + {shift}"),
        AddressSpace.CONSTANT: ("", "i", f"a + {shift}"),
        AddressSpace.GENERIC: (f"const __generic {element} *p = a + {shift};", "i", "p"),
        AddressSpace.LOCAL: (
            f"local {element} s[{own}] __attribute__((aligned(128)));"
            f" for (int k = get_local_id(0); k < {own}; k += {GROUP}) s[k] = a[k]; barrier(CLK_LOCAL_MEM_FENCE);",
            f"i % {VECTORS}",
            f"s + {shift}",
        ),
        AddressSpace.PRIVATE: (
            f"{element} s[{own}] __attribute__((aligned(128))); for (int k = 0; k < {own}; k++) s[k] = a[k];",
            f"i % {VECTORS}",
            f"s + {shift}",
        ),
    }[space_of(pointer)]
    space = "constant" if space_of(pointer) is AddressSpace.CONSTANT else "global"
    text = (
        f"kernel void {KERNEL}({space} const {element} *a, global {overload.result} *r)"
        f" {{ size_t i = get_global_id(0); {begin} r[i] = {overload.name}({offset}, {source}); }}"
    )
    (data,) = arguments([scalar(element).name], "vload", values=max(length, 512))
    data = data[:length].copy()
    whole = data[shift:].reshape(ITEMS, step)[:, : element_count(overload.result)]
    if offset != "i":
        whole = whole[np.arange(ITEMS) % VECTORS]
    expected = whole.astype(dtype(overload.result))
    check = same(overload.result, reference=expected)
    return Case(text, [data, blank(overload.result, ITEMS)], {1: check}, (ITEMS,), (GROUP,))


def _store(overload: Overload) -> Case:
    """Each work-item stores a vector in local memory at its place in the work-group, elsewhere at its own."""
    pointer, step, shift = _pointer(overload), _step(overload), _shift(overload)
    value, element = overload.parameters[0], pointer.pointee
    local, private = GROUP * step + shift, VECTORS * step + shift
    begin, offset, target, end = {
        AddressSpace.GLOBAL: ("", "i", f"r + {shift}", ""),
        AddressSpace.GENERIC: (f"__generic {element} *p = r + {shift};", "i", "p", ""),
        AddressSpace.LOCAL: (
            f"local {element} s[{local}] __attribute__((aligned(128)));"
            f" for (int k = 0; k < {step}; k++) s[{shift} + l * {step} + k] = 77;",
            "l",
            f"s + {shift}",
            f"for (int k = 0; k < {step}; k++) r[{shift} + i * {step} + k] = s[{shift} + l * {step} + k];",
        ),
        AddressSpace.PRIVATE: (
            f"{element} s[{private}] __attribute__((aligned(128))); for (int k = 0; k < {private}; k++) s[k] = 77;",
            f"i % {VECTORS}",
            f"s + {shift}",
            f"for (int k = 0; k < {step}; k++)"
            f" r[{shift} + i * {step} + k] = s[{shift} + (i % {VECTORS}) * {step} + k];",
        ),
    }[space_of(pointer)]
    text = (
        f"kernel void {KERNEL}(global const {value} *a, global {element} *r)"
        f" {{ size_t i = get_global_id(0), l = get_local_id(0); {begin}"
        f" {overload.name}(a[i], {offset}, {target}); {end} }}"
    )
    count = element_count(value)
    (stream,) = arguments([scalar(value).name], "vstore", [(-9.0, 9.0)], values=ITEMS * 16)
    values = stream[: ITEMS * count].reshape(ITEMS, count)
    data = [in_memory(values, value), np.full(ITEMS * step + shift, 77, dtype(element))]
    return Case(text, data, {1: _stored(overload, values, shift, step)}, (ITEMS,), (GROUP,))


def _stored(overload: Overload, values: Array, shift: int, step: int) -> Check:
    element = scalar(_pointer(overload).pointee)
    count = values.shape[1]
    if _match(overload)["half"]:
        stored = rounded(values.astype(object), element, _match(overload)["rounding"])
    else:
        stored = values
    expected = np.full(len(values) * step + shift, 77, stored.dtype)
    expected[shift:].reshape(-1, step)[:, :count] = stored
    # The fourth element of an aligned vector of three is nobody's.
    where = np.ones(expected.shape, bool)
    where[shift:].reshape(-1, step)[:, count:] = False
    return same(_pointer(overload).pointee, reference=expected, where=where)


DRIVERS = (
    Driver("vector loads", lambda o: NAME.fullmatch(o.name) is not None and o.name.startswith("vload"), _load),
    Driver("vector stores", lambda o: NAME.fullmatch(o.name) is not None and o.name.startswith("vstore"), _store),
)
