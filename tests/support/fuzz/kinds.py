"""The types in random programs, and the implicit conversions of OpenCL C between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

INTEGERS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
FLOATS = ("half", "float", "double")
SIZES = (1, 2, 3, 4, 8, 16)
BYTES = {"bool": 1, "char": 1, "short": 2, "int": 4, "long": 8, "half": 2, "float": 4, "double": 8}
SIGNED_OF_BYTES = {1: "char", 2: "short", 4: "int", 8: "long"}


@dataclass(frozen=True)
class Kind:
    """A scalar (size 1) or vector type."""

    element: str
    size: int = 1

    def __str__(self) -> str:
        return self.element if self.size == 1 else f"{self.element}{self.size}"

    @property
    def is_float(self) -> bool:
        return self.element in FLOATS

    @property
    def is_unsigned(self) -> bool:
        return self.element[0] == "u"

    @property
    def unsigned(self) -> Kind:
        return self if self.is_unsigned else Kind("u" + self.element, self.size)

    @property
    def signed(self) -> Kind:
        return Kind(self.element.removeprefix("u"), self.size)

    @property
    def width(self) -> int:
        """The size of an element in bytes."""
        return BYTES[self.element.removeprefix("u")]

    @property
    def mask(self) -> Kind:
        """The result type of a comparison of vectors of this kind."""
        return Kind(SIGNED_OF_BYTES[self.width], self.size)

    @property
    def scalar(self) -> Kind:
        return Kind(self.element)


@dataclass(frozen=True)
class Record:
    """A type `struct NAME`. Members of a packed struct are not addressable."""

    name: str
    members: tuple[tuple[str, Type], ...]
    packed: bool = False

    def __str__(self) -> str:
        return f"struct {self.name}"


@dataclass(frozen=True)
class Array:
    """An array type; `count` is a power of two, so that a mask keeps any index inside."""

    element: Type
    count: int


@dataclass(frozen=True)
class Pointer:
    """A pointer to the first of `count` objects, a power of two, in an address space.

    space: "private", "const global", ..., or "generic", for which no qualifier is written.
    """

    space: str
    target: Type
    count: int = 1


Type: TypeAlias = "Kind | Record | Array | Pointer"
BOOL, INT, UINT, LONG, ULONG = (Kind(name) for name in ("bool", "int", "uint", "long", "ulong"))
KINDS = tuple(Kind(element, size) for element in (*INTEGERS, *FLOATS) for size in SIZES)
INTEGER_KINDS = tuple(kind for kind in KINDS if not kind.is_float)
VECTORS = tuple(kind for kind in KINDS if kind.size > 1)


def promoted(element: str) -> str:
    return "int" if element in ("bool", "char", "uchar", "short", "ushort") else element


def usual(left: str, right: str) -> str:
    """Return the common type of two scalar types by the usual arithmetic conversions (OpenCL C 3.0, 6.2.6)."""
    for name in ("double", "float", "half"):
        if name in (left, right):
            return name
    return max((promoted(left), promoted(right)), key=("int", "uint", "long", "ulong").index)


def declaration(type_: Type, inner: str) -> str:
    """Return a declaration of `inner` with the type, without address space and initializer."""
    if isinstance(type_, Array):
        inner = f"({inner})" if inner.startswith("*") else inner
        return declaration(type_.element, f"{inner}[{type_.count}]")
    if isinstance(type_, Pointer):
        if isinstance(type_.target, Pointer):
            return declaration(type_.target, f"{type_.space} *{inner}")
        return f"{type_.space.removesuffix('generic')} {declaration(type_.target, f'*{inner}')}".lstrip()
    return f"{type_} {inner}"


# A step into an object: ("member", name), ("index", count), ("lane", size).
Step: TypeAlias = "tuple[str, str | int]"


@dataclass(frozen=True)
class Path:
    """A part of an object.

    steps: the path from the object to the part.
    space: the part's address space; None for the object's.
    addressable: whether the part's address may be taken.
    """

    type: Type
    steps: tuple[Step, ...] = ()
    space: str | None = None
    addressable: bool = True

    def after(self, step: Step, space: str | None = None, addressable: bool = True) -> Path:
        found = self.space if self.space is not None else space
        inner = self.space is not None or addressable
        return Path(self.type, (step, *self.steps), found, self.addressable and inner)


@lru_cache(maxsize=4096)
def paths(type_: Type) -> tuple[Path, ...]:
    """Return all parts of an object, the object first, also parts reached through pointers."""
    return tuple(_paths(type_))


def _paths(type_: Type) -> Iterator[Path]:
    yield Path(type_)
    if isinstance(type_, Record):
        for name, member in type_.members:
            yield from (path.after(("member", name), addressable=not type_.packed) for path in paths(member))
    elif isinstance(type_, Array):
        yield from (path.after(("index", type_.count)) for path in paths(type_.element))
    elif isinstance(type_, Pointer):
        yield from (path.after(("index", type_.count), type_.space) for path in paths(type_.target))
    elif type_.size > 1:
        yield Path(type_.scalar, (("lane", type_.size),), addressable=False)
