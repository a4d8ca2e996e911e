"""The functions that native matrices call for operations without an instruction, and their OpenCL C text.

    load = StagedLoad(matrix, "global", Layout.ROW_MAJOR)
    text = instantiate([load])                        # OpenCL C that defines load.function_name

Unlike the library of the lowered routes (`lowering`), these functions work on the matrix types themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .lowering import library_sections
from .maps import BLOCKS, COLUMN, ROW, ROW_AND_COLUMN
from .memory_rules import MOST_PLACED, MemoryRules
from .variants import ComponentType, Conversion, Layout, MatrixType, Use

FILE = "native.cl"
TILE_ALIGN = MOST_PLACED
NO_RULES = MemoryRules()
_USES = ("A", "B", "ACCUMULATOR")
_LAYOUTS = {Layout.ROW_MAJOR: "ROW_MAJOR", Layout.COLUMN_MAJOR: "COLUMN_MAJOR"}


class Function(ABC):
    """A library function for certain matrix types, of which `matrix` is the first.

    Equal ones are the same function.
    """

    __slots__ = ()
    matrix: MatrixType

    @property
    @abstractmethod
    def function_name(self) -> str: ...

    @abstractmethod
    def definitions(self) -> dict[str, str]:
        """Return the macros of the template: name without `CM_` -> body.

        "OP" is the section of the file. "OPERAND" is a placeholder definition for a function of the program.
        """

    @property
    def tile(self) -> int:
        """The number of components of local memory that the function needs for each subgroup."""
        return 0


def instantiate(functions: Iterable[Function]) -> str:
    """Return OpenCL C that defines every function once, ordered by name; the text has no includes."""
    by_name = {function.function_name: function for function in functions}
    definitions = [(by_name[name], by_name[name].definitions()) for name in sorted(by_name)]
    operands = dict.fromkeys(macros.pop("OPERAND") for _, macros in definitions if "OPERAND" in macros)
    return "\n".join([library_sections(FILE)["PROLOGUE"], *operands, *(_text(*row) for row in definitions)])


def _text(function: Function, macros: dict[str, str]) -> str:
    """Return the text of a function: its section between the definitions of its macros and their #undef."""
    section = library_sections(FILE)[macros.pop("OP")]
    macros["NAME"] = function.function_name
    lines = [f"#define CM_{name} {body}" for name, body in macros.items()]
    undefined = [f"#undef CM_{name.partition('(')[0]}" for name in macros]
    return "\n".join([*_typedefs(function, macros), *lines, section.rstrip("\n"), *undefined, ""])


def _typedefs(function: Function, macros: dict[str, str]) -> list[str]:
    """Return typedefs for the matrix types in `macros`, and replace the types there by the typedefs' names.

    A function's head needs names, because a spelled matrix type is a type with an attribute.
    """
    lines = []
    for key in ("MATRIX", "TO"):
        if key in macros:
            name = f"{function.function_name}_{key.lower()}"
            lines.append(f"typedef {macros[key]} {name};")
            macros[key] = name
    return lines


def spelled(matrix: MatrixType) -> str:
    """Return the type as OpenCL C."""
    use = f"CLK_COOPERATIVE_MATRIX_{_USES[matrix.use]}"
    scope = "WORKGROUP" if matrix.of_work_group else "SUBGROUP"
    arguments = f"CLK_COOPERATIVE_MATRIX_SCOPE_{scope}, {matrix.rows}, {matrix.columns}, {use}"
    return f"{matrix.component.opencl_c} __attribute__((coop_mat({arguments})))"


def access_name(operation: str, matrix: MatrixType, layout: Layout | None = None) -> str:
    """Return the name of an access, which the patterns of `NativeProfile.lacks` match."""
    where = "" if layout is None else f" {layout.short}"
    return f"{operation} {matrix.shape}.{matrix.use.letter}.{matrix.component.bits}{where}"


