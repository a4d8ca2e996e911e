"""Addresses within objects that contain matrices: the type of the object at an address, and the path to it.

LLVM's optimizations turn paths of members into offsets in bytes, as if a matrix had 8 bytes
(`Storage.opaque_layout`). The storage of a lowered matrix has another size, so that such an offset must become a path
again. If that is impossible, matrices cannot be accessed through the address.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from .operations import TYPE
from .storage import Storage
from .text import Function, Instruction, Malformed, operands, parse_argument, parse_call, tokens

_NUMBER = re.compile(r"i\d+ (-?\d+)")
LOST = "an offset in bytes into an unknown object is not supported yet in a module whose objects contain matrices"
_BYTES = re.compile(r"(?:\[\d+ x )*i8\]*")
_PRIVATE = ("ptr", "ptr addrspace(4)")
_POINTER_CAST = re.compile(r"inttoptr .* to ptr(?: addrspace\(4\))?")
_INCOMING = re.compile(r"\[ ([^\[\]]+?), %")
_CHOICES = ("phi", "select", "freeze", "addrspacecast", "bitcast")


@dataclass(frozen=True, slots=True)
class Address:
    """An address.

    root: the value that points to the beginning of the object.
    kind: the type of the object at `root`; empty if unknown.
    offset: the offset from `root` in bytes.
    """

    root: str
    kind: str
    offset: int = 0


class Addresses:
    """The addresses in one function, found before the function is rewritten.

    by_name: value -> its address, for pointers into objects with matrices.
    odd: results of a getelementptr that may be at any offset in an object with matrices; see `check`.
    unknown: pointers that may point to any object in private memory.
    plain: parameters that point to no object with matrices.
    """

    def __init__(self, function: Function, storage: Storage, plain: Collection[str] = ()) -> None:
        self.storage = storage
        self.by_name: dict[str, Address] = {}
        # No matrix may be accessed through these pointers.
        self.odd: set[str] = set()
        # For example, parameters, and pointers that were loaded.
        self.unknown: set[str] = set()
        for argument in function.head.arguments:
            match = re.search(r"\b(?:byref|sret|byval)\((.*?)\)(?: |$)", argument.attributes)
            if match and storage.carries(match[1]):
                self.by_name[argument.value] = Address(argument.value, match[1])
            elif argument.type in _PRIVATE and argument.value not in plain and not match:
                self.unknown.add(argument.value)
        count = -1
        while count != len(self.by_name) + len(self.odd) + len(self.unknown):
            count = len(self.by_name) + len(self.odd) + len(self.unknown)
            for item in function.instructions():
                if item.result is not None and item.result not in self.by_name:
                    self.follow(item.result, item)

    def follow(self, result: str, item: Instruction) -> None:
        if item.opcode == "alloca":
            kind = operands(item.text)[0]
            if self.storage.carries(kind):
                self.by_name[result] = Address(result, kind)
        elif item.opcode == "getelementptr":
            self.element(result, item)
        elif item.opcode in _CHOICES and "ptr" in item.text:
            choices = _chosen(item)
            found = [self.by_name[name] for name in choices if name in self.by_name]
            kinds = {address.kind for address in found if not address.offset}
            if found:
                self.by_name[result] = Address(result, kinds.pop() if len(kinds) == 1 else "")
            if any(name in self.odd for name in choices):
                self.odd.add(result)
            if any(name in self.unknown for name in choices):
                self.unknown.add(result)
        elif _gives_pointer(item):
            self.unknown.add(result)

    def element(self, result: str, item: Instruction) -> None:
        kind, address, *indices = operands(item.text)
        base = parse_argument(tokens(address)).value
        if self.storage.carries(kind):
            self.by_name[result] = Address(result, self.inner(kind, indices[1:]))
            return
        outer, number = self.by_name.get(base), _NUMBER.fullmatch(indices[0]) if len(indices) == 1 else None
        if outer is None or not outer.kind or number is None:
            self.odd.add(result)
            if outer is not None or base in self.unknown:
                self.unknown.add(result)
            return
        offset = outer.offset + int(number[1]) * self.storage.opaque_layout(kind)[0]
        self.by_name[result] = Address(outer.root, outer.kind, offset)

    def inner(self, kind: str, indices: list[str]) -> str:
        """Return the type of the member that a getelementptr's indices select; empty if the type lacks the member."""
        for index in indices:
            members = self.storage.members(kind)
            number = _NUMBER.fullmatch(index)
            at = int(number[1]) if number and len(members) > 1 else 0
            if at >= len(members):
                return ""
            kind = members[at][0]
        return kind

    def path(self, address: Address) -> tuple[str, list[int]] | None:
        """Return the type of the member at `address`, and its indices from the root; None if no member starts there."""
        kind, rest = address.kind, address.offset
        size = self.storage.opaque_layout(kind)[0]
        first, rest = divmod(rest, size) if size else (0, rest)
        indices = [first]
        while rest:
            members = self.storage.members(kind)
            if not members or not 0 <= rest < self.storage.opaque_layout(kind)[0]:
                return None
            size = self.storage.opaque_layout(members[0][0])[0]
            if kind.startswith("["):
                at, offset = rest // size, rest // size * size
            else:
                at = max(n for n, (_, offset) in enumerate(members) if offset <= rest)
                offset = members[at][1]
            kind, rest = members[0 if kind.startswith("[") else at][0], rest - offset
            indices.append(at)
        return kind, indices

    def is_plain(self, value: str) -> bool:
        """Return whether a pointer certainly points to no object with matrices."""
        return value not in self.by_name and value not in self.unknown

    def is_lost(self, item: Instruction) -> bool:
        """Return whether a value may be an offset in bytes into an object that has matrices and other members."""
        if not self.storage.mixed or item.opcode != "getelementptr" or item.result not in self.unknown:
            return False
        return item.result not in self.by_name and bool(_BYTES.fullmatch(operands(item.text)[0]))

    def kind_at(self, value: str) -> str:
        """Return the type of the object or member at an address; empty if unknown."""
        address = self.by_name.get(value)
        path = self.path(address) if address is not None and address.kind else None
        return path[0] if path is not None else ""

    def of_size(self, value: str, size: int) -> str:
        """Return the type at an address that has `size` bytes in LLVM's layout; empty if there is none.

        The object at the address is examined first, then its first member, and so on.
        """
        kind = self.kind_at(value)
        while kind and self.storage.opaque_layout(kind)[0] != size:
            members = self.storage.members(kind)
            kind = members[0][0] if members else ""
        return kind

    def matrix_at(self, value: str) -> str:
        """Return the type of the matrix at an address; empty if there is none, or the object is unknown."""
        kind = self.kind_at(value)
        while kind and not TYPE.fullmatch(kind):
            members = self.storage.members(kind)
            kind = members[0][0] if members else ""
        return kind

    def check(self, value: str, source: str) -> None:
        """Raise Malformed if a matrix is accessed through a pointer in `odd`, whose offset in its object is unknown."""
        if value in self.odd:
            message = "an offset in bytes into an object with matrices is not supported yet"
            raise Malformed("ir-not-supported", message, source)


def _chosen(item: Instruction) -> list[str]:
    """Return the pointers that a phi, select, freeze or cast may yield."""
    if item.opcode == "phi":
        return _INCOMING.findall(item.text)
    texts = operands(item.text)
    if item.opcode == "select":
        return [parse_argument(tokens(text)).value for text in texts[1:3]]
    return [parse_argument(tokens(texts[0])).value.partition(" ")[0]]


def _gives_pointer(item: Instruction) -> bool:
    """Return whether an instruction yields a pointer of unknown origin to private memory."""
    if item.opcode == "load":
        return operands(item.text)[0] in _PRIVATE
    if item.opcode in ("inttoptr", "extractvalue", "extractelement"):
        return item.opcode != "inttoptr" or _POINTER_CAST.match(item.text) is not None
    call = parse_call(item.text) if "call" in item.text else None
    return call is not None and call.type in _PRIVATE
