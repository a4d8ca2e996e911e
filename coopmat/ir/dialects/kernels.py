"""What a host needs to know of the kernels in a module that did not come from our own front end."""

from __future__ import annotations

import re

from ..kernel_info import KernelInfo, KernelParameter
from .operations import COMPONENTS, MENTION
from .text import Argument, Function, Module, tokens, type_end, unquoted

_SPACES = {"0": "private", "1": "global", "2": "constant", "3": "local", "4": "generic"}
_POINTER = re.compile(r"ptr(?: addrspace\((\d+)\))?")
_OPENCL_C = {"i1": "bool", "i8": "char", "i16": "short", "i32": "int", "i64": "long"}
_OPENCL_C |= {name: component.opencl_c for name, component in COMPONENTS.items() if not component.is_integer}
_BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "half": 16, "bfloat": 16, "float": 32, "double": 64}
_VECTOR = re.compile(r"<(\d+) x (\w+)>")
_UNSIGNED = re.compile(r"u(char|short|int|long)")


def describe(module: Module, strategy: str, sub_group_size: int | None) -> tuple[KernelInfo, ...]:
    """`strategy` is "native" or the lowering's, which decides the size of subgroups: see `KernelInfo`."""
    users = users_of_matrices(module)
    found = []
    for function in module.functions:
        if function.is_kernel:
            uses = function.name in users
            size = 1 if strategy == "one" else asked_size(module, function)
            if size is None and uses and strategy != "native":
                size = sub_group_size
            parameters = tuple(_parameters(module, function))
            found.append(KernelInfo(function.name, parameters, _group(module, function), size, uses))
    return tuple(found)


def users_of_matrices(module: Module) -> set[str]:
    """The names of functions that have to do with matrices, or call one that has."""
    texts = {f.name: "\n".join([str(f.head), *(item.text for item in f.instructions())]) for f in module.functions}
    users = {name for name, text in texts.items() if MENTION in text}
    calls = {
        name: {match[0] or match[1] for match in re.findall(r"@(?:\"([^\"]*)\"|([-\w.$]+))", text)}
        for name, text in texts.items()
    }
    while True:
        more = {name for name, called in calls.items() if called & users} - users
        if not more:
            return users
        users |= more


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


def _group(module: Module, function: Function) -> tuple[int, int, int] | None:
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
