"""A device's requirements on the memory that native matrices are loaded from and stored to."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from .variants import ComponentType

# Bytes: what the SPIR-V backend keeps of an object's alignment.
MOST_PLACED = 128


@dataclass(frozen=True, slots=True)
class MemoryRules:
    """The numbers of bytes of which every pointer, and every distance from row to row, is a multiple.

    They are a device's answers to CL_DEVICE_COOPERATIVE_MATRIX_POINTER_ALIGNMENT_KHR and ..._STRIDE_MULTIPLE_KHR, or 1.
    A matrix requires these, or the size of a component if that is larger.
    """

    pointer_alignment: int = 1
    stride_multiple: int = 1

    @property
    def placement(self) -> int:
        """The alignment of objects that we place: the power of two that matters to any component type."""
        return min(self.pointer_alignment & -self.pointer_alignment, MOST_PLACED)

    def alignment(self, component: ComponentType) -> int:
        return max(component.size, self.pointer_alignment)

    def multiple(self, component: ComponentType) -> int:
        return max(component.size, self.stride_multiple)

    def pitch(self, component: ComponentType, columns: int) -> int:
        """Return the components from row to row of a tile with so many columns in a layout of ours."""
        step = self.step(component)
        return -(-columns // step) * step

    def step(self, component: ComponentType) -> int:
        """Return the components that a stride is a multiple of."""
        multiple = self.multiple(component)
        return multiple // gcd(multiple, component.size)


@dataclass(frozen=True, slots=True)
class Congruence:
    """The integers that are `rest` plus a multiple of `step`; if `step` is 0, `rest` alone."""

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
        """Return the residues of these integers in an integer of so many bits."""
        exact = self.step == 0 and 0 <= self.rest < 1 << bits - 1
        return self if exact else Congruence(gcd(self.step, 1 << bits), self.rest)

    def never_multiple_of(self, number: int) -> bool:
        return self.rest % gcd(self.step, number) != 0
