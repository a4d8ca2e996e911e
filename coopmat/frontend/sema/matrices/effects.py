"""The check that functions which are operands of matrix operations have no side effects.

Neither they nor the functions that they call may store to memory of others, wait at barriers, and the like (shared
language reference, "Further operations").
"""

from __future__ import annotations

from collections.abc import Iterator

from ....diagnostics import Note, Span
from ... import builtins, typed
from ...nodes import walk
from ...typed import Expr
from ...types import AddressSpace, PointerType, ScalarType, VectorType, contains_matrix
from ..context import Context

_ELSEWHERE = frozenset({AddressSpace.GLOBAL, AddressSpace.LOCAL, AddressSpace.CONSTANT})
_READS = ("vload", "as_", "convert_")
_READS_OF_IMAGES = ("read_image", "get_image")


def check_effects(c: Context) -> None:
    """Report the forbidden effects of functions that are operands, and of the functions that they call."""
    for function, span in c.operand_functions.items():
        # Function -> parameters that may point to memory outside of the operand's variables.
        known = {function: frozenset(function.parameters)}
        work = [function]
        while work:
            current = work.pop()
            code = _Code(current, known[current])
            effect = next(code.effects(), None)
            if c.separate and current.body is None:
                effect = f"another program defines '{current.name}'", current.span
            if effect is not None:
                what, place = effect
                message = f"'{function.name}' cannot be an operand: {what}"
                notes = [Note(f"here, in '{current.name}'" if current is not function else "here", place)]
                c.error("coop-mat-function-effect", message, span, notes=notes)
                break
            for callee, outside in code.calls():
                before = known.get(callee)
                known[callee] = outside | (before or frozenset())
                if known[callee] != before:
                    work.append(callee)


def has_no_effects(row: builtins.Builtin) -> bool:
    """Return whether a call of a builtin only reads, and does not depend on the work-item."""
    if row.name.startswith(_READS_OF_IMAGES):
        return True
    if row.subgroup or row.convergent or row.section == "6.15.1":
        return False
    return row.pure or row.name.startswith(_READS)


class _Code:
    """The body of a function, and the variables that may hold pointers to memory outside of the operand's variables.

    Below, such memory and pointers to it are called outside.
    """

    def __init__(self, function: typed.FunctionDecl, outside: frozenset[typed.VarDecl]) -> None:
        self._nodes = list(walk(function.body)) if function.body is not None else []
        self._outside = set(outside)
        before = -1
        while len(self._outside) != before:
            before = len(self._outside)
            self._outside.update(self._assigned())

    def _assigned(self) -> Iterator[typed.VarDecl]:
        """Yield the variables that are assigned outside pointers."""
        for node in self._nodes:
            if isinstance(node, typed.VarDecl):
                if node.initializer is not None and self._points_outside(node.initializer):
                    yield node
            elif isinstance(node, typed.Assign) and self._points_outside(node.value):
                target = _object(node.target)
                if isinstance(target, typed.VarRef):
                    yield target.decl

    def calls(self) -> Iterator[tuple[typed.FunctionDecl, frozenset[typed.VarDecl]]]:
        """Yield the functions that the body calls, each with the parameters that get outside pointers."""
        for node in self._nodes:
            if isinstance(node, typed.Call):
                pairs = zip(node.function.parameters, node.arguments, strict=False)
                yield node.function, frozenset(p for p, a in pairs if self._points_outside(a))

    def effects(self) -> Iterator[tuple[str, Span]]:
        """Yield (description, place) of each forbidden effect."""
        for node in self._nodes:
            if isinstance(node, (typed.Assign, typed.CompoundAssign, typed.IncDec)) and self._is_outside(node.target):
                yield "it stores to memory outside of its variables", node.span
            elif isinstance(node, typed.LValue) and node.place.volatile:
                yield "it accesses volatile memory", node.span
            elif isinstance(node, typed.BuiltinCall):
                row = builtins.find(node.name)
                if row is not None and not has_no_effects(row) and not self._stores_privately(row, node):
                    yield f"it calls '{node.name}'", node.span
            elif isinstance(node, typed.Call) and node.function.is_kernel:
                yield "it calls a kernel", node.span
            elif isinstance(node, typed.VarDecl) and node.storage == "static" and _is_local(node):
                yield "it has a variable in local memory", node.span
            elif _has_matrix(node):
                yield "it has cooperative matrices", node.span

    def _stores_privately(self, row: builtins.Builtin, call: typed.BuiltinCall) -> bool:
        """Return whether a builtin only stores to variables of the operand function itself: `fract`, `vstore4`."""
        pointers = [a for a in call.arguments if isinstance(a.type, PointerType)]
        is_store = row.name.startswith("vstore") or row.section.startswith("6.15.2")
        return is_store and not any(map(self._points_outside, pointers))

    def _is_outside(self, target: typed.LValue) -> bool:
        """Return whether an object is outside: it is static, or behind an outside pointer."""
        e = _object(target)
        if isinstance(e, typed.VarRef):
            return e.decl.storage == "static"
        return isinstance(e, typed.Deref) and self._points_outside(e.pointer)

    def _points_outside(self, e: Expr) -> bool:
        """Return whether a value may be an outside pointer, or contain one."""
        if isinstance(e.type, (ScalarType, VectorType)):
            return False
        if isinstance(e.type, PointerType) and e.type.qualifiers.space in _ELSEWHERE:
            return True
        match e:
            case typed.Load():
                place = _object(e.operand)
                if isinstance(place, typed.VarRef):
                    return place.decl in self._outside or place.decl.storage == "static"
                # Pointers stored in memory that was reached through a pointer are not tracked, so they count as
                # outside.
                return isinstance(e.type, PointerType)
            case typed.AddressOf():
                return self._is_outside(e.operand)
            case typed.Convert(kind=typed.ConvertKind.DECAY):
                return isinstance(e.operand, typed.LValue) and self._is_outside(e.operand)
            case typed.Convert():
                return e.kind is typed.ConvertKind.INT_TO_POINTER or self._points_outside(e.operand)
            case typed.PointerAdd():
                return self._points_outside(e.pointer)
            case typed.Conditional():
                return self._points_outside(e.then) or self._points_outside(e.otherwise)
            case typed.Comma():
                return self._points_outside(e.right)
            case typed.Assign():
                return self._points_outside(e.value)
            case typed.Aggregate() | typed.Call() | typed.BuiltinCall():
                return any(self._points_outside(n) for n in _parts(e))
        return isinstance(e, (typed.IncDec, typed.CompoundAssign, typed.ExtractMember))


def _parts(e: typed.Aggregate | typed.Call | typed.BuiltinCall) -> Iterator[Expr]:
    return (node for node in walk(e) if node is not e and isinstance(node, Expr))


def _object(target: typed.LValue) -> Expr:
    """Return the variable, or the memory behind a pointer, that an object is a part of."""
    e: Expr = target
    while isinstance(e, (typed.Index, typed.Member, typed.Swizzle, typed.MatrixSubscript)):
        e = e.matrix if isinstance(e, typed.MatrixSubscript) else e.base
    return e


def _is_local(variable: typed.VarDecl) -> bool:
    return variable.qualifiers.space is AddressSpace.LOCAL


def _has_matrix(node: object) -> bool:
    kinds = typed.MatrixLength, typed.MatrixCoordinates, typed.MatrixStore, typed.MatrixPrefetch, typed.MatrixPrint
    if isinstance(node, kinds):
        return True
    return isinstance(node, (typed.Expr, typed.VarDecl)) and contains_matrix(node.type)
