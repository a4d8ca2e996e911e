"""Atomic functions (OpenCL C 3.0, section 6.15.12), including those of OpenCL C 1.x.

A function that C11 has, too, has three forms. The plain form is sequentially consistent, for the whole device. The
first `_explicit` form takes a memory order (compare-exchange: one for success and one for failure). The second
`_explicit` form takes a memory scope as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from .rows import Builtin, rows

SECTION = "6.15.12"
LEGACY = "6.15.12.8"
SEQUENTIAL = "__opencl_c_atomic_order_seq_cst"
DEVICE = "__opencl_c_atomic_scope_device"

# (types that the letter T of a signature ranges over, names of features that overloads for these types need).
_Types = tuple[str, str]
_INTEGERS: _Types = ("int uint long ulong", "")
_ALL: _Types = ("int uint long ulong float double", "")
_UPDATE = ("atomic volatile A *", "T")


def _floats(operation: str) -> tuple[_Types, ...]:
    """Return the types and features of cl_ext_float_atomics; `operation` is the operation's name in the features."""
    return tuple(
        (name, " ".join(f"__opencl_c_ext_fp{bits}_{space}_atomic_{operation}" for space in ("global", "local")))
        for name, bits in (("float", 32), ("double", 64))
    )


def _signature(result: str, parameters: Sequence[str], types: _Types | None, *needs: str) -> str:
    names = " ".join(filter(None, (types[1] if types else "", *needs)))
    ranges = f" for T in {types[0]}" if types else ""
    return f"{result} @({', '.join(parameters)}){ranges}" + (f" needs {names}" if names else "")


def _forms(
    name: str,
    result: str,
    parameters: Sequence[Sequence[str]],
    types: Sequence[_Types | None],
    orders: int = 1,
    extensions: str = "",
) -> tuple[Builtin, ...]:
    """Return the rows of the three forms of a function: the plain form and both `_explicit` forms.

    `parameters` are the parameter lists of the plain form. `orders` is the number of memory orders that the `_explicit`
    forms take.
    """
    order, scope = ["memory_order"] * orders, ["memory_scope"]
    kinds = [(list(p), t) for p in parameters for t in types]
    section = f"{SECTION}, cl_ext_float_atomics" if len(types) > 1 else SECTION
    form = partial(rows, section=section, lowering="atomic", needs="CL2.0", extensions=extensions)
    plain = form(name, *(_signature(result, p, t, SEQUENTIAL, DEVICE) for p, t in kinds))
    return plain + form(
        f"{name}_explicit",
        *(_signature(result, p + order, t, DEVICE) for p, t in kinds),
        *(_signature(result, p + order + scope, t) for p, t in kinds),
    )


def _fetch(operation: str, floats: str = "") -> tuple[Builtin, ...]:
    """Return the rows of a fetch operation.

    `floats` is the operation's name in the features of cl_ext_float_atomics, or "" if the extension does not have the
    operation.
    """
    types = [_INTEGERS, *(_floats(floats) if floats else ())]
    extensions = f"SPV_EXT_shader_atomic_float_{floats}" if floats else ""
    return _forms(f"atomic_fetch_{operation}", "T", [_UPDATE], types, extensions=extensions)


def _compare_exchange(strength: str) -> tuple[Builtin, ...]:
    """Return the rows of a compare-exchange.

    The object and its expected value are both in named address spaces, which may differ, or both behind generic
    pointers.
    """
    separate, generic = ("shared volatile A *", "named T *", "T"), ("generic volatile A *", "generic T *", "T")
    return _forms(f"atomic_compare_exchange_{strength}", "bool", [separate, generic], [_ALL], orders=2)


# Functions of OpenCL C 1.x: (name after `atomic_` and `atom_`, parameters after the pointer).
_BASE = (("add", ", T"), ("sub", ", T"), ("xchg", ", T"), ("inc", ""), ("dec", ""), ("cmpxchg", ", T, T"))
_EXTENDED = (("min", ", T"), ("max", ", T"), ("and", ", T"), ("or", ", T"), ("xor", ", T"))


def _legacy() -> tuple[Builtin, ...]:
    table: list[Builtin] = []
    for name, values in (*_BASE, *_EXTENDED):
        types = "int uint float" if name == "xchg" else "int uint"
        signature = f"T @(shared volatile T *{values}) for T in {types}"
        table += rows(f"atomic_{name}", signature, section=LEGACY, lowering="atomic")
    return tuple(table)


def _extension(kind: str, operations: Sequence[tuple[str, str]]) -> tuple[Builtin, ...]:
    """Return the rows of the `atom_*` functions of the extensions whose names contain `kind` ("base" or "extended")."""
    int32 = " ".join(f"cl_khr_{space}_int32_{kind}_atomics" for space in ("global", "local"))
    int64 = f"cl_khr_int64_{kind}_atomics"
    table: list[Builtin] = []
    for name, values in operations:
        signature = f"T @(shared volatile T *{values}) for T in"
        signatures = (f"{signature} int uint needs {int32}", f"{signature} long ulong needs {int64}")
        table += rows(f"atom_{name}", *signatures, section=f"cl_khr_int64_{kind}_atomics", lowering="atomic")
    return tuple(table)


TABLE = (
    *rows(
        "atomic_init",
        "void @(atomic volatile A *, T) for T in int uint long ulong float double",
        section=SECTION,
        lowering="atomic_init",
        needs="CL2.0",
    ),
    *_forms("atomic_store", "void", [_UPDATE], [_ALL]),
    *_forms("atomic_load", "T", [["atomic volatile A *"]], [_ALL]),
    *_forms("atomic_exchange", "T", [_UPDATE], [_ALL]),
    *_compare_exchange("strong"),
    *_compare_exchange("weak"),
    *_fetch("add", "add"),
    *_fetch("sub", "add"),
    *_fetch("or"),
    *_fetch("xor"),
    *_fetch("and"),
    *_fetch("min", "min_max"),
    *_fetch("max", "min_max"),
    *_forms("atomic_flag_test_and_set", "bool", [["atomic volatile F *"]], [None]),
    *_forms("atomic_flag_clear", "void", [["atomic volatile F *"]], [None]),
    *_legacy(),
    *_extension("base", _BASE),
    *_extension("extended", _EXTENDED),
)
