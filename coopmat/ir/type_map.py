"""The mapping from OpenCL C types to LLVM types, with the memory layout of `frontend.types`.

The module also defines the types that llvmlite's ir layer lacks: target extension types and bfloat.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from llvmlite import ir
from llvmlite.ir.values import FormattedConstant

from ..diagnostics import InternalError
from ..frontend.types import (
    BOOL,
    DOUBLE,
    EVENT,
    FLOAT,
    HALF,
    INTEGERS,
    SAMPLER,
    SMALL_FLOATS,
    AddressSpace,
    ArrayType,
    AtomicType,
    ConstantMatrixType,
    CoopMatrixType,
    ImageType,
    OpaqueType,
    PointerType,
    RecordType,
    ScalarType,
    Type,
    VectorType,
    VoidType,
    align_of,
    contains_matrix,
    held_as,
    size_of,
)

# --- types that llvmlite lacks ---------------------------------------------------------------------


class BFloatType(ir.Type):  # type: ignore[misc]
    """The LLVM type `bfloat`; a constant's value must be representable in it."""

    null = "0.0"
    intrinsic_name = "bf16"
    extension = "SPV_KHR_bfloat16"

    def __str__(self) -> str:
        return "bfloat"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BFloatType)

    def __hash__(self) -> int:
        return hash(BFloatType)

    def format_constant(self, value: float) -> str:
        # LLVM accepts the hexadecimal form of a double for each narrower type that represents the value exactly.
        return str(ir.DoubleType().format_constant(value))


class TargetType(ir.Type):  # type: ignore[misc]
    """A target extension type, `target("NAME", PARAMETERS)`, for SPIR-V types without an LLVM equivalent."""

    def __init__(self, name: str, *parameters: object) -> None:
        words = [f'"{name}"', *map(str, parameters)]
        self._text = f"target({', '.join(words)})"

    def _to_string(self) -> str:
        return self._text

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, TargetType) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


def cooperative_matrix_type(component: ir.Type, matrix: CoopMatrixType) -> TargetType:
    """Return `target("spirv.CooperativeMatrixKHR", component, scope, rows, columns, use)`."""
    shape = (matrix.scope, matrix.rows, matrix.columns, int(matrix.use))
    return TargetType("spirv.CooperativeMatrixKHR", component, *shape)


OPAQUE_TYPES = {EVENT: TargetType("spirv.Event"), SAMPLER: TargetType("spirv.Sampler")}

# image type -> (SPIR-V's Dim (3.8), is a depth image, is an array).
_IMAGES = {
    "image1d_t": (0, 0, 0),
    "image1d_array_t": (0, 0, 1),
    "image1d_buffer_t": (5, 0, 0),
    "image2d_t": (1, 0, 0),
    "image2d_array_t": (1, 0, 1),
    "image2d_depth_t": (1, 1, 0),
    "image2d_array_depth_t": (1, 1, 1),
    "image3d_t": (2, 0, 0),
}
_ACCESSES = {"read_only": 0, "write_only": 1, "read_write": 2}


def image_type(image: ImageType) -> TargetType:
    """Return `target("spirv.Image", void, dimension, depth, arrayed, multisampled, sampled, format, access)`."""
    return _image("spirv.Image", image)


def sampled_image_type(image: ImageType) -> TargetType:
    """Return `target("spirv.SampledImage", ...)` with the parameters of `image`."""
    return _image("spirv.SampledImage", image)


def _image(name: str, image: ImageType) -> TargetType:
    dimension, depth, arrayed = _IMAGES[image.name]
    return TargetType(name, "void", dimension, depth, arrayed, 0, 0, 0, _ACCESSES[image.access])


# --- types of OpenCL C ---------------------------------------------------------------------------

I1, I8, I32, I64 = ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64)
VOID_TYPE = ir.VoidType()
POINTERS = {space: ir.PointerType(addrspace=int(space)) for space in AddressSpace}
PRIVATE_POINTER = POINTERS[AddressSpace.PRIVATE]

_SCALARS: dict[str, ir.Type] = {
    **{t.name: ir.IntType(t.bits) for t in (BOOL, *INTEGERS, *SMALL_FLOATS)},
    HALF.name: ir.HalfType(),
    "bfloat16": BFloatType(),
    FLOAT.name: ir.FloatType(),
    DOUBLE.name: ir.DoubleType(),
}


def undefined(typ: ir.Type) -> ir.Constant:
    """Return the undefined value of a type, printed as `undef` also for vectors."""
    result = FormattedConstant(I1, "undef")
    result.type = typ
    return result


class MatrixStorage(Protocol):
    """The LLVM types and alignments of variables that hold cooperative matrices."""

    def variable_type(self, matrix: CoopMatrixType) -> ir.Type: ...

    def align(self, matrix: CoopMatrixType) -> int: ...


