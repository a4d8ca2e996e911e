"""The properties of a target that the cost model uses."""

from __future__ import annotations

from dataclasses import dataclass

# Registers of the instruction sets whose vectors are this wide: NEON and SSE, AVX2, AVX-512.
_REGISTERS = {128: 16, 256: 16, 512: 32}


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine has `registers` vector registers of `register_bits` bits; `widest` is the greatest number of elements
    that a vector of the code may have (16 in OpenCL C). With `members`, vectors in private memory may be accessed as
    members of packed records; with `fma`, the builtin exists. ValueError if a number is not positive."""

    register_bits: int = 256
    registers: int = 16
    widest: int = 16
    members: bool = True
    fma: bool = True

    def __post_init__(self) -> None:
        if min(self.register_bits, self.registers, self.widest) < 1:
            raise ValueError("a machine has at least one register of one bit")


def registers_of(bits: int) -> tuple[int, int]:
    """Return the bits and the number of the vector registers of a device whose vectors are `bits` wide."""
    return bits, _REGISTERS.get(bits, 16)
