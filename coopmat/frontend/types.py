"""The types of OpenCL C, with their sizes and layout for a 64-bit little-endian device.

Types are values: equal types compare equal; records are compared by identity. Qualifiers are not part of a type, but of
the description of an object: a variable, a field or, for the pointee, a pointer. Sizes and alignments are in bytes
(OpenCL C 3.0, sections 6.3.1, 6.3.2, 6.3.5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum
from functools import cache

from ..diagnostics import Span
from ..matrices.variants import BIT_PATTERNS


class AddressSpace(IntEnum):
    """An address space; the numbers are LLVM's for the SPIR targets."""

    PRIVATE = 0
    GLOBAL = 1
    CONSTANT = 2
    LOCAL = 3
    GENERIC = 4

    def __str__(self) -> str:
        return self.name.lower()


def in_space(source: AddressSpace, target: AddressSpace) -> bool:
    """Return whether `target` contains `source`: the generic address space contains all but constant memory."""
    return source is target or (target is AddressSpace.GENERIC and source is not AddressSpace.CONSTANT)


@dataclass(frozen=True, slots=True)
class Qualifiers:
    """The address space and the type qualifiers of an object."""

    space: AddressSpace = AddressSpace.PRIVATE
    const: bool = False
    volatile: bool = False
    restrict: bool = False


PLAIN = Qualifiers()


