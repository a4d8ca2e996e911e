"""Draws the objects, types, pointer variables and helper functions of a program."""

from __future__ import annotations

import random
import struct
from collections.abc import Collection

from .layout import FLOAT, SCALARS, UCHAR, Array, Member, Record, Scalar, Type, Vector, declare, paths, point
from .machine import Machine, Object
from .programs import declare_object
from .statements import Slot, initialiser

GLOBAL_ALIGN = 128
"""The alignment of buffers: CL_DEVICE_MEM_BASE_ADDR_ALIGN is at least that of long16."""
FLAGS = 32
"""Each work-item has numbers 0 to 3 of its own from in[FLAGS] on; before, in[i] is i."""
INPUTS = 40
DATA = 1024
WIDTHS = (2, 3, 4, 4, 8, 16)


class Declarations:
    """The declarations of a program, and the initial state of each work-item.

    types_by_space: address space -> the types of the parts of its objects.
    """

    def __init__(self, seed: int, source: random.Random, features: Collection[str]) -> None:
        self.seed, self.random, self.features = seed, source, features
        self.records, self.slots = list[Record](), list[Slot]()
        self.objects, self.declarations = dict[str, Object](), dict[str, str]()
        self.helpers, self._helper_names = dict[str, str](), dict[tuple[str, ...], str]()
        for _ in range(source.randint(2, 4)):
            self.records.append(self._record())
        has_local = "local" in features and source.random() < 0.5
        self.items = 1 if has_local else source.choice((1, 1, 4))
        # Without it, pointers to private memory are generic, or private in OpenCL C 1.2.
        self.has_private = source.random() < 0.5
        self.local_size = self.items if source.random() < 0.7 else 1
        self.machines = [self._machine(item) for item in range(self.items)]
        for space, is_argument in self._kinds(has_local):
            self._object(space, is_argument)
        self.spaces = sorted({each.space for each in self.objects.values()})
        self._declare_slots()

    def _kinds(self, has_local: bool) -> list[tuple[str, bool]]:
        choose = self.random.choice
        kinds = [("private", False)] * choose((1, 2, 2, 3)) + [("global", True)] * choose((1, 1, 2))
        kinds += [("constant", False)] * choose((0, 0, 1)) + [("constant", True)] * choose((0, 0, 1))
        return kinds + ([choose((("local", False), ("local", True)))] if has_local else [])

    def _machine(self, item: int) -> Machine:
        own = [self.random.randrange(4) for _ in range(INPUTS - FLAGS)]
        data = [self.random.getrandbits(32) for _ in range(DATA)]
        return Machine(self.objects, [*range(FLAGS), *own], data, tags=None if "punning" in self.features else {})

    # Types.

    def _record(self) -> Record:
        number, choose = len(self.records), self.random.random
        name = f"R{self.seed}_{number}"
        if "union" in self.features and choose() < 0.2:
            return self._union(name)
        members = []
        for i in range(self.random.randint(2, 4)):
            kind = self.type(self.random.choice((0, 0, 1)))
            while kind.size > 64:
                kind = self.type(0)
            members.append(Member(f"m{i}", kind, 0 if choose() < 0.9 else self.random.choice((4, 8, 16))))
        is_packed = "packed" in self.features and choose() < 0.25
        if is_packed:
            members = [Member(member.name, member.type) for member in members]
        return Record(name, tuple(members), is_packed, aligned=0 if choose() < 0.85 else self.random.choice((4, 8, 16)))

    def _union(self, name: str) -> Record:
        """Return a union whose members have the same size and no padding."""
        size, kinds = self.random.choice((4, 8, 16)), list[Type]()
        for scalar in self.random.sample(SCALARS, len(SCALARS)):
            count = size // scalar.size
            if count:
                shapes: list[Type] = [Array(scalar, count)]
                if count in (2, 4, 8, 16):
                    shapes.append(Vector(scalar, count))
                kinds.append(scalar if count == 1 else self.random.choice(shapes))
        members = tuple(Member(f"m{i}", kind) for i, kind in enumerate(kinds[:3]))
        return Record(name, members, is_union=True)

    def type(self, depth: int) -> Type:
        """Return a random type; arrays of arrays and of records need a depth."""
        roll, scalar = self.random.random(), self.random.choice(SCALARS)
        if depth and roll < 0.75:
            if self.records and roll < 0.3:
                return self.random.choice(self.records)
            return Array(self.type(depth - 1), self.random.randint(2, 5))
        return scalar if roll < 0.6 else Vector(scalar, self.random.choice(WIDTHS))

    def types(self, space: str) -> list[Scalar | Vector | Record]:
        """Return the types other than arrays of the parts of the objects in an address space."""
        found = [kind for each in self.objects.values() if each.space == space for _, kind in paths(each.kind)]
        return [kind for kind in dict.fromkeys(found) if not isinstance(kind, Array)]

    # Objects.

    def contents(self, kind: Type) -> bytes:
        """Return random contents, whose floats are finite."""
        found = bytearray(kind.size)
        for at, leaf in kind.leaves:
            if leaf == FLOAT:
                number = struct.pack("<f", self.random.randint(-999, 999) / 4)
            else:
                number = self.random.randbytes(leaf.size)
                # The most negative number has no literal.
                number = number if number != bytes(leaf.size - 1) + b"\x80" else bytes(leaf.size)
            found[at : at + leaf.size] = number
        return bytes(found)

    def _object_type(self, is_argument: bool) -> Type:
        roll = self.random.random()
        if is_argument:
            kind = self.random.choice(self.records) if roll < 0.4 else self.type(0)
            return Array(kind, self.random.randint(2, 6))
        if roll < 0.2:
            return Array(UCHAR if roll < 0.1 else self.random.choice(SCALARS), self.random.choice((8, 16, 24, 32)))
        return self.type(self.random.choice((1, 2, 2, 3)))

    def _object(self, space: str, is_argument: bool) -> None:
        kind = self._object_type(is_argument)
        while not 8 <= kind.size <= 160:
            kind = self._object_type(is_argument)
        number = len(self.objects)
        letter = {"private": "v", "local": "s", "global": "g", "constant": "c"}[space]
        name = f"{letter}{self.seed}_{number}" if space == "constant" else f"{letter}{number}"
        align, attribute, initial = kind.align, "", ""
        if is_argument:
            align = max(align, GLOBAL_ALIGN) if space != "local" else align
        elif self.random.random() < 0.4:
            align = max(align, self.random.choice((4, 8, 16, 32)))
            attribute = f" __attribute__((aligned({align})))"
        has_contents = space == "constant" or (space == "global") or (space == "private" and self.random.random() < 0.4)
        shared = self.contents(kind)
        if has_contents and not is_argument:
            initial = initialiser(kind, shared)
        each = Object(name, kind, space, is_argument, align, has_contents)
        text = "" if is_argument else declare_object(each, attribute, initial)
        self.objects[name] = Object(name, kind, space, is_argument, align, has_contents, text)
        for machine in self.machines:
            machine.add(self.objects[name], self.contents(kind) if is_argument else shared)

    # Pointer variables.

    def _declare_slots(self) -> None:
        for i in range(self.random.randint(3, 5)):
            space = self.random.choice(self.spaces)
            kind: Type = self.random.choice([*self.types(space), *SCALARS])
            if self.random.random() < 0.15 and kind.size <= 16:
                kind = Array(kind, self.random.randint(2, 3))
            self._declare_slot(f"p{i}", space, kind)

    def _declare_slot(self, name: str, space: str, kind: Type) -> None:
        roll = self.random.random() if "stored" in self.features else 1.0
        if roll < 0.08:
            self.declarations[name] = f"{point(space, kind, f'{name}[3]')};"
            for k in range(3):
                self.slots.append(Slot(f"{name}[{k}]", space, kind, lambda m, k=k: f"{name}[{k}]"))  # type: ignore[misc]
            flag = self.random.randrange(FLAGS, INPUTS)
            self.slots.append(Slot(f"{name}[in[{flag}] % 3]", space, kind, lambda m: f"{name}[{m.inputs[flag] % 3}]"))
        elif roll < 0.16:
            members = " ".join(f"{point(space, kind, member)};" for member in ("a", "b"))
            self.declarations[name] = f"struct {{ int n; {members} }} {name};"
            for member in ("a", "b"):
                text = f"{name}.{member}"
                self.slots.append(Slot(text, space, kind, lambda m, text=text: text))  # type: ignore[misc]
        else:
            self.declarations[name] = f"{point(space, kind, name)};"
            self.slots.append(Slot(name, space, kind, lambda m: name))

    def written_space(self, space: str) -> str:
        """Return the address space of a parameter: none if the parameter is a generic pointer."""
        is_generic = "generic" in self.features and space != "constant" and self.random.random() < 0.3
        return "" if is_generic else space

    # Helper functions.

    def helper(self, purpose: str, space: str, kind: Type, text: str) -> str:
        """Return the name of a helper function; `text` has NAME for the name."""
        key = purpose, space, declare(kind, "")
        if key not in self._helper_names:
            name = f"{purpose}{self.seed}_{len(self.helpers)}"
            self._helper_names[key], self.helpers[name] = name, text.replace("NAME", name)
        return self._helper_names[key]

    def move_helper(self, space: str, kind: Type) -> str:
        return self.helper("move", space, kind, f"void NAME({point(space, kind, '*p')}, int n) {{ *p += n; }}")

    def swap_helper(self, space: str, kind: Type) -> str:
        first, second, third = (point(space, kind, name) for name in ("*a", "*b", "t"))
        return self.helper("swap", space, kind, f"void NAME({first}, {second}) {{ {third} = *a; *a = *b; *b = t; }}")
