"""Calls of builtins by name, with argument types that select the same overload in the device's compiler."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from ..features import LANGUAGE_VERSIONS
from ..frontend import builtins, typed
from ..frontend.typed import ConvertKind
from ..frontend.types import DOUBLE, FLOAT, INT, PointerType, ScalarType, Type
from ..passes.storage import strip_generic_cast
from . import conversions, literals
from .declarations import half_pointer, type_name
from .text import Binds, Text, call, cast

if TYPE_CHECKING:
    from .context import Context

# Flag or value of an argument -> its name. Names are written, because devices define the values themselves.
_FENCES = {1: "CLK_LOCAL_MEM_FENCE", 2: "CLK_GLOBAL_MEM_FENCE", 4: "CLK_IMAGE_MEM_FENCE"}
_NAMED: Mapping[str, Mapping[int, str]] = {
    "memory_order": {
        0: "memory_order_relaxed",
        2: "memory_order_acquire",
        3: "memory_order_release",
        4: "memory_order_acq_rel",
        5: "memory_order_seq_cst",
    },
    "memory_scope": {
        0: "memory_scope_work_item",
        1: "memory_scope_work_group",
        2: "memory_scope_device",
        3: "memory_scope_all_svm_devices",
        4: "memory_scope_sub_group",
    },
}
# Loads and stores of half vectors; their pointers are to half even if halves are ushort bit patterns.
_OF_HALVES = re.compile(r"v(load|store)a?_half")
# (builtin, number of arguments) -> the name that OpenCL C 1.2 has for that overload.
_OLDER = {("work_group_barrier", 1): "barrier", ("sub_group_barrier", 1): "sub_group_barrier"}


def call_builtin(c: Context, e: typed.BuiltinCall) -> Text:
    row = builtins.find(e.name)
    if e.name == "printf":
        return _printf(c, e)
    if e.name in _IN_OLDER_WORDS:
        return _IN_OLDER_WORDS[e.name](c, e)
    if e.name in _SINCE_2 and (e.name, len(e.arguments)) not in _OLDER:
        c.program.needs.feature("CL2.0", f"'{e.name}'")
    name = _OLDER.get((e.name, len(e.arguments)), e.name)
    if row is not None and name == e.name:
        c.program.needs.features(row.needs, f"'{e.name}'")
    words = _parameter_words(e.name, len(e.arguments))
    fixed = _fixed_types(e.name, len(e.arguments))
    halves = _OF_HALVES.match(e.name) is not None
    arguments = [
        _argument(c, argument, words[i] if i < len(words) else "", fixed[i] if i < len(fixed) else None, halves)
        for i, argument in enumerate(e.arguments)
    ]
    return call(name, *arguments)


def _trailing_zeros(c: Context, e: typed.BuiltinCall) -> Text:
    """Write `ctz` as the population count of the bits below the lowest 1."""
    x = c.place(c.temporary(e.type, e.span)).text
    t = type_name(c.program, e.type)
    below = call("popcount", f"({t})(~{x} & ({x} - ({t})1))")
    return Text(f"{x} = {c.assigned(e.arguments[0]).at(Binds.ASSIGN)}, {below.text}", Binds.COMMA)


def _linear(offset: str) -> Callable[[Context, typed.BuiltinCall], Text]:
    """Return a writer of a linear id, which is computed from the ids and sizes of the three dimensions.

    `offset` is the function that returns the offset of a global id; it is empty for local ids.
    """
    way = "global" if offset else "local"
    own = (f"(get_{way}_id({i}){f' - {offset}({i})' * bool(offset)})" for i in range(3))
    x, y, z = own
    text = f"({z} * get_{way}_size(1) + {y}) * get_{way}_size(0) + {x}"
    return lambda c, e: Text(text, Binds.SUM)


def _enqueued_size(c: Context, e: typed.BuiltinCall) -> Text:
    """Write `get_enqueued_local_size`; OpenCL C 1.2 has uniform work-groups only, so there use `get_local_size`."""
    if c.program.needs.most >= LANGUAGE_VERSIONS["CL2.0"]:
        c.program.needs.feature("CL2.0")
        return call(e.name, c.value(e.arguments[0]))
    return call("get_local_size", c.value(e.arguments[0]))


# builtin of OpenCL C 2.0 -> function that writes it with builtins of OpenCL C 1.2.
_IN_OLDER_WORDS: Mapping[str, Callable[[Context, typed.BuiltinCall], Text]] = {
    "ctz": _trailing_zeros,
    "get_global_linear_id": _linear("get_global_offset"),
    "get_local_linear_id": _linear(""),
    "get_enqueued_local_size": _enqueued_size,
}
# Builtins of OpenCL C 2.0 without such a function.
_SINCE_2 = ("work_group_barrier", "sub_group_barrier")


def _argument(c: Context, e: typed.Expr, word: str, only: Type | None, halves: bool) -> Text:
    """Write an argument.

    `word` is the parameter's type in the table. If `only` is the argument's type, every overload has this parameter
    type, so C's implicit conversion suffices. With `halves`, pointers are to half.
    """
    if isinstance(e, typed.IntConst):
        if word == "cl_mem_fence_flags" and e.value in range(1, 8):
            return Text(" | ".join(name for bit, name in _FENCES.items() if e.value & bit), Binds.OR)
        if e.value in _NAMED.get(word, ()):
            return Text(_NAMED[word][e.value])
    if isinstance(e.type, PointerType):
        pointer = c.value(strip_generic_cast(e))
        return cast(half_pointer(c.program, e.type), pointer) if c.program.half_bits and halves else pointer
    return c.assigned(e) if only is not None and only == e.type else c.value(e)


@cache
def _parameter_words(name: str, count: int) -> tuple[str, ...]:
    """Return the parameter types, as the table spells them, of the first overload with `count` parameters."""
    row = builtins.find(name)
    for signature in row.signatures if row is not None else ():
        match = re.search(r"\(([^)]*)\)", signature)
        words = [word.strip() for word in match[1].split(",")] if match else []
        if len(words) == count:
            return tuple(words)
    return ()


@cache
def _fixed_types(name: str, count: int) -> tuple[Type | None, ...]:
    """Return for each parameter its type in all overloads with `count` parameters, or None if the types differ."""
    row = builtins.find(name)
    if row is None:
        return ()
    lists = [overload.parameters for overload in builtins.overloads(row) if len(overload.parameters) == count]
    return tuple(types[0] if len(set(types)) == 1 else None for types in zip(*lists, strict=True))


def _printf(c: Context, e: typed.BuiltinCall) -> Text:
    """Write a call of printf: the format as a literal, other arguments without the default argument promotions."""
    shape = e.arguments[0]
    while isinstance(shape, (typed.Convert, typed.Load)):
        shape = shape.operand
    first = Text(literals.string(shape.value)) if isinstance(shape, typed.StringConst) else c.value(e.arguments[0])
    return call("printf", first, *(c.value(_unpromoted(argument)) for argument in e.arguments[1:]))


def _unpromoted(e: typed.Expr) -> typed.Expr:
    if isinstance(e, typed.Convert) and isinstance(e.operand.type, ScalarType):
        inner = conversions.bare(e)
        if e.kind is ConvertKind.FLOAT_TO_FLOAT and (inner.type, e.type) == (FLOAT, DOUBLE):
            return inner
        if e.kind is ConvertKind.INT_TO_INT and e.type == INT:
            return conversions.promoted(e)
    return e
