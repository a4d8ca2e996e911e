"""`to_global`, `to_local` and `to_private`, which take a pointer to any type (OpenCL C 3.0, section 6.15.10)."""

from __future__ import annotations

from dataclasses import replace

from ...diagnostics import Span
from ..typed import BuiltinCall, Expr
from ..types import AddressSpace, PointerType
from .context import Context
from .conversions import retype_pointer

SPACES = {
    "to_global": AddressSpace.GLOBAL,
    "to_local": AddressSpace.LOCAL,
    "to_private": AddressSpace.PRIVATE,
}


def to_space(c: Context, name: str, arguments: list[Expr], span: Span) -> Expr:
    """Return a call that yields the pointer in the named space, or null if the pointer points to another space."""
    if len(arguments) != 1:
        c.fail("argument-count", f"'{name}' takes 1 argument, not {len(arguments)}", span)
    (pointer,) = arguments
    t = pointer.type
    if not isinstance(t, PointerType) or t.qualifiers.space is AddressSpace.CONSTANT:
        c.fail("no-matching-function", f"'{name}' takes a pointer to the generic address space, not '{t}'", span)
    generic = PointerType(t.pointee, replace(t.qualifiers, space=AddressSpace.GENERIC))
    result = PointerType(t.pointee, replace(t.qualifiers, space=SPACES[name]))
    return BuiltinCall(span, result, name, "to_space", (generic,), [retype_pointer(pointer, generic)])