class Type:
    """The base of all types; `str()` is the OpenCL C spelling that diagnostics show."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class VoidType(Type):
    def __str__(self) -> str:
        return "void"


class Kind(Enum):
    BOOL = "bool"
    INTEGER = "integer"
    FLOAT = "float"


@dataclass(frozen=True, slots=True, eq=False)
class ScalarType(Type):
    """An arithmetic scalar type; each type is one object, equal only to itself.

    rank: orders integer conversions (C11 6.3.1.1).
    mangling: the Itanium code.
    is_bits: whether the type is a small float: devices store its bits and compute with float.
    is_nibble: whether two components of a vector share a byte.
    is_integer, is_float: derived from `kind`; bool counts as an integer.
    """

    name: str
    kind: Kind
    bits: int
    signed: bool
    rank: int
    mangling: str
    is_bits: bool = False
    is_nibble: bool = False
    is_integer: bool = field(init=False)
    is_float: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_integer", self.kind is not Kind.FLOAT)
        object.__setattr__(self, "is_float", self.kind is Kind.FLOAT)

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Callable[[str], ScalarType], tuple[str]]:
        return scalar_named, (self.name,)


VOID = VoidType()
BOOL = ScalarType("bool", Kind.BOOL, 8, False, 0, "b")
CHAR = ScalarType("char", Kind.INTEGER, 8, True, 1, "c")
UCHAR = ScalarType("uchar", Kind.INTEGER, 8, False, 1, "h")
SHORT = ScalarType("short", Kind.INTEGER, 16, True, 2, "s")
USHORT = ScalarType("ushort", Kind.INTEGER, 16, False, 2, "t")
INT = ScalarType("int", Kind.INTEGER, 32, True, 3, "i")
UINT = ScalarType("uint", Kind.INTEGER, 32, False, 3, "j")
LONG = ScalarType("long", Kind.INTEGER, 64, True, 4, "l")
ULONG = ScalarType("ulong", Kind.INTEGER, 64, False, 4, "m")
HALF = ScalarType("half", Kind.FLOAT, 16, True, 5, "Dh")
FLOAT = ScalarType("float", Kind.FLOAT, 32, True, 6, "f")
DOUBLE = ScalarType("double", Kind.FLOAT, 64, True, 7, "d")

SIZE_T, PTRDIFF_T, INTPTR_T, UINTPTR_T = ULONG, LONG, LONG, ULONG

INTEGERS = (CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG)
FLOATS = (HALF, FLOAT, DOUBLE)


#: The types that are stored as their bits; in the language, those of 4-bit integers count as floating point, too. The
#: mangling is Itanium's for bfloat16, and that of a vendor type for others.
SMALL_FLOATS = tuple(
    ScalarType(row.opencl_c, Kind.FLOAT, row.bits, row.signed, HALF.rank, mangling, True, row.is_nibble)
    for row in BIT_PATTERNS
    for mangling in ("DF16b" if row.opencl_c == "bfloat16" else f"u{len(row.opencl_c)}{row.opencl_c}",)
)
_SCALARS = {t.name: t for t in [*globals().values(), *SMALL_FLOATS] if isinstance(t, ScalarType)}


def scalar_named(name: str) -> ScalarType:
    """Return the scalar type of a name, so that pickling and copying preserve its identity."""
    return _SCALARS[name]


VECTOR_SIZES = (2, 3, 4, 8, 16)
_MATRIX_ENUMERATIONS = (f"coop_matrix_{name}_t" for name in ("scope", "use", "layout", "operands", "reduce"))
#: Name in a program -> scalar type. Enumerations are plain integers here (section 6.15.8).
SCALARS: dict[str, ScalarType] = {
    **{t.name: t for t in (BOOL, *SMALL_FLOATS, *INTEGERS, *FLOATS)},
    **{"size_t": SIZE_T, "ptrdiff_t": PTRDIFF_T, "intptr_t": INTPTR_T, "uintptr_t": UINTPTR_T},
    **dict.fromkeys(("cl_mem_fence_flags", "coop_mat_operands", *_MATRIX_ENUMERATIONS), UINT),
    **dict.fromkeys(("memory_scope", "memory_order"), INT),
}


@dataclass(frozen=True, slots=True)
class VectorType(Type):
    element: ScalarType
    count: int

    def __str__(self) -> str:
        return f"{self.element}{self.count}"


@dataclass(frozen=True, slots=True)
class PointerType(Type):
    """A pointer; `qualifiers` belong to the pointee, so their address space is the one pointed to."""

    pointee: Type
    qualifiers: Qualifiers = PLAIN

    def __str__(self) -> str:
        words = [str(self.qualifiers.space)]
        if self.qualifiers.const:
            words.append("const")
        if self.qualifiers.volatile:
            words.append("volatile")
        if isinstance(self.pointee, ArrayType):
            element, sizes = _array_parts(self.pointee)
            return " ".join([*words, f"{element} (*){sizes}"])
        return " ".join([*words, f"{self.pointee} *"])


@dataclass(frozen=True, slots=True)
class ArrayType(Type):
    """An array; `size` is None for an incomplete array (`int a[]`)."""

    element: Type
    size: int | None

    def __str__(self) -> str:
        element, sizes = _array_parts(self)
        return element + sizes


def _array_parts(array: ArrayType) -> tuple[str, str]:
    sizes, element = "", array
    while isinstance(element, ArrayType):
        sizes += f"[{'' if element.size is None else element.size}]"
        element = element.element  # type: ignore[assignment]
    return str(element), sizes


@dataclass(slots=True)
class Field:
    """A member of a record; the members of an unnamed record member count as the outer record's.

    offset: in bytes, set when the record is completed.
    alignment: the minimum alignment in bytes by attribute, or None.
    packed: whether the alignment of the member's type is ignored.
    host_sized: the name of its type if that is size_t or similar.
    """

    name: str
    type: Type
    qualifiers: Qualifiers
    span: Span
    offset: int = 0
    alignment: int | None = None
    packed: bool = False
    host_sized: str | None = None


@dataclass(eq=False, slots=True)
class RecordType(Type):
    """A struct or union (`kind`); `fields` is None until it is complete.

    `holds_matrix`: whether it contains a cooperative matrix, at any depth.
    """

    kind: str
    name: str | None
    span: Span
    fields: list[Field] | None = None
    packed: bool = False
    alignment: int | None = None
    size_bytes: int = 0
    align_bytes: int = 1
    holds_matrix: bool = False
    _paths: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.kind} {self.name}" if self.name else f"{self.kind} (unnamed)"

    def complete(self, fields: list[Field]) -> None:
        """Set the fields with their offsets, the paths of members, and the record's size and alignment.

        A field has its natural alignment, 1 if packed, or a larger one that it states. In a union, all offsets are 0.
        """
        offset, align = 0, 1
        for item in fields:
            step = max(1 if self.packed or item.packed else align_of(item.type), item.alignment or 1)
            align = max(align, step)
            if self.kind == "union":
                item.offset = 0
                offset = max(offset, size_of(item.type))
            else:
                item.offset = -(-offset // step) * step
                offset = item.offset + size_of(item.type)
        align = max(align, self.alignment or 1)
        self.align_bytes, self.size_bytes = align, -(-offset // align) * align
        self.fields = fields
        self.holds_matrix = any(contains_matrix(item.type) for item in fields)
        for i, item in enumerate(fields):
            if item.name:
                self._paths[item.name] = (i,)
            elif isinstance(item.type, RecordType):
                self._paths.update({name: (i, *path) for name, path in item.type._paths.items()})

    def path_of(self, name: str) -> tuple[int, ...] | None:
        """Return the field indices that lead to a member, several through unnamed members (C11 6.7.2.1), or None."""
        return self._paths.get(name)

    def names(self) -> list[str]:
        """Return the names of all members, those of unnamed members included."""
        return list(self._paths)


@dataclass(frozen=True, slots=True)
class AtomicType(Type):
    """An object that atomic functions act on (OpenCL C 3.0, section 6.15.12.6); if `flag`, an atomic_flag."""

    value: ScalarType
    flag: bool = False

    def __str__(self) -> str:
        return "atomic_flag" if self.flag else f"atomic_{self.value}"


@dataclass(frozen=True, slots=True)
class OpaqueType(Type):
    """A type without visible structure: `event_t` or `sampler_t`."""

    name: str

    def __str__(self) -> str:
        return self.name


EVENT = OpaqueType("event_t")
SAMPLER = OpaqueType("sampler_t")


@dataclass(frozen=True, slots=True)
class ImageType(Type):
    """An image type (section 6.3.3).

    `name` is the spelling without the access qualifier; `access` is read_only, write_only or read_write.
    """

    name: str
    access: str = "read_only"

    def __str__(self) -> str:
        return f"{self.access} {self.name}"


IMAGE_NAMES = (
    *("image1d_t", "image1d_array_t", "image1d_buffer_t", "image2d_t", "image2d_array_t", "image2d_depth_t"),
    *("image2d_array_depth_t", "image3d_t"),
)


def is_opaque(t: Type) -> bool:
    """Return whether values of this type are handles of the host: images or samplers."""
    return isinstance(t, ImageType) or t == SAMPLER


@dataclass(frozen=True, slots=True)
class FunctionType(Type):
    result: Type
    parameters: tuple[Type, ...]
    variadic: bool = False

    def __str__(self) -> str:
        inside = ", ".join([*map(str, self.parameters), *(["..."] if self.variadic else [])])
        return f"{self.result} ({inside or 'void'})"


class MatrixUse(IntEnum):
    """A matrix use: CLK_COOPERATIVE_MATRIX_A, _B or _ACCUMULATOR; the numbers are SPIR-V's."""

    A = 0
    B = 1
    ACCUMULATOR = 2


