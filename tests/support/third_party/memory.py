"""The memory from which assembled modules load matrices, and to which they store them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import Array, wrong_places
from coopmat.matrices.variants import Layout, MatrixType

from .assembly import Assembly
from .values import Value

PATTERN = 0xA5
_SEMANTICS = 0x110  # the semantics SequentiallyConsistent | WorkgroupMemory


@dataclass
class Buffer:
    """A kernel argument.

    before: the contents before the launch.
    check: a function that describes the fault of the contents after the launch; if it is None, they must not change.
    """

    before: Array
    check: Callable[[Array], str] | None = None

    def fault(self, got: Array) -> str:
        if self.check is not None:
            return self.check(got)
        return "" if np.array_equal(got.view(np.uint8), self.before.view(np.uint8)) else "what is only read was changed"


def holds(matrix: MatrixType, expected: Array) -> Callable[[Array], str]:
    """Return a check that the components are equal bit for bit, up to NaNs."""

    def check(got: Array) -> str:
        wrong = np.flatnonzero(wrong_places(matrix.component, got, expected))
        some = ", ".join(f"[{i}] is {got[i]!r}, not {expected[i]!r}" for i in wrong[:4])
        return f"{matrix}: {wrong.size} of {got.size} places differ: {some}" if wrong.size else ""

    return check


@dataclass
class Memory:
    asm: Assembly
    rng: np.random.Generator
    buffers: list[Buffer] = field(default_factory=list)

    def argument(self, kind: str, buffer: Buffer) -> str:
        name = f"%p{len(self.buffers)}"
        self.buffers.append(buffer)
        self.asm.parameters.append((name, kind))
        return name

    def loaded(self, matrix: MatrixType, values: Array) -> Value:
        """Return a matrix that is loaded from a new buffer, in a random layout and address space."""
        asm, rng = self.asm, self.rng
        layout, pointee, stride, offset, room = self._layout(matrix)
        before = self._pattern(matrix, room)
        before[offset + numpy_reference.offsets(matrix.shape, matrix.component, layout, stride)] = values
        space = str(rng.choice(["global", "global", "global", "constant", "generic", "local"]))
        kind = asm.vector(matrix.component, pointee)
        pointer_type = asm.pointer("constant" if space == "constant" else "global", kind)
        base = self.argument(pointer_type, Buffer(before))
        at = asm.emit("OpInBoundsPtrAccessChain", pointer_type, base, asm.number(offset // pointee, 64))
        if space == "generic":
            asm.capabilities.add("GenericPointer")
            at = asm.emit("OpPtrCastToGeneric", asm.pointer("Generic", kind), at)
        elif space == "local":
            at = self._copied_to_local(matrix, base, kind, room // pointee, offset // pointee)
        operands = [at, asm.dimension(int(layout)), self._stride(stride // pointee), *self._operands(matrix)]
        return Value(asm.emit("OpCooperativeMatrixLoadKHR", asm.matrix(matrix), *operands), matrix, lambda _: values)

    def _copied_to_local(self, matrix: MatrixType, base: str, kind: str, count: int, offset: int) -> str:
        """Write a copy to local memory, made by every work-item alike, and a barrier; return the pointer."""
        asm = self.asm
        array = asm.array(kind, count)
        local = asm.once(f"OpVariable {asm.pointer('local', array)} Workgroup ; {base}")
        asm.interface.append(local)
        element, source = asm.pointer("local", kind), asm.pointer("global", kind)
        for n in range(count):
            value = asm.emit("OpLoad", kind, asm.emit("OpInBoundsPtrAccessChain", source, base, asm.number(n, 64)))
            asm.do("OpStore", asm.emit("OpInBoundsAccessChain", element, local, asm.number(n)), value)
        asm.do("OpControlBarrier", asm.number(2), asm.number(2), asm.number(_SEMANTICS))
        return asm.emit("OpInBoundsAccessChain", element, local, asm.number(offset))

    def store(self, value: Value) -> None:
        """Store the value to a new buffer, and add a check for the expression's result."""
        asm, matrix = self.asm, value.matrix
        layout, pointee, stride, offset, room = self._layout(matrix)
        before = self._pattern(matrix, room)
        after = before.copy()
        after[offset + numpy_reference.offsets(matrix.shape, matrix.component, layout, stride)] = value.of({})
        kind = asm.pointer("global", asm.vector(matrix.component, pointee))
        base = self.argument(kind, Buffer(before, holds(matrix, after)))
        at = asm.emit("OpInBoundsPtrAccessChain", kind, base, asm.number(offset // pointee, 64))
        rest = [asm.dimension(int(layout)), self._stride(stride // pointee), *self._operands(matrix)]
        asm.do("OpCooperativeMatrixStoreKHR", at, value.id, *rest)

    def scalar(self, matrix: MatrixType, value: int, numbers: Array) -> str:
        """Return a component that is read at run time."""
        asm, component = self.asm, matrix.component
        kind = asm.pointer("global", asm.scalar(component))
        base = self.argument(kind, Buffer(numbers.reshape(1)))
        return asm.emit("OpLoad", asm.scalar(component), base, "Aligned", component.size)

    # --- choices

    def _layout(self, matrix: MatrixType) -> tuple[Layout, int, int, int, int]:
        """Return a layout, the components of a pointee, the stride and offset in components, and the room."""
        layout = Layout(int(self.rng.integers(2)))
        pointee = int(self.rng.choice([1, 1, 1, 2, 4]))
        line = matrix.columns if layout == Layout.ROW_MAJOR else matrix.rows
        stride = -(-(line + int(self.rng.integers(4))) // pointee) * pointee
        offset = int(self.rng.integers(3)) * pointee
        last = int(numpy_reference.offsets(matrix.shape, matrix.component, layout, stride).max())
        return layout, pointee, stride, offset, -(-(offset + last + 3) // pointee) * pointee

    def _pattern(self, matrix: MatrixType, room: int) -> Array:
        return np.frombuffer(bytes([PATTERN]) * (room * matrix.component.size), matrix.component.numpy).copy()

    def _stride(self, stride: int) -> str:
        """Return a constant of some width, a specialization constant, or a computed value."""
        asm = self.asm
        match int(self.rng.integers(4)):
            case 0:
                return asm.number(stride, int(self.rng.choice([16, 32, 64])))
            case 1:
                return asm.dimension(stride)
            case 2:
                return asm.emit("OpIAdd", asm.integer(), asm.number(stride - 1), asm.number(1))
        return asm.number(stride, 64)

    def _operands(self, matrix: MatrixType) -> list[str]:
        size = matrix.component.size
        choices = [[], [], ["Volatile"], ["Aligned", str(size)], ["Volatile|Aligned", str(size)], ["None"]]
        return choices[int(self.rng.integers(len(choices)))]
