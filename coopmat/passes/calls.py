"""What functions do, themselves and through those that they call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..frontend import builtins, typed
from ..frontend.nodes import walk
from ..frontend.types import Type, contains_matrix


@dataclass(slots=True)
class Facts:
    """Of one function. `matrices`: it has values or variables that are or hold cooperative matrices; `names_matrices`:
    that, or pointers to such; `subgroups`: it calls builtins of the subgroup; `calls_kernel`: it calls one as a
    function; `calls` are the functions that it calls itself."""

    matrices: bool = False
    names_matrices: bool = False
    subgroups: bool = False
    calls_kernel: bool = False
    calls: dict[typed.FunctionDecl, None] = field(default_factory=dict)


class CallGraph:
    """Of a unit; `names_matrix` says whether a type does."""

    def __init__(self, unit: typed.Unit, names_matrix: Callable[[Type], bool]) -> None:
        self._names_matrix = names_matrix
        # By identity, which is much cheaper than hashing; the entry keeps the type alive.
        self._types: dict[int, tuple[Type, bool]] = {}
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
                if isinstance(node, typed.Call):
                    facts.calls.setdefault(node.function)
                    facts.calls_kernel |= node.function.is_kernel
                elif isinstance(node, typed.BuiltinCall):
                    row = builtins.find(node.name)
                    facts.subgroups |= row is not None and row.subgroup
                elif isinstance(node, typed.MatrixCoordinates):
                    facts.matrices = facts.names_matrices = True
        return facts

    def _see(self, facts: Facts, t: Type) -> None:
        if not self._has_matrices:
            return
        known = self._types.get(id(t))
        if known is None:
            known = self._types[id(t)] = (t, self._names_matrix(t))
        if known[1]:
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
                here, is_ready = work.pop()
                if is_ready:
                    order.append(here)
                elif here not in begun:
                    begun.add(here)
                    work.append((here, True))
                    work += [(callee, False) for callee in reversed(self.facts(here).calls) if callee not in begun]
            self._reached[function] = tuple(order)
        return self._reached[function]

    def uses(self, function: typed.FunctionDecl, what: str) -> bool:
        """Whether it or one that it calls does: the name of a field of `Facts`."""
        if what not in self._users:
            callers: dict[typed.FunctionDecl, list[typed.FunctionDecl]] = {}
            for caller, facts in self._facts.items():
                for callee in facts.calls:
                    callers.setdefault(callee, []).append(caller)
            work = [here for here, facts in self._facts.items() if getattr(facts, what)]
            users = self._users[what] = set(work)
            while work:
                new = set(callers.get(work.pop(), ())) - users
                users |= new
                work += new
        return function in self._users[what]
