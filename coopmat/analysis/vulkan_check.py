"""The constructs of a source that modules for Vulkan cannot have, with their places."""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics import Span
from ..frontend import typed
from ..frontend.calls import CallGraph
from ..frontend.types import AddressSpace, ImageType, OpaqueType


def find_refused(unit: typed.Unit) -> Iterator[tuple[Span, str]]:
    """Yield the place of each construct that a module for Vulkan cannot have, and its description."""
    for variable in unit.variables:
        if variable.qualifiers.space == AddressSpace.GLOBAL:
            yield (
                variable.span,
                f"a program-scope variable in global memory, '{variable.name}': pass its address as an argument",
            )
    in_use = CallGraph(unit).in_use()
    for function in unit.functions:
        if function not in in_use or function.body is None:
            continue
        for parameter in function.parameters:
            if function.is_kernel and isinstance(parameter.type, (ImageType, OpaqueType)):
                yield parameter.span, f"{parameter.type} as the type of the parameter '{parameter.name}'"
