"""The IR that a document shows, and the IR that is written, brought to one spelling."""

from __future__ import annotations

import re

import coopmat
from coopmat.spirv.emit import EmitOptions, emit


def modern(text: str) -> str:
    """IR with typed pointers, as the documents have it, with opaque ones: casts between pointers go."""
    lines, same = [], {}
    for line in text.strip().splitlines():
        line = re.sub(r"(\[[^]]*\]|<[^>]*>|\w+)\*+", "ptr", line.strip())
        cast = re.fullmatch(r"(%[\w.]+) = bitcast ptr (%[\w.]+) to ptr", line)
        if cast:
            same[cast[1]] = cast[2]
            continue
        lines.append(re.sub(r"%[\w.]+", lambda match: same.get(match[0], match[0]), line))
    return "\n".join(lines)


def body(text: str, function: str) -> str:
    """A function's instructions; what differs by the target (address spaces) and by pragmas (`contract`) goes."""
    found = re.search(rf"^define [^\n]*@{function}\([^\n]*\n(.*?)^\}}", text, re.DOTALL | re.MULTILINE)
    assert found, f"no function {function}"
    lines = [line.strip() for line in found[1].splitlines() if line.strip() and not line.endswith(":")]
    return re.sub(r" addrspace\(\d\)| contract", "", "\n".join(lines))


def numbered(text: str) -> str:
    """Values in order of their first mention."""
    names: dict[str, str] = {}
    return re.sub(r"%[\w.]+", lambda match: names.setdefault(match[0], f"%{len(names)}"), text)


def written(source: str, *options: str, values: bool = False) -> str:
    """The dialect `llvm` of a source; with `values` without variables (LLVM's sroa)."""
    text = coopmat.compile(source, ["--dialect", "llvm", *options], name="document.cl").llvm_ir
    if values:
        text = emit(text, EmitOptions(passes="sroa", want=frozenset({"llvm_ir"}))).llvm_ir or ""
    return text
