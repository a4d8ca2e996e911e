"""The check for the native route that a device supports the matrices, multiply-adds and accesses of a program.

Each kind of input states its requirements in a module `..._requirements`: OpenCL C in this folder, LLVM IR and SPIR-V
in `coopmat.foreign`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import gcd
from typing import Any

from ..diagnostics import Diagnostics, Note, Span
from ..matrices.memory_rules import ANY, Congruence, MemoryRules
from ..matrices.supported import Supported, multiply_add
from ..matrices.variants import Layout, MatrixType, Operands, Variant

_TYPE, _MULTIPLY_ADD = "coop-mat-target-type", "coop-mat-target-mul-add"
_STRIDE, _POINTER, _ARGUMENT = "coop-mat-target-stride", "coop-mat-target-pointer", "coop-mat-alignment"
_BY_INSTRUCTION = (Layout.ROW_MAJOR, Layout.COLUMN_MAJOR)
_WAY = Note("--matrices one and --matrices lanes compute it without the device's matrix instructions")


@dataclass(frozen=True, slots=True)
class Requirement:
    """What one place of a program requires of a device.

    place: the place, which `TargetCheck.span` converts.
    matrices: the matrix types; for a multiply-add those of A, B and C.
    mask: the operand mask of a multiply-add; None for anything else.
    layout: the layout of an access to memory. Only row-major and column-major ones have strides and addresses to check.
    stride: the possible strides of an access in bytes.
    address: the possible addresses of an access.
    of_host: whether the address derives from a kernel argument.
    """

    place: Any
    matrices: tuple[MatrixType, ...]
    mask: int | None = None
    layout: int = Layout.ROW_MAJOR
    stride: Congruence = ANY
    address: Congruence = ANY
    of_host: bool = False


@dataclass(slots=True)
class TargetCheck:
    """A comparison of requirements with a device; each type and each multiply-add is reported at its first place.

    supported: the device's variants; None if they are unknown.
    rules: the device's requirements on matrices in memory; None if it has none.
    device: its name for messages.
    span: converts the places of the requirements to spans.
    """

    supported: Supported | None
    rules: MemoryRules | None
    device: str
    diagnostics: Diagnostics
    span: Callable[[Any], Span | None]
    _types: dict[MatrixType, bool] = field(default_factory=dict)
    _multiply_adds: set[Variant] = field(default_factory=set)

    def run(self, requirements: Iterable[Requirement]) -> None:
        """Report errors; if a fault depends on the host's argument, report the warning `coop-mat-alignment`."""
        for item in requirements:
            if self.supported is not None:
                # For an unsupported type, an error has been reported already.
                support = [self._type(self.supported, matrix, item) for matrix in item.matrices]
                if all(support) and item.mask is not None:
                    self._multiply_add(self.supported, item.mask, item)
            if self.rules is not None and item.layout in _BY_INSTRUCTION:
                matrix = item.matrices[0]
                line = matrix.rows if item.layout == Layout.COLUMN_MAJOR else matrix.columns
                rules = self.rules.for_line(line * matrix.component.size)
                self._stride(rules, item)
                self._address(rules, item)

    def _type(self, supported: Supported, matrix: MatrixType, item: Requirement) -> bool:
        if matrix not in self._types:
            self._types[matrix] = supported.has_type(matrix)
            if not self._types[matrix]:
                nearest = ", ".join(other.name for other in supported.nearest_types(matrix))
                notes = [f"the nearest supported types: {nearest}"] if nearest else []
                self._lacks(_TYPE, f"the matrix type {matrix.name}", notes, supported, item)
        return self._types[matrix]

    def _multiply_add(self, supported: Supported, mask: int, item: Requirement) -> None:
        a, b, c = item.matrices
        # The signedness bits of the operands are meaningless for floating-point types.
        variant = multiply_add(a, b, c, Operands(mask & 31 if c.component.is_integer else 0))
        if supported.has_multiply_add(variant) or variant in self._multiply_adds:
            return
        self._multiply_adds.add(variant)
        nearest = supported.nearest_multiply_adds(variant)
        notes = [f"it supports {other.name}, which is equal in {shared} of 8 parameters" for other, shared in nearest]
        self._lacks(_MULTIPLY_ADD, f"the multiply-add {variant.name}", notes, supported, item)

    def _lacks(self, code: str, what: str, texts: list[str], supported: Supported, item: Requirement) -> None:
        nothing = [] if supported.variants else ["the device supports no cooperative matrices at all"]
        notes = [*map(Note, (*texts, *nothing)), _WAY]
        self.diagnostics.error(code, f"{self.device} does not support {what}", self.span(item.place), notes=notes)

    def _stride(self, rules: MemoryRules, item: Requirement) -> None:
        component, stride = item.matrices[0].component, item.stride
        multiple = rules.multiple(component)
        if not stride.never_multiple_of(multiple):
            return
        subject, notes = "this stride", [Note("--matrices one and --matrices lanes accept any stride")]
        if stride.step == 0:
            count = stride.rest // component.size
            subject = f"a stride of {count} components ({count * component.size} bytes)"
            notes.insert(0, Note(f"the next larger multiple: {rules.pitch(component, count)} components"))
        needed = f"{multiple} bytes ({rules.step(component)} components)"
        message = f"{subject} is not a multiple of {needed}, which {self.device} requires"
        self.diagnostics.error(_STRIDE, message, self.span(item.place), notes=notes)

    def _address(self, rules: MemoryRules, item: Requirement) -> None:
        alignment = rules.alignment(item.matrices[0].component)
        if not item.address.never_multiple_of(alignment):
            return
        offset = item.address.rest % gcd(item.address.step, alignment)
        message = f"misaligned matrix: its address is {offset} modulo {alignment}"
        rule = f"and {self.device} requires {alignment}-byte alignment"
        if item.of_host:
            text = f"{message} if the argument is a buffer, {rule}"
            self.diagnostics.warning(_ARGUMENT, text, self.span(item.place))
        else:
            self.diagnostics.error(_POINTER, f"{message}, {rule}", self.span(item.place))
