"""The linker: it adds the called library functions to a lowered module, with the types and constants they need."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable

from ...matrices.lowering import Target
from ...spirv import capabilities
from ...spirv.checks import write_out_zeros
from ...spirv.module import (
    ENUM,
    MAGIC,
    OP,
    Instruction,
    decode_string,
    encode_string,
    id_positions,
    instruction,
    numbers,
)
from ...spirv.module_globals import ModuleGlobals
from ...spirv.sections import Section, entry_point
from .function import LibraryCall
from .library import VERSION_WORD, CompiledFunction, Library, Part
from .module_lowering import Prepared

_DECORATE, _CAPABILITY, _EXTENSION, _IMPORT = numbers("Op*", "Decorate Capability Extension ExtInstImport")
_BUILT_IN, _ALIGNMENT = ENUM["Decoration.BuiltIn"], ENUM["Decoration.Alignment"]
_WORKGROUP, _INPUT = ENUM["StorageClass.Workgroup"], ENUM["StorageClass.Input"]
_INTERFACE_OF_ALL = 0x00010400
_LINKAGE = ENUM["Capability.Linkage"]


def link(prepared: Prepared, library: Library) -> bytes:
    """Return the complete module. `library` must contain `prepared.library_functions`."""
    if prepared.unchanged:
        return prepared.module.to_bytes()
    return _Linker(prepared, library).run()


class _Linker:
    def __init__(self, prepared: Prepared, library: Library) -> None:
        self.prepared, self.library = prepared, library
        self.module, self.globals, self.sections = prepared.module, prepared.globals, prepared.sections
        # part of the library -> id in the part -> id in the module
        self.ids: dict[Part, dict[int, int]] = {}
        self.variables: list[int] = []
        self.linked: dict[tuple[Part, int], CompiledFunction] = {}
        self.scratch: dict[Target, tuple[int, int]] = {}

    def run(self) -> bytes:
        functions = [self._resolved(code) for code in self.prepared.functions]
        # Declarations precede definitions, which have a label.
        functions.sort(key=lambda code: any(item.opcode == OP["OpLabel"] for item in code))
        words = array("I")
        copied: set[tuple[Part, int]] = set()
        while todo := [key for key in self.linked if key not in copied]:
            for key in todo:
                copied.add(key)
                words.extend(self._copied(self.linked[key]))
        self._finish()
        return self._encoded(functions, words)

    # --- calls

    def _resolved(self, code: list[Instruction | LibraryCall]) -> list[Instruction]:
        out: list[Instruction] = []
        for item in code:
            if isinstance(item, Instruction):
                out.append(item)
            else:
                self._call(item, out)
        return out

    def _call(self, call: LibraryCall, out: list[Instruction]) -> None:
        function = self.library.function(call.target, call.function.function_name)
        part = function.part
        if call.operand is not None:
            name, id_ = call.operand
            # A row of one component is reduced without a call, so that the part may lack the name.
            if name in part.exports:
                self.ids.setdefault(part, {})[part.exports[name]] = id_
        operands = []
        arguments = list(call.arguments)
        if call.function.scratch_bytes(call.target):
            arguments.append(self._scratch(call.target))
        for (argument, type_id), parameter in zip(arguments, function.parameter_types, strict=True):
            parameter = self._global(part, parameter)
            if type_id and parameter != type_id:
                cast = self.module.new_id()
                out.append(Instruction(OP["OpBitcast"], (argument,), parameter, cast))
                argument = cast
            operands.append(argument)
        callee = self._function(part, function.id)
        result = self._global(part, function.result_type)
        out.append(Instruction(OP["OpFunctionCall"], (callee, *operands), result, call.result))

    def _scratch(self, target: Target) -> tuple[int, int]:
        """Return the local variable through which the kernels of a target exchange values, and its type."""
        variable = self.scratch.get(target)
        if variable is None:
            size = max(i.scratch_bytes(target) for i in self.prepared.library_functions[target].values())
            words = self.globals.intern("OpTypeArray", self.globals.integer(64), self.globals.number(-(-size // 8)))
            type_id = self.globals.pointer(words, _WORKGROUP)
            id_ = self.globals.add(Instruction(OP["OpVariable"], (_WORKGROUP,), type_id, self.module.new_id()))
            self.variables.append(id_)
            self.sections[Section.ANNOTATION].append(instruction("OpDecorate", id_, _ALIGNMENT, 16))
            variable = self.scratch[target] = id_, type_id
        return variable

    def _function(self, part: Part, id_: int) -> int:
        ids = self.ids.setdefault(part, {})
        if id_ not in ids:
            ids[id_] = self.module.new_id()
            self.linked[part, id_] = part.functions[id_]
        return ids[id_]

    # --- definitions that functions need

    def _copied(self, function: CompiledFunction) -> array[int]:
        part = function.part
        table = {}
        for id_ in function.outside:
            table[id_] = self._function(part, id_) if id_ in part.functions else self._global(part, id_)
        own = self._function(part, function.id)
        first = self.module.bound
        table.update(zip(function.defined, range(first, first + len(function.defined)), strict=True))
        self.module.bound += len(function.defined)
        table[function.id] = own
        words = array("I", function.words)
        for at in function.ids:
            words[at] = table[words[at]]
        for id_ in function.defined:
            for item in part.annotations.get(id_, ()):
                self.sections[Section.ANNOTATION].append(Instruction(item.opcode, (table[id_], *item.operands[1:])))
        return words

    def _global(self, part: Part, id_: int) -> int:
        """Return the module's id for a type, constant, variable or import of the library; add it if it is missing."""
        ids = self.ids.setdefault(part, {})
        if id_ not in ids:
            ids[id_] = self._imported(part, part.definitions[id_])
        return ids[id_]

    def _imported(self, part: Part, item: Instruction) -> int:
        if item.opcode == _IMPORT:
            same = next((i for i in self.sections[Section.IMPORT] if i.operands == item.operands), None)
            if same is None:
                same = Instruction(item.opcode, item.operands, None, self.module.new_id())
                self.sections[Section.IMPORT].append(same)
            return same.result or 0
        kind = None if item.result_type is None else self._global(part, item.result_type)
        operands = list(item.operands)
        for at in id_positions(item, part.definitions):
            operands[at] = self._global(part, operands[at])
        annotations = part.annotations.get(item.result or 0, [])
        equal = self.globals.find(item.opcode, tuple(operands), kind) if not annotations else None
        if equal is None and item.opcode == OP["OpVariable"]:
            equal = self._same_built_in(kind, annotations)
        if equal is not None:
            return equal
        result = self.globals.add(Instruction(item.opcode, tuple(operands), kind, self.module.new_id()))
        self.sections[Section.ANNOTATION] += [Instruction(i.opcode, (result, *i.operands[1:])) for i in annotations]
        if item.opcode == OP["OpVariable"]:
            self.variables.append(result)
        return result

    def _same_built_in(self, type_id: int | None, annotations: list[Instruction]) -> int | None:
        """Return the module's variable with the same BuiltIn decoration and type; None if there is none."""
        decorations = [i.operands[1:] for i in annotations if i.opcode == _DECORATE and i.operands[1] == _BUILT_IN]
        for item in self.sections[Section.ANNOTATION] if decorations else ():
            if item.opcode == _DECORATE and item.operands[1:] == decorations[0]:
                variable = self.globals.definitions[item.operands[0]]
                if variable.result_type == type_id:
                    return variable.result
        return None

    # --- the module's header

    def _finish(self) -> None:
        self.module.version = max(self.module.version, VERSION_WORD)
        self._capabilities()
        new = self._interface()
        entries = self.sections[Section.ENTRY_POINT]
        for n, item in enumerate(entries if new else ()):
            interface = entry_point(item)[1]
            entries[n] = Instruction(item.opcode, (*item.operands, *(v for v in new if v not in interface)))

    def _interface(self) -> list[int]:
        """Return the new variables that the interfaces of entry points must list."""
        if self.module.version >= _INTERFACE_OF_ALL:
            return self.variables
        return [v for v in self.variables if self.globals.definitions[v].operands[0] == _INPUT]

    def _capabilities(self) -> None:
        have = {item.operands[0] for item in self.sections[Section.CAPABILITY]}
        names = {decode_string(item.operands)[0] for item in self.sections[Section.EXTENSION]}
        needed = needed_capabilities(self.globals, self.linked.values())
        for part in self.ids:
            numbers = {item.operands[0] for item in part.sections[Section.CAPABILITY]} - {_LINKAGE}
            for number in sorted(numbers - have):
                if number not in CONDITIONAL or number in needed:
                    have.add(number)
                    self.sections[Section.CAPABILITY].append(Instruction(_CAPABILITY, (number,)))
            for item in part.sections[Section.EXTENSION]:
                name = decode_string(item.operands)[0]
                if name not in names:
                    names.add(name)
                    self.sections[Section.EXTENSION].append(Instruction(_EXTENSION, tuple(encode_string(name))))
        # Storage may consist of vectors even if no library function is called.
        for number in sorted(needed - have):
            self.sections[Section.CAPABILITY].append(Instruction(_CAPABILITY, (number,)))

    def _encoded(self, functions: list[list[Instruction]], library: array[int]) -> bytes:
        module, prepared = self.module, self.prepared
        sections = {**self.sections}
        sections[Section.GLOBAL] = list(self.globals.ordered(prepared.replaced, prepared.dropped))
        write_out_zeros(sections[Section.GLOBAL])
        words = array("I", [MAGIC, module.version, module.generator, 0, module.schema])
        for code in (*sections.values(), *functions):
            for item in code:
                body = item.words()
                words.append((len(body) + 1) << 16 | item.opcode)
                words.extend(body)
        words.extend(library)
        words[3] = module.bound
        return struct.pack(f"{module.byte_order}{len(words)}I", *words)


_GROUPS = ENUM["Capability.Groups"]
CONDITIONAL = frozenset({*capabilities.CONDITIONAL, _GROUPS})
_GROUP_INSTRUCTIONS = frozenset(range(OP["OpGroupAll"], OP["OpGroupSMax"] + 1))


def needed_capabilities(globals_: ModuleGlobals, functions: Iterable[CompiledFunction]) -> set[int]:
    """Return the capabilities in CONDITIONAL that a module with these types and library functions requires."""
    needed = capabilities.of_types(globals_.items)
    if any(not function.opcodes.isdisjoint(_GROUP_INSTRUCTIONS) for function in functions):
        needed.add(_GROUPS)
    return needed
