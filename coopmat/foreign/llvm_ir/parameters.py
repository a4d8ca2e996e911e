"""The inference of the types of objects that pointer parameters point to, from the arguments of all callers.

LLVM's pointers are opaque, and optimisations use offsets in bytes, which are wrong for lowered matrices. `byref` states
the type of a parameter's object, but only our own front end writes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .addresses import Addresses
from .storage import Storage
from .text import Function, Module, operands, parse_call

_SAID = re.compile(r"\b(?:byref|sret|byval)\(")
_LOCAL = re.compile(r"\b(?:internal|private)\b")

# The type of a parameter's object: PLAIN for any type without matrices, or UNKNOWN.
PLAIN, UNKNOWN = "plain", ""


def state(module: Module, storage: Storage) -> dict[str, set[str]]:
    """Add `byref` in place to parameters that point to objects with matrices.

    Return function name -> parameters that point to objects without matrices. Set `storage.mixed`.
    """
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
    """Return the indices of pointers to private memory without a type attribute.

    For a function with external linkage, return none: callers outside of the module may pass anything.
    """
    if not _LOCAL.search(function.head.before):
        return []
    arguments = enumerate(function.head.arguments)
    return [n for n, a in arguments if a.type == "ptr" and not _SAID.search(a.attributes)]


def _pass_on(
    function: Function, functions: dict[str, Function], kinds: dict[tuple[str, int], str], addresses: Addresses
) -> None:
    """Record, for each call in a function, the types of the objects that the arguments point to."""
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
    """Return the type of an object that begins at both addresses; UNKNOWN if there is none."""
    if PLAIN in (first, second) or UNKNOWN in (first, second):
        return first if first == second else UNKNOWN
    others = list(_starts(second, storage))
    return next((kind for kind in _starts(first, storage) if kind in others), UNKNOWN)


def _starts(kind: str, storage: Storage) -> Iterator[str]:
    """Yield a type, its first member's type, that type's first member's type, and so on, while these carry matrices."""
    while kind and storage.carries(kind):
        yield kind
        members = storage.members(kind)
        kind = members[0][0] if members else ""


def _callers_first(module: Module, functions: dict[str, Function]) -> list[Function]:
    ordered: dict[str, None] = {}
    calls = {function.name: _called(function, functions) for function in module.functions}

    def visit(name: str, above: frozenset[str]) -> None:
        # OpenCL forbids recursion; a cycle gets an arbitrary order.
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
