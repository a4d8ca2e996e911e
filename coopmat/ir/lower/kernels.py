"""What is special about kernels: their heads, their metadata, what is told about them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from llvmlite import ir

from ...frontend import typed
from ...frontend.kernel_info import sub_group_size
from ...frontend.types import PointerType, Type
from ..instructions import PointeeAttributes
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


_SMALLEST_SUB_GROUP = 8
_MOST_SUB_GROUPS = 16


def most_sub_groups(decls: Iterable[typed.FunctionDecl], size: int | None) -> int:
    """How many subgroups a work-group of these kernels may have.

    It follows from reqd_work_group_size and the subgroups' size (theirs, or else `size`, or 8, which no device that we
    know goes below). A kernel that does not tell is taken to have no more than 16 (docs/routes.md).
    """
    most = 0
    for decl in decls:
        items = decl.attributes.get("reqd_work_group_size")
        if isinstance(items, tuple):
            each = sub_group_size(decl) or size or _SMALLEST_SUB_GROUP
            most = max(most, -(-math.prod(items) // each))
        else:
            most = max(most, _MOST_SUB_GROUPS)
    return most or _MOST_SUB_GROUPS


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
