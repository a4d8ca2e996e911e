"""The verifier of typed units, which runs before, between and after passes.

It checks each node by the rule of its class (`rules`), that operands are lvalues or rvalues as their class
declares, that every name has a declaration, that jumps and labels are where they may be, and that no type remains that
a pass has removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache

from ...diagnostics import InternalError
from ...frontend import typed
from ...frontend.nodes import Node, child_fields, children, subclasses, walk
from ...frontend.typed import ConvertKind, Expr, LValue
from ...frontend.types import Type, VoidType
from ..storage import names
from .rules import RULES, Rule, agree

_LOOPS = (typed.For, typed.While, typed.DoWhile)


def check(unit: typed.Unit, after: str, removed: tuple[type, ...] = ()) -> None:
    """Raise InternalError for the first fault in the unit; `after` names the pass that is to blame."""
    for fault in _faults(unit, removed):
        raise InternalError(f"the pass {after} made an invalid unit", fault)


def complete(rules: Mapping[type, Rule]) -> Mapping[type, Rule]:
    """Return the table of rules. Raise TypeError if a class of the typed AST has no rule."""
    kinds = [kind for kind in subclasses(Node) if kind.__module__.startswith(typed.__name__)]
    bases = {kind.__name__ for kind in kinds if kind.__subclasses__()}
    missing = {kind.__name__ for kind in kinds} - bases - {kind.__name__ for kind in rules}
    if missing:
        raise TypeError(f"node classes without a rule in {__name__}.rules: {', '.join(sorted(missing))}")
    return rules


_RULES = complete(RULES)


def _faults(unit: typed.Unit, removed: tuple[type, ...]) -> Iterator[str]:
    functions = set(unit.functions)
    types: dict[int, Type] = {}
    yield from _faults_in(unit.variables, set(unit.variables), functions, types, "at file scope")
    for decl in unit.functions:
        if not _RULES[typed.FunctionDecl](decl):
            yield f"the parameters of '{decl.name}' are not those of its type"
        where = f"in '{decl.name}'"
        declared = {*unit.variables, *decl.parameters}
        yield from _faults_in([*decl.parameters, decl.body], declared, functions, types, where)
        if decl.body is not None:
            yield from (f"{_described(node, where)} is misplaced" for node in _misplaced(decl.body))
            yield from (f"{_described(node, where)} returns a wrong type" for node in _wrong_returns(decl))
    for t in types.values():
        for own in removed:
            if names(t, own):
                yield f"the type '{t}' is still there"


def _described(node: Node, where: str) -> str:
    return f"{node.span}: {type(node).__name__} {where}"


def _faults_in(
    roots: Sequence[Node | None],
    declared: set[typed.VarDecl],
    functions: set[typed.FunctionDecl],
    types: dict[int, Type],
    where: str,
) -> Iterator[str]:
    """Yield the faults in these trees, and add their types to `types`, by id.

    declared: the variables that the trees may name, besides those that they declare.
    functions: the functions that the trees may call.
    """
    nodes = list(walk(*roots))
    declared.update(node for node in nodes if isinstance(node, typed.VarDecl))
    for node in nodes:
        kind = type(node)
        if isinstance(node, (Expr, typed.VarDecl)):
            types[id(node.type)] = node.type
        if isinstance(node, typed.VarRef) and node.decl not in declared:
            yield f"{_described(node, where)} names '{node.decl.name}', which is not declared"
        if isinstance(node, typed.CALLS) and node.function not in functions:
            yield f"{_described(node, where)} calls '{node.function.name}', which is not in the unit"
        if not _has_operands(node) or not _RULES[kind](node):
            yield f"{_described(node, where)} has operands of wrong types"


@cache
def _operands(kind: type[Node]) -> tuple[tuple[str, bool], ...]:
    """Return (name, whether it holds an lvalue) of the fields that hold one operand, by their annotations."""
    texts = {item.name: str(item.type) for item in fields(kind)}
    single = {"LValue": True, "Expr": False, "Expr | None": False}
    return tuple((name, single[texts[name]]) for name in child_fields(kind) if texts[name] in single)


def _has_operands(node: Node) -> bool:
    """Return whether the operands are lvalues or rvalues as the class declares; an array that decays is an lvalue."""
    for name, is_lvalue in _operands(type(node)):
        operand = getattr(node, name)
        if operand is not None and isinstance(operand, LValue) is not is_lvalue:
            return isinstance(node, typed.Convert) and node.kind is ConvertKind.DECAY
    return True


def _misplaced(body: typed.Stmt) -> Iterator[Node]:
    """Yield each label and jump without the loop, switch or label that it belongs to."""
    labels = {node.name for node in walk(body) if isinstance(node, typed.Label)}
    # (statement, whether it is in a loop, whether in a loop or switch, innermost switch, its cases)
    work: list[tuple[Node, bool, bool, typed.Switch | None, set[int]]] = [(body, False, False, None, set())]
    while work:
        node, loop, breakable, switch, cases = work.pop()
        if isinstance(node, _LOOPS):
            loop = breakable = True
        elif isinstance(node, typed.Switch):
            breakable, switch, cases = True, node, set(node.cases)
        elif isinstance(node, typed.StatementExpression):
            loop, breakable, switch, cases = False, False, None, set()
        elif isinstance(node, typed.Case):
            if switch is None or not (switch.has_default if node.value is None else node.value in cases):
                yield node
        elif (
            (isinstance(node, typed.Break) and not breakable)
            or (isinstance(node, typed.Continue) and not loop)
            or (isinstance(node, typed.Goto) and node.label not in labels)
        ):
            yield node
        work += [(child, loop, breakable, switch, cases) for child in children(node)]


def _wrong_returns(decl: typed.FunctionDecl) -> Iterator[Node]:
    for node in walk(decl.body):
        if isinstance(node, typed.Return):
            t: Type = VoidType() if node.value is None else node.value.type
            if not agree(t, decl.type.result):
                yield node
