"""A module with matrices, split into sections and functions, which passes rewrite and then reassemble."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...spirv.module import OP, Instruction, Module
from ...spirv.module_globals import ModuleGlobals
from ...spirv.sections import Section, split
from ..spirv.types import Types

DECORATE, GROUP_DECORATE = OP["OpDecorate"], OP["OpGroupDecorate"]
Decoration = tuple[int, ...]


@dataclass(slots=True)
class Parts:
    """The parts of a module.

    sections: section -> its instructions.
    functions: the instructions of each function.
    definitions: id -> the instruction that defines it.
    globals: the types, constants and global variables, to which passes add.
    types: queries about types.
    """

    module: Module
    sections: dict[Section, list[Instruction]]
    functions: list[list[Instruction]]
    definitions: dict[int, Instruction] = field(init=False)
    globals: ModuleGlobals = field(init=False)
    types: Types = field(init=False)

    def __post_init__(self) -> None:
        self.read()

    @classmethod
    def of(cls, module: Module) -> Parts:
        return cls(module, *split(module.instructions))

    def read(self) -> None:
        """Rebuild `definitions`, `globals` and `types` after a change of the sections."""
        code = [*self.sections[Section.GLOBAL], *(item for body in self.functions for item in body)]
        code += self.sections[Section.IMPORT]
        self.definitions = {item.result: item for item in code if item.result is not None}
        self.globals = ModuleGlobals(self.module, self.sections[Section.GLOBAL], self.definitions)
        self.types = Types(self.globals)

    def write(self) -> None:
        """Write the globals into their section, and all sections and functions into the module."""
        self.sections[Section.GLOBAL] = list(self.globals.ordered({}, set()))
        before = [item for section in Section for item in self.sections[section]]
        self.module.instructions = [*before, *(item for body in self.functions for item in body)]

    def define(self, items: Iterable[Instruction]) -> None:
        for item in items:
            if item.result is not None:
                self.definitions[item.result] = item

    # --- decorations

    def decorations(self) -> dict[int, list[Decoration]]:
        """Return id -> the operands of its OpDecorate instructions behind the target, including those of groups."""
        by_target: dict[int, list[Decoration]] = {}
        for item in self.sections[Section.ANNOTATION]:
            if item.opcode == DECORATE:
                by_target.setdefault(item.operands[0], []).append(item.operands[1:])
            elif item.opcode == GROUP_DECORATE:
                for target in item.operands[1:]:
                    by_target.setdefault(target, []).extend(by_target.get(item.operands[0], []))
        return by_target

    def decorate(self, target: int, decorations: Iterable[Decoration]) -> None:
        self.sections[Section.ANNOTATION] += [Instruction(DECORATE, (target, *words)) for words in decorations]

    def forget(self, ids: set[int]) -> None:
        """Drop the names and decorations of ids that were removed or now denote something else."""
        for section in (Section.NAME, Section.ANNOTATION):
            items = []
            for item in self.sections[section]:
                if item.opcode == GROUP_DECORATE:
                    targets = tuple(target for target in item.operands[1:] if target not in ids)
                    items.append(Instruction(item.opcode, (item.operands[0], *targets)))
                elif item.operands[0] not in ids:
                    items.append(item)
            self.sections[section] = items
