"""What a canonical module requires of a device, for `coopmat.analysis.target_check`.

LLVM's integers have no sign, so that types are signed; the operands of a multiply-add state the signs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...analysis.target_check import Requirement
from ...matrices.memory_rules import ANY, Congruence
from ...matrices.variants import MatrixType
from . import kernels
from .operations import COMPONENTS, MENTION, TYPE, matrix_of, read_name, stored_type
from .text import NAME, Call, Function, Module, parse_call

# operation -> index of the stride among its operands; the layout precedes it
_STRIDES = {"CooperativeMatrixLoadKHR": 2, "CooperativeMatrixStoreKHR": 3}


def find_requirements(module: Module) -> Iterator[Requirement]:
    """Yield what kernels and the functions that they reach, in a module without kernels all functions, require.

    The places are the lines of instructions and heads of functions.
    """
    for function in kernels.used(module):
        head = str(function.head)
        yield from (Requirement(head, (matrix,)) for matrix in _mentioned(module, _signature(function), set()))
        for item in function.instructions():
            yield from (Requirement(item.source, (matrix,)) for matrix in _mentioned(module, item.text, set()))
            call = parse_call(item.text) if "CooperativeMatrix" in item.text else None
            if call is not None:
                yield from _of_call(call, item.source)


def _signature(function: Function) -> str:
    head = function.head
    return " ".join([head.type, *(f"{argument.type} {argument.attributes}" for argument in head.arguments)])


def _mentioned(module: Module, text: str, visited_types: set[str]) -> Iterator[MatrixType]:
    """Yield the matrix types in a text, and in the named types that the text refers to."""
    if MENTION in text:
        yield from filter(None, (matrix_of(match[0]) for match in TYPE.finditer(text)))
    for name in NAME.findall(text) if module.types else ():
        if name in module.types and name not in visited_types:
            visited_types.add(name)
            yield from _mentioned(module, module.types[name], visited_types)


def _of_call(call: Call, line: str) -> Iterator[Requirement]:
    spelling = read_name(call.name)
    matrices = tuple(filter(None, map(matrix_of, (call.type, *(argument.type for argument in call.arguments)))))
    if spelling is None or not matrices:
        return
    if spelling.word == "CooperativeMatrixMulAddKHR":
        yield Requirement(line, matrices[1:], int(call.arguments[3].value))
    elif spelling.word in _STRIDES:
        layout, stride = (_number(argument.value) for argument in call.arguments[_STRIDES[spelling.word] - 1 :][:2])
        count, element = spelling.pointee or (1, stored_type(matrices[0].component))
        # A vector of three components has the size of four.
        size = COMPONENTS[element].size * (4 if count == 3 else count)
        if layout is not None:
            in_bytes = ANY if stride is None else Congruence(0, stride * size)
            yield Requirement(line, matrices[:1], layout=layout, stride=in_bytes)


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"\d+", text) else None
