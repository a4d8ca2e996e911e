"""What a kernel may be, and what a host can pass to it (OpenCL C 3.0, sections 6.7.1 and 6.11.a)."""

from __future__ import annotations

from ...diagnostics import Note
from .. import typed
from ..types import (
    BOOL,
    EVENT,
    AddressSpace,
    Field,
    PointerType,
    RecordType,
    Type,
    VoidType,
    contained,
    contains_matrix,
    is_bits,
)
from .context import Context
from .matrix_types import holds


def check(c: Context, decl: typed.FunctionDecl) -> None:
    """The result and the parameters of a kernel."""
    if not isinstance(decl.type.result, VoidType):
        c.error("kernel-result", f"kernel '{decl.name}' must return void, not '{decl.type.result}'", decl.span)
    check_parameters(c, decl)


def check_parameters(c: Context, decl: typed.FunctionDecl) -> None:
    for p in decl.parameters:
        if contains_matrix(p.type) or (isinstance(p.type, PointerType) and contains_matrix(p.type.pointee)):
            message = f"a cooperative matrix cannot be a parameter of a kernel ('{p.name}')"
            c.error("coop-mat-kernel-parameter", message, p.span)
        elif holds(p.type):
            notes = [Note("take a pointer to it")]
            message = f"a kernel takes no matrix by value ('{p.name}')"
            c.error("matrix-type-kernel-parameter", message, p.span, notes=notes)
        elif is_bits(p.type) or p.type in (BOOL, EVENT) or isinstance(p.type, VoidType):
            c.error("kernel-parameter", f"kernel parameter '{p.name}' cannot have type '{p.type}'", p.span)
        elif isinstance(p.type, PointerType):
            _check_pointer(c, p, p.type)
        elif _holds_host_pointer(p.type):
            message = f"kernel parameter '{p.name}': pointers in it must be to global memory"
            c.error("kernel-parameter", message, p.span)
        else:
            _check_size(c, p)


def _check_size(c: Context, p: typed.VarDecl) -> None:
    """A host does not know how large size_t and its like are on the device, nor a bool."""
    own = c.host_sized.get(p)
    if own is not None:
        notes = [Note("its size is the device's own; take a uint or a ulong")]
        c.error("kernel-parameter", f"kernel parameter '{p.name}' cannot have type '{own}'", p.span, notes=notes)
        return
    member = _member_without_size(p.type)
    if member is not None:
        name = member.host_sized or str(member.type)
        notes = [Note(f"'{member.name}' is declared here", member.span)]
        message = f"kernel parameter '{p.name}': '{p.type}' holds a '{name}', which a host cannot pass"
        c.error("kernel-parameter", message, p.span, notes=notes)


def _member_without_size(t: Type) -> Field | None:
    """The first member of a record whose size a host does not know."""
    records = (inner for inner in contained(t) if isinstance(inner, RecordType))
    members = (item for record in records for item in record.fields or ())
    return next((item for item in members if item.host_sized is not None or item.type is BOOL), None)


def _holds_host_pointer(t: Type) -> bool:
    """Whether a record or array holds a pointer that a host cannot set."""
    pointers = (inner for inner in contained(t) if isinstance(inner, PointerType))
    return any(pointer.qualifiers.space is not AddressSpace.GLOBAL for pointer in pointers)


def _check_pointer(c: Context, p: typed.VarDecl, t: PointerType) -> None:
    if t.qualifiers.space in (AddressSpace.PRIVATE, AddressSpace.GENERIC):
        message = f"kernel parameter '{p.name}' must point to global, constant or local memory"
        c.error("kernel-parameter", message, p.span)
    elif isinstance(t.pointee, PointerType) and c.features.version < 200:
        notes = [Note("it can with -cl-std=CL2.0 and newer")]
        c.error("kernel-parameter", f"kernel parameter '{p.name}' cannot be a pointer to pointers", p.span, notes=notes)
    elif isinstance(t.pointee, PointerType):
        _check_pointer(c, p, t.pointee)
