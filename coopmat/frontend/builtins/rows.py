"""The rows of the tables of builtins, and the notation of their signatures.

A signature reads like a declaration, followed by the ranges of its letters:

    Tn fma(Tn, Tn, Tn) for T in floats, n in any

- An element is the name of a scalar type or a letter. `T` is a type of a set. `S` and `U` are the signed and the
  unsigned integer type as wide as T. `W` is the integer type twice as wide as T, with the same signedness.
- A count follows the element: `n` or `m`, or digits, as in `uint4`. Count 1 means the scalar.
- A pointer is `SPACE [const] [volatile] ELEMENT *`; SPACE is an address space or one of the sets in `SPACE_SETS`.
  Pointers with the same word are in the same address space; pointers with different words vary independently.
- `A` is the atomic type of T, `F` is atomic_flag; `event_t` and `sampler_t` are written as such.
- `I` is an image type; its set has words such as `ro:image2d_t`, `wo:image2d_t` and `rw:image2d_t`.
- `for` gives the sets of T, n and m: words of `ELEMENT_SETS` and `COUNT_SETS`, scalar types or digits, in any mix.
- `needs NAME ...` at the end names `features` that these overloads need besides those of their row.

A signature has one overload for each choice of letters and address spaces.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from ...diagnostics import InternalError
from ..storage_types import STORAGE_TYPES
from ..types import (
    EVENT,
    FLOATS,
    INT,
    INTEGERS,
    SAMPLER,
    SCALARS,
    SMALL_FLOATS,
    VECTOR_SIZES,
    VOID,
    AddressSpace,
    AtomicType,
    ImageType,
    PointerType,
    Qualifiers,
    ScalarType,
    Type,
    integer_type,
    with_count,
)

SUPPORTED = "supported"
NOT_YET = "not supported yet"

ELEMENT_SETS: dict[str, tuple[ScalarType, ...]] = {
    "integers": INTEGERS,
    "floats": FLOATS,
    "numbers": (*INTEGERS, *FLOATS),
    "small": SMALL_FLOATS,
    "storage": STORAGE_TYPES,
}
COUNT_SETS: dict[str, tuple[int, ...]] = {"any": (1, *VECTOR_SIZES), "vectors": VECTOR_SIZES}
SPACE_SETS: dict[str, tuple[AddressSpace, ...]] = {
    **{str(space): (space,) for space in AddressSpace},
    "writable": (AddressSpace.PRIVATE, AddressSpace.LOCAL, AddressSpace.GLOBAL, AddressSpace.GENERIC),
    "readable": tuple(AddressSpace),
    "named": (AddressSpace.PRIVATE, AddressSpace.LOCAL, AddressSpace.GLOBAL),
    "shared": (AddressSpace.GLOBAL, AddressSpace.LOCAL),
    "atomic": (AddressSpace.GLOBAL, AddressSpace.LOCAL, AddressSpace.GENERIC),
}


@dataclass(frozen=True, slots=True)
class Builtin:
    """A builtin function, as a row of a family's table.

    section: the section of the OpenCL C 3.0 specification, or the name of the extension, that defines the function.
    status: SUPPORTED or NOT_YET; a row that is not supported may have no signatures.
    lowering: the row of the lowering table (`ir/lower/builtins.py`): "call" calls the function with the Itanium-mangled
      name; for "analysis", semantic analysis replaces the call by a dedicated node.
    convergent: a transformation must not make the call control-dependent on additional conditions.
    pure: the result depends on the argument values only.
    spirv: the lowest SPIR-V version that has the instruction.
    needs: names of `features`, separated by blanks, all of which must be enabled.
    extensions: the SPIR-V extensions that the generated code needs.
    subgroup: whether the function depends on the subgroup; a route with emulated subgroups replaces it.
    power_of_two: the index of the parameter whose argument must be a constant power of two, or None.
    """

    name: str
    signatures: tuple[str, ...]
    section: str
    status: str = SUPPORTED
    lowering: str = "call"
    convergent: bool = False
    pure: bool = False
    spirv: str = "1.0"
    needs: str = ""
    extensions: str = ""
    subgroup: bool = False
    power_of_two: int | None = None

    @property
    def supported(self) -> bool:
        return self.status == SUPPORTED


@dataclass(frozen=True, slots=True)
class Overload:
    """A signature of a builtin with concrete types, which a call can select."""

    name: str
    parameters: tuple[Type, ...]
    result: Type
    lowering: str
    row: Builtin
    needs: str = ""

    def __str__(self) -> str:
        return f"{self.result} {self.name}({', '.join(map(str, self.parameters)) or 'void'})"


_OTHERS: dict[str, Type] = {"void": VOID, "F": AtomicType(INT, flag=True), "event_t": EVENT, "sampler_t": SAMPLER}

_SIGNATURE = re.compile(
    r"(?P<result>\w+) (?P<name>\w+)\((?P<parameters>[^)]*)\)(?: for (?P<sets>.*?))?(?: needs (?P<needs>.*))?"
)
_ELEMENT = re.compile(r"([TSUW]|" + "|".join(sorted(SCALARS, key=len, reverse=True)) + r")([nm]|2|3|4|8|16)?")


@dataclass(frozen=True, slots=True)
class _Letters:
    """A choice for every letter of a signature.

    element: the type T.
    counts: "n" and "m" -> number of components.
    spaces: SPACE word -> address space.
    image: the type I, if the signature has one.
    """

    element: ScalarType
    counts: dict[str, int]
    spaces: dict[str, AddressSpace]
    image: ImageType | None

    def type(self, words: str) -> Type:
        *qualifiers, spelled = words.removesuffix("*").split()
        value = self._value(spelled)
        if not words.endswith("*"):
            return value
        space = self.spaces[qualifiers[0]]
        return PointerType(value, Qualifiers(space, "const" in qualifiers, "volatile" in qualifiers))

    def _value(self, spelled: str) -> Type:
        if spelled == "A":
            return AtomicType(self.element)
        if spelled == "I" and self.image is not None:
            return self.image
        if spelled in _OTHERS:
            return _OTHERS[spelled]
        match = _ELEMENT.fullmatch(spelled)
        if match is None:
            raise InternalError(f"builtins table: cannot read the type '{spelled}'")
        count = match[2] or "1"
        return with_count(self._element(match[1]), self.counts[count] if count in "nm" else int(count))

    def _element(self, spelled: str) -> ScalarType:
        t = self.element
        if spelled == "W":
            return integer_type(t.bits * 2, t.signed)
        if spelled in "SU":
            return integer_type(t.bits, spelled == "S")
        return t if spelled == "T" else SCALARS[spelled]


@cache
def overloads(row: Builtin) -> tuple[Overload, ...]:
    """Return every overload of the row, in the order of its signatures."""
    return tuple(itertools.chain.from_iterable(_expand(row, text) for text in row.signatures))


def _expand(row: Builtin, text: str) -> list[Overload]:
    match = _SIGNATURE.fullmatch(text)
    if match is None or match["name"] != row.name:
        raise InternalError(f"builtins table: cannot read the signature '{text}' of '{row.name}'")
    parameters = [p.strip() for p in match["parameters"].split(",") if p.strip() not in ("", "void")]
    items = []
    for letters in _choices(match["sets"] or "", parameters):
        types = tuple(letters.type(p) for p in parameters)
        items.append(Overload(row.name, types, letters.type(match["result"]), row.lowering, row, match["needs"] or ""))
    return items


def _choices(sets: str, parameters: list[str]) -> list[_Letters]:
    elements: list[ScalarType] = [INT]
    images: list[ImageType | None] = [None]
    counts: dict[str, list[int]] = {"n": [1], "m": [1]}
    for clause in filter(None, sets.split(", ")):
        letter, words = clause.split(" in ")
        if letter == "T":
            elements = [t for word in words.split() for t in ELEMENT_SETS.get(word) or (SCALARS[word],)]
        elif letter == "I":
            images = [_image(word) for word in words.split()]
        else:
            counts[letter] = [n for word in words.split() for n in COUNT_SETS.get(word) or (int(word),)]
    keys = list(dict.fromkeys(p.split()[0] for p in parameters if p.endswith("*")))
    spaces = [dict(zip(keys, choice, strict=True)) for choice in itertools.product(*(SPACE_SETS[w] for w in keys))]
    return [
        _Letters(element, {"n": n, "m": m}, choice, image)
        for choice, image, element, n, m in itertools.product(spaces, images, elements, counts["n"], counts["m"])
    ]


_ACCESSES = {"ro": "read_only", "wo": "write_only", "rw": "read_write"}


def _image(word: str) -> ImageType:
    access, _, name = word.partition(":")
    return ImageType(name, _ACCESSES[access])


def rows(names: str, *signatures: str, **columns: Any) -> tuple[Builtin, ...]:
    """Return one row for each of the space-separated `names`; `@` in a signature is replaced by the name.

    `columns` are the other fields of `Builtin`.
    """
    return tuple(Builtin(name, tuple(s.replace("@", name) for s in signatures), **columns) for name in names.split())
