"""Records and enumerations (OpenCL C 3.0, section 6.5; C11 6.7.2)."""

from __future__ import annotations

from dataclasses import replace

from ...diagnostics import Note, Span
from .. import syntax
from ..types import INT, LONG, UINT, ULONG, AddressSpace, Field, RecordType, Type, contains_matrix, is_complete
from . import attributes, restricted_types
from .context import MOST_MEMBERS, Abandon, Context, EnumConstant, EnumTag
from .declarations import Base, alignment_of_base, base_type, declarator_type, host_sized
from .values import integer_constant, wrap


def enumeration(c: Context, tag: syntax.EnumSpecifier) -> Type:
    if tag.enumerators is None:
        tag_type = c.scope.find_tag(tag.name) if tag.name is not None else None
        if not isinstance(tag_type, EnumTag):
            c.fail("unknown-type", f"unknown enumeration 'enum {tag.name}'", tag.span)
        return tag_type.type
    packed = next((item for item in tag.attributes if item.name.strip("_") == "packed"), None)
    if packed is not None:
        c.unsupported("a packed enumeration is", packed.span)
    for attribute in tag.attributes:
        attributes.no_matrix(c, attribute)
    value, valid = 0, True
    values = set()
    constants: list[EnumConstant] = []
    for item in tag.enumerators:
        try:
            if item.value is not None:
                value, valid = integer_constant(c, item.value, "the value of an enumerator"), True
            if not valid:
                c.abandon()
            constants.append(EnumConstant(item.span, item.name, _enumerator_type(c, item.span, value), value))
            c.declare(constants[-1])
        except Abandon:
            valid = False
            c.poison(item.name, item.span)
        values.add(value)
        value += 1
    c.enumerations.append((frozenset(item.name for item in tag.enumerators), frozenset(values)))
    t = _enumeration_type(c, tag.span, {constant.value for constant in constants})
    for constant in constants:
        if constant.type is not INT and c.scope.names.get(constant.name) is constant:
            c.scope.names[constant.name] = replace(constant, type=t)
    if tag.name is not None:
        _declare_tag(c, tag.name, EnumTag(tag.span, tag.name, t))
    return t


def _enumerator_type(c: Context, span: Span, value: int) -> Type:
    """Return int, or the type that can hold the value if int cannot."""
    for t in (INT, LONG, ULONG):
        if wrap(value, t) == value:
            return t
    c.fail("enumerator-range", f"the value of an enumerator cannot be {value}", span)


def _enumeration_type(c: Context, span: Span, values: set[int]) -> Type:
    """Return the smallest type, in clang's order, that holds all enumerators: unsigned if none is negative."""
    for t in (INT, LONG) if min(values, default=0) < 0 else (UINT, ULONG):
        if all(wrap(value, t) == value for value in values):
            return t
    c.fail("enumerator-range", "no integer type holds all values of the enumeration", span)


def _declare_tag(c: Context, name: str, tag: RecordType | EnumTag) -> None:
    earlier = c.scope.tags.get(name)
    if earlier is not None:
        notes = [Note("the previous definition is here", earlier.span)]
        c.fail("redefinition", f"redefinition of '{name}'", tag.span, notes=notes)
    c.scope.tags[name] = tag


def record_type(c: Context, tag: syntax.StructSpecifier) -> Type:
    if tag.members is None:
        assert tag.name is not None
        entry = c.scope.find_tag(tag.name)
        if isinstance(entry, EnumTag) or (entry is not None and entry.kind != tag.kind):
            c.fail("wrong-tag", f"'{tag.name}' is not a {tag.kind}", tag.span, notes=[Note("see here", entry.span)])
        if entry is None:
            entry = RecordType(tag.kind, tag.name, tag.span)
            c.scope.tags[tag.name] = entry
        return entry
    record = c.scope.tags.get(tag.name) if tag.name is not None else None
    if not isinstance(record, RecordType) or record.fields is not None or record.kind != tag.kind:
        record = RecordType(tag.kind, tag.name, tag.span)
        if tag.name is not None:
            _declare_tag(c, tag.name, record)
    with c.recover():
        attributes.apply_to_record(c, record, tag.attributes)
    fields = _fields(c, record, tag.members)
    c.check_count(len(fields), MOST_MEMBERS, "members of a record", tag.span)
    record.complete(fields)
    c.unit.records.append(record)
    return record


def _fields(c: Context, record: RecordType, members: list[syntax.MemberDeclaration]) -> list[Field]:
    fields: list[Field] = []
    names: dict[str, Span] = {}
    c.broken.add(record)
    sound = 0
    for member in members:
        with c.recover():
            base = base_type(c, member.specifiers)
            if not member.declarators:
                fields += _unnamed_member(c, base, member, names)
                sound += 1
            for item in member.declarators:
                with c.recover():
                    added = _field(c, record, base, item)
                    _enter_member(c, added.name, added.span, names)
                    fields.append(added)
                    sound += 1
    if sound == sum(max(len(member.declarators), 1) for member in members):
        c.broken.discard(record)
    return fields


def _enter_member(c: Context, name: str, span: Span, names: dict[str, Span]) -> None:
    if name in names:
        notes = [Note("the first is here", names[name])]
        c.fail("redefinition", f"duplicate member '{name}'", span, notes=notes)
    names[name] = span


def _unnamed_member(c: Context, base: Base, member: syntax.MemberDeclaration, names: dict[str, Span]) -> list[Field]:
    """Return the field for a struct or union without tag and name, and enter its members in the outer record.

    Any other declaration without declarators is ignored, with a warning.
    """
    tag = member.specifiers.tag
    if not isinstance(base.type, RecordType) or not isinstance(tag, syntax.StructSpecifier) or tag.name is not None:
        c.warn("missing-declarations", "this declares no member", member.span)
        return []
    for name in base.type.names():
        _enter_member(c, name, member.span, names)
    return [Field("", base.type, base.qualifiers, member.span)]


def _field(c: Context, record: RecordType, base: Base, item: syntax.MemberDeclarator) -> Field:
    if item.bit_width is not None:
        c.fail("bit-field", "OpenCL C has no bit-fields", item.span)
    t, qualifiers = declarator_type(c, base, item.declarator)
    if item.declarator.name is None:
        c.fail("missing-name", "a member needs a name", item.span)
    if not is_complete(t):
        c.fail("incomplete-type", f"member '{item.declarator.name}' has incomplete type '{t}'", item.span)
    if qualifiers.space is not AddressSpace.PRIVATE:
        c.fail("address-space", "a member cannot have an address space of its own", item.span)
    restricted_types.refuse(c, t, "member", item.span)
    if record.kind == "union" and contains_matrix(t):
        c.fail("coop-mat-union", "a cooperative matrix cannot be a member of a union", item.span)
    alignment, packed = attributes.for_field(c, base.marks(item.declarator))
    alignment = alignment or alignment_of_base(base, item.declarator)
    sized = host_sized(c, base, item.declarator)
    return Field(item.declarator.name, t, qualifiers, item.declarator.span, 0, alignment, packed, sized)
