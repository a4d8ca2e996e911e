"""The storage classes of pointers: Vulkan's for global and constant memory, and inferred ones for generic pointers.

An address of global or constant memory is in PhysicalStorageBuffer. A table in constant memory is a private variable.
A generic pointer, or one to constant memory, has the storage class of the values that it is made of.
"""

from __future__ import annotations

from ...spirv.module import OP, Instruction, numbers
from .code import replace_global, replace_types, substitute
from .constants import EMPTY
from .context import Context
from .layout import PSB

_POINTER = OP["OpTypePointer"]
_VARIABLE, _PHI, _SELECT, _BITCAST = numbers("Op*", "Variable Phi Select Bitcast")
_CHAINS = frozenset(numbers("Op*Chain", "Access InBoundsAccess PtrAccess InBoundsPtrAccess"))
_CASTS = frozenset(numbers("Op*", "CopyObject Bitcast PtrCastToGeneric GenericCastToPtr"))
_EXPLICIT = OP["OpGenericCastToPtrExplicit"]
_CONSTANT, _CROSS_WORKGROUP, _GENERIC, _PRIVATE = numbers(
    "StorageClass.*", "UniformConstant CrossWorkgroup Generic Private"
)
_OPENCL = (_CONSTANT, _CROSS_WORKGROUP, _GENERIC)


def addresses(context: Context) -> None:
    """Give every pointer a storage class that Vulkan has."""
    _check_variables(context)
    _Classes(context).run()


def _check_variables(context: Context) -> None:
    for item in context.parts.globals.items:
        if item.opcode == _VARIABLE and item.operands[0] == _CROSS_WORKGROUP:
            raise context.refused(
                "a program-scope variable in global memory: pass its address as an argument", item.result
            )


