"""The call graph of a unit, and which functions use matrices and subgroups."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..diagnostics import Span
from ..graphs import postorder, reachable, reaching
from . import builtins, typed
from .nodes import walk
from .types import SCOPE_SUBGROUP, CoopMatrixType, Type, contained, contains_matrix


@dataclass(slots=True)
class Facts:
    """Properties of one function, without those of its callees.

    matrices: its types (parameters, result, variables, expressions) include cooperative matrices, also in aggregates.
    names_matrices: like `matrices`, or its types include pointers to matrices.
    of_sub_groups: its types include matrices of subgroup scope.
    of_work_groups: the first place where its types include matrices of work-group scope.
    subgroups: the function calls subgroup builtins.
    calls_kernel: the function calls a kernel as a function.
    imports: the function calls a function that another program defines.
    calls: the direct callees, in order.
    """

    matrices: bool = False
    names_matrices: bool = False
    of_sub_groups: bool = False
    of_work_groups: Span | None = None
    subgroups: bool = False
    calls_kernel: bool = False
    imports: bool = False
    calls: dict[typed.FunctionDecl, None] = field(default_factory=dict)


class CallGraph:
    """The call graph of a unit, with properties of functions; each body is read once."""

    def __init__(self, unit: typed.Unit) -> None:
        self._unit = unit
        # id of type -> (type, scopes of the matrices that it names). An id as key is much cheaper than hashing; the
        # stored type keeps the id valid.
        self._types: dict[int, tuple[Type, frozenset[int]]] = {}
        self._facts = {f: self._of(f) for f in unit.functions if f.body is not None}
        self._reached: dict[typed.FunctionDecl, tuple[typed.FunctionDecl, ...]] = {}
        self._users: dict[str, set[typed.FunctionDecl]] = {}

    def _of(self, function: typed.FunctionDecl) -> Facts:
        facts = Facts()
        for decl in function.parameters:
            self._see(facts, decl.type, decl.span)
        self._see(facts, function.type.result, function.span)
        for node in walk(function.body):
            if isinstance(node, typed.VarDecl):
                self._see(facts, node.type, node.span)
            elif isinstance(node, typed.Expr):
                self._see(facts, node.matrix if isinstance(node, typed.MatrixLength) else node.type, node.span)
                if isinstance(node, typed.CALLS):
                    facts.calls.setdefault(node.function)
                    facts.calls_kernel |= node.function.is_kernel
                    facts.imports |= node.function.body is None and node.function.symbol is not None
                elif isinstance(node, typed.BuiltinCall):
                    row = builtins.find(node.name)
                    facts.subgroups |= row is not None and row.subgroup
                elif isinstance(node, (typed.MatrixCoordinates, typed.MatrixPrefetch)):
                    self._see(facts, node.matrix, node.span)
        return facts

    def _see(self, facts: Facts, t: Type, span: Span) -> None:
        if not self._unit.has_matrices:
            return
        entry = self._types.get(id(t))
        if entry is None:
            parts = contained(t, pointees=True)
            scopes = frozenset(part.scope for part in parts if isinstance(part, CoopMatrixType))
            entry = self._types[id(t)] = (t, scopes)
        if entry[1]:
            facts.names_matrices = True
            facts.matrices |= contains_matrix(t)
            facts.of_sub_groups |= SCOPE_SUBGROUP in entry[1]
            if entry[1] != {SCOPE_SUBGROUP}:
                facts.of_work_groups = facts.of_work_groups or span

    def facts(self, function: typed.FunctionDecl) -> Facts:
        return self._facts.get(function) or Facts()

    def callees(self, function: typed.FunctionDecl) -> Iterable[typed.FunctionDecl]:
        """Return the functions that a function calls directly, each once, in order."""
        return self.facts(function).calls

    def in_use(self) -> set[typed.FunctionDecl]:
        """Return the unit's roots and their direct and indirect callees."""
        return reachable(self._unit.roots, self.callees)

    def in_order(self) -> list[typed.FunctionDecl]:
        """Return the functions with bodies in postorder: callees first; recursion is cut."""
        return [function for function in postorder(self._unit.functions, self.callees) if function in self._facts]

    def reached(self, function: typed.FunctionDecl) -> tuple[typed.FunctionDecl, ...]:
        """Return `function` and its direct and indirect callees in postorder: callees first, `function` last."""
        if function not in self._reached:
            self._reached[function] = tuple(postorder([function], self.callees))
        return self._reached[function]

    def users(self, functions: Iterable[typed.FunctionDecl]) -> set[typed.FunctionDecl]:
        """Return the functions and their direct and indirect callers."""
        return reaching(functions, {caller: facts.calls for caller, facts in self._facts.items()})

    def uses(self, function: typed.FunctionDecl, what: str) -> bool:
        """Return whether the function or a direct or indirect callee has the property `what`, a field of `Facts`."""
        if what not in self._users:
            self._users[what] = self.users(caller for caller, facts in self._facts.items() if getattr(facts, what))
        return function in self._users[what]