def tile_components(matrix: MatrixType, rules: MemoryRules = NO_RULES) -> int:
    """Return the components of local memory for a subgroup's tile, rounded up to align the next tile equally."""
    each = TILE_ALIGN // matrix.component.size
    return -(-matrix.rows * rules.pitch(matrix.component, matrix.columns) // each) * each


def _name(operation: str, matrix: MatrixType, *rest: str) -> str:
    """Return the name of a function for an operation on a matrix type."""
    return "_".join(["coop_mat", operation, *matrix.name.split("."), *rest])


def _tile(matrix: MatrixType, rules: MemoryRules) -> dict[str, str]:
    """Return the macros for a matrix that is staged in a tile in local memory."""
    row = rules.pitch(matrix.component, matrix.columns)
    return {
        "MATRIX": spelled(matrix),
        "T": matrix.component.opencl_c,
        "PITCH": str(tile_components(matrix, rules)),
        "ROW": str(row),
    }


@dataclass(frozen=True, slots=True)
class _Staged(Function):
    """The base class of accesses through tiles in local memory.

    They serve tiles that extend beyond the bounds. They serve all tiles if the instruction lacks the layout, or if the
    memory is private: each work-item has separate private memory and must store the whole matrix. `direct`: the
    device's compiler supports the layout, provided that Khronos' extension does.
    """

    matrix: MatrixType
    space: str
    layout: Layout
    volatile: bool = False
    rules: MemoryRules = NO_RULES
    direct: bool = True

    @property
    def tile(self) -> int:
        return tile_components(self.matrix, self.rules)

    def _definitions(self, operation: str) -> dict[str, str]:
        """Return the macros that loads and stores share."""
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
            # If the tile has one component, a loop that ends at 1 must not have this step: see CM_FOR_SHARE.
            "STEP": "get_sub_group_size()" if self.matrix.rows * self.matrix.columns > 1 else "1",
        }
        if self.space == "private":
            macros |= {"FIRST": "0", "STEP": "1"}
        elif self.layout in _LAYOUTS and self.direct:
            macros["LAYOUT"] = f"CLK_COOPERATIVE_MATRIX_LAYOUT_{_LAYOUTS[self.layout]}"
            line = self.matrix.rows if self.layout == Layout.COLUMN_MAJOR else self.matrix.columns
            macros["AND_ALLOWED(p)"] = _and_allowed(self.rules.for_line(line * component.size), component)
        return macros

    def _name(self, operation: str) -> str:
        """Return the name of a load or store."""
        rest = (self.space, self.layout.short, *(["volatile"] if self.volatile else []))
        return _name(operation, self.matrix, *rest, *([] if self.direct else ["staged"]))


@dataclass(frozen=True, slots=True)
class StagedLoad(_Staged):
    """A function that loads a matrix through a tile.

    Its head is `M f(const space T *p, ulong stride, uint row, uint column, uint rows, uint columns, local T *tiles)`.
    """

    @property
    def function_name(self) -> str:
        return self._name("load")

    def definitions(self) -> dict[str, str]:
        return self._definitions("LOAD")


@dataclass(frozen=True, slots=True)
class StagedStore(_Staged):
    """A function that stores a matrix through a tile.

    Its head is `void f(space T *p, M m, ulong stride, uint row, uint column, uint rows, uint columns, local T *tiles)`.
    """

    @property
    def function_name(self) -> str:
        return self._name("store")

    def definitions(self) -> dict[str, str]:
        return self._definitions("STORE")


