"""The kernel, and the place in the source, of a value that a pass refuses."""

from __future__ import annotations

from collections.abc import Iterator

from ...spirv.module import ENUM, OP, Instruction, decode_string, numbers
from ...spirv.refusal import Refused
from ...spirv.sections import Section
from .code import operand_ids
from .context import Context

_DECLARATIONS = frozenset(numbers("Op*", "Variable FunctionParameter Function"))
_MARK = ENUM["Decoration.UserSemantic"]


class Places:
    """The functions of a module before the passes, and the marks of their values."""

    def __init__(self, context: Context) -> None:
        self.context, self.parts = context, context.parts
        self.kernels = context.entries
        self.functions = [tuple(body) for body in context.parts.functions]
        items = [item for body in self.functions for item in body if item.opcode != OP["OpVariable"]]
        self.local = {item.result for item in items}
        self.marks: dict[int, int] = {}
        for item in context.parts.sections[Section.ANNOTATION]:
            if item.operands[1:2] == (_MARK,):
                self.marks[item.operands[0]] = int(decode_string(item.operands[2:])[0])

    def locate(self, error: Refused) -> Refused:
        """Return the error with the name of its kernel, and the mark of its place, as far as they are known."""
        result = error if error.code == "vulkan" else self.context.refused(error.message, *error.ids)
        for body, at in self.concerned(error):
            result.function = result.function or self.kernels.get(body[0].result or 0, "")
            result.mark = next((self.marks[n] for n in self.nearest(body, at) if n in self.marks), None)
            if result.mark is not None:
                return result
        if len(self.kernels) == 1:
            result.function = next(iter(self.kernels.values()))
        return result

    def concerned(self, error: Refused) -> Iterator[tuple[tuple[Instruction, ...], int]]:
        """Yield the functions, and indices in them, of the instructions that an error concerns."""
        for body in self.functions:
            yield from ((body, n) for n, item in enumerate(body) if item == error.item)
        for id_ in error.ids:
            for body in self.functions:
                yield from ((body, n) for n, item in enumerate(body) if self.concerns(item, id_))

    def concerns(self, item: Instruction, id_: int) -> bool:
        """Return whether an instruction defines a value, uses a variable, or uses a value or pointer of a type."""
        if item.opcode in _DECLARATIONS:
            return False
        if item.result == id_:
            return True
        if self.parts.definitions[id_].name.startswith("OpType"):
            return any(id_ in self.types(value) for value in operand_ids(self.parts, item))
        return id_ not in self.local and id_ in item.operands and id_ in operand_ids(self.parts, item)

    def types(self, value: int) -> Iterator[int]:
        """Yield the type of a value, and the type that it points to."""
        item = self.parts.definitions.get(value)
        kind = self.parts.definitions.get(item.result_type or 0) if item is not None else None
        if kind is not None:
            yield kind.result or 0
            if kind.opcode == OP["OpTypePointer"]:
                yield kind.operands[1]

    def nearest(self, body: tuple[Instruction, ...], at: int) -> Iterator[int]:
        """Yield the ids of an instruction, of its operands, and of instructions before and after; of a label, after."""
        yield body[at].result or 0
        yield from body[at].operands
        if body[at].opcode != OP["OpLabel"]:
            yield from (item.result or 0 for item in reversed(body[:at]))
        yield from (item.result or 0 for item in body[at:])
