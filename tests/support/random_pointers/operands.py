"""Draws the operands of statements: numbers, pointers, places and values."""

from __future__ import annotations

import random
from collections.abc import Collection

from . import expressions as make
from .declarations import FLAGS, INPUTS, Declarations
from .expressions import Number, Place, Pointer, Value, value_size
from .layout import SCALARS, Array, Scalar, Step, Type, Vector, paths, point
from .machine import Address, Machine, Object, Undefined
from .statements import Slot, Statement, simple, store


class Operands:
    def __init__(
        self,
        source: random.Random,
        declared: Declarations,
        counters: list[tuple[str, int]],
        machines: list[Machine],
        features: Collection[str],
    ) -> None:
        self.random, self.declared, self.counters, self.machines = source, declared, counters, machines
        self.features = features

    def space(self, writable: bool = False) -> str:
        return self.random.choice([s for s in self.declared.spaces if not writable or s != "constant"])

    # Numbers.

    def number(self, value: int) -> Number:
        """Return an expression of this value, which the compiler often does not know."""
        roll = self.random.random()
        if roll < 0.3 or abs(value) >= FLAGS:
            return make.constant(value)
        cast = self.random.choice(("", "", "", "(uchar)", "(short)", "(long)", "(char)"))
        return make.read_input(abs(value), -1 if value < 0 else 1, cast)

    def index(self, count: int) -> Number:
        """Return a number from 0 to count - 1."""
        fitting = [name for name, limit in self.counters if limit <= count]
        if fitting and self.random.random() < 0.5:
            return make.read_counter(self.random.choice(fitting))
        if self.random.random() < 0.15:
            return self.flag(min(count, 4))
        return self.number(self.random.randrange(count))

    def flag(self, count: int) -> Number:
        """Return a number below `count`, which is at most 4, of the work-item's own."""
        at = self.random.randrange(FLAGS, INPUTS)
        text = f"in[{at}]" if count == 4 else f"(in[{at}] % {count})"
        return Number(text, lambda m: m.inputs[at] % count)

    def condition(self) -> Number:
        roll = self.random.random()
        if roll < 0.25:
            return make.test_null(self.read(self.random.choice(self.declared.slots)))
        if roll < 0.45 and self.counters:
            name, limit = self.random.choice(self.counters)
            bound = self.random.randrange(limit)
            return Number(f"({name} > {bound})", lambda m: int(m.counters[name] > bound))
        return self.flag(2)

    # Pointers.

    def read(self, slot: Slot) -> Pointer:
        return make.read_pointer(slot.text, slot.space, slot.kind, slot.key)

    def root(self, each: Object) -> Place | Pointer:
        address = Address(each.name, 0)
        if each.is_argument:
            assert isinstance(each.kind, Array)
            return Pointer(each.name, each.space, each.kind.element, lambda m: address)
        return Place(each.name, each.space, each.kind, lambda m: address)

    def walk(self, root: Place | Pointer, steps: tuple[Step, ...], count: int) -> Place:
        """Return the part of the object, or of one of the `count` elements after a pointer."""
        if isinstance(root, Pointer):
            is_first = self.random.random() < 0.3
            place = make.dereference(root) if is_first else make.index(root, self.index(max(1, count)))
        else:
            place = root
        for step in steps:
            number = make.constant(0) if step.member else self.index(step.count)
            place = make.take_step(place, step, number)
        return place

    def part(self, space: str, kind: Type | None, in_array: bool = False) -> Place | None:
        """Return a part of an object, of the type or an array of it; None: of any type that is no array."""
        found = []
        for each in self.declared.objects.values():
            if each.space == space:
                root, count = self.root(each), each.kind.count if isinstance(each.kind, Array) else 1
                found += [(root, steps, t, count) for steps, t in paths(root.kind) if _fits(t, kind, in_array)]
        if not found:
            return None
        root, steps, _, count = self.random.choice(found)
        return self.walk(root, steps, count)

    def pointer(self, space: str, kind: Type, depth: int = 2) -> Pointer:
        found = self._simple_pointer(space, kind)
        while depth and self.random.random() < 0.45:
            found, depth = self._derive(found, depth), depth - 1
        return found

    def _simple_pointer(self, space: str, kind: Type) -> Pointer:
        roll = self.random.random()
        slots = [slot for slot in self.declared.slots if slot.space == space]
        same = [slot for slot in slots if slot.kind == kind]
        if same and roll < 0.4:
            return self.read(self.random.choice(same))
        place = self.part(space, kind) if roll < 0.6 else self.part(space, kind, in_array=True)
        if place is not None and roll < 0.8:
            return make.address_of(place) if place.kind == kind else make.decay(place)
        if roll > 0.98:
            return make.null(space, kind)
        if slots and roll > 0.9:
            return make.cast(self.read(self.random.choice(slots)), kind)
        other = self.part(space, None)
        assert other is not None
        return make.cast(make.address_of(other), kind)

    def _derive(self, pointer: Pointer, depth: int) -> Pointer:
        roll = self.random.random()
        if roll < 0.6:
            steps = self._steps(pointer)
            sign = self.random.choice((1, 1, -1))
            return make.add(pointer, self.number(sign * steps), sign)
        if roll < 0.75:
            other = self.pointer(pointer.space, pointer.kind, depth - 1)
            return make.choose(self.condition(), pointer, other)
        return self._call(pointer, depth)

    def _call(self, pointer: Pointer, depth: int) -> Pointer:
        """Return the call of a function that returns a pointer."""
        if isinstance(pointer.kind, Array):
            return pointer
        result, space, kind = point(pointer.space, pointer.kind), pointer.space, pointer.kind
        parameter = point(space, kind, "p")
        if self.random.random() < 0.5:
            text = f"{result} NAME({parameter}, int n) {{ while (n-- > 0) ++p; return p; }}"
            name, number = self.declared.helper("step", space, kind, text), self.number(max(0, self._steps(pointer)))
            moved = make.add(pointer, number)
            return Pointer(f"{name}({pointer.text}, {number.text})", space, kind, moved.evaluate)
        text = f"{result} NAME({parameter}, {point(space, kind, 'q')}, int c) {{ if (c) return p; return q; }}"
        name, other = self.declared.helper("pick", space, kind, text), self.pointer(space, kind, depth - 1)
        condition = self.condition()

        def evaluate(m: Machine) -> Address:
            # Both arguments are evaluated.
            first, second = pointer.evaluate(m), other.evaluate(m)
            return first if condition.evaluate(m) else second

        return Pointer(f"{name}({pointer.text}, {other.text}, {condition.text})", space, kind, evaluate)

    def _steps(self, pointer: Pointer) -> int:
        """Return a number of elements that keeps the pointer of the first work-item in its object."""
        try:
            address = pointer.evaluate(self.machines[0])
        except (Undefined, KeyError):
            return self.random.randint(-2, 2)
        if not address.base:
            return 0
        size, end = pointer.kind.size, self.declared.objects[address.base].kind.size
        return self.random.randint(-(address.offset // size), max(0, (end - address.offset) // size - 1))

    # Places and values.

    def place(self, space: str, kind: Type | None = None) -> Place | None:
        """Return a place that is no array, perhaps some components of a vector."""
        place = self._whole_place(space, kind)
        if place is not None and kind is None and isinstance(place.kind, Vector) and self.random.random() < 0.4:
            return make.component(place, self._component(place.kind.count))
        return place

    def _whole_place(self, space: str, kind: Type | None) -> Place | None:
        if self.random.random() < 0.35:
            return self.part(space, kind)
        if kind is None:
            slots = [slot for slot in self.declared.slots if slot.space == space]
            chosen = self.random.choice(slots).kind if slots else self.random.choice(SCALARS)
        else:
            chosen = kind
        pointer = self.pointer(space, chosen)
        fitting = [steps for steps, t in paths(chosen) if _fits(t, kind, False)]
        return self.walk(pointer, self.random.choice(fitting), 1) if fitting else None

    def _component(self, count: int) -> str:
        names = [f"s{i:x}" for i in range(count)]
        names += ["lo", "hi", "even", "odd"] if count != 3 else []
        if count <= 4:
            letters = self.random.sample("xyzw"[:count], 2)
            names += ["".join(letters)] * 2
        return self.random.choice(names)

    def value(self, kind: Type, depth: int = 2) -> Value:
        """Return a value of a type that is no array."""
        roll = self.random.random()
        if isinstance(kind, Scalar | Vector):
            if roll < 0.15 or not depth:
                size = value_size(kind)
                return make.literal(kind, self.declared.contents(kind)[:size])
            if roll < 0.3:
                return make.reinterpret(self.value(self._same_size(kind), depth - 1), kind)
            if roll < 0.4 and _is_integer(kind):
                return make.xor(self.value(kind, depth - 1), self.value(kind, depth - 1))
            if roll < 0.5 and isinstance(kind, Vector):
                pointer = self.pointer(self.space(), kind.element)
                return make.vload(pointer, self.number(self.random.choice((0, 0, 1))), kind.count)
            if roll < 0.5 and isinstance(kind, Scalar) and _is_integer(kind):
                other = self.random.choice([s for s in SCALARS if _is_integer(s)])
                return make.convert(self.value(other, depth - 1), kind)
        return self._loaded(kind)

    def _loaded(self, kind: Type) -> Value:
        for _ in range(4):
            place = self.place(self.space(), kind)
            if place is not None:
                return self._get_call(place) if self.random.random() < 0.15 else make.load(place)
        return make.load(make.dereference(self.pointer(self.space(), kind)))

    def _get_call(self, place: Place) -> Value:
        """Return the value of the place, which a function loads."""
        space, kind = place.space, place.kind
        written = self.declared.written_space(space)
        text = f"{kind.name} NAME({point(written, kind, 'p')}, int n) {{ return p[n]; }}"
        name, pointer = self.declared.helper(f"get{written[:1]}", space, kind, text), make.address_of(place)
        target = make.load(make.dereference(pointer))
        return Value(f"{name}({pointer.text}, 0)", kind, target.evaluate)

    def set_call(self, space: str, kind: Type) -> Statement:
        """Return the call of a function that stores a value through its parameter."""
        written, pointer, value = self.declared.written_space(space), self.pointer(space, kind), self.value(kind)
        text = f"void NAME({point(written, kind, 'p')}, {kind.name} v) {{ *p = v; }}"
        name = self.declared.helper(f"set{written[:1]}", space, kind, text)
        stored = store(make.dereference(pointer), value)
        return simple(f"{name}({pointer.text}, {value.text});", stored.execute)

    def _same_size(self, kind: Scalar | Vector) -> Scalar | Vector:
        """Return another type that as_ converts from."""
        count, is_three = value_size(kind), isinstance(kind, Vector) and kind.count == 3
        kinds: list[Scalar | Vector] = [s for s in SCALARS if s.size == count and not is_three]
        kinds += [
            Vector(s, n) for s in SCALARS for n in (2, 3, 4, 8, 16) if s.size * n == count and (n == 3) == is_three
        ]
        return self.random.choice(kinds)


def _is_integer(kind: Scalar | Vector) -> bool:
    return (kind.element if isinstance(kind, Vector) else kind).name != "float"


def _fits(found: Type, kind: Type | None, in_array: bool) -> bool:
    if kind is None:
        return not isinstance(found, Array)
    return isinstance(found, Array) and found.element == kind if in_array else found == kind
