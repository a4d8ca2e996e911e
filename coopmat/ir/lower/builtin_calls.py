"""Calls of builtin functions by name: the interface of the modules that lower builtins, and Itanium mangling.

Names are mangled as for LLVM's SPIR targets. The qualifiers of a pointee count as one substitutable component:
`U3AS<n>` for an address space other than private, then `V`, then `K` (Itanium C++ ABI, 5.1.5.1; clang's ItaniumMangle
for the vendor qualifier). Example: `vload3(size_t, global const float *)` is `_Z6vload3mPU3AS1Kf`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Protocol

from llvmlite import ir

from ...diagnostics import InternalError
from ...frontend import builtins as table
from ...frontend.typed import BuiltinCall
from ...frontend.types import (
    EVENT,
    SAMPLER,
    AddressSpace,
    AtomicType,
    ImageType,
    PointerType,
    Qualifiers,
    RecordType,
    ScalarType,
    Type,
    VectorType,
    VoidType,
    element_type,
)
from .. import LowerOptions
from ..type_map import I32, VOID_TYPE, TypeMap


class BuiltinContext(Protocol):
    """The members of `FunctionContext` that the modules that lower builtins use."""

    builder: Any
    types: TypeMap
    options: LowerOptions

    def call(
        self, name: str, result: ir.Type, arguments: Sequence[ir.Value], attributes: Sequence[str] = ...
    ) -> ir.Value:
        """Emit a call of the external spir_func `name`, declared once per module with the arguments' types."""


Lowering = Callable[[BuiltinContext, BuiltinCall, Sequence[ir.Value]], "ir.Value | None"]


def call_named(
    ctx: BuiltinContext, name: str, call: BuiltinCall, parameters: Sequence[Type], arguments: Sequence[ir.Value]
) -> ir.Value | None:
    """Emit a call of `name`, mangled for `parameters`, with the result type and function attributes of `call`.

    Return None for a void result.
    """
    row = table.find(call.name)
    attributes = ["nounwind"]
    if row is not None:
        attributes += ["convergent"] * row.convergent + ["readnone"] * row.pure
    result = ctx.types.of(call.type)
    value = ctx.call(mangle(name, parameters), result, arguments, attributes)
    return None if result is VOID_TYPE else value


def integers(llvm: ir.Type, value: int) -> ir.Constant:
    """Return the constant of integer or vector type `llvm` whose every component is `value`."""
    return ir.Constant(llvm, [value] * llvm.count if isinstance(llvm, ir.VectorType) else value)


def splat(ctx: BuiltinContext, value: ir.Value, count: int) -> ir.Value:
    undefined = ir.Constant(ir.VectorType(value.type, count), ir.Undefined)
    first = ctx.builder.insert_element(undefined, value, ir.Constant(I32, 0))
    return ctx.builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(I32, count), None))


def scalar(t: Type) -> ScalarType:
    """Return the element type of a scalar or vector; raise InternalError for other types."""
    element = element_type(t)
    if not isinstance(element, ScalarType) or isinstance(t, PointerType):
        raise InternalError(f"'{t}' is not a scalar or vector")
    return element


# --- mangling --------------------------------------------------------------------------------------


_ACCESSES = {"read_only": "ro", "write_only": "wo", "read_write": "rw"}
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@lru_cache(maxsize=4096)
def _mangle(name: str, parameters: tuple[Type, ...]) -> str:
    components: dict[str, int] = {}
    return f"_Z{len(name)}{name}" + ("".join(_type(t, components) for t in parameters) or "v")


def mangle(name: str, parameters: Sequence[Type]) -> str:
    """Return the mangled name of function `name` with these parameter types; no parameters mangle as `v`."""
    return _mangle(name, tuple(parameters))


def _type(t: Type, components: dict[str, int]) -> str:
    if isinstance(t, ScalarType):
        return t.mangling
    if isinstance(t, AtomicType):
        return _substituted(f"U7_Atomic{t.value.mangling}", f"U7_Atomic{t.value.mangling}", components)
    if isinstance(t, VoidType):
        return "v"
    if isinstance(t, VectorType):
        return _substituted(f"Dv{t.count}_{t.element.mangling}", f"Dv{t.count}_{t.element.mangling}", components)
    if isinstance(t, RecordType) and t.name:
        return _substituted(f"{len(t.name)}{t.name}", f"{len(t.name)}{t.name}", components)
    if isinstance(t, ImageType):
        name = f"ocl_{t.name.removesuffix('_t')}_{_ACCESSES[t.access]}"
        return _substituted(name, f"{len(name)}{name}", components)
    if t == SAMPLER:
        return _substituted("ocl_sampler", "11ocl_sampler", components)
    if t == EVENT:
        return _substituted("9ocl_event", "9ocl_event", components)
    if isinstance(t, PointerType):
        key, text = _pointee(t.pointee, t.qualifiers, components)
        return _substituted("P" + key, "P" + text, components)
    raise InternalError(f"no mangling for the type '{t}'")


def _pointee(t: Type, qualifiers: Qualifiers, components: dict[str, int]) -> tuple[str, str]:
    """Return (the pointee's spelling without substitutions as a key, the spelling with substitutions).

    Record new substitutable components in `components`.
    """
    prefix = "" if qualifiers.space is AddressSpace.PRIVATE else f"U3AS{qualifiers.space.value}"
    prefix += "V" * qualifiers.volatile + "K" * qualifiers.const
    full = prefix + _type(t, {})
    if not prefix:
        return full, _type(t, components)
    if full in components:
        return full, _reference(components[full])
    return full, _substituted(full, prefix + _type(t, components), components)


def _substituted(key: str, text: str, components: dict[str, int]) -> str:
    """Return `text` and record the new component, or a reference if `key` is a component already."""
    if key in components:
        return _reference(components[key])
    components[key] = len(components)
    return text


def _reference(index: int) -> str:
    if index == 0:
        return "S_"
    digits, index = "", index - 1
    while index or not digits:
        digits, index = _DIGITS[index % 36] + digits, index // 36
    return f"S{digits}_"
