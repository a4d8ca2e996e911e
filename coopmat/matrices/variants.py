"""The properties of a cooperative matrix: component types, uses, layouts, shapes, and multiply-add variants.

The numbers of enumerators and the variant record are from the cl_khr_cooperative_matrix draft (OpenCL-Docs #1533), the
names from its conformance tests (OpenCL-CTS #2655). `bf16`, the types of 8 bits and fewer that are no bytes, and the
packed layout are extensions of this project.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum, IntFlag
from types import MappingProxyType

CL_DEVICE_COOPERATIVE_MATRIX_DEFAULT_SUB_GROUP_VARIANTS_KHR = 0x1078
CL_DEVICE_COOPERATIVE_MATRIX_SUB_GROUP_VARIANTS_KHR = 0x1079
CL_DEVICE_COOPERATIVE_MATRIX_POINTER_ALIGNMENT_KHR = 0x107A
CL_DEVICE_COOPERATIVE_MATRIX_STRIDE_MULTIPLE_KHR = 0x107B

SCOPE_WORKGROUP = 2
SCOPE_SUBGROUP = 3
MAX_DIMENSION = 2**20 - 1


class Kind(Enum):
    """A class of component types; a multiply-add cannot combine types of different classes."""

    INTEGER = "integer"
    FLOAT = "float"


@dataclass(frozen=True, slots=True)
class Encoding:
    """SPIR-V's encoding of a floating-point type that is not IEEE 754's.

    number: the encoding operand of OpTypeFloat.
    name: the enumerant of this operand.
    extension: the extension that defines it.
    capabilities: the extension's capabilities: first for the type, then for matrices.
    """

    number: int
    name: str
    extension: str
    capabilities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComponentType:
    """A component type of matrices.

    name: the name in the conformance tests.
    opencl_c: the name in OpenCL C.
    numpy: the dtype of the same size and meaning. For a type that neither numpy nor most devices have, the dtype of its
        bit patterns (`is_bits`); arithmetic is then in float.
    value: the draft's enumerator; None if the draft lacks the type.
    exponent, mantissa: the widths in bits of a floating-point type's fields.
    infinities: whether the type has infinities. If not, all patterns of the largest exponent are numbers, except the
        last, which is a NaN.
    nans: whether the type has NaNs. If not, all patterns are numbers, and conversions to the type always saturate.
    encoding: the encoding in SPIR-V, if it is not IEEE 754's.
    extension: the OpenCL extension that has the type; None if no extension is needed.
    is_nibble: whether the type has 4 bits: in memory, a byte of a matrix has two components, the first in its low bits.
        Elsewhere a component has a byte, in which integers are sign- or zero-extended.
    """

    name: str
    opencl_c: str
    bits: int
    kind: Kind
    signed: bool
    numpy: str
    value: int | None
    exponent: int = 0
    mantissa: int = 0
    infinities: bool = True
    nans: bool = True
    encoding: Encoding | None = None
    extension: str | None = None
    is_nibble: bool = False

    def __post_init__(self) -> None:
        if self.bits not in (8, 16, 32, 64):
            raise ValueError(f"{self.name}: a component has 8, 16, 32 or 64 bits, not {self.bits}")

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self.bits // 8

    @property
    def library_c(self) -> str:
        """The name of the type in the library's text."""
        return {8: "uchar", 16: "ushort"}[self.bits] if self.is_bits else self.opencl_c

    @property
    def is_bits(self) -> bool:
        """Whether values are stored as their bit patterns, in the library and in numpy."""
        return self.is_nibble or (self.kind is Kind.FLOAT and self.numpy.startswith("uint"))

    @property
    def width(self) -> int:
        """The bits of a type's patterns; a floating-point type of fewer bits than a byte has zeros above them."""
        if self.is_integer:
            return 4 if self.is_nibble else self.bits
        return self.signed + self.exponent + self.mantissa

    @property
    def bias(self) -> int:
        """The bias of a floating-point type's exponent."""
        return (1 << (self.exponent - 1)) - 1

    def converts_by_float(self, other: ComponentType) -> bool:
        """Return whether a conversion takes two instructions, with float between them, which represents both exactly.

        SPIR-V converts neither between different floats of the same width nor between 8-bit floats and integers.
        """
        if self.kind is other.kind:
            return self.kind is Kind.FLOAT and self is not other and self.bits == other.bits
        return any(component.kind is Kind.FLOAT and component.bits == 8 for component in (self, other))

    @property
    def epsilon(self) -> float:
        """The distance from 1 to the next larger number of a floating-point type."""
        return 2.0**-self.mantissa

    @property
    def normal(self) -> float:
        """The smallest positive normal number of a floating-point type."""
        return 2.0 ** (1 - self.bias)

    @property
    def largest(self) -> float:
        """The largest finite number."""
        if self.is_integer:
            return (1 << (self.width - self.signed)) - 1
        if self.infinities:
            return (2 - self.epsilon) * 2.0**self.bias
        if not self.nans:
            return (2 - self.epsilon) * 2.0 ** (self.bias + 1)
        return (2 - 2 * self.epsilon) * 2.0 ** (self.bias + 1)

    @property
    def least(self) -> float:
        """The least finite number."""
        if self.is_integer:
            return -(1 << (self.width - 1)) if self.signed else 0
        return -self.largest

    @property
    def is_integer(self) -> bool:
        return self.kind is Kind.INTEGER

    @property
    def is_factor(self) -> bool:
        """Whether A and B of a multiply-add can have the type: OCP's microscaling types need scales."""
        return self.extension != MICROSCALING

    @property
    def is_sum(self) -> bool:
        """Whether C and the result of a multiply-add can have the type."""
        return self.is_factor and not self.is_nibble

    @property
    def saturates(self) -> bool:
        """Whether OpenCL has saturating conversions to the type."""
        return self.is_integer or self.bits == 8

    def pattern(self, value: float) -> int:
        """Return the bits of a floating-point number, an infinity, or the NaN without sign or payload.

        A type without NaNs has -0 instead. For an integer type of 4 bits, return the byte of an integer.
        """
        if self.is_integer:
            return int(value) & 0xFF
        if math.isnan(value) and not self.nans:
            return 1 << (self.width - 1)
        infinite = ((1 << self.exponent) - 1) << self.mantissa
        if math.isnan(value) or (math.isinf(value) and not self.infinities):
            return infinite | (1 << (self.mantissa - 1) if self.infinities else (1 << self.mantissa) - 1)
        if math.isinf(value):
            magnitude = infinite
        else:
            least = 1 - self.bias
            power = max(math.frexp(value)[1] - 1, least) if value else least
            magnitude = ((power - least) << self.mantissa) + int(math.ldexp(abs(value), self.mantissa - power))
        return magnitude | (math.copysign(1.0, value) < 0) << (self.width - 1)

    def with_sign(self, signed: bool) -> ComponentType:
        """Return the integer type of the same size with or without a sign.

        A floating-point type is returned unchanged.
        """
        return EVERY_COMPONENT_TYPE[f"{'s' if signed else 'u'}{self.width}"] if self.is_integer else self

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        # Short, because function names contain the repr of their component types.
        return self.name


