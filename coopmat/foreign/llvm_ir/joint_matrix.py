"""Errors for joint matrices, which SYCL's compilers emit unless an option selects cooperative matrices.

Each error names the type or operation to use instead. Without this check, LLVM's backend would crash on the type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .text import Malformed, Module

_TYPE = re.compile(r"target\(\"spirv\.JointMatrixINTEL\"(?:, ([^()]*))?\)")
_NAMED_TYPE = re.compile(r"%\"?spirv\.JointMatrixINTEL[-\w.$:]*")
_OPERATION = re.compile(r"__spirv_JointMatrix(\w+?)INTEL")
# word of the operation's name -> name of the cooperative operation that replaces it
_OPERATIONS = {
    "Load": "CooperativeMatrixLoadKHR",
    "Store": "CooperativeMatrixStoreKHR",
    "Mad": "CooperativeMatrixMulAddKHR",
    "SUMad": "CooperativeMatrixMulAddKHR",
    "USMad": "CooperativeMatrixMulAddKHR",
    "UUMad": "CooperativeMatrixMulAddKHR",
    "WorkItemLength": "CooperativeMatrixLengthKHR",
}


def check(module: Module) -> None:
    """Raise Malformed at the first line with a joint matrix."""
    for text, line in _texts(module):
        if "JointMatrix" in text:
            _check_type(text, line)
            _check_operation(text, line)


def _texts(module: Module) -> Iterator[tuple[str, str]]:
    """Yield the texts of the module, each with the line from which it was read; functions come first."""
    for function in module.functions:
        yield str(function.head), str(function.head)
        for item in function.instructions():
            yield item.text, item.source
    for head in module.declarations:
        yield str(head), str(head)
    for line in module.globals:
        yield line, line
    for name, body in module.types.items():
        yield f"{name} = type {body}", f"{name} = type {body}"


def _check_type(text: str, line: str) -> None:
    match = _TYPE.search(text)
    alias = _NAMED_TYPE.search(text)
    if match is None and alias is None:
        return
    type_text = match[0] if match else alias[0] if alias else ""
    instead = 'target("spirv.CooperativeMatrixKHR", component, scope, rows, columns, use)'
    parts = (match[1] or "").split(", ") if match else []
    if len(parts) >= 6:
        component, rows, columns, _, scope, use = parts[:6]
        instead = f'target("spirv.CooperativeMatrixKHR", {component}, {scope}, {rows}, {columns}, {use})'
    message = f"joint matrices are not supported: {type_text}; cooperative matrices are: {instead}"
    raise Malformed("ir-matrix-type", message, line)


def _check_operation(text: str, line: str) -> None:
    match = _OPERATION.search(text)
    if match is None:
        return
    replacement = _OPERATIONS.get(match[1])
    instead = f"; __spirv_{replacement} takes its place" if replacement else ""
    message = f"'{match[0]}' is an operation on joint matrices, which are not supported{instead}"
    raise Malformed("ir-operation", message, line)
