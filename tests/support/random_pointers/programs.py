"""Programs: the source of a kernel, its arguments, and the contents of its buffers after the launch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .layout import Array, Record, declare, meaningful, point
from .machine import Machine, Object
from .statements import Statement

Buffer: TypeAlias = npt.NDArray[Any]
UNWRITTEN = 0xEEEEEEEE
"""The initial contents of the output."""


@dataclass(frozen=True)
class Launchable:
    """What an executor and a comparison need to know of a program.

    arguments: buffers; for an argument in local memory, its size in bytes.
    expected: buffers after the launch; None for an argument in local memory.
    masks: 1 for each byte that is compared.
    local_size: the number of work-items of a work-group.
    """

    name: str
    text: str
    arguments: list[Buffer | int]
    expected: list[Buffer | None]
    masks: list[Buffer | None]
    items: int
    local_size: int

    def difference(self, found: Sequence[Buffer | None]) -> str:
        """Describe the first difference of the buffers; "" if there is none."""
        for i, (ours, right, mask) in enumerate(zip(found, self.expected, self.masks, strict=True)):
            if ours is None or right is None or mask is None:
                continue
            at = np.flatnonzero((ours.reshape(-1).view(np.uint8) != right.reshape(-1).view(np.uint8)) & (mask != 0))
            if at.size:
                word = int(at[0]) // ours.itemsize
                got, wanted = ours.reshape(-1)[word], right.reshape(-1)[word]
                return f"argument {i}, element {word} of {ours.size}: got {got:#x}, expected {wanted:#x}"
        return ""


@dataclass(frozen=True)
class Program:
    """A kernel with its initial memory.

    declarations: pointer variable -> the text that declares it.
    helpers: function -> its definition.
    machines: the initial state of each work-item.
    has_private: the text has the qualifier private.
    """

    seed: int
    objects: dict[str, Object]
    records: list[Record]
    declarations: dict[str, str]
    helpers: dict[str, str]
    statements: list[Statement]
    machines: list[Machine]
    local_size: int
    has_private: bool

    @property
    def name(self) -> str:
        return f"k{self.seed}"

    def execute(self) -> list[Machine]:
        """Return the final state of each work-item; raise Undefined."""
        finals = [machine.copy() for machine in self.machines]
        for final in finals:
            for statement in self.statements:
                statement.execute(final)
        return finals

    def with_statements(self, statements: list[Statement]) -> Program:
        return replace(self, statements=statements)

    def launchable(self) -> Launchable:
        finals, objects = self.execute(), self._arguments()
        out_size = max(1, *(len(final.out) for final in finals))
        outs = np.full((len(finals), out_size), UNWRITTEN, np.uint32)
        expected: list[Buffer | None] = [outs.copy(), *(_column([getattr(m, n) for m in finals]) for n in _INPUTS)]
        for row, final in zip(expected[0], finals, strict=True):  # type: ignore[arg-type]
            row[: len(final.out)] = final.out
        arguments: list[Buffer | int] = [outs, *(array.copy() for array in expected[1:] if array is not None)]
        masks: list[Buffer | None] = [np.ones(array.nbytes, np.uint8) for array in expected if array is not None]
        for each in objects:
            if each.space == "local":
                arguments.append(each.kind.size)
                expected, masks = [*expected, None], [*masks, None]
                continue
            before, after = ([bytes(m.memory[each.name]) for m in states] for states in (self.machines, finals))
            arguments.append(np.frombuffer(b"".join(before), np.uint8))
            expected.append(np.frombuffer(b"".join(after), np.uint8))
            masks.append(np.frombuffer(meaningful(each.kind) * len(finals), np.uint8))
        text = self.text(out_size)
        return Launchable(self.name, text, arguments, expected, masks, len(finals), self.local_size)

    def _arguments(self) -> list[Object]:
        names = _names("\n".join(self._body()))
        return [each for each in self.objects.values() if each.is_argument and each.name in names]

    def _body(self) -> Iterator[str]:
        for statement in self.statements:
            yield from statement.lines()

    def text(self, out_size: int) -> str:
        """Return the source with all that the statements use."""
        body = list(self._body())
        used = _names("\n".join(body))
        helpers = [text for name, text in self.helpers.items() if name in used]
        declared = [each for each in self.objects.values() if each.name in used and not each.is_argument]
        tables = [each.declaration for each in declared if each.space == "constant"]
        begin = [f"    {each.declaration}" for each in declared if each.space != "constant"]
        begin += [f"    {text}" for name, text in self.declarations.items() if name in used]
        parameters, moves = self._parameters(out_size)
        lines = [*helpers, *tables, f"kernel void {self.name}({parameters})", "{", *moves, *begin, *body, "}"]
        known, records = _names("\n".join(lines)), list[str]()
        for record in reversed(self.records):
            if record.name in known:
                records.insert(0, record.definition)
                known |= _names(record.definition)
        text = "\n".join([*records, *lines]) + "\n"
        return text if self.has_private else text.replace("private ", "")

    def _parameters(self, out_size: int) -> tuple[str, list[str]]:
        """Return the list of parameters, and the statements that move pointers to the work-item's own elements."""
        first = self.machines[0]
        parameters = ["global uint *out", "global const int *in", "global const uint *data"]
        counts = {"out": out_size, "in": len(first.inputs), "data": len(first.data)}
        for each in self._arguments():
            assert isinstance(each.kind, Array)
            parameters.append(point(each.space, each.kind.element, each.name))
            if each.space != "local":
                counts[each.name] = each.kind.count
        moves = [f"    {name} += get_global_id(0) * {count};" for name, count in counts.items()]
        is_single = len(self.machines) == 1
        return ", ".join(parameters), [*([] if is_single else moves), "    global const uint *d = data;"]


_INPUTS = ("inputs", "data")


def _column(rows: list[list[int]]) -> Buffer:
    return np.array(rows, np.int64).astype(np.uint32)


def _names(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", text))


def join(programs: Sequence[Launchable]) -> str:
    """Return one source with all kernels."""
    return "\n".join(program.text for program in programs)


def declare_object(each: Object, attribute: str, initial: str) -> str:
    """Return the declaration of an object in private, local or constant memory."""
    space = "" if each.space == "private" else each.space + " "
    return f"{space}{declare(each.kind, each.name)}{attribute}{f' = {initial}' if initial else ''};"
