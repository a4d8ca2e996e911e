"""The types, constants and global variables of a module, found by their contents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .module import ENUM, OP, Instruction, Module, id_positions, numbers

_ARRAY, _STRUCT = OP["OpTypeArray"], OP["OpTypeStruct"]
_FORWARD, _EXTENDED = OP["OpTypeForwardPointer"], OP["OpExtInst"]
_LINES = frozenset({OP["OpLine"], OP["OpNoLine"]})
FUNCTION = ENUM["StorageClass.Function"]
# Opcodes whose instructions may differ although their operands are equal; they are never merged.
_DISTINCT = frozenset(
    numbers(
        "Op*",
        "TypeStruct TypeOpaque Variable Undef ExtInst SpecConstant SpecConstantTrue SpecConstantFalse "
        "SpecConstantComposite SpecConstantOp",
    )
)
_Key = tuple[int, int | None, tuple[int, ...]]


class ModuleGlobals:
    """A collection of the module's types, constants and globals, and of those that a lowering adds.

    `ordered` yields all of them with definitions before uses.
    """

    def __init__(self, module: Module, items: Iterable[Instruction], definitions: dict[int, Instruction]) -> None:
        self.module = module
        self.definitions = definitions
        self.assign(item for item in items if item.opcode not in _LINES)

    def assign(self, items: Iterable[Instruction]) -> None:
        """Replace all items, so that `find` and `intern` return only these."""
        self.items = list(items)
        self._ids: dict[_Key, int] = {}
        for item in self.items:
            self._remember(item)

    def _remember(self, item: Instruction) -> None:
        """Enter an item for `find`, unless its opcode is in _DISTINCT."""
        if item.result is not None and item.opcode not in _DISTINCT:
            self._ids.setdefault((item.opcode, item.result_type, item.operands), item.result)

    def add(self, item: Instruction) -> int:
        """Add an instruction unchanged, even if an equal one exists (see `intern`), and return its id."""
        assert item.result is not None
        self.items.append(item)
        self.definitions[item.result] = item
        self._remember(item)
        return item.result

    def find(self, opcode: int, operands: tuple[int, ...], result_type: int | None = None) -> int | None:
        """Return the id of an existing instruction with these contents, or None."""
        return self._ids.get((opcode, result_type, operands)) if opcode not in _DISTINCT else None

    def intern(self, name: str, *operands: int, result_type: int | None = None) -> int:
        """Return the id of the type or constant with these contents; add it if it does not exist."""
        id_ = self.find(OP[name], operands, result_type)
        if id_ is not None:
            return id_
        return self.add(Instruction(OP[name], operands, result_type, self.module.new_id()))

    # --- frequent types and constants

    def integer(self, bits: int) -> int:
        """Return the id of the unsigned integer type of `bits` bits."""
        return self.intern("OpTypeInt", bits, 0)

    def number(self, value: int, bits: int = 32) -> int:
        """Return the id of an integer constant of `bits` bits."""
        words = tuple(value >> shift & 0xFFFFFFFF for shift in range(0, bits, 32))
        return self.intern("OpConstant", *words, result_type=self.integer(bits))

    def pointer(self, pointee: int, storage_class: int = FUNCTION) -> int:
        """Return the id of a pointer type."""
        return self.intern("OpTypePointer", storage_class, pointee)

    def ordered(self, replaced: dict[int, Instruction], dropped: set[int]) -> Iterator[Instruction]:
        """Yield all items with definitions before uses.

        `replaced` maps ids to the instructions that replace their definitions. The ids in `dropped` are left out.
        """
        items = [replaced.get(item.result or 0, item) for item in self.items if item.result not in dropped]
        # Debug information may refer to later instructions, and only debug information refers to it.
        last = [item for item in items if item.opcode == _EXTENDED]
        forward = [item for item in items if item.opcode == _FORWARD]
        rest = {item.result: item for item in items if item.opcode not in (_EXTENDED, _FORWARD)}
        ahead = {item.operands[0] for item in forward}
        yield from forward
        emitted: set[int | None] = set()
        begun: set[int | None] = set()
        for start in rest.values():
            # Each entry: an item, and whether the items that it uses were yielded.
            work = [(start, False)]
            while work:
                item, ready = work.pop()
                if item.result in emitted:
                    continue
                if ready:
                    emitted.add(item.result)
                    yield item
                    continue
                if item.result in begun:
                    raise ValueError(f"the definition of %{item.result} contains itself")
                begun.add(item.result)
                work.append((item, True))
                work += [(rest[id_], False) for id_ in self._made_of(item, ahead) if id_ in rest and id_ not in emitted]
        yield from last

    def _made_of(self, item: Instruction, ahead: set[int]) -> list[int]:
        """Return the ids that `item` uses and that must be defined before it."""
        ids = [item.operands[at] for at in id_positions(item, self.definitions)]
        if item.opcode == _STRUCT:
            ids = [id_ for id_ in ids if id_ not in ahead]
        return [item.result_type, *ids] if item.result_type is not None else ids
