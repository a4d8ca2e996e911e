"""Library functions that calculate each component by a function of scalars: a builtin, or an operand.

A function that is an operand stands in the library's text as a definition that does nothing, `OperandFunction`; who
links the text puts the program's own in its place, and passes on what further arguments that one has.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import lru_cache

from . import spelling
from .holdings import Holding, Term
from .instance import Instance, Parameter, Signature, Written
from .instances import OfMatrix, bytes_of_row, each, name_of, private, travelling
from .spelling import FLOAT
from .strategies import Target
from .variants import MatrixType

ROW, COLUMN, ROW_AND_COLUMN, BLOCKS = 1, 2, 3, 4
_WORDS = {ROW: "row", COLUMN: "column", ROW_AND_COLUMN: "all", BLOCKS: "2x2"}


@dataclass(frozen=True, slots=True)
class ComponentWise(OfMatrix):
    """`void f(private T *out, x0, x1, ...)`: the builtin `name` of each component. An operand is a matrix, or a scalar
    where `matrices` says that it is none."""

    name: str
    matrices: tuple[bool, ...]

    @property
    def function_name(self) -> str:
        kinds = "".join("m" if is_matrix else "s" for is_matrix in self.matrices)
        return name_of(self.name, self.matrix, kinds)

    @property
    def signature(self) -> Signature:
        t = self.matrix.component
        operands = [
            private(f"x{n}", t, True) if is_matrix else Parameter(f"x{n}", t.library_c)
            for n, is_matrix in enumerate(self.matrices)
        ]
        return Signature("void", (private("out", t), *operands))

    def definitions(self, target: Target) -> dict[str, str]:
        t, w = self.matrix.component, target.width(self.matrix)
        has_vectors = target.holding(self.matrix).has_vectors
        v = spelling.vector(t, w)
        values = []
        for n, is_matrix in enumerate(self.matrices):
            part = f"CM_VECTOR(const {v}, x{n}, s)" if has_vectors else f"x{n}[s]"
            values.append(part if is_matrix else f"({v})(x{n})")
        arithmetic = FLOAT if t.is_bits else t
        operands = ", ".join(spelling.convert(value, t, arithmetic, w) for value in values)
        value = spelling.convert(f"{self.name}({operands})", arithmetic, t, w)
        out = self.matrix_definitions(target, "COMPONENT_WISE")
        return out | {"OPERANDS": _written(self.signature.parameters[1:]), "VALUE(s)": value}


def _written(parameters: tuple[Parameter, ...]) -> str:
    """Return parameters in OpenCL C."""
    return ", ".join(
        f"{f'__{p.space} ' if p.space else ''}{'const ' * p.const}{p.type} {'*' if p.space else ''}{p.name}"
        for p in parameters
    )


@dataclass(frozen=True, slots=True)
class OperandFunction(Written):
    """A stand-in for a function of the program's, of `types`, by its name in the library's text."""

    name: str
    result: str
    types: tuple[str, ...]

    @property
    def function_name(self) -> str:
        return self.name

    @property
    def signature(self) -> Signature:
        return Signature(self.result, tuple(Parameter(f"x{n}", t) for n, t in enumerate(self.types)))

    def text(self, target: Target) -> str:
        head = f"static {self.result} {self.name}({_written(self.signature.parameters)})"
        return f"{head}\n{{\n    return ({self.result})0;\n}}\n"


@dataclass(frozen=True, slots=True)
class _ByOperand(OfMatrix):
    """The base of operations that have a function as an operand: `function` is its name in the library's text. With
    `wide`, `wide_function` is there, too: the function of as many components as a vector has, side by side."""

    function: str
    wide: bool = False

    @property
    def wide_function(self) -> str:
        return f"{self.function}_wide"


@dataclass(frozen=True, slots=True)
class Map(_ByOperand):
    """`void f(private T *out, const private T *x0, ...)`: component (r, c) is the function of r, c and the components
    of so many `operands`."""

    operands: int = 0

    @property
    def function_name(self) -> str:
        return name_of("map", self.matrix, self.function)

    @property
    def signature(self) -> Signature:
        t = self.matrix.component
        operands = (private(f"x{n}", t, True) for n in range(self.operands))
        return Signature("void", (private("out", t), *operands))

    def definitions(self, target: Target) -> dict[str, str]:
        numbers = range(self.operands)
        section = "MAP_WIDE" if self.wide else "MAP"
        out = self.matrix_definitions(target, section)
        if not self.wide:
            out["EACH"] = each(target.holding(self.matrix).slots, vectors=False)
        parts = "".join(f", x{n}[s]" for n in numbers)
        out["VALUE(r, c, s)"] = f"{self.function}((uint)(r), (uint)(c){parts})"
        if self.wide:
            v = out["V"]
            parts = "".join(f", CM_VECTOR(const {v}, x{n}, s)" for n in numbers)
            out["VALUE(r, c, s)"] = f"{self.wide_function}((uint)(r), (uint)(c){parts})"
        return out | {"PARAMETERS": "".join(f", {_written((p,))}" for p in self.signature.parameters[1:])}

    def needs(self, target: Target) -> tuple[Instance, ...]:
        t = self.matrix.component
        v = spelling.vector(t, target.width(self.matrix)) if self.wide else t.library_c
        name = self.wide_function if self.wide else self.function
        return (OperandFunction(name, v, ("uint", "uint", *(v for _ in range(self.operands)))),)


@lru_cache(maxsize=1024)
def lanes_of_lines(holding: Holding, how: int) -> tuple[int, int]:
    """Return how many lanes have a part of each row (or column, or of the whole matrix, by `how`), and the distance
    from one of them to the next. The first is the lane of the line's first component, in all holdings that there
    are."""
    rows, columns = range(holding.rows), range(holding.columns)
    lines = {
        ROW: [[(r, c) for c in columns] for r in rows],
        COLUMN: [[(r, c) for r in rows] for c in columns],
        ROW_AND_COLUMN: [[(r, c) for r in rows for c in columns]],
    }[how]
    counts, steps = set(), set()
    for line in lines:
        lanes = sorted({int(holding.holder(*place)[0]) for place in line})
        between = {b - a for a, b in itertools.pairwise(lanes)}
        if lanes[0] != holding.holder(*line[0])[0] or len(between) > 1:
            raise AssertionError(f"the lanes of a line of {holding} are {lanes}")
        counts.add(len(lanes))
        steps |= between
    if len(counts) != 1 or len(steps) > 1:
        raise AssertionError(f"the lines of {holding} are held by {counts} lanes, {steps} from each other")
    return counts.pop(), next(iter(steps), 1)


@dataclass(frozen=True, slots=True)
class Reduce(_ByOperand):
    """`void f(private T *out, const private T *m)`: the components of `matrix`, combined along `how` for a result of
    these `rows` and `columns`."""

    how: int = ROW
    rows: int = 1
    columns: int = 1

    @property
    def result(self) -> MatrixType:
        return replace(self.matrix, rows=self.rows, columns=self.columns)

    @property
    def function_name(self) -> str:
        return name_of("reduce", self.matrix, _WORDS[self.how], str(self.result.shape), self.function)

    @property
    def signature(self) -> Signature:
        t = self.matrix.component
        return Signature("void", (private("out", t), private("m", t, True)))

    def definitions(self, target: Target) -> dict[str, str]:
        m, result, t = self.matrix, target.holding(self.result), self.matrix.component
        section = "REDUCE_BLOCKS" if self.how == BLOCKS else "REDUCE"
        out = self.matrix_definitions(target, section) | travelling(target, t)
        # Of the operand; the result's have R_ before them.
        places = {name: body for name, body in result.macros().items() if name != "HELD"}
        out |= {f"R_{name}": body.replace("CM_", "CM_R_") for name, body in places.items()}
        out |= {"R_ROWS": str(self.rows), "R_COLUMNS": str(self.columns), "F(x, y)": f"{self.function}(x, y)"}
        out["EACH"] = each(m.rows * m.columns, vectors=False)
        return out if self.how == BLOCKS else out | self._lines(target.holding(m))

    def _lines(self, holding: Holding) -> dict[str, str]:
        """Return the macros for rows or columns, of which each becomes a value; or for the one of all components."""
        line = {ROW: "(r)", COLUMN: "(c)", ROW_AND_COLUMN: "0"}[self.how]
        count, step = lanes_of_lines(holding, self.how)
        first = {ROW: (Term("(l)"), 0), COLUMN: (0, Term("(l)")), ROW_AND_COLUMN: (0, 0)}[self.how]
        return {
            "LINES": str({ROW: holding.rows, COLUMN: holding.columns, ROW_AND_COLUMN: 1}[self.how]),
            "LINE(r, c)": line,
            "FIRST_LANE(l)": str(holding.holder(*first)[0]),
            "PARTS": str(count),
            "STEP": str(step),
        }

    def needs(self, target: Target) -> tuple[Instance, ...]:
        t = self.matrix.component.library_c
        return (OperandFunction(self.function, t, (t, t)),)

    def scratch_bytes(self, target: Target) -> int:
        return bytes_of_row(target, self.matrix.component)
