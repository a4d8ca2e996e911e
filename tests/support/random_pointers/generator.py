"""Draws programs from seeds."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from . import statements as make
from .declarations import Declarations
from .expressions import Number, compare, constant, elements, read_input, subtract, test_null
from .layout import INT, SCALARS, UINT, Array, Vector
from .machine import Machine, Undefined
from .operands import Operands
from .programs import Program
from .statements import Slot, Statement

FEATURES = frozenset({"generic", "packed", "atomics", "stored", "local", "union", "differences", "punning"})
"""The features that a caller may leave out: generic pointers; packed structs; atomics; pointers in arrays and structs;
local memory; unions; differences of pointers to constant and local memory; accesses of objects as other types, which
C99 leaves undefined except for characters, but which are defined in SPIR-V."""


def generate(seed: int, features: Iterable[str] = FEATURES, statements: int = 14) -> Program:
    """Return the program of this seed."""
    return _Generator(seed, frozenset(features)).run(statements)


class _Generator:
    def __init__(self, seed: int, features: frozenset[str]) -> None:
        self.random = random.Random(seed)
        self.features = features
        self.declared = Declarations(seed, self.random, features)
        self.machines = [machine.copy() for machine in self.declared.machines]
        self.counters: list[tuple[str, int]] = []
        self.operands = Operands(self.random, self.declared, self.counters, self.machines, features)
        self.loops = 0

    def run(self, count: int) -> Program:
        declared, chosen = self.declared, list[Statement]()
        for each in declared.objects.values():
            if not each.is_initialised:
                self._keep(chosen, make.initialise(each))
        for slot in declared.slots:
            self._try(chosen, lambda slot=slot: make.assign(slot, self.operands.pointer(slot.space, slot.kind)))  # type: ignore[misc]
        while count and len(chosen) < 80:
            count -= self._try(chosen, self._statement)
        for each in declared.objects.values():
            if not each.is_argument or each.space == "local":
                self._keep(chosen, make.dump(each, self.random.random() < 0.3))
        parts = declared.objects, declared.records, declared.declarations, declared.helpers
        return Program(declared.seed, *parts, chosen, declared.machines, declared.local_size, declared.has_private)

    def _keep(self, chosen: list[Statement], statement: Statement) -> None:
        for machine in self.machines:
            statement.execute(machine)
        chosen.append(statement)

    def _try(self, chosen: list[Statement], propose: Callable[[], Statement | None]) -> bool:
        """Append a proposed statement that is defined for all work-items; return whether there is one."""
        for _ in range(25):
            statement = propose()
            if statement is None:
                continue
            states = self._run_on_copies(statement)
            if states is not None:
                self._adopt(states)
                chosen.append(statement)
                return True
        return False

    def _run_on_copies(self, statement: Statement) -> list[Machine] | None:
        states = [machine.copy() for machine in self.machines]
        try:
            for state in states:
                statement.execute(state)
        except Undefined:
            return None
        return states

    def _adopt(self, states: list[Machine]) -> None:
        self.machines[:] = states

    def _statement(self, depth: int = 0) -> Statement | None:
        kinds: list[tuple[Callable[[], Statement | None], int]] = [
            (self._store, 6), (self._vstore, 2), (self._assign, 4), (self._advance, 3), (self._emit, 3),
            (self._test, 2), (self._copy, 2), (self._walk, 1), (self._call, 3), (self._atomic, 1),
        ]  # fmt: skip
        if depth < 2:
            kinds += [(lambda: self._branch(depth), 2), (lambda: self._loop(depth), 3)]
        chosen = self.random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
        return chosen()

    def _store(self) -> Statement | None:
        place = self.operands.place(self.operands.space(writable=True))
        return None if place is None else make.store(place, self.operands.value(place.kind))

    def _vstore(self) -> Statement:
        space, scalar = self.operands.space(writable=True), self.random.choice(SCALARS)
        value = self.operands.value(Vector(scalar, self.random.choice((2, 3, 4, 8, 16))))
        pointer, number = self.operands.pointer(space, scalar), self.operands.number(self.random.choice((0, 0, 1, 2)))
        assert isinstance(value.kind, Vector)
        return make.vstore(value, number, pointer, elements(pointer, number, value.kind.count))

    def _slot(self) -> Slot:
        return self.random.choice(self.declared.slots)

    def _assign(self) -> Statement:
        slot = self._slot()
        return make.assign(slot, self.operands.pointer(slot.space, slot.kind))

    def _advance(self) -> Statement | None:
        slot = self._slot()
        steps = self.random.choice((1, 1, -1, 2, -2, 3, 5, -3))
        forms = {1: ("{}++;", "++{};", "{} = &{}[1];"), -1: ("{}--;", "--{};")}
        if abs(steps) == 1 and self.random.random() < 0.5:
            return make.advance(slot, self.random.choice(forms[steps]).replace("{}", slot.text), constant(steps))
        if self.random.random() < 0.4 and not isinstance(slot.kind, Array):
            value = self.operands.value(slot.kind)
            base = slot.text.split("[")[0].split(".")[0]
            return None if base in value.text or slot.space == "constant" else make.store_and_advance(slot, value)
        number = self.operands.number(steps)
        if self.random.random() < 0.5:
            helper = self.declared.move_helper(slot.space, slot.kind)
            return make.advance(slot, f"{helper}(&{slot.text}, {number.text});", number)
        return make.advance(slot, f"{slot.text} += {number.text};", number)

    def _emit(self) -> Statement:
        return make.emit(self.operands.value(self.random.choice(SCALARS)))

    def _test(self) -> Statement:
        slot = self._slot()
        first = self.operands.read(slot)
        second = self.operands.pointer(slot.space, slot.kind)
        operator = self.random.choice(("==", "!=", "<", ">=", "-", "-", "!"))
        if operator == "-" and "differences" not in self.features and slot.space in ("constant", "local"):
            operator = "=="
        if operator == "!":
            return make.emit_number(test_null(first))
        return make.emit_number(subtract(first, second) if operator == "-" else compare(first, second, operator))

    def _copy(self) -> Statement:
        scalar = self.random.choice(SCALARS)
        target = self.operands.pointer(self.operands.space(writable=True), scalar)
        source = self.operands.pointer(self.operands.space(), scalar)
        return make.copy_loop(target, source, self._count(1, 9), self.random.random() < 0.3)

    def _walk(self) -> Statement:
        scalar = self.random.choice([kind for kind in SCALARS if kind.code in "BHI"])
        return make.walk(self.operands.pointer(self.operands.space(), scalar), self._count(1, 12))

    def _count(self, low: int, high: int) -> Number:
        count = self.random.randint(low, high)
        return read_input(count) if self.random.random() < 0.6 else constant(count)

    def _call(self) -> Statement | None:
        slot = self._slot()
        if self.random.random() < 0.3:
            others = [s for s in self.declared.slots if (s.space, s.kind) == (slot.space, slot.kind)]
            other = self.random.choice(others)
            helper = self.declared.swap_helper(slot.space, slot.kind)
            return make.swap(f"{helper}(&{slot.text}, &{other.text});", slot, other)
        space = self.operands.space(writable=True)
        kind = self.random.choice([*self.declared.types(space), *SCALARS])
        return self.operands.set_call(space, kind)

    def _atomic(self) -> Statement | None:
        space = self.random.choice(("global", "local"))
        if "atomics" not in self.features or space not in self.declared.spaces:
            return None
        name = self.random.choice(("add", "sub", "xchg", "and", "or", "xor", "min", "max", "inc", "dec"))
        pointer = self.operands.pointer(space, self.random.choice((INT, UINT)))
        value = make.atomic(name, pointer, self.operands.number(self.random.randint(-9, 20)))
        return make.emit(value)

    def _branch(self, depth: int) -> Statement | None:
        if self.random.random() < 0.3:
            count = self.random.randint(2, 4)
            statement = make.switch(self.operands.flag(count), count)
        else:
            statement = make.branch(self.operands.condition())
        return self._fill(statement, depth)

    def _loop(self, depth: int) -> Statement | None:
        name, limit = f"i{self.loops}", self.random.randint(2, 5)
        self.loops += 1
        statement = make.loop(name, self._count(limit, limit), self.random.random() < 0.25)
        for machine in self.machines:
            machine.counters[name] = 0
        self.counters.append((name, limit))
        try:
            return self._fill(statement, depth)
        finally:
            self.counters.pop()
            for machine in self.machines:
                machine.counters.pop(name, None)

    def _fill(self, statement: Statement, depth: int) -> Statement | None:
        """Add statements to the blocks while the whole is defined; return None if all blocks are empty."""
        for body in statement.bodies:
            for _ in range(self.random.randint(1, 3)):
                for _ in range(8):
                    proposed = self._statement(depth + 1)
                    if proposed is None:
                        continue
                    body.append(proposed)
                    if self._run_on_copies(statement) is not None:
                        break
                    body.pop()
        return statement if any(statement.bodies) else None
