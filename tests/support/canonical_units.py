"""Typed ASTs in a canonical form, in which a lowered unit and the unit of its OpenCL C text are equal.

What the writer of OpenCL C must change, and C's analysis changes, is the same in both units after `_HANDLERS`:

- Names: the text may rename whatever is not a kernel, so all are numbered by their first use.
- Statements: a block of one statement is that statement, and a label has an empty statement.
- Pointers to const: passes leave a pointer as it is where C converts it, so expressions point to objects without const.
- Pointers that are converted twice: passes convert where C needs no conversion in between.
- Small floats: types that the device lacks are written as the integers that hold their bits.
- Constants: C folds the conversion of one, writes a scalar zero as a number, and an index without its type.
- Signedness of vectors: a conversion to signed components is written by way of unsigned ones, whose bits it keeps.
- Components: C selects those of an object, and passes those of its value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from coopmat.frontend import typed
from coopmat.frontend.nodes import copied, walk
from coopmat.frontend.sema.values import fold_convert
from coopmat.frontend.typed import ConvertKind
from coopmat.frontend.typed_dump import dump
from coopmat.frontend.types import (
    LONG,
    ArrayType,
    FunctionType,
    PointerType,
    RecordType,
    ScalarType,
    Type,
    VectorType,
    contained,
    element_type,
    held_as,
    integer_type,
    with_count,
)
from coopmat.passes.functions import Rewriter


def canonical_dump(unit: typed.Unit) -> str:
    """Dump the functions that a host can reach, and the variables that these name."""
    functions = _reached(unit)
    variables: dict[typed.VarDecl, None] = {}
    numbers: dict[Any, str] = {}
    # Functions of the matrix library are shared with other units, so they get their names and bodies back.
    with _changes() as change:
        rewriter = _rewriter(change)
        for decl in functions:
            change(decl, "type", _type(decl.type))
            change(decl, "body", rewriter.rewrite(decl.body))
            for parameter in decl.parameters:
                change(parameter, "type", _type(parameter.type))
            for node in walk(*decl.parameters, decl.body):
                _rename(node, numbers, change)
                if isinstance(node, typed.VarRef) and node.decl.storage == "static":
                    variables.setdefault(node.decl)
        return dump(typed.Unit(functions, list(variables), []))


def _reached(unit: typed.Unit) -> list[typed.FunctionDecl]:
    found: dict[typed.FunctionDecl, None] = {}
    work = [*reversed(unit.roots)]
    while work:
        decl = work.pop()
        if decl not in found:
            found[decl] = None
            calls = dict.fromkeys(node.function for node in walk(decl.body) if isinstance(node, typed.Call))
            work += reversed(calls)
    return list(found)


Change = Callable[[Any, str, Any], None]


@contextmanager
def _changes() -> Iterator[Change]:
    """Yield a function that sets an attribute; all get their old values back at the end."""
    old: list[tuple[Any, str, Any]] = []

    def change(thing: Any, name: str, value: Any) -> None:
        old.append((thing, name, getattr(thing, name)))
        setattr(thing, name, value)

    try:
        yield change
    finally:
        for item in reversed(old):
            setattr(*item)


def _rename(node: Any, numbers: dict[Any, str], change: Change) -> None:
    def number(thing: Any, letter: str) -> None:
        if thing not in numbers:
            numbers[thing] = f"{letter}{len(numbers)}"
            change(thing, "name", numbers[thing])

    if isinstance(node, (typed.VarDecl, typed.VarRef)):
        number(node.decl if isinstance(node, typed.VarRef) else node, "v")
    elif isinstance(node, typed.Call):
        number(node.function, "f")
    elif isinstance(node, (typed.Label, typed.Goto)):
        numbers.setdefault(name := getattr(node, field := "name" if isinstance(node, typed.Label) else "label"), name)
        setattr(node, field, f"l{list(numbers).index(name)}")
    for t in contained(node.type, pointees=True) if isinstance(node, (typed.Expr, typed.VarDecl)) else ():
        if isinstance(t, RecordType):
            number(t, "r")


# --- statements --------------------------------------------------------------------------------------


def _items(items: list[typed.Stmt]) -> list[typed.Stmt]:
    result: list[typed.Stmt] = []
    for item in items:
        rest: Any = item
        while isinstance(rest, typed.Label):
            result.append(copied(rest, body=typed.Block(rest.span, [])))
            rest = rest.body
        if not (isinstance(rest, typed.Block) and not rest.items):
            result.append(rest)
    return result


def _bodies(old: Any, new: Any) -> Any:
    """Replace a block of one statement in the body of another statement by that statement."""
    changes: dict[str, typed.Stmt] = {}
    for name in {"then", "otherwise", "body"} & set(dir(new)):
        body = getattr(new, name)
        if body is not None:
            items = _items(body.items if isinstance(body, typed.Block) else [body])
            alone = len(items) == 1 and not isinstance(items[0], typed.DeclStmt)
            changes[name] = items[0] if alone else typed.Block(new.span, items)
    return copied(new, **changes)


# --- types and values --------------------------------------------------------------------------------


def _type(t: Type) -> Type:
    if isinstance(t, PointerType):
        return replace(t, pointee=_type(t.pointee))
    if isinstance(t, ArrayType):
        return replace(t, element=_type(t.element))
    if isinstance(t, FunctionType):
        return FunctionType(_type(t.result), tuple(map(_type, t.parameters)), t.variadic)
    return held_as(t)


def _value_type(t: Type) -> Type:
    if not isinstance(t, PointerType):
        return _type(t)
    return PointerType(_value_type(t.pointee), replace(t.qualifiers, const=False, restrict=False))


def _place(old: Any, new: Any) -> Any:
    return copied(new, place=replace(new.place, const=False, restrict=False))


def _indexed(old: Any, new: Any) -> Any:
    if isinstance(new, typed.Index):
        new = _place(old, new)
    return copied(new, index=copied(new.index, type=LONG)) if isinstance(new.index, typed.IntConst) else new


def _zero(old: typed.Zero, new: typed.Zero) -> typed.Expr:
    return (isinstance(new.type, ScalarType) and fold_convert(new.span, new, new.type)) or new


def _convert(old: typed.Convert, new: typed.Convert) -> typed.Expr:
    operand = new.operand
    source, t = operand.type, new.type
    if new.kind is ConvertKind.BITCAST and source == t:
        return operand
    if new.kind is ConvertKind.POINTER:
        while isinstance(operand, typed.Convert) and operand.kind is ConvertKind.POINTER:
            operand = operand.operand
        return operand if operand.type == t else copied(new, operand=operand)
    if isinstance(t, ScalarType) and (constant := fold_convert(new.span, operand, t)) is not None:
        return constant
    if new.kind is ConvertKind.INT_TO_INT and isinstance(t, VectorType):
        return _by_unsigned(new, operand, t)
    return new


def _by_unsigned(new: typed.Convert, operand: typed.Expr, t: VectorType) -> typed.Expr:
    element = element_type(operand.type)
    assert isinstance(element, ScalarType)
    if element.bits == t.element.bits:
        return copied(new, kind=ConvertKind.BITCAST)
    unsigned = with_count(integer_type(t.element.bits, False), t.count)
    if t == unsigned:
        return new
    return typed.Convert(new.span, t, ConvertKind.BITCAST, copied(new, type=unsigned))


def _load(old: typed.Load, new: typed.Load) -> typed.Expr:
    place = new.operand
    if not isinstance(place, typed.Swizzle) or place.names_undefined:
        return new
    return typed.ExtractSwizzle(new.span, new.type, typed.Load(new.span, place.base.type, place.base), place.indices)


def _rewriter(change: Change) -> Rewriter:
    def declaration(old: typed.VarDecl, new: typed.VarDecl) -> typed.VarDecl:
        change(old, "initializer", new.initializer)
        change(old, "type", _type(old.type))
        return old

    statements = (typed.If, typed.While, typed.DoWhile, typed.For, typed.Switch, typed.Case)
    handlers: dict[type, Callable[[Any, Any], Any]] = {
        typed.VarDecl: declaration,
        typed.Block: lambda old, new: typed.Block(old.span, _items(new.items)),
        typed.Convert: _convert,
        typed.Load: _load,
        typed.Zero: _zero,
        **dict.fromkeys((typed.VarRef, typed.Deref, typed.Member, typed.Swizzle, typed.CompoundLiteral), _place),
        **dict.fromkeys((typed.Index, typed.PointerAdd), _indexed),
        **dict.fromkeys(statements, _bodies),
    }
    return Rewriter(handlers, _value_type)
