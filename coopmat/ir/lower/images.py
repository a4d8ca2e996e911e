"""Images and samplers, including constant samplers, and their builtins.

LLVM's SPIR-V backend knows most of the builtins by their OpenCL names, with these exceptions:

- It knows neither the builtins of half nor the query of the channel order.
- It returns SPIR-V's numbers of channel data types in place of OpenCL's.
- It leaves the fourth component of `get_image_dim` undefined.
- It drops the signedness of integer texels, so that the device cannot know it.

All calls are convergent. Otherwise LLVM would merge calls in different branches into one call with a phi of images or
samplers, which SPIR-V does not allow.
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

# OpenCL's numbers of channel orders and data types minus SPIR-V's (SPIR-V specification, sections 3.12, 3.13).
_FIRST_ORDER, _FIRST_DATA_TYPE = 0x10B0, 0x10D0
# Suffix of a builtin -> suffix of the placeholder in `spirv/legalize.py`. Signedness operands need SPIR-V 1.4.
_HALF, _SIGNS = "Half", {"i": "Signed", "ui": "Unsigned"}
_SIGNS_SINCE = "1.4"


@dataclass(slots=True)
class Handle:
    """An image or sampler; it has no address, and cannot be assigned."""

    value: ir.Value

    def read(self, ctx: FunctionContext) -> ir.Value:
        return self.value

    def write(self, ctx: FunctionContext, value: object) -> None:
        raise InternalError("an image or sampler cannot be changed")


def handle(ctx: FunctionContext, decl: typed.VarDecl) -> Handle:
    """Return the image or sampler that `decl` denotes; a constant sampler is rematerialized at each use."""
    argument = ctx.handles.get(decl)
    if argument is not None:
        return Handle(argument)
    if decl.initializer is None:
        raise InternalError(f"'{decl.name}' has no value")
    return Handle(ctx.rvalue(decl.initializer))


def constant_sampler(ctx: BuiltinContext, value: ir.Value) -> ir.Value:
    """Emit a call that makes a sampler from an integer constant with its flags, and return the sampler."""
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
    """Return the suffix of the placeholder for an element type's suffix, or None if the backend's lowering is right."""
    if suffix == "h":
        return _HALF
    return _SIGNS.get(suffix) if ctx.options.spirv_version >= _SIGNS_SINCE else None


def _instruction(
    ctx: BuiltinContext, name: str, result: Type, parameters: Sequence[Type], arguments: Sequence[ir.Value]
) -> ir.Value:
    """Emit a placeholder call that `spirv/legalize.py` replaces by an instruction.

    Mangling by the builtin's parameters distinguishes the declarations.
    """
    return ctx.call(mangle(f"__spirv_{name}", parameters), ctx.types.of(result), arguments)


def _dimensions(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    sizes = call_named(ctx, call.name, call, call.parameters, arguments)
    if isinstance(call.type, VectorType) and call.type.count == 4:
        # The fourth component must be 0: the image has three sizes.
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
