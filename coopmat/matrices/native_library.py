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
    """A function for certain matrix types. Equal ones are the same function."""

    __slots__ = ()

    @property
    @abstractmethod
    def function_name(self) -> str: ...

    @abstractmethod
    def definitions(self) -> dict[str, str]:
        """Return the macros of the template, without `CM_`; "OP" names the section of the file."""


def instantiate(functions: Iterable[Function]) -> str:
    """Return OpenCL C that defines every function once, ordered by name; self-contained, no includes."""
    by_name = {function.function_name: function for function in functions}
    return "\n".join([library_sections(FILE)["PROLOGUE"], *(_text(by_name[name]) for name in sorted(by_name))])


def _text(function: Function) -> str:
    macros = function.definitions()
    section = library_sections(FILE)[macros.pop("OP")]
    macros["NAME"] = function.function_name
    lines = [f"#define CM_{name} {body}" for name, body in macros.items()]
    undefined = [f"#undef CM_{name.partition('(')[0]}" for name in macros]
    return "\n".join([*_typedefs(function, macros), *lines, section.rstrip("\n"), *undefined, ""])


def _typedefs(function: Function, macros: dict[str, str]) -> list[str]:
    """Return typedefs of the types' macros, which are whole types, while a function's head needs names."""
    lines = []
    for key in ("MATRIX", "TO"):
        if key in macros:
            name = f"{function.function_name}_{key.lower()}"
            lines.append(f"typedef {macros[key]} {name};")
            macros[key] = name
    return lines


def spelled(matrix: MatrixType) -> str:
    """Return the type in OpenCL C."""
    use = f"CLK_COOPERATIVE_MATRIX_{_USES[matrix.use]}"
    arguments = f"CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, {matrix.rows}, {matrix.columns}, {use}"
    return f"{matrix.component.opencl_c} __attribute__((coop_mat({arguments})))"


def tile_components(matrix: MatrixType, rules: MemoryRules = NO_RULES) -> int:
    """Return the components of local memory for a subgroup's tile, such that the next tile has the same alignment."""
    each = TILE_ALIGN // matrix.component.size
    return -(-matrix.rows * rules.pitch(matrix.component, matrix.columns) // each) * each


def _name(operation: str, matrix: MatrixType, *rest: str) -> str:
    return "_".join(["coop_mat", operation, *matrix.name.split("."), *rest])


def _tile(matrix: MatrixType, rules: MemoryRules) -> dict[str, str]:
    """Return the macros of a matrix that is staged in a tile in local memory."""
    row = rules.pitch(matrix.component, matrix.columns)
    return {
        "MATRIX": spelled(matrix),
        "T": matrix.component.opencl_c,
        "PITCH": str(tile_components(matrix, rules)),
        "ROW": str(row),
    }


@dataclass(frozen=True, slots=True)
class _Staged(Function):
    """The base of accesses through tiles in local memory. They serve tiles that reach over the bounds, and all tiles if
    the instruction does not have the layout, or in private memory, which is each work-item's own: there each work-item
    stores the whole matrix."""

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
    """`M2 f(M m)`: a saturating conversion of integers to integers of the other sign, which SPIR-V does not have for
    matrices."""

    matrix: MatrixType
    to: ComponentType

    @property
    def function_name(self) -> str:
        return _name("convert", self.matrix, self.to.name, "sat")

    def definitions(self) -> dict[str, str]:
        source = self.matrix.component
        source_range, target_range = _range(source), _range(self.to)
        least, most = max(source_range[0], target_range[0]), min(source_range[1], target_range[1])
        return {
            "OP": "CLAMP",
            "MATRIX": spelled(self.matrix),
            "TO": spelled(MatrixType(self.to, self.matrix.rows, self.matrix.columns, self.matrix.use)),
            "LEAST": _constant(least, source),
            "MOST": _constant(most, source),
        }


def _and_allowed(rules: MemoryRules, component: ComponentType) -> str:
    """Return a further condition: that the instruction may access the tile at `p`, which is only as aligned as its
    component."""
    conditions = ""
    if rules.alignment(component) > component.size:
        conditions += f" && (ulong)(p) % {rules.alignment(component)} == 0"
    if rules.step(component) > 1:
        conditions += f" && stride % {rules.step(component)} == 0"
    return conditions


def _offset(layout: Layout, component: ComponentType) -> str:
    """Return the offset of component (r, c) in memory, as an expression of r, c and `stride`; see `Layout`."""
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
