"""Random functions on components: the operands of maps, builds and reductions, and bodies of component loops."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import fuzz_matrices_tree as tree
from fuzz_matrices_names import Names
from fuzz_matrices_types import FLOAT, INT, UINT, ULONG, Component, Range, fits


def work_type(component: Component) -> Component:
    """Return the type in which components are computed: an unsigned integer, which wraps, or floating point."""
    if component.floating:
        return FLOAT if component.kind == "small" else component
    return ULONG if component.bits == 64 else UINT


def small_range(component: Component) -> Range:
    """Return bounds so small that a product of two such values is exact."""
    if component.floating:
        return Range(-4, 4)
    return Range(0, 7) if component.kind == "unsigned" else Range(-4, 4)


@dataclass
class Values:
    """The values that an expression may use.

    components: (name, type, bounds) of components, variables and captured scalars.
    integers: scalar expressions of the type uint.
    pointers: (name, type, size, bounds).
    counters: names of the counters of enclosing loops.
    """

    components: list[tuple[str, Component, Range]] = field(default_factory=list)
    integers: list[tree.Scalar] = field(default_factory=list)
    pointers: list[tuple[str, Component, int, Range]] = field(default_factory=list)
    counters: list[str] = field(default_factory=list)


class FunctionMaker:
    """A maker of functions on components of one type."""

    def __init__(self, rng: random.Random, names: Names, component: Component, taken: set[str]) -> None:
        self.rng = rng
        self.names = names
        self.component = component
        self.work = work_type(component)
        self.taken = taken
        self.values = Values()
        self.helpers: list[tree.Function] = []

    def name(self, likely: float = 0.7) -> str:
        """Return a name for a parameter or variable."""
        return self.names.variable(self.taken, likely)

    # Expressions

    def leaf(self) -> tuple[tree.Scalar, Range]:
        """Return a value in the work type, with its bounds."""
        rng, work = self.rng, self.work
        pick = rng.random()
        if self.values.components and pick < 0.6:
            name, component, bounds = rng.choice(self.values.components)
            value: tree.Scalar = tree.Name(component, name)
            if component is not work:
                value = tree.Cast(work, value)
            return value, bounds
        if self.values.pointers and pick < 0.75:
            name, component, size, bounds = rng.choice(self.values.pointers)
            index = tree.Binary(UINT, "%", self.unsigned(1), tree.Num(UINT, size))
            value = tree.Index(component, name, index)
            return (value if component is work else tree.Cast(work, value)), bounds
        if self.values.integers and pick < 0.87:
            low = tree.Binary(UINT, "%", self.unsigned(1), tree.Num(UINT, rng.choice([2, 3, 4])))
            return (low if work is UINT else tree.Cast(work, low)), Range(0, 3)
        number = rng.choice([0, 1, 2, 3]) if not work.floating else rng.choice([-2, -1, 0, 1, 2, 3])
        return tree.Num(work, number), Range(number, number)

    def unsigned(self, depth: int) -> tree.Scalar:
        """Return a value of the type uint."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.3:
            if self.values.counters and rng.random() < 0.3:
                return tree.Cast(UINT, tree.Name(INT, rng.choice(self.values.counters)))
            if self.values.integers and rng.random() < 0.8:
                return rng.choice(self.values.integers)
            return tree.Num(UINT, rng.choice([1, 2, 3, 5, 7]))
        op = rng.choice(["+", "^", "*", "+", "&", "|"])
        return tree.Binary(UINT, op, self.unsigned(depth - 1), self.unsigned(depth - 1))

    def value(self, depth: int) -> tuple[tree.Scalar, Range]:
        """Return an expression in the work type, with its bounds."""
        rng, work = self.rng, self.work
        if depth == 0 or rng.random() < 0.2:
            return self.leaf()
        if rng.random() < 0.15:
            a, first = self.value(depth - 1)
            b, second = self.value(depth - 1)
            return tree.Choose(work, self.condition(), a, b), first.joined(second)
        if work.floating:
            return self.floating(depth)
        op = rng.choice(["+", "-", "*", "&", "|", "^", "+", "<<", ">>"])
        a = self.value(depth - 1)[0]
        if op in ("<<", ">>"):
            second: tree.Scalar = tree.Num(work, rng.randrange(0, self.component.bits))
        else:
            second = self.value(depth - 1)[0]
        whole = Range(work.low, work.high)
        if rng.random() < 0.15:
            return tree.Builtin(work, rng.choice(["min", "max"]), [a, self.value(depth - 1)[0]]), whole
        return tree.Binary(work, op, a, second), whole

    def floating(self, depth: int) -> tuple[tree.Scalar, Range]:
        """Return a floating-point expression."""
        rng, work = self.rng, self.work
        (a, first), (b, second) = self.value(depth - 1), self.value(depth - 1)
        pick = rng.randrange(6)
        if pick == 0:
            return tree.Builtin(work, rng.choice(["fmin", "fmax", "min", "max"]), [a, b]), first.joined(second)
        if pick == 1:
            return tree.Builtin(work, "fabs", [a]), Range(0, first.most, first.grain)
        if pick == 2:
            return tree.Unary(work, "-", a), first.negate()
        if pick == 3:
            factor = rng.choice([2, 3, -1])
            scaled = first.multiply(Range(factor, factor))
            if fits(work, scaled):
                return tree.Binary(work, "*", a, tree.Num(work, factor)), scaled
        total = first.add(second) if pick < 5 else first.add(second.negate())
        if not fits(work, total):
            return a, first
        return tree.Binary(work, "+" if pick < 5 else "-", a, b), total

    def condition(self) -> tree.Scalar:
        """Return a condition."""
        rng = self.rng
        pick = rng.randrange(5)
        if pick == 0 and self.values.components:
            (a, _), (b, _) = self.leaf(), self.leaf()
            return tree.Binary(INT, rng.choice(["<", ">", "<=", "=="]), a, b)
        if pick == 1:
            odd = tree.Binary(UINT, "&", self.unsigned(1), tree.Num(UINT, 1))
            return tree.Binary(INT, "!=", odd, tree.Num(UINT, 0))
        if pick == 2:
            a = tree.Binary(INT, "<", self.unsigned(0), self.unsigned(0))
            b = tree.Binary(INT, "==", self.unsigned(0), self.unsigned(0))
            return tree.Binary(INT, rng.choice(["&&", "||"]), a, b)
        return tree.Binary(INT, rng.choice(["<", "==", "!=", ">="]), self.unsigned(1), self.unsigned(0))

    def bounded(self, value: tree.Scalar, bounds: Range, target: Range) -> tree.Scalar:
        """Return a floating-point value, clamped to `target` unless its bounds are within."""
        if not self.work.floating or bounds.within(target):
            return value
        low, high = tree.Num(self.work, target.low), tree.Num(self.work, target.high)
        if self.rng.random() < 0.5:
            return tree.Builtin(self.work, "clamp", [value, low, high])
        return tree.Builtin(self.work, "fmin", [tree.Builtin(self.work, "fmax", [value, low]), high])

    def result(self, target: Range, depth: int = 2) -> tree.Scalar:
        """Return an expression of the component type within bounds."""
        value, bounds = self.value(depth)
        value = self.bounded(value, bounds, target)
        if self.component is self.work:
            return value
        silent = self.component.bits != 8 if self.component.floating else self.rng.random() < 0.5
        return tree.Cast(self.component, value, silent and self.rng.random() < 0.7)

    # Statements

    def body(self, target: Range, depth: int = 2) -> list[tree.Node]:
        """Return a body that returns a component within bounds."""
        rng = self.rng
        statements: list[tree.Node] = []
        if rng.random() < 0.7:
            name = self.name()
            value, bounds = self.value(1)
            statements.append(tree.DeclareScalar(self.work, name, self.bounded(value, bounds, target)))
            self.values.components.append((name, self.work, target if self.work.floating else bounds))
            for _ in range(rng.choice([0, 1, 1, 2, 3])):
                statements += self.statement(name, target, depth, True, False)
        return [*statements, tree.Return(self.result(target))]

    def set(self, name: str, target: Range) -> tree.Node:
        """Return an assignment to the body's variable."""
        value, bounds = self.value(2)
        return tree.SetScalar(name, self.bounded(value, bounds, target))

    def leave(self, target: Range, returns: bool, loop: bool) -> list[tree.Node]:
        """Return a statement that leaves a loop or the function, or none."""
        choices: list[list[tree.Node]] = [[]]
        if returns:
            choices += [[tree.Return(self.result(target, 1))]] * 2
        if loop:
            choices += [[tree.Break()], [tree.Continue()]]
        return self.rng.choice(choices)

    def statement(self, name: str, target: Range, depth: int, returns: bool, loop: bool) -> list[tree.Node]:
        """Return statements of a body: assignments, conditions, loops, switches."""
        rng = self.rng
        pick = rng.randrange(6) if depth else 0
        if pick <= 1:
            return [self.set(name, target)]
        if pick == 2:
            then = [*self.statement(name, target, depth - 1, returns, loop), *self.leave(target, returns, loop)]
            other = self.statement(name, target, 0, returns, loop) if rng.random() < 0.4 else []
            return [tree.If(self.condition(), then, other)]
        if pick in (3, 4):
            return [self.loop(name, target, depth, returns)]
        cases: list[tuple[list[int | None], list[tree.Node], bool]] = []
        labels: list[int | None] = [0, 1, 2, None]
        rng.shuffle(labels)
        for label in labels[: rng.choice([2, 3, 4])]:
            body = [*self.statement(name, target, 0, returns, False), *self.leave(target, returns, False)]
            cases.append(([label], body, rng.random() < 0.4))
        return [tree.Switch(tree.Binary(UINT, "&", self.unsigned(1), tree.Num(UINT, 3)), cases)]

    def loop(self, name: str, target: Range, depth: int, returns: bool) -> tree.Node:
        """Return a loop."""
        rng = self.rng
        counter = self.name(0.3)
        count: tree.Scalar = tree.Num(INT, rng.choice([1, 2, 3]), True)
        if rng.random() < 0.4:
            low = tree.Binary(UINT, "&", self.unsigned(0), tree.Num(UINT, rng.choice([1, 3])))
            count = tree.Cast(INT, low)
        self.values.counters.append(counter)
        body = [*self.statement(name, target, depth - 1, returns, True)]
        if rng.random() < 0.6:
            body.insert(rng.randrange(2), tree.If(self.condition(), self.leave(target, returns, True), []))
        self.values.counters.remove(counter)
        return tree.Loop(rng.choice(["for", "for", "while", "do", "forever"]), counter, INT, count, body)


