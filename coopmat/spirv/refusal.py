"""The error that refuses a module, and its construction from an instruction."""

from __future__ import annotations

from .module import Instruction


class Refused(Exception):
    """An error: the module has an instruction or a type that has no lowering, or is invalid.

    code: the code of the diagnostic.
    message: the text of the diagnostic.
    function: the name of the function concerned; empty if unknown.
    """

    def __init__(self, code: str, message: str, function: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.function = code, message, function


def unsupported(item: Instruction, message: str) -> Refused:
    """Return the error for an instruction that has no lowering."""
    return Refused("spirv-not-supported", f"{label(item)}: {message}")


def label(item: Instruction) -> str:
    """Return the instruction's name, followed by its result id if it has one."""
    return item.name if item.result is None else f"{item.name} %{item.result}"
