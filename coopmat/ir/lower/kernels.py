"""What is special about kernels: their heads, their metadata, what is told about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from llvmlite import ir
from llvmlite.ir.instructions import AllocaInstr

from ...frontend import typed
from ...frontend.types import PointerType, Type
from ..instructions import Builder, PointeeAttributes, variable
from ..type_map import I32, VOID_TYPE, undefined
from .operators import is_signed

if TYPE_CHECKING:
    from .program import Program


def declare(program: Program, decl: typed.FunctionDecl) -> ir.Function:
    """The kernel without its body. Records come as byval pointers, as clang has it."""
    types = program.module.types
    parameters = [types.parameter(parameter.type) for parameter in decl.parameters]
    function = program.module.define(decl.name, VOID_TYPE, parameters, kernel=True)
    for argument, parameter in zip(function.args, decl.parameters, strict=True):
        attach_restrict(argument, parameter)
        if types.in_memory(parameter.type):
            typ, align = types.of(parameter.type), types.align(parameter.type)
            argument.attributes = PointeeAttributes("byval", typ, align)
    return function


def attach_restrict(argument: ir.Value, parameter: typed.VarDecl) -> None:
    """A restrict pointer is noalias, as clang has it."""
    if parameter.qualifiers.restrict and isinstance(parameter.type, PointerType):
        argument.attributes.add("noalias")


# Vectors that LLVM's x86 code keeps aligned by itself, in bits.
_ALIGNED_ANYWAY = 128


def align_frame(function: ir.Function, bits: int) -> None:
    """Gives private memory the alignment of registers `bits` wide, by a variable that no optimiser takes away.

    Intel's CPU runtime aligns a kernel's frame to what its variables ask for, and to 16 bytes where none is left.
    Vectors that are spilled to it then cross the lines of the cache: loops over matrices took 1.5 times as long.
    """
    if bits <= _ALIGNED_ANYWAY:
        return
    entry, size = function.blocks[0], bits // 8
    slot = variable(entry, I32, size, "frame")
    entry.instructions.insert(0, slot)
    builder = Builder(entry)
    builder.position_before(next(item for item in entry.instructions if not isinstance(item, AllocaInstr)))
    builder.store(ir.Constant(I32, 0), slot, align=size, volatile=True)


def attach_metadata(program: Program, function: ir.Function, decl: typed.FunctionDecl, size: int | None) -> None:
    """The kernel's attributes, and the subgroup size it is compiled for."""

    def attach(name: str, operands: Sequence[ir.Value]) -> None:
        function.set_metadata(name, program.module.ir.add_metadata(list(operands)))

    for name in ("reqd_work_group_size", "work_group_size_hint"):
        sizes = decl.attributes.get(name)
        if isinstance(sizes, tuple):
            attach(name, [ir.Constant(I32, n) for n in sizes])
    hint = decl.attributes.get("vec_type_hint")
    if isinstance(hint, Type):
        typ = program.module.types.of(hint)
        attach("vec_type_hint", [undefined(typ), ir.Constant(I32, int(is_signed(hint)))])
    if size is not None:
        attach("intel_reqd_sub_group_size", [ir.Constant(I32, size)])
