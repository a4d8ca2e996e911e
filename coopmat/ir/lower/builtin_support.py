"""What the modules that lower builtins share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from llvmlite import ir

from ...diagnostics import InternalError
from ...frontend import builtins as table
from ...frontend.typed import BuiltinCall
from ...frontend.types import PointerType, ScalarType, Type, element_type
from .. import LowerOptions
from ..mangle import mangle
from ..type_map import I32, VOID_TYPE, TypeMap


class BuiltinContext(Protocol):
    """What these modules need of the function under construction."""

    builder: Any
    types: TypeMap
    options: LowerOptions

    def call(
        self, name: str, result: ir.Type, arguments: Sequence[ir.Value], attributes: Sequence[str] = ...
    ) -> ir.Value:
        """A call of the external spir_func of this name, declared after its arguments once per module."""


Lowering = Callable[[BuiltinContext, BuiltinCall, Sequence[ir.Value]], "ir.Value | None"]


def call_named(
    ctx: BuiltinContext, name: str, call: BuiltinCall, parameters: Sequence[Type], arguments: Sequence[ir.Value]
) -> ir.Value | None:
    """A call of `name` with the result and the attributes of `call`."""
    row = table.find(call.name)
    attributes = ["nounwind"]
    if row is not None:
        attributes += ["convergent"] * row.convergent + ["readnone"] * row.pure
    result = ctx.types.of(call.type)
    value = ctx.call(mangle(name, parameters), result, arguments, attributes)
    return None if result is VOID_TYPE else value


def integers(llvm: ir.Type, value: int) -> ir.Constant:
    """The constant whose every component is `value`."""
    return ir.Constant(llvm, [value] * llvm.count if isinstance(llvm, ir.VectorType) else value)


def splat(ctx: BuiltinContext, value: ir.Value, count: int) -> ir.Value:
    undefined = ir.Constant(ir.VectorType(value.type, count), ir.Undefined)
    first = ctx.builder.insert_element(undefined, value, ir.Constant(I32, 0))
    return ctx.builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(I32, count), None))


def scalar(t: Type) -> ScalarType:
    """The element type of a scalar or vector."""
    element = element_type(t)
    if not isinstance(element, ScalarType) or isinstance(t, PointerType):
        raise InternalError(f"'{t}' is not a scalar or vector")
    return element
