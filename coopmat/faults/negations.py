"""A rewrite that hides negations of floats from a device's compiler, which compiles them wrongly near barriers.

Intel's CPU runtime (2026.2) assumes that the result of LLVM's `fneg` is equal in all work-items. If a barrier is
between that instruction, or a calculation with its result, and a use, every work-item reads the value of a single
work-item. Intel's compiler does the same from OpenCL C. Products and quotients by -1, differences from -0 and exclusive
ors with the sign bit all become that instruction. In modules with barriers, the sign bits are therefore flipped by a
mask that the compiler cannot see. The constants -1, -0 and sign bits are hidden. Floating-point constants are also
hidden in arguments of calls, which may be inlined.
"""

from __future__ import annotations

from functools import cached_property

from ..spirv.module import OP, Instruction, id_positions, numbers
from .opaque_zeros import Globals, OpaqueZeros

_NEGATE, _SUBTRACT = OP["OpFNegate"], OP["OpFSub"]
# Operations on integers that, with the sign bit, become negations of floats or of their magnitudes.
_ON_BITS = frozenset(numbers("Op*", "BitwiseXor BitwiseOr IAdd ISub"))
_CONSTANT, _COMPOSITE = OP["OpConstant"], OP["OpConstantComposite"]
_BARRIERS = frozenset({OP["OpControlBarrier"], OP["OpTypeCooperativeMatrixKHR"]})
# bits -> words of -0, which are those of the sign bit (also of a half in an int); then bits -> words of -1
_SIGNS: dict[int, set[tuple[int, ...]]] = {
    16: {(0x8000,)},
    32: {(0x80000000,), (0x8000,), (0xFFFF8000,)},
    64: {(0, 0x80000000)},
}
_MINUS_ONES = {16: (0xBC00,), 32: (0xBF800000,), 64: (0, 0xBFF00000)}


class Negations:
    """A rewrite of negations in a module that has barriers, or may be linked with a module that has barriers."""

    def __init__(self, scope: Globals) -> None:
        self._globals = scope

    def hide(self, code: list[Instruction], zeros: OpaqueZeros) -> list[Instruction]:
        """Return the function `code` with other instructions for negations; constants are replaced in place."""
        if not self._has_barriers:
            return code
        out: list[Instruction] = []
        for item in code:
            if item.opcode == _NEGATE and (shape := self._globals.shape(item.operands[0])) is not None:
                last = zeros.flipped(item.operands[0], shape, 1, out)
                item = Instruction(last.opcode, last.operands, item.result_type, item.result)
            elif not self._constants.isdisjoint(item.operands) or item.opcode == _SUBTRACT:
                self._hide_constants(item, zeros)
            out.append(item)
        return out

    def _hide_constants(self, item: Instruction, zeros: OpaqueZeros) -> None:
        """Replace constants of negations among the operands by opaque values, in place."""
        operands = list(item.operands)
        for at in id_positions(item, self._globals.definitions):
            value = operands[at]
            is_zero = item.opcode == _SUBTRACT and at == 0 and self._globals.is_zero(value)
            is_mask = item.opcode not in _ON_BITS and not self._is_floating(value)
            if (value in self._constants and not is_mask) or is_zero:
                operands[at] = zeros.like(operands[at])
        item.operands = tuple(operands)

    def _is_floating(self, value: int) -> bool:
        """Return whether a value is a floating-point number or a vector of them."""
        shape = self._globals.shape(value)
        return shape is not None and self._globals.is_floating(shape[0])

    @cached_property
    def _has_barriers(self) -> bool:
        """Whether the module, or a module with which it may be linked, has barriers or group operations."""
        code = self._globals.module.instructions
        if not any(item.opcode == OP["OpEntryPoint"] for item in code):
            return True
        return any(item.opcode in _BARRIERS or item.name.startswith("OpGroup") for item in code)

    @cached_property
    def _constants(self) -> frozenset[int]:
        """The constants that are -1 or -0, or integers with only a sign bit, and vectors of such constants."""
        scope, found = self._globals, set[int]()
        for item in scope.module.instructions:
            shape = scope.shape(item.result) if item.opcode in (_CONSTANT, _COMPOSITE) and item.result else None
            if shape is None or item.result is None:
                continue
            type_id, bits, _ = shape
            is_one = scope.is_floating(type_id) and item.operands == _MINUS_ONES.get(bits)
            is_vector = item.opcode == _COMPOSITE and found.issuperset(item.operands)
            if is_one or is_vector or item.operands in _SIGNS.get(bits, ()):
                found.add(item.result)
        return frozenset(found)
