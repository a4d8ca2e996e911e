"""Variables in the place of values: of phis, of accumulators, and of values that do not dominate all uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...foreign.consumers import Parts
from ...spirv.module import ENUM, Instruction, id_positions, numbers
from ...spirv.module_globals import FUNCTION
from ...spirv.refusal import Refused
from .flow import LOOP_MERGE, PHI, SELECTION_MERGE, Block, Flow
from .matrices import MULTIPLY_ADD

_POINTER, _STORE, _LOAD, _VARIABLE, _UNDEF = numbers("Op*", "TypePointer Store Load Variable Undef")
_OPAQUE = frozenset(numbers("OpType*", "Image Sampler SampledImage"))
_ALIASED, _PHYSICAL = ENUM["Decoration.AliasedPointer"], ENUM["StorageClass.PhysicalStorageBuffer"]
_WORKGROUP = ENUM["StorageClass.Workgroup"]


class Variables:
    """The variables that passes add to one function; `repair` writes them into its first block."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.added: list[Instruction] = []

    def new(self, kind: int) -> int:
        """Add a variable that holds values of the type `kind`, and return its id."""
        pointer = self.parts.globals.pointer(kind)
        variable = Instruction(_VARIABLE, (FUNCTION,), pointer, self.parts.module.new_id())
        self.added.append(variable)
        self.parts.define([variable])
        if self.storage_class(kind) == _PHYSICAL:
            self.parts.decorate(variable.result or 0, [(_ALIASED,)])
        return variable.result or 0

    def storage_class(self, kind: int) -> int | None:
        """Return the storage class of a pointer type; None for other types."""
        item = self.parts.definitions[kind]
        return item.operands[0] if item.opcode == _POINTER else None

    def can_hold(self, kind: int) -> bool:
        """Return whether a variable may hold values of a type: Vulkan has few pointers in memory, and no images."""
        if self.parts.definitions[kind].opcode in _OPAQUE:
            return False
        return self.storage_class(kind) in (None, _PHYSICAL, _WORKGROUP)

    # --- phis

    def replace_phis(self, flow: Flow) -> None:
        """Replace each phi by a variable, to which its predecessors store. Raises Refused for private pointers."""
        for block in flow.blocks.values():
            for n, phi in enumerate(block.code):
                if phi.opcode == PHI:
                    block.code[n] = self._replaced(flow, phi)

    def _replaced(self, flow: Flow, phi: Instruction) -> Instruction:
        kind = phi.result_type or 0
        if not self.can_hold(kind):
            raise Refused("not-supported", "a pointer to private memory that is chosen at run time").of(phi)
        variable = self.new(kind)
        for value, source in zip(phi.operands[::2], phi.operands[1::2], strict=True):
            if source in flow.blocks and self.parts.definitions[value].opcode != _UNDEF:
                flow.blocks[source].code.append(Instruction(_STORE, (variable, value)))
        load = Instruction(_LOAD, (variable,), kind, phi.result)
        self.parts.define([load])
        return load

    # --- accumulators

    def copy_accumulators(self, flow: Flow) -> None:
        """Let multiply-adds add to a copy of C, unless C has no other use and is of the same loops.

        Mesa's lavapipe adds to C itself if it divides K, so that later uses of C, or the next iteration, read the sum.
        """
        items = [item for block in flow.blocks.values() for item in block.code]
        if not any(item.opcode == MULTIPLY_ADD for item in items):
            return
        uses = Counter(item.operands[n] for item in items for n in id_positions(item, self.parts.definitions))
        loops = {item.result: flow.headers(label) for label, block in flow.blocks.items() for item in block.code}
        variables: dict[int, int] = {}
        for label, block in flow.blocks.items():
            for item in [item for item in block.code if item.opcode == MULTIPLY_ADD]:
                a, b, c, *rest = item.operands
                if uses[c] == 1 and loops.get(c) == flow.headers(label):
                    continue
                kind, at = self.parts.types.of(c), block.code.index(item)
                variable = variables[kind] = variables.get(kind) or self.new(kind)
                load = Instruction(_LOAD, (variable,), kind, self.parts.module.new_id())
                self.parts.define([load])
                product = _with(item, (a, b, load.result or 0, *rest), item.result)
                block.code[at : at + 1] = [Instruction(_STORE, (variable, c)), load, product]

    # --- values that do not dominate their uses

    def repair(self, flow: Flow, blocks: Sequence[Block]) -> None:
        """Load values from variables where their definitions do not dominate uses, and write all variables.

        `flow` is the graph of `blocks`.
        """
        _Repair(self, flow).run()
        blocks[0].code[:0] = self.added


class _Repair:
    def __init__(self, variables: Variables, flow: Flow) -> None:
        self.variables, self.flow = variables, flow
        self.parts = variables.parts
        # value -> the label of its block.
        self.places = {
            item.result: block.label for block in flow.blocks.values() for item in block.code if item.result is not None
        }
        # value -> its variable.
        self.kept: dict[int, int] = {}

    def run(self) -> None:
        for block in self.flow.blocks.values():
            code: list[Instruction] = []
            # Loads for the terminator precede the merge instruction.
            merge = block.code.pop() if block.code and block.code[-1].opcode in (SELECTION_MERGE, LOOP_MERGE) else None
            for item in block.code:
                code.append(self.repaired(item, block.label, code))
            block.end = self.repaired(block.end, block.label, code)
            block.code = [*code, merge] if merge is not None else code
        for block in self.flow.blocks.values():
            block.code = [out for item in block.code for out in (item, *self.stored(item))]

    def repaired(self, item: Instruction, at: int, code: list[Instruction]) -> Instruction:
        """Return an instruction in block `at` with values that are available there; add what makes them to `code`."""
        operands = list(item.operands)
        for n in id_positions(item, self.parts.definitions):
            operands[n] = self.available(operands[n], at, code)
        return item if tuple(operands) == item.operands else _with(item, operands, item.result)

    def available(self, value: int, at: int, code: list[Instruction]) -> int:
        place = self.places.get(value)
        if place is None or self.flow.dominates(place, at):
            return value
        definition = self.parts.definitions[value]
        kind = definition.result_type or 0
        result = self.parts.module.new_id()
        if self.variables.can_hold(kind):
            if value not in self.kept:
                self.kept[value] = self.variables.new(kind)
            made = Instruction(_LOAD, (self.kept[value],), kind, result)
        else:  # the address of a component, or an image: it can be made again
            made = self.repaired(_with(definition, definition.operands, result), at, code)
        self.parts.define([made])
        code.append(made)
        return result

    def stored(self, item: Instruction) -> list[Instruction]:
        """Return the store of a value that other blocks load."""
        variable = self.kept.get(item.result or 0)
        return [] if variable is None else [Instruction(_STORE, (variable, item.result or 0))]


def _with(item: Instruction, operands: Sequence[int], result: int | None) -> Instruction:
    return Instruction(item.opcode, tuple(operands), item.result_type, result)
