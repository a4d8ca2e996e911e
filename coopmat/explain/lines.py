"""The source line of each instruction of a module.

The lowering to LLVM IR knows the statement of each instruction. For SPIR-V, the IR is emitted a second time, with these
places as debug information; LLVM's passes keep it. Then calls of a marker are inserted wherever the line changes, since
the SPIR-V backend drops debug information. The module with markers must have the same instructions as the one without;
otherwise no line is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from .. import budgets
from ..compiler import Module
from ..compiler.from_source import emit_options, lower_options
from ..compiler.stages import PASSED
from ..diagnostics import InternalError, Span
from ..frontend.reserved import is_library
from ..ir import LoweredModule
from ..spirv import growth
from ..spirv.emit import RefusedIR, emit
from ..spirv.module import OP, Instruction, Module as SpirvModule, decode_string

_MARKER = "coopmat.line"
_CALL, _FUNCTION, _END, _LABEL, _CONSTANT, _NAME = (
    OP[f"Op{name}"] for name in ("FunctionCall", "Function", "FunctionEnd", "Label", "Constant", "Name")
)


def lowered(module: Module) -> LoweredModule:
    """Return the LLVM IR of a source with the places of its lines."""
    from ..ir.lower import lower

    unit, _ = module.result(PASSED["spirv"])
    options = replace(lower_options(module), places=True)
    return module.with_budgets(lambda: module.with_sources(lambda: lower(unit, options)))


def of_binary(module: Module, binary: bytes) -> list[int]:
    """Return the source line of each instruction of a module's SPIR-V, 0 if it has none; an empty list if unknown.

    binary: the SPIR-V, whose instructions may differ from the emitted ones by later rewriting.
    """
    with_places = lowered(module)
    if module.options.is_vulkan or not any(with_places.places):
        return []
    try:
        emitted = _emitted_lines(module, with_places)
    except (InternalError, RefusedIR):
        return []
    return list(_transferred(emitted, SpirvModule.parse(binary).instructions)) if emitted else []


def _emitted_lines(module: Module, lowered: LoweredModule) -> list[tuple[Instruction, int]]:
    """Return the instructions of the functions as the backend emits them, each with its line."""
    settings = emit_options(module, lowered)
    plain = emit(lowered.text, settings).spirv
    text = lowered.text
    if settings.passes.startswith("O"):
        # With debug information, this would find other sizes of loops.
        text = growth.limit_inlining(text, *map(budgets.limit, growth.BUDGETS))
    debug = _with_debug_information(text, lowered.places, module.name)
    optimized = emit(debug, replace(settings, want=frozenset({"llvm_ir"}))).llvm_ir
    marked = emit(_with_markers(optimized or ""), replace(settings, passes="none")).spirv
    assert plain is not None and marked is not None
    code = _functions(SpirvModule.parse(plain).instructions)
    found = list(_without_markers(SpirvModule.parse(marked).instructions))
    if [item.opcode for item in code] != [item.opcode for item, _ in found]:
        return []
    return [(item, line) for item, (_, line) in zip(code, found, strict=True)]


def _functions(code: Iterable[Instruction]) -> list[Instruction]:
    """Return the instructions of the functions that have a body."""
    result: list[Instruction] = []
    function: list[Instruction] = []
    for item in code:
        if function or item.opcode == _FUNCTION:
            function.append(item)
        if item.opcode == _END:
            result += function if any(inner.opcode == _LABEL for inner in function) else []
            function = []
    return result


def _without_markers(code: Sequence[Instruction]) -> Iterator[tuple[Instruction, int]]:
    """Yield the instructions of the functions without calls of the marker, each with the line of the last marker."""
    markers = {i.operands[0] for i in code if i.opcode == _NAME and decode_string(i.operands[1:])[0] == _MARKER}
    values = {item.result: item.operands[0] for item in code if item.opcode == _CONSTANT}
    line = 0
    for item in _functions(code):
        if item.opcode in (_FUNCTION, _LABEL):
            line = 0
        if item.opcode == _CALL and item.operands[0] in markers:
            line = values.get(item.operands[1], 0)  # OpConstantNull is 0
        else:
            yield item, line


def _transferred(known: Sequence[tuple[Instruction, int]], code: Iterable[Instruction]) -> Iterator[int]:
    """Yield the lines of a rewritten module's instructions.

    An instruction keeps the line of its result, or of the equal instruction; a new one has the line before it.
    """
    results = {item.result: line for item, line in known if item.result is not None}
    equal: dict[tuple[int, tuple[int, ...]], set[int]] = {}
    for item, line in known:
        if item.result is None:
            equal.setdefault((item.opcode, item.operands), set()).add(line)
    line, is_inside = 0, False
    for item in code:
        is_inside = is_inside or item.opcode == _FUNCTION
        if item.opcode in (_FUNCTION, _LABEL):
            line = 0
        elif item.result is not None:
            line = results.get(item.result, line)
        else:
            same = equal.get((item.opcode, item.operands), set())
            line = next(iter(same)) if len(same) == 1 else line
        yield line if is_inside and item.opcode not in (_FUNCTION, _LABEL, _END) else 0


# --- LLVM IR as text -----------------------------------------------------------------------------------


def _with_debug_information(text: str, places: Sequence[Span | None], name: str) -> str:
    """Return LLVM IR with a location for each instruction; only lines of the file `name` are kept.

    A function of the library gets a subprogram in another file, so that its inlined instructions have the call's line.
    """
    first = max([0, *map(int, re.findall(r"^!(\d+) = ", text, re.MULTILINE))]) + 1
    numbers: dict[str, int] = {}

    def node(contents: str) -> int:
        return numbers.setdefault(contents, first + len(numbers))

    own, other = node('!DIFile(filename: "own", directory: "")'), node('!DIFile(filename: "other", directory: "")')
    unit = node(f"distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !{own}, emissionKind: LineTablesOnly)")
    kind = node("!DISubroutineType(types: !{})")
    lines, scope = [], 0
    for line, place in zip(text.split("\n"), chain(places, [None]), strict=True):
        if line.startswith("define "):
            file = other if place is not None and is_library(place.file) else own
            fields = f"file: !{file}, line: 1, type: !{kind}, spFlags: DISPFlagDefinition, unit: !{unit}"
            scope = node(f'distinct !DISubprogram(name: "{len(numbers)}", {fields})')
            line += f" !dbg !{scope}"
        elif scope and line.startswith("  "):
            number = place.line if place is not None and place.file == name else 0
            line += f", !dbg !{node(f'!DILocation(line: {number}, scope: !{scope})')}"
        scope = 0 if line == "}" else scope
        lines.append(line)
    nodes = [f"!{number} = {contents}" for contents, number in numbers.items()]
    version = f"!llvm.module.flags = !{{!{first + len(numbers)}}}\n!{first + len(numbers)} = !{{i32 2, {_VERSION}}}"
    return "\n".join([*lines, f"!llvm.dbg.cu = !{{!{unit}}}", version, *nodes, ""])


_VERSION = '!"Debug Info Version", i32 3'
_NODE = re.compile(r"!(\d+) = (?:distinct )?!(DI\w+)\((.*)\)$")
_FLAGS = re.compile(r"!llvm\.(?:dbg\.cu|module\.flags) = |!\d+ = !\{i32 2, " + re.escape(_VERSION))
_FIELD = re.compile(r'(\w+): (?:!(\d+)|"([^"]*)"|([\w.-]+))')
_DBG = re.compile(r",? !dbg !(\d+)")


def _with_markers(text: str) -> str:
    """Return LLVM IR with a call of the marker wherever the line changes, and without debug information."""
    nodes: dict[str, dict[str, str]] = {}
    for line in text.split("\n"):
        if match := _NODE.match(line):
            nodes[match[1]] = {key: number or word or other for key, number, word, other in _FIELD.findall(match[3])}
    lines, current, is_inside = [], -1, False
    for line in text.split("\n"):
        if _NODE.match(line) or _FLAGS.match(line):
            continue
        match = _DBG.search(line)
        if line.startswith("define "):
            is_inside = True
        elif is_inside and not line.startswith("  "):
            current = -1
        elif is_inside and not re.match(r"  (?:  |%\S+ = (?:phi|alloca) |\])", line):
            wanted = _line_of(match[1], nodes) if match else 0
            if wanted != current:
                lines.append(f'  call spir_func void @"{_MARKER}"(i32 {wanted})')
                current = wanted
        is_inside = is_inside and line != "}"
        lines.append(_DBG.sub("", line))
    return "\n".join([*lines, f'declare spir_func void @"{_MARKER}"(i32)', ""])


def _line_of(number: str, nodes: dict[str, dict[str, str]]) -> int:
    """Return the line of a location in the user's file; of inlined code of the library, that of the call."""
    location = nodes.get(number, {})
    while location:
        subprogram = nodes.get(location.get("scope", ""), {})
        if nodes.get(subprogram.get("file", ""), {}).get("filename") == "own":
            return int(location["line"])
        location = nodes.get(location.get("inlinedAt", ""), {})
    return 0
