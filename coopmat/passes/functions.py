"""Tools for passes: bottom-up rewriting of trees and functions, and the call graph with properties of functions.

`FunctionRewriter` also creates variables, and temporaries for values that are used several times or by address.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ..diagnostics import InternalError, Span
from ..frontend import typed
from ..frontend.nodes import children, copied as copied, walk, with_children as with_children
from ..frontend.reserved import is_library
from ..frontend.types import (
    HALF,
    PLAIN,
    ArrayType,
    RecordType,
    Type,
    is_bits,
)
from .storage import address_of, decayed, is_simple, load, member, variable


class FunctionRewriter(ABC):
    """A rewriter of the parameters and the body of `decl`, which is a copy of a function; `rewrite` modifies `decl`.

    map_type: returns the lowered type for each type.
    functions: callee -> the function that is called instead; other callees are kept.

    Subclasses provide `handlers`: class of node -> method that replaces the node. Library functions store a matrix
    result through their first argument, an address. `result` creates such a call with a temporary as the destination.
    If the result is assigned to a variable, `assign_in_place` drops the temporary and passes the variable's address.
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
        # temporary -> the call that stores its value.
        self._results: dict[typed.VarDecl, typed.Call] = {}

    @abstractmethod
    def handlers(self) -> Mapping[type, Callable[..., Any]]:
        """Return: class of node -> method that returns the replacement of (old node, rewritten node)."""

    def parts(self) -> Mapping[type, Parts]:
        """Return: class of node -> function that lists the parts to rewrite instead of the node's children."""
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
            **dict.fromkeys(typed.CALLS, self.call_of),
            **own,
        }
        body = Rewriter(handlers, self.map_type, self.parts()).rewrite(decl.body)
        objects = [typed.DeclStmt(body.span, decl_) for decl_ in self._temporaries]
        decl.body = typed.Block(body.span, [*objects, *body.items]) if objects else body

    def call_of(self, e: Any, new: Any) -> Any:
        """Return `new`, a call (or an operation with a function operand), with its callee replaced by `functions`."""
        function = self.functions.get(e.function, e.function)
        return new if function is e.function else copied(new, function=function)

    # --- variables -------------------------------------------------------------------------------

    def variable(self, decl: typed.VarDecl) -> typed.VarDecl:
        """Return the variable that replaces `decl`, without an initializer: the rewritten declaration sets that."""
        if decl.storage == "static":
            return self.static(decl)
        new = self._variables.get(decl)
        if new is None:
            new = self._variables[decl] = copied(decl, type=self.map_type(decl.type), initializer=None)
        return new

    def static(self, decl: typed.VarDecl) -> typed.VarDecl:
        """Return the variable that replaces a static variable: by default, the same one."""
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
        """Declare a temporary in the function, and return a reference to it.

        Its name contains a dot, so that it cannot clash with a name of the source.
        """
        decl = typed.VarDecl(span, f"t.{self._count}", t, PLAIN, "automatic")
        self._count += 1
        self._temporaries[decl] = None
        return variable(decl)

    def stable_lvalue(self, target: typed.LValue) -> tuple[list[typed.Expr], typed.LValue]:
        """Return (expressions to evaluate first, an lvalue for the same object that can be used several times).

        An lvalue with side effects is replaced by a dereference of a temporary pointer. Raise InternalError for vector
        components, which have no address.
        """
        if is_simple(target):
            return [], target
        if isinstance(target, typed.Swizzle):
            raise InternalError("components of a vector have no address", str(target.span))
        if isinstance(target, typed.MatrixElement):
            # A component of a native matrix has no address, either: keep the matrix lvalue and hold the index.
            before, matrix = self.stable_lvalue(target.matrix)
            more, index = self.materialize(target.index)
            return [*before, *more], copied(target, matrix=matrix, index=index)
        pointer = address_of(target)
        target_pointer = self.temporary(pointer.type, target.span)
        place = typed.Deref(target.span, target.type, target.place, load(target_pointer))
        return [typed.Assign(target.span, target_pointer.type, target_pointer, pointer)], place

    def materialize(self, e: typed.Expr) -> tuple[list[typed.Expr], typed.Expr]:
        """Return (expressions to evaluate first, an expression for the same value that can be used several times)."""
        if is_simple(e):
            return [], e
        temporary = self.temporary(e.type, e.span)
        return [typed.Assign(e.span, e.type, temporary, e)], load(temporary)

    # --- objects and their addresses -------------------------------------------------------------

    def address(self, value: typed.Expr) -> tuple[list[typed.Expr], typed.Expr]:
        """Return (expressions to evaluate first, a pointer to the first element) of a value of an array record.

        An rvalue is stored in a temporary first.
        """
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
        """Return an expression that evaluates `before` and `call`, then loads the result from the temporary `out`."""
        self._results[out.decl] = call
        return sequence([*before, call, load(out)])

    def assign_in_place(self, target: typed.LValue, value: typed.Expr, span: Span) -> typed.Comma | None:
        """Return the assignment of a call's result to a variable, with the call storing directly to the variable.

        The temporary of the call is deleted. If `target` is not a plain variable, or `value` does not come from
        `result`, return None.
        """
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
        """Drop the load of a stored record if the statement does not use the loaded value."""
        e = new.expr
        is_stored = isinstance(e, typed.Comma) and isinstance(e.right, typed.Load) and is_simple(e.right)
        if is_stored and isinstance(e, typed.Comma) and isinstance(e.type, RecordType):
            return typed.ExprStmt(s.span, e.left)
        return new

    def _block(self, s: typed.Block, new: typed.Block) -> typed.Stmt:
        """Split a declaration initialized by a call's result: declare the variable, then let the call store to it."""
        items: list[typed.Stmt] = []
        for item in new.items:
            items.append(item)
            if isinstance(item, typed.DeclStmt) and item.decl.initializer is not None:
                comma = self.assign_in_place(variable(item.decl), item.decl.initializer, item.span)
                if comma is not None:
                    item.decl.initializer = None
                    items.append(typed.ExprStmt(item.span, comma.left))
        return new if len(items) == len(new.items) else typed.Block(s.span, items)


