"""Expressions of integers: values without side effects, and conditions, whose operands may assign and call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple


class Type(NamedTuple):
    name: str
    bits: int
    signed: bool
    wide: str  # the unsigned type in which sums and products wrap


UINT, INT = Type("uint", 32, False, "uint"), Type("int", 32, True, "uint")
WIDE = [Type("long", 64, True, "ulong"), Type("ulong", 64, False, "ulong")]
NARROW = [Type("short", 16, True, "uint"), Type("ushort", 16, False, "uint")]


class Variable(NamedTuple):
    """A variable or an array of 4; `uniform`: equal in a work-group; `fixed`: never assigned by statements."""

    name: str
    type: Type
    uniform: bool = False
    fixed: bool = False
    array: bool = False


class Function(NamedTuple):
    """A function of integers, and perhaps of a pointer to a variable, or array, of the type `pointee`."""

    name: str
    result: Type
    parameters: list[Type]
    pointee: Type | None
    array: bool


@dataclass(frozen=True)
class Scope:
    """What a statement may use. Strict programs have matrices, and so keep uniform and divergent code apart.

    matrices: names and uses (A, B, C) of variables.
    uniform: all work-items of the work-group are here together, if `strict`.
    times: an upper bound of the number of executions.
    """

    variables: list[Variable]
    matrices: tuple[tuple[str, str], ...] = ()
    labels: tuple[str, ...] = ()
    strict: bool = False
    uniform: bool = True
    depth: int = 0
    times: int = 1
    breaks: bool = False
    continues: bool = False
    returns: bool = True
    kernel: bool = True

    def readable(self, uniform: bool, array: bool = False) -> list[Variable]:
        return [v for v in self.variables if v.array == array and (v.uniform or not uniform)]

    def writable(self, uniform: bool, array: bool = False) -> list[Variable]:
        """Return the variables that code with uniform values, or any other code, may assign."""
        found = [v for v in self.variables if v.array == array and not v.fixed]
        return [v for v in found if v.uniform == uniform] if self.strict else found

    def within(self, uniform: bool) -> Scope:
        """Return the scope of a branch; no jump leaves a divergent branch in uniform code of a strict program."""
        inner = replace(self, depth=self.depth + 1)
        if not self.strict or uniform or not self.uniform:
            return inner
        return replace(inner, uniform=False, labels=(), breaks=False, continues=False, returns=False)


class Expressions:
    """Draws expressions; `calls` is the number of calls that a kernel or function may still have."""

    def __init__(self, random: Random) -> None:
        self.random, self.types, self.functions, self.calls = random, [UINT, INT], list[Function](), 6

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def leaf(self, scope: Scope, type_: Type, uniform: bool) -> str:
        arrays, found = scope.readable(uniform, array=True), scope.readable(uniform)
        if arrays and self.chance(0.15):
            return f"({type_.name}){self.element(scope, self.random.choice(arrays), uniform)}"
        if found and self.chance(0.75):
            variable = self.random.choice(found)
            return variable.name if variable.type == type_ else f"({type_.name}){variable.name}"
        numbers = [0, 1, 2, 3, 7, 15, 255, 4097, 32767, self.random.getrandbits(type_.bits - 1)]
        suffix = ("" if type_.signed else "u") + "l" * (type_.bits == 64)
        return f"({type_.name}){'-' if type_.signed and self.chance(0.3) else ''}{self.random.choice(numbers)}{suffix}"

    def element(self, scope: Scope, array: Variable, uniform: bool) -> str:
        indices = [v.name for v in scope.readable(uniform) if v.type.bits == 32]
        return f"{array.name}[{self.random.choice([*indices, '1', '2'])} & 3u]"

    def value(self, scope: Scope, type_: Type, uniform: bool = False, depth: int = 2) -> str:
        """Return an expression of this type without side effects."""
        if depth <= 0 or self.chance(0.2):
            return self.leaf(scope, type_, uniform)
        if self.chance(0.07):
            return f"({type_.name}){self.call(scope, uniform, False)}"
        a, b = (self.value(scope, type_, uniform, depth - 1) for _ in range(2))
        condition = self.condition(scope, uniform, False, depth - 1)
        shift = f"({self.leaf(scope, UINT, uniform)} & {type_.bits - 1}u)"
        divisor = f"(({b} & 7) + 1)" if type_.signed else f"({b} | 1)"
        forms = [f"({type_.wide}){a} {self.random.choice('+-*&|^')} ({type_.wide}){b}"] * 5
        forms += [f"({type_.wide}){a} << {shift}", f"{a} >> {shift}", f"{a} {self.random.choice('/%')} {divisor}"]
        forms += [f"~{a}", f"!{a}", f"-({type_.wide}){a}", f"{condition} ? {a} : {b}", condition]
        return f"({type_.name})({self.random.choice(forms)})"

    def call(self, scope: Scope, uniform: bool, effects: bool) -> str:
        """Return a call as a uint, with side effects only if `effects`; a leaf if no function fits."""
        found = [f for f in self.functions if effects or not f.pointee]
        if not found or not self.calls or (not scope.kernel and scope.times > 1):
            return self.leaf(scope, UINT, uniform)
        function = self.random.choice(found)
        arguments = [self.leaf(scope, parameter, uniform) for parameter in function.parameters]
        if function.pointee:
            targets = [v.name for v in scope.writable(uniform, function.array) if v.type == function.pointee]
            if not targets:
                return self.leaf(scope, UINT, uniform)
            arguments.append(f"{'' if function.array else '&'}{self.random.choice(targets)}")
        self.calls -= 1
        return f"(uint){function.name}({', '.join(arguments)})"

    def assignment(self, scope: Scope, uniform: bool) -> str:
        """Return an assignment without parentheses."""
        found = scope.writable(uniform) + scope.writable(uniform, array=True)
        if not found:
            return "(void)0"
        variable = self.random.choice(found)
        name = self.element(scope, variable, uniform) if variable.array else variable.name
        if not variable.type.signed and variable.type.bits > 16 and self.chance(0.3):
            return self.random.choice(["{}++", "--{}", "{} += 3u", "{} ^= 5u", "{} *= 3u"]).format(name)
        return f"{name} = {self.value(scope, variable.type, uniform)}"

    def condition(self, scope: Scope, uniform: bool = False, effects: bool = True, depth: int = 2) -> str:
        """Return a condition in parentheses; if `effects`, its operands may assign and call."""
        choice = self.random.randrange(10) if depth > 0 else 0
        if choice < 3:
            return self.comparison(scope, uniform, effects, min(depth, 1))
        a, b, c = (self.condition(scope, uniform, effects, depth - 1) for _ in range(3))
        if choice < 8:
            return f"({a} {self.random.choice(['&&', '||'])} {b})"
        return f"(!{a})" if choice == 8 else f"({a} ? {b} : {c})"

    def comparison(self, scope: Scope, uniform: bool, effects: bool, depth: int) -> str:
        found, type_ = scope.writable(uniform), self.random.choice(self.types)
        if effects and self.chance(0.35):
            if self.chance(0.3):
                return f"(({self.call(scope, uniform, True)} & 3u) != 1u)"
            if found and self.chance(0.4):
                variable = self.random.choice(found)
                return f"(({variable.name} = {self.value(scope, variable.type, uniform)}) > 2)"
            return f"({self.assignment(scope, uniform)}, {self.comparison(scope, uniform, False, depth)})"
        a, b = (self.value(scope, type_, uniform, depth) for _ in range(2))
        if self.chance(0.4):
            return f"(({a} & {self.random.choice([1, 3, 6])}) {self.random.choice(['==', '!='])} 0)"
        return f"({a} {self.random.choice(['<', '<=', '>', '>=', '==', '!='])} {b})"
