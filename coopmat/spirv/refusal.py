"""The errors by which the lowering refuses a module."""

from __future__ import annotations

from .module import Instruction


class Refused(Exception):
    """The module has something in it that has no lowering, or is broken. `code` is the diagnostic's; `function` the
    name of the function that has it, empty where that is not known."""

    def __init__(self, code: str, message: str, function: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.function = code, message, function


def unsupported(item: Instruction, message: str) -> Refused:
    """Return the error for an instruction that has no lowering."""
    return Refused("spirv-not-supported", f"{label(item)}: {message}")


def label(item: Instruction) -> str:
    """The instruction's name, and its id where it has one."""
    return item.name if item.result is None else f"{item.name} %{item.result}"
