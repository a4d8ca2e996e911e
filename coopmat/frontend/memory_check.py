"""Whether matrices lie in memory as a device wants them: for the native route, where its instructions read it.

What is certain is told: strides that are no multiple of the device's, and addresses that are none, whatever the values
are that only a launch knows.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from math import gcd

from ..diagnostics import Diagnostics, Note, Span
from ..matrices.memory_rules import Congruence, MemoryRules
from ..matrices.variants import ComponentType, Layout
from . import typed
from .matrix_terms import matrix_type
from .nodes import walk
from .target_check import used
from .types import AddressSpace, ArrayType, CoopMatrixType, PointerType, RecordType, ScalarType, align_of, size_of

STRIDE, POINTER, ARGUMENT = "coop-mat-target-stride", "coop-mat-target-pointer", "coop-mat-alignment"
_BY_INSTRUCTION = (Layout.ROW_MAJOR, Layout.COLUMN_MAJOR)
_SPACES = (AddressSpace.GLOBAL, AddressSpace.LOCAL, AddressSpace.CONSTANT)
_BUFFERS = (AddressSpace.GLOBAL, AddressSpace.CONSTANT)
# Buffers start at multiples of the largest type, long16 (clGetDeviceInfo, CL_DEVICE_MEM_BASE_ADDR_ALIGN).
_BUFFER = 128
_ANY = Congruence()


def check(unit: typed.Unit, rules: MemoryRules, device: str, diagnostics: Diagnostics) -> None:
    """Errors, and the warning `coop-mat-alignment` where it depends on the host. `device` is its name for messages."""
    for function in unit.functions:
        if function in used(unit) and function.body is not None:
            _Function(function, rules, device, diagnostics).run()


def about_stride(
    rules: MemoryRules, device: str, component: ComponentType, stride: int | None
) -> tuple[str, list[Note]]:
    """What to tell of a stride, in components where it is known, that is no multiple of what the device wants."""
    wanted = rules.multiple(component)
    given = "this stride" if stride is None else f"a stride of {stride} components ({stride * component.size} bytes)"
    notes = [] if stride is None else [Note(f"the next one that is: {rules.pitch(component, stride)} components")]
    way = "--matrices one and --matrices lanes take every stride"
    message = f"{given} is no multiple of {wanted} bytes ({rules.step(component)} components), as {device} wants it"
    return message, [*notes, Note(way)]


class _Function:
    """What the values and addresses in one function can be."""

    def __init__(self, function: typed.FunctionDecl, rules: MemoryRules, device: str, diagnostics: Diagnostics) -> None:
        self.function, self.rules, self.device, self.diagnostics = function, rules, device, diagnostics
        self.changed: set[typed.VarDecl] = set()
        # Of variables that keep the value they are made with; whether that leads to an argument of the kernel.
        self.known: dict[typed.VarDecl, tuple[Congruence, bool]] = {}
        # Whether what was last asked for starts where an argument points to.
        self.of_host = False

    def run(self) -> None:
        found = list(walk(self.function.body))
        for node in found:
            if isinstance(node, (typed.Assign, typed.CompoundAssign, typed.IncDec)):
                self.change(node.target)
            elif isinstance(node, typed.AddressOf):
                self.change(node.operand)
        for node in found:
            # What is nested so deeply is not known to be wrong.
            with suppress(RecursionError):
                if isinstance(node, typed.MatrixLoad) and isinstance(node.type, CoopMatrixType):
                    self.access(node, node.type)
                elif isinstance(node, typed.MatrixStore) and isinstance(node.matrix.type, CoopMatrixType):
                    self.access(node, node.matrix.type)

    def change(self, target: typed.Expr) -> None:
        while isinstance(target, (typed.Member, typed.Index, typed.Swizzle)):
            target = target.base
        if isinstance(target, typed.VarRef):
            self.changed.add(target.decl)

    def access(self, e: typed.MatrixLoad | typed.MatrixStore, matrix: CoopMatrixType) -> None:
        pointer = e.pointer.type
        assert isinstance(pointer, PointerType)
        if e.bounds is not None or e.layout not in _BY_INSTRUCTION or pointer.qualifiers.space not in _SPACES:
            return  # staged: by components, which lie anywhere
        component = matrix_type(matrix).component
        stride = self.number(e.stride)
        if (stride * Congruence(0, component.size)).never_multiple_of(self.rules.multiple(component)):
            known = stride.rest if stride.step == 0 else None
            message, notes = about_stride(self.rules, self.device, component, known)
            self.diagnostics.error(STRIDE, message, e.stride.span, notes=notes)
        self.of_host = False
        self.start(self.pointer(e.pointer), component, e.pointer.span)

    def start(self, address: Congruence, component: ComponentType, span: Span) -> None:
        wanted = self.rules.alignment(component)
        if not address.never_multiple_of(wanted):
            return
        off = address.rest % gcd(address.step, wanted)
        message = f"the matrix starts {off} bytes behind a multiple of {wanted} bytes"
        who = f"{self.device} wants it at such a multiple"
        if self.of_host:
            self.diagnostics.warning(ARGUMENT, f"{message}, if the argument is a buffer: {who}", span)
        else:
            self.diagnostics.error(POINTER, f"{message}; {who}", span)

    # --- integers

    def number(self, e: typed.Expr) -> Congruence:
        if isinstance(e, typed.IntConst):
            return Congruence(0, e.value)
        bits = e.type.bits if isinstance(e.type, ScalarType) and e.type.is_integer else 0
        if isinstance(e, typed.Binary) and e.op in _OPERATORS and bits:
            return _OPERATORS[e.op](self.number(e.left), self.number(e.right)).modulo(bits)
        if isinstance(e, typed.Convert) and e.kind is typed.ConvertKind.INT_TO_INT and bits:
            return self.number(e.operand).modulo(bits)
        decl = self.kept(e)
        return _ANY if decl is None else self.initial(decl, self.number)

    def kept(self, e: typed.Expr) -> typed.VarDecl | None:
        """The variable whose value this is, where it holds what it was given at first."""
        if not isinstance(e, typed.Load) or not isinstance(e.operand, typed.VarRef):
            return None
        decl = e.operand.decl
        own = decl.storage in ("automatic", "parameter") and not decl.qualifiers.volatile
        return decl if own and decl not in self.changed else None

    def initial(self, decl: typed.VarDecl, find: Callable[[typed.Expr], Congruence]) -> Congruence:
        """What a variable is made with."""
        if decl.initializer is None:
            return _ANY
        if decl not in self.known:
            self.known[decl] = _ANY, False  # it may lead back to itself
            outer, self.of_host = self.of_host, False
            value = find(decl.initializer)
            self.known[decl] = value, self.of_host
            self.of_host = outer
        value, of_host = self.known[decl]
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
        decl = self.kept(e)
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
    """In bytes, of an object in static storage: arrays and records are put where matrices may lie."""
    placed = rules.placement if isinstance(decl.type, (ArrayType, RecordType)) else 1
    return max(align_of(decl.type), decl.alignment or 1, placed)


def _shifted(left: Congruence, right: Congruence) -> Congruence:
    known = right.step == 0 and 0 <= right.rest < 64
    return left * Congruence(0, 1 << right.rest) if known else _ANY


_OPERATORS: dict[str, Callable[[Congruence, Congruence], Congruence]] = {
    "add": Congruence.__add__,
    "sub": Congruence.__sub__,
    "mul": Congruence.__mul__,
    "shl": _shifted,
}
