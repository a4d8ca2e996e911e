"""Variables of structs that hold matrices, as variables of their members.

    struct { int tag; Matrix m[2]; } v[3];   v[i].m[j]      ->    int tag[3];   Matrix m[3][2];   m[i][j]

Mesa's drivers divide matrices of flexible shapes, but not those in structs: such a matrix ends their process.
"""

from __future__ import annotations

from ...spirv.module import Instruction
from .code import Code, operand_ids, rewrite
from .context import Context
from .pointers import ARRAY, CHAINS, FUNCTION, STRUCT, VARIABLE, drop_markers


def members(context: Context) -> None:
    """Replace private variables of structs with matrices, unless an instruction accesses more than one member."""
    drop_markers(context)  # pointers to several members at once, which nothing uses
    _Members(context).run()


class _Members:
    def __init__(self, context: Context) -> None:
        self.parts = context.parts
        self.structs: set[int] = set()
        # (variable of a struct, the numbers of the members that lead to a part of another type) -> its variable
        self.variables: dict[tuple[int, tuple[int, ...]], int] = {}

    def run(self) -> None:
        for body in self.parts.functions:
            self.structs |= {item.result or 0 for item in body if item.opcode == VARIABLE and self.is_divided(item)}
            for item in body:
                if item.opcode not in CHAINS or self.has_struct(self.parts.types.pointee(item.result or 0)):
                    self.structs.difference_update(operand_ids(self.parts, item))
        if self.structs:
            rewrite(self.parts, {VARIABLE: self.variable, **dict.fromkeys(CHAINS, self.chain)})
            self.parts.forget(self.structs)

    def is_divided(self, variable: Instruction) -> bool:
        """Return whether a variable without an initial value holds matrices in structs."""
        kind = self.parts.types.pointee(variable.result or 0)
        return variable.operands == (FUNCTION,) and self.has_struct(kind) and self.parts.types.carries(kind)

    def has_struct(self, kind: int) -> bool:
        """Return whether a type is a struct, or an array of such types."""
        item = self.parts.definitions[kind]
        return item.opcode == STRUCT or (item.opcode == ARRAY and self.has_struct(item.operands[0]))

    def variable(self, code: Code, item: Instruction) -> None:
        if item.result not in self.structs:
            code.keep(item)

    def chain(self, code: Code, item: Instruction) -> None:
        """Replace a chain into a struct by a chain into a member's variable, with the other indices."""
        root, *indices = item.operands
        if root not in self.structs:
            code.keep(item)
            return
        types, kind = self.parts.types, self.parts.types.pointee(root)
        path: list[int] = []
        kept: list[int] = []
        lengths: list[int] = []
        member = kind
        for index in indices:
            aggregate = self.parts.definitions[kind]
            if aggregate.opcode == STRUCT:
                path.append(types.constants.value(index))
                member = kind = types.member(kind, path[-1])
                for length in reversed(lengths):
                    member = self.parts.globals.intern("OpTypeArray", member, length)
            else:
                kept.append(index)
                lengths += aggregate.operands[1:] if aggregate.opcode == ARRAY else ()
                kind = types.member(kind, 0)
        key = root, tuple(path)
        if key not in self.variables:
            self.variables[key] = code.variable(member)
        code.finish(item, item.name if kept else "OpCopyObject", self.variables[key], *kept)
