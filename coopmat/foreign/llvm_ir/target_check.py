"""The check that a device supports the matrix types and multiply-adds of a canonical module, for the native route.

`coopmat.analysis.target_check` checks OpenCL C in the same way. LLVM's integers have no sign, so that messages name
types as signed; the operands of a multiply-add state the signs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ...analysis.memory_check import STRIDE, about_stride
from ...analysis.target_check import MULTIPLY_ADD, TYPE, Message, about_multiply_add, about_type
from ...matrices.memory_rules import MemoryRules
from ...matrices.supported import Supported, multiply_add
from ...matrices.variants import MatrixType, Operands, Variant
from . import kernels
from .operations import COMPONENTS, MENTION, TYPE as TYPE_TEXT, matrix_of, read_name, stored_type
from .text import Call, Function, Module, parse_call

_NAMED = re.compile(r"%(?:\"[^\"]*\"|[-\w.$]+)")

# operation -> index of the stride among its operands
_STRIDES = {"CooperativeMatrixLoadKHR": 2, "CooperativeMatrixStoreKHR": 3}
_LAYOUTS = ("0", "1")
# Parameters: code, message with notes, line.
Tell = Callable[[str, Message, str], None]


def check(module: Module, supported: Supported, device: str, tell: Tell) -> None:
    """Report each unsupported type and multiply-add once, in kernels and the functions that they reach.

    In a module without kernels, check all functions.
    """
    _Check(module, supported, device, tell).run()


def check_strides(module: Module, rules: MemoryRules, device: str, tell: Tell) -> None:
    """Report constant strides of loads and stores that are not a multiple of what the device requires."""
    for function in kernels.used(module):
        for item in function.instructions():
            call = parse_call(item.text) if "CooperativeMatrix" in item.text else None
            spelling = read_name(call.name) if call is not None else None
            if call is None or spelling is None or spelling.word not in _STRIDES:
                continue
            layout, place = call.arguments[_STRIDES[spelling.word] - 1 :][:2]
            matrix = _accessed(call)
            if matrix is None or layout.value not in _LAYOUTS or not re.fullmatch(r"\d+", place.value):
                continue
            count, element = spelling.pointee or (1, stored_type(matrix.component))
            # A vector of three components has the size of four.
            size = COMPONENTS[element].size * (4 if count == 3 else count)
            if int(place.value) * size % rules.multiple(matrix.component):
                stride = int(place.value) * size // matrix.component.size
                tell(STRIDE, about_stride(rules, device, matrix.component, stride), item.source)


def _accessed(call: Call) -> MatrixType | None:
    return next(filter(None, (matrix_of(kind) for kind in (call.type, *(a.type for a in call.arguments)))), None)


class _Check:
    def __init__(self, module: Module, supported: Supported, device: str, tell: Tell) -> None:
        self.module, self.supported, self.device, self.tell = module, supported, device, tell
        self.types: dict[MatrixType, bool] = {}
        self.multiply_adds: set[Variant] = set()

    def run(self) -> None:
        for function in kernels.used(self.module):
            self.text(self.signature(function), str(function.head))
            for item in function.instructions():
                self.text(item.text, item.source)
                if "CooperativeMatrixMulAdd" in item.text:
                    self.multiply_add(item.text, item.source)

    @staticmethod
    def signature(function: Function) -> str:
        head = function.head
        return " ".join([head.type, *(f"{argument.type} {argument.attributes}" for argument in head.arguments)])

    def text(self, text: str, line: str) -> None:
        for matrix in self.mentioned(text, set()):
            self.type(matrix, line)

    def mentioned(self, text: str, visited_types: set[str]) -> Iterator[MatrixType]:
        """Yield the matrix types in a text, and in the named types that the text refers to."""
        if MENTION in text:
            for match in TYPE_TEXT.finditer(text):
                matrix = matrix_of(match[0])
                if matrix is not None:
                    yield matrix
        for name in _NAMED.findall(text) if self.module.types else ():
            if name in self.module.types and name not in visited_types:
                visited_types.add(name)
                yield from self.mentioned(self.module.types[name], visited_types)

    def type(self, matrix: MatrixType, line: str) -> bool:
        is_supported = self.types.get(matrix)
        if is_supported is None:
            is_supported = self.types[matrix] = self.supported.has_type(matrix)
            if not is_supported:
                self.tell(TYPE, about_type(self.supported, self.device, matrix), line)
        return is_supported

    def multiply_add(self, text: str, line: str) -> None:
        call = parse_call(text)
        spelling = read_name(call.name) if call is not None else None
        if call is None or spelling is None or spelling.word != "CooperativeMatrixMulAddKHR":
            return
        a, b, c = (m for m in (matrix_of(argument.type) for argument in call.arguments) if m is not None)
        # An unsupported type was reported already.
        if not all(self.type(matrix, line) for matrix in (a, b, c)):
            return
        mask = int(call.arguments[3].value) & 31 if c.component.is_integer else 0
        operation = multiply_add(a, b, c, Operands(mask))
        if operation not in self.multiply_adds and not self.supported.has_multiply_add(operation):
            self.multiply_adds.add(operation)
            self.tell(MULTIPLY_ADD, about_multiply_add(self.supported, self.device, operation), line)
