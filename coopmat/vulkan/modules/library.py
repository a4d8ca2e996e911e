"""The library of builtin functions in OpenCL C: calls of functions of float and half in LLVM IR become calls of it.

Each declared builtin function gets a definition, which calls the library's function for each component. Vulkan's own
functions (GLSL.std.450) are less accurate than OpenCL requires; with fast-math flags, they are used if they exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .extended import GLSL

_SOURCE = Path(__file__).with_name("library.cl")
_PREFIX = "__vk_"
_DECLARATION = re.compile(r'^declare spir_func (\S.*?) @"(_Z(\d+)(\w+))"\((.*)\) .*\n', re.MULTILINE)
_DEFINITION = re.compile(r"^define .*?^}\n", re.MULTILINE | re.DOTALL)
_DECLARED = re.compile(r'^declare .*@("[^"]*"|[\w.$-]+)\(.*$', re.MULTILINE)
_FUNCTION = re.compile(rf"^(\w+) {_PREFIX}(\w+)\(", re.MULTILINE)
_VECTOR = re.compile(r"<(\d+) x (\w+)>")
_EXACT = re.compile(r"(?<= = )(fadd|fsub|fmul)\b")
_FLOATS = ("float", "half")


def source() -> str:
    """Return the text of the library in OpenCL C."""
    return _SOURCE.read_text(encoding="utf-8")


def functions() -> dict[str, str]:
    """Return the library's functions: the name without the prefix -> the result type in OpenCL C."""
    return {name: result for result, name in _FUNCTION.findall(source())}


def is_needed(text: str, fast: bool) -> bool:
    """Return whether LLVM IR declares a builtin function that the library defines."""
    known = functions()
    return any(_is_replaced(match, known, fast) for match in _DECLARATION.finditer(text))


def _is_replaced(match: re.Match[str], known: dict[str, str], fast: bool) -> bool:
    name, first = _name(match), _types(match[5])[:1]
    return name in known and bool(first) and _element(first[0])[0] in _FLOATS and not (fast and name in GLSL)


def _name(match: re.Match[str]) -> str:
    """Return the name of a function without its mangled parameters."""
    return match[4][: int(match[3])]


def link(text: str, library: str, fast: bool) -> str:
    """Return LLVM IR with definitions of the builtin functions that the library has, and with the library's."""
    known = functions()

    def define(match: re.Match[str]) -> str:
        if not _is_replaced(match, known, fast):
            return match[0]
        return "\n".join(_definition(match, known)) + "\n"

    declared = {match[1] for match in _DECLARED.finditer(text)}
    needed = [match[0] for match in _DECLARED.finditer(library) if match[1] not in declared]
    # The flag arcp has no meaning for these instructions; `declarations` finds them by it (NoContraction).
    bodies = (_EXACT.sub(r"\1 arcp", body) for body in _DEFINITION.findall(library))
    return "\n".join([_DECLARATION.sub(define, text), *needed, *bodies])


def _types(parameters: str) -> list[str]:
    """Return the types of a declaration's parameters."""
    parts = re.split(r",\s*(?![^<]*>)", parameters) if parameters else []
    return [re.sub(r' %"?[\w.]+"?$', "", part.strip()) for part in parts]


def _element(type_text: str) -> tuple[str, int]:
    """Return the type of the components and their number."""
    match = _VECTOR.fullmatch(type_text)
    return (match[2], int(match[1])) if match else (type_text, 1)


def _definition(match: re.Match[str], known: dict[str, str]) -> Iterator[str]:
    """Yield the lines of a function that calls the library's function for each component."""
    result, types, name = match[1], _types(match[5]), _name(match)
    parameters = ", ".join(f"{kind} %a{n}" for n, kind in enumerate(types))
    yield f'define internal spir_func {result} @"{match[2]}"({parameters}) alwaysinline nounwind {{'
    pointer = types[-1].startswith("ptr")
    values = types[:-1] if pointer else types
    _, count = _element(result)
    total, second = "undef", "undef"
    other = f"{name}_2"
    other_type = "i32" if known.get(other) == "int" else _element(types[0])[0]
    other_result = f"<{count} x {other_type}>" if count > 1 else other_type
    for k in range(count):
        arguments = []
        for n, kind in enumerate(values):
            yield from (code := _component(kind, f"%a{n}", k, f"{n}.{k}"))[:-1]
            arguments.append(code[-1])
        yield from _call(name, result, known[name], arguments, f"r{k}")
        yield from _insert(result, total, f"%r{k}", k, f"%t{k}")
        total = f"%t{k}" if count > 1 else f"%r{k}"
        if pointer:
            yield from _call(other, other_result, known[other], arguments, f"s{k}")
            yield from _insert(other_result, second, f"%s{k}", k, f"%u{k}")
            second = f"%u{k}" if count > 1 else f"%s{k}"
    if pointer:
        yield f"  store {other_result} {second}, {types[-1]} %a{len(types) - 1}"
    yield f"  ret {result} {total}"
    yield "}"


def _component(kind: str, value: str, k: int, name: str) -> list[str]:
    """Return the lines that compute a component as a float or i32, and last the argument that has its value."""
    element, count = _element(kind)
    lines = []
    if count > 1:
        lines.append(f"  %c{name} = extractelement {kind} {value}, i32 {k}")
        value = f"%c{name}"
    if element == "half":
        lines.append(f"  %f{name} = fpext half {value} to float")
        element, value = "float", f"%f{name}"
    return [*lines, f"{element} {value}"]


def _call(name: str, result: str, returned: str, arguments: list[str], to: str) -> Iterator[str]:
    kind = "i32" if returned == "int" else "float"
    is_half = _element(result)[0] == "half"
    yield f'  %{to}{".f" * is_half} = call spir_func {kind} @"{_PREFIX}{name}"({", ".join(arguments)})'
    if is_half:
        yield f"  %{to} = fptrunc float %{to}.f to half"


def _insert(result: str, total: str, value: str, k: int, to: str) -> Iterator[str]:
    element, count = _element(result)
    if count > 1:
        yield f"  {to} = insertelement {result} {total}, {element} {value}, i32 {k}"
