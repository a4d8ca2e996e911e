"""The matrix library as SPIR-V: functions are compiled once, and copied into any number of modules."""

from __future__ import annotations

import re
import threading
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...diagnostics import InternalError
from ...faults import avoid_device_faults
from ...frontend import typed
from ...ir import LowerOptions
from ...matrices.lowering import LibraryFunction, OperandFunction, Target, instantiate
from ...spirv.emit import EmitOptions, emit
from ...spirv.legalize import legalize
from ...spirv.llvm_text import imported
from ...spirv.module import ENUM, OP, Instruction, Module, decode_string, id_positions
from ...spirv.sections import Section, split

CompileText = Callable[[str], typed.Unit]
# Returns the value that is kept on disk under a key; if there is none, the result of the given function.
Keep = Callable[[str, Callable[[], bytes]], bytes]
# The SPIR-V version of the library, and the lowest version of modules that are linked with it.
SPIRV_VERSION, VERSION_WORD = "1.2", 0x00010200
_LINKAGE_ATTRIBUTES = ENUM["Decoration.LinkageAttributes"]
_HEAD = re.compile(r"^define internal (?=[^\n]*?@\"?([\w.]+)\"?\()", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CompiledFunction:
    """A compiled function.

    part: the module that contains the function.
    words: its encoding.
    ids: the indices of ids in `words`.
    defined: the ids that the function defines.
    outside: all other ids that it refers to.
    """

    part: Part
    id: int
    words: array[int]
    ids: array[int]
    defined: tuple[int, ...]
    outside: tuple[int, ...]
    parameter_types: tuple[int, ...]
    result_type: int
    opcodes: frozenset[int]


class Part:
    """A compiled module of library functions: its functions by id, and the lookup tables that the linker needs."""

    def __init__(self, binary: bytes) -> None:
        module = Module.parse(binary)
        self.sections, functions = split(module.instructions)
        self.definitions = module.definitions()
        self.annotations: dict[int, list[Instruction]] = {}
        self.exports: dict[str, int] = {}
        for item in self.sections[Section.ANNOTATION]:
            if item.opcode == OP["OpDecorate"] and item.operands[1] == _LINKAGE_ATTRIBUTES:
                self.exports[decode_string(item.operands[2:])[0]] = item.operands[0]
            else:
                self.annotations.setdefault(item.operands[0], []).append(item)
        self.functions = {code[0].result or 0: self._function(code) for code in functions}

    def _function(self, code: list[Instruction]) -> CompiledFunction:
        words, ids = array("I"), array("I")
        named: dict[int, None] = {}
        for item in code:
            body = item.words()
            words.append((len(body) + 1) << 16 | item.opcode)
            start, fixed = len(words), len(body) - len(item.operands)
            places = [*range(fixed), *(fixed + at for at in id_positions(item, self.definitions))]
            ids.extend([start + at for at in places])
            named.update((body[at], None) for at in places)
            words.extend(body)
        defined = {item.result: None for item in code if item.result is not None}
        outside = tuple(id_ for id_ in named if id_ not in defined)
        kind = self.definitions[code[0].operands[1]]
        opcodes = frozenset(item.opcode for item in code)
        return CompiledFunction(
            self, code[0].result or 0, words, ids, tuple(defined), outside, kind.operands[1:], kind.operands[0], opcodes
        )


class Library:
    """The compiled library functions, by target and name; may be used by several threads."""

    def __init__(self, compile_text: CompileText, keep: Keep = lambda key, build: build()) -> None:
        self._compile_text, self._keep = compile_text, keep
        self._functions: dict[tuple[Target, str], CompiledFunction] = {}
        self._lock = threading.Lock()

    def need(self, target: Target, library_functions: Iterable[LibraryFunction]) -> None:
        """Compile those of the functions that are missing, all in one module."""
        with self._lock:
            missing = [i for i in library_functions if (target, i.function_name) not in self._functions]
            if not missing:
                return
            part = Part(self._compile(target, missing))
            for function in missing:
                name = function.function_name
                if name not in part.exports:
                    raise InternalError(f"the matrix library does not define '{name}'")
                self._functions[target, name] = part.functions[part.exports[name]]

    def function(self, target: Target, name: str) -> CompiledFunction:
        """Return a compiled function. Raises KeyError if `need` was not called for it."""
        return self._functions[target, name]

    def _compile(self, target: Target, library_functions: list[LibraryFunction]) -> bytes:
        source = instantiate(target, library_functions)
        options = LowerOptions(target.route.name, SPIRV_VERSION)
        names = sorted(function.function_name for function in library_functions)
        needed = (callee for function in library_functions for callee in function.needs(target))
        # Function operands are defined by the program; they are imported here and linked later.
        operands = [callee.function_name for callee in needed if isinstance(callee, OperandFunction)]

        def build() -> bytes:
            from ...ir.lower import lower

            text = lower(self._compile_text(source), options).text
            text = imported(text, operands) if operands else text
            text = _HEAD.sub(lambda match: "define " if match[1] in names else match[0], text)
            spirv = emit(text, EmitOptions(SPIRV_VERSION, (), "O1")).spirv
            assert spirv is not None
            return legalize(spirv, operands, avoid_device_faults)

        return self._keep(f"{options} {names}\n{source}", build)
