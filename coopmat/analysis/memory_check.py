"""The check for the native route that matrices in memory meet a device's requirements on strides and addresses.

Only certain faults are reported: strides and addresses that are misaligned for all values that a launch may provide.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from math import gcd

from ..diagnostics import Diagnostics, Note, Span
from ..frontend import typed
from ..frontend.matrix_terms import matrix_type
from ..frontend.nodes import walk
from ..frontend.types import (
    AddressSpace,
    ArrayType,
    CoopMatrixType,
    PointerType,
    RecordType,
    ScalarType,
    align_of,
    size_of,
)
from ..matrices.memory_rules import Congruence, MemoryRules
from ..matrices.variants import ComponentType, Layout
from .target_check import used

STRIDE, POINTER, ARGUMENT = "coop-mat-target-stride", "coop-mat-target-pointer", "coop-mat-alignment"
_BY_INSTRUCTION = (Layout.ROW_MAJOR, Layout.COLUMN_MAJOR)
_SPACES = (AddressSpace.GLOBAL, AddressSpace.LOCAL, AddressSpace.CONSTANT)
_BUFFERS = (AddressSpace.GLOBAL, AddressSpace.CONSTANT)
# Buffers are aligned to the size in bytes of the largest type, long16 (clGetDeviceInfo, CL_DEVICE_MEM_BASE_ADDR_ALIGN).
_BUFFER = 128
_ANY = Congruence()


def check(unit: typed.Unit, rules: MemoryRules, device: str, diagnostics: Diagnostics) -> None:
    """Report errors; if a fault depends on the host's argument, report the warning `coop-mat-alignment`.

    `device` is the device's name for messages.
    """
    reachable = used(unit)
    for function in unit.functions:
        if function in reachable and function.body is not None:
            _Function(function, rules, device, diagnostics).run()


def about_stride(
    rules: MemoryRules, device: str, component: ComponentType, stride: int | None
) -> tuple[str, list[Note]]:
    """Return the message and notes for a stride that is not a multiple of the required one.

    `stride` is in components; None if the value is not known.
    """
    multiple = rules.multiple(component)
    subject = "this stride" if stride is None else f"a stride of {stride} components ({stride * component.size} bytes)"
    notes = [] if stride is None else [Note(f"the next larger multiple: {rules.pitch(component, stride)} components")]
    way = "--matrices one and --matrices lanes accept any stride"
    needed = f"{multiple} bytes ({rules.step(component)} components)"
    message = f"{subject} is not a multiple of {needed}, which {device} requires"
    return message, [*notes, Note(way)]


class _Function:
    """An analysis of the possible values and addresses in one function, as congruences."""

    def __init__(self, function: typed.FunctionDecl, rules: MemoryRules, device: str, diagnostics: Diagnostics) -> None:
        self.function, self.rules, self.device, self.diagnostics = function, rules, device, diagnostics
        self.assigned_variables: set[typed.VarDecl] = set()
        # variable that keeps its initial value -> (its possible values, whether they derive from a kernel argument).
        self.initial_values: dict[typed.VarDecl, tuple[Congruence, bool]] = {}
        # Whether the address computed last derives from a kernel argument.
        self.of_host = False

    def run(self) -> None:
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
                    self.access(node, node.type)
                elif isinstance(node, typed.MatrixStore) and isinstance(node.matrix.type, CoopMatrixType):
                    self.access(node, node.matrix.type)

    def change(self, target: typed.Expr) -> None:
        while isinstance(target, (typed.Member, typed.Index, typed.Swizzle)):
            target = target.base
        if isinstance(target, typed.VarRef):
            self.assigned_variables.add(target.decl)

    def access(self, e: typed.MatrixLoad | typed.MatrixStore, matrix: CoopMatrixType) -> None:
        pointer = e.pointer.type
        assert isinstance(pointer, PointerType)
        if e.bounds is not None or e.layout not in _BY_INSTRUCTION or pointer.qualifiers.space not in _SPACES:
            return  # a staged access, which is by components and needs no alignment
        component = matrix_type(matrix).component
        stride = self.number(e.stride)
        if (stride * Congruence(0, component.size)).never_multiple_of(self.rules.multiple(component)):
            component_stride = stride.rest if stride.step == 0 else None
            message, notes = about_stride(self.rules, self.device, component, component_stride)
            self.diagnostics.error(STRIDE, message, e.stride.span, notes=notes)
        self.of_host = False
        self.start(self.pointer(e.pointer), component, e.pointer.span)

    def start(self, address: Congruence, component: ComponentType, span: Span) -> None:
        alignment = self.rules.alignment(component)
        if not address.never_multiple_of(alignment):
            return
        offset = address.rest % gcd(address.step, alignment)
        message = f"misaligned matrix: its address is {offset} modulo {alignment}"
        rule = f"{self.device} requires {alignment}-byte alignment"
        if self.of_host:
            self.diagnostics.warning(ARGUMENT, f"{message} if the argument is a buffer, and {rule}", span)
        else:
            self.diagnostics.error(POINTER, f"{message}, and {rule}", span)

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
        return _ANY if decl is None else self.initial(decl, self.number)

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
            return _ANY
        if decl not in self.initial_values:
            self.initial_values[decl] = _ANY, False  # the initializer may refer to the variable itself
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
            return _ANY
        space = decl.type.qualifiers.space if isinstance(decl.type, PointerType) else None
        if decl.storage == "parameter" and self.function.is_kernel and space in _BUFFERS:
            self.of_host = True
            return Congruence(_BUFFER)
        return self.initial(decl, self.pointer)

    def place(self, e: typed.Expr) -> Congruence:
        if isinstance(e, typed.VarRef) and e.decl.storage == "static":
            return Congruence(object_alignment(e.decl, self.rules))
        if isinstance(e, typed.Index):
            return self.place(e.base) + self.number(e.index) * Congruence(0, size_of(e.type))
        if isinstance(e, typed.Member) and isinstance(e.base.type, RecordType) and e.base.type.fields:
            return self.place(e.base) + Congruence(0, e.base.type.fields[e.index].offset)
        return self.pointer(e.pointer) if isinstance(e, typed.Deref) else _ANY


def object_alignment(decl: typed.VarDecl, rules: MemoryRules) -> int:
    """Return the alignment in bytes of an object in static storage; arrays and records are aligned for matrices."""
    placed = rules.placement if isinstance(decl.type, (ArrayType, RecordType)) else 1
    return max(align_of(decl.type), decl.alignment or 1, placed)


def _shifted(left: Congruence, right: Congruence) -> Congruence:
    is_constant = right.step == 0 and 0 <= right.rest < 64
    return left * Congruence(0, 1 << right.rest) if is_constant else _ANY


_OPERATORS: dict[str, Callable[[Congruence, Congruence], Congruence]] = {
    "add": Congruence.__add__,
    "sub": Congruence.__sub__,
    "mul": Congruence.__mul__,
    "shl": _shifted,
}
