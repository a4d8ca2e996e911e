"""The pointers into private and work-group memory, and how each of them is computed.

A pointer is simple if it is a variable followed by indices into its type: an access chain expresses it. Memory that is
also accessed by pointers of other types, or by private pointers that are chosen at run time, is flat: see `flat.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...spirv.module import OP, Instruction, numbers
from .code import operand_ids
from .constants import EMPTY
from .context import Context

POINTER, STRUCT, ARRAY, VECTOR = numbers("OpType*", "Pointer Struct Array Vector")
CHAINS = frozenset(numbers("Op*Chain", "Access InBoundsAccess"))
ELEMENT_CHAINS = frozenset(numbers("Op*Chain", "PtrAccess InBoundsPtrAccess"))
BITCAST, PHI, SELECT, COPY_OBJECT, VARIABLE = numbers("Op*", "Bitcast Phi Select CopyObject Variable")
# The instructions that compute a pointer from another, which is their first operand.
DERIVING = CHAINS | ELEMENT_CHAINS | {BITCAST, COPY_OBJECT}
COPY_SIZED = OP["OpCopyMemorySized"]
LOAD, STORE = OP["OpLoad"], OP["OpStore"]
FUNCTION, PRIVATE, WORKGROUP, _INPUT, _PUSH = numbers("StorageClass.*", "Function Private Workgroup Input PushConstant")
LOGICAL = frozenset({FUNCTION, PRIVATE, WORKGROUP, _INPUT, _PUSH})
_MAY_BE_FLAT = frozenset({FUNCTION, PRIVATE, WORKGROUP})
_AS_NUMBERS = frozenset(numbers("Op*", "ConvertPtrToU PtrEqual PtrNotEqual PtrDiff"))


@dataclass(frozen=True, slots=True)
class Path:
    """The place that a pointer points to: a variable, or another pointer, and the indices into its pointee."""

    root: int
    indices: tuple[int, ...] = ()


class Pointers:
    """The logical pointers of a module, in groups: pointers that a copy, phi or select may make equal share a group."""

    def __init__(self, context: Context) -> None:
        self.context, self.parts = context, context.parts
        self.definitions = self.parts.definitions
        self.zero = self.parts.globals.number(0)
        self.parents: dict[int, int] = {}
        self.flagged: set[int] = set()
        self.paths: dict[int, Path] = {}
        for body in self.parts.functions:
            for item in body:
                self.read(item)
        self.flat_groups = {self.group(pointer) for pointer in self.flagged}

    # --- queries

    def is_logical(self, value: int) -> bool:
        return self.storage_class(value) in LOGICAL

    def storage_class(self, value: int) -> int | None:
        """Return the storage class of a pointer; None for other values."""
        item = self.definitions.get(value)
        kind = self.definitions.get(item.result_type or 0) if item is not None else None
        return kind.operands[0] if kind is not None and kind.opcode == POINTER else None

    def is_flat(self, value: int) -> bool:
        """Return whether a value is a pointer into flat memory."""
        return value in self.parents and self.group(value) in self.flat_groups

    def group(self, pointer: int) -> int:
        """Return the representative of a pointer's group."""
        while self.parents.get(pointer, pointer) != pointer:
            pointer = self.parents[pointer]
        return pointer

    def is_zero(self, value: int) -> bool:
        item = self.definitions[value]
        return item.opcode == OP["OpConstantNull"] or (item.opcode == OP["OpConstant"] and not any(item.operands))

    def is_empty(self, value: int) -> bool:
        return self.definitions[value].opcode in EMPTY

    def path(self, pointer: int) -> Path:
        return self.paths.get(pointer) or Path(pointer)

    def outer(self, path: Path) -> int:
        """Return the type of the aggregate into which the last index of a path points."""
        type_id = self.parts.types.pointee(path.root)
        for index in path.indices[:-1]:
            kind = self.definitions[type_id]
            at = self.parts.types.constants.value(index) if kind.opcode == STRUCT else 0
            type_id = self.parts.types.member(type_id, at)
        return type_id

    def zeros(self, pointer: int, pointee: int) -> int | None:
        """Return the number of indices 0 that lead from a pointer's pointee to a first part of type `pointee`.

        Return None if there is no such part.
        """
        type_id, count = self.parts.types.pointee(pointer), 0
        while type_id != pointee:
            if self.definitions[type_id].opcode not in (ARRAY, STRUCT) or not self.definitions[type_id].operands:
                return None
            type_id = self.parts.types.member(type_id, 0)
            count += 1
        return count

    # --- analysis

    def read(self, item: Instruction) -> None:
        """Enter the pointer that an instruction defines, and flag those that make memory flat."""
        if item.opcode == COPY_SIZED or item.opcode in _AS_NUMBERS:
            targets = [value for value in item.operands[:2] if self.storage_class(value) in _MAY_BE_FLAT]
            self.flagged.update(map(self.entered, targets))
            # A copy between local and private memory is between two arrays.
            if len({self.storage_class(value) == WORKGROUP for value in targets}) == 1:
                self.join(*targets)
        elif item.opcode == STORE and self.storage_class(item.operands[1]) in _MAY_BE_FLAT:
            what = "a pointer to private or local memory that is stored in memory: store an index"
            raise self.context.refused(what, *item.operands[:2])
        elif item.result is not None and self.storage_class(item.result) in _MAY_BE_FLAT:
            self.read_pointer(item)

    def entered(self, pointer: int) -> int:
        self.parents.setdefault(pointer, pointer)
        return pointer

    def join(self, *pointers: int) -> None:
        for pointer in pointers[1:]:
            self.parents[self.group(self.entered(pointer))] = self.group(self.entered(pointers[0]))

    def read_pointer(self, item: Instruction) -> None:
        result = self.entered(item.result or 0)
        if item.opcode in (PHI, SELECT):
            values = item.operands[::2] if item.opcode == PHI else item.operands[1:]
            self.join(result, *(value for value in values if not self.is_empty(value)))
            if self.storage_class(result) != WORKGROUP or any(map(self.is_empty, values)):
                self.flagged.add(result)
        elif item.opcode in DERIVING:
            self.join(result, item.operands[0])
            path = self.simple_path(item)
            if path is not None:
                self.paths[result] = path
            elif item.opcode in (BITCAST, COPY_OBJECT) or self.storage_class(result) != WORKGROUP:
                self.flagged.add(result)
        elif item.opcode != VARIABLE:
            what = "a pointer to private or local memory that is computed from an integer or loaded: use an index"
            raise self.context.refused(what, item.result)

    def simple_path(self, item: Instruction) -> Path | None:
        """Return the path of a chain or cast; None if it has none. Indices of steps are not added here."""
        base, *indices = item.operands
        path = self.path(base)
        if item.opcode in (BITCAST, COPY_OBJECT):
            zeros = self.zeros(base, self.definitions[item.result_type or 0].operands[1])
            return None if zeros is None else Path(path.root, (*path.indices, *(self.zero,) * zeros))
        if item.opcode in ELEMENT_CHAINS:
            element, *indices = indices
            if not self.is_zero(element) and not self.stays_inside(base, path):
                return None
        return Path(path.root, (*path.indices, *indices))

    def is_in_array(self, path: Path) -> bool:
        return bool(path.indices) and self.definitions[self.outer(path)].opcode == ARRAY

    def stays_inside(self, base: int, path: Path) -> bool:
        """Return whether a step from an element stays in its array. Programs may walk out of a row or a member."""
        # Matrices have no bytes that could be accessed otherwise.
        has_matrices = self.parts.types.carries(self.parts.types.pointee(base))
        return self.is_in_array(path) and (len(path.indices) == 1 or has_matrices)

    def groups(self) -> Iterator[tuple[int, list[int]]]:
        """Yield each flat group with its variables."""
        for group in sorted(self.flat_groups):
            members = [pointer for pointer in self.parents if self.group(pointer) == group]
            yield group, [pointer for pointer in members if self.definitions[pointer].opcode == VARIABLE]


def drop_markers(context: Context) -> None:
    """Drop markers of lifetimes and lines, and then all pointers that nothing uses."""
    parts = context.parts
    dropped = frozenset(numbers("Op*", "LifetimeStart LifetimeStop Line NoLine"))
    for body in parts.functions:
        kept = [item for item in body if item.opcode not in dropped]
        while True:
            used = {word for item in kept for word in operand_ids(parts, item)}
            live = [item for item in kept if item.opcode not in DERIVING or item.result in used]
            if len(live) == len(kept):
                break
            kept = live
        body[:] = kept
