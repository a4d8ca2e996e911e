"""The alignment that a device requires of memory accessed by loads and stores of native matrices."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from .variants import ComponentType

# The most that Vulkan requires: the pointers and strides of matrices are multiples of these bytes, or of a shorter line
# (VUID-RuntimeSpirv-OpCooperativeMatrixLoadKHR-08986).
VULKAN_ALIGNMENT = 16

# The largest alignment in bytes of an object that the SPIR-V backend emits correctly.
MOST_PLACED = 128


@dataclass(frozen=True, slots=True)
class MemoryRules:
    """The numbers of bytes of which every pointer and every stride must be a multiple.

    pointer_alignment: the device's CL_DEVICE_COOPERATIVE_MATRIX_POINTER_ALIGNMENT_KHR, or 1.
    stride_multiple: the device's CL_DEVICE_COOPERATIVE_MATRIX_STRIDE_MULTIPLE_KHR, or 1.
    by_line: whether a line of the matrix (a row; in column-major order, a column) that has fewer bytes replaces either
      number, as in Vulkan.
    If a component is larger than either number, its size applies instead.
    """

    pointer_alignment: int = 1
    stride_multiple: int = 1
    by_line: bool = False

    def for_line(self, line: int) -> MemoryRules:
        """Return the rules for matrices with lines of this number of bytes."""
        if not self.by_line:
            return self
        return MemoryRules(min(self.pointer_alignment, line), min(self.stride_multiple, line))

    @property
    def placement(self) -> int:
        """The alignment in bytes of objects that the compiler allocates.

        The number is the largest power of two that divides `pointer_alignment`, but at most MOST_PLACED.
        """
        return min(self.pointer_alignment & -self.pointer_alignment, MOST_PLACED)

    def alignment(self, component: ComponentType) -> int:
        """Return the alignment in bytes that pointers to matrices of this component type must have."""
        return max(component.size, self.pointer_alignment)

    def multiple(self, component: ComponentType) -> int:
        """Return the number of bytes of which strides must be a multiple."""
        return max(component.size, self.stride_multiple)

    def pitch(self, component: ComponentType, columns: int) -> int:
        """Return the stride, in components, of a tile with this number of columns that the compiler allocates."""
        step = self.for_line(columns * component.size).step(component)
        return -(-columns // step) * step

    def step(self, component: ComponentType) -> int:
        """Return the number of components of which a stride must be a multiple."""
        multiple = self.multiple(component)
        return multiple // gcd(multiple, component.size)


@dataclass(frozen=True, slots=True)
class Congruence:
    """A set of integers: `rest` plus any multiple of `step`; if `step` is 0, only `rest`."""

    step: int = 1
    rest: int = 0

    def __add__(self, other: Congruence) -> Congruence:
        return Congruence(gcd(self.step, other.step), self.rest + other.rest)

    def __sub__(self, other: Congruence) -> Congruence:
        return self + other * Congruence(0, -1)

    def __mul__(self, other: Congruence) -> Congruence:
        step = gcd(self.step * other.step, self.step * other.rest, self.rest * other.step)
        return Congruence(step, self.rest * other.rest)

    def modulo(self, bits: int) -> Congruence:
        """Return the set of these integers converted to an integer type of `bits` bits."""
        exact = self.step == 0 and 0 <= self.rest < 1 << bits - 1
        return self if exact else Congruence(gcd(self.step, 1 << bits), self.rest)

    def never_multiple_of(self, number: int) -> bool:
        """Return whether no integer of the set is a multiple of `number`."""
        return self.rest % gcd(self.step, number) != 0


ANY = Congruence()
