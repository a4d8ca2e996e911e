"""Which functions operate on matrices, themselves or through others; and an order in which callees come first."""

from __future__ import annotations

from .. import typed
from ..nodes import walk
from ..types import CoopMatrixType

# Operations of the subgroup; taking a component, the length and the coordinates are a work-item's own.
OPERATIONS = (
    typed.MatrixLoad,
    typed.MatrixStore,
    typed.MatrixMulAdd,
    typed.MatrixFill,
    typed.MatrixBinary,
    typed.MatrixScale,
    typed.MatrixNegate,
    typed.MatrixConvert,
)


def is_operation(node: object) -> bool:
    if isinstance(node, typed.CompoundAssign):
        return isinstance(node.target.type, CoopMatrixType)
    return isinstance(node, OPERATIONS)


def in_order(unit: typed.Unit) -> tuple[list[typed.FunctionDecl], set[typed.FunctionDecl]]:
    """The functions with bodies, each after those that it calls (cycles are cut); those that operate on matrices."""
    calls: dict[typed.FunctionDecl, list[typed.FunctionDecl]] = {}
    with_matrices: set[typed.FunctionDecl] = set()
    for function in unit.functions:
        if function.body is not None:
            calls[function], operates = _look(function.body)
            if operates:
                with_matrices.add(function)
    order: list[typed.FunctionDecl] = []
    seen: set[typed.FunctionDecl] = set()
    for start in calls:
        work = [(start, iter(calls[start]))] if start not in seen else []
        seen.add(start)
        while work:
            function, rest = work[-1]
            callee = next((f for f in rest if f in calls and f not in seen), None)
            if callee is not None:
                seen.add(callee)
                work.append((callee, iter(calls[callee])))
                continue
            work.pop()
            order.append(function)
            if any(f in with_matrices for f in calls[function]):
                with_matrices.add(function)
    return order, with_matrices


def _look(body: typed.Block) -> tuple[list[typed.FunctionDecl], bool]:
    calls: list[typed.FunctionDecl] = []
    operates = False
    for node in walk(body):
        operates = operates or is_operation(node)
        if isinstance(node, typed.Call):
            calls.append(node.function)
    return calls, operates
