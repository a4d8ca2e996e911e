"""Heads of the matrix library's functions (`coopmat.matrices.instances`)."""

from __future__ import annotations

from llvmlite import ir

from ...frontend.types import FLOATS, INTEGERS, SIZE_T, VECTOR_SIZES, AddressSpace, Type, with_count
from ...matrices.lowering import Instance, Target, parameters
from ..module import ModuleBuilder
from ..type_map import POINTERS, VOID_TYPE

_VALUES: dict[str, Type] = {
    "size_t": SIZE_T,
    **{str(t): t for scalar in (*INTEGERS, *FLOATS) for t in (with_count(scalar, n) for n in (1, *VECTOR_SIZES))},
}
_SPACES = {str(space): space for space in AddressSpace}


def declare(module: ModuleBuilder, instance: Instance, target: Target) -> ir.Function:
    """The function's head; `Program` lowers its body, once the library's text is known."""
    signature = instance.signature
    result = VOID_TYPE if signature.returns == "void" else module.types.of(_VALUES[signature.returns])
    types = [
        POINTERS[_SPACES[parameter.space]] if parameter.space else module.types.of(_VALUES[parameter.type])
        for parameter in parameters(instance, target)
    ]
    return module.define(instance.function_name, result, types, inline=True)
