"""The error that refuses a module, and its construction from an instruction."""

from __future__ import annotations

from .module import Instruction


class Refused(Exception):
    """An error: the module has an instruction or a type that has no lowering, or is invalid.

    code: the code of the diagnostic.
    message: the text of the diagnostic.
    function: the name of the function concerned; empty if unknown.
    ids: the values or types concerned; empty if unknown.
    item: the instruction concerned; None if unknown.
    mark: the number of the place in the source, if values have marks (`LowerOptions.marks`).
    """

    def __init__(self, code: str, message: str, function: str = "", ids: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.code, self.message, self.function, self.ids = code, message, function, ids
        self.item: Instruction | None = None
        self.mark: int | None = None

    def of(self, item: Instruction) -> Refused:
        """Return the error; it concerns an instruction, unless it concerns other values."""
        if not self.ids:
            self.ids, self.item = (item.result,) if item.result is not None else (), item
        return self


def unsupported(item: Instruction, message: str) -> Refused:
    """Return the error for an instruction that has no lowering."""
    return Refused("spirv-not-supported", f"{label(item)}: {message}").of(item)


def label(item: Instruction) -> str:
    """Return the instruction's name, followed by its result id if it has one."""
    return item.name if item.result is None else f"{item.name} %{item.result}"