SCOPE_WORKGROUP, SCOPE_SUBGROUP = 2, 3


@dataclass(frozen=True, slots=True)
class CoopMatrixType(Type):
    """A cooperative matrix type: rows x columns components of type `component`, distributed over `scope`."""

    component: ScalarType
    scope: int
    rows: int
    columns: int
    use: MatrixUse

    def __str__(self) -> str:
        scope = ", workgroup" if self.scope == SCOPE_WORKGROUP else ""
        return f"{self.component} coop_mat({self.rows}x{self.columns}, {self.use.name.lower()}{scope})"

    def converts_to(self, other: CoopMatrixType) -> bool:
        """Return whether the types differ at most in their component types and their uses."""
        return replace(self, component=other.component, use=other.use) == other


class MatrixLayout(Enum):
    """The order of elements in memory: the elements of a column, or those of a row, are adjacent."""

    COLUMN_MAJOR = "column_major"
    ROW_MAJOR = "row_major"


@dataclass(frozen=True, slots=True)
class ConstantMatrixType(Type):
    """Clang's matrix type: `rows` x `columns` elements, private to each work-item.

    An object is stored by columns or by rows (`layout`), with `padding` unused elements after each. It is aligned like
    an element.
    """

    element: ScalarType
    rows: int
    columns: int
    layout: MatrixLayout = MatrixLayout.COLUMN_MAJOR
    padding: int = 0

    def __str__(self) -> str:
        row_major = self.layout is MatrixLayout.ROW_MAJOR
        clauses = ", layout(row_major)" * row_major
        clauses += f", {'row' if row_major else 'column'}_padding({self.padding})" * bool(self.padding)
        return f"{self.element} matrix_type({self.rows}, {self.columns}{clauses})"

    @property
    def stride(self) -> int:
        """The number of elements from the start of one column (row, if row-major) to the start of the next."""
        return (self.rows if self.layout is MatrixLayout.COLUMN_MAJOR else self.columns) + self.padding

    @property
    def storage_elements(self) -> int:
        """The number of elements that an object occupies in memory, padding included."""
        return self.stride * (self.columns if self.layout is MatrixLayout.COLUMN_MAJOR else self.rows)


