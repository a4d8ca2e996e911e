"""The calls of matrix library functions in a module."""

from __future__ import annotations

from ...matrices.lowering import LibraryFunction, Target
from .text import Argument, Call, Instruction


class LibraryCalls:
    """The calls of library functions for one target; `library_functions` has the called ones by name."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.library_functions: dict[str, LibraryFunction] = {}

    def call(self, item: Instruction, function: LibraryFunction, arguments: list[Argument]) -> Instruction:
        self.library_functions[function.function_name] = function
        call = Call("call spir_func", "void", f"@{function.function_name}", arguments)
        return Instruction(None, str(call), item.source)
