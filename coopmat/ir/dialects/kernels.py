"""What a host needs to know of the kernels in a module that did not come from our own front end."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..kernel_info import KernelInfo, KernelParameter
from .operations import COMPONENTS, MENTION, TYPE
from .text import Argument, Function, Module, tokens, type_end, unquoted

_SPACES = {"0": "private", "1": "global", "2": "constant", "3": "local", "4": "generic"}
_POINTER = re.compile(r"ptr(?: addrspace\((\d+)\))?")
_OPENCL_C = {"i1": "bool", "i8": "char", "i16": "short", "i32": "int", "i64": "long"}
_OPENCL_C |= {name: component.opencl_c for name, component in COMPONENTS.items() if not component.is_integer}
_BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "half": 16, "bfloat": 16, "float": 32, "double": 64}
_TILES = re.compile(r"coop_mat_tiles\.(\d{1,6})\.")
_VECTOR = re.compile(r"<(\d+) x (\w+)>")
_UNSIGNED = re.compile(r"u(char|short|int|long)")


def describe(module: Module, function: Function, size: int | None, uses: bool, most: int | None = None) -> KernelInfo:
    """See `KernelInfo`: the subgroups' size, whether there are matrices, and the most work-items are given."""
    parameters = tuple(_parameters(module, function))
    return KernelInfo(function.name, parameters, work_group(module, function), size, uses, most)


def users_of_matrices(module: Module) -> set[str]:
    """The names of functions that have to do with matrices, or call one that has."""
    return users(module, lambda text: MENTION in text)


def users_of_scope(module: Module, scope: int) -> set[str]:
    """As `users_of_matrices`, of those of this scope."""
    return users(module, lambda text: MENTION in text and any(m[2] == str(scope) for m in TYPE.finditer(text)))


def users(module: Module, does: Callable[[str], bool]) -> set[str]:
    """The names of functions of whose text this is true, and of those that call one."""
    texts = {f.name: "\n".join([str(f.head), *(item.text for item in f.instructions())]) for f in module.functions}
    users = {name for name, text in texts.items() if does(text)}
    calls = {name: names(text) for name, text in texts.items()}
    while True:
        more = {name for name, called in calls.items() if called & users} - users
        if not more:
            return users
        users |= more


def used(module: Module) -> list[Function]:
    """Kernels and what they call, in order; all functions where there is no kernel."""
    calls = {f.name: set().union(*(names(item.text) for item in f.instructions())) for f in module.functions}
    found = {f.name for f in module.functions if f.is_kernel}
    while True:
        more = {name for caller in found for name in calls[caller] if name in calls} - found
        if not more:
            return [f for f in module.functions if f.name in found or not found]
        found |= more


def tiles(module: Module) -> dict[str, int]:
    """For how many subgroups of a work-group there is room in the tiles that our own IR stages matrices through, by
    kernel; the others do not stage any."""
    rooms = {name: int(match[1]) for line in module.globals for name in names(line) if (match := _TILES.match(name))}
    uses = {f.name: set().union(*(names(item.text) for item in f.instructions())) for f in module.functions}
    found = {}
    for function in module.functions if rooms else ():
        reached, waiting = set[str](), {function.name}
        while waiting:
            reached |= waiting
            waiting = set().union(*(uses.get(name, set()) for name in waiting)) - reached
        if function.is_kernel and reached & rooms.keys():
            found[function.name] = min(rooms[name] for name in reached & rooms.keys())
    return found


def names(text: str) -> set[str]:
    """Of the functions and variables in a text."""
    return {match[0] or match[1] for match in re.findall(r"@(?:\"([^\"]*)\"|([-\w.$]+))", text)}


def metadata(module: Module, function: Function, kind: str) -> list[str] | None:
    """The operands of a function's metadata node of this kind."""
    match = re.search(rf"!{kind} (!\d+)", function.head.after)
    if match is None:
        return None
    line = next((line for line in module.rest if line.startswith(f"{match[1]} = ")), "")
    inner = re.fullmatch(r"!\d+ = (?:distinct )?!\{(.*)\}", line)
    return re.findall(r"!?\"[^\"]*\"|[^,]+", inner[1].strip()) if inner else None


def numbers(module: Module, function: Function, kind: str) -> list[int]:
    values = [re.fullmatch(r"\s*i32 (-?\d+)\s*", part) for part in metadata(module, function, kind) or []]
    return [int(match[1]) for match in values if match]


def asked_size(module: Module, function: Function) -> int | None:
    """The subgroup size that the kernel asks for."""
    return next(iter(numbers(module, function, "intel_reqd_sub_group_size")), None)


def work_group(module: Module, function: Function) -> tuple[int, int, int] | None:
    """The size of work-groups that the kernel asks for."""
    sizes = numbers(module, function, "reqd_work_group_size")
    return (sizes[0], sizes[1], sizes[2]) if len(sizes) == 3 else None


def _parameters(module: Module, function: Function) -> list[KernelParameter]:
    names = _strings(module, function, "kernel_arg_type")
    return [
        _parameter(argument, names[n] if names and n < len(names) else None)
        for n, argument in enumerate(function.head.arguments)
    ]


def _strings(module: Module, function: Function, kind: str) -> list[str] | None:
    parts = metadata(module, function, kind)
    return None if parts is None else [part.strip().lstrip("!").strip('"') for part in parts if '"' in part]


def _parameter(argument: Argument, said: str | None) -> KernelParameter:
    """What the types tell; integers count as signed where no metadata says otherwise."""
    name = unquoted(argument.value) if argument.value else ""
    pointer = _POINTER.fullmatch(argument.type)
    if pointer is None:
        vector = _VECTOR.fullmatch(argument.type)
        element, count = (vector[2], int(vector[1])) if vector else (argument.type, 1)
        spelling = said or _OPENCL_C.get(element, element) + (str(count) if vector else "")
        size = _BITS.get(element, 64) // 8 * (4 if count == 3 else count)
        return KernelParameter(name, spelling, "private", _scalar(spelling), False, size)
    record = re.search(r"\bbyval\((.*)\)", argument.attributes)
    if record is not None:
        inner = tokens(record[1])
        return KernelParameter(name, said or "".join(inner[: type_end(inner, 0)]), "private", None, False, 0)
    space = _SPACES.get(pointer[1] or "0", "global")
    spelling = said or "void*"
    return KernelParameter(name, spelling, space, _scalar(spelling.rstrip("*")), True, 8)


def _scalar(spelling: str) -> str | None:
    base = spelling.strip().rstrip("0123456789")
    known = {*_OPENCL_C.values(), "uchar", "ushort", "uint", "ulong", "size_t"}
    return base if base in known else None
