"""Whether a device supports the matrix types and multiply-adds of a unit: for the native route, where it has to.

Each type and each multiply-add is told of once, where it is first met.
"""

from __future__ import annotations

from ..diagnostics import Diagnostics, Note, Span
from ..matrices.supported import Supported, multiply_add
from ..matrices.variants import MatrixType, Operands, Variant
from . import typed
from .matrix_terms import matrix_type
from .nodes import Node, walk
from .types import ArrayType, CoopMatrixType, PointerType, RecordType, Type
from .uniformity.function import in_order

# A message and its notes.
Told = tuple[str, list[Note]]
TYPE, MULTIPLY_ADD = "coop-mat-target-type", "coop-mat-target-mul-add"


def check(unit: typed.Unit, supported: Supported, device: str, diagnostics: Diagnostics) -> None:
    """Errors about what kernels use, or all functions where there is none. `device` is its name for messages."""
    _Check(supported, device, diagnostics).unit(unit)


def about_type(supported: Supported, device: str, matrix: MatrixType) -> Told:
    """What to tell of a matrix type that the device lacks."""
    nearest = supported.nearest_types(matrix)
    notes = [f"the nearest that it has: {', '.join(other.name for other in nearest)}"] if nearest else []
    return f"{device} does not support the matrix type {matrix.name}", _notes(supported, notes)


def about_multiply_add(supported: Supported, device: str, variant: Variant) -> Told:
    """What to tell of a multiply-add that the device lacks."""
    nearest = supported.nearest_multiply_adds(variant)
    notes = [f"it has {other.name}, which is the same in {shared} of 8 points" for other, shared in nearest]
    return f"{device} does not support the multiply-add {variant.name}", _notes(supported, notes)


def _notes(supported: Supported, texts: list[str]) -> list[Note]:
    nothing = [] if supported.variants else ["it supports no cooperative matrices at all"]
    way = "--matrices one and --matrices lanes compute it without the device's matrix instructions"
    return [Note(text) for text in (*texts, *nothing, way)]


class _Check:
    def __init__(self, supported: Supported, device: str, diagnostics: Diagnostics) -> None:
        self.supported, self.device, self.diagnostics = supported, device, diagnostics
        self.types: dict[Type, bool] = {}
        self.multiply_adds: set[Variant] = set()

    def unit(self, unit: typed.Unit) -> None:
        in_use = used(unit)
        for function in in_order(unit)[0]:
            if function in in_use:
                self.type(function.type.result, function.span)
                for node in walk(*function.parameters, function.body):
                    self.node(node)

    def node(self, node: Node) -> None:
        if isinstance(node, (typed.Expr, typed.VarDecl)):
            self.type(node.type, node.span)
        if isinstance(node, typed.MatrixLength):
            self.type(node.matrix, node.span)
        if isinstance(node, typed.MatrixMulAdd):
            self.multiply_add(node)

    def type(self, t: Type, span: Span) -> bool:
        """Whether the type, and what it holds, is supported."""
        known = self.types.get(t)
        if known is None:
            self.types[t] = True  # a record may lead back to itself
            known = self.types[t] = self.new_type(t, span)
        return known

    def new_type(self, t: Type, span: Span) -> bool:
        if isinstance(t, CoopMatrixType):
            return self.matrix(t, span)
        if isinstance(t, ArrayType):
            return self.type(t.element, span)
        if isinstance(t, PointerType):
            return self.type(t.pointee, span)
        if isinstance(t, RecordType):
            fields = [self.type(item.type, span) for item in t.fields or ()]
            return all(fields)
        return True

    def matrix(self, t: CoopMatrixType, span: Span) -> bool:
        wanted = matrix_type(t)
        if self.supported.has_type(wanted):
            return True
        self.error(TYPE, about_type(self.supported, self.device, wanted), span)
        return False

    def multiply_add(self, e: typed.MatrixMulAdd) -> None:
        types = [m.type for m in (e.a, e.b, e.c) if isinstance(m.type, CoopMatrixType)]
        # Of types that it does not have there is nothing more to tell.
        known = [self.type(t, e.span) for t in types]
        if not all(known):
            return
        a, b, c = map(matrix_type, types)
        # The bits say nothing about floating point.
        wanted = multiply_add(a, b, c, Operands(e.operands if c.component.is_integer else 0))
        if self.supported.has_multiply_add(wanted) or wanted in self.multiply_adds:
            return
        self.multiply_adds.add(wanted)
        self.error(MULTIPLY_ADD, about_multiply_add(self.supported, self.device, wanted), e.span)

    def error(self, code: str, text: Told, span: Span) -> None:
        message, notes = text
        self.diagnostics.error(code, message, span, notes=notes)


def used(unit: typed.Unit) -> set[typed.FunctionDecl]:
    """Kernels and what they call; all functions where there is no kernel."""
    found = set(unit.kernels or unit.functions)
    work = list(found)
    while work:
        called = [node.function for node in walk(work.pop().body) if isinstance(node, typed.Call)]
        work += [function for function in dict.fromkeys(called) if function not in found]
        found.update(called)
    return found
