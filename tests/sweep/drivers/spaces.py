"""Where a pointer argument points: how a kernel makes one into each address space, and reads back what lies there."""

from __future__ import annotations

from coopmat.frontend.types import AddressSpace, PointerType, Type

GROUP = 16


def space_of(t: Type) -> AddressSpace:
    assert isinstance(t, PointerType), t
    return t.qualifiers.space


def one_result(t: PointerType, target: str) -> tuple[str, str, str]:
    """For a builtin that writes one value: declarations, the pointer, and what brings the value to `target`, an
    element of a buffer. The work-group has GROUP items."""
    pointee = t.pointee
    return {
        AddressSpace.PRIVATE: (f"{pointee} there;", "&there", f"{target} = there;"),
        AddressSpace.GLOBAL: ("", f"&{target}", ""),
        AddressSpace.LOCAL: (
            f"local {pointee} there[{GROUP}];",
            "&there[get_local_id(0)]",
            f"{target} = there[get_local_id(0)];",
        ),
        AddressSpace.GENERIC: (f"__generic {pointee} *there = &{target};", "there", ""),
    }[space_of(t)]
