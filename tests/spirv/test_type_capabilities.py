"""Loads and stores through pointers to every kind of object: modules have the capabilities that their types need."""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Iterator
from itertools import product

import pytest

import coopmat
from coopmat.frontend import builtins
from coopmat.spirv.module import OP, Module

# The object that a pointer leads to: a parameter, a declaration, and the pointer, for elements T and others, U.
PLACES = {
    "global": ("global T *p", "", "p"),
    "local": ("local T *p", "", "p"),
    "constant": ("constant T *p", "", "p"),
    "local array": ("", "local T a[16];", "a"),
    "private array": ("", "T a[16];", "a"),
    "local record": ("", "local struct { char c; T a[16]; } s;", "s.a"),
    "private record": ("", "struct { T a[16]; } s;", "s.a"),
    "global record": ("global struct { long c; T a[16]; } *p", "", "p->a"),
    "local of another type": ("", "local U a[64];", "(local T *)a"),
    "private of another type": ("", "U a[64];", "(T *)a"),
    "global of another type": ("global U *p", "", "(global T *)p"),
    "rows": ("", "local U a[4][16];", "(local T *)a[n]"),
}
OTHERS = {"half": "ushort", "char": "int", "short": "float", "double": "ulong", "float": "char"}
OPTIONS = ("", "-cl-ext=-cl_khr_fp16", "--matrices one", "--matrices one -O0", "--matrices one -cl-ext=-cl_khr_fp16")
ROWS = [row.name for family in builtins.FAMILIES for row in family.TABLE if row.name.startswith(("vload", "vstore"))]


def _uses(element: str) -> Iterator[str]:
    """Yield statements that access {} by each builtin that has the element type."""
    for name in ROWS:
        if ("half" in name) != (element == "half") or "_rt" in name:
            continue
        digits = re.sub(r"\D", "", name)
        value = "float" if "half" in name else element
        wide = f"{value}{digits}"
        if "load" in name:
            yield f"global {wide} *r = (global {wide} *)o; r[n] = {name}(n, {{}});"
        else:
            yield f"global {wide} *r = (global {wide} *)o; {name}(r[0], n, {{}});"
    yield "*o = ({})[n] != 0;" if element != "half" else "*o = (int)({})[n];"


CASES = [
    (element, place, use, options)
    for element in OTHERS
    for place, use, options in product(PLACES, _uses(element), OPTIONS)
    if not ("store" in use and place == "constant")
]


def needed(module: Module) -> set[int]:
    """Return the capabilities of types, by the instructions that have them."""
    named = {"OpTypeFloat": {64: 10}, "OpTypeInt": {8: 39, 16: 22, 64: 11}}
    found = {named.get(item.name, {}).get(item.operands[0] if item.operands else 0) for item in module.instructions}
    half = next((i.result for i in module.instructions if i.name == "OpTypeFloat" and i.operands == (16,)), None)
    if half is not None:
        types = [i for i in module.instructions if i.name in ("OpTypeArray", "OpTypeVector", "OpTypeStruct")]
        members = {word for i in types for word in (i.operands if i.name == "OpTypeStruct" else i.operands[:1])}
        values = half in members or any(i.result_type == half for i in module.instructions)
        found.add(9 if values else 8)
    return {number for number in found if number is not None}


def check(case: tuple[str, str, str, str]) -> str:
    """Return what is wrong with the module of a case."""
    element, place, use, options = case
    parameter, declaration, pointer = PLACES[place]
    parameters = ", ".join(text for text in (parameter, "global int *o, int n") if text)
    source = f"kernel void k({parameters}) {{ {declaration} {use.format('P')} }}"
    words = {"T": element, "U": OTHERS[element], "P": pointer.replace("T", element)}
    for name, text in words.items():
        source = source.replace(f"{name} ", f"{text} ").replace(f"{name})", f"{text})").replace(f"{name}[", f"{text}[")
    try:
        module = Module.parse(coopmat.compile(source, ["-w", *options.split()]).spirv)
    except coopmat.CompileError as error:
        off = "fp16" in options and all(item.code == "extension-off" for item in error.diagnostics)
        return "" if off else f"{source}: {error}"
    except coopmat.InternalError as error:
        return f"{source} {options}: {error}"
    present = {item.operands[0] for item in module.instructions if item.opcode == OP["OpCapability"]}
    lacking = needed(module) - present
    if lacking or (9 in present and 9 not in needed(module)):
        return f"{source} {options}: has {sorted(present)}, needs {sorted(needed(module))}"
    return ""


def _sample(count: int) -> list[tuple[str, str, str, str]]:
    return random.Random(5).sample(CASES, count)


@pytest.mark.parametrize("part", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 16))])
def test_capabilities_are_those_of_the_types(part: int) -> None:
    """One in 150 here, all with --all."""
    cases = (
        _sample(len(CASES) // 150) if part == 0 else [c for c in CASES if zlib.crc32(str(c).encode()) % 15 == part - 1]
    )
    wrong = [text for case in cases if (text := check(case))]
    assert not wrong, "\n".join(wrong)


def test_indices_of_structures_are_written_out() -> None:
    """An OpConstantNull is a constant to spirv-val, and none to other readers."""
    source = (
        "typedef struct { int a, b; struct { long c[2]; } d; } S; kernel void f(global S *p) { p[1].d.c[0] = p->a; }"
    )
    for options in ("", "-O0 --matrices one", "-O2 --matrices one"):
        module = Module.parse(coopmat.compile(source, options.split()).spirv)
        integers = {item.result for item in module.instructions if item.name == "OpTypeInt"}
        assert not [i for i in module.instructions if i.name == "OpConstantNull" and i.result_type in integers]
