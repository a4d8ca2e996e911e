"""A rewrite that hides the initial value of loop counters that may wrap, because a device miscounts such loops.

Intel's CPU runtime (2026.2) vectorizes `for (uint k = 0; k <= n; k++)`. If n is the largest uint, the loop never ends;
a check before the vector loop handles this. But if the loop starts at the constant 0, the remaining scalar iterations
then start at 1. Intel's compiler does the same from OpenCL C. If the initial value is a volatile variable's, which the
compiler cannot see, the result is correct and the loop is still vectorized. The cost is one memory access.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from ..spirv.module import OP, Instruction, numbers
from .loops import ControlFlow
from .opaque_zeros import Globals, OpaqueZeros

_PHI, _ADD = OP["OpPhi"], OP["OpIAdd"]
_LOAD, _STORE = OP["OpLoad"], OP["OpStore"]
_DECORATE = OP["OpDecorate"]
_NOT, _JUNCTIONS = OP["OpLogicalNot"], frozenset({OP["OpLogicalAnd"], OP["OpLogicalOr"], OP["OpSelect"]})
_NO_SIGNED_WRAP, _NO_UNSIGNED_WRAP = numbers("Decoration.*", "NoSignedWrap NoUnsignedWrap")
# opcode of an extension -> the decoration which, on the narrow value, excludes that it wraps before the extension
_EXTENSIONS = {OP["OpSConvert"]: _NO_SIGNED_WRAP, OP["OpUConvert"]: _NO_UNSIGNED_WRAP}
# opcode of a comparison -> (whether the first operand is the greater, whether both may be equal, the decoration which,
# on a compared value, excludes that the value wraps)
_ORDERS = {
    OP[f"Op{sign}{name}"]: (*order, wrap)
    for sign, wrap in {"S": _NO_SIGNED_WRAP, "U": _NO_UNSIGNED_WRAP}.items()
    for name, order in {
        "LessThan": (False, False),
        "LessThanEqual": (False, True),
        "GreaterThan": (True, False),
        "GreaterThanEqual": (True, True),
    }.items()
}
# An operand that is the constant 0: (instruction, index of the operand).
Start = tuple[Instruction, int]


class LoopStarts:
    """A rewrite of loops that start at 0, count up and end after a bound, unless their counters cannot wrap."""

    def __init__(self, scope: Globals) -> None:
        self._globals = scope

    def hide(self, code: list[Instruction], zeros: OpaqueZeros) -> list[Instruction]:
        """Return the function `code`, in which opaque zeros replace initial values 0 of counters in place."""
        for item, at in _Function(self, code).starts():
            zero = zeros.of(self._globals.type_of(item.operands[at]))
            item.operands = (*item.operands[:at], zero, *item.operands[at + 1 :])
        return code

    @property
    def definitions(self) -> Mapping[int, Instruction]:
        return self._globals.definitions

    def is_constant(self, value: int) -> bool:
        return self._globals.is_constant(value)

    def is_zero(self, value: int) -> bool:
        return self._globals.is_zero(value)

    @cached_property
    def exact(self) -> frozenset[tuple[int, int]]:
        """Pairs of a value and a decoration that excludes a kind of wrapping for it."""
        wraps = (_NO_SIGNED_WRAP, _NO_UNSIGNED_WRAP)
        code = self._globals.module.instructions
        pairs = (item.operands for item in code if item.opcode == _DECORATE and item.operands[1] in wraps)
        return frozenset((target, wrap) for target, wrap in pairs)

    def narrow(self, value: int, wrap: int) -> tuple[int, int]:
        """Return the value before it was widened, and the decoration that excludes the wrapping concerned."""
        while (item := self.definitions.get(value)) is not None and item.opcode in _EXTENSIONS:
            value, wrap = item.operands[0], _EXTENSIONS[item.opcode]
        return value, wrap

    def summands(self, value: int) -> tuple[int, ...]:
        """Return the operands of an addition, one of which may be a counter; the step may be unknown until run time."""
        item = self.definitions.get(value)
        return item.operands if item is not None and item.opcode == _ADD else ()

    def is_sum(self, value: int) -> bool:
        """Return whether the value is the result of an addition, possibly converted to another type."""
        return bool(self.summands(self.narrow(value, 0)[0]))


class _Function:
    """The loops of one function."""

    def __init__(self, owner: LoopStarts, code: list[Instruction]) -> None:
        self.owner, self.code = owner, code

    def starts(self) -> list[Start]:
        """Return the operands that are the initial value 0 of loop counters."""
        by_place: dict[tuple[int, int], Start] = {}
        for condition, goes_on in ControlFlow(self.code).exits():
            for counter, wrap in self._counters(condition, goes_on):
                for item, at in self._zeros(counter, wrap):
                    by_place[id(item), at] = item, at
        return list(by_place.values())

    def _counters(self, condition: int, goes_on: bool) -> Iterator[tuple[int, int]]:
        """Yield counters that must be less than or equal to a non-constant value for the loop to continue.

        Each counter is yielded with the decoration that excludes its wrapping. `goes_on` is the value of `condition`
        for which the loop continues.
        """
        item = self.owner.definitions.get(condition)
        if item is None:
            return
        if item.opcode == _NOT:
            yield from self._counters(item.operands[0], not goes_on)
        elif item.opcode in _JUNCTIONS:
            for part in item.operands:
                yield from self._counters(part, goes_on)
        elif item.opcode in _ORDERS:
            (greater, equal, wrap), (left, right) = _ORDERS[item.opcode], item.operands
            if not goes_on:
                greater, equal = not greater, not equal
            less, more = (right, left) if greater else (left, right)
            # The device's compiler rewrites `< n + 1` to `<= n`.
            may_equal = equal or any(map(self.owner.is_constant, self.owner.summands(more)))
            if may_equal and not self.owner.is_constant(more):
                yield self.owner.narrow(less, wrap)

    def _zeros(self, counter: int, wrap: int) -> Iterator[Start]:
        """Yield the operands where a counter that may wrap is initialised to 0.

        `counter` is the counter's value in this iteration or in the next.
        """
        definitions = self.owner.definitions
        for whole in (counter, *self.owner.summands(counter)):
            value, contradicted = self.owner.narrow(whole, wrap)
            item = definitions.get(value)
            if item is not None and item.opcode == _PHI:
                yield from self._zeros_of([(item, at) for at in range(0, len(item.operands), 2)], contradicted)
            elif item is not None and item.opcode == _LOAD:
                variable = item.operands[0]
                stores = [i for i in self.code if i.opcode == _STORE and i.operands[0] == variable]
                yield from self._zeros_of([(store, 1) for store in stores], contradicted)

    def _zeros_of(self, values: list[Start], wrap: int) -> Iterator[Start]:
        """Yield the zeros among a counter's initial values and steps, if one of its steps may wrap."""
        steps = {value for item, at in values if self.owner.is_sum(value := item.operands[at])}
        if steps and not all((step, wrap) in self.owner.exact for step in steps):
            yield from ((item, at) for item, at in values if self.owner.is_zero(item.operands[at]))
