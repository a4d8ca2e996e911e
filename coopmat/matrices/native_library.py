"""The functions that native matrices call where there is no instruction, and their OpenCL C text.

    load = StagedLoad(matrix, "global", Layout.ROW_MAJOR)
    text = instantiate([load])                        # OpenCL C that defines load.function_name

Unlike the other lowerings' library (`lowering`) it works on the matrix types themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from .lowering import library_sections
from .memory_rules import MOST_PLACED, MemoryRules
from .variants import ComponentType, Layout, MatrixType, Use

FILE = "native.cl"
TILE_ALIGN = MOST_PLACED
NO_RULES = MemoryRules()
_USES = ("A", "B", "ACCUMULATOR")
_LAYOUTS = {Layout.ROW_MAJOR: "ROW_MAJOR", Layout.COLUMN_MAJOR: "COLUMN_MAJOR"}


class Function(ABC):
    """A function for given matrix types. Equal ones are the same function."""

    __slots__ = ()

    @property
    @abstractmethod
    def function_name(self) -> str: ...

    @abstractmethod
    def definitions(self) -> dict[str, str]:
        """The macros of the template, `CM_` left out; "OP" names the section of the file."""


def instantiate(functions: Iterable[Function]) -> str:
    """OpenCL C that defines every function once, ordered by name; self-contained, no includes."""
    wanted = {function.function_name: function for function in functions}
    return "\n".join([library_sections(FILE)["PROLOGUE"], *(_text(wanted[name]) for name in sorted(wanted))])


def _text(function: Function) -> str:
    macros = function.definitions()
    section = library_sections(FILE)[macros.pop("OP")]
    macros["NAME"] = function.function_name
    lines = [f"#define CM_{name} {body}" for name, body in macros.items()]
    undefined = [f"#undef CM_{name.partition('(')[0]}" for name in macros]
    return "\n".join([*_typedefs(function, macros), *lines, section.rstrip("\n"), *undefined, ""])


def _typedefs(function: Function, macros: dict[str, str]) -> list[str]:
    """The types' macros hold the whole type, which a function's head takes as a name only."""
    lines = []
    for key in ("MATRIX", "TO"):
        if key in macros:
            name = f"{function.function_name}_{key.lower()}"
            lines.append(f"typedef {macros[key]} {name};")
            macros[key] = name
    return lines


def spelled(matrix: MatrixType) -> str:
    """The type in OpenCL C."""
    use = f"CLK_COOPERATIVE_MATRIX_{_USES[matrix.use]}"
    arguments = f"CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, {matrix.rows}, {matrix.columns}, {use}"
    return f"{matrix.component.opencl_c} __attribute__((coop_mat({arguments})))"


def tile_components(matrix: MatrixType, rules: MemoryRules = NO_RULES) -> int:
    """Components of local memory that a subgroup's tile takes, so that the next one's is aligned as the first is."""
    each = TILE_ALIGN // matrix.component.size
    return -(-matrix.rows * rules.pitch(matrix.component, matrix.columns) // each) * each


def _name(operation: str, matrix: MatrixType, *rest: str) -> str:
    return "_".join(["coop_mat", operation, *matrix.name.split("."), *rest])


def _tile(matrix: MatrixType, rules: MemoryRules) -> dict[str, str]:
    """What the text reads of a matrix that goes through a tile in local memory."""
    row = rules.pitch(matrix.component, matrix.columns)
    return {
        "MATRIX": spelled(matrix),
        "T": matrix.component.opencl_c,
        "PITCH": str(tile_components(matrix, rules)),
        "ROW": str(row),
    }


@dataclass(frozen=True, slots=True)
class _Staged(Function):
    """Tiles go through local memory where they reach over the bounds, and all of them where the instruction does not
    know the layout, or cannot tell whose memory is meant: private memory. Each work-item then stores the whole matrix
    to its own."""

    matrix: MatrixType
    space: str
    layout: Layout
    volatile: bool = False
    rules: MemoryRules = NO_RULES

    def _definitions(self, operation: str) -> dict[str, str]:
        component = self.matrix.component
        row = self.rules.pitch(component, self.matrix.columns)
        where = f"__{self.space}{' volatile' if self.volatile else ''}"
        macros = {
            "OP": operation,
            **_tile(self.matrix, self.rules),
            "BITS": component.library_c,
            "ROWS": str(self.matrix.rows),
            "COLUMNS": str(self.matrix.columns),
            "AT(r, c, i)": "(i)" if row == self.matrix.columns else f"((r) * {row} + (c))",
            "POINTER": f"{where} {component.opencl_c} *",
            "ELEMENTS": f"{where} {component.library_c} *",
            "OFFSET(r, c)": _offset(self.layout, component),
            "FIRST": "get_sub_group_local_id()",
            "STEP": "get_sub_group_size()",
        }
        if self.space == "private":
            macros |= {"FIRST": "0", "STEP": "1"}
        elif self.layout in _LAYOUTS:
            macros["LAYOUT"] = f"CLK_COOPERATIVE_MATRIX_LAYOUT_{_LAYOUTS[self.layout]}"
            macros["AND_ALLOWED(p)"] = _and_allowed(self.rules, component)
        return macros

    def _name(self, operation: str) -> str:
        rest = (self.space, self.layout.short, *(["volatile"] if self.volatile else []))
        return _name(operation, self.matrix, *rest)


@dataclass(frozen=True, slots=True)
class StagedLoad(_Staged):
    """`M f(const space T *p, ulong stride, uint row, uint column, uint rows, uint columns, local T *tiles)`"""

    @property
    def function_name(self) -> str:
        return self._name("load")

    def definitions(self) -> dict[str, str]:
        return self._definitions("LOAD")


@dataclass(frozen=True, slots=True)
class StagedStore(_Staged):
    """`void f(space T *p, M m, ulong stride, uint row, uint column, uint rows, uint columns, local T *tiles)`"""

    @property
    def function_name(self) -> str:
        return self._name("store")

    def definitions(self) -> dict[str, str]:
        return self._definitions("STORE")


@dataclass(frozen=True, slots=True)
class StagedTranspose(Function):
    """`M2 f(M m, local T *tiles)`: the transpose, for `use`."""

    matrix: MatrixType
    use: Use
    rules: MemoryRules = NO_RULES

    @property
    def function_name(self) -> str:
        return _name("transpose", self.matrix, self.use.letter)

    def definitions(self) -> dict[str, str]:
        result = MatrixType(self.matrix.component, self.matrix.columns, self.matrix.rows, self.use)
        return {"OP": "TRANSPOSE", **_tile(self.matrix, self.rules), "TO": spelled(result)}


@dataclass(frozen=True, slots=True)
class ClampedConvert(Function):
    """`M2 f(M m)`: integers to integers of another sign, saturating. SPIR-V has no such conversion of matrices."""

    matrix: MatrixType
    to: ComponentType

    @property
    def function_name(self) -> str:
        return _name("convert", self.matrix, self.to.name, "sat")

    def definitions(self) -> dict[str, str]:
        source = self.matrix.component
        here, there = _range(source), _range(self.to)
        least, most = max(here[0], there[0]), min(here[1], there[1])
        return {
            "OP": "CLAMP",
            "MATRIX": spelled(self.matrix),
            "TO": spelled(MatrixType(self.to, self.matrix.rows, self.matrix.columns, self.matrix.use)),
            "LEAST": _constant(least, source),
            "MOST": _constant(most, source),
        }


def _and_allowed(rules: MemoryRules, component: ComponentType) -> str:
    """And whether the instruction may have a tile at `p`, which is as aligned as its component only."""
    conditions = ""
    if rules.alignment(component) > component.size:
        conditions += f" && (ulong)(p) % {rules.alignment(component)} == 0"
    if rules.step(component) > 1:
        conditions += f" && stride % {rules.step(component)} == 0"
    return conditions


def _offset(layout: Layout, component: ComponentType) -> str:
    """Where component (r, c) lies in memory, as an expression of r, c and `stride`; see `Layout`."""
    if layout == Layout.ROW_MAJOR:
        return "((ulong)(r) * stride + (c))"
    if layout == Layout.COLUMN_MAJOR:
        return "((ulong)(c) * stride + (r))"
    pack = max(1, 4 // component.size)
    return f"((ulong)((r) / {pack}) * stride + (ulong)(c) * {pack} + (r) % {pack})"


def _range(t: ComponentType) -> tuple[int, int]:
    return (-(1 << t.bits - 1), (1 << t.bits - 1) - 1) if t.signed else (0, (1 << t.bits) - 1)


def _constant(value: int, t: ComponentType) -> str:
    return f"({t.opencl_c})0x{value & (1 << 64) - 1:x}UL"
