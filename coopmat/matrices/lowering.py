"""The library lowerings: the routes, and the text of the functions that a program needs.

A lowered matrix is an array of `storage_components` components in private memory, aligned to `storage_alignment` bytes
and passed by pointer. To get the library's text, collect the `LibraryFunction`s that a program calls, and `instantiate`
them:

    add = Binary(matrix, "add")
    text = instantiate(Target(LOWERED_ROUTES["one"], 1), [add])       # OpenCL C that defines add.function_name

Strides count components. If a program's pointer has another pointee type, the program must scale its stride first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from types import MappingProxyType

from .. import budgets
from . import half_bits, small_float_functions
from .library_function import (
    FromTemplate,
    LibraryFunction as LibraryFunction,
    Parameter as Parameter,
    Signature as Signature,
    Written,
    parameters as parameters,
)
from .library_functions import (
    Binary as Binary,
    Convert as Convert,
    Coord as Coord,
    Fill as Fill,
    Length as Length,
    Load as Load,
    Negate as Negate,
    ScalarMultiply as ScalarMultiply,
    Store as Store,
    Transpose as Transpose,
    conversion as conversion,
)
from .maps import (
    ComponentWise as ComponentWise,
    Map as Map,
    OperandFunction as OperandFunction,
    Reduce as Reduce,
)
from .multiply_add import MultiplyAdd as MultiplyAdd
from .routes import (
    LOWERED_ROUTES as LOWERED_ROUTES,
    MAX_WORK_ITEMS as MAX_WORK_ITEMS,
    LoweredRoute as LoweredRoute,
    Target as Target,
    storage_alignment as storage_alignment,
    storage_components as storage_components,
)
from .subgroup_builtins import SubgroupBuiltin as SubgroupBuiltin, substitute_builtin as substitute_builtin
from .vendor_instructions import INSTRUCTIONS, emulated_layouts


def check_count(functions: int) -> None:
    """Raise budgets.Exceeded if a module calls more functions of the library than the budget allows."""
    if functions > budgets.limit("library-functions"):
        raise budgets.Exceeded("library-functions", "the module")


def instantiate(target: Target, functions: Iterable[LibraryFunction]) -> str:
    """Return OpenCL C that defines every function once, after the functions that it calls.

    The text has no includes.
    """
    by_name = {function.function_name: function for function in functions}
    parts: dict[str, str] = {}
    for name in sorted(by_name):
        _add(parts, by_name[name], target)
    return "\n".join([prologue(target.route), *parts.values()])


def prologue(route: LoweredRoute) -> str:
    """Return the macros that the functions of a lowering share."""
    prologues = [library_sections(file)["PROLOGUE"] for file in route.files]
    return "\n".join([*prologues, emulated_layouts(route.family)] if route.family else prologues)


def _add(parts: dict[str, str], function: LibraryFunction, target: Target) -> None:
    """Add the text of a library function, and of the functions that it calls, to `parts` (name -> text)."""
    if function.function_name in parts:
        return
    for callee in function.needs(target):
        _add(parts, callee, target)
    if isinstance(function, Written):
        parts[function.function_name] = function.text(target)
    elif isinstance(function, FromTemplate):
        _add_from_template(parts, function, target)


def _add_from_template(parts: dict[str, str], function: FromTemplate, target: Target) -> None:
    """Add a function's text to `parts`: the section between the definitions of its macros and their #undef."""
    macros = function.definitions(target)
    for module in (small_float_functions, half_bits):
        for callee in module.functions_called(macros.values()):
            _add(parts, callee, target)
    file, name = section(function.files(target.route), macros.pop("OP"))
    template = library_sections(file)[name]
    macros["NAME"] = function.function_name
    lines = [f"#define CM_{name} {body}" for name, body in macros.items()]
    undefined = [f"#undef CM_{name.partition('(')[0]}" for name in macros]
    parts[function.function_name] = "\n".join([*lines, template.rstrip("\n"), *undefined, ""])


def section(files: Sequence[str], names: str) -> tuple[str, str]:
    """Return (file, section): the first of the blank-separated section names that exists, in the last file that has it.

    Raise KeyError if no file has any of the sections.
    """
    for name in names.split():
        for file in reversed(files):
            if name in library_sections(file):
                return file, name
    raise KeyError(names)


@cache
def prelude(route: str) -> tuple[str, frozenset[str]]:
    """Return the C text that uses the instructions of a route's devices, and the names of the library functions in it.

    If the route has no such text, return an empty text and no names.
    """
    lowered = LOWERED_ROUTES.get(route)
    if lowered is None or not lowered.prelude:
        return "", frozenset()
    text = _text(lowered.prelude)
    if lowered.family:
        return text, frozenset(row.name for row in INSTRUCTIONS.values() if row.family == lowered.family)
    return text, frozenset(re.findall(r"^static inline \w+ (\w+)\(", text, re.MULTILINE))


def exported(text: str) -> str:
    """Return a prelude's text with external functions, which other programs may call."""
    return text.replace("static inline ", "")


def _text(file: str) -> str:
    """Return the text of a file in library/."""
    return (resources.files(__package__) / "library" / file).read_text(encoding="utf-8")


_SECTION = re.compile(r"^#ifdef CM_(?:OP_)?(\w+)\b[^\n]*\n(.*?)^#endif // CM_(?:OP_)?\1\n", re.MULTILINE | re.DOTALL)


@cache
def library_sections(file: str) -> Mapping[str, str]:
    """Return section name -> template, for a file of the library."""
    return MappingProxyType({match[1]: match[2] for match in _SECTION.finditer(_text(file))})
