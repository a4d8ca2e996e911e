"""The rows of the builtins table, and the small language of their signatures.

A signature reads like a declaration, followed by what its letters range over:

    Tn fma(Tn, Tn, Tn) for T in floats, n in any

- An element is a scalar type's name or a letter: `T`; `S` and `U`, the signed and unsigned integers as wide as T;
  `W`, the integer twice as wide as T, of its signedness.
- A count follows the element: `n` or `m` (where the count is 1: the scalar) or digits, as in `uint4`.
- A pointer is `SPACE [const] [volatile] ELEMENT *`; SPACE is an address space or one of the sets in `SPACE_SETS`.
  Pointers with the same word lie in the same space, those with different words each in its own.
- `A` is the atomic type of T, `F` an atomic_flag; `event_t` and `sampler_t` are themselves.
- `I` is an image type; its set has words such as `ro:image2d_t`, `wo:image2d_t` and `rw:image2d_t`.
- `for` binds T, n and m to sets: the words of `ELEMENT_SETS` and `COUNT_SETS`, scalar types or digits, in any mix.
- `needs NAME ...` at the end: these overloads need more names of `features` than their row.

A signature stands for one overload per choice of letters and address space.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from ...diagnostics import InternalError
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
    """One builtin function.

    `section` is where the OpenCL C 3.0 specification (or the named extension) defines it. `status` is SUPPORTED or
    NOT_YET; a row that is not supported may have no signatures. `lowering` names the row of the lowering table
    (`ir/lower/builtins.py`): "call" is a call of the Itanium-mangled name, "analysis" says that semantic analysis makes
    a node of its own of the call. `convergent`: the call must not be made control-dependent on more conditions than
    it is. `pure`: the result depends on the argument values only. `spirv`: the least SPIR-V version that has it.
    `needs`: names of `features`, separated by blanks, that must all be on. `extensions`: those of SPIR-V that
    its code needs. `subgroup`: it is about the subgroup, which a strategy may replace by one of its own.
    `power_of_two`: the number of the parameter whose argument must be a constant power of two.
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
    """One function that a call may mean."""

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
    """One choice: the element T, the counts n and m, and the address space that each SPACE word stands for."""

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
    """Return one row for each of the space-separated `names`; `@` in a signature stands for the name.

    `columns` are the other fields of `Builtin`.
    """
    return tuple(Builtin(name, tuple(s.replace("@", name) for s in signatures), **columns) for name in names.split())