@dataclass(frozen=True, slots=True)
class StagedMove(Function):
    """A function that changes a matrix's use, or transposes it, by a store to and a load from a tile in local memory.

    Its head is `M2 f(M m, local T *tiles)`. `direct`: the device's compiler supports the column-major load that a
    transpose needs; otherwise a transpose needs a second tile.
    """

    matrix: MatrixType
    use: Use
    transposed: bool
    rules: MemoryRules = NO_RULES
    direct: bool = True

    @property
    def function_name(self) -> str:
        rest = [] if self.direct else ["staged"]
        return _name("transpose" if self.transposed else "move", self.matrix, self.use.letter, *rest)

    @property
    def _result(self) -> MatrixType:
        """The type of the result."""
        m = self.matrix
        rows, columns = (m.columns, m.rows) if self.transposed else (m.rows, m.columns)
        return MatrixType(m.component, rows, columns, self.use)

    @property
    def tile(self) -> int:
        own = tile_components(self.matrix, self.rules)
        return own if self.direct else own + tile_components(self._result, self.rules)

    def definitions(self) -> dict[str, str]:
        m, layout = self.matrix, "COLUMN_MAJOR" if self.transposed and self.direct else "ROW_MAJOR"
        macros = {"OP": "MOVE", **_tile(m, self.rules), "TO": spelled(self._result), "PITCH": str(self.tile)}
        if not self.direct:
            macros |= {"ROWS": str(m.rows), "COLUMNS": str(m.columns)}
            macros["TO_TILE"] = str(tile_components(m, self.rules))
            macros["TO_ROW"] = str(self.rules.pitch(m.component, self._result.columns))
        return macros | {"LAYOUT": f"CLK_COOPERATIVE_MATRIX_LAYOUT_{layout}"}


@dataclass(frozen=True, slots=True)
class ComponentWise(Function):
    """A function that applies the builtin `name` to each component: `M f(x0, x1, ...)`.

    arithmetic: the type in which the builtin is calculated.
    matrices: for each operand whether it is a matrix; otherwise it is a scalar.
    """

    matrix: MatrixType
    name: str
    matrices: tuple[bool, ...]
    arithmetic: ComponentType

    @property
    def function_name(self) -> str:
        return _name(self.name, self.matrix, "".join("m" if is_matrix else "s" for is_matrix in self.matrices))

    def definitions(self) -> dict[str, str]:
        t, first = self.matrix.component.opencl_c, self.matrices.index(True)
        values = [f"x{n}[i]" if is_matrix else f"x{n}" for n, is_matrix in enumerate(self.matrices)]
        if self.arithmetic != self.matrix.component:
            values = [f"({self.arithmetic.opencl_c})({value})" for value in values]
        parameters = (f"{'CM_MATRIX' if m else t} x{n}" for n, m in enumerate(self.matrices))
        return {
            "OP": "COMPONENT_WISE",
            "MATRIX": spelled(self.matrix),
            "PARAMETERS": ", ".join(parameters),
            "RESULT": f"x{first}",
            "VALUE(i)": f"({t})({self.name}({', '.join(values)}))",
        }


@dataclass(frozen=True, slots=True)
class StagedMap(Function):
    """A function that maps a function over a matrix: `M f(M x0, ..., local T *tiles)`.

    Component (r, c) of the result is `function` of r, c and the components (r, c) of the `operands` operands. Each
    operand has a tile.
    """

    matrix: MatrixType
    function: str
    operands: int
    rules: MemoryRules = NO_RULES

    @property
    def function_name(self) -> str:
        return _name("map", self.matrix, self.function)

    @property
    def tile(self) -> int:
        return max(1, self.operands) * tile_components(self.matrix, self.rules)

    def definitions(self) -> dict[str, str]:
        t, each = self.matrix.component.opencl_c, tile_components(self.matrix, self.rules)
        numbers = range(self.operands)
        row = self.rules.pitch(self.matrix.component, self.matrix.columns)
        parts = "".join(f", tile[at + {n * each}]" for n in numbers)
        return {
            "OP": "MAP",
            **_tile(self.matrix, self.rules),
            "PITCH": str(self.tile),
            "ROWS": str(self.matrix.rows),
            "COLUMNS": str(self.matrix.columns),
            "AT(r, c, i)": "(i)" if row == self.matrix.columns else f"((r) * {row} + (c))",
            "PARAMETERS": "".join(f"CM_MATRIX x{n}, " for n in numbers),
            "STORE": " ".join(f"CM_STORE_TILE(tile + {n * each}, x{n});" for n in numbers),
            "VALUE(r, c, at)": f"{self.function}(r, c{parts})",
            "OPERAND": _stand_in(self.function, t, ["uint", "uint", *(t for _ in numbers)]),
        }