class _Classes:
    """The inference over one module; `classes` maps the id of a pointer to its storage class."""

    def __init__(self, context: Context) -> None:
        self.context, self.parts = context, context.parts
        self.definitions = self.parts.definitions
        self.pointees = {i.result or 0: i.operands for i in self.parts.globals.items if i.opcode == _POINTER}
        self.classes: dict[int, int] = {}
        for item in self.parts.globals.items:
            if item.opcode == _VARIABLE:
                self.classes[item.result or 0] = _PRIVATE if item.operands[0] == _CONSTANT else item.operands[0]

    def run(self) -> None:
        self.fold_nulls()
        for body in self.parts.functions:
            while self.infer(body):
                pass
        for body in self.parts.functions:
            body[:] = map(self.without_explicit_cast, body)
            body[:] = map(self.with_class, body)
            self.parts.define(body)
        for item in list(self.parts.globals.items):
            if item.opcode == _VARIABLE and item.operands[0] == _CONSTANT:
                pointer = self.parts.globals.pointer(self.pointees[item.result_type or 0][1], _PRIVATE)
                replace_global(self.parts, Instruction(_VARIABLE, (_PRIVATE, *item.operands[1:]), pointer, item.result))
        self.convert_types()
        self.drop_casts()

    def fold_nulls(self) -> None:
        """Replace casts of empty pointers, and steps from generic ones, by null pointers of the other type."""
        ids: dict[int, int] = {}
        for body in self.parts.functions:
            for item in body:
                own = self.pointees.get(item.result_type or 0)
                if own is None or item.opcode not in (_CASTS | _CHAINS if own[0] == _GENERIC else _CASTS):
                    continue
                if self.definitions[ids.get(item.operands[0], item.operands[0])].opcode in EMPTY:
                    ids[item.result or 0] = self.parts.globals.intern("OpConstantNull", result_type=item.result_type)
        substitute(self.parts, ids)

    def infer(self, body: list[Instruction]) -> bool:
        """Infer the classes of a function's pointers from those known so far; return whether any is new."""
        changed = False
        for item in body:
            if item.result_type in self.pointees and item.result not in self.classes:
                found = self.class_of(item)
                if found is not None:
                    self.classes[item.result or 0] = found
                    changed = True
        return changed

    def class_of(self, item: Instruction) -> int | None:
        """Return the storage class of an instruction's result; None if its operands' classes are unknown yet."""
        if item.opcode in _CHAINS or (item.opcode in _CASTS and self.is_pointer(item.operands[0])):
            return self.class_of_value(item.operands[0])
        if item.opcode == _EXPLICIT:
            own = self.class_of_value(item.operands[0])
            asked = PSB if item.operands[1] in _OPENCL else item.operands[1]
            if own not in (None, asked) and asked != PSB:
                raise self.context.refused(
                    "a test of a generic pointer's address space that fails: remove it", item.result
                )
            return None if own is None else asked
        if item.opcode in (_PHI, _SELECT):
            values = item.operands[::2] if item.opcode == _PHI else item.operands[1:]
            known = {self.classes.get(value) for value in values if not self.is_empty(value)} - {None}
            if len(known) > 1:
                raise self.context.refused(
                    "a pointer that may point to different address spaces: use a pointer for each", item.result
                )
            return next(iter(known), None)
        own = self.pointees[item.result_type or 0][0]
        return PSB if own in _OPENCL else own

    def class_of_value(self, value: int) -> int | None:
        return PSB if self.is_empty(value) else self.classes.get(value)

    def is_empty(self, value: int) -> bool:
        """Return whether a value is a null or undefined pointer."""
        return self.definitions[value].opcode in EMPTY

    def is_pointer(self, value: int) -> bool:
        return self.definitions[value].result_type in self.pointees

    def without_explicit_cast(self, item: Instruction) -> Instruction:
        """Return a cast, or a null pointer if the operand is in another address space, for a tested cast."""
        if item.opcode != _EXPLICIT:
            return item
        if self.class_of_value(item.operands[0]) == self.classes.get(item.result or 0):
            return Instruction(_BITCAST, item.operands[:1], item.result_type, item.result)
        null = self.parts.globals.intern("OpConstantNull", result_type=item.result_type)
        return Instruction(OP["OpCopyObject"], (null,), item.result_type, item.result)

    def with_class(self, item: Instruction) -> Instruction:
        """Return the instruction with a result type of the inferred storage class."""
        if item.result_type not in self.pointees:
            return item
        own, pointee = self.pointees[item.result_type]
        new = self.classes.get(item.result or 0, PSB)
        if new in (own, PSB):
            return item
        pointer, operands = self.parts.globals.pointer(pointee, new), item.operands
        if item.opcode in (_PHI, _SELECT):
            null = self.parts.globals.intern("OpConstantNull", result_type=pointer)
            operands = tuple(null if self.is_empty(word) else word for word in operands)
        return Instruction(item.opcode, operands, pointer, item.result)

    def convert_types(self) -> None:
        """Make the types of pointers to OpenCL's global memory types of addresses; equal types become one."""
        globals_, layout = self.parts.globals, self.context.layout
        same: dict[int, int] = {}
        first: dict[int, int] = {}
        for id_, (space, pointee) in self.pointees.items():
            if space in _OPENCL:
                same[id_] = first.setdefault(pointee, id_)
        for pointee, id_ in first.items():
            replace_global(self.parts, Instruction(_POINTER, (PSB, layout.explicit(pointee)), None, id_))
            globals_._remember(self.definitions[id_])
            if self.definitions[pointee].opcode != OP["OpTypeVoid"]:
                layout.decorate_pointer(id_)
        replace_types(self.parts, {old: new for old, new in same.items() if old != new})

    def drop_casts(self) -> None:
        """Drop casts that change nothing; make the others bitcasts."""
        same: dict[int, int] = {}
        for body in self.parts.functions:
            kept = []
            for item in body:
                source = self.definitions[item.operands[0]].result_type if item.opcode in _CASTS else None
                if source is not None and source == item.result_type:
                    same[item.result or 0] = item.operands[0]
                    continue
                if item.opcode in _CASTS and item.opcode != OP["OpCopyObject"]:
                    item = Instruction(_BITCAST, item.operands, item.result_type, item.result)
                kept.append(item)
            body[:] = kept
            self.parts.define(kept)
        substitute(self.parts, same)