def is_integer(t: Type) -> bool:
    return isinstance(t, ScalarType) and t.is_integer


def is_float(t: Type) -> bool:
    return isinstance(t, ScalarType) and t.is_float


def element_type(t: Type) -> Type:
    """Return the component type of a vector; any other type is returned unchanged."""
    return t.element if isinstance(t, VectorType) else t


def element_count(t: Type) -> int:
    return t.count if isinstance(t, VectorType) else 1


def with_count(element: ScalarType, count: int) -> ScalarType | VectorType:
    """Return the scalar type for count 1, otherwise the vector type."""
    return element if count == 1 else VectorType(element, count)


def held_as(t: Type) -> Type:
    """Return the type in which devices store values of `t`: for small floats an unsigned integer, otherwise `t`."""
    return integer_type(t.bits, False) if isinstance(t, ScalarType) and t.is_bits else t


def is_bits(t: Type) -> bool:
    return isinstance(t, ScalarType) and t.is_bits


@cache
def integer_type(bits: int, signed: bool) -> ScalarType:
    return next(t for t in INTEGERS if t.bits == bits and t.signed == signed)


def is_complete(t: Type) -> bool:
    if isinstance(t, ArrayType):
        return t.size is not None and is_complete(t.element)
    if isinstance(t, RecordType):
        return t.fields is not None
    return not isinstance(t, (VoidType, FunctionType))


def contained(t: Type, pointees: bool = False) -> Iterator[Type]:
    """Yield the type and all types that its arrays and records contain, in the order of members.

    With `pointees`, continue through pointers and the signatures of functions. Each record is yielded once, since a
    record with two members of one type contains 2 to the power of its depth.
    """
    records: set[RecordType] = set()
    work = [t]
    while work:
        part = work.pop()
        if isinstance(part, RecordType):
            if part in records:
                continue
            records.add(part)
            work += [item.type for item in reversed(part.fields or ())]
        elif isinstance(part, ArrayType):
            work.append(part.element)
        elif pointees and isinstance(part, PointerType):
            work.append(part.pointee)
        elif pointees and isinstance(part, FunctionType):
            work += [*reversed(part.parameters), part.result]
        yield part


def contains_matrix(t: Type) -> bool:
    """Return whether a value of this type contains cooperative matrices."""
    while isinstance(t, ArrayType):
        t = t.element
    return t.holds_matrix if isinstance(t, RecordType) else isinstance(t, CoopMatrixType)


def size_of(t: Type) -> int:
    """Return the size of a complete type in bytes; 0 for a cooperative matrix, whose size no program can observe."""
    if isinstance(t, ScalarType):
        return t.bits // 8
    if isinstance(t, VectorType):
        return size_of(t.element) * (4 if t.count == 3 else t.count) // (2 if t.element.is_nibble else 1)
    if isinstance(t, (PointerType, OpaqueType, ImageType)):
        return 8
    if isinstance(t, AtomicType):
        return size_of(t.value)
    if isinstance(t, ArrayType):
        return size_of(t.element) * (t.size or 0)
    if isinstance(t, RecordType):
        return t.size_bytes
    if isinstance(t, ConstantMatrixType):
        return size_of(t.element) * t.storage_elements
    return 0


def align_of(t: Type) -> int:
    """Return the alignment in bytes; vectors are aligned to their size (OpenCL C 3.0, section 6.3.5)."""
    if isinstance(t, (ArrayType, ConstantMatrixType)):
        return align_of(t.element)
    if isinstance(t, RecordType):
        return t.align_bytes
    return max(size_of(t), 1)