def may_multiply(*components: ComponentType) -> bool:
    """Return whether a multiply-add may combine these types of A, B, C and the result.

    They must be all integers or all floating point. Only integers can saturate.
    """
    factors, sums = components[:2], components[2:]
    has_kinds = all(t.is_factor for t in factors) and all(t.is_sum for t in sums)
    return has_kinds and len({component.kind for component in components}) == 1


# The components along K that share a scale in a scaled multiply-add, as in the OCP microscaling formats.
SCALE_BLOCK = 32
MICROSCALING = "cl_ext_microscaling_types"
_BFLOAT16 = ("BFloat16TypeKHR", "BFloat16CooperativeMatrixKHR", "BFloat16DotProductKHR")
_FLOAT8 = ("Float8EXT", "Float8CooperativeMatrixEXT")
_ROWS = (
    ComponentType("f16", "half", 16, Kind.FLOAT, True, "float16", 0, 5, 10, extension="cl_khr_fp16"),
    ComponentType("f32", "float", 32, Kind.FLOAT, True, "float32", 1, 8, 23),
    ComponentType("f64", "double", 64, Kind.FLOAT, True, "float64", 2, 11, 52, extension="cl_khr_fp64"),
    ComponentType("s8", "char", 8, Kind.INTEGER, True, "int8", 3),
    ComponentType("s16", "short", 16, Kind.INTEGER, True, "int16", 4),
    ComponentType("s32", "int", 32, Kind.INTEGER, True, "int32", 5),
    ComponentType("s64", "long", 64, Kind.INTEGER, True, "int64", 6),
    ComponentType("u8", "uchar", 8, Kind.INTEGER, False, "uint8", 7),
    ComponentType("u16", "ushort", 16, Kind.INTEGER, False, "uint16", 8),
    ComponentType("u32", "uint", 32, Kind.INTEGER, False, "uint32", 9),
    ComponentType("u64", "ulong", 64, Kind.INTEGER, False, "uint64", 10),
    ComponentType(
        *("bf16", "bfloat16", 16, Kind.FLOAT, True, "uint16", None, 8, 7),
        encoding=Encoding(0, "BFloat16KHR", "SPV_KHR_bfloat16", _BFLOAT16),
    ),
    ComponentType(
        *("e4m3", "floate4m3_t", 8, Kind.FLOAT, True, "uint8", None, 4, 3, False),
        encoding=Encoding(4214, "Float8E4M3EXT", "SPV_EXT_float8", _FLOAT8),
        extension="cl_ext_float8",
    ),
    ComponentType(
        *("e5m2", "floate5m2_t", 8, Kind.FLOAT, True, "uint8", None, 5, 2),
        encoding=Encoding(4215, "Float8E5M2EXT", "SPV_EXT_float8", _FLOAT8),
        extension="cl_ext_float8",
    ),
)
COMPONENT_TYPES = MappingProxyType({row.name: row for row in _ROWS})
# The types of the OCP microscaling formats. e8m0, which has only powers of two, is no component type.
MICROSCALING_TYPES = tuple(
    ComponentType(
        *(name, f"floate{name[1:]}_t", 8, Kind.FLOAT, bool(mantissa), "uint8", None, exponent, mantissa, False),
        nans=not mantissa,
        extension=MICROSCALING,
        is_nibble=name == "e2m1",
    )
    for name, exponent, mantissa in (("e2m1", 2, 1), ("e2m3", 2, 3), ("e3m2", 3, 2), ("e8m0", 8, 0))
)
_NIBBLES = tuple(
    ComponentType(name, opencl_c, 8, Kind.INTEGER, signed, "uint8", None, extension="cl_coopmat_int4", is_nibble=True)
    for name, opencl_c, signed in (("s4", "signed4_t", True), ("u4", "unsigned4_t", False))
)
# The component types of fewer than 8 bits: matrices for storage, without arithmetic. Integers may be factors.
NARROW_TYPES = MappingProxyType({row.name: row for row in (*MICROSCALING_TYPES[:3], *_NIBBLES)})
EVERY_COMPONENT_TYPE = MappingProxyType({**COMPONENT_TYPES, **NARROW_TYPES})
# The component types of 8 and 16 bits that are stored as their bit patterns, and all scalar types that are.
SMALL_FLOATS = tuple(row for row in _ROWS if row.is_bits)
BIT_PATTERNS = (*SMALL_FLOATS, *MICROSCALING_TYPES, *_NIBBLES)
# OpenCL C's name -> type of every scalar that is stored as its bit patterns, or is a component type.
NUMBER_TYPES = MappingProxyType({row.opencl_c: row for row in (*_ROWS, *BIT_PATTERNS)})
_BY_VALUE = MappingProxyType({row.value: row for row in _ROWS if row.value is not None})


