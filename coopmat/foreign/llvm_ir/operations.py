"""The table of matrix operations of all dialects: how their names are read, and which operands they take.

In every dialect, an operation is named after its SPIR-V instruction. Names such as `Binary...` and `ScalarNeg` leave
the class of the components, integer or floating point, to the type. They are read as the instruction for that class.
Sources: the text of the OpenCL RFC (rfc), tests of the Clang implementation under review (clang).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...matrices.placeholders import COMPONENT_CODE, MatrixCall, demangle_instruction
from ...matrices.variants import (
    COMPONENT_TYPES,
    MAX_DIMENSION,
    SCOPE_SUBGROUP,
    SCOPE_WORKGROUP,
    ComponentType,
    MatrixType,
    Use,
)
from .text import Malformed

# LLVM has no 8-bit floating-point types: SPIR-V's target types with their encodings (OpTypeFloat, opcode 22).
_SMALL_FLOAT = 'target("spirv.Type", target("spirv.Literal", 8), target("spirv.Literal", {}), 22, 1, 1)'
SMALL_FLOATS = {
    _SMALL_FLOAT.format(component.encoding.number): component
    for component in (COMPONENT_TYPES["e4m3"], COMPONENT_TYPES["e5m2"])
    if component.encoding is not None
}
_COMPONENT = "|".join(("[^,()]+", *map(re.escape, SMALL_FLOATS)))
TYPE = re.compile(rf'target\("spirv\.CooperativeMatrixKHR", ({_COMPONENT}), (\d+), (\d+), (\d+), (\d+)\)')
MENTION = '"spirv.CooperativeMatrixKHR"'

# LLVM's component type -> ours; LLVM's integers have no sign: they count as signed, and operations state the sign
COMPONENTS = {
    "half": COMPONENT_TYPES["f16"],
    "bfloat": COMPONENT_TYPES["bf16"],
    "float": COMPONENT_TYPES["f32"],
    "double": COMPONENT_TYPES["f64"],
    **{f"i{bits}": COMPONENT_TYPES[f"s{bits}"] for bits in (8, 16, 32, 64)},
    **SMALL_FLOATS,
}
LLVM_NAMES = {component: name for name, component in COMPONENTS.items()}
# Itanium's code -> LLVM type; signed and unsigned types are the same LLVM type
CODES = {"Dh": "half", "DF16b": "bfloat", "f": "float", "d": "double"}
CODES |= {"c": "i8", "a": "i8", "h": "i8", "s": "i16", "t": "i16", "i": "i32", "j": "i32", "l": "i64", "m": "i64"}
CODE_OF = {"half": "Dh", "bfloat": "DF16b", "float": "f", "double": "d", "i8": "c", "i16": "s", "i32": "i", "i64": "l"}
CODE_OF |= {name: f"u11{component.opencl_c}" for name, component in SMALL_FLOATS.items()}
CODES |= {CODE_OF[name]: name for name in SMALL_FLOATS}


def stored_type(component: ComponentType) -> str:
    """Return the LLVM type of a component in memory, as in names of loads and stores.

    For bfloat16 and smaller floats this is an integer, since the backend would treat bfloat16 as a byte.
    """
    return LLVM_NAMES[component] if component.encoding is None else f"i{component.bits}"


def matrix_of(text: str, line: str = "") -> MatrixType | None:
    """Return the matrix type of a canonical type, or None for other types. Raise Malformed for invalid parameters."""
    match = TYPE.fullmatch(text)
    if match is None:
        return None
    component, (scope, rows, columns, use) = match[1], map(int, match.groups()[1:])
    if component not in COMPONENTS:
        raise Malformed("ir-matrix-type", f"a cooperative matrix cannot have components of type {component}", line)
    if scope not in (SCOPE_SUBGROUP, SCOPE_WORKGROUP):
        message = f"a cooperative matrix of scope {scope} is not supported: 3 (subgroup) and 2 (work-group) are"
        raise Malformed("ir-matrix-type", message, line)
    if not (1 <= rows <= MAX_DIMENSION and 1 <= columns <= MAX_DIMENSION):
        message = f"a cooperative matrix cannot be {rows} x {columns}: both go from 1 to {MAX_DIMENSION}"
        raise Malformed("ir-matrix-type", message, line)
    if use > 2:
        raise Malformed("ir-matrix-type", f"a cooperative matrix has use 0, 1 or 2, not {use}", line)
    return MatrixType(COMPONENTS[component], rows, columns, Use(use), scope)


def type_text(matrix: MatrixType) -> str:
    """Return the canonical LLVM type of a matrix."""
    shape = f"{matrix.scope}, {matrix.rows}, {matrix.columns}, {int(matrix.use)}"
    return f'target("spirv.CooperativeMatrixKHR", {LLVM_NAMES[matrix.component]}, {shape})'


def tag(matrix: MatrixType) -> str:
    """Return the code of a matrix type that names contain, such as `mDh16x16A`; work-group scope has a final W.

    The code distinguishes declarations of an operation for different types.
    """
    code = CODE_OF[LLVM_NAMES[matrix.component]]
    return f"m{code}{matrix.rows}x{matrix.columns}{'ABC'[matrix.use]}{'W' * matrix.of_work_group}"


def tagged(text: str) -> MatrixType | None:
    """Return the matrix type of a tag; None for other text, which older names of component accesses have."""
    match = _TAG.fullmatch(text)
    rows, columns = (int(match[2]), int(match[3])) if match and len(match[2] + match[3]) < 12 else (0, 0)
    if match is None or not (1 <= rows <= MAX_DIMENSION and 1 <= columns <= MAX_DIMENSION):
        return None
    scope = SCOPE_WORKGROUP if match[5] else SCOPE_SUBGROUP
    return MatrixType(COMPONENTS[CODES[match[1]]], rows, columns, Use("ABC".index(match[4])), scope)


@dataclass(frozen=True, slots=True)
class Row:
    """An instruction that operates on matrices.

    kind: which operands and result the instruction has.
    integers: whether the operand's components (for a conversion: the source's and the result's) are integers.
    signed: whether integers are signed.
    """

    instruction: str
    kind: str
    integers: tuple[bool, ...] = ()
    signed: bool = True


_BOTH = (False, True)
ROWS = {
    row.instruction: row
    for row in (
        Row("CooperativeMatrixLoadKHR", "load"),
        Row("CooperativeMatrixStoreKHR", "store"),
        Row("CooperativeMatrixMulAddKHR", "multiply-add"),
        Row("CooperativeMatrixLengthKHR", "length"),
        Row("CompositeConstruct", "fill"),
        *(Row(f"F{op}", "binary", (False,)) for op in ("Add", "Sub", "Mul", "Div")),
        *(Row(f"I{op}", "binary", (True,)) for op in ("Add", "Sub", "Mul")),
        Row("SDiv", "binary", (True,)),
        Row("UDiv", "binary", (True,), signed=False),
        Row("FNegate", "negate", (False,)),
        Row("SNegate", "negate", (True,)),
        Row("FConvert", "convert", (False, False)),
        Row("ConvertFToS", "convert", (False, True)),
        Row("ConvertFToU", "convert", (False, True), signed=False),
        Row("ConvertSToF", "convert", (True, False)),
        Row("ConvertUToF", "convert", (True, False), signed=False),
        Row("SConvert", "convert", (True, True)),
        Row("UConvert", "convert", (True, True), signed=False),
        Row("CooperativeMatrixConvertUseEXT", "change"),
        Row("CompositeExtract", "extract"),
        Row("CompositeInsert", "insert"),
        # Not canonical: becomes a fill and a multiplication.
        Row("ScalarMultiply", "scale"),
    )
}

# name in another dialect -> (instruction for floating point, instruction for integers)
ALIASES = {
    **{f"CooperativeMatrixBinary{op}": (f"F{op}", f"I{op}") for op in ("Add", "Sub", "Mul")},
    "CooperativeMatrixBinaryDiv": ("FDiv", "SDiv"),
    "CooperativeMatrixBinaryUDiv": ("FDiv", "UDiv"),
    "CooperativeMatrixScalarNeg": ("FNegate", "SNegate"),
    "CooperativeMatrixScalarNegKHR": ("FNegate", "SNegate"),
    "CooperativeMatrixScalarMul": ("ScalarMultiply", "ScalarMultiply"),
    "CooperativeMatrixScalarMulKHR": ("ScalarMultiply", "ScalarMultiply"),
    "MatrixTimesScalar": ("ScalarMultiply", "ScalarMultiply"),
    "CooperativeMatrixInitKHR": ("CompositeConstruct", "CompositeConstruct"),
    "CooperativeMatrixInit": ("CompositeConstruct", "CompositeConstruct"),
    **{
        f"CooperativeMatrix{name}": (name, name)
        for name in ROWS
        if not name.startswith(("Cooperative", "Composite", "Scalar"))
    },
}
_WORDS = {**{name: (name, name) for name in ROWS if name != "ScalarMultiply"}, **ALIASES}

_CLANG = re.compile(
    r"__spirv_(\w+?)(?:_(?:global|local|constant|private|generic))?((?:_(?:b?f|[iu]|e[45]m)\d+_sc\d+_\d+x\d+_u\d+)*)"
)
_TAG = re.compile(rf"m({COMPONENT_CODE})(\d+)x(\d+)([ABC])(W?)")
# The word, the result type and, for a conversion, the rounding mode, as SPIR-V translators write them into names:
# `ConvertFToU_RPU3AS144__spirv_CooperativeMatrixKHR__uchar_3_8_8_2_sat_rtp`.
_WITH_RESULT = re.compile(r"([A-Za-z]+)(?:_R.*?)?(_sat)?(_rt[eznp])?(_sat)?", re.DOTALL)
# The number that LLVM appends to make a name unique.
UNIQUE = re.compile(r"\.\d+$")
_POINTEE = re.compile(r"P(?:U3AS\d)?V?K?(?:Dv(\d+)_)?(DF16b|Dh|[fdcahstijlm])(?=[ijlmu]|$)")


@dataclass(frozen=True, slots=True)
class Spelling:
    """The parts of an operation's name.

    word: the word for the instruction.
    pointee: (count, LLVM type), if the name of a load or store states the pointee.
    mode: for a conversion, its saturation and rounding, such as `sat_rte`.
    matrix: for an access to a component, the matrix type.
    change: `use` or `transposed`, if a conversion changes these.
    number: the number of matrices of a map, or the kind of a reduction.
    function: the function of a map or reduction.
    """

    word: str
    pointee: tuple[int, str] | None = None
    mode: str = ""
    matrix: MatrixType | None = None
    change: str = ""
    number: int = 0
    function: str = ""

    def row(self, component: ComponentType | None) -> Row | None:
        """Return the row of the instruction, which may depend on the component's class; None if there is none."""
        pair = _WORDS.get(self.word)
        if pair is None:
            return None
        return ROWS[pair[component is not None and component.is_integer]]


