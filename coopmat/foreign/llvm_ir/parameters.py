"""The types that pointer parameters point to, where the IR does not state them: the types that all callers pass.

LLVM's pointers have no types, and optimisation counts bytes of objects whose matrices have another size when they are
lowered. `byref` says what a parameter points to; front ends other than ours leave it out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .addresses import Addresses
from .storage import Storage
from .text import Function, Module, operands, parse_call

_SAID = re.compile(r"\b(?:byref|sret|byval)\(")
_LOCAL = re.compile(r"\b(?:internal|private)\b")

# Of a parameter: no object with matrices; or anything.
PLAIN, UNKNOWN = "plain", ""


def state(module: Module, storage: Storage) -> dict[str, set[str]]:
    """Add `byref` in place, to parameters that point to objects with matrices. Return by function the parameters that
    point to other objects."""
    storage.mixed = any(storage.is_mixed(kind) for kind in _variables(module))
    functions = {function.name: function for function in module.functions}
    kinds: dict[tuple[str, int], str] = {}
    plain: dict[str, set[str]] = {}
    for function in _callers_first(module, functions):
        mine = {n: kinds.get((function.name, n), UNKNOWN) for n in _unsaid(function)}
        for n, kind in mine.items():
            argument = function.head.arguments[n]
            if kind not in (PLAIN, UNKNOWN):
                align = storage.opaque_layout(kind)[1]
                argument.attributes = f"{argument.attributes} byref({kind}) align {align}".strip()
        plain[function.name] = {function.head.arguments[n].value for n, kind in mine.items() if kind == PLAIN}
        _pass_on(function, functions, kinds, Addresses(function, storage, plain[function.name]))
    return plain


def _variables(module: Module) -> Iterator[str]:
    for function in module.functions:
        for item in function.instructions():
            if item.opcode == "alloca":
                yield operands(item.text)[0]


def _unsaid(function: Function) -> list[int]:
    """The parameters that are pointers to private memory, and do not say to what. Callers from elsewhere may pass
    anything."""
    if not _LOCAL.search(function.head.before):
        return []
    arguments = enumerate(function.head.arguments)
    return [n for n, a in arguments if a.type == "ptr" and not _SAID.search(a.attributes)]


def _pass_on(
    function: Function, functions: dict[str, Function], kinds: dict[tuple[str, int], str], addresses: Addresses
) -> None:
    """Record the types that a function's calls imply for their callees' parameters."""
    for item in function.instructions():
        call = parse_call(item.text) if "call" in item.text else None
        if call is None or call.name not in functions:
            continue
        for n, argument in enumerate(call.arguments):
            if argument.type != "ptr" or argument.value in ("null", "undef", "poison"):
                continue
            key, kind = (
                (call.name, n),
                PLAIN if addresses.is_plain(argument.value) else addresses.kind_at(argument.value),
            )
            kinds[key] = _both(kinds[key], kind, addresses.storage) if key in kinds else kind


def _both(first: str, second: str, storage: Storage) -> str:
    """The type that starts at the addresses of both."""
    if PLAIN in (first, second) or UNKNOWN in (first, second):
        return first if first == second else UNKNOWN
    others = list(_starts(second, storage))
    return next((kind for kind in _starts(first, storage) if kind in others), UNKNOWN)


def _starts(kind: str, storage: Storage) -> Iterator[str]:
    """A type, what it starts with, what that starts with."""
    while kind and storage.carries(kind):
        yield kind
        members = storage.members(kind)
        kind = members[0][0] if members else ""


def _callers_first(module: Module, functions: dict[str, Function]) -> list[Function]:
    ordered: dict[str, None] = {}
    calls = {function.name: _called(function, functions) for function in module.functions}

    def visit(name: str, above: frozenset[str]) -> None:
        # A cycle, which OpenCL does not have, has no order.
        if name not in ordered and name not in above:
            for called in calls[name]:
                visit(called, above | {name})
            ordered[name] = None

    for function in module.functions:
        visit(function.name, frozenset())
    return [functions[name] for name in reversed(ordered)]


def _called(function: Function, functions: dict[str, Function]) -> list[str]:
    calls = (parse_call(item.text) for item in function.instructions() if "call" in item.text)
    return [call.name for call in calls if call is not None and call.name in functions]
