"""Statements of kernels: the C text, and the function that executes it on a Machine."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from .expressions import Number, Place, Pointer, Value, store_to, value_size
from .layout import FLOAT, INT, Array, Record, Scalar, Type, Vector, meaningful, point
from .machine import Address, Machine, Object, Undefined


@dataclass
class Statement:
    """A statement with blocks.

    heads: the text before each block; for a statement without blocks, its whole text.
    plan: executes the statement's own actions, and yields the number of each block to execute.
    """

    heads: tuple[str, ...]
    plan: Callable[[Machine], Iterator[int]]
    bodies: list[list[Statement]] = field(default_factory=list)

    def execute(self, m: Machine) -> None:
        for number in self.plan(m):
            for statement in self.bodies[number]:
                statement.execute(m)

    def lines(self, indent: str = "    ") -> Iterator[str]:
        for i, head in enumerate(self.heads):
            yield from (indent + line for line in head.splitlines())
            for statement in self.bodies[i] if self.bodies else ():
                yield from statement.lines(indent + "    ")
        if self.bodies:
            yield indent + "}"


def simple(text: str, action: Callable[[Machine], None]) -> Statement:
    def plan(m: Machine) -> Iterator[int]:
        action(m)
        return iter(())

    return Statement((text,), plan)


def store(place: Place, value: Value) -> Statement:
    return simple(f"{place.text} = {value.text};", lambda m: store_to(m, place, value.evaluate(m)))


def vstore(value: Value, number: Number, pointer: Pointer, where: Callable[[Machine], Address]) -> Statement:
    assert isinstance(value.kind, Vector)

    def action(m: Machine) -> None:
        contents = value.evaluate(m)
        m.store(where(m), contents, b"\1" * len(contents))

    return simple(f"vstore{value.kind.count}({value.text}, {number.text}, {pointer.text});", action)


@dataclass(frozen=True)
class Slot:
    """A pointer variable, or an element of an array of pointers, or a member of a struct.

    key: returns the variable's name in Machine.pointers.
    """

    text: str
    space: str
    kind: Type
    key: Callable[[Machine], str]


def assign(slot: Slot, pointer: Pointer) -> Statement:
    def action(m: Machine) -> None:
        m.pointers[slot.key(m)] = pointer.evaluate(m)

    return simple(f"{slot.text} = {pointer.text};", action)


def move_by(m: Machine, slot: Slot, steps: int) -> None:
    name = slot.key(m)
    if name not in m.pointers:
        raise Undefined("indeterminate pointer")
    m.pointers[name] = m.move(m.pointers[name], steps * slot.kind.size)


def advance(slot: Slot, text: str, number: Number) -> Statement:
    """Return a statement with this text, which adds the number to the pointer."""
    return simple(text, lambda m: move_by(m, slot, number.evaluate(m)))


def store_and_advance(slot: Slot, value: Value) -> Statement:
    """Return `*p++ = value`."""

    def action(m: Machine) -> None:
        contents, address, mask = value.evaluate(m), m.pointers.get(slot.key(m), Address("", 0)), meaningful(slot.kind)
        m.access(address, slot.kind)
        m.store(address, contents.ljust(len(mask), b"\0"), mask)
        move_by(m, slot, 1)

    return simple(f"*{slot.text}++ = {value.text};", action)


def swap(text: str, first: Slot, second: Slot) -> Statement:
    def action(m: Machine) -> None:
        a, b = first.key(m), second.key(m)
        if a not in m.pointers or b not in m.pointers:
            raise Undefined("indeterminate pointer")
        m.pointers[a], m.pointers[b] = m.pointers[b], m.pointers[a]

    return simple(text, action)


def branch(condition: Number) -> Statement:
    def plan(m: Machine) -> Iterator[int]:
        yield 0 if condition.evaluate(m) else 1

    return Statement((f"if ({condition.text}) {{", "} else {"), plan, [[], []])


def switch(number: Number, count: int) -> Statement:
    """Return a switch with cases 0 to count - 2 and a default."""

    def plan(m: Machine) -> Iterator[int]:
        yield min(max(number.evaluate(m), -1) % (1 << 32), count - 1)

    labels = [*(f"case {i}:" for i in range(count - 1)), "default:"]
    heads = (f"switch ({number.text}) {{\n{labels[0]}", *(f"    break;\n{label}" for label in labels[1:]))
    return Statement(heads, plan, [[] for _ in labels])


def loop(name: str, limit: Number, is_descending: bool) -> Statement:
    def plan(m: Machine) -> Iterator[int]:
        count = limit.evaluate(m)
        for i in reversed(range(count)) if is_descending else range(count):
            m.counters[name] = i
            yield 0
        m.counters.pop(name, None)

    text = f"int {name} = {limit.text} - 1; {name} >= 0; --{name}"
    if not is_descending:
        text = f"int {name} = 0; {name} < {limit.text}; ++{name}"
    return Statement((f"for ({text}) {{",), plan, [[]])


def leaf_lines(kind: Type, text: str, access: Callable[[Scalar, str], str], depth: int = 0) -> Iterator[str]:
    """Yield the lines of C that access each scalar of an object in the order of `leaves`."""
    if isinstance(kind, Scalar):
        yield access(kind, text)
    elif isinstance(kind, Vector):
        yield from (access(kind.element, f"{text}.s{i:x}") for i in range(kind.count))
    elif isinstance(kind, Array):
        j = f"j{depth}"
        yield f"for (int {j} = 0; {j} < {kind.count}; ++{j}) {{"
        yield from ("    " + line for line in leaf_lines(kind.element, f"{text}[{j}]", access, depth + 1))
        yield "}"
    else:
        for member in kind.members[:1] if kind.is_union else kind.members:
            yield from leaf_lines(member.type, f"{text}.{member.name}", access, depth)


def _read_data(kind: Scalar, text: str) -> str:
    if kind.size == 8:
        return f"{text} = ({kind.name})(d[0] | (ulong)d[1] << 32); d += 2;"
    return f"{text} = {'as_float(*d++)' if kind == FLOAT else f'({kind.name})*d++'};"


def initialise(declared: Object) -> Statement:
    """Return a statement that stores numbers of the argument `data` to all scalars of the object."""

    def action(m: Machine) -> None:
        for at, leaf in declared.kind.leaves:
            words = 2 if leaf.size == 8 else 1
            contents = b"".join(struct.pack("<I", word) for word in m.data[m.used : m.used + words])
            m.used += words
            m.store(Address(declared.name, at), contents[: leaf.size], b"\1" * leaf.size)

    return simple("\n".join(leaf_lines(declared.kind, declared.name, _read_data)), action)


def _write_out(kind: Scalar, text: str) -> str:
    if kind.size == 8:
        return f"*out++ = (uint){text}; *out++ = (uint)({text} >> 32);"
    unsigned = {1: "(uchar)", 2: "(ushort)", 4: ""}[kind.size]
    return f"*out++ = {f'as_uint({text})' if kind == FLOAT else unsigned + text};"


def emit(value: Value) -> Statement:
    """Return a statement that writes a scalar to the output."""
    assert isinstance(value.kind, Scalar)
    size = value.kind.size
    if size == 8:
        text = f"{{ const ulong v = (ulong){value.text}; *out++ = (uint)v; *out++ = (uint)(v >> 32); }}"
    else:
        text = _write_out(value.kind, value.text)
    return simple(text, lambda m: m.out.extend(_words(value.evaluate(m))))


def emit_number(number: Number) -> Statement:
    return simple(f"*out++ = {number.text};", lambda m: m.out.append(number.evaluate(m) % (1 << 32)))


def _words(contents: bytes) -> list[int]:
    padded = contents.ljust(-(-len(contents) // 4) * 4, b"\0")
    return list(struct.unpack(f"<{len(padded) // 4}I", padded))


def dump(declared: Object, by_bytes: bool) -> Statement:
    """Return a statement that writes the whole object to the output, as its scalars or as its bytes."""
    mask = meaningful(declared.kind)
    leaves = (
        [(i, 1) for i in range(len(mask)) if mask[i]] if by_bytes else [(a, s.size) for a, s in declared.kind.leaves]
    )

    def action(m: Machine) -> None:
        for at, size in leaves:
            m.out += _words(m.load(Address(declared.name, at), b"\1" * size))

    if not by_bytes:
        return simple("\n".join(leaf_lines(declared.kind, declared.name, _write_out)), action)
    ends = [i for i in range(len(mask) + 1) if (mask[i - 1] if i else 0) != (mask[i] if i < len(mask) else 0)]
    start = f"((const {declared.space} uchar *){declared.name if declared.is_argument else f'&{declared.name}'})"
    runs = zip(ends[::2], ends[1::2], strict=True)
    return simple("\n".join(f"for (int j = {a}; j < {b}; ++j) *out++ = {start}[j];" for a, b in runs), action)


def initialiser(kind: Type, contents: bytes) -> str:
    """Return the text of an initialiser; the floats in the contents are finite."""
    if isinstance(kind, Scalar):
        number = struct.unpack("<" + kind.code, contents)[0]
        return f"{number!r}f" if kind == FLOAT else f"{number}{ {'q': 'l', 'Q': 'ul', 'I': 'u'}.get(kind.code, '') }"
    if isinstance(kind, Record):
        members = kind.members[:1] if kind.is_union else kind.members
        spans = [(m.type, kind.offsets[m.name]) for m in members]
        return "{" + ", ".join(initialiser(t, contents[at : at + t.size]) for t, at in spans) + "}"
    size = kind.element.size
    parts = ", ".join(initialiser(kind.element, contents[i * size : (i + 1) * size]) for i in range(kind.count))
    return f"({kind.name})({parts})" if isinstance(kind, Vector) else f"{{{parts}}}"


def copy_loop(target: Pointer, source: Pointer, count: Number, is_descending: bool) -> Statement:
    """Return a loop that copies scalars one by one; the two may overlap."""

    def action(m: Machine) -> None:
        numbers = range(count.evaluate(m))
        size = value_size(target.kind)
        for i in reversed(numbers) if is_descending else numbers:
            start, end = m.move(source.evaluate(m), i * size), m.move(target.evaluate(m), i * size)
            m.access(start, source.kind)
            m.access(end, target.kind)
            m.store(end, m.load(start, b"\1" * size), b"\1" * size)

    head = f"int j = {count.text} - 1; j >= 0; --j" if is_descending else f"int j = 0; j < {count.text}; ++j"
    return simple(f"for ({head}) {target.text}[j] = {source.text}[j];", action)


def walk(pointer: Pointer, count: Number) -> Statement:
    """Return a loop with a pointer that runs over elements, and writes a polynomial of them."""
    assert isinstance(pointer.kind, Scalar)

    def action(m: Machine) -> None:
        total, size, start = 0, pointer.kind.size, pointer.evaluate(m)
        m.move(start, count.evaluate(m) * size)
        for i in range(count.evaluate(m)):
            m.access(m.move(start, i * size), pointer.kind)
            total = total * 31 + int.from_bytes(m.load(m.move(start, i * size), b"\1" * size), "little")
        m.out.append(total % (1 << 32))

    space, kind = f"const {pointer.space}", pointer.kind
    text = f"for ({point(space, kind, 'q')} = {pointer.text}, *e = q + {count.text}; q < e; ++q) s = s * 31 + *q;"
    return simple(f"{{\n    uint s = 0;\n    {text}\n    *out++ = s;\n}}", action)


def atomic(name: str, pointer: Pointer, operand: Number) -> Value:
    """Return the call of an atomic function on an int or uint."""
    is_signed = pointer.kind == INT

    def evaluate(m: Machine) -> bytes:
        address, b = pointer.evaluate(m), operand.evaluate(m)
        m.access(address, pointer.kind)
        old = m.load(address, b"\1" * 4)
        a = int.from_bytes(old, "little", signed=is_signed)
        b = b if is_signed else b % (1 << 32)
        results = {"add": a + b, "sub": a - b, "xchg": b, "and": a & b, "or": a | b, "xor": a ^ b}
        results |= {"min": min(a, b), "max": max(a, b), "inc": a + 1, "dec": a - 1}
        m.store(address, (results[name] % (1 << 32)).to_bytes(4, "little"), b"\1" * 4)
        return old

    more = "" if name in ("inc", "dec") else f", {operand.text}"
    return Value(f"atomic_{name}({pointer.text}{more})", pointer.kind, evaluate)
