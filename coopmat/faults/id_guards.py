"""A rewrite that hides values derived from a work-item's id in comparisons, which a device compiles wrongly.

Intel's CPU runtime (2026.2) turns guards such as `if (get_global_id(0) < n)` into bounds of its loops over work-items.
If a guard has more than an id, as in `39 - l >= 16 * g`, the runtime may get the sign wrong. The fault affects this
kernel, which then executes stores that the guard excludes, or later kernels of the program. For `16 * g + l > n && n <=
G`, one work-item too few runs. For `G == 24`, or `l == 16 - 8 * g`, work-items run that do not exist. The compiler also
turns orders into equalities, as in `G > 2 && G <= 3`. Intel's compiler does the same from OpenCL C. A value that has
passed through an exclusive or does not become a bound. This costs time, so the order of an id and a value that is not
derived from ids is not changed.

The compiler reads a large unsigned bound as negative, as in `get_global_id(0) < n` with an int below 0. No id has more
than 62 bits, so the bound is masked to 62 bits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ..spirv.module import OP, Instruction, id_positions
from .opaque_zeros import Globals, OpaqueZeros
from .private_accesses import Memory, memories

_LOAD, _STORE, _PARAMETER, _AND = OP["OpLoad"], OP["OpStore"], OP["OpFunctionParameter"], OP["OpBitwiseAnd"]
_EXTRACT, _WIDENED = OP["OpCompositeExtract"], OP["OpUConvert"]
# Conversions whose result is the same id in another type.
_CONVERSIONS = frozenset({_WIDENED, OP["OpSConvert"], OP["OpBitcast"]})
_PHI = OP["OpPhi"]
# Instructions whose results do not depend on their operands alone.
_UNKNOWN = frozenset({_PHI, OP["OpFunctionCall"]})
_UNSIGNED = frozenset(OP[f"OpU{name}{equal}"] for name in ("LessThan", "GreaterThan") for equal in ("", "Equal"))
_EQUALITIES = frozenset({OP["OpIEqual"], OP["OpINotEqual"]})
_COMPARISONS = (
    _EQUALITIES
    | _UNSIGNED
    | frozenset(OP[f"OpS{name}{equal}"] for name in ("LessThan", "GreaterThan") for equal in ("", "Equal"))
)
_ID_BITS, _WIDE = 62, 64
# The identity of an id: its variable, followed by the indices of its component.
Root = tuple[int, ...]


@dataclass(frozen=True)
class _Id:
    """The relation of a value to a work-item's id."""

    root: Root | None
    """The id whose value this is, in any type; None if the value is calculated from ids."""

    is_own: bool = False
    """Whether the value is certainly a work-item's id, and not negative."""


