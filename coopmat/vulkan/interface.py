"""Vulkan's C interface for ctypes, from the tables in interface.txt: structures, features, limits, functions, results.

A structure is an attribute of this module, under its name in C: `interface.VkBufferCreateInfo(size=16)`.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

_TYPES: dict[str, Any] = {
    "u": ctypes.c_uint32,
    "i": ctypes.c_int32,
    "q": ctypes.c_uint64,
    "z": ctypes.c_size_t,
    "p": ctypes.c_void_p,
    "f": ctypes.c_float,
    "c": ctypes.c_char,
    "b": ctypes.c_uint8,
    "r": ctypes.c_int32,
    "-": None,
}


def _tables() -> dict[str, list[list[str]]]:
    """Return section -> rows of interface.txt, each split at its blanks."""
    text = Path(__file__).with_name("interface.txt").read_text(encoding="utf-8").replace("\n ", " ")
    sections: dict[str, list[list[str]]] = {}
    for line in text.splitlines():
        if line.startswith("["):
            rows = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            rows.append(line.split())
    return sections


def _type(text: str) -> Any:
    name, _, count = text.partition("*")
    return _TYPES[name] * int(count) if count else _TYPES[name]


def _structure(name: str, stype: str, members: list[str]) -> Any:
    """Return the ctypes class of a structure, and add it to the types of members."""
    first = [] if stype == "-" else ["sType:u", "pNext:p"]
    body: dict[str, Any] = {"_fields_": [(m, _type(t)) for m, t in (word.split(":") for word in [*first, *members])]}
    if first:
        body["STYPE"] = int(stype)
        body["__init__"] = lambda self, **values: ctypes.Structure.__init__(self, **{"sType": int(stype), **values})
    _TYPES[name] = type(name, (ctypes.Structure,), body)
    return _TYPES[name]


class FeatureStructure:
    """A structure of device features.

    name: its name in C.
    members: the names of its members.
    c_type: its ctypes class.
    """

    def __init__(self, name: str, stype: str, origin: str, members: list[str]) -> None:
        self.name, self.members, self._origin = name, members, origin
        self.c_type = _structure(name, stype, [f"{member}:u" for member in members])

    def exists(self, version: tuple[int, int], extensions: frozenset[str]) -> bool:
        """Return whether a device with this API version and these extensions has the structure."""
        if self._origin.startswith("VK_"):
            return self._origin in extensions
        return version >= tuple(map(int, self._origin.split(".")))


_rows = _tables()
for _row in _rows["structures"]:
    _structure(_row[0], _row[1], _row[2:])
RESULTS: Mapping[int, str] = MappingProxyType({int(row[0]): " ".join(row[1:]) for row in _rows["results"]})
FUNCTIONS: Mapping[str, Any] = MappingProxyType(
    {name: (result, *map(_TYPES.get, result + letters)) for name, result, letters in _rows["functions"]}
)
"""Name -> the letter of the result, and the ctypes types of the result and of the parameters."""
LIMITS: Mapping[str, tuple[Any, int, int]] = MappingProxyType(
    {name: (_TYPES[letter], int(offset), int(count)) for name, letter, offset, count in _rows["limits"]}
)
"""Name -> type, offset in VkPhysicalDeviceLimits, and number of elements."""
FEATURES: Mapping[str, FeatureStructure] = MappingProxyType(
    {row[0]: FeatureStructure(row[0], row[1], row[2], row[3:]) for row in _rows["features"]}
)
"""Name in C -> structure of features."""


def __getattr__(name: str) -> Any:
    if name not in _TYPES:
        raise AttributeError(name)
    return _TYPES[name]


def chain(structures: list[Any]) -> int | None:
    """Link structures by their `pNext`, and return the address of the first; None for an empty list."""
    for first, second in itertools.pairwise(structures):
        first.pNext = ctypes.addressof(second)
    return ctypes.addressof(structures[0]) if structures else None