@dataclass(frozen=True, slots=True)
class StagedReduce(Function):
    """A function that reduces a matrix by a function: `M2 f(M m, local T *tiles)`.

    `function` combines the components along `how` (`maps.ROW` and so on). The result has `rows` and `columns`; its tile
    follows the operand's.
    """

    matrix: MatrixType
    function: str
    how: int
    rows: int
    columns: int
    rules: MemoryRules = NO_RULES

    @property
    def function_name(self) -> str:
        return _name("reduce", self.matrix, str(self.how), f"{self.rows}x{self.columns}", self.function)

    @property
    def result(self) -> MatrixType:
        """The type of the result."""
        return MatrixType(self.matrix.component, self.rows, self.columns, self.matrix.use)

    @property
    def tile(self) -> int:
        return tile_components(self.matrix, self.rules) + tile_components(self.result, self.rules)

    def definitions(self) -> dict[str, str]:
        m, t = self.matrix, self.matrix.component.opencl_c
        out = _tile(m, self.rules) | {
            "PITCH": str(self.tile),
            "TO": spelled(self.result),
            "TO_ROW": str(self.rules.pitch(m.component, self.columns)),
            "TO_TILE": str(tile_components(m, self.rules)),
            "F(x, y)": f"{self.function}(x, y)",
            "OPERAND": _stand_in(self.function, t, [t, t]),
        }
        if self.how != ROW_AND_COLUMN:
            return {"OP": "REDUCE", **out, **self._lines()}
        extents = {"ROWS": m.rows, "COLUMNS": m.columns, "TO_ROWS": self.rows, "TO_COLUMNS": self.columns}
        return {"OP": "REDUCE_ALL", **out, **{name: str(extent) for name, extent in extents.items()}}

    def _lines(self) -> dict[str, str]:
        """Return the macros for rows, columns or blocks; each work-item reduces one at a time."""
        m, blocks = self.matrix, self.how == BLOCKS
        row, to_row = (self.rules.pitch(m.component, columns) for columns in (m.columns, self.columns))
        # A line is a row, a column or a block; these are the row and column, in lines or blocks, where line l begins.
        r, c = {
            ROW: ("l", "0"),
            COLUMN: ("0", "l"),
            BLOCKS: (f"(l / {self.columns})", f"(l % {self.columns})"),
        }[self.how]
        along_rows, along_columns, scale = self.how & ROW, self.how & COLUMN, 2 if blocks else 1
        return {
            "LINES": str({ROW: m.rows, COLUMN: m.columns}.get(self.how, self.rows * self.columns)),
            "FROM(l)": f"({r} * {scale * row} + {c} * {scale})",
            "INTO(l)": f"({r} * {to_row} + {c})",
            "DOWN": str(2 if blocks else m.rows if along_columns else 1),
            "ALONG": str(2 if blocks else m.columns if along_rows else 1),
            "TO_DOWN": str(self.rows if along_columns else 1),
            "TO_ALONG": str(self.columns if along_rows else 1),
        }


def _stand_in(name: str, t: str, types: Sequence[str]) -> str:
    """Return OpenCL C that defines a stand-in for a function of the program, to which the calls are redirected later.

    t: the type of the result, which is undefined. types: the types of the parameters.
    """
    parameters = ", ".join(f"{type_} x{n}" for n, type_ in enumerate(types))
    return f"static {t} {name}({parameters}) {{ {t} x; return x; }}"


