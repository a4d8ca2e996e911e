"""Addresses within objects that hold matrices: what lies there, and the members that offsets in bytes stand for.

Optimisation counts bytes as if a matrix had eight (`Storage.opaque_layout`); storage is of another size, so that an
offset has to become a path of members again. Where that cannot be done the address is not to be used for matrices.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .operations import TYPE
from .storage import Storage
from .text import Function, Instruction, Malformed, operands, parse_argument, tokens

_NUMBER = re.compile(r"i\d+ (-?\d+)")
_CHOICES = ("phi", "select", "freeze", "addrspacecast", "bitcast")


@dataclass(frozen=True, slots=True)
class Address:
    """`offset` bytes behind `root`, which is the address of a `kind`. `kind` is empty where it is not known."""

    root: str
    kind: str
    offset: int = 0


class Addresses:
    """Those of one function, before it is rewritten."""

    def __init__(self, function: Function, storage: Storage) -> None:
        self.storage = storage
        self.known: dict[str, Address] = {}
        # Offsets in bytes from what is not known: may lead anywhere.
        self.odd: set[str] = set()
        for argument in function.head.arguments:
            match = re.search(r"\b(?:byref|sret|byval)\((.*?)\)(?: |$)", argument.attributes)
            if match and storage.carries(match[1]):
                self.known[argument.value] = Address(argument.value, match[1])
        count = -1
        while count != len(self.known) + len(self.odd):
            count = len(self.known) + len(self.odd)
            for item in function.instructions():
                if item.result is not None and item.result not in self.known:
                    self.follow(item.result, item)

    def follow(self, result: str, item: Instruction) -> None:
        if item.opcode == "alloca":
            kind = operands(item.text)[0]
            if self.storage.carries(kind):
                self.known[result] = Address(result, kind)
        elif item.opcode == "getelementptr":
            self.element(result, item)
        elif item.opcode in _CHOICES and "ptr" in item.text:
            named = re.findall(r"%(?:\"[^\"]*\"|[-\w.$]+)", item.text)
            found = {self.known[name].kind for name in named if name in self.known and not self.known[name].offset}
            if any(name in self.known for name in named):
                self.known[result] = Address(result, found.pop() if len(found) == 1 else "")
            if any(name in self.odd for name in named):
                self.odd.add(result)

    def element(self, result: str, item: Instruction) -> None:
        kind, address, *indices = operands(item.text)
        base = parse_argument(tokens(address)).value
        if self.storage.carries(kind):
            self.known[result] = Address(result, self.inner(kind, indices[1:]))
            return
        here, number = self.known.get(base), _NUMBER.fullmatch(indices[0]) if len(indices) == 1 else None
        if here is None or not here.kind or number is None:
            self.odd.add(result)
            return
        offset = here.offset + int(number[1]) * self.storage.opaque_layout(kind)[0]
        self.known[result] = Address(here.root, here.kind, offset)

    def inner(self, kind: str, indices: list[str]) -> str:
        """What a getelementptr leads to; empty for what has no such member."""
        for index in indices:
            members = self.storage.members(kind)
            number = _NUMBER.fullmatch(index)
            at = int(number[1]) if number and len(members) > 1 else 0
            if at >= len(members):
                return ""
            kind = members[at][0]
        return kind

    def path(self, address: Address) -> tuple[str, list[int]] | None:
        """The indices from the root to where `address` is, and what lies there. None: no member starts there."""
        kind, rest = address.kind, address.offset
        size = self.storage.opaque_layout(kind)[0]
        first, rest = divmod(rest, size) if TYPE.fullmatch(kind) else (0, rest)
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

    def kind_at(self, value: str) -> str:
        """What lies at an address; empty where that is not known."""
        address = self.known.get(value)
        found = self.path(address) if address is not None and address.kind else None
        return found[0] if found is not None else ""

    def of_size(self, value: str, size: int) -> str:
        """What has this size (as LLVM counts) at an address: the object there, or what it starts with."""
        kind = self.kind_at(value)
        while kind and self.storage.opaque_layout(kind)[0] != size:
            members = self.storage.members(kind)
            kind = members[0][0] if members else ""
        return kind

    def matrix_at(self, value: str) -> str:
        """The type of the matrix that starts at an address; empty: there is none, or it is not known."""
        kind = self.kind_at(value)
        while kind and not TYPE.fullmatch(kind):
            members = self.storage.members(kind)
            kind = members[0][0] if members else ""
        return kind

    def check(self, value: str, source: str) -> None:
        """Raises Malformed where a matrix would be accessed through an address that nothing is known of."""
        if value in self.odd:
            message = "an address that counts the bytes of an object with matrices is not supported yet"
            raise Malformed("ir-not-supported", message, source)