class IdGuards:
    """A rewrite of comparisons of work-items' ids, with the ids replaced by opaque values that are equal to them."""

    def __init__(self, scope: Globals) -> None:
        self._globals = scope

    def hide(self, code: list[Instruction], zeros: OpaqueZeros) -> list[Instruction]:
        """Return the function `code` with instructions that compute opaque copies of ids before the comparisons.

        The comparisons are changed in place.
        """
        ids = self._ids(code)
        comparisons = [i for i in code if i.opcode in _COMPARISONS and not ids.keys().isdisjoint(i.operands)]
        merged = set(map(id, self._merged(comparisons, ids)))
        identities = set(map(id, comparisons))
        # Hide loop counters (phis) as well as ids: for `if (id == k) return;` in a loop over k, the device's vectorizer
        # crashes if only the id is hidden.
        hidden = {*ids, *(item.result or 0 for item in code if item.opcode == _PHI)}
        out: list[Instruction] = []
        for item in code:
            if id(item) in identities:
                compared = [ids[word] for word in item.operands if word in ids]
                bound_is_open = item.opcode in _UNSIGNED and not all(map(self._is_small, set(item.operands) - set(ids)))
                one_id = len(compared) == 1 and compared[0].root is not None and id(item) not in merged
                if not one_id or (bound_is_open and not compared[0].is_own):
                    zeros.hide(item, hidden, out)
                elif bound_is_open:
                    item.operands = tuple(w if w in ids else self._without_sign(w, out) for w in item.operands)
            out.append(item)
        return out

    def _merged(self, comparisons: list[Instruction], ids: dict[int, _Id]) -> Iterator[Instruction]:
        """Yield the comparisons that are equalities, or may become one with another comparison of the id, or with 0."""
        bounds = [
            (item, ids[word].root, self._source(bound))
            for item in comparisons
            for word, bound in (item.operands, item.operands[::-1])
            if word in ids
        ]
        roots = Counter(root for _, root, _ in bounds)
        pairs = Counter((root, bound) for _, root, bound in bounds)
        for item, root, bound in bounds:
            is_range = self._globals.is_constant(bound) and (roots[root] > 1 or self._is_least(bound))
            if item.opcode in _EQUALITIES or is_range or pairs[root, bound] > 1:
                yield item

    def _ids(self, code: list[Instruction]) -> dict[int, _Id]:
        """Return value -> relation to an id, for the values of a function that are derived from ids."""
        # A private variable whose accesses are all known holds an id only if an id is stored to it. A loop's counter
        # does not hold an id, and must stay visible: the device does not vectorize a kernel with a loop that it cannot
        # prove to end.
        free = memories(self._globals, code)
        while True:
            ids = self._from_ids(code, {pointer for memory in free for pointer in memory.addresses})
            remaining = [memory for memory in free if self._is_free(memory, ids)]
            if len(remaining) == len(free):
                return ids
            free = remaining

    @staticmethod
    def _is_free(memory: Memory, ids: dict[int, _Id]) -> bool:
        """Return whether only stores write the variable, and no stored value is derived from a work-item's id."""
        return all(item.opcode == _STORE and item.operands[1] not in ids for item in memory.writes)

    def _from_ids(self, code: list[Instruction], free: set[int]) -> dict[int, _Id]:
        """Return the values that are derived from ids; `free` are pointers to variables that hold no ids."""
        ids: dict[int, _Id] = {}
        is_kernel = self._globals.is_kernel(code)
        for item in code:
            if item.result is None or item.opcode in _UNKNOWN:
                continue
            if item.opcode == _PARAMETER:
                if not is_kernel:
                    ids[item.result] = _Id((item.result,))
            elif item.opcode == _LOAD:
                # A load from another private variable counts as an id: the values stored to it are not traced.
                is_id = self._globals.is_id_variable(item.operands[0])
                if is_id or (self._globals.is_private(item.operands[0]) and item.operands[0] not in free):
                    ids[item.result] = _Id((item.operands[0],), is_id)
            elif item.opcode in _CONVERSIONS or item.opcode == _EXTRACT:
                if whole := ids.get(item.operands[0]):
                    root = (*whole.root, *item.operands[1:]) if whole.root is not None else None
                    ids[item.result] = _Id(root, whole.is_own and item.opcode in (_EXTRACT, _WIDENED))
            elif self._uses(item, ids):
                ids[item.result] = _Id(None)
        return ids

    def _source(self, value: int) -> int:
        """Return the constant or variable from which a value is loaded or converted unchanged.

        If the value is calculated, return the value itself.
        """
        while (item := self._globals.definitions.get(value)) is not None and (
            item.opcode in _CONVERSIONS or item.opcode == _LOAD
        ):
            value = item.operands[0]
        return value

    def _is_least(self, bound: int) -> bool:
        """Return whether the bound is a constant of at most 1, or with its sign bit set."""
        words = self._globals.definitions[bound].operands
        return (sum(words[:1]) <= 1 and not any(words[1:])) or any(word >> 31 for word in words[-1:])

    def _is_small(self, bound: int) -> bool:
        """Return whether the bound fits the 62 bits of an id."""
        if self._globals.width(bound) != _WIDE:
            return True
        item = self._globals.definitions[bound]
        if item.opcode == _AND:
            return any(self._globals.is_constant(word) and self._is_small(word) for word in item.operands)
        if self._globals.is_constant(bound):
            return not item.operands or item.operands[1] >> (_ID_BITS - 32) == 0
        return item.opcode == _WIDENED

    def _without_sign(self, bound: int, out: list[Instruction]) -> int:
        """Append a bitwise and to `out` that clears the bits that ids lack, the sign among them; return its result."""
        type_id = self._globals.type_of(bound)
        mask = self._globals.constant(type_id, 0xFFFFFFFF, (1 << (_ID_BITS - 32)) - 1)
        out.append(self._globals.new_instruction(_AND, type_id, bound, mask))
        return out[-1].result or 0

    def _uses(self, item: Instruction, values: dict[int, _Id]) -> bool:
        """Return whether one of the instruction's operands is among the values."""
        if values.keys().isdisjoint(item.operands):
            return False
        positions = id_positions(item, self._globals.definitions)
        return any(item.operands[at] in values for at in positions)