class Use(IntEnum):
    """The use of a matrix in a multiply-add; the numbers are those of the draft."""

    A = 0
    B = 1
    ACCUMULATOR = 2

    @property
    def letter(self) -> str:
        """The letter of the use in names: A, B or C."""
        return "ABC"[self]


class Layout(IntEnum):
    """The memory layout of a matrix: the place of component (r, c), counted in components from the pointer.

    With f = max(1, 32 / bits of a component in memory):
    ROW_MAJOR: r * stride + c.
    COLUMN_MAJOR: c * stride + r.
    PACKED: r // f * stride + c * f + r % f, the VNNI layout of B.
    PACKED_A: c // f * stride + r * f + c % f, the packed layout with rows and columns exchanged. OpenCL C has no name
        for it.
    """

    ROW_MAJOR = 0
    COLUMN_MAJOR = 1
    PACKED = 2
    PACKED_A = 3

    @property
    def short(self) -> str:
        """The name of the layout in conformance tests."""
        return ("rowm", "colm", "packed", "packeda")[self]

    def pack(self, component: ComponentType) -> int:
        """Return the number of adjacent components: of a column for PACKED, of a row for PACKED_A, otherwise 1."""
        if self < Layout.PACKED:
            return 1
        return 8 if component.is_nibble else max(1, 4 // component.size)


# The layouts that OpenCL C has names for.
OPENCL_C_LAYOUTS = (Layout.ROW_MAJOR, Layout.COLUMN_MAJOR, Layout.PACKED)


class Operands(IntFlag):
    """The operand mask of a multiply-add; TF32, of float factors, is an extension of this project."""

    NONE = 0
    A_SIGNED = 1
    B_SIGNED = 2
    C_SIGNED = 4
    RESULT_SIGNED = 8
    SATURATING = 16
    TF32 = 32


def default_operands(a: ComponentType, b: ComponentType, c: ComponentType) -> Operands:
    """Return the default mask: the bits of the signed integer types are set, and the result's bit is like C's."""
    bits = ((a, Operands.A_SIGNED), (b, Operands.B_SIGNED), (c, Operands.C_SIGNED), (c, Operands.RESULT_SIGNED))
    mask = Operands.NONE
    for component, bit in bits:
        if component.is_integer and component.signed:
            mask |= bit
    return mask


@dataclass(frozen=True, slots=True)
class MatrixShape:
    """The numbers of rows and columns; the constructor raises ValueError if they are out of range."""

    rows: int
    columns: int

    def __post_init__(self) -> None:
        for size in (self.rows, self.columns):
            if not 1 <= size <= MAX_DIMENSION:
                raise ValueError(f"a cooperative matrix has 1 to {MAX_DIMENSION} rows and columns, not {size}")

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns}"


