"""Images and samplers: values that came from the host, the constants among them, and their builtins.

LLVM's SPIR-V backend knows most of the builtins by their OpenCL names. It does not know those of half, nor the
channel order; it takes SPIR-V's numbers of channel data types for OpenCL's; it leaves the fourth size of
`get_image_dim` undefined; and it forgets whether an integer has a sign, which the device then cannot know.

All calls are convergent: LLVM's passes would otherwise make one call of two in different branches, whose image or
sampler is a phi, and SPIR-V has none of those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from llvmlite import ir

from ...diagnostics import InternalError
from ...frontend import typed
from ...frontend.typed import BuiltinCall
from ...frontend.types import SAMPLER, ImageType, Type, VectorType
from ..type_map import I32, sampled_image_type
from .builtin_calls import BuiltinContext, Lowering, call_named, mangle

if TYPE_CHECKING:
    from .context import FunctionContext

# What OpenCL adds to SPIR-V's numbers of channel orders and data types (SPIR-V specification, sections 3.12, 3.13).
_FIRST_ORDER, _FIRST_DATA_TYPE = 0x10B0, 0x10D0
# The rows of `spirv/legalize.py` for a builtin's suffix; those about signs need SPIR-V 1.4.
_HALF, _SIGNS = "Half", {"i": "Signed", "ui": "Unsigned"}
_SIGNS_SINCE = "1.4"


@dataclass(slots=True)
class Handle:
    """An image or a sampler by its name. It has no address: nothing is ever stored to it."""

    value: ir.Value

    def read(self, ctx: FunctionContext) -> ir.Value:
        return self.value

    def write(self, ctx: FunctionContext, value: object) -> None:
        raise InternalError("an image or sampler cannot be changed")


def handle(ctx: FunctionContext, decl: typed.VarDecl) -> Handle:
    """The argument that `decl` is, or the constant that it stands for, made anew wherever it is named."""
    argument = ctx.handles.get(decl)
    if argument is not None:
        return Handle(argument)
    if decl.initializer is None:
        raise InternalError(f"'{decl.name}' has no value")
    return Handle(ctx.rvalue(decl.initializer))


def constant_sampler(ctx: BuiltinContext, value: ir.Value) -> ir.Value:
    """The sampler that an integer constant describes."""
    return ctx.call("__translate_sampler_initializer", ctx.types.of(SAMPLER), [value])


def _read(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    kind = _kind(ctx, call.name.removeprefix("read_image"))
    if kind is None:
        return call_named(ctx, call.name, call, call.parameters, arguments)
    if len(arguments) == 2:
        return _instruction(ctx, f"ImageRead{kind}", call.type, call.parameters, arguments)
    image, sampler, coordinates = arguments
    t = call.parameters[0]
    assert isinstance(t, ImageType)
    both = ctx.call(mangle("__spirv_SampledImage", [t, SAMPLER]), sampled_image_type(t), [image, sampler])
    level = ir.Constant(ir.FloatType(), 0.0)
    operands = [both, coordinates, level]
    return _instruction(ctx, f"ImageSampleExplicitLod{kind}", call.type, call.parameters, operands)


def _write(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    kind = _kind(ctx, call.name.removeprefix("write_image"))
    if kind in (None, _HALF):
        return call_named(ctx, call.name, call, call.parameters, arguments)
    _instruction(ctx, f"ImageWrite{kind}", call.type, call.parameters, arguments)
    return None


def _kind(ctx: BuiltinContext, suffix: str) -> str | None:
    """Return the suffix of the placeholder for elements of a type; None where the backend's own lowering is right."""
    if suffix == "h":
        return _HALF
    return _SIGNS.get(suffix) if ctx.options.spirv_version >= _SIGNS_SINCE else None


def _instruction(
    ctx: BuiltinContext, name: str, result: Type, parameters: Sequence[Type], arguments: Sequence[ir.Value]
) -> ir.Value:
    """A call that `spirv/legalize.py` makes an instruction; the builtin's parameters tell declarations apart."""
    return ctx.call(mangle(f"__spirv_{name}", parameters), ctx.types.of(result), arguments)


def _dimensions(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    sizes = call_named(ctx, call.name, call, call.parameters, arguments)
    if isinstance(call.type, VectorType) and call.type.count == 4:
        # The image has three sizes.
        return ctx.builder.insert_element(sizes, ir.Constant(I32, 0), ir.Constant(I32, 3))
    return sizes


def _data_type(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value:
    value = _instruction(ctx, "ImageQueryFormat", call.type, call.parameters, arguments)
    return ctx.builder.add(value, ir.Constant(I32, _FIRST_DATA_TYPE))


def _order(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value:
    value = _instruction(ctx, "ImageQueryOrder", call.type, call.parameters, arguments)
    return ctx.builder.add(value, ir.Constant(I32, _FIRST_ORDER))


LOWERINGS: dict[str, Lowering] = {
    "image_read": _read,
    "image_write": _write,
    "image_dim": _dimensions,
    "image_data_type": _data_type,
    "image_order": _order,
}
