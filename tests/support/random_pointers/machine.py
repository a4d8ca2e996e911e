"""The model of a work-item's memory, which executes kernels and detects undefined behaviour."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from .layout import Type, aliasing, meaningful


class Undefined(Exception):
    """The kernel's behaviour is undefined, or depends on padding."""


class Address(NamedTuple):
    """The value of a pointer: an object and an offset in bytes. The object of a null pointer is ""."""

    base: str
    offset: int


@dataclass(frozen=True)
class Object:
    """An object in memory.

    kind: its type; for an argument, an array of the pointee.
    space: private, local, constant or global.
    is_argument: the kernel has a pointer to the first element, with the object's name.
    align: the alignment that its address has at least.
    is_initialised: its contents are defined at the start of the kernel.
    declaration: C text that declares it; empty for an argument.
    """

    name: str
    kind: Type
    space: str
    is_argument: bool
    align: int
    is_initialised: bool
    declaration: str = ""


@dataclass
class Machine:
    """The state of a work-item.

    memory: object -> its bytes.
    known: object -> 1 for each byte with a defined value.
    pointers: pointer variable -> its value.
    counters: loop variable -> its value.
    inputs: the numbers in the kernel's argument `in`.
    data: the numbers in the kernel's argument `data`; `used` of them were read.
    out: the numbers that the kernel wrote.
    tags: object -> for each byte, the type of its accesses; None if objects may be accessed as any type.
    """

    objects: dict[str, Object]
    inputs: list[int]
    data: list[int]
    memory: dict[str, bytearray] = field(default_factory=dict)
    known: dict[str, bytearray] = field(default_factory=dict)
    pointers: dict[str, Address] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    out: list[int] = field(default_factory=list)
    used: int = 0
    tags: dict[str, list[str]] | None = None

    def add(self, declared: Object, contents: bytes) -> None:
        self.memory[declared.name] = bytearray(contents)
        mask = meaningful(declared.kind) if declared.is_initialised else bytes(declared.kind.size)
        self.known[declared.name] = bytearray(mask)
        if self.tags is not None:
            self.tags[declared.name] = list(aliasing(declared.kind))

    def copy(self) -> Machine:
        memory = {name: bytearray(old) for name, old in self.memory.items()}
        known = {name: bytearray(old) for name, old in self.known.items()}
        state = dict(self.pointers), dict(self.counters), list(self.out), self.used
        tags = None if self.tags is None else {name: list(old) for name, old in self.tags.items()}
        return Machine(self.objects, self.inputs, self.data, memory, known, *state, tags)

    def access(self, address: Address, kind: Type) -> None:
        """Check that the type of an access does not conflict with those of other accesses."""
        if self.tags is None:
            return
        self.reserve(address, kind.size)
        tags = self.tags[address.base]
        for i, tag in enumerate(aliasing(kind), address.offset):
            if tag and tags[i] not in ("", tag):
                raise Undefined("aliasing")
            tags[i] = tags[i] or tag

    def check_alignment(self, address: Address, align: int) -> Address:
        if address.base and (self.objects[address.base].align % align or address.offset % align):
            raise Undefined("alignment")
        return address

    def move(self, address: Address, size: int) -> Address:
        """Return the address `size` bytes further, which must be in the object or at its end."""
        if not address.base:
            raise Undefined("null pointer")
        if not 0 <= address.offset + size <= len(self.memory[address.base]):
            raise Undefined("out of bounds")
        return Address(address.base, address.offset + size)

    def reserve(self, address: Address, size: int) -> None:
        """Check that an access to so many bytes is inside the object."""
        if not address.base or address.offset + size > len(self.memory[address.base]) or address.offset < 0:
            raise Undefined("out of bounds")

    def load(self, address: Address, mask: bytes) -> bytes:
        """Return the bytes, of which those in the mask must be defined."""
        self.reserve(address, len(mask))
        part = slice(address.offset, address.offset + len(mask))
        if any(m and not k for m, k in zip(mask, self.known[address.base][part], strict=True)):
            raise Undefined("indeterminate value")
        return bytes(self.memory[address.base][part])

    def store(self, address: Address, contents: bytes, mask: bytes) -> None:
        """Store the bytes in the mask; the others must be padding of the object."""
        self.reserve(address, len(mask))
        declared = self.objects[address.base]
        if declared.space == "constant":
            raise Undefined("store to constant memory")
        padding = meaningful(declared.kind)
        for i, (byte, is_stored) in enumerate(zip(contents, mask, strict=True), address.offset):
            if not is_stored and padding[i]:
                raise Undefined("padding over an object")
            if is_stored and padding[i]:
                self.memory[address.base][i] = byte
                self.known[address.base][i] = 1
