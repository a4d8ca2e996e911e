"""The verifier of typed units, which runs between passes.

It checks that types agree, operands that must be lvalues are lvalues, every name has a declaration, and no type remains
that a pass has removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..diagnostics import InternalError
from ..frontend import typed
from ..frontend.nodes import walk
from ..frontend.typed import ConvertKind, Expr, LValue
from ..frontend.types import (
    ArrayType,
    PointerType,
    RecordType,
    Type,
    VectorType,
    VoidType,
    element_type,
)
from .storage import names


def check(unit: typed.Unit, after: str, removed: tuple[type, ...] = ()) -> None:
    """Raise InternalError for the first fault in the unit; `after` names the pass that is to blame."""
    for fault in _faults(unit, removed):
        raise InternalError(f"the pass {after} made an invalid unit", fault)


def _faults(unit: typed.Unit, removed: tuple[type, ...]) -> Iterator[str]:
    functions = set(unit.functions)
    types: dict[int, Type] = {}
    for decl in unit.functions:
        declared = {*unit.variables, *decl.parameters}
        nodes = [*walk(*decl.parameters, decl.body)]
        declared.update(node for node in nodes if isinstance(node, typed.VarDecl))
        if decl.type.parameters != tuple(p.type for p in decl.parameters) and decl.body is not None:
            yield f"the parameters of '{decl.name}' are not those of its type"
        for node in nodes:
            what = f"{node.span}: {type(node).__name__} in '{decl.name}'"
            if isinstance(node, (Expr, typed.VarDecl)):
                types[id(node.type)] = node.type
            if isinstance(node, typed.VarRef) and node.decl not in declared:
                yield f"{what} names '{node.decl.name}', which is not declared"
            if isinstance(node, typed.CALLS) and node.function not in functions:
                yield f"{what} calls '{node.function.name}', which is not in the unit"
            if isinstance(node, typed.Return) and node.value and not _agree(node.value.type, decl.type.result):
                yield f"{what} gives '{node.value.type}'"
            rule = _RULES.get(type(node))
            if rule is not None and not rule(node):
                yield f"{what} has operands of wrong types"
    for t in types.values():
        for own in removed:
            if names(t, own):
                yield f"the type '{t}' is still there"


def _agree(a: Type, b: Type) -> bool:
    """Return whether a value of type `a` is acceptable where type `b` is expected.

    Pointees may differ in qualifiers other than the address space. A pointer to void, or an array of unknown size,
    agrees with any.
    """
    if isinstance(a, PointerType) and isinstance(b, PointerType):
        to_void = VoidType() in (a.pointee, b.pointee)
        return a.qualifiers.space is b.qualifiers.space and (to_void or _agree(a.pointee, b.pointee))
    if isinstance(a, ArrayType) and isinstance(b, ArrayType):
        return (None in (a.size, b.size) or a.size == b.size) and _agree(a.element, b.element)
    return a == b


def _is_pointer_to(e: Expr, t: Type) -> bool:
    return isinstance(e.type, PointerType) and _agree(e.type.pointee, t)


def _member(record: Type, index: int, t: Type) -> bool:
    return isinstance(record, RecordType) and _agree((record.fields or ())[index].type, t)


def _decays(e: typed.Convert) -> bool:
    if e.kind is not ConvertKind.DECAY:
        return True
    return isinstance(e.operand, LValue) and isinstance(e.operand.type, ArrayType) and isinstance(e.type, PointerType)


def _binary(e: typed.Binary) -> bool:
    if e.op in ("eq", "ne", "lt", "le", "gt", "ge", "land", "lor"):
        return _agree(e.left.type, e.right.type) or e.op in ("land", "lor")
    return e.left.type == e.type == e.right.type


def _call(e: typed.Call) -> bool:
    kind = e.function.type
    arguments = zip(e.arguments, kind.parameters, strict=False)
    agree = len(e.arguments) == len(kind.parameters) and all(_agree(a.type, t) for a, t in arguments)
    return agree and _agree(e.type, kind.result)


def _components(e: typed.VectorLiteral) -> bool:
    return all(element_type(item.type) == element_type(e.type) for item in e.items)


_RULES: dict[type, Callable[[Any], bool]] = {
    typed.Load: lambda e: isinstance(e.operand, LValue) and e.operand.type == e.type,
    typed.Assign: lambda e: isinstance(e.target, LValue) and _agree(e.value.type, e.target.type),
    typed.CompoundAssign: lambda e: isinstance(e.target, LValue),
    typed.IncDec: lambda e: isinstance(e.target, LValue),
    typed.AddressOf: lambda e: isinstance(e.operand, LValue) and _is_pointer_to(e, e.operand.type),
    typed.Deref: lambda e: _is_pointer_to(e.pointer, e.type),
    typed.PointerAdd: lambda e: isinstance(e.pointer.type, PointerType) and _agree(e.pointer.type, e.type),
    typed.Index: lambda e: isinstance(e.base.type, ArrayType) and _agree(e.base.type.element, e.type),
    typed.Member: lambda e: isinstance(e.base, LValue) and _member(e.base.type, e.index, e.type),
    typed.ExtractMember: lambda e: _member(e.operand.type, e.index, e.type),
    typed.VarRef: lambda e: _agree(e.decl.type, e.type),
    typed.Comma: lambda e: e.right.type == e.type,
    typed.Convert: _decays,
    typed.Binary: _binary,
    typed.Unary: lambda e: e.op == "lnot" or e.operand.type == e.type,
    typed.Call: _call,
    typed.VectorLiteral: _components,
    typed.ExtractSwizzle: lambda e: isinstance(e.operand.type, VectorType),
    typed.Conditional: lambda e: all(_agree(side.type, e.type) for side in (e.then, e.otherwise)),
    typed.VarDecl: lambda e: e.initializer is None or _agree(e.initializer.type, e.type),
}