@dataclass(frozen=True, slots=True)
class MatrixType:
    """A cooperative matrix type; in OpenCL C the scope is always the subgroup.

    The constructor raises ValueError if a dimension is out of range.
    """

    component: ComponentType
    rows: int
    columns: int
    use: Use
    scope: int = SCOPE_SUBGROUP

    def __post_init__(self) -> None:
        MatrixShape(self.rows, self.columns)

    @property
    def shape(self) -> MatrixShape:
        return MatrixShape(self.rows, self.columns)

    @property
    def name(self) -> str:
        """The name in the conformance tests, such as `16x16.A.f16`; with another scope, the suffix is `.workgroup`."""
        workgroup = ".workgroup" if self.of_work_group else ""
        return f"{self.shape}.{self.use.letter}.{self.component}{workgroup}"

    @property
    def of_work_group(self) -> bool:
        """Whether the scope is the work-group."""
        return self.scope == SCOPE_WORKGROUP

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Variant:
    """A multiply-add that a device supports: the draft's record of eight cl_uint.

    A is m x k, B is k x n, C and the result are m x n. The constructor raises ValueError if the component types are of
    different classes, or if floating point would saturate.
    """

    m: int
    n: int
    k: int
    a: ComponentType
    b: ComponentType
    c: ComponentType
    result: ComponentType
    saturating: bool = False

    def __post_init__(self) -> None:
        MatrixShape(self.m, self.n), MatrixShape(self.n, self.k)
        if not may_multiply(*self.components):
            raise ValueError(f"{self.name}: the component types must be all integers, or all floating point")
        if self.saturating and not self.a.is_integer:
            raise ValueError(f"{self.name}: only integers saturate")

    @property
    def components(self) -> tuple[ComponentType, ComponentType, ComponentType, ComponentType]:
        """The component types of A, B, C and the result."""
        return (self.a, self.b, self.c, self.result)

    @property
    def name(self) -> str:
        """The name `MxNxK.AxB_C_R.nosat|.sat`."""
        suffix = "sat" if self.saturating else "nosat"
        return f"{self.m}x{self.n}x{self.k}.{self.a}x{self.b}_{self.c}_{self.result}.{suffix}"

    def __str__(self) -> str:
        return self.name

    def matrix_types(self) -> tuple[MatrixType, MatrixType, MatrixType, MatrixType]:
        """Return the types of A, B, C and the result."""
        return (
            MatrixType(self.a, self.m, self.k, Use.A),
            MatrixType(self.b, self.k, self.n, Use.B),
            MatrixType(self.c, self.m, self.n, Use.ACCUMULATOR),
            MatrixType(self.result, self.m, self.n, Use.ACCUMULATOR),
        )

    def to_record(self) -> tuple[int, int, int, int, int, int, int, int]:
        """Return (m, n, k, a, b, c, result, saturating); raise ValueError if the draft lacks a component type."""
        a, b, c, result = (_draft_value(component) for component in self.components)
        return (self.m, self.n, self.k, a, b, c, result, int(self.saturating))

    @classmethod
    def from_record(cls, record: Sequence[int]) -> Variant:
        """Return the variant of a record; raise ValueError if the record does not have eight valid entries."""
        if len(record) != 8:
            raise ValueError(f"a variant record has eight entries, not {len(record)}")
        for value in record[3:7]:
            if value not in _BY_VALUE:
                raise ValueError(f"{value} is not the number of a component type")
        if record[7] not in (0, 1):
            raise ValueError(f"saturating is 0 or 1, not {record[7]}")
        m, n, k = record[:3]
        a, b, c, result = (_BY_VALUE[value] for value in record[3:7])
        return cls(m, n, k, a, b, c, result, bool(record[7]))


def _draft_value(component: ComponentType) -> int:
    """Return the draft's enumerator of a component type; raise ValueError if it has none."""
    if component.value is None:
        raise ValueError(f"{component} has no value in the draft")
    return component.value


@dataclass(frozen=True, slots=True)
class Conversion:
    """A conversion of a matrix to another type.

    By default the conversion is a C cast. With `rounding` ("rte", "rtz", "rtp", "rtn") and `saturate` it is OpenCL's
    convert_ function. `transposed`: a transposition, which also may change the use, and nothing else.
    """

    rounding: str = ""
    saturate: bool = False
    transposed: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """The words for the conversion in names, such as ("sat", "rte")."""
        if self.transposed:
            return ("transposed",)
        return ("sat",) * self.saturate + ((self.rounding,) if self.rounding else ())

    def __str__(self) -> str:
        return "_".join(self.words) or "cast"


CAST = Conversion()
