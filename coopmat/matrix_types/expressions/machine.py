"""The properties of a target that the cost model uses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Machine:
    """The registers and capabilities of a target.

    register_bits: the bits of a vector register.
    registers: the number of vector registers.
    widest: the largest number of elements of a vector in the code (16 in OpenCL C).
    members: whether vectors in private memory may be accessed as members of packed structures.
    fma: whether the builtin fma exists.
    The constructor raises ValueError if a number is not positive.
    """

    register_bits: int = 256
    registers: int = 16
    widest: int = 16
    members: bool = True
    fma: bool = True

    def __post_init__(self) -> None:
        if min(self.register_bits, self.registers, self.widest) < 1:
            raise ValueError("a machine has at least one register of one bit")
