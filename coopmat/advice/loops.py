"""The loops of a unit that multiply matrices, and what is known of the integers in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ..diagnostics import Diagnostic, Severity
from ..frontend import typed
from ..frontend.calls import CallGraph
from ..frontend.matrix_terms import matrix_type
from ..frontend.nodes import Node, walk
from ..frontend.types import AddressSpace, CoopMatrixType, PointerType
from ..matrices.variants import MatrixType, Use

_LOOPS = (typed.For, typed.While, typed.DoWhile)


@dataclass(frozen=True, slots=True)
class MultiplyAdd:
    """A multiply-add in a loop, with the types of its operands."""

    node: typed.MatrixMulAdd
    a: MatrixType
    b: MatrixType
    c: MatrixType

    @property
    def tile(self) -> tuple[int, int, int]:
        """M, N and K."""
        return self.c.rows, self.c.columns, self.a.columns


@dataclass(slots=True)
class HotFunction:
    """A function with loops that multiply matrices.

    loads: the loads of factors from global memory in these loops, with their types.
    arguments: name -> value of integer parameters in a launch, as far as they are known.
    """

    decl: typed.FunctionDecl
    multiply_adds: list[MultiplyAdd]
    loads: list[tuple[typed.MatrixLoad, MatrixType]]
    arguments: Mapping[str, int] = field(default_factory=dict)
    # variable -> the values that are stored in it; None for a change of another kind
    _stored: dict[typed.VarDecl, list[typed.Expr | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in walk(self.decl.body):
            if isinstance(node, typed.VarDecl):
                self._store(node, node.initializer)
            elif isinstance(node, (typed.Assign, typed.CompoundAssign, typed.IncDec)):
                if isinstance(node.target, typed.VarRef):
                    self._store(node.target.decl, _added(node))
            elif isinstance(node, typed.AddressOf) and isinstance(node.operand, typed.VarRef):
                self._store(node.operand.decl, None)

    def _store(self, decl: typed.VarDecl, value: typed.Expr | None) -> None:
        self._stored.setdefault(decl, []).append(value)

    def reuse(self, load: typed.MatrixLoad, matrix: MatrixType) -> int:
        """Return for how many multiply-adds the loop uses each component of a loaded factor, or 0 for none."""
        if matrix.use is Use.A:
            return max((item.c.columns for item in self.multiply_adds if item.a == matrix), default=0)
        return max((item.c.rows for item in self.multiply_adds if item.b == matrix), default=0)

    def constant(self, e: typed.Expr, *, of_launch: bool = False) -> int | None:
        """Return the value of an integer expression, or None if the source does not state the value.

        of_launch: whether the arguments of the launch count as stated.
        """
        if isinstance(e, typed.IntConst):
            return e.value
        if isinstance(e, typed.Convert):
            return self.constant(e.operand, of_launch=of_launch)
        if isinstance(e, typed.Load) and isinstance(e.operand, typed.VarRef):
            decl = e.operand.decl
            values = self._stored.get(decl, [])
            if decl.storage == "parameter":
                return self.arguments.get(decl.name) if of_launch and not values else None
            return values[0].value if len(values) == 1 and isinstance(values[0], typed.IntConst) else None
        return None

    def is_multiple(self, e: typed.Expr, n: int, assumed: frozenset[typed.VarDecl] = frozenset()) -> bool:
        """Return whether an integer expression is certainly a multiple of n, if the variables `assumed` are."""
        if isinstance(e, typed.IntConst):
            return e.value % n == 0
        if isinstance(e, typed.Convert):
            return self.is_multiple(e.operand, n, assumed)
        if isinstance(e, typed.Binary) and e.op in ("add", "sub", "mul"):
            sides = (self.is_multiple(side, n, assumed) for side in (e.left, e.right))
            return any(sides) if e.op == "mul" else all(sides)
        if isinstance(e, typed.Load) and isinstance(e.operand, typed.VarRef):
            decl = e.operand.decl
            if decl.storage == "parameter":
                return False
            values = self._stored.get(decl, [None])
            return decl in assumed or all(v is not None and self.is_multiple(v, n, assumed | {decl}) for v in values)
        return False


def _added(node: typed.Assign | typed.CompoundAssign | typed.IncDec) -> typed.Expr | None:
    """Return the value that an assignment stores, adds or subtracts; None for any other change."""
    if isinstance(node, typed.Assign) or (isinstance(node, typed.CompoundAssign) and node.op in ("add", "sub")):
        return node.value
    return None


def warning(name: str, place: typed.Expr, message: str) -> Diagnostic:
    """Return the warning -Wmatrix-performance-NAME about an expression."""
    return Diagnostic(Severity.WARNING, f"matrix-performance-{name}", message, place.span)


def hot_functions(unit: typed.Unit) -> Iterator[HotFunction]:
    """Yield the functions in use whose loops multiply matrices."""
    in_use = CallGraph(unit).in_use()
    for decl in unit.functions:
        if decl not in in_use or decl.body is None:
            continue
        nodes: dict[int, Node] = {}
        for loop in (node for node in walk(decl.body) if isinstance(node, _LOOPS)):
            inner = list(walk(loop))
            if any(isinstance(node, typed.MatrixMulAdd) for node in inner):
                nodes |= {id(node): node for node in inner}
        products = [_multiply_add(node) for node in nodes.values() if isinstance(node, typed.MatrixMulAdd)]
        if products:
            yield HotFunction(decl, products, list(_loads(nodes.values())))


def _multiply_add(node: typed.MatrixMulAdd) -> MultiplyAdd:
    a, b, c = (_matrix(operand) for operand in (node.a, node.b, node.c))
    return MultiplyAdd(node, a, b, c)


def _matrix(e: typed.Expr) -> MatrixType:
    assert isinstance(e.type, CoopMatrixType)
    return matrix_type(e.type)


def _loads(nodes: Iterable[Node]) -> Iterator[tuple[typed.MatrixLoad, MatrixType]]:
    for node in nodes:
        if isinstance(node, typed.MatrixLoad):
            matrix, pointer = _matrix(node), node.pointer.type
            is_global = isinstance(pointer, PointerType) and pointer.qualifiers.space is AddressSpace.GLOBAL
            if is_global and matrix.use is not Use.ACCUMULATOR:
                yield node, matrix
