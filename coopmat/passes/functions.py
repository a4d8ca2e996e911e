"""Rewriting of functions: trees are rewritten from the bottom up; variables, and objects for values that are needed
several times or by their address; and the properties of functions, by themselves and through the functions that they
call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ..diagnostics import InternalError, Span
from ..frontend import builtins, typed
from ..frontend.nodes import children, copied as copied, walk, with_children as with_children
from ..frontend.reserved import is_library
from ..frontend.types import (
    PLAIN,
    SCOPE_SUBGROUP,
    SCOPE_WORKGROUP,
    ArrayType,
    CoopMatrixType,
    RecordType,
    Type,
    contains_matrix,
    is_bits,
)
from .storage import address_of, decayed, is_simple, load, member, named, variable


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
        """Return the handlers that replace nodes, by the nodes' class."""

    def parts(self) -> Mapping[type, Parts]:
        """Return the functions that list a node's parts, by class, for nodes that are not rewritten by their
        children."""
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
        """Return the call, or the operation with an operand, of the function that replaces another."""
        function = self.functions.get(e.function, e.function)
        return new if function is e.function else copied(new, function=function)

    # --- variables -------------------------------------------------------------------------------

    def variable(self, decl: typed.VarDecl) -> typed.VarDecl:
        """Return the variable that replaces another; its initial value is set where it is declared."""
        if decl.storage == "static":
            return self.static(decl)
        new = self._variables.get(decl)
        if new is None:
            new = self._variables[decl] = copied(decl, type=self.map_type(decl.type), initializer=None)
        return new

    def static(self, decl: typed.VarDecl) -> typed.VarDecl:
        """Return the variable that replaces one that outlives the function."""
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
        target_pointer = self.temporary(pointer.type, target.span)
        place = typed.Deref(target.span, target.type, target.place, load(target_pointer))
        return [typed.Assign(target.span, target_pointer.type, target_pointer, pointer)], place

    def held(self, e: typed.Expr) -> tuple[list[typed.Expr], typed.Expr]:
        """A value that is needed several times, and what has to be evaluated before."""
        if is_simple(e):
            return [], e
        temporary = self.temporary(e.type, e.span)
        return [typed.Assign(e.span, e.type, temporary, e)], load(temporary)

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
        """Return the value that a call has stored in a temporary."""
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
        """Drop the load of a stored value that the statement does not use."""
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
    """The functions of a unit, each with one that is to be made anew: itself where it is the library's and neither
    calls one of the program's, as it does that has an operand, nor converts small floats, as natively."""
    return {f: f if _is_closed(f) else copied(f) for f in unit.functions}


def _is_closed(f: typed.FunctionDecl) -> bool:
    """Return whether a function is the library's, and has only what no pass after the matrices' changes."""
    if not is_library(f.span.file):
        return False
    for node in walk(f.body) if f.body is not None else ():
        if isinstance(node, typed.Call) and not is_library(node.function.span.file):
            return False
        if isinstance(node, typed.Convert) and (is_bits(node.type) or is_bits(node.operand.type)):
            return False
    return True


def elements(record: typed.LValue) -> typed.Expr:
    """The pointer to the first element of a record that is an array."""
    return decayed(member(record, 0))


def element(record: typed.LValue, index: typed.Expr) -> typed.Index:
    """An element of such a record; `index` is a ulong."""
    array = member(record, 0)
    assert isinstance(array.type, ArrayType)
    return typed.Index(record.span, array.type.element, record.place, array, index)


def sequence(parts: Sequence[typed.Expr]) -> typed.Expr:
    """Return the expression that evaluates the parts from left to right and has the value of the last."""
    result = parts[0]
    for part in parts[1:]:
        result = typed.Comma(part.span, part.type, result, part)
    return result


def typed_like(e: typed.Expr, other: typed.Expr) -> typed.Expr:
    """A pointer as one of the other's type, which points to elements of the same object."""
    return e if e.type == other.type else typed.Convert(e.span, other.type, typed.ConvertKind.POINTER, e)


# --- trees -----------------------------------------------------------------------------------------


#: What becomes of a node: it is called with the node as it was and with the node that has its new children.
Handler = Callable[[Any, Any], Any]
#: The expressions below a node that is not made of its children; its handler gets what becomes of them, as a list, or
#: None for a node that is like any other.
Parts = Callable[[Any], "list[Any] | None"]


class Rewriter:
    """Makes trees anew from the bottom up. `handlers` and `parts` are by the class of a node, `map_type` gives every
    node's type."""

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
        """Deep trees, which generated code has, are not recursed on."""
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