class TypeMap:
    """The mapping from language types to LLVM types in one module. A bool is an i8, in memory and as a value.

    `small_bits`: map small floats to integers of the same width, because most devices have no such types.
    """

    def __init__(self, context: ir.Context, matrices: MatrixStorage, small_bits: bool = False) -> None:
        self.small_bits = small_bits
        self._context = context
        self._matrices = matrices
        # id of type -> (type, LLVM type). An id is a much cheaper key than a hash; the stored type keeps it valid.
        self._types: dict[int, tuple[Type, ir.Type]] = {}
        self._field_indices: dict[RecordType, list[int]] = {}
        self._record_aligns: dict[RecordType, int] = {}
        self._layouts: dict[RecordType, _Layout] = {}
        self._record_names: set[str] = set()

    def in_memory(self, t: Type) -> bool:
        """Return whether values of this type are represented by the address of an object."""
        return isinstance(t, (ArrayType, RecordType))

    def of(self, t: Type) -> ir.Type:
        entry = self._types.get(id(t))
        if entry is None:
            entry = self._types[id(t)] = (t, self._make(t))
        return entry[1]

    def value(self, t: Type) -> ir.Type:
        """Return the LLVM type of a value not represented in memory; `of` returns the type of a variable."""
        if isinstance(t, ConstantMatrixType):
            return ir.VectorType(self.of(t.element), t.rows * t.columns)
        return self.of(t)

    def parameter(self, t: Type) -> ir.Type:
        """Return the LLVM type of a parameter: the value's type, or a pointer for types that are `in_memory`."""
        return PRIVATE_POINTER if self.in_memory(t) else self.value(t)

    def align(self, t: Type) -> int:
        """Return the alignment of a variable in bytes, including matrices, which `align_of` does not support."""
        if isinstance(t, CoopMatrixType):
            return self._matrices.align(t)
        if isinstance(t, ArrayType):
            return self.align(t.element)
        if isinstance(t, RecordType):
            if t not in self._record_aligns:
                matrices = (self.align(item.type) for item in t.fields or () if contains_matrix(item.type))
                self._record_aligns[t] = max([t.align_bytes, *matrices])
            return self._record_aligns[t]
        return align_of(t)

    def field_index(self, record: RecordType, index: int) -> int:
        """Return the index of field `index` in the LLVM struct, which has additional padding elements."""
        self.of(record)
        return self._field_indices[record][index]

    def _make(self, t: Type) -> ir.Type:
        if isinstance(t, ScalarType):
            return _SCALARS[(held_as(t) if self.small_bits else t).name]  # type: ignore[attr-defined]
        if isinstance(t, VectorType):
            return ir.VectorType(self.of(t.element), t.count)
        if isinstance(t, PointerType):
            return POINTERS[t.qualifiers.space]
        if isinstance(t, ArrayType):
            return ir.ArrayType(self.of(t.element), t.size or 0)
        if isinstance(t, ConstantMatrixType):
            return ir.ArrayType(self.of(t.element), t.storage_elements)
        if isinstance(t, CoopMatrixType):
            return self._matrices.variable_type(t)
        if isinstance(t, VoidType):
            return VOID_TYPE
        if isinstance(t, AtomicType):
            return self.of(t.value)
        if isinstance(t, ImageType):
            return image_type(t)
        if isinstance(t, OpaqueType):
            return OPAQUE_TYPES[t]
        if isinstance(t, RecordType):
            return self._record(t)
        raise InternalError(f"no LLVM type for '{t}'")

    def _record(self, record: RecordType) -> ir.Type:
        struct = self._context.get_identified_type(self._record_name(record))
        if record.kind == "union":
            struct.set_body(*_union_body(record))
            return struct
        elements, self._field_indices[record] = self._struct_body(record)
        # Without `packed`, LLVM's layout would align fields whose attributes place them at unaligned offsets.
        struct.packed = self._layout(record).packed and not contains_matrix(record)
        struct.set_body(*elements)
        return struct

    def _record_name(self, record: RecordType) -> str:
        name = base = f"{record.kind}.{record.name or 'anon'}"
        count = 0
        while name in self._record_names:
            count += 1
            name = f"{base}.{count}"
        self._record_names.add(name)
        return name

    def _struct_body(self, record: RecordType) -> tuple[list[ir.Type], list[int]]:
        elements: list[ir.Type] = []
        indices: list[int] = []
        opaque = contains_matrix(record)
        offset = 0
        layout = self._layout(record)
        for item in record.fields or ():
            step = 1 if layout.packed else self._llvm_align(item.type)
            natural = -(-offset // step) * step
            if item.offset > natural and not opaque:
                elements.append(ir.ArrayType(I8, item.offset - offset))
            indices.append(len(elements))
            elements.append(self.of(item.type))
            offset = item.offset + size_of(item.type)
        if record.size_bytes > -(-offset // layout.align) * layout.align and not opaque:
            elements.append(ir.ArrayType(I8, record.size_bytes - offset))
        return elements, indices

    def _llvm_align(self, t: Type) -> int:
        """Return LLVM's alignment of the type, which does not consider a record's alignment attribute."""
        if isinstance(t, ArrayType):
            return self._llvm_align(t.element)
        return self._layout(t).align if isinstance(t, RecordType) and t.kind == "struct" else align_of(t)

    def _layout(self, record: RecordType) -> _Layout:
        """Return LLVM's layout of a record; cached, because nested records would request it repeatedly."""
        layout = self._layouts.get(record)
        if layout is None:
            fields = [(item.offset, self._llvm_align(item.type)) for item in record.fields or ()]
            packed = record.packed or any(offset % align for offset, align in fields)
            layout = _Layout(packed, 1 if packed else max([1, *(align for _, align in fields)]))
            self._layouts[record] = layout
        return layout


class _Layout(NamedTuple):
    """The layout of an LLVM struct.

    packed: the struct must be packed, because LLVM's padding would not match the language's layout.
    align: the struct's alignment in bytes.
    """

    packed: bool
    align: int


def _union_body(record: RecordType) -> list[ir.Type]:
    """Return an array with the union's size and LLVM alignment; members are accessed by the union's address."""
    align, size = record.align_bytes, record.size_bytes
    unit = ir.IntType(8 * align) if align <= 8 else ir.VectorType(I64, min(align // 8, 16))
    return [ir.ArrayType(unit, size // min(align, 128))]
