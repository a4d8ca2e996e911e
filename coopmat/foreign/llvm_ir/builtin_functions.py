"""Calls of OpenCL builtin functions, by mangled names, that LLVM's SPIR-V backend lacks or mistranslates.

Each call becomes a call of a wrapper function in OpenCL C, which calls the builtin and is compiled by our lowering.
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
# The names of lowerings that LLVM's backend implements, or that are not calls.
_OF_BACKEND = frozenset({"call", "analysis", "printf"})
# name of a parameter list -> the enumeration types that clang mangles for its last parameters of type int
_ENUMERATIONS = {
    "order": ("memory_order",),
    "orders": ("memory_order", "memory_order"),
    "order, scope": ("memory_order", "memory_scope"),
    "orders, scope": ("memory_order", "memory_order", "memory_scope"),
    "scope": ("memory_scope",),
}
_HAS_ENUMERATIONS = re.compile(r"atomic_\w+_explicit|atomic_work_item_fence|(?:work|sub)_group_barrier")


def replace_calls(module: Module) -> str:
    """Replace calls of such builtins in place; return the text of the wrapper functions in OpenCL C, or ""."""
    wanted = {head.name: overload for head in module.declarations if (overload := _overload(head.name))}
    texts: dict[str, str] = {}
    if not wanted:
        return ""
    for function in module.functions:
        for item in function.instructions():
            call = parse_call(item.text) if "call" in item.text else None
            if call is None or call.name not in wanted:
                continue
            # Memory orders, scopes and flags must be constants in the wrapper, where the builtin is lowered.
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
    """Return the overload of a builtin with this mangled name, if our lowering must translate it, else None."""
    match = _MANGLED.fullmatch(name)
    word = match[2][: int(match[1])] if match else ""
    row = builtins.find(word) if word else None
    if row is None or not row.supported or row.lowering in _OF_BACKEND:
        return None
    overload = next((o for o in builtins.overloads(row) if name in _manglings(o)), None)
    # Leave out overloads with bfloat16: LLVM's type for it differs from the type in our lowering.
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
