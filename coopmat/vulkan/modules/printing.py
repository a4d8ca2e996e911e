"""OpenCL's printf as the instruction of NonSemantic.DebugPrintf, which validation layers and some drivers print."""

from __future__ import annotations

import re

from ...spirv.module import ENUM, OP, Instruction, decode_string, encode_string
from ...spirv.sections import Section
from .code import Code, rewrite
from .constants import constant_bytes
from .context import Context
from .pointers import BITCAST, CHAINS, ELEMENT_CHAINS, VARIABLE

_SET, _PRINTF, _EXTENSION = "NonSemantic.DebugPrintf", 1, "SPV_KHR_non_semantic_info"
_OPENCL_PRINTF = ENUM["OpenCL.std.printf"]
# OpenCL's lengths of vectors' components, which the instruction takes from the types.
_LENGTHS = re.compile(r"(%[-+ #0]*\d*(?:\.\d+)?)(v\d+)?(?:hl|hh|h)?(l?[diouxXfFeEgGaAcs])")


def printing(context: Context) -> None:
    """Replace the calls of printf. Raise Refused for a format that is no string literal, and for strings to print."""
    parts = context.parts
    imports = parts.sections[Section.IMPORT]
    opencl = {item.result for item in imports if decode_string(item.operands)[0] == "OpenCL.std"}
    calls = (item for body in parts.functions for item in body if item.opcode == OP["OpExtInst"])
    if not any(item.operands[0] in opencl and item.operands[1] == _OPENCL_PRINTF for item in calls):
        return
    printf = parts.module.new_id()
    imports.append(Instruction(OP["OpExtInstImport"], tuple(encode_string(_SET)), None, printf))
    parts.definitions[printf] = imports[-1]
    parts.sections[Section.EXTENSION].append(Instruction(OP["OpExtension"], tuple(encode_string(_EXTENSION))))
    void = parts.globals.intern("OpTypeVoid")

    def rule(code: Code, item: Instruction) -> None:
        if item.operands[0] not in opencl or item.operands[1] != _OPENCL_PRINTF:
            code.keep(item)
            return
        pattern, *values = item.operands[2:]
        string = parts.module.new_id()
        text = _LENGTHS.sub(_without_length, _text(context, pattern))
        parts.sections[Section.SOURCE].append(Instruction(OP["OpString"], tuple(encode_string(text)), None, string))
        parts.define(parts.sections[Section.SOURCE][-1:])
        code.add("OpExtInst", void, printf, _PRINTF, string, *values)
        code.finish(item, "OpCopyObject", parts.globals.intern("OpConstantNull", result_type=item.result_type))

    rewrite(parts, {OP["OpExtInst"]: rule})


def _without_length(match: re.Match[str]) -> str:
    return match[1] + (match[2] or "") + match[3]


def _text(context: Context, pointer: int) -> str:
    """Return the string literal that a pointer points to."""
    item = context.parts.definitions[pointer]
    while item.opcode in CHAINS | ELEMENT_CHAINS or item.opcode == BITCAST:
        item = context.parts.definitions[item.operands[0]]
    if item.opcode != VARIABLE or len(item.operands) < 2:
        raise context.refused("a format of printf that is no string literal: write the literal in the call")
    size = context.layout.size(context.parts.types.pointee(item.result or 0))
    text = constant_bytes(context, item.operands[1], size).partition(b"\0")[0].decode(errors="replace")
    if "%s" in text:
        raise context.refused("printf of a string, %s: write the text in the format")
    return text
