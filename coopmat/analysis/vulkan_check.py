"""The constructs of a source that modules for Vulkan cannot have, with their places."""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics import Span
from ..frontend import typed
from ..frontend.calls import CallGraph
from ..frontend.nodes import walk
from ..frontend.types import AddressSpace, ScalarType, element_type

# The mathematical functions that Vulkan lacks for double.
_MATHEMATICAL = frozenset(
    (
        *("acos", "acosh", "acospi", "asin", "asinh", "asinpi", "atan", "atan2", "atan2pi", "atanh", "atanpi", "cbrt"),
        *("cos", "cosh", "cospi", "erf", "erfc", "exp", "exp10", "exp2", "expm1", "fmod", "frexp", "hypot", "ilogb"),
        *("lgamma", "lgamma_r", "log", "log10", "log1p", "log2", "logb", "pow", "pown", "powr", "remainder", "remquo"),
        *("rootn", "sin", "sincos", "sinh", "sinpi", "tan", "tanh", "tanpi", "tgamma"),
    )
)

# The bits of the constants for samplers.
_NORMALIZED, _ADDRESSING, _LINEAR = 1, 0xE, 0x20
_REPEATS = (6, 8)


def find_refused(unit: typed.Unit) -> Iterator[tuple[Span, str]]:
    """Yield the place of each construct that a module for Vulkan cannot have, and its description."""
    for variable in unit.variables:
        if variable.qualifiers.space == AddressSpace.GLOBAL:
            yield variable.span, f"a program-scope variable in global memory, '{variable.name}'"
    in_use = CallGraph(unit).in_use()
    for function in unit.functions:
        if function not in in_use or function.body is None:
            continue
        for node in walk(function.body):
            if isinstance(node, typed.BuiltinCall) and _is_refused(node):
                yield node.span, f"the builtin function {node.name} of double"
            elif isinstance(node, typed.BuiltinCall) and (fault := _sampler_fault(node)):
                yield node.span, fault


def _sampler_fault(call: typed.BuiltinCall) -> str | None:
    """Return why a read of an image is undefined with its sampler (OpenCL C 3.0, 6.15.15.2); None if it is not.

    Only samplers of the source are checked.
    """
    settings = _settings(call.arguments[1]) if call.name.startswith("read_image") and len(call.arguments) == 3 else None
    if settings is None:
        return None
    is_normalized, is_linear = bool(settings & _NORMALIZED), bool(settings & _LINEAR)
    coordinates = element_type(call.arguments[2].type)
    if isinstance(coordinates, ScalarType) and coordinates.name == "int" and (is_normalized or is_linear):
        wanted = "CLK_NORMALIZED_COORDS_FALSE and CLK_FILTER_NEAREST"
        return f"{call.name} with integer coordinates and a sampler without {wanted} is undefined"
    if not is_normalized and settings & _ADDRESSING in _REPEATS:
        return f"{call.name} with a sampler that repeats the image and has no CLK_NORMALIZED_COORDS_TRUE is undefined"
    if is_linear and call.name in ("read_imagei", "read_imageui"):
        return f"{call.name} with CLK_FILTER_LINEAR is undefined"
    return None


def _settings(sampler: typed.Expr | None) -> int | None:
    """Return the value of a sampler of the source; None for an argument."""
    while isinstance(sampler, typed.Load) and isinstance(sampler.operand, typed.VarRef):
        sampler = sampler.operand.decl.initializer
    constant = sampler.operand if isinstance(sampler, typed.Convert) else None
    return constant.value if isinstance(constant, typed.IntConst) else None


def _is_refused(call: typed.BuiltinCall) -> bool:
    element = element_type(call.arguments[0].type) if call.arguments else None
    return call.name in _MATHEMATICAL and isinstance(element, ScalarType) and element.name == "double"
