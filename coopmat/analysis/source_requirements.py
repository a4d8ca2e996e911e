"""What a unit of OpenCL C requires of a device: matrix types, multiply-adds, strides and addresses.

The possible strides and addresses include every value that a launch may provide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

from ..diagnostics import Span
from ..frontend import typed
from ..frontend.calls import CallGraph
from ..frontend.matrix_terms import matrix_type
from ..frontend.nodes import walk
from ..frontend.types import (
    AddressSpace,
    ArrayType,
    CoopMatrixType,
    PointerType,
    RecordType,
    ScalarType,
    Type,
    align_of,
    contained,
    size_of,
)
from ..matrices.memory_rules import ANY, Congruence, MemoryRules
from .target_check import Requirement

_SPACES = (AddressSpace.GLOBAL, AddressSpace.LOCAL, AddressSpace.CONSTANT)
_BUFFERS = (AddressSpace.GLOBAL, AddressSpace.CONSTANT)
# Buffers are aligned to the size in bytes of the largest type, long16 (clGetDeviceInfo, CL_DEVICE_MEM_BASE_ADDR_ALIGN).
_BUFFER = 128


def find_requirements(unit: typed.Unit, rules: MemoryRules | None) -> Iterator[Requirement]:
    """Yield what kernels and their callees, in a unit without kernels all functions, require of a device.

    Accesses to memory are omitted if `rules`, the device's requirements on them, is None.
    """
    known_types: set[Type] = set()

    def of_type(t: Type, span: Span) -> Iterator[Requirement]:
        if t not in known_types:
            known_types.add(t)
            for part in contained(t, pointees=True):
                if isinstance(part, CoopMatrixType):
                    yield Requirement(span, (matrix_type(part),))

    in_use = CallGraph(unit).in_use()
    for function in unit.functions:
        if function in in_use and function.body is not None:
            yield from of_type(function.type.result, function.span)
            for node in walk(*function.parameters, function.body):
                if isinstance(node, (typed.Expr, typed.VarDecl)):
                    yield from of_type(node.matrix if isinstance(node, typed.MatrixLength) else node.type, node.span)
                if isinstance(node, typed.MatrixMulAdd):
                    types = [m.type for m in (node.a, node.b, node.c) if isinstance(m.type, CoopMatrixType)]
                    yield Requirement(node.span, tuple(map(matrix_type, types)), node.operands)
            if rules is not None:
                yield from _Function(function, rules.placement).requirements()


class _Function:
    """An analysis of the strides and addresses that a function's matrix loads and stores may have, as congruences.

    `TargetCheck` compares them with the rules of the device.

    placement: the alignment in bytes of arrays and records that the compiler allocates.
    """

    def __init__(self, function: typed.FunctionDecl, placement: int) -> None:
        self.function, self.placement = function, placement
        self.assigned_variables: set[typed.VarDecl] = set()
        # variable that keeps its initial value -> (its possible values, whether they derive from a kernel argument).
        self.initial_values: dict[typed.VarDecl, tuple[Congruence, bool]] = {}
        # Whether the address computed last derives from a kernel argument.
        self.of_host = False

    def requirements(self) -> Iterator[Requirement]:
        nodes = list(walk(self.function.body))
        for node in nodes:
            if isinstance(node, (typed.Assign, typed.CompoundAssign, typed.IncDec)):
                self.change(node.target)
            elif isinstance(node, typed.AddressOf):
                self.change(node.operand)
        for node in nodes:
            # Expressions that are nested too deeply are not checked.
            with suppress(RecursionError):
                if isinstance(node, typed.MatrixLoad) and isinstance(node.type, CoopMatrixType):
                    yield from self.access(node, node.type)
                elif isinstance(node, typed.MatrixStore) and isinstance(node.matrix.type, CoopMatrixType):
                    yield from self.access(node, node.matrix.type)

    def change(self, target: typed.Expr) -> None:
        while isinstance(target, (typed.Member, typed.Index, typed.Swizzle)):
            target = target.base
        if isinstance(target, typed.VarRef):
            self.assigned_variables.add(target.decl)

    def access(self, e: typed.MatrixLoad | typed.MatrixStore, matrix: CoopMatrixType) -> Iterator[Requirement]:
        pointer = e.pointer.type
        assert isinstance(pointer, PointerType)
        if e.bounds is not None or pointer.qualifiers.space not in _SPACES:
            return  # a staged access, which is by components and needs no alignment
        matrices = (matrix_type(matrix),)
        stride = self.number(e.stride) * Congruence(0, matrices[0].component.size)
        yield Requirement(e.stride.span, matrices, layout=e.layout, stride=stride)
        self.of_host = False
        address = self.pointer(e.pointer)
        yield Requirement(e.pointer.span, matrices, layout=e.layout, address=address, of_host=self.of_host)

    # --- integers

    def number(self, e: typed.Expr) -> Congruence:
        if isinstance(e, typed.IntConst):
            return Congruence(0, e.value)
        bits = e.type.bits if isinstance(e.type, ScalarType) and e.type.is_integer else 0
        if isinstance(e, typed.Binary) and e.op in _OPERATORS and bits:
            return _OPERATORS[e.op](self.number(e.left), self.number(e.right)).modulo(bits)
        if isinstance(e, typed.Convert) and e.kind is typed.ConvertKind.INT_TO_INT and bits:
            return self.number(e.operand).modulo(bits)
        decl = self.constant_variable(e)
        return ANY if decl is None else self.initial(decl, self.number)

    def constant_variable(self, e: typed.Expr) -> typed.VarDecl | None:
        """Return the variable that `e` loads if the variable is never changed after its initialization; else None."""
        if not isinstance(e, typed.Load) or not isinstance(e.operand, typed.VarRef):
            return None
        decl = e.operand.decl
        own = decl.storage in ("automatic", "parameter") and not decl.qualifiers.volatile
        return decl if own and decl not in self.assigned_variables else None

    def initial(self, decl: typed.VarDecl, find: Callable[[typed.Expr], Congruence]) -> Congruence:
        """Return the possible values of a variable's initializer; `find` computes them."""
        if decl.initializer is None:
            return ANY
        if decl not in self.initial_values:
            self.initial_values[decl] = ANY, False  # the initializer may refer to the variable itself
            outer, self.of_host = self.of_host, False
            value = find(decl.initializer)
            self.initial_values[decl] = value, self.of_host
            self.of_host = outer
        value, of_host = self.initial_values[decl]
        self.of_host |= of_host
        return value

    # --- addresses

    def pointer(self, e: typed.Expr) -> Congruence:
        if isinstance(e, typed.PointerAdd) and isinstance(e.pointer.type, PointerType):
            step = Congruence(0, size_of(e.pointer.type.pointee))
            return self.pointer(e.pointer) + self.number(e.index) * step
        if isinstance(e, typed.AddressOf):
            return self.place(e.operand)
        if isinstance(e, typed.Convert):
            if e.kind is typed.ConvertKind.DECAY:
                return self.place(e.operand)
            if e.kind in (typed.ConvertKind.POINTER, typed.ConvertKind.ADDRESS_SPACE):
                return self.pointer(e.operand)
        decl = self.constant_variable(e)
        if decl is None:
            return ANY
        space = decl.type.qualifiers.space if isinstance(decl.type, PointerType) else None
        if decl.storage == "parameter" and self.function.is_kernel and space in _BUFFERS:
            self.of_host = True
            return Congruence(_BUFFER)
        return self.initial(decl, self.pointer)

    def place(self, e: typed.Expr) -> Congruence:
        if isinstance(e, typed.VarRef) and e.decl.storage == "static":
            return Congruence(self.alignment(e.decl))
        if isinstance(e, typed.Index):
            return self.place(e.base) + self.number(e.index) * Congruence(0, size_of(e.type))
        if isinstance(e, typed.Member) and isinstance(e.base.type, RecordType) and e.base.type.fields:
            return self.place(e.base) + Congruence(0, e.base.type.fields[e.index].offset)
        return self.pointer(e.pointer) if isinstance(e, typed.Deref) else ANY

    def alignment(self, decl: typed.VarDecl) -> int:
        """Return the alignment in bytes of an object in static storage; arrays and records are aligned for matrices."""
        placed = self.placement if isinstance(decl.type, (ArrayType, RecordType)) else 1
        return max(align_of(decl.type), decl.alignment or 1, placed)


def _shifted(left: Congruence, right: Congruence) -> Congruence:
    is_constant = right.step == 0 and 0 <= right.rest < 64
    return left * Congruence(0, 1 << right.rest) if is_constant else ANY


_OPERATORS: dict[str, Callable[[Congruence, Congruence], Congruence]] = {
    "add": Congruence.__add__,
    "sub": Congruence.__sub__,
    "mul": Congruence.__mul__,
    "shl": _shifted,
}
