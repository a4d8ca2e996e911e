"""Types of OpenCL C, and their layout in memory by the rules of the specification (6.3.5, 6.11.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TypeAlias


@dataclass(frozen=True)
class Scalar:
    """A number type; `code` is its letter for the module struct."""

    name: str
    size: int
    code: str

    @property
    def align(self) -> int:
        return self.size

    @property
    def leaves(self) -> tuple[tuple[int, Scalar], ...]:
        return ((0, self),)


@dataclass(frozen=True)
class Vector:
    """A vector type; three components occupy the memory of four."""

    element: Scalar
    count: int

    @property
    def name(self) -> str:
        return f"{self.element.name}{self.count}"

    @property
    def size(self) -> int:
        return self.element.size * (4 if self.count == 3 else self.count)

    @property
    def align(self) -> int:
        return self.size

    @cached_property
    def leaves(self) -> tuple[tuple[int, Scalar], ...]:
        return tuple((i * self.element.size, self.element) for i in range(self.count))


@dataclass(frozen=True)
class Array:
    element: Type
    count: int

    @property
    def name(self) -> str:
        return declare(self, "")

    @property
    def size(self) -> int:
        return self.element.size * self.count

    @property
    def align(self) -> int:
        return self.element.align

    @cached_property
    def leaves(self) -> tuple[tuple[int, Scalar], ...]:
        return tuple((i * self.element.size + at, leaf) for i in range(self.count) for at, leaf in self.element.leaves)


@dataclass(frozen=True)
class Member:
    """A member of a record; `aligned` is the number of its attribute, 0 without one."""

    name: str
    type: Type
    aligned: int = 0


@dataclass(frozen=True, eq=False)
class Record:
    """A struct or union type; `aligned` is the number of its attribute, 0 without one."""

    name: str
    members: tuple[Member, ...]
    is_packed: bool = False
    is_union: bool = False
    aligned: int = 0

    @cached_property
    def offsets(self) -> dict[str, int]:
        """Member -> its offset."""
        found, end = dict[str, int](), 0
        for member in self.members:
            step = self._align_of(member)
            found[member.name] = 0 if self.is_union else -(-end // step) * step
            end = found[member.name] + member.type.size
        return found

    def _align_of(self, member: Member) -> int:
        return max(1 if self.is_packed else member.type.align, member.aligned)

    @cached_property
    def align(self) -> int:
        return max(self.aligned, *(self._align_of(member) for member in self.members))

    @cached_property
    def size(self) -> int:
        end = max(self.offsets[member.name] + member.type.size for member in self.members)
        return -(-end // self.align) * self.align

    @cached_property
    def leaves(self) -> tuple[tuple[int, Scalar], ...]:
        members = self.members[:1] if self.is_union else self.members
        return tuple((self.offsets[m.name] + at, leaf) for m in members for at, leaf in m.type.leaves)

    @property
    def definition(self) -> str:
        """Return the C text that defines the type."""
        marks = ["packed"] * self.is_packed + [f"aligned({self.aligned})"] * bool(self.aligned)
        attribute = f" __attribute__(({', '.join(marks)}))" if marks else ""
        lines = [f"typedef {'union' if self.is_union else 'struct'}{attribute} {{"]
        for member in self.members:
            aligned = f" __attribute__((aligned({member.aligned})))" if member.aligned else ""
            lines.append(f"    {declare(member.type, member.name)}{aligned};")
        return "\n".join([*lines, f"}} {self.name};"])


Type: TypeAlias = Scalar | Vector | Array | Record

INTEGERS = {
    name: Scalar(name, 1 << i // 2, code)
    for i, (name, code) in enumerate(
        zip(("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"), "bBhHiIqQ", strict=True)
    )
}
FLOAT = Scalar("float", 4, "f")
SCALARS = (*INTEGERS.values(), FLOAT)
UCHAR, INT, UINT = INTEGERS["uchar"], INTEGERS["int"], INTEGERS["uint"]


def declare(kind: Type, name: str) -> str:
    """Return the declaration of a variable, without the semicolon."""
    if isinstance(kind, Array):
        return declare(kind.element, f"{name}[{kind.count}]")
    return f"{kind.name} {name}" if name else kind.name


def point(space: str, kind: Type, name: str = "") -> str:
    """Return the declaration of a pointer to the type, or the pointer type if the name is empty."""
    pointer = f"*{name}"
    return f"{space} {declare(kind, f'({pointer})' if isinstance(kind, Array) else pointer)}".strip()


@cache
def meaningful(kind: Type) -> bytes:
    """Return 1 for each byte of the type that is not padding, 0 for padding."""
    mask = bytearray(kind.size)
    for at, leaf in kind.leaves:
        mask[at : at + leaf.size] = b"\1" * leaf.size
    return bytes(mask)


@cache
def aliasing(kind: Type) -> tuple[str, ...]:
    """Return for each byte the type that accesses must have (C99 6.5, paragraph 7), "" for any type.

    Compilers of OpenCL C let vectors, characters and members of unions alias all types.
    """
    if isinstance(kind, Scalar):
        return (kind.name.removeprefix("u") if kind.size > 1 else "",) * kind.size
    if isinstance(kind, Array):
        return aliasing(kind.element) * kind.count
    found = [""] * kind.size
    if isinstance(kind, Record) and not kind.is_union:
        for member in kind.members:
            at = kind.offsets[member.name]
            found[at : at + member.type.size] = aliasing(member.type)
    return tuple(found)


@dataclass(frozen=True)
class Step:
    """A step from an object to a part of it: a member, or an element of an array if `member` is None."""

    member: str | None
    count: int = 0


def paths(kind: Type, steps: tuple[Step, ...] = ()) -> Iterator[tuple[tuple[Step, ...], Type]]:
    """Yield all paths into an object of the type, with the type of the part."""
    yield steps, kind
    if isinstance(kind, Array):
        yield from paths(kind.element, (*steps, Step(None, kind.count)))
    elif isinstance(kind, Record):
        for member in kind.members:
            yield from paths(member.type, (*steps, Step(member.name)))
