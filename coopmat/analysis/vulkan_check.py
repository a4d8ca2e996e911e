"""The constructs of a source that modules for Vulkan cannot have, with their places."""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics import Span
from ..frontend import typed
from ..frontend.calls import CallGraph
from ..frontend.nodes import walk
from ..frontend.types import AddressSpace, ImageType, OpaqueType, ScalarType, element_type

# The mathematical functions that Vulkan lacks for double.
_MATHEMATICAL = frozenset(
    (
        *("acos", "acosh", "acospi", "asin", "asinh", "asinpi", "atan", "atan2", "atan2pi", "atanh", "atanpi", "cbrt"),
        *("cos", "cosh", "cospi", "erf", "erfc", "exp", "exp10", "exp2", "expm1", "fmod", "frexp", "hypot", "ilogb"),
        *("lgamma", "lgamma_r", "log", "log10", "log1p", "log2", "logb", "pow", "pown", "powr", "remainder", "remquo"),
        *("rootn", "sin", "sincos", "sinh", "sinpi", "tan", "tanh", "tanpi", "tgamma"),
    )
)


def find_refused(unit: typed.Unit) -> Iterator[tuple[Span, str]]:
    """Yield the place of each construct that a module for Vulkan cannot have, and its description."""
    for variable in unit.variables:
        if variable.qualifiers.space == AddressSpace.GLOBAL:
            yield variable.span, f"a program-scope variable in global memory, '{variable.name}'"
    in_use = CallGraph(unit).in_use()
    for function in unit.functions:
        if function not in in_use or function.body is None:
            continue
        for parameter in function.parameters:
            if function.is_kernel and isinstance(parameter.type, (ImageType, OpaqueType)):
                yield parameter.span, f"{parameter.type} as the type of the parameter '{parameter.name}'"
        for node in walk(function.body):
            if isinstance(node, typed.BuiltinCall) and _is_refused(node):
                yield node.span, f"the builtin function {node.name} of double"


def _is_refused(call: typed.BuiltinCall) -> bool:
    element = element_type(call.arguments[0].type) if call.arguments else None
    return call.name in _MATHEMATICAL and isinstance(element, ScalarType) and element.name == "double"
