"""The calls of matrix library functions in a module."""

from __future__ import annotations

from ...matrices.lowering import Instance, Target
from .text import Argument, Call, Instruction


class LibraryCalls:
    """The calls of library functions for one target; `instances` maps a called function's name to the function."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.instances: dict[str, Instance] = {}

    def call(self, item: Instruction, instance: Instance, arguments: list[Argument]) -> Instruction:
        self.instances[instance.function_name] = instance
        call = Call("call spir_func", "void", f"@{instance.function_name}", arguments)
        return Instruction(None, str(call), item.source)
