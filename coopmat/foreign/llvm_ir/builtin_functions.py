"""Builtin functions of OpenCL C that LLVM's backend lacks or mistranslates, called by their mangled names.

A call becomes one of a function in OpenCL C that calls the builtin, which our own lowering compiles.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ...diagnostics import Span
from ...frontend import builtins
from ...frontend.builtins import Overload
from ...frontend.types import INT, RecordType, Type, VoidType, is_bits
from ...ir.lower.builtin_calls import mangle
from .text import Module, parse_call, quoted

_NOWHERE = Span("", 0, 0, 0, 0)
_MANGLED = re.compile(r"_Z(\d{1,3})(\w+)")
_NUMBER = re.compile(r"-?\d+|true|false")
_SMALL_INTEGERS = {"i1", "i8", "i16", "i32"}
# Lowerings that LLVM's backend has, or that are no calls.
_OF_BACKEND = frozenset({"call", "analysis", "printf"})
# Trailing parameters of type int that clang mangles as enumerations.
_ENUMERATIONS = {
    "order": ("memory_order",),
    "orders": ("memory_order", "memory_order"),
    "order, scope": ("memory_order", "memory_scope"),
    "orders, scope": ("memory_order", "memory_order", "memory_scope"),
    "scope": ("memory_scope",),
}
_HAS_ENUMERATIONS = re.compile(r"atomic_\w+_explicit|atomic_work_item_fence|(?:work|sub)_group_barrier")


def replace_calls(module: Module) -> str:
    """Replace calls of such builtins in place; return the functions in OpenCL C that they call instead, or ""."""
    wanted = {head.name: overload for head in module.declarations if (overload := _overload(head.name))}
    texts: dict[str, str] = {}
    if not wanted:
        return ""
    for function in module.functions:
        for item in function.instructions():
            call = parse_call(item.text) if "call" in item.text else None
            if call is None or call.name not in wanted:
                continue
            # Orders, scopes and flags must be constants where the builtin is lowered.
            constants = tuple(
                argument.value if argument.type in _SMALL_INTEGERS and _NUMBER.fullmatch(argument.value) else ""
                for argument in call.arguments
            )
            name = "_".join(["cm_builtin", call.name, *(value.replace("-", "m") or "v" for value in constants)])
            texts.setdefault(name, _text(name, wanted[call.name], constants))
            call.callee = quoted("@", name)
            item.text = str(call)
    module.declarations = [head for head in module.declarations if head.name not in wanted]
    return "\n".join(texts.values())


@lru_cache(maxsize=1024)
def _overload(name: str) -> Overload | None:
    """Return the overload of a builtin that a mangled name denotes, if its lowering is ours."""
    match = _MANGLED.fullmatch(name)
    word = match[2][: int(match[1])] if match else ""
    row = builtins.find(word) if word else None
    if row is None or not row.supported or row.lowering in _OF_BACKEND:
        return None
    overload = next((o for o in builtins.overloads(row) if name in _manglings(o)), None)
    # LLVM has other types for bfloat16 than our lowering.
    is_known = overload is not None and not any(map(is_bits, (overload.result, *overload.parameters)))
    return overload if is_known else None


def _manglings(overload: Overload) -> list[str]:
    names = [mangle(overload.name, overload.parameters)]
    if _HAS_ENUMERATIONS.fullmatch(overload.name):
        for words in _ENUMERATIONS.values():
            before, last = overload.parameters[: -len(words)], overload.parameters[-len(words) :]
            if last == (INT,) * len(words):
                names.append(mangle(overload.name, [*before, *map(_enumeration, words)]))
    return names


def _enumeration(name: str) -> Type:
    return RecordType("struct", name, _NOWHERE)


def _text(name: str, overload: Overload, constants: tuple[str, ...]) -> str:
    parameters = [f"{t} p{n}" for n, t in enumerate(overload.parameters)]
    pairs = zip(constants, overload.parameters, strict=True)
    arguments = [f"({t}){value}" if value else f"p{n}" for n, (value, t) in enumerate(pairs)]
    result = "" if isinstance(overload.result, VoidType) else "return "
    body = f"{result}{overload.name}({', '.join(arguments)});"
    return f"{overload.result} {name}({', '.join(parameters) or 'void'}) {{ {body} }}"
