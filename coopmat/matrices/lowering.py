"""The library lowerings: which strategies there are, and the text of the functions that a program needs.

A lowered matrix is an array of components in private memory, `storage_components` of them aligned to
`storage_alignment` bytes, passed by pointer. Collect the `Instance`s that a program calls, then `instantiate` them:

    add = Binary(matrix, "add")
    text = instantiate(STRATEGIES["one"], 1, [add])       # OpenCL C that defines add.function_name

Strides count components; a program whose pointer is to something else scales its stride first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from .instances import (
    Binary,
    Convert,
    Coord,
    Fill,
    Get,
    Instance,
    Length,
    Load,
    MultiplyAdd,
    Negate,
    NotSupportedYet,
    Parameter,
    ScalarMultiply,
    Set,
    Signature,
    Store,
)
from .strategies import STRATEGIES, Strategy, Target, storage_alignment, storage_components
from .subgroup_builtins import SubgroupBuiltin, substitute_builtin

__all__ = [
    "STRATEGIES",
    "Binary",
    "Convert",
    "Coord",
    "Fill",
    "Get",
    "Instance",
    "Length",
    "Load",
    "MultiplyAdd",
    "Negate",
    "NotSupportedYet",
    "Parameter",
    "ScalarMultiply",
    "Set",
    "Signature",
    "Store",
    "Strategy",
    "SubgroupBuiltin",
    "instantiate",
    "library_sections",
    "storage_alignment",
    "storage_components",
    "substitute_builtin",
]


def instantiate(strategy: Strategy, sub_group_size: int, instances: Iterable[Instance]) -> str:
    """OpenCL C that defines every instance's function once, ordered by name; self-contained, no includes."""
    target = Target(strategy, sub_group_size)
    functions = {instance.function_name: instance for instance in instances}
    parts = [library_sections(strategy.file)["PROLOGUE"]]
    parts += [_instance_text(functions[name], target) for name in sorted(functions)]
    return "\n".join(parts)


def _instance_text(instance: Instance, target: Target) -> str:
    macros = instance.definitions(target)
    section = library_sections(instance.file(target.strategy))[macros.pop("OP")]
    macros["NAME"] = instance.function_name
    lines = [f"#define CM_{name} {body}" for name, body in macros.items()]
    undefined = [f"#undef CM_{name.partition('(')[0]}" for name in macros]
    return "\n".join([*lines, section.rstrip("\n"), *undefined, ""])


_SECTION = re.compile(r"^#ifdef CM_(?:OP_)?(\w+)\b[^\n]*\n(.*?)^#endif // CM_(?:OP_)?\1\n", re.MULTILINE | re.DOTALL)


@cache
def library_sections(file: str) -> Mapping[str, str]:
    """The templates of a library file, by section name."""
    text = (files(__package__) / "library" / file).read_text(encoding="utf-8")
    return MappingProxyType({match[1]: match[2] for match in _SECTION.finditer(text)})
