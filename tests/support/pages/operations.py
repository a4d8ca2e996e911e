"""The generator of docs/operations.md: the implementation of each operation on matrices, by route and component type.

Native modules are compiled and examined. For the lowerings, the library's functions are listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from coopmat import compiler
from coopmat.diagnostics import CompileError
from coopmat.matrices import lowering
from coopmat.matrices.library_function import FromTemplate
from coopmat.matrices.library_functions import Transpose
from coopmat.matrices.routes import LOWERED_ROUTES
from coopmat.matrices.small_float_functions import functions_called
from coopmat.matrices.variants import (
    COMPONENT_TYPES,
    SMALL_FLOATS,
    ComponentType,
    Conversion,
    Layout,
    MatrixType,
    Operands,
    Use,
    default_operands,
)
from coopmat.native_profiles import NATIVE_PROFILES
from coopmat.spirv.module import Instruction, Module, decode_string

HEAD = """\
# Operations

Made by `tools/pages operations > docs/operations.md`; do not edit.

The table has a row for each operation on a 16 x 16 matrix. A cell shows how the operation is implemented for one kind
of output:

- **Columns `native`**: a native module contains SPIR-V instructions for the operation (the names are without `Op`).
  There is a column for each [profile](routes.md#what-takes-native-modules), that is, for each kind of device compiler.
- **Other columns**: in a [library lowering](routes.md#library-lowerings), the operation is a call of a function. The
  compiler generates the function from a section of a file in `coopmat/matrices/library/`. The cell names the section,
  such as LOAD, and the file. Sections of `general.cl` work for any distribution of a matrix over the lanes (the
  work-items of a subgroup).

Words in the column *operation*:

- `by rows`, `by columns`, `packed`: the layout in memory is row major, column major or packed.
- `private`: the pointer points to private memory. `checked`: `coop_mat_load_checked` and `coop_mat_store_checked`.
- `c`: an accumulator. `s`: a scalar.
- `conversion`: to another component type. `conversion, saturated`: to `uchar`.

Words in the other columns:

- `loop`: a loop over the components that a work-item holds.
- `local tile`: the subgroup copies the matrix by way of a tile in local memory. Checked loads and stores do this only
  if the matrix extends beyond the bounds.
- `scratch`: the operation exchanges values through local memory.
- `by float`: components are converted to float, and the result is rounded once.
- `access chain`: the component is accessed through a pointer.
- `nothing`: the operation needs neither an instruction nor a call.
- `none`: the compiler reports an error.

A cell begins with the implementation that is the most frequent among the component types. If some component types have
another implementation, their names and this implementation follow, after a semicolon. An unsigned type has the
implementation of the signed type of its size.

"""

# An emulated route has the same operations as the route that it emulates.
ROUTES = [name for name in LOWERED_ROUTES if ":" not in name and "@" not in name]
# Signed types represent unsigned ones, too.
COMPONENTS = tuple(row for row in COMPONENT_TYPES.values() if row.signed or not row.is_integer)
# component type -> accumulator type of a multiply-add
SUMS = {"s8": "s32", "s16": "s32", "f16": "f32", **{row.name: "f32" for row in SMALL_FLOATS}}


@dataclass(frozen=True)
class Operation:
    """A row of the page.

    code: OpenCL C on the matrices a, b, c (of these uses), h (a quarter of c), the scalar s, the pointers p and own,
    and the functions of `source`.
    library_function: a function from the component type to the library function, if the operation is one call.
    integers: whether the operation exists for integers only.
    """

    title: str
    code: str
    library_function: Callable[[ComponentType], lowering.LibraryFunction] | None
    integers: bool = False

    @property
    def of_memory(self) -> bool:
        return self.title.startswith(("load", "store"))


def matrix(component: ComponentType, use: Use = Use.ACCUMULATOR) -> MatrixType:
    return MatrixType(component, 16, 16, use)


def _sum(component: ComponentType) -> ComponentType:
    return COMPONENT_TYPES[SUMS.get(component.name, component.name)]


def _load(
    layout: Layout, checked: bool = False, space: str = "global"
) -> Callable[[ComponentType], lowering.LibraryFunction]:
    use = Use.B if layout == Layout.PACKED else Use.ACCUMULATOR
    return lambda t: lowering.Load(matrix(t, use), space, layout, False, checked)


def _store(
    layout: Layout, checked: bool = False, space: str = "global"
) -> Callable[[ComponentType], lowering.LibraryFunction]:
    return lambda t: lowering.Store(matrix(t), space, layout, False, checked)


def _multiply(saturating: bool) -> Callable[[ComponentType], lowering.LibraryFunction]:
    def make(t: ComponentType) -> lowering.LibraryFunction:
        total = _sum(t)
        mask = default_operands(t, t, total) | (Operands.SATURATING if saturating else Operands.NONE)
        return lowering.MultiplyAdd(matrix(t, Use.A), matrix(t, Use.B), matrix(total), mask)

    return make


def _other(t: ComponentType) -> ComponentType:
    """Return another component type of the same class."""
    return COMPONENT_TYPES[
        ("s16" if t.name == "s32" else "s32") if t.is_integer else "f32" if t.name != "f32" else "f16"
    ]


def _reduce(how: int, rows: int = 16, columns: int = 16) -> Callable[[ComponentType], lowering.LibraryFunction]:
    return lambda t: lowering.Reduce(matrix(t), "either", how=how, rows=rows, columns=columns)


def _map(function: str, operands: int) -> Callable[[ComponentType], lowering.LibraryFunction]:
    return lambda t: lowering.Map(matrix(t), function, operands=operands)


_BUILTIN = (True, False)

OPERATIONS = (
    Operation("load by rows", "c = coop_mat_load(p, 0, 16ul);", _load(Layout.ROW_MAJOR)),
    Operation("load by columns", "c = coop_mat_load(p, 1, 16ul);", _load(Layout.COLUMN_MAJOR)),
    Operation("load packed", "b = coop_mat_load(p, 2, 64ul);", _load(Layout.PACKED)),
    Operation("load, checked", "c = coop_mat_load_checked(p, 0, n, n, n, n, n);", _load(Layout.ROW_MAJOR, True)),
    Operation("load, private", "c = coop_mat_load(own, 0, 16ul);", _load(Layout.ROW_MAJOR, space="private")),
    Operation("store by rows", "coop_mat_store(p, c, 0, 16ul);", _store(Layout.ROW_MAJOR)),
    Operation("store by columns", "coop_mat_store(p, c, 1, 16ul);", _store(Layout.COLUMN_MAJOR)),
    Operation("store, checked", "coop_mat_store_checked(p, c, 0, n, n, n, n, n);", _store(Layout.ROW_MAJOR, True)),
    Operation("init", "c = coop_mat_init(s);", lambda t: lowering.Fill(matrix(t))),
    Operation("length", "*count = coop_mat_length(c);", lambda t: lowering.Length(matrix(t))),
    Operation("coordinates", "*count = coop_mat_coord(c, n).x;", lambda t: lowering.Coord(matrix(t))),
    Operation("component, read", "*p = c[n];", None),
    Operation("component, write", "c[n] = s;", None),
    Operation("`+` `-`", "c = c + c;", lambda t: lowering.Binary(matrix(t), "add")),
    Operation("`*` by component", "c = c * c;", lambda t: lowering.Binary(matrix(t), "mul")),
    Operation("`/`", "c = c / c;", lambda t: lowering.Binary(matrix(t), "div")),
    Operation("`-c`", "c = -c;", lambda t: lowering.Negate(matrix(t))),
    Operation("`*` by a scalar", "c = c * s;", lambda t: lowering.ScalarMultiply(matrix(t))),
    Operation(
        "conversion",
        "o = (O)c; coop_mat_store(q, o, 0, 16ul);",
        lambda t: lowering.Convert(matrix(t), _other(t)),
    ),
    Operation(
        "conversion, saturated",
        "u = coop_mat_convert_sat(c); coop_mat_store(r, u, 0, 16ul);",
        lambda t: lowering.Convert(matrix(t), COMPONENT_TYPES["u8"], Conversion(saturate=True)),
    ),
    Operation("conversion to use A", "a = (A)c;", lambda t: lowering.Convert(matrix(t), t, use=Use.A)),
    Operation("transpose", "c = coop_mat_transpose(c);", lambda t: Transpose(matrix(t), matrix(t).use)),
    Operation("`+` a scalar", "c = c + s;", lambda t: lowering.Binary(matrix(t), "add")),
    Operation("builtin: `max(c, s)`", "c = max(c, s);", lambda t: lowering.ComponentWise(matrix(t), "max", _BUILTIN)),
    Operation("map", "c = coop_mat_map(c, mapped);", _map("mapped", 1)),
    Operation("map, of two matrices", "c = coop_mat_map(c, c, mapped, s);", _map("mapped", 2)),
    Operation("build", "c = coop_mat_build(mapped, s);", _map("mapped", 0)),
    Operation("reduction of rows", "c = coop_mat_reduce(c, 1, either);", _reduce(1)),
    Operation("reduction of columns", "c = coop_mat_reduce(c, 2, either);", _reduce(2)),
    Operation("reduction of all", "c = coop_mat_reduce(c, 3, either);", _reduce(3)),
    Operation(
        "reduction of blocks", "h = coop_mat_reduce(c, 4, either); coop_mat_store(p, h, 0, 16ul);", _reduce(4, 8, 8)
    ),
    Operation("prefetch", "coop_mat_prefetch(C, p, 0, 16ul);", None),
    Operation("multiply-add", "x = coop_mat_mulAdd(a, b, x);", _multiply(False)),
    Operation("multiply-add, saturating", "x = coop_mat_mulAdd(a, b, x, MASK);", _multiply(True), integers=True),
)

_USES = {"A": "A", "B": "B", "C": "ACCUMULATOR"}
_UNTOLD = (
    *("OpLoad", "OpStore", "OpPhi", "OpVariable", "OpUndef", "OpCopyObject"),
    *("OpFunction", "OpFunctionCall", "OpFunctionParameter"),
)
# Instructions all of whose operands are ids.
_OF_ADDRESSES = (
    *("OpAccessChain", "OpInBoundsAccessChain", "OpPtrAccessChain", "OpInBoundsPtrAccessChain"),
    *("OpFunctionCall", "OpBitcast"),
)
_MEMORY = ("OpCooperativeMatrixLoadKHR", "OpCooperativeMatrixStoreKHR")


def source(component: ComponentType) -> str:
    """Return a source with a kernel for each operation, which loads the operands first, and stores the results."""
    names = {"A": component, "B": component, "C": component, "X": _sum(component), "O": _other(component)}
    types = [*names.items(), ("U", COMPONENT_TYPES["u8"])]
    lines = [
        f"typedef {t.opencl_c} {name} __attribute__((coop_mat(memory_scope_sub_group, 16, 16, "
        f"CLK_COOPERATIVE_MATRIX_{_USES.get(name, 'ACCUMULATOR')})));"
        for name, t in types
    ]
    lines.append(
        f"typedef {component.opencl_c} T;\n"
        "typedef T H __attribute__((coop_mat(memory_scope_sub_group, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));\n"
        "T either(T x, T y) { return y; }\n"
        "#define MAPPED __attribute__((overloadable)) mapped\n"
        "T MAPPED(uint r, uint c, T x) { return x; }\n"
        "T MAPPED(uint r, uint c, T x, T y, T z) { return z; }"
    )
    mask = int(_multiply(True)(component).operands) if component.is_integer else 0
    lines.append(f"#define MASK {mask}")
    pointers = ", ".join(f"global {t.opencl_c} *{name}" for name, t in (("p", component), ("q", names["O"])))
    for number, row in enumerate(OPERATIONS):
        if row.integers and not component.is_integer:
            continue
        lines.append(
            f"kernel void k{number}({pointers}, global uchar *r, global {names['X'].opencl_c} *z, global uint *count,"
            f" uint n)\n{{ {component.opencl_c} s = *p, own[256];"
            " A a = coop_mat_load(p, 0, 16ul); B b = coop_mat_load(p, 0, 16ul);"
            f" C c = coop_mat_load(p, 0, 16ul); X x = coop_mat_load(z, 0, 16ul); O o; U u; H h;\n{row.code}\n"
            "coop_mat_store(p, a, 0, 16ul); coop_mat_store(p, b, 0, 16ul); coop_mat_store(p, c, 0, 16ul);"
            " coop_mat_store(z, x, 0, 16ul); }"
        )
    return "\n".join(lines)


# --- native ----------------------------------------------------------------------------------------


def native(profile: str, component: ComponentType) -> dict[str, str]:
    """Return title -> implementation of each operation on the native route with a profile."""
    options = ["-w", "--no-validate", "--native-profile", profile, "--spirv-version", "1.4"]
    rows = {row.code: row for row in OPERATIONS if component.is_integer or not row.integers}
    binary, refused = b"", {}
    lines = source(component).split("\n")
    while not binary:
        try:
            binary = compiler.compile("\n".join(lines), options, name=component.name).spirv
        except CompileError as error:
            if [item.code for item in error.diagnostics] != ["native-matrix"]:
                raise SystemExit(f"{profile}, {component.name}: {error}") from None
            span = error.diagnostics[0].span
            row = rows.get(lines[span.line - 1]) if span is not None else None
            if row is None:
                return {row.title: "none" for row in rows.values()}
            refused[row.title] = "none"
            lines[span.line - 1] = ""
    module = Module.parse(binary)
    types = {item.result for item in module.instructions if item.name == "OpTypeCooperativeMatrixKHR"}
    local = {item.result for item in module.instructions if item.name == "OpVariable" and item.operands[0] == 4}
    functions = dict(_functions(module))
    names = {
        decode_string(item.operands[2:])[0]: item.operands[1]
        for item in module.instructions
        if item.name == "OpEntryPoint"
    }
    base = [item.name for item in _closure(functions, names["k0"]) if item.name in _MEMORY]
    return {
        row.title: refused.get(row.title) or _how(row, _closure(functions, names[f"k{number}"]), types, local, base)
        for number, row in enumerate(OPERATIONS)
        if f"k{number}" in names
    }


def _functions(module: Module) -> Iterator[tuple[int, list[Instruction]]]:
    body: list[Instruction] = []
    for item in module.instructions:
        if item.name == "OpFunction":
            body = []
        body.append(item)
        if item.name == "OpFunctionEnd":
            assert body[0].result is not None
            yield body[0].result, body


def _closure(functions: Mapping[int, list[Instruction]], start: int) -> list[Instruction]:
    """Return the instructions of a function and of its callees."""
    found: dict[int, list[Instruction]] = {}
    work = [start]
    while work:
        number = work.pop()
        if number not in found and number in functions:
            found[number] = functions[number]
            work += [item.operands[0] for item in functions[number] if item.name == "OpFunctionCall"]
    return [item for body in found.values() for item in body]


def _how(
    row: Operation, body: list[Instruction], types: set[int | None], local: set[int | None], base: list[str]
) -> str:
    """Return the implementation of an operation, given its kernel's instructions.

    `base` are the loads and stores of the first kernel, whose operation is a load.
    """
    told: dict[str, None] = {}
    memory = [item.name for item in body if item.name in _MEMORY]
    for name in _MEMORY:
        if row.of_memory and memory.count(name) > base.count(name) - (name == _MEMORY[0]):
            told[name] = None
    for item in body:
        about = item.result_type in types or "Matrix" in item.name or item.name.endswith("GetElementCoordINTEL")
        if about and item.name not in (*_UNTOLD, *_MEMORY):
            told[item.name] = None
    if any(word in local for item in body if item.name in _OF_ADDRESSES for word in item.operands):
        told["local tile"] = None
    if any(item.name in ("OpPhi", "OpLoopMerge") for item in body) and "local tile" not in told:
        told["loop"] = None
    return ", ".join(f"`{name[2:]}`" if name.startswith("Op") else name for name in told) or (_without_call(row))


def _without_call(row: Operation) -> str:
    return "access chain" if row.title.startswith("component") else "nothing"


# --- the lowerings ---------------------------------------------------------------------------------


def lowered(route: str, row: Operation, component: ComponentType) -> str:
    if row.library_function is None:
        return _without_call(row)
    lowered = LOWERED_ROUTES[route]
    target = lowered.target(None, None)
    function = row.library_function(component)
    assert isinstance(function, FromTemplate)
    macros = function.definitions(target)
    file, name = lowering.section(function.files(lowered), macros["OP"])
    words = [f"{name} of {file}"]
    words += ["by float"] if functions_called(macros.values()) else []
    words += ["scratch"] if function.scratch_bytes(target) else []
    return ", ".join(words)


# --- the page --------------------------------------------------------------------------------------


def cell(found: Mapping[str, str]) -> str:
    """Return a table cell: component types by implementation; the most frequent one is written without names."""
    ways: dict[str, list[str]] = {}
    for component, how in found.items():
        ways.setdefault(how, []).append(component)
    if not ways:
        return ""
    usual = max(ways, key=lambda how: len(ways[how]))
    others = [f"{' '.join(names)}: {how}" for how, names in ways.items() if how != usual]
    return "; ".join([usual, *others])


def document() -> str:
    """Return the page as Markdown."""
    modules = {profile: {t.name: native(profile, t) for t in COMPONENTS} for profile in NATIVE_PROFILES}
    heads = [*(f"native, `{profile}`" for profile in NATIVE_PROFILES), *(f"`{route}`" for route in ROUTES)]
    lines = [f"| operation | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for row in OPERATIONS:
        cells = [
            cell({name: found[row.title] for name, found in types.items() if row.title in found})
            for types in modules.values()
        ]
        components = [t for t in COMPONENTS if t.is_integer or not row.integers]
        cells += [cell({t.name: lowered(route, row, t) for t in components}) for route in ROUTES]
        lines.append(f"| {row.title} | {' | '.join(cells)} |")
    names = ", ".join(f"`{t.name}`" for t in COMPONENTS)
    return (
        f"{HEAD}The component types are {names}.\n"
        "In the multiply-adds, the accumulator has components of 32 bits if A and B have components of 8 bits, `f16`\n"
        "or `bf16`. Otherwise, all three matrices have the same component type.\n\n"
        + "".join(line + "\n" for line in lines)
    )
