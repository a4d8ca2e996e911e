"""Statements of random programs: control flow, assignments, stores and operations on matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from .expressions import INT, UINT, Expressions, Scope, Variable
from .matrices import Matrices

SLOTS = 24


@dataclass(frozen=True)
class Settings:
    """The part of programs with matrices, the probability of a label in a block, and sizes."""

    matrices: float = 0.5
    goto: float = 0.1
    depth: int = 5
    statements: int = 30


class Statements(Expressions):
    """Draws statements, as lists of lines, until `left` statements are written; `leave` draws a return."""

    def __init__(self, random: Random, settings: Settings, matrices: Matrices | None) -> None:
        super().__init__(random)
        self.settings, self.matrices = settings, matrices
        self.left, self.names, self.most_times = 0, 0, 1
        self.leave: Callable[[Scope], str] = lambda _: "return;"

    def name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def declare(self, scope: Scope, uniform: bool) -> tuple[list[str], Scope]:
        """Return the declaration of a variable or an array, and the scope with it."""
        variable = Variable(self.name("v"), self.random.choice(self.types), uniform, array=self.chance(0.25))
        values = [self.value(scope, variable.type, uniform, 1) for _ in range(4 if variable.array else 1)]
        value = f"[4] = {{{', '.join(values)}}};" if variable.array else f" = {values[0]};"
        line = f"{variable.type.name} {variable.name}{value}"
        return [line], replace(scope, variables=[*scope.variables, variable])

    def block(self, scope: Scope, most: int = 5) -> list[str]:
        """Return a list of statements, perhaps with a declaration before it and a label in it."""
        lines, inner = list[str](), scope
        if scope.depth and self.chance(0.15):
            lines, inner = self.declare(scope, scope.strict and scope.uniform and self.chance(0.5))
        if scope.depth < self.settings.depth and self.chance(self.settings.goto):
            label = self.name("L")
            body = self.block(replace(inner, labels=(*inner.labels, label)), most)
            lines += [*body, f"{label}: ;"] if any(f"goto {label};" in line for line in body) else body
        for _ in range(self.random.randint(1, most)):
            if self.left <= 0:
                break
            self.left -= 1
            lines += self.statement(inner)
            if lines[-1].startswith(("break", "continue", "goto", "return")) and self.chance(0.8):
                break
        return lines

    def side(self, scope: Scope) -> bool:
        """Return whether the next values are uniform, as a choice in uniform code of strict programs."""
        return scope.strict and scope.uniform and self.chance(0.75)

    def statement(self, scope: Scope) -> list[str]:
        if self.matrices and scope.matrices and scope.uniform and self.chance(0.5):
            return self.matrices.statement(self, scope)
        if scope.depth < self.settings.depth and self.chance(0.5):
            return self.random.choice([self.if_, self.switch, self.loop, self.if_, self.loop])(scope)
        choice, uniform = self.random.randrange(10), self.side(scope)
        if choice < 3 and (scope.depth or self.chance(0.3)):
            return self.jump(scope)
        if choice < 5 and scope.kernel:
            operator = self.random.choice(["=", "^=", "+="])
            return [f"out[item * {SLOTS} + {self.random.randrange(12)}] {operator} {self.value(scope, UINT)};"]
        if choice == 5 and (found := scope.writable(uniform)):
            target = self.random.choice(found)
            others = replace(scope, variables=[v for v in scope.variables if v != target])
            return [f"{target.name} = {self.condition(others, uniform)};"]
        if choice == 6:
            return [f"{self.assignment(scope, uniform)}, {self.assignment(scope, self.side(scope))};"]
        if choice == 7:
            return [f"{self.random.choice([self.call, self.condition])(scope, uniform, True)};"]
        return [f"{self.assignment(scope, uniform)};"]

    def jump(self, scope: Scope) -> list[str]:
        """Return a jump, mostly with a condition, which is uniform in uniform code of strict programs."""
        jumps = [f"goto {label};" for label in scope.labels] * 2 + [self.leave(scope)] * scope.returns
        jumps += ["break;"] * 2 * scope.breaks + ["continue;"] * 2 * scope.continues
        jump = self.random.choice(jumps or [f"{self.assignment(scope, False)};"])
        if scope.depth and self.chance(0.2):
            return [jump]
        return [f"if {self.condition(scope, scope.strict and scope.uniform)} {jump}"]

    def branch(self, scope: Scope, uniform: bool) -> list[str]:
        return ["{", *self.block(scope.within(uniform), 4), "}"]

    def if_(self, scope: Scope) -> list[str]:
        lines = list[str]()
        for number in range(self.random.choice([1, 1, 1, 2, 3])):
            uniform = self.side(scope)
            scope = scope if uniform else replace(scope.within(False), depth=scope.depth)
            head = f"{'else ' if number else ''}if {self.condition(scope, uniform)}"
            lines += [head, *self.branch(scope, uniform)]
        return [*lines, "else", *self.branch(scope, uniform)] if self.chance(0.5) else lines

    def switch(self, scope: Scope) -> list[str]:
        """Return a switch, whose cases fall through at times, with a default in any position or none."""
        uniform, type_ = self.side(scope), self.random.choice([INT, UINT, *self.types])
        selector = f"{self.value(scope, type_, uniform)} {self.random.choice(['& 7', '& 3', '% 5'])}"
        numbers = self.random.sample(range(-4 if type_.signed else 0, 8), self.random.randint(1, 5))
        labels = [f"case {number}{'' if type_.signed else 'u'}:" for number in numbers]
        labels += ["default:"] * self.chance(0.7)
        self.random.shuffle(labels)
        lines, inner = [f"switch ({selector}) {{"], replace(scope.within(uniform), breaks=True)
        for label in labels:
            body = ["{", *self.block(inner, 3), "}", *["break;"] * self.chance(0.6)]
            lines += [label, *(body if self.chance(0.85) else [])]
        return [*lines, ";", "}"]

    def loop(self, scope: Scope) -> list[str]:
        """Return a loop that ends by a counter, perhaps earlier."""
        most, uniform = min(self.random.choice([1, 2, 3, 3, 4, 6]), self.most_times // scope.times), self.side(scope)
        limit = f"{most}u" if self.chance(0.5) else f"({self.value(scope, UINT, uniform, 1)} % {most + 1}u)"
        inner = replace(scope.within(uniform), times=scope.times * (most + 1), breaks=True, continues=True)
        more = self.condition(inner, uniform) if self.chance(0.4) else "1"
        i = self.name("i")
        body = self.block(replace(inner, variables=[*scope.variables, Variable(i, UINT, uniform, fixed=True)]))
        forms = [
            [f"uint {i} = 0;", f"while ({i}++ < {limit} && {more}) {{", *body, "}"],
            [f"uint {i} = 0;", f"do {{ ++{i};", *body, f"}} while ({i} < {limit} && {more});"],
            [f"uint {i} = 0;", "for (;;) {", f"if ({i}++ >= {limit}) break;", *body, "}"],
            [f"for (uint {i} = 0, j = {limit}; {i} < j && {more}; ++{i}, --j) {{", *body, "}"],
            [f"uint {i} = {limit};", f"while ({i}-- && {more}) {{", *body, "}"],
            [f"for (uint {i} = 0; {i} < {limit} && {more}; {i}++) {{", *body, "}"],
        ]
        return ["{", *self.random.choice(forms), "}"]
