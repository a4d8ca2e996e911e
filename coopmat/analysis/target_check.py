"""The check for the native route that a device supports the matrix types and multiply-adds of a unit.

Each type and each multiply-add is reported once, at its first use.
"""

from __future__ import annotations

from ..diagnostics import Diagnostics, Note, Span
from ..frontend import typed
from ..frontend.calls import callees
from ..frontend.matrix_terms import matrix_type
from ..frontend.nodes import Node, walk
from ..frontend.types import ArrayType, CoopMatrixType, PointerType, RecordType, Type
from ..graphs import reachable
from ..matrices.supported import Supported, multiply_add
from ..matrices.variants import MatrixType, Operands, Variant
from .uniformity.function import in_order

# (message, notes)
Message = tuple[str, list[Note]]
TYPE, MULTIPLY_ADD = "coop-mat-target-type", "coop-mat-target-mul-add"


def check(unit: typed.Unit, supported: Supported, device: str, diagnostics: Diagnostics) -> None:
    """Report errors in kernels and their callees; in a unit without kernels, in all functions.

    `device` is the device's name for messages.
    """
    _Check(supported, device, diagnostics).unit(unit)


def about_type(supported: Supported, device: str, matrix: MatrixType) -> Message:
    """Return the message and notes for a matrix type that the device lacks."""
    nearest = supported.nearest_types(matrix)
    notes = [f"the nearest supported types: {', '.join(other.name for other in nearest)}"] if nearest else []
    return f"{device} does not support the matrix type {matrix.name}", _notes(supported, notes)


def about_multiply_add(supported: Supported, device: str, variant: Variant) -> Message:
    """Return the message and notes for a multiply-add that the device lacks."""
    nearest = supported.nearest_multiply_adds(variant)
    notes = [f"it supports {other.name}, which is equal in {shared} of 8 parameters" for other, shared in nearest]
    return f"{device} does not support the multiply-add {variant.name}", _notes(supported, notes)


def _notes(supported: Supported, texts: list[str]) -> list[Note]:
    nothing = [] if supported.variants else ["the device supports no cooperative matrices at all"]
    way = "--matrices one and --matrices lanes compute it without the device's matrix instructions"
    return [Note(text) for text in (*texts, *nothing, way)]


class _Check:
    def __init__(self, supported: Supported, device: str, diagnostics: Diagnostics) -> None:
        self.supported, self.device, self.diagnostics = supported, device, diagnostics
        self.types: dict[Type, bool] = {}
        self.multiply_adds: set[Variant] = set()

    def unit(self, unit: typed.Unit) -> None:
        in_use = used(unit)
        for function in in_order(unit):
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
        """Return whether the type, and every type in it, is supported."""
        is_supported = self.types.get(t)
        if is_supported is None:
            self.types[t] = True  # a record may contain a pointer to itself
            is_supported = self.types[t] = self.new_type(t, span)
        return is_supported

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
        required_type = matrix_type(t)
        if self.supported.has_type(required_type):
            return True
        self.error(TYPE, about_type(self.supported, self.device, required_type), span)
        return False

    def multiply_add(self, e: typed.MatrixMulAdd) -> None:
        types = [m.type for m in (e.a, e.b, e.c) if isinstance(m.type, CoopMatrixType)]
        # For an unsupported type, an error has been reported already.
        support = [self.type(t, e.span) for t in types]
        if not all(support):
            return
        a, b, c = map(matrix_type, types)
        # The signedness bits of the operands are meaningless for floating-point types.
        variant = multiply_add(a, b, c, Operands(e.operands if c.component.is_integer else 0))
        if self.supported.has_multiply_add(variant) or variant in self.multiply_adds:
            return
        self.multiply_adds.add(variant)
        self.error(MULTIPLY_ADD, about_multiply_add(self.supported, self.device, variant), e.span)

    def error(self, code: str, text: Message, span: Span) -> None:
        message, notes = text
        self.diagnostics.error(code, message, span, notes=notes)


def used(unit: typed.Unit) -> set[typed.FunctionDecl]:
    """Return the unit's roots and their direct and indirect callees."""
    return reachable(unit.roots, callees)