def reduction(maker: FunctionMaker, how: str) -> tree.Function:
    """Return a function for a reduction: sum, max, min, xor, and, or, or a product."""
    rng, component, work = maker.rng, maker.component, maker.work
    first, second = maker.name(), maker.name()
    parameters = [tree.Parameter("scalar", first, component), tree.Parameter("scalar", second, component)]
    x, y = tree.Name(component, first), tree.Name(component, second)
    a: tree.Scalar = x if component is work else tree.Cast(work, x)
    b: tree.Scalar = y if component is work else tree.Cast(work, y)
    if how in ("max", "min"):
        compare = tree.Binary(INT, "<" if how == "max" else ">", a, b)
        body = _extremum(maker, compare, x, y)
    else:
        op = {"sum": "+", "xor": "^", "and": "&", "or": "|", "product": "*"}[how]
        value: tree.Scalar = tree.Binary(work, op, a, b)
        body = []
        if rng.random() < 0.4:
            name = maker.name()
            body.append(tree.DeclareScalar(work, name, value))
            value = tree.Name(work, name)
        body.append(tree.Return(value if component is work else tree.Cast(component, value)))
    return tree.Function(maker.names.function(), parameters, component, body, prefix(rng))


def _extremum(maker: FunctionMaker, compare: tree.Scalar, x: tree.Scalar, y: tree.Scalar) -> list[tree.Node]:
    """Return the body of a function that returns y if `compare` is true, else x."""
    pick = maker.rng.randrange(4)
    if pick == 0:
        return [tree.Return(tree.Choose(maker.component, compare, y, x))]
    if pick == 1:
        return [tree.If(compare, [tree.Return(y)], []), tree.Return(x)]
    if pick == 2:
        loop = tree.Loop("for", maker.name(0.2), INT, tree.Num(INT, 2, True), [tree.If(compare, [tree.Return(y)], [])])
        return [loop, tree.Return(x)]
    return [tree.Switch(compare, [([1], [tree.Return(y)], False), ([None], [tree.Return(x)], False)]), tree.Return(x)]


def prefix(rng: random.Random) -> str:
    """Return the specifiers of a function's declaration."""
    return rng.choice(["static ", "static ", "", "inline static "])
