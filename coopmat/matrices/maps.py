"""Library functions that compute each component by a function of scalars: a builtin, or a function of the program.

In the library's text, a function of the program is represented by a placeholder definition, `OperandFunction`. The
linker of the text replaces this definition by the program's function, and passes its further arguments on.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import lru_cache

from . import spelling
from .lane_layouts import LaneLayout, Term, Whole
from .library_function import LibraryFunction, Parameter, Signature, Written
from .library_functions import OfMatrix, bytes_of_row, each, name_of, private, shuffle_macros, unset
from .routes import Target
from .spelling import FLOAT
from .variants import COMPONENT_TYPES, MatrixType

ROW, COLUMN, ROW_AND_COLUMN, BLOCKS = 1, 2, 3, 4
_WORDS = {ROW: "row", COLUMN: "column", ROW_AND_COLUMN: "all", BLOCKS: "2x2"}


@dataclass(frozen=True, slots=True)
class ComponentWise(OfMatrix):
    """A function that applies the builtin `name` to each component: `void f(private T *out, x0, x1, ...)`.

    `matrices` states for each operand whether it is a matrix; otherwise it is a scalar.
    """

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
        has_vectors = target.lane_layout(self.matrix).has_vectors
        v = spelling.vector(t, w)
        values = []
        for n, is_matrix in enumerate(self.matrices):
            part = f"CM_VECTOR(const {v}, x{n}, s)" if has_vectors else f"x{n}[s]"
            values.append(part if is_matrix else f"({v})(x{n})")
        # Intel's CPU runtime (2026.2) crashes on some clamps of chars ("Cannot emit physreg copy instruction").
        narrow = self.name == "clamp" and t.is_integer and t.bits == 8
        arithmetic = FLOAT if t.is_bits else COMPONENT_TYPES["s32"] if narrow else t
        operands = ", ".join(spelling.convert(value, t, arithmetic, w) for value in values)
        value = spelling.convert(f"{self.name}({operands})", arithmetic, t, w)
        out = self.matrix_definitions(target, "COMPONENT_WISE")
        return out | {"OPERANDS": _written(self.signature.parameters[1:]), "VALUE(s)": value}


def _written(parameters: tuple[Parameter, ...]) -> str:
    """Return a list of parameters as OpenCL C."""
    return ", ".join(
        f"{f'__{p.space} ' if p.space else ''}{'const ' * p.const}{p.type} {'*' if p.space else ''}{p.name}"
        for p in parameters
    )


@dataclass(frozen=True, slots=True)
class OperandFunction(Written):
    """A placeholder definition of a function of the program, by its name in the library's text.

    result, types: the types of the result and of the parameters, as OpenCL C.
    """

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
class Map(OfMatrix):
    """A function that maps a function over a matrix: `void f(private T *out, const private T *x0, ...)`.

    Component (r, c) of the result is `function` of r, c and the components (r, c) of the `operands` operands.
    `function` is a name in the library's text. If `width` is not 1, it takes and returns vectors of `width` neighbours
    in a row or, if `down`, in a column, which one lane holds; r and c are the place of the first.
    """

    function: str
    operands: int = 0
    width: int = 1
    down: bool = False

    @property
    def function_name(self) -> str:
        return name_of("map", self.matrix, self.function, *["down"] * self.down)

    @property
    def signature(self) -> Signature:
        t = self.matrix.component
        operands = (private(f"x{n}", t, True) for n in range(self.operands))
        return Signature("void", (private("out", t), *operands))

    def definitions(self, target: Target) -> dict[str, str]:
        lane_layout, v = target.lane_layout(self.matrix), spelling.vector(self.matrix.component, self.width)
        in_vectors = 1 < self.width <= target.width(self.matrix) and type(lane_layout) is Whole and not self.down
        out = self.matrix_definitions(target, "MAP_WIDE" if in_vectors else "MAP")
        if in_vectors:
            part = f"CM_VECTOR(const {v}, x{{}}, s)"
            out |= {"WIDTH": str(self.width), "V": v}
        else:
            slots = lane_layout.neighbours(self.width, self.down)
            assert slots is not None
            part = f"({v})({', '.join(f'x{{0}}[(s) + {slot}]' for slot in slots)})" if self.width > 1 else "x{}[s]"
            out |= self._steps(lane_layout, slots) | {"V": v}
        parts = "".join(f", {part.format(n)}" for n in range(self.operands))
        out["VALUE(r, c, s)"] = f"{self.function}((uint)(r), (uint)(c){parts})"
        return out | {"PARAMETERS": "".join(f", {_written((p,))}" for p in self.signature.parameters[1:])}

    def _steps(self, lane_layout: LaneLayout, slots: tuple[int, ...]) -> dict[str, str]:
        """Return the macros for the slots whose components begin vectors, and for the assignment of a vector."""
        w, first = self.width, lane_layout.place(0, Term("(s)"))[not self.down]
        adjacent = slots == tuple(range(w))
        parts = [(slot, f".s{n:x}" if w > 1 else "") for n, slot in enumerate(slots)]
        return {
            "EACH": each(lane_layout.slots // w, vectors=False),
            "STEP": str(w if adjacent else 1),
            "BEGINS(s)": "1" if adjacent else f"({first} % {w} == 0)",
            "SET(s, x)": " ".join(f"out[(s) + {slot}] = (x){part};" for slot, part in parts),
        }

    def needs(self, target: Target) -> tuple[LibraryFunction, ...]:
        v = spelling.vector(self.matrix.component, self.width)
        return (OperandFunction(self.function, v, ("uint", "uint", *(v for _ in range(self.operands)))),)


@lru_cache(maxsize=1024)
def lanes_of_lines(lane_layout: LaneLayout, how: int) -> tuple[int, int]:
    """Return (count, step): each line is held by `count` lanes, `step` apart, from its first component's lane on.

    A line is a row, a column or the whole matrix, by `how`. Raise AssertionError if lines differ in this.
    """
    rows, columns = range(lane_layout.rows), range(lane_layout.columns)
    lines = {
        ROW: [[(r, c) for c in columns] for r in rows],
        COLUMN: [[(r, c) for r in rows] for c in columns],
        ROW_AND_COLUMN: [[(r, c) for r in rows for c in columns]],
    }[how]
    counts, steps = set(), set()
    for line in lines:
        lanes = sorted({int(lane_layout.holder(*place)[0]) for place in line})
        between = {b - a for a, b in itertools.pairwise(lanes)}
        if lanes[0] != lane_layout.holder(*line[0])[0] or len(between) > 1:
            raise AssertionError(f"the lanes of a line of {lane_layout} are {lanes}")
        counts.add(len(lanes))
        steps |= between
    if len(counts) != 1 or len(steps) > 1:
        raise AssertionError(f"the lines of {lane_layout} are held by {counts} lanes, {steps} from each other")
    return counts.pop(), next(iter(steps), 1)


@dataclass(frozen=True, slots=True)
class Reduce(OfMatrix):
    """A function that reduces a matrix by a function: `void f(private T *out, const private T *m)`.

    function: the name, in the library's text, of the function that combines two components.
    how: the components that are combined: ROW, COLUMN, ROW_AND_COLUMN or BLOCKS.
    rows, columns: the shape of the result.
    wide: the names of the vector versions of `function`: for the operand's vectors, for half as many components, and so
        on to two.
    """

    function: str
    how: int = ROW
    rows: int = 1
    columns: int = 1
    wide: tuple[str, ...] = ()

    @property
    def result(self) -> MatrixType:
        """The type of the result."""
        return replace(self.matrix, rows=self.rows, columns=self.columns)

    @property
    def function_name(self) -> str:
        return name_of("reduce", self.matrix, _WORDS[self.how], str(self.result.shape), self.function)

    @property
    def signature(self) -> Signature:
        t = self.matrix.component
        return Signature("void", (private("out", t), private("m", t, True)))

    def definitions(self, target: Target) -> dict[str, str]:
        m, t, f = self.matrix, self.matrix.component, f"{self.function}(x, y)"
        # Macros with the prefix R_ are for the result.
        shape = {"R_ROWS": str(self.rows), "R_COLUMNS": str(self.columns), "F(x, y)": f}
        if self.wide:
            return (
                self.matrix_definitions(target, f"REDUCE_WIDE_{_WORDS[self.how].upper()}") | shape | self._wide(target)
            )
        section = "REDUCE_BLOCKS" if self.how == BLOCKS else "REDUCE"
        out = self.matrix_definitions(target, section) | shuffle_macros(target, t) | shape | unset(target)
        places = {name: body for name, body in target.lane_layout(self.result).macros().items() if name != "HELD"}
        out |= {f"R_{name}": body.replace("CM_", "CM_R_") for name, body in places.items()}
        # The function is inlined for each component, and Intel's compiler needs a minute for 60 calls in 64 lanes.
        out["EACH"] = each(m.rows * m.columns * max(1, target.sub_group_size // 16), vectors=False)
        return out if self.how == BLOCKS else out | self._lines(target.lane_layout(m))

    def _lines(self, lane_layout: LaneLayout) -> dict[str, str]:
        """Return the macros for the lines that are reduced to one value each: rows, columns, or the whole matrix."""
        line = {ROW: "(r)", COLUMN: "(c)", ROW_AND_COLUMN: "0"}[self.how]
        count, step = lanes_of_lines(lane_layout, self.how)
        first = {ROW: (Term("(l)"), 0), COLUMN: (0, Term("(l)")), ROW_AND_COLUMN: (0, 0)}[self.how]
        return {
            "LINES": str({ROW: lane_layout.rows, COLUMN: lane_layout.columns, ROW_AND_COLUMN: 1}[self.how]),
            "LINE(r, c)": line,
            "FIRST_LANE(l)": str(lane_layout.holder(*first)[0]),
            "PARTS": str(count),
            "STEP": str(step),
        }

    def _wide(self, target: Target) -> dict[str, str]:
        """Return the macros for the reduction of rows that are vectors."""
        t, w = self.matrix.component, target.width(self.matrix)
        result_width = w if self.how == COLUMN else target.width(self.result)
        halves, x, width = [], "x", w
        for name in (*self.wide[1:], self.function):
            width //= 2
            low, high = (f"{x}.lo", f"{x}.hi") if width > 1 else (f"{x}.x", f"{x}.y")
            halves.append(f"const {spelling.vector(t, width)} x{width} = {name}({low}, {high});")
            x = f"x{width}"
        return {
            "F_WIDE(x, y)": f"{self.wide[0]}(x, y)",
            "HALVES(x)": " ".join(halves),
            "HALVED": x,
            "R_WIDTH": str(result_width),
            "R_V": spelling.vector(t, result_width),
        }

    def needs(self, target: Target) -> tuple[LibraryFunction, ...]:
        t, w = self.matrix.component, target.width(self.matrix)
        widths = [w >> n for n in range(len(self.wide))]
        names = [*zip(self.wide, widths, strict=True), (self.function, 1)]
        vectors = [(name, spelling.vector(t, width)) for name, width in names]
        return tuple(OperandFunction(name, v, (v, v)) for name, v in vectors)

    def scratch_bytes(self, target: Target) -> int:
        return bytes_of_row(target, self.matrix.component)
