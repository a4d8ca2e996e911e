"""Functions made anew: their variables, and objects for values that are needed several times or by their address."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ..diagnostics import InternalError, Span
from ..frontend import typed
from ..frontend.types import PLAIN, ArrayType, RecordType, Type
from .nodes import Handler, Parts, Rewriter, copied
from .pointers import address_of, decayed, is_simple, load, member, variable
from .storage import LIBRARY_NAME


class FunctionRewriter(ABC):
    """Makes the parameters and the body of `decl` anew, which is a copy of a function; `map_type` gives the new types,
    `functions` are those that are called in place of others.

    `handlers` are methods, by the class of a node. Functions of a library give objects their values by an address, the
    first argument: `result` makes such calls, whose object is the one that is assigned to where that is a variable.
    """

    def __init__(
        self,
        decl: typed.FunctionDecl,
        map_type: Callable[[Type], Type],
        functions: Mapping[typed.FunctionDecl, typed.FunctionDecl] = MappingProxyType({}),
    ) -> None:
        self.decl, self.map_type, self.functions = decl, map_type, functions
        self._variables: dict[typed.VarDecl, typed.VarDecl] = {}
        self._temporaries: dict[typed.VarDecl, None] = {}
        self._count = 0
        # The calls that give temporaries their values.
        self._results: dict[typed.VarDecl, typed.Call] = {}

    @abstractmethod
    def handlers(self) -> Mapping[type, Callable[..., Any]]:
        """What becomes of nodes, by their class."""

    def parts(self) -> Mapping[type, Parts]:
        """What is below nodes that are not made of their children."""
        return {}

    def rewrite(self) -> None:
        decl = self.decl
        assert decl.body is not None
        decl.type = self.map_type(decl.type)  # type: ignore[assignment]
        decl.parameters = [self.variable(p) for p in decl.parameters]
        own: dict[type, Handler] = {cls: handler.__get__(self) for cls, handler in self.handlers().items()}
        handlers: dict[type, Handler] = {
            typed.VarRef: self._reference,
            typed.VarDecl: self._declaration,
            typed.ExprStmt: self._statement,
            typed.Block: self._block,
            typed.Call: self._call_of,
            **own,
        }
        body = Rewriter(handlers, self.map_type, self.parts()).rewrite(decl.body)
        objects = [typed.DeclStmt(body.span, made) for made in self._temporaries]
        decl.body = typed.Block(body.span, [*objects, *body.items]) if objects else body

    def _call_of(self, e: typed.Call, new: typed.Call) -> typed.Expr:
        function = self.functions.get(e.function, e.function)
        return new if function is e.function else copied(new, function=function)

    # --- variables -------------------------------------------------------------------------------

    def variable(self, decl: typed.VarDecl) -> typed.VarDecl:
        """What becomes of a variable; its initial value is set where it is declared."""
        if decl.storage == "static":
            return self.static(decl)
        new = self._variables.get(decl)
        if new is None:
            new = self._variables[decl] = copied(decl, type=self.map_type(decl.type), initializer=None)
        return new

    def static(self, decl: typed.VarDecl) -> typed.VarDecl:
        """What becomes of one that outlives the function."""
        return decl

    def _reference(self, e: typed.VarRef, new: typed.VarRef) -> typed.Expr:
        decl = self.variable(e.decl)
        return new if decl is e.decl else copied(new, decl=decl)

    def _declaration(self, old: typed.VarDecl, new: typed.VarDecl) -> typed.VarDecl:
        decl = self.variable(old)
        if decl.storage != "static":
            decl.initializer = new.initializer
        return decl

    def temporary(self, t: Type, span: Span) -> typed.VarRef:
        """A new object of the function's; no name of the source has a dot."""
        decl = typed.VarDecl(span, f"t.{self._count}", t, PLAIN, "automatic")
        self._count += 1
        self._temporaries[decl] = None
        return variable(decl)

    def once(self, target: typed.LValue) -> tuple[list[typed.Expr], typed.LValue]:
        """An object that is named several times, and what has to be evaluated before."""
        if is_simple(target):
            return [], target
        if isinstance(target, typed.Swizzle):
            raise InternalError("components of a vector have no address", str(target.span))
        if isinstance(target, typed.MatrixElement):
            # Nor has a component of a native matrix one.
            before, matrix = self.once(target.matrix)
            more, index = self.held(target.index)
            return [*before, *more], copied(target, matrix=matrix, index=index)
        pointer = address_of(target)
        known = self.temporary(pointer.type, target.span)
        place = typed.Deref(target.span, target.type, target.place, load(known))
        return [typed.Assign(target.span, known.type, known, pointer)], place

    def held(self, e: typed.Expr) -> tuple[list[typed.Expr], typed.Expr]:
        """A value that is needed several times, and what has to be evaluated before."""
        if is_simple(e):
            return [], e
        known = self.temporary(e.type, e.span)
        return [typed.Assign(e.span, e.type, known, e)], load(known)

    # --- objects and their addresses -------------------------------------------------------------

    def address(self, value: typed.Expr) -> tuple[list[typed.Expr], typed.Expr]:
        """The pointer to the elements of a record that is an array, and what has to be evaluated before."""
        before: list[typed.Expr] = []
        while isinstance(value, typed.Comma):
            before.append(value.left)
            value = value.right
        if isinstance(value, typed.Load):
            return before, elements(value.operand)
        target = self.temporary(value.type, value.span)
        before.append(typed.Assign(value.span, value.type, target, value))
        return before, elements(target)

    def result(self, before: Sequence[typed.Expr], out: typed.VarRef, call: typed.Call) -> typed.Expr:
        """What a call gave to a temporary."""
        self._results[out.decl] = call
        return sequence([*before, call, load(out)])

    def straight(self, target: typed.LValue, value: typed.Expr, span: Span) -> typed.Comma | None:
        """The assignment of such a result as one that needs no object of its own; None where it is none."""
        if not (isinstance(target, typed.VarRef) and isinstance(value, typed.Comma)):
            return None
        last = value.right
        if target.place.volatile or target.place.const or not isinstance(last, typed.Load):
            return None
        call = self._results.pop(last.operand.decl, None) if isinstance(last.operand, typed.VarRef) else None
        if call is None:
            return None
        assert isinstance(last.operand, typed.VarRef)
        del self._temporaries[last.operand.decl]
        call.arguments = [typed_like(elements(target), call.arguments[0]), *call.arguments[1:]]
        return typed.Comma(span, target.type, value.left, load(target))

    def _statement(self, s: typed.ExprStmt, new: typed.ExprStmt) -> typed.Stmt:
        """Nobody reads what was stored."""
        e = new.expr
        is_stored = isinstance(e, typed.Comma) and isinstance(e.right, typed.Load) and is_simple(e.right)
        if is_stored and isinstance(e, typed.Comma) and isinstance(e.type, RecordType):
            return typed.ExprStmt(s.span, e.left)
        return new

    def _block(self, s: typed.Block, new: typed.Block) -> typed.Stmt:
        """Variables are declared first where a call gives them their values."""
        items: list[typed.Stmt] = []
        for item in new.items:
            items.append(item)
            if isinstance(item, typed.DeclStmt) and item.decl.initializer is not None:
                straight = self.straight(variable(item.decl), item.decl.initializer, item.span)
                if straight is not None:
                    item.decl.initializer = None
                    items.append(typed.ExprStmt(item.span, straight.left))
        return new if len(items) == len(new.items) else typed.Block(s.span, items)


def copies(unit: typed.Unit) -> dict[typed.FunctionDecl, typed.FunctionDecl]:
    """The functions of a unit, each with one that is to be made anew: itself where it is the library's."""
    return {f: f if f.span.file == LIBRARY_NAME else copied(f) for f in unit.functions}


def elements(record: typed.LValue) -> typed.Expr:
    """The pointer to the first element of a record that is an array."""
    return decayed(member(record, 0))


def element(record: typed.LValue, index: typed.Expr) -> typed.Index:
    """An element of such a record; `index` is a ulong."""
    array = member(record, 0)
    assert isinstance(array.type, ArrayType)
    return typed.Index(record.span, array.type.element, record.place, array, index)


def sequence(parts: Sequence[typed.Expr]) -> typed.Expr:
    """One after the other, from the left; the value of the last."""
    result = parts[0]
    for part in parts[1:]:
        result = typed.Comma(part.span, part.type, result, part)
    return result


def typed_like(e: typed.Expr, other: typed.Expr) -> typed.Expr:
    """A pointer as one of the other's type, which points to elements of the same object."""
    return e if e.type == other.type else typed.Convert(e.span, other.type, typed.ConvertKind.POINTER, e)
