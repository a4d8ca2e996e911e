"""Which function of the matrix library an operation of the language is: one answer for every writer."""

from __future__ import annotations

from dataclasses import dataclass

from ..diagnostics import InternalError
from ..matrices import lowering
from ..matrices.lowering import Instance
from ..matrices.strategies import Strategy
from ..matrices.variants import COMPONENT_TYPES, ComponentType, Layout, Operands
from . import typed
from .matrix_terms import matrix_type
from .types import AddressSpace, CoopMatrixType, PointerType, ScalarType, Type, VectorType, element_type

COMPONENTS = {component.opencl_c: component for component in COMPONENT_TYPES.values()}


@dataclass(frozen=True, slots=True)
class Access:
    """Of memory. `space` is the pointer's as far as it is known, which may be more than its type tells; `layout` is
    SPIR-V's number, 2 for packed; `checked`: with bounds."""

    space: AddressSpace
    layout: int
    volatile: bool
    checked: bool

    @property
    def _kind(self) -> tuple[str, Layout, bool, bool]:
        return str(self.space), Layout(self.layout), self.volatile, self.checked


def load(matrix: CoopMatrixType, access: Access) -> Instance:
    return lowering.Load(matrix_type(matrix), *access._kind)


def store(matrix: CoopMatrixType, access: Access) -> Instance:
    return lowering.Store(matrix_type(matrix), *access._kind)


def fill(matrix: CoopMatrixType) -> Instance:
    return lowering.Fill(matrix_type(matrix))


def length(matrix: CoopMatrixType) -> Instance:
    return lowering.Length(matrix_type(matrix))


def binary(matrix: CoopMatrixType, op: str) -> Instance:
    """`op` is add, sub, mul, div, or scalar_mul with a scalar on the right."""
    if op == "scalar_mul":
        return lowering.ScalarMultiply(matrix_type(matrix))
    return lowering.Binary(matrix_type(matrix), op)


def negate(matrix: CoopMatrixType) -> Instance:
    return lowering.Negate(matrix_type(matrix))


def convert(e: typed.MatrixConvert) -> Instance:
    to = matrix_type(_matrix(e.type)).component
    return lowering.Convert(matrix_type(_matrix(e.operand.type)), to, e.rounding, e.saturate)


def coordinates(matrix: CoopMatrixType) -> Instance:
    return lowering.Coord(matrix_type(matrix))


def multiply_add(e: typed.MatrixMulAdd) -> Instance:
    a, b, c = (matrix_type(_matrix(m.type)) for m in (e.a, e.b, e.c))
    return lowering.MultiplyAdd(a, b, c, Operands(e.operands))


def get(matrix: CoopMatrixType) -> Instance:
    return lowering.Get(matrix_type(matrix))


def set(matrix: CoopMatrixType) -> Instance:
    return lowering.Set(matrix_type(matrix))


@dataclass(frozen=True, slots=True)
class Substitute:
    """A library function for a subgroup builtin; it takes the first of the builtin's parameters. `each`: it is for
    scalars, and the builtin's vectors want it for each component."""

    instance: Instance
    each: bool


def substitute(strategy: Strategy, e: typed.BuiltinCall) -> Substitute:
    """Where the strategy's subgroups are not the device's."""
    first = e.parameters[0] if e.parameters else None
    instance = lowering.substitute_builtin(strategy, e.name, _component(first))
    if instance is None:
        # The device's own would speak of subgroups that are not there.
        raise InternalError(f"'{e.name}' has no meaning for --matrices {strategy.name}")
    parameters = instance.signature.parameters
    each = bool(parameters) and isinstance(first, VectorType) and parameters[0].type == first.element.name
    return Substitute(instance, each)


def _component(t: Type | None) -> ComponentType | None:
    """Of a scalar, a vector, or what a pointer is to."""
    element = element_type(t.pointee if isinstance(t, PointerType) else t) if t is not None else None
    return COMPONENTS.get(element.name) if isinstance(element, ScalarType) else None


def _matrix(t: Type) -> CoopMatrixType:
    if not isinstance(t, CoopMatrixType):
        raise InternalError(f"'{t}' is no cooperative matrix")
    return t