def read_name(name: str) -> Spelling | None:
    """Return the parts of an operation's name; None if no dialect has such a matrix operation."""
    call = MatrixCall.read(name)
    if call and call.function:
        return Spelling(call.word, number=int(call.number), function=call.function)
    name = UNIQUE.sub("", name)
    call = MatrixCall.read(name)
    if call and call.word in ("get", "set", "coordinates"):
        return Spelling(call.word, matrix=tagged(call.tags))
    if call and call.instruction in _WORDS:
        return Spelling(call.instruction, mode=call.mode, change=call.change)
    mangled = demangle_instruction(name)
    if mangled:
        word, rest = mangled
        pointee_match = _POINTEE.match(rest)
        pointee = (int(pointee_match[1] or 1), CODES[pointee_match[2]]) if pointee_match else None
        return _of_word(word, pointee)
    plain = _CLANG.fullmatch(name)
    if plain and (plain[1] in _WORDS or plain[1].startswith("CooperativeMatrix")):
        return Spelling(plain[1])
    return None


def _of_word(word: str, pointee: tuple[int, str] | None) -> Spelling | None:
    """Return the spelling of a mangled name; `word` is the instruction's, perhaps with the result type; else None."""
    match = _WITH_RESULT.fullmatch(word)
    if match is not None and match[1] in _WORDS:
        mode = (("_sat" if match[2] or match[4] else "") + (match[3] or "")).removeprefix("_")
        if not mode or ROWS[_WORDS[match[1]][0]].kind == "convert":
            return Spelling(match[1], pointee, mode)
    return Spelling(word, pointee) if word in _WORDS or word.startswith("CooperativeMatrix") else None