def copies(unit: typed.Unit) -> dict[typed.FunctionDecl, typed.FunctionDecl]:
    """Return: each function of the unit -> the copy that a pass may rewrite.

    A library function that no pass after the lowering of matrices changes (`_is_closed`) is mapped to itself.
    """
    known: dict[typed.FunctionDecl, bool] = {}
    return {f: f if _is_closed(f, known) else copied(f) for f in unit.functions}


def _is_closed(f: typed.FunctionDecl, known: dict[typed.FunctionDecl, bool]) -> bool:
    """Return whether a pass can keep the function: a library function that calls no other functions than such.

    Calls of program functions are the operands of maps and reductions. Conversions of small floats, which occur in the
    library of native matrices, must be rewritten, and those of half, which occur in emulated instructions: on devices
    without cl_khr_fp16, values of half are bit patterns. `known` has the results for other functions.
    """
    if f not in known:
        known[f] = is_library(f.span.file) and not any(
            (isinstance(node, typed.Call) and not _is_closed(node.function, known))
            or (isinstance(node, typed.Convert) and (_is_small(node.type) or _is_small(node.operand.type)))
            or (isinstance(node, typed.BuiltinCall) and node.type is HALF)
            or isinstance(node, typed.MatrixStore)
            for node in (walk(f.body) if f.body is not None else ())
        )
    return known[f]


def _is_small(t: Type) -> bool:
    return is_bits(t) or t is HALF


def elements(record: typed.LValue) -> typed.Expr:
    """Return a pointer to the first element of the array that is the first member of the lvalue `record`."""
    return decayed(member(record, 0))


def element(record: typed.LValue, index: typed.Expr) -> typed.Index:
    """Return the element `index`, a ulong, of the array that is the first member of the lvalue `record`."""
    array = member(record, 0)
    assert isinstance(array.type, ArrayType)
    return typed.Index(record.span, array.type.element, record.place, array, index)


def sequence(parts: Sequence[typed.Expr]) -> typed.Expr:
    """Return the comma expression that evaluates `parts` from left to right and has the value of the last part."""
    result = parts[0]
    for part in parts[1:]:
        result = typed.Comma(part.span, part.type, result, part)
    return result


def typed_like(e: typed.Expr, other: typed.Expr) -> typed.Expr:
    """Return pointer `e` converted to the type of pointer `other`; both point to elements of the same object."""
    return e if e.type == other.type else typed.Convert(e.span, other.type, typed.ConvertKind.POINTER, e)


# --- trees -----------------------------------------------------------------------------------------


#: (old node, node with rewritten children) -> the replacement.
Handler = Callable[[Any, Any], Any]
#: Node -> the expressions to rewrite instead of its children, or None to rewrite the children. If the result is a list,
#: the node's handler gets the list of rewritten parts as its second argument.
Parts = Callable[[Any], "list[Any] | None"]


class Rewriter:
    """A bottom-up rewriter of trees.

    handlers, parts: class of node -> its `Handler` or `Parts`.
    map_type: returns the lowered type for each expression's type.
    """

    def __init__(
        self,
        handlers: Mapping[type, Handler],
        map_type: Callable[[Type], Type],
        parts: Mapping[type, Parts] = MappingProxyType({}),
    ) -> None:
        self._handlers = handlers
        self._map_type = map_type
        self._parts = parts

    def rewrite(self, root: Any) -> Any:
        """Return the rewritten tree. Uses a worklist, not recursion, because generated code has deep trees."""
        results: list[Any] = []
        work: list[tuple[Any, int, bool]] = [(root, -1, False)]
        while work:
            node, count, apart = work.pop()
            if count < 0:
                parts = self._parts.get(type(node))
                own = None if parts is None else parts(node)
                below = children(node) if own is None else own
                work.append((node, len(below), own is not None))
                work.extend([(child, -1, False) for child in reversed(below)])
                continue
            new = results[len(results) - count :]
            del results[len(results) - count :]
            results.append(self._handlers[type(node)](node, new) if apart else self._finished(node, new))
        return results[0]

    def _finished(self, node: Any, new: list[Any]) -> Any:
        handler = self._handlers.get(type(node))
        t = self._map_type(node.type) if isinstance(node, typed.Expr) else None
        result = with_children(node, new, t)
        return result if handler is None else handler(node, result)