@dataclass(frozen=True, slots=True)
class ClampedConvert(Function):
    """A saturating conversion of integers to integers of the other sign: `M2 f(M m)`.

    SPIR-V lacks this conversion for matrices.
    """

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
            "TO": spelled(replace(self.matrix, component=self.to)),
            "LEAST": _constant(least, source),
            "MOST": _constant(most, source),
        }


_ROUND = {"": "", "rtz": "", "rte": "rint", "rtp": "ceil", "rtn": "floor"}


@dataclass(frozen=True, slots=True)
class RoundedConvert(Function):
    """A conversion of floats that rounds or saturates components, and then converts the matrix: `M2 f(M m)`.

    Vulkan lacks the decorations FPRoundingMode and SaturatedConversion.
    """

    matrix: MatrixType
    to: ComponentType
    how: Conversion

    @property
    def function_name(self) -> str:
        return _name("convert", self.matrix, self.to.name, *self.how.words)

    def definitions(self) -> dict[str, str]:
        t, to = self.matrix.component, self.to
        wide, suffix = ("double", "") if t.bits == 64 else ("float", "f")
        there = "_".join(("convert", to.opencl_c, *self.how.words))
        macros = {
            "OP": "SATURATE" if self.how.saturate and to.is_integer else "ROUND",
            "MATRIX": spelled(self.matrix),
            "TO": spelled(replace(self.matrix, component=to)),
            "T": t.opencl_c,
            "WIDE": wide,
            "ROUND(x)": f"{_ROUND[self.how.rounding]}(x)" if to.is_integer else f"({wide}){there}(x)",
        }
        if macros["OP"] == "SATURATE":
            macros |= {"LEAST": f"{float(to.least).hex()}{suffix}", "END": f"{float(to.largest + 1).hex()}{suffix}"}
            macros["MOST"] = _constant(int(to.largest), to)
        return macros


def undecorated(matrix: MatrixType, to: ComponentType, how: Conversion) -> Function | None:
    """Return the function for a conversion that otherwise needs decorations, or None.

    Conversions from integers and double to floating point have none: they remain instructions, which the driver rounds.
    """
    t = matrix.component
    if t.is_integer:
        return ClampedConvert(matrix, to) if how.saturate and to.is_integer and t.bits > to.bits else None
    if to.is_integer:
        return RoundedConvert(matrix, to, how) if how.saturate or _ROUND[how.rounding] else None
    return RoundedConvert(matrix, to, how) if how.rounding and to.bits < t.bits <= 32 else None


def _and_allowed(rules: MemoryRules, component: ComponentType) -> str:
    """Return a condition ("&& ...") for whether the instruction may access the tile at `p`; empty if it always may.

    The language guarantees only the alignment of a component.
    """
    conditions = ""
    if rules.alignment(component) > component.size:
        conditions += f" && (ulong)(p) % {rules.alignment(component)} == 0"
    if rules.step(component) > 1:
        conditions += f" && stride % {rules.step(component)} == 0"
    return conditions


def _offset(layout: Layout, component: ComponentType) -> str:
    """Return an expression of r, c and `stride` for the offset of component (r, c) in memory; see `Layout`."""
    if layout == Layout.ROW_MAJOR:
        return "((ulong)(r) * stride + (c))"
    if layout == Layout.COLUMN_MAJOR:
        return "((ulong)(c) * stride + (r))"
    pack = max(1, 4 // component.size)
    return f"((ulong)((r) / {pack}) * stride + (ulong)(c) * {pack} + (r) % {pack})"


def _range(t: ComponentType) -> tuple[int, int]:
    """Return the smallest and the largest value of an integer type."""
    return (-(1 << t.bits - 1), (1 << t.bits - 1) - 1) if t.signed else (0, (1 << t.bits) - 1)


def _constant(value: int, t: ComponentType) -> str:
    """Return a constant of an integer type as OpenCL C."""
    return f"({t.opencl_c})0x{value & (1 << 64) - 1:x}UL"
