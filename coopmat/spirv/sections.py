"""The sections of a module and their order (SPIR-V specification, 2.4)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from .module import OP, Instruction, decode_string


class Section(IntEnum):
    """A section of a module before its functions, in the order of the specification."""

    CAPABILITY = 0
    EXTENSION = 1
    IMPORT = 2
    MEMORY_MODEL = 3
    ENTRY_POINT = 4
    EXECUTION_MODE = 5
    SOURCE = 6
    NAME = 7
    PROCESSED = 8
    ANNOTATION = 9
    GLOBAL = 10


_NAMES = {
    Section.CAPABILITY: ("Capability",),
    Section.EXTENSION: ("Extension",),
    Section.IMPORT: ("ExtInstImport",),
    Section.MEMORY_MODEL: ("MemoryModel",),
    Section.ENTRY_POINT: ("EntryPoint",),
    Section.EXECUTION_MODE: ("ExecutionMode", "ExecutionModeId"),
    Section.SOURCE: ("String", "SourceExtension", "Source", "SourceContinued"),
    Section.NAME: ("Name", "MemberName"),
    Section.PROCESSED: ("ModuleProcessed",),
    Section.ANNOTATION: (
        *("Decorate", "MemberDecorate", "DecorationGroup", "GroupDecorate", "GroupMemberDecorate"),
        *("DecorateId", "DecorateString", "MemberDecorateString"),
    ),
}
_SECTION_OF = {OP[f"Op{name}"]: section for section, names in _NAMES.items() for name in names if f"Op{name}" in OP}


def entry_point(item: Instruction) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the operands of an OpEntryPoint up to and including its name, and the ids of its interface variables."""
    end = 2 + decode_string(item.operands[2:])[1]
    return item.operands[:end], item.operands[end:]


def split(code: Iterable[Instruction]) -> tuple[dict[Section, list[Instruction]], list[list[Instruction]]]:
    """Return the instructions before the functions, by section, and the instructions of each function."""
    sections: dict[Section, list[Instruction]] = {section: [] for section in Section}
    functions: list[list[Instruction]] = []
    begin, end = OP["OpFunction"], OP["OpFunctionEnd"]
    inside = False
    for item in code:
        if item.opcode == begin:
            functions.append([])
            inside = True
        if inside:
            functions[-1].append(item)
            inside = item.opcode != end
        else:
            sections[_SECTION_OF.get(item.opcode, Section.GLOBAL)].append(item)
    return sections, functions
