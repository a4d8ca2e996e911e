"""The libraries of builtin functions in OpenCL C: calls of mathematical functions in LLVM IR become calls of them.

Each declared builtin function gets a definition, which calls the library's function for each component. One library is
of float, and of half, and one of double; `both.cl` is a part of both. Vulkan's own functions (GLSL.std.450) are less
accurate than OpenCL requires, or have no variant for double; with fast-math flags, they are used if they exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from .extended import GLSL, OF_DOUBLES

# Type of a library -> its text before `both.cl`; prefix of its functions in linked modules.
_SOURCES = {"float": "library.cl", "double": "doubles.cl"}
_PREFIXES = {"float": "__vk_", "double": "__vkd_"}
_DECLARATION = re.compile(r'^declare spir_func (\S.*?) @"(_Z(\d+)(\w+))"\((.*)\) .*\n', re.MULTILINE)
_DEFINITION = re.compile(r"^define .*?^}\n", re.MULTILINE | re.DOTALL)
_DECLARED = re.compile(r'^declare .*@("[^"]*"|[\w.$-]+)\(.*$', re.MULTILINE)
_TABLE = re.compile(r'^@"__vkd?_.*\n', re.MULTILINE)
_FUNCTION = re.compile(r"^(\w+) __vk_(\w+)\(", re.MULTILINE)
_VECTOR = re.compile(r"<(\d+) x (\w+)>")
_EXACT = re.compile(r"(?<= = )(fadd|fsub|fmul)\b")


@cache
def source(kind: str) -> str:
    """Return the text of the library of `kind`, float or double, in OpenCL C."""
    texts = (Path(__file__).with_name(name).read_text(encoding="utf-8") for name in (_SOURCES[kind], "both.cl"))
    return "".join(texts)


@cache
def functions(kind: str) -> dict[str, str]:
    """Return the functions of the library of a type: the name without the prefix -> the result type in OpenCL C."""
    return {name: result for result, name in _FUNCTION.findall(source(kind))}


def needed(text: str, fast: bool) -> list[str]:
    """Return the types of the libraries that define builtin functions which LLVM IR declares."""
    found = {_library(match, fast) for match in _DECLARATION.finditer(text)}
    return [kind for kind in _SOURCES if kind in found]


def _library(match: re.Match[str], fast: bool) -> str:
    """Return the type of the library that defines a declared function; an empty string if none does."""
    name, first = _name(match), _types(match[5])[:1]
    element = _element(first[0])[0] if first else ""
    kind = "float" if element == "half" else element
    of_glsl = OF_DOUBLES if kind == "double" else GLSL
    return kind if kind in _SOURCES and name in functions(kind) and not (fast and name in of_glsl) else ""


def _name(match: re.Match[str]) -> str:
    """Return the name of a function without its mangled parameters."""
    return match[4][: int(match[3])]


def link(text: str, libraries: Mapping[str, str], fast: bool) -> str:
    """Return LLVM IR with definitions of the builtin functions that the libraries have, and with the libraries'.

    libraries: type -> LLVM IR of the type's library.
    """

    def define(match: re.Match[str]) -> str:
        kind = _library(match, fast)
        return "\n".join(_definition(match, kind)) + "\n" if kind else match[0]

    lines, declared = [_DECLARATION.sub(define, text)], {match[1] for match in _DECLARED.finditer(text)}
    for kind, library in libraries.items():
        own = library.replace('@"__vk_', f'@"{_PREFIXES[kind]}')
        for match in _DECLARED.finditer(own):
            if match[1] not in declared:
                lines.append(match[0])
                declared.add(match[1])
        # The flag arcp has no meaning for these instructions; `declarations` finds them by it (NoContraction).
        lines += [*_TABLE.findall(own), *(_EXACT.sub(r"\1 arcp", body) for body in _DEFINITION.findall(own))]
    return "\n".join(lines)


def _types(parameters: str) -> list[str]:
    """Return the types of a declaration's parameters."""
    parts = re.split(r",\s*(?![^<]*>)", parameters) if parameters else []
    return [re.sub(r' %"?[\w.]+"?$', "", part.strip()) for part in parts]


def _element(type_text: str) -> tuple[str, int]:
    """Return the type of the components and their number."""
    match = _VECTOR.fullmatch(type_text)
    return (match[2], int(match[1])) if match else (type_text, 1)


def _definition(match: re.Match[str], library: str) -> Iterator[str]:
    """Yield the lines of a function that calls the library's function for each component."""
    known = functions(library)
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
        yield from _call(library, name, result, arguments, f"r{k}")
        yield from _insert(result, total, f"%r{k}", k, f"%t{k}")
        total = f"%t{k}" if count > 1 else f"%r{k}"
        if pointer:
            yield from _call(library, other, other_result, arguments, f"s{k}")
            yield from _insert(other_result, second, f"%s{k}", k, f"%u{k}")
            second = f"%u{k}" if count > 1 else f"%s{k}"
    if pointer:
        yield f"  store {other_result} {second}, {types[-1]} %a{len(types) - 1}"
    yield f"  ret {result} {total}"
    yield "}"


def _component(kind: str, value: str, k: int, name: str) -> list[str]:
    """Return the lines that compute a component, halves as floats, and last the argument that has its value."""
    element, count = _element(kind)
    lines = []
    if count > 1:
        lines.append(f"  %c{name} = extractelement {kind} {value}, i32 {k}")
        value = f"%c{name}"
    if element == "half":
        lines.append(f"  %f{name} = fpext half {value} to float")
        element, value = "float", f"%f{name}"
    return [*lines, f"{element} {value}"]


def _call(library: str, name: str, result: str, arguments: list[str], to: str) -> Iterator[str]:
    kind = "i32" if functions(library)[name] == "int" else library
    is_half = _element(result)[0] == "half"
    yield f'  %{to}{".f" * is_half} = call spir_func {kind} @"{_PREFIXES[library]}{name}"({", ".join(arguments)})'
    if is_half:
        yield f"  %{to} = fptrunc float %{to}.f to half"


def _insert(result: str, total: str, value: str, k: int, to: str) -> Iterator[str]:
    element, count = _element(result)
    if count > 1:
        yield f"  {to} = insertelement {result} {total}, {element} {value}, i32 {k}"
