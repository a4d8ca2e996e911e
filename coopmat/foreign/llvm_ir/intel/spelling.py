"""The spelling of Intel's matrix IR: names, types, layouts, scopes.

Source: the proposal for extended matrix types and operations in LLVM IR. The layout numbers are those of
SPV_INTEL_joint_matrix before packed A and packed B became one layout.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ....matrices.placeholders import TAG, MatrixCall
from ....matrices.variants import SCOPE_SUBGROUP, SCOPE_WORKGROUP, ComponentType, Layout, MatrixType
from ..operations import COMPONENTS, LLVM_NAMES, UNIQUE, tag, tagged
from ..text import Malformed

MENTION = '"spirv.MatrixINTEL"'
OPAQUE = re.compile(r'target\("spirv\.MatrixINTEL", ([^,()]+), (\d+), (\d+)((?:, \d+)*)\)')
VECTOR = re.compile(r"<(\d+) x (half|bfloat|float|double|i8|i16|i32|i64)>")

# layout in metadata -> Layout; of several spellings, the first is written
LAYOUTS: Mapping[str, int] = MappingProxyType(
    {
        "matrix.rowmajor": Layout.ROW_MAJOR,
        "matrix.columnmajor": Layout.COLUMN_MAJOR,
        "matrix.packed_a": Layout.PACKED_A,
        "matrix.packed_b": Layout.PACKED,
        # The proposal's list has this spelling; its example has the other.
        "matrix.rownmajor": Layout.ROW_MAJOR,
    }
)
# Intel's layout number -> Layout
LAYOUT_NUMBERS: Mapping[int, int] = MappingProxyType(
    {0: Layout.ROW_MAJOR, 1: Layout.COLUMN_MAJOR, 2: Layout.PACKED_A, 3: Layout.PACKED}
)
SCOPES: Mapping[str, int] = MappingProxyType({"scope.subgroup": SCOPE_SUBGROUP, "scope.workgroup": SCOPE_WORKGROUP})

_TYPE_WORDS = {
    "half": "half",
    "float": "float",
    "double": "double",
    "bfloat": "bfloat",
    "bfloat16": "bfloat",
    **{prefix + name: f"i{bits}" for name, bits in zip(("char", "short", "int", "long"), (8, 16, 32, 64), strict=True)
       for prefix in ("", "u")},
    **{f"{letter}{bits}": f"i{bits}" for letter in "isu" for bits in (8, 16, 32, 64)},
    "f16": "half",
    "bf16": "bfloat",
    "f32": "float",
    "f64": "double",
}  # fmt: skip
_NAMED = re.compile(r"%(?:\"spirv\.MatrixINTEL\.([^\"]*)\"|spirv\.MatrixINTEL\.([-\w.$]+))( addrspace\(\d+\))?(\*?)")
_PARTS = re.compile(r"_([A-Za-z]\w*?)_(\d{1,7})_(\d{1,7})((?:_\w+)?)(?:\.\d+)?")
_DEFINITION = re.compile(r"^%\"?spirv\.MatrixINTEL\.[^=\n]*= *type\b.*$", re.MULTILINE)
_BY_POINTER = re.compile(r"%\"?spirv\.MatrixINTEL\.[-\w.$]+\"?(?: addrspace\(\d+\))?\* +@")


def modern(text: str) -> str:
    """Return text with the proposal's opaque named types as target types; every line keeps its number.

    LLVM's opaque named types cannot be passed as values. If operations return pointers to such types, as with typed
    pointers, then the pointers denote the matrices.
    """
    if "spirv.MatrixINTEL." not in text:
        return text
    by_pointer = _BY_POINTER.search(text) is not None

    def change(match: re.Match[str]) -> str:
        parts = _PARTS.fullmatch(match[1] or match[2])
        component = _TYPE_WORDS.get(parts[1]) if parts else None
        if parts is None or component is None:
            return match[0]
        numbers = [int(n) for n in parts[4].split("_") if n.isdigit() and len(n) < 10]
        target_type = f'target("spirv.MatrixINTEL", {", ".join([component, parts[2], parts[3], *map(str, numbers)])})'
        return target_type if by_pointer and match[4] else f"{target_type}{match[3] or ''}{match[4]}"

    return _NAMED.sub(change, _DEFINITION.sub("", text))


# --- operations ----------------------------------------------------------------------------------

_INTRINSIC = re.compile(r"llvm\.experimental\.matrix\.(load|store|mad)(?:\..*)?")
_FUNCTION = re.compile(r"(?:_Z\d+)?__spirv_Matrix(Load|Store|Mad)INTEL.*")
_HINT = re.compile(rf"[._]({TAG})$")


@dataclass(frozen=True, slots=True)
class Name:
    """The parts of an operation's name.

    word: "load", "store" or "mad"; "flat" for a conversion from a canonical matrix to Intel's, "matrix" for the
        reverse.
    matrix: the matrix type, if the name contains one.
    metadata: whether layouts and scopes are metadata strings, not numbers.
    """

    word: str
    matrix: MatrixType | None
    metadata: bool


def read_name(name: str) -> Name | None:
    """Return the parts of an operation's name; None if it is not an operation of Intel's dialect."""
    name = UNIQUE.sub("", name)
    conversion = MatrixCall.read(name)
    if conversion and conversion.word in ("flat", "matrix"):
        return Name(conversion.word, tagged(conversion.tags), False)
    intrinsic = _INTRINSIC.fullmatch(name)
    match = intrinsic or _FUNCTION.fullmatch(name)
    if match is None:
        return None
    hint = _HINT.search(name)
    return Name(match[1].lower(), tagged(hint[1]) if hint else None, intrinsic is not None)


def tags(name: str) -> list[MatrixType]:
    """Return the matrix types that a canonical name contains, in order."""
    matrices = (tagged(text) for text in re.findall(rf"(?:(?<=_)|(?<=u\d)|(?<=u\d\d))({TAG})(?=[_.i]|$)", name))
    return [matrix for matrix in matrices if matrix is not None]


# --- types ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shape:
    """The component of a type, and either its shape (opaque types) or its number of components `count` (vectors)."""

    component: ComponentType
    rows: int = 0
    columns: int = 0
    count: int = 0

    def fits(self, rows: int, columns: int) -> bool:
        return self.count == rows * columns if self.count else (self.rows, self.columns) == (rows, columns)


def shape_of(type_: str, line: str = "") -> Shape | None:
    """Return the shape of a vector or opaque matrix type; None for other types. Raise Malformed for a bad component."""
    vector, opaque = VECTOR.fullmatch(type_), OPAQUE.fullmatch(type_)
    if vector:
        return Shape(COMPONENTS[vector[2]], count=int(vector[1]))
    if opaque is None:
        return None
    if opaque[1] not in COMPONENTS:
        raise Malformed("ir-matrix-type", f"a matrix cannot have components of type {opaque[1]}", line)
    return Shape(COMPONENTS[opaque[1]], int(opaque[2]), int(opaque[3]))


def vector_type(matrix: MatrixType) -> str:
    return f"<{matrix.rows * matrix.columns} x {LLVM_NAMES[matrix.component]}>"


def opaque_type(matrix: MatrixType) -> str:
    """Return the opaque type; its layout is always row major (0), since the layout of most values is unknown."""
    numbers = f"{matrix.rows}, {matrix.columns}, 0, {matrix.scope}"
    return f'target("spirv.MatrixINTEL", {LLVM_NAMES[matrix.component]}, {numbers})'


def conversion_name(word: str, matrix: MatrixType) -> str:
    return MatrixCall(word, tags=tag(matrix)).write()
