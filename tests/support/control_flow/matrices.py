"""Statements on cooperative matrices of 8 x 8, whose components stay small integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .expressions import UINT, Scope

if TYPE_CHECKING:
    from .statements import Statements

TILES = 4  # of each input, and of the output of each work-group
TILE = 128  # elements: 8 rows of 8, which start 16 elements apart because devices require multiples of 16 bytes


class Family(NamedTuple):
    """The component types of a product's factors and of its sum, by C's and numpy's names."""

    name: str
    factor: str
    sum: str
    dtypes: tuple[str, str]
    largest: int  # integer that the sum has exactly


FAMILIES = [
    Family("F", "half", "float", ("float16", "float32"), 1 << 24),
    Family("H", "half", "half", ("float16", "float16"), 1 << 11),
    Family("S", "char", "int", ("int8", "int32"), 1 << 62),
    Family("U", "uchar", "uint", ("uint8", "uint32"), 1 << 62),
]


class Matrices:
    """Draws statements on matrices of one family.

    bound: no component of a sum is larger. Loads have components up to 8, and factors up to 1.
    functions: name, whether the first parameter is a pointer, and the growth of components by a call.
    """

    def __init__(self, family: Family) -> None:
        self.family, self.bound = family, 8
        self.functions = list[tuple[str, bool, int]]()

    def grow(self, amount: int) -> bool:
        """Return whether components may grow by this amount, and count it."""
        fits = self.bound + amount < self.family.largest
        self.bound += amount * fits
        return fits

    def statement(self, draw: Statements, scope: Scope) -> list[str]:
        matrix, use = max(draw.random.choices(scope.matrices, k=2), key=lambda found: found[1])
        if use == "C" and draw.chance(0.2) and scope.kernel:
            target = f"pm + get_group_id(0) * {TILES * TILE} + {self.tile(draw, scope)}"
            return [f"STORE({self.family.name}C, {target}, {matrix});"]
        if use == "C" and self.functions and draw.chance(0.15):
            name, pointer, growth = draw.random.choice(self.functions)
            if self.grow(growth * scope.times):
                start = f"&{matrix}" if pointer else f"{matrix} = {name}({self.pick(draw, scope, 'C')}"
                call = f"{name}({start}" if pointer else start
                return [f"{call}, {draw.value(scope, UINT, True, 1)}, pa, pb, pc);"]
        value = self.value(draw, scope, use)
        if draw.chance(0.15):
            value = f"{draw.condition(scope, True)} ? {value} : {self.value(draw, scope, use)}"
        return [f"{matrix} = {value};"]

    def tile(self, draw: Statements, scope: Scope) -> str:
        return f"({draw.value(scope, UINT, True, 1)} & {TILES - 1}u) * {TILE}"

    def pick(self, draw: Statements, scope: Scope, use: str) -> str:
        """Return a variable of this use, or a loaded matrix if there is none."""
        found = [name for name, its_use in scope.matrices if its_use == use]
        return draw.random.choice(found) if found else self.load(draw, scope, use)

    def load(self, draw: Statements, scope: Scope, use: str) -> str:
        call = draw.random.choice(["LOAD", "LOADT"])
        return f"{call}({self.family.name}{use}, p{use.lower()} + {self.tile(draw, scope)})"

    def value(self, draw: Statements, scope: Scope, use: str) -> str:
        """Return a matrix; a sum's components grow by 8 at most each time, or double outside of loops."""
        type_, choice, fresh = f"{self.family.name}{use}", draw.random.randrange(14), self.load(draw, scope, use)
        if use != "C" or choice < 1:
            return fresh if choice < 8 else f"INIT({type_}, {draw.random.choice([0, 1])})"
        c = self.pick(draw, scope, "C")
        if choice < 10 and self.grow(8 * scope.times):
            if choice < 8:
                return f"MULADD({type_}, {self.pick(draw, scope, 'A')}, {self.pick(draw, scope, 'B')}, {c})"
            other = fresh if choice == 8 else f"INIT({type_}, {draw.random.randrange(8)})"
            return f"{draw.random.choice(['ADD', 'SUB'])}({type_}, {c}, {other})"
        if choice == 10 and self.family.name in "SU":
            return f"SCALE({type_}, {c}, {draw.random.randrange(1, 5)})"
        if choice == 11 and scope.times == 1 and scope.kernel and self.grow(self.bound):
            return f"ADD({type_}, {c}, {self.pick(draw, scope, 'C')})"
        return c if draw.chance(0.5) else f"NEG({type_}, {c})"
