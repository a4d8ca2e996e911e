"""Pointers into private and work-group memory, as logical addressing allows them: access chains from variables.

LLVM computes addresses by pointer arithmetic. A step to another element becomes an index of an access chain:

    %p = OpInBoundsPtrAccessChain %float* %array %0 %i          %p = OpInBoundsAccessChain %float* %array %i
    %q = OpInBoundsPtrAccessChain %float* %p %j          ->     %k = OpIAdd %i %j
                                                                %q = OpInBoundsAccessChain %float* %array %k
"""

from __future__ import annotations

from dataclasses import dataclass

from ...spirv.module import OP, Instruction, numbers
from .code import Code, Rule, rewrite
from .context import Context

_POINTER, _STRUCT, _ARRAY, _INT = numbers("OpType*", "Pointer Struct Array Int")
_CHAINS = frozenset(numbers("Op*Chain", "Access InBoundsAccess"))
_ELEMENT_CHAINS = frozenset(numbers("Op*Chain", "PtrAccess InBoundsPtrAccess"))
_BITCAST = OP["OpBitcast"]
_FUNCTION, _PRIVATE, _WORKGROUP, _INPUT, _PUSH = numbers(
    "StorageClass.*", "Function Private Workgroup Input PushConstant"
)
LOGICAL = frozenset({_FUNCTION, _PRIVATE, _WORKGROUP, _INPUT, _PUSH})


@dataclass(frozen=True, slots=True)
class _Path:
    """The place that a pointer points to: a variable, or another pointer, and the indices into its pointee."""

    root: int
    indices: tuple[int, ...] = ()


def logical(context: Context) -> None:
    """Replace pointer arithmetic and casts of pointers in logical storage classes by access chains."""
    _Logical(context).run()


class _Logical:
    def __init__(self, context: Context) -> None:
        self.context, self.parts = context, context.parts
        self.paths: dict[int, _Path] = {}

    def run(self) -> None:
        rules: dict[int, Rule] = dict.fromkeys((*_CHAINS, *_ELEMENT_CHAINS), self.chain)
        rewrite(self.parts, {**rules, _BITCAST: self.cast})

    def is_logical(self, value: int) -> bool:
        kind = self.parts.definitions[self.parts.definitions[value].result_type or 0]
        return kind.opcode == _POINTER and kind.operands[0] in LOGICAL

    def path(self, pointer: int) -> _Path:
        return self.paths.get(pointer) or _Path(pointer)

    def chain(self, code: Code, item: Instruction) -> None:
        base, *indices = item.operands
        if not self.is_logical(base):
            name = "OpPtrAccessChain" if item.opcode in _ELEMENT_CHAINS else item.name
            code.finish(item, name, *item.operands)
            return
        path = self.path(base)
        if item.opcode in _ELEMENT_CHAINS:
            element, *indices = indices
            if not self.is_zero(element):
                moved = self.moved(code, path, element)
                if moved is None:
                    self.step(code, item)
                    return
                path = moved
        self.finish(code, item, _Path(path.root, (*path.indices, *indices)))

    def finish(self, code: Code, item: Instruction, path: _Path) -> None:
        """Define the result of `item` as the place `path`."""
        self.paths[item.result or 0] = path
        if path.indices:
            code.finish(item, "OpInBoundsAccessChain", path.root, *path.indices)
        else:
            code.finish(item, "OpCopyObject", path.root)

    def moved(self, code: Code, path: _Path, element: int) -> _Path | None:
        """Return the place `element` elements further on in the array of `path`; None if it is no array's element."""
        if not path.indices or self.parts.definitions[self.outer(path)].opcode != _ARRAY:
            return None
        *front, last = path.indices
        return _Path(path.root, (*front, self.sum(code, last, element)))

    def outer(self, path: _Path) -> int:
        """Return the type of the aggregate into which the last index of a path points."""
        type_id = self.parts.types.pointee(path.root)
        for index in path.indices[:-1]:
            kind = self.parts.definitions[type_id]
            at = self.parts.types.constants.value(index) if kind.opcode == _STRUCT else 0
            type_id = self.parts.types.member(type_id, at)
        return type_id

    def sum(self, code: Code, left: int, right: int) -> int:
        """Return the sum of two indices; an index of fewer bits is sign-extended."""
        if self.is_zero(left):
            return right
        bits = [self.parts.definitions[code.type_of(value)].operands[0] for value in (left, right)]
        type_id = self.parts.globals.integer(max(bits))
        values = [
            value if own == max(bits) else code.add("OpSConvert", type_id, value)
            for value, own in zip((left, right), bits, strict=True)
        ]
        return code.add("OpIAdd", type_id, *values)

    def step(self, code: Code, item: Instruction) -> None:
        """Keep pointer arithmetic in work-group memory, which variable pointers allow; refuse it elsewhere."""
        kind = self.parts.definitions[item.result_type or 0]
        if kind.operands[0] != _WORKGROUP:
            raise self.context.refused("pointer arithmetic on a private variable that is no array")
        code.finish(item, "OpPtrAccessChain", *item.operands)

    def is_zero(self, value: int) -> bool:
        item = self.parts.definitions[value]
        return item.opcode == OP["OpConstantNull"] or (item.opcode == OP["OpConstant"] and not any(item.operands))

    def cast(self, code: Code, item: Instruction) -> None:
        """Make a cast to a pointer to the pointee's first part an access chain; refuse other casts."""
        if not self.is_pointer_type(item.result_type) or not self.is_logical(item.operands[0]):
            code.keep(item)
            return
        path = self.path(item.operands[0])
        type_id, wanted = self.parts.types.pointee(item.operands[0]), self.parts.definitions[item.result_type or 0]
        zeros = 0
        while type_id != wanted.operands[1] and self.parts.definitions[type_id].opcode in (_ARRAY, _STRUCT):
            type_id = self.parts.types.member(type_id, 0)
            zeros += 1
        if type_id != wanted.operands[1]:
            raise self.context.refused("a cast of a pointer to private or local memory")
        self.finish(code, item, _Path(path.root, (*path.indices, *(code.u32(0),) * zeros)))

    def is_pointer_type(self, type_id: int | None) -> bool:
        return self.parts.definitions[type_id or 0].opcode == _POINTER
