"""The typed AST: what analysis makes of the syntax and every lowering starts from.

Nothing is implicit here: every conversion is a node, names are resolved, operands of an operator have its type,
constants that the language needs are evaluated. An `LValue` denotes an object; its value is read by `Load`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import Enum

from ..diagnostics import Span
from .types import CoopMatrixType, FunctionType, Qualifiers, RecordType, Type, contains_matrix


@dataclass(slots=True)
class Expr:
    """An rvalue of `type`, unless the node is an LValue."""

    span: Span
    type: Type


@dataclass(slots=True)
class LValue(Expr):
    """An object of `type`; `place` says where it lives and how it may be accessed."""

    place: Qualifiers


# --- declarations --------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class VarDecl:
    """A variable or parameter. Arrays in the local address space and program-scope objects have static storage.

    `storage` is one of parameter, automatic, static (also local-memory and program-scope objects).
    An unnamed parameter has the name "".
    """

    span: Span
    name: str
    type: Type
    qualifiers: Qualifiers
    storage: str
    initializer: Expr | None = None
    alignment: int | None = None


@dataclass(eq=False, slots=True)
class FunctionDecl:
    """A function; `body` is None for a prototype only. Parameters and result are passed by value.

    attributes: reqd_work_group_size and work_group_size_hint -> (x, y, z), intel_reqd_sub_group_size -> n,
    vec_type_hint -> Type; always_inline, noinline -> True; fp_contract -> False.
    """

    span: Span
    name: str
    type: FunctionType
    parameters: list[VarDecl]
    is_kernel: bool
    internal: bool
    attributes: dict[str, object] = field(default_factory=dict)
    body: Block | None = None


@dataclass(slots=True)
class Unit:
    """A translation unit: functions in order of definition (prototypes last), program-scope variables, records.
    `has_matrices`: a type of cooperative matrices is named somewhere."""

    functions: list[FunctionDecl]
    variables: list[VarDecl]
    records: list[RecordType]
    has_matrices: bool = False

    @property
    def kernels(self) -> list[FunctionDecl]:
        return [f for f in self.functions if f.is_kernel and f.body is not None]


# --- values --------------------------------------------------------------------------------------


@dataclass(slots=True)
class IntConst(Expr):
    """An integer (or bool) scalar constant, already wrapped to its type."""

    value: int


@dataclass(slots=True)
class FloatConst(Expr):
    """A floating scalar constant, already rounded to its type."""

    value: float


@dataclass(slots=True)
class StringConst(LValue):
    """A char array in the constant address space; `value` without the final NUL."""

    value: bytes


@dataclass(slots=True)
class Zero(Expr):
    """The all-zero value of any type; the null pointer."""


@dataclass(slots=True)
class Load(Expr):
    """The value of an object (lvalue conversion, C11 6.3.2.1)."""

    operand: LValue


class ConvertKind(Enum):
    """How a value changes type. On vectors: component by component, counts equal."""

    INT_TO_INT = "int-to-int"  # truncate, or extend by the source's signedness
    INT_TO_FLOAT = "int-to-float"
    FLOAT_TO_INT = "float-to-int"  # towards zero
    FLOAT_TO_FLOAT = "float-to-float"
    TO_BOOL = "to-bool"  # 0 or 1: scalar or pointer compared with zero
    SPLAT = "splat"  # scalar to every component; element types are equal
    BITCAST = "bitcast"  # as_type: same size, other type (vec3 counts as 4 components)
    DECAY = "decay"  # array LValue to pointer to its first element
    POINTER = "pointer"  # pointer to pointer, same address space
    ADDRESS_SPACE = "address-space"  # to or from the generic address space
    POINTER_TO_INT = "pointer-to-int"
    INT_TO_POINTER = "int-to-pointer"
    SAMPLER = "sampler"  # an integer constant made of the CLK_ macros to a sampler


@dataclass(slots=True)
class Convert(Expr):
    """`operand` is an rvalue, except for DECAY."""

    kind: ConvertKind
    operand: Expr


@dataclass(slots=True)
class Unary(Expr):
    """`neg` (arithmetic), `not` (bitwise): type of the operand. `lnot`: int; on vectors -1 or 0 per component."""

    op: str
    operand: Expr


@dataclass(slots=True)
class Binary(Expr):
    """add sub mul div rem shl shr and or xor: both operands have the node's type (shl, shr: the right operand has the
    left one's type, its value is taken modulo the width).
    eq ne lt le gt ge: operands have equal scalar, vector or pointer types; the result is int 0 or 1, or for
    vectors the signed integer vector of the same width with 0 or -1.
    On vectors `land` and `lor` too (component-wise, no short circuit, operands are compared with zero)."""

    op: str
    left: Expr
    right: Expr


@dataclass(slots=True)
class Logical(Expr):
    """`land` and `lor` of scalars and pointers: short circuit, result int 0 or 1."""

    op: str
    left: Expr
    right: Expr


@dataclass(slots=True)
class PointerAdd(Expr):
    """pointer + index elements; `index` is long or ulong."""

    pointer: Expr
    index: Expr


@dataclass(slots=True)
class PointerDifference(Expr):
    """Elements between two pointers of one type; the result is ptrdiff_t."""

    left: Expr
    right: Expr


@dataclass(slots=True)
class AddressOf(Expr):
    operand: LValue


@dataclass(slots=True)
class Assign(Expr):
    """Stores `value` (of the target's type); the result is the stored value. On a swizzle: those components."""

    target: LValue
    value: Expr


@dataclass(slots=True)
class CompoundAssign(Expr):
    """`target op= value` computed in `computation` type: the target's value is converted to it by `widen` (None where
    the types are equal), combined by `op` with `value`, and converted back by `narrow` (None likewise).
    The target is evaluated once. Pointers: op is add or sub, `value` is a long index, computation is the pointer type.
    Matrices: op is add sub mul div, or scalar_mul with a scalar `value` of the component type. Matrix types: op is add,
    sub or mul as of a MatrixElementwise with the target on its left, or product as of a MatrixProduct."""

    op: str
    target: LValue
    value: Expr
    computation: Type
    widen: ConvertKind | None
    narrow: ConvertKind | None


@dataclass(slots=True)
class IncDec(Expr):
    """++ or -- (`step` is 1 or -1) on a scalar, vector or pointer; the value before it unless `prefix`."""

    target: LValue
    step: int
    prefix: bool


@dataclass(slots=True)
class Conditional(Expr):
    """`condition ? then : otherwise` with a scalar or pointer condition: only one side is evaluated. May be void."""

    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(slots=True)
class VectorSelect(Expr):
    """Ternary with a vector condition: per component, the most significant bit chooses; both sides are evaluated."""

    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(slots=True)
class Comma(Expr):
    left: Expr
    right: Expr


@dataclass(slots=True)
class VectorLiteral(Expr):
    """Components in order from `items`: scalars and vectors of the element type, counts adding up to the type's."""

    items: list[Expr]


@dataclass(slots=True)
class ExtractSwizzle(Expr):
    """Components `indices` of a vector rvalue: a scalar (one index) or a vector."""

    operand: Expr
    indices: tuple[int, ...]


@dataclass(slots=True)
class ExtractMember(Expr):
    """A field of a struct rvalue."""

    operand: Expr
    index: int


@dataclass(slots=True)
class Aggregate(Expr):
    """Initial value of an array, struct or union: `items` are (index, value) pairs, everything else is zero.
    For a union at most one pair. Of a matrix type, as a static object's, the elements as they lie in memory."""

    items: list[tuple[int, Expr]]


@dataclass(slots=True)
class Call(Expr):
    function: FunctionDecl
    arguments: list[Expr]


@dataclass(slots=True)
class BuiltinCall(Expr):
    """A call of a builtin function, its overload chosen: `parameters` are that overload's types, arguments have them.

    `lowering` names the row in the builtins table that says how it is lowered; `name` is the OpenCL C name.
    """

    name: str
    lowering: str
    parameters: tuple[Type, ...]
    arguments: list[Expr]


# --- objects -------------------------------------------------------------------------------------


@dataclass(slots=True)
class VarRef(LValue):
    decl: VarDecl


@dataclass(slots=True)
class Deref(LValue):
    """`*pointer`; `pointer[i]` is Deref of PointerAdd."""

    pointer: Expr


@dataclass(slots=True)
class Index(LValue):
    """Element `index` (long or ulong) of an array object, without decay, so that private arrays stay analysable."""

    base: LValue
    index: Expr


@dataclass(slots=True)
class Member(LValue):
    """Field `index` of a struct or union object."""

    base: LValue
    index: int


@dataclass(slots=True)
class Swizzle(LValue):
    """Components of a vector object: readable, assignable where no index repeats."""

    base: LValue
    indices: tuple[int, ...]


@dataclass(slots=True)
class CompoundLiteral(LValue):
    """An unnamed automatic object."""

    initializer: Expr


@dataclass(slots=True)
class MatrixElement(LValue):
    """Component `index` (uint) of the part of a matrix that this work-item holds. A matrix that is no object is held
    in an unnamed one, and then the component is no object either."""

    matrix: LValue
    index: Expr


# --- cooperative matrices ------------------------------------------------------------------------


@dataclass(slots=True)
class MatrixBounds(Expr):
    """Void. Of a checked load or store, each a uint: the pointer is to the origin of a `rows` x `columns` matrix in
    memory, and the tile starts at `row`, `column` of that."""

    row: Expr
    column: Expr
    rows: Expr
    columns: Expr


@dataclass(slots=True)
class MatrixLoad(Expr):
    """`type` is the matrix; `pointer` points to its component type, in any address space (vector pointees already
    converted, `stride`, ulong, counts components); the access is volatile where the pointee is. `layout` is SPIR-V's
    number, 2 for packed. With `bounds` what lies outside is zero."""

    pointer: Expr
    layout: int
    stride: Expr
    bounds: MatrixBounds | None = None


@dataclass(slots=True)
class MatrixStore(Expr):
    """Void. As MatrixLoad; with `bounds` nothing is stored outside."""

    pointer: Expr
    matrix: Expr
    layout: int
    stride: Expr
    bounds: MatrixBounds | None = None


@dataclass(slots=True)
class MatrixMulAdd(Expr):
    """a b + c; `operands` is the complete mask."""

    a: Expr
    b: Expr
    c: Expr
    operands: int


@dataclass(slots=True)
class MatrixFill(Expr):
    """Every component is `value` (of the component type)."""

    value: Expr


@dataclass(slots=True)
class MatrixLength(Expr):
    """uint: components of `matrix` that this work-item holds."""

    matrix: CoopMatrixType


@dataclass(slots=True)
class MatrixCoordinates(Expr):
    """uint2: row (x) and column (y) of component `index` (uint) of the part of `matrix` that this work-item holds."""

    matrix: CoopMatrixType
    index: Expr


@dataclass(slots=True)
class MatrixConvert(Expr):
    """The operand's components converted to those of `type`: scope, shape and use are the same. As a cast does it, or
    with `rounding` (rte, rtz, rtp, rtn) and `saturate` as OpenCL's convert_ functions."""

    operand: Expr
    rounding: str = ""
    saturate: bool = False


@dataclass(slots=True)
class MatrixBinary(Expr):
    """add sub mul div, component by component; all three types are equal."""

    op: str
    left: Expr
    right: Expr


@dataclass(slots=True)
class MatrixScale(Expr):
    """matrix times `scalar` (of the component type)."""

    matrix: Expr
    scalar: Expr


@dataclass(slots=True)
class MatrixNegate(Expr):
    operand: Expr


# --- matrix types (`types.ConstantMatrixType`) ---------------------------------------------------
# An operand whose type is a matrix is any expression of that type: one of these, a Load, a Call, a Conditional, ...


@dataclass(slots=True)
class MatrixSubscript(LValue):
    """The element `m[row][column]` (each of any integer type) of the object `matrix`. A matrix that is no object is
    held in an unnamed one (a CompoundLiteral), and then the element is no object either."""

    matrix: LValue
    row: Expr
    column: Expr


@dataclass(slots=True)
class MatrixBroadcast(Expr):
    """Every element of the matrix `type` is `value` (of its element type)."""

    value: Expr


@dataclass(slots=True)
class MatrixElementwise(Expr):
    """add sub mul, element by element; all three types have the same shape and element type, and may differ in how they
    are laid out. `mul` is of a matrix and a MatrixBroadcast, in either order."""

    op: str
    left: Expr
    right: Expr


@dataclass(slots=True)
class MatrixProduct(Expr):
    """(M x K) (K x N), all of one element type."""

    left: Expr
    right: Expr


@dataclass(slots=True)
class MatrixTranspose(Expr):
    operand: Expr


@dataclass(slots=True)
class MatrixCast(Expr):
    """The elements converted, as a cast of scalars does it; the shape is the same. Also between matrices that differ in
    layout or padding only."""

    operand: Expr


@dataclass(slots=True)
class MatrixOfVector(Expr):
    """An OpenCL vector as a matrix `type` of one row or column, of as many elements of the same type."""

    operand: Expr


@dataclass(slots=True)
class VectorOfMatrix(Expr):
    """A matrix of one row or column as an OpenCL vector or, where it has one element, a scalar: `type`."""

    operand: Expr


@dataclass(slots=True)
class MatrixPart(Expr):
    """Row (a 1 x C matrix) or column (R x 1) `index` of a matrix, an integer below their number. `which` is "row" or
    "column"."""

    which: str
    operand: Expr
    index: Expr


@dataclass(slots=True)
class MatrixWithPart(Expr):
    """The operand with row or column `index` replaced by `part` (1 x C or R x 1, of the same element type); with
    `which` "element", element `index`, `column` replaced by the scalar `part`."""

    which: str
    operand: Expr
    index: Expr
    part: Expr
    column: Expr | None = None


@dataclass(slots=True)
class MatrixMemoryLoad(Expr):
    """A submatrix in memory: `pointer` points to the element type, in any address space, and the access is volatile
    where the pointee is; `stride` (ulong) counts elements from one column (row, where `row_major`) to the next."""

    pointer: Expr
    stride: Expr
    row_major: bool = False


@dataclass(slots=True)
class MatrixMemoryStore(Expr):
    """Void. As MatrixMemoryLoad."""

    matrix: Expr
    pointer: Expr
    stride: Expr
    row_major: bool = False


# --- statements ----------------------------------------------------------------------------------


@dataclass(slots=True)
class Stmt:
    span: Span


@dataclass(slots=True)
class Block(Stmt):
    items: list[Stmt]


@dataclass(slots=True)
class DeclStmt(Stmt):
    decl: VarDecl


@dataclass(slots=True)
class ExprStmt(Stmt):
    expr: Expr


@dataclass(slots=True)
class If(Stmt):
    """`condition` is a scalar or pointer, here and in the loops; it holds where it is not zero."""

    condition: Expr
    then: Stmt
    otherwise: Stmt | None


@dataclass(slots=True)
class While(Stmt):
    """`unroll`: None as the compiler likes, 0 fully, 1 not at all, n by a factor of n; likewise below."""

    condition: Expr
    body: Stmt
    unroll: int | None = None


@dataclass(slots=True)
class DoWhile(Stmt):
    body: Stmt
    condition: Expr
    unroll: int | None = None


@dataclass(slots=True)
class For(Stmt):
    """`init` is a list of declarations or expression statements."""

    init: list[Stmt]
    condition: Expr | None
    step: Expr | None
    body: Stmt
    unroll: int | None = None


@dataclass(slots=True)
class Switch(Stmt):
    """`value` has a promoted integer type; `cases` are the constants in order of appearance, each once."""

    value: Expr
    body: Stmt
    cases: list[int]
    has_default: bool


@dataclass(slots=True)
class Case(Stmt):
    """A label inside the innermost switch; `value` is None for default."""

    value: int | None
    body: Stmt


@dataclass(slots=True)
class Label(Stmt):
    name: str
    body: Stmt


@dataclass(slots=True)
class Goto(Stmt):
    label: str


@dataclass(slots=True)
class Break(Stmt):
    pass


@dataclass(slots=True)
class Continue(Stmt):
    pass


@dataclass(slots=True)
class Return(Stmt):
    value: Expr | None


def uses_matrices(function: FunctionDecl) -> bool:
    """Whether the function, or one that it calls, has an expression or a variable that is or holds a matrix."""
    seen: set[FunctionDecl] = {function}
    work: list[object] = [function.body]
    while work:
        node = work.pop()
        if isinstance(node, (list, tuple)):
            work.extend(node)
            continue
        if not isinstance(node, (Expr, Stmt, VarDecl)):
            continue
        if not isinstance(node, Stmt) and contains_matrix(node.type):
            return True
        if isinstance(node, Call) and node.function not in seen:
            seen.add(node.function)
            work.append(node.function.body)
        work.extend(
            getattr(node, item.name) for item in fields(node) if item.name != "decl" or isinstance(node, DeclStmt)
        )
    return False
