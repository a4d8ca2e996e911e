"""Long constant arrays, which bypass LLVM's SPIR-V backend: it walks through all of them again for each function.

The emitter replaces their elements by zeros (`long_arrays.without_arrays`) and returns the elements beside the module.
Here they are written back into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from .module import OP, Instruction, Module, decode_string

_CONSTANT, _COMPOSITE, _NULL = OP["OpConstant"], OP["OpConstantComposite"], OP["OpConstantNull"]
_VARIABLE, _POINTER, _ARRAY, _NAME = OP["OpVariable"], OP["OpTypePointer"], OP["OpTypeArray"], OP["OpName"]


class Array(TypedDict):
    """The elements of a constant array.

    shape: the lengths of the dimensions, outermost first.
    words: the words of an OpConstant for each element; the innermost dimension varies fastest.
    """

    shape: list[int]
    words: list[list[int]]


def written(spirv: bytes, arrays: Mapping[str, Array]) -> bytes | None:
    """Return the module with the elements of these variables; None if a variable is missing or has an unexpected form.

    Raise MalformedModule if `spirv` is no module.
    """
    module = Module.parse(spirv, before_functions=True)
    functions = spirv[len(module.to_bytes()) :]
    names = {
        decode_string(item.operands[1:])[0]: item.operands[0] for item in module.instructions if item.opcode == _NAME
    }
    wanted = {names[name]: array for name, array in arrays.items() if name in names}
    if len(wanted) != len(arrays):
        return None
    writer = _Writer(module)
    instructions: list[Instruction] = []
    for item in module.instructions:
        writer.see(item)
        array = wanted.pop(item.result, None) if item.opcode == _VARIABLE and item.result is not None else None
        if array is not None:
            made = writer.initializer(item, array)
            if made is None:
                return None
            instructions += made
        instructions.append(item)
    if wanted:
        return None
    module.instructions = instructions
    return module.to_bytes() + functions


class _Writer:
    """A writer of initializers that knows the definitions up to a point of the module."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._definitions: dict[int, Instruction] = {}
        self._constants: dict[tuple[int, tuple[int, ...]], int] = {}

    def see(self, item: Instruction) -> None:
        """Record the definition of an instruction."""
        if item.result is not None:
            self._definitions[item.result] = item
            if item.opcode == _CONSTANT and item.result_type is not None:
                self._constants.setdefault((item.result_type, item.operands), item.result)

    def initializer(self, variable: Instruction, array: Array) -> list[Instruction] | None:
        """Set the initializer of a variable and return the new instructions that must precede it.

        Return None if the variable's present initializer is not null, or its type is no array of these dimensions.
        """
        types = self._types(variable, len(array["shape"]))
        null = self._definitions.get(variable.operands[1]) if len(variable.operands) > 1 else None
        if types is None or null is None or null.opcode != _NULL:
            return None
        made: list[Instruction] = []
        ids: Sequence[int] = [self._constant(types[-1], tuple(words), made) for words in array["words"]]
        for t, length in zip(reversed(types[:-1]), reversed(array["shape"]), strict=True):
            ids = [self._composite(t, tuple(ids[at : at + length]), made) for at in range(0, len(ids), length)]
        variable.operands = (variable.operands[0], ids[0])
        return made

    def _types(self, variable: Instruction, dimensions: int) -> list[int] | None:
        """Return the types of a variable's value, of its elements, of their elements and so on.

        Return None if a type that should be an array is none.
        """
        pointer = self._definitions.get(variable.result_type or 0)
        if pointer is None or pointer.opcode != _POINTER:
            return None
        types = [pointer.operands[1]]
        for _ in range(dimensions):
            t = self._definitions.get(types[-1])
            if t is None or t.opcode != _ARRAY:
                return None
            types.append(t.operands[0])
        return types

    def _constant(self, t: int, words: tuple[int, ...], made: list[Instruction]) -> int:
        """Return the id of a constant; if it is new, append it to `made`."""
        found = self._constants.get((t, words))
        if found is None:
            found = self._constants[t, words] = self._module.new_id()
            made.append(Instruction(_CONSTANT, words, t, found))
        return found

    def _composite(self, t: int, parts: Iterable[int], made: list[Instruction]) -> int:
        """Append an OpConstantComposite to `made` and return its id."""
        made.append(Instruction(_COMPOSITE, tuple(parts), t, self._module.new_id()))
        result = made[-1].result
        assert result is not None
        return result
