"""Expressions of kernels: the C text, and the function that evaluates it on a Machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .layout import UCHAR, Array, Record, Scalar, Step, Type, Vector, meaningful, point
from .machine import Address, Machine, Undefined


@dataclass(frozen=True)
class Number:
    """An integer that counts elements, or a condition."""

    text: str
    evaluate: Callable[[Machine], int]


@dataclass(frozen=True)
class Pointer:
    """A pointer to `kind`; `space` is the address space of the pointee."""

    text: str
    space: str
    kind: Type
    evaluate: Callable[[Machine], Address]


@dataclass(frozen=True)
class Place:
    """An lvalue of the type `kind`.

    parts: for components of a vector, their offsets; the whole vector begins at the address.
    pointer: the text of the pointer of which this place is the pointee; empty for other places.
    """

    text: str
    space: str
    kind: Type
    evaluate: Callable[[Machine], Address]
    parts: tuple[int, ...] = ()
    pointer: str = ""


@dataclass(frozen=True)
class Value:
    """A value of the type `kind`, which is evaluated to its bytes; vectors of three have no fourth component."""

    text: str
    kind: Type
    evaluate: Callable[[Machine], bytes]


def value_size(kind: Type) -> int:
    return kind.element.size * kind.count if isinstance(kind, Vector) else kind.size


def constant(number: int) -> Number:
    return Number(f"({number})" if number < 0 else str(number), lambda m: number)


def read_input(index: int, sign: int = 1, cast: str = "") -> Number:
    """Return `in[index]`, a number that the compiler does not know."""
    text = f"{cast}in[{index}]"
    return Number(f"(-{text})" if sign < 0 else text, lambda m: sign * m.inputs[index])


def read_counter(name: str) -> Number:
    return Number(name, lambda m: m.counters[name])


def read_pointer(text: str, space: str, kind: Type, key: Callable[[Machine], str]) -> Pointer:
    """Return the value of a pointer variable."""

    def evaluate(m: Machine) -> Address:
        name = key(m)
        if name not in m.pointers:
            raise Undefined("indeterminate pointer")
        return m.pointers[name]

    return Pointer(text, space, kind, evaluate)


def null(space: str, kind: Type) -> Pointer:
    return Pointer(f"(({point(space, kind)})0)", space, kind, lambda m: Address("", 0))


def cast(pointer: Pointer, kind: Type) -> Pointer:
    if pointer.kind == kind:
        return pointer

    def evaluate(m: Machine) -> Address:
        if m.tags is not None and isinstance(kind, Record):
            raise Undefined("aliasing")
        return m.check_alignment(pointer.evaluate(m), kind.align)

    return Pointer(f"(({point(pointer.space, kind)}){pointer.text})", pointer.space, kind, evaluate)


def add(pointer: Pointer, number: Number, sign: int = 1) -> Pointer:
    def evaluate(m: Machine) -> Address:
        return m.move(pointer.evaluate(m), sign * number.evaluate(m) * pointer.kind.size)

    text = f"({pointer.text} {'+' if sign > 0 else '-'} {number.text})"
    return Pointer(text, pointer.space, pointer.kind, evaluate)


def choose(condition: Number, first: Pointer, second: Pointer) -> Pointer:
    def evaluate(m: Machine) -> Address:
        return (first if condition.evaluate(m) else second).evaluate(m)

    return Pointer(f"({condition.text} ? {first.text} : {second.text})", first.space, first.kind, evaluate)


def address_of(place: Place) -> Pointer:
    def evaluate(m: Machine) -> Address:
        return m.check_alignment(place.evaluate(m), place.kind.align)

    return Pointer(f"(&{place.text})", place.space, place.kind, evaluate)


def decay(place: Place) -> Pointer:
    """Return the pointer to the first element of an array."""
    assert isinstance(place.kind, Array)
    element = place.kind.element

    def evaluate(m: Machine) -> Address:
        return m.check_alignment(place.evaluate(m), element.align)

    return Pointer(place.text, place.space, element, evaluate)


def dereference(pointer: Pointer) -> Place:
    return Place(f"(*{pointer.text})", pointer.space, pointer.kind, pointer.evaluate, pointer=pointer.text)


def index(pointer: Pointer, number: Number) -> Place:
    found = add(pointer, number)
    return Place(f"{pointer.text}[{number.text}]", pointer.space, pointer.kind, found.evaluate)


def take_step(place: Place, step: Step, number: Number) -> Place:
    """Return a member of the place, or the element with this number."""
    if step.member is None:
        assert isinstance(place.kind, Array)
        element = place.kind.element

        def evaluate(m: Machine) -> Address:
            found = number.evaluate(m)
            if not 0 <= found < step.count:
                raise Undefined("index of an array")
            return m.move(place.evaluate(m), found * element.size)

        return Place(f"{place.text}[{number.text}]", place.space, element, evaluate)
    assert isinstance(place.kind, Record)
    offset, member = place.kind.offsets[step.member], step.member
    kind = next(found.type for found in place.kind.members if found.name == member)
    text = f"{place.pointer}->{member}" if place.pointer else f"{place.text}.{member}"
    return Place(text, place.space, kind, lambda m: m.move(place.evaluate(m), offset))


SWIZZLES = {"lo": (0, 2), "hi": (1, 2), "even": (0, 1), "odd": (1, 1)}


def component(place: Place, name: str) -> Place:
    """Return components of a vector: `s3`, `lo`, `hi`, `even`, `odd`, or names such as `zx`."""
    assert isinstance(place.kind, Vector)
    element, count = place.kind.element, place.kind.count
    if name in ("lo", "hi"):
        chosen = list(range(count))[: count // 2] if name == "lo" else list(range(count))[count // 2 :]
    elif name in ("even", "odd"):
        chosen = list(range(name == "odd", count, 2))
    else:
        chosen = [int(digit, 16) for digit in name[1:]] if name[0] == "s" else ["xyzw".index(x) for x in name]
    kind: Type = element if len(chosen) == 1 else Vector(element, len(chosen))
    parts = tuple(number * element.size for number in chosen)
    return Place(f"{place.text}.{name}", place.space, kind, place.evaluate, parts)


def load(place: Place) -> Value:
    def evaluate(m: Machine) -> bytes:
        address, kind = place.evaluate(m), place.kind
        if not place.parts:
            m.access(address, kind)
            return m.load(address, meaningful(kind))[: value_size(kind)]
        size = kind.element.size if isinstance(kind, Vector) else kind.size
        # The compiler may load the whole vector, which is inside the object if its last component is.
        return b"".join(m.load(Address(address.base, address.offset + at), b"\1" * size) for at in place.parts)

    return Value(place.text, place.kind, evaluate)


def store_to(m: Machine, place: Place, value: bytes) -> None:
    address, kind = place.evaluate(m), place.kind
    if not place.parts:
        m.access(address, kind)
        mask = meaningful(kind)
        return m.store(address, value.ljust(len(mask), b"\0"), mask)
    size = kind.element.size if isinstance(kind, Vector) else kind.size
    for i, at in enumerate(place.parts):
        m.store(Address(address.base, address.offset + at), value[i * size : (i + 1) * size], b"\1" * size)


def elements(pointer: Pointer, number: Number, count: int) -> Callable[[Machine], Address]:
    """Return the function for the address of vloadN(number, pointer); the whole access must be in the object."""

    def evaluate(m: Machine) -> Address:
        size, steps = pointer.kind.size * count, number.evaluate(m)
        if steps < 0:
            raise Undefined("negative size_t")
        address = m.move(pointer.evaluate(m), steps * size)
        m.reserve(address, size)
        for i in range(count):
            m.access(m.move(address, i * pointer.kind.size), pointer.kind)
        return address

    return evaluate


def vload(pointer: Pointer, number: Number, count: int) -> Value:
    assert isinstance(pointer.kind, Scalar)
    where, kind = elements(pointer, number, count), Vector(pointer.kind, count)
    text = f"vload{count}({number.text}, {pointer.text})"
    return Value(text, kind, lambda m: m.load(where(m), b"\1" * value_size(kind)))


def literal(kind: Scalar | Vector, bits: bytes) -> Value:
    """Return a constant; its bits are those of as_ of an unsigned literal."""
    size = kind.element.size if isinstance(kind, Vector) else kind.size
    numbers = [int.from_bytes(bits[i : i + size], "little") for i in range(0, len(bits), size)]
    unsigned = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}[size]
    texts = ", ".join(f"{number:#x}{'ul' if size == 8 else 'u'}" for number in numbers)
    wide = f"{unsigned}{kind.count}" if isinstance(kind, Vector) else unsigned
    return Value(f"as_{kind.name}(({wide})({texts}))", kind, lambda m: bits)


def reinterpret(value: Value, kind: Scalar | Vector) -> Value:
    return Value(f"as_{kind.name}({value.text})", kind, value.evaluate)


def convert(value: Value, kind: Scalar) -> Value:
    """Return the conversion of an integer to another integer type."""
    assert isinstance(value.kind, Scalar)
    is_signed = value.kind.code.islower()

    def evaluate(m: Machine) -> bytes:
        number = int.from_bytes(value.evaluate(m), "little", signed=is_signed)
        return (number % (1 << 8 * kind.size)).to_bytes(kind.size, "little")

    return Value(f"({kind.name}){value.text}", kind, evaluate)


def xor(first: Value, second: Value) -> Value:
    def evaluate(m: Machine) -> bytes:
        return bytes(a ^ b for a, b in zip(first.evaluate(m), second.evaluate(m), strict=True))

    text = f"({first.text} ^ {second.text})"
    return Value(f"({first.kind.name}){text}" if isinstance(first.kind, Scalar) else text, first.kind, evaluate)


def test_null(pointer: Pointer) -> Number:
    return Number(f"(!{pointer.text})", lambda m: int(not pointer.evaluate(m).base))


def compare(first: Pointer, second: Pointer, operator: str) -> Number:
    """Return the comparison of two pointers; all operators but == and != need pointers into one object."""

    def evaluate(m: Machine) -> int:
        a, b = first.evaluate(m), second.evaluate(m)
        if operator in ("==", "!="):
            # A pointer to the end of an object may equal a pointer to another object.
            if a.base != b.base and any(x.base and x.offset == len(m.memory[x.base]) for x in (a, b)):
                raise Undefined("comparison of an end")
            return int((a == b) == (operator == "=="))
        if not a.base or a.base != b.base:
            raise Undefined("comparison of two objects")
        return int({"<": a.offset < b.offset, ">=": a.offset >= b.offset}[operator])

    return Number(f"({first.text} {operator} {second.text})", evaluate)


def subtract(first: Pointer, second: Pointer) -> Number:
    def evaluate(m: Machine) -> int:
        a, b = first.evaluate(m), second.evaluate(m)
        if not a.base or a.base != b.base or (a.offset - b.offset) % first.kind.size:
            raise Undefined("difference of pointers")
        return (a.offset - b.offset) // first.kind.size

    return Number(f"(int)({first.text} - {second.text})", evaluate)


def view_bytes(pointer: Pointer) -> Pointer:
    return cast(pointer, UCHAR)