# --- calls -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class Facts:
    """The properties of one function. `matrices`: it has values or variables that are or hold cooperative matrices;
    `names_matrices`: that, or pointers to such; `of_sub_groups`, `of_work_groups`: it names some of that scope;
    `subgroups`: it calls builtins of the subgroup; `calls_kernel`: it calls one as a function; `imports`: it calls a
    function that another program defines; `calls` are the functions that it calls itself."""

    matrices: bool = False
    names_matrices: bool = False
    of_sub_groups: bool = False
    of_work_groups: bool = False
    subgroups: bool = False
    calls_kernel: bool = False
    imports: bool = False
    calls: dict[typed.FunctionDecl, None] = field(default_factory=dict)


class CallGraph:
    """The call graph of a unit; `names_matrix` says whether a type names one."""

    def __init__(self, unit: typed.Unit, names_matrix: Callable[[Type], bool]) -> None:
        self._names_matrix = names_matrix
        # By identity, which is much cheaper than hashing; the entry keeps the type alive.
        self._types: dict[int, tuple[Type, bool, frozenset[int]]] = {}
        self._has_matrices = unit.has_matrices
        self._facts = {f: self._of(f) for f in unit.functions if f.body is not None}
        self._reached: dict[typed.FunctionDecl, tuple[typed.FunctionDecl, ...]] = {}
        self._users: dict[str, set[typed.FunctionDecl]] = {}

    def _of(self, function: typed.FunctionDecl) -> Facts:
        facts = Facts()
        for decl in function.parameters:
            self._see(facts, decl.type)
        self._see(facts, function.type.result)
        assert function.body is not None
        for node in walk(function.body):
            if isinstance(node, typed.VarDecl):
                self._see(facts, node.type)
            elif isinstance(node, typed.Expr):
                self._see(facts, node.matrix if isinstance(node, typed.MatrixLength) else node.type)
                if isinstance(node, typed.CALLS):
                    facts.calls.setdefault(node.function)
                    facts.calls_kernel |= node.function.is_kernel
                    facts.imports |= node.function.body is None and node.function.symbol is not None
                elif isinstance(node, typed.BuiltinCall):
                    row = builtins.find(node.name)
                    facts.subgroups |= row is not None and row.subgroup
                elif isinstance(node, (typed.MatrixCoordinates, typed.MatrixPrefetch)):
                    facts.matrices = facts.names_matrices = True
                    self._see(facts, node.matrix)
        return facts

    def _see(self, facts: Facts, t: Type) -> None:
        if not self._has_matrices:
            return
        entry = self._types.get(id(t))
        if entry is None:
            scopes = frozenset(inner.scope for inner in named(t) if isinstance(inner, CoopMatrixType))
            entry = self._types[id(t)] = (t, self._names_matrix(t), scopes)
        facts.of_sub_groups |= SCOPE_SUBGROUP in entry[2]
        facts.of_work_groups |= SCOPE_WORKGROUP in entry[2]
        if entry[1]:
            facts.names_matrices = True
            facts.matrices |= contains_matrix(t)

    def facts(self, function: typed.FunctionDecl) -> Facts:
        return self._facts.get(function) or Facts()

    def reached(self, function: typed.FunctionDecl) -> tuple[typed.FunctionDecl, ...]:
        """The function, which is the last, and all that it may call, each behind what it calls."""
        if function not in self._reached:
            order: list[typed.FunctionDecl] = []
            begun: set[typed.FunctionDecl] = set()
            work = [(function, False)]
            while work:
                node, is_ready = work.pop()
                if is_ready:
                    order.append(node)
                elif node not in begun:
                    begun.add(node)
                    work.append((node, True))
                    work += [(callee, False) for callee in reversed(self.facts(node).calls) if callee not in begun]
            self._reached[function] = tuple(order)
        return self._reached[function]

    def uses(self, function: typed.FunctionDecl, what: str) -> bool:
        """Return whether a function, or one that it calls, has the property `what`: the name of a field of `Facts`."""
        if what not in self._users:
            callers: dict[typed.FunctionDecl, list[typed.FunctionDecl]] = {}
            for caller, facts in self._facts.items():
                for callee in facts.calls:
                    callers.setdefault(callee, []).append(caller)
            work = [caller_ for caller_, facts in self._facts.items() if getattr(facts, what)]
            users = self._users[what] = set(work)
            while work:
                new = set(callers.get(work.pop(), ())) - users
                users |= new
                work += new
        return function in self._users[what]
