"""Simple pointers into private and work-group memory as access chains from their variables.

LLVM computes addresses by pointer arithmetic. A step to another element becomes an index of an access chain:

    %p = OpInBoundsPtrAccessChain %float* %array %0 %i          %p = OpInBoundsAccessChain %float* %array %i
    %q = OpInBoundsPtrAccessChain %float* %p %j          ->     %k = OpIAdd %i %j
                                                                %q = OpInBoundsAccessChain %float* %array %k
"""

from __future__ import annotations

from ...spirv.module import Instruction
from .code import Code, Rule, rewrite
from .context import Context
from .flat import flatten
from .pointers import BITCAST, CHAINS, COPY_OBJECT, ELEMENT_CHAINS, POINTER, Path, Pointers


def logical(context: Context) -> None:
    """Replace pointer arithmetic and casts of pointers in logical storage classes."""
    pointers = Pointers(context)
    flatten(context, pointers)
    _Logical(context, pointers).run()


class _Logical:
    def __init__(self, context: Context, pointers: Pointers) -> None:
        self.context, self.parts, self.pointers = context, context.parts, pointers
        self.paths: dict[int, Path] = {}

    def run(self) -> None:
        rules: dict[int, Rule] = dict.fromkeys((*CHAINS, *ELEMENT_CHAINS), self.chain)
        rewrite(self.parts, {**rules, BITCAST: self.cast, COPY_OBJECT: self.cast})

    def path(self, pointer: int) -> Path:
        return self.paths.get(pointer) or Path(pointer)

    def chain(self, code: Code, item: Instruction) -> None:
        base, *indices = item.operands
        if not self.pointers.is_logical(base):
            name = "OpPtrAccessChain" if item.opcode in ELEMENT_CHAINS else item.name
            code.finish(item, name, *item.operands)
            return
        path = self.path(base)
        if item.opcode in ELEMENT_CHAINS:
            element, *indices = indices
            if not self.pointers.is_zero(element):
                if not self.pointers.is_in_array(path):
                    # Variable pointers allow this in work-group memory.
                    code.finish(item, "OpPtrAccessChain", *item.operands)
                    return
                *front, last = path.indices
                path = Path(path.root, (*front, self.sum(code, last, element)))
        self.finish(code, item, Path(path.root, (*path.indices, *indices)))

    def finish(self, code: Code, item: Instruction, path: Path) -> None:
        """Define the result of `item` as the place `path`."""
        self.paths[item.result or 0] = path
        if path.indices:
            code.finish(item, "OpInBoundsAccessChain", path.root, *path.indices)
        else:
            code.finish(item, "OpCopyObject", path.root)

    def sum(self, code: Code, left: int, right: int) -> int:
        """Return the sum of two indices; an index of fewer bits is sign-extended."""
        if self.pointers.is_zero(left):
            return right
        bits = [self.parts.definitions[code.type_of(value)].operands[0] for value in (left, right)]
        type_id = self.parts.globals.integer(max(bits))
        values = [
            value if own == max(bits) else code.add("OpSConvert", type_id, value)
            for value, own in zip((left, right), bits, strict=True)
        ]
        return code.add("OpIAdd", type_id, *values)

    def cast(self, code: Code, item: Instruction) -> None:
        """Make a cast to a pointer to the pointee's first part an access chain."""
        is_pointer = self.parts.definitions[item.result_type or 0].opcode == POINTER
        if not is_pointer or not self.pointers.is_logical(item.operands[0]):
            code.keep(item)
            return
        path = self.path(item.operands[0])
        zeros = self.pointers.zeros(item.operands[0], self.parts.definitions[item.result_type or 0].operands[1]) or 0
        self.finish(code, item, Path(path.root, (*path.indices, *(code.u32(0),) * zeros)))
