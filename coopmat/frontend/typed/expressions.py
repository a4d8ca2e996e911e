"""Nodes for values and objects."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from ..nodes import Reference
from ..types import Type, VectorType
from .base import Expr, LValue

if TYPE_CHECKING:
    from .declarations import FunctionDecl, VarDecl
    from .statements import Block

# --- values --------------------------------------------------------------------------------------


class IntConst(Expr):
    """An integer (or bool) scalar constant, already wrapped to its type."""

    value: int


class FloatConst(Expr):
    """A floating scalar constant, already rounded to its type."""

    value: float


class StringConst(LValue):
    """A char array in the constant address space; `value` lacks the final NUL."""

    value: bytes


class Zero(Expr):
    """The all-zero value of any type, such as the null pointer."""


class Load(Expr):
    """The value of an object (lvalue conversion, C11 6.3.2.1)."""

    operand: LValue


class ConvertKind(Enum):
    """The kind of a conversion. Vectors are converted component by component, with equal counts."""

    INT_TO_INT = "int-to-int"  # truncate, or extend according to the source's signedness
    INT_TO_FLOAT = "int-to-float"
    FLOAT_TO_INT = "float-to-int"  # towards zero
    FLOAT_TO_FLOAT = "float-to-float"
    TO_BOOL = "to-bool"  # 0 or 1: a scalar or pointer is compared with zero
    SPLAT = "splat"  # scalar to every component; element types are equal
    BITCAST = "bitcast"  # as_type: same size, other type (a vec3 counts as 4 components)
    DECAY = "decay"  # an array lvalue to a pointer to its first element
    POINTER = "pointer"  # pointer to pointer in the same address space
    ADDRESS_SPACE = "address-space"  # to or from the generic address space
    POINTER_TO_INT = "pointer-to-int"
    INT_TO_POINTER = "int-to-pointer"
    SAMPLER = "sampler"  # an integer constant, made from CLK_ macros, to a sampler


class Convert(Expr):
    """A conversion of `operand`, which is an rvalue except for DECAY."""

    kind: ConvertKind
    operand: Expr


class Unary(Expr):
    """A unary operation.

    `neg` (arithmetic) and `not` (bitwise) have the operand's type. `lnot` has type int; on vectors, its components are
    0 or -1.
    """

    op: str
    operand: Expr


class Binary(Expr):
    """A binary operation `op`.

    add, sub, mul, div, rem, shl, shr, and, or, xor: both operands have the node's type. The shift count of shl and shr
    is taken modulo the width.
    eq, ne, lt, le, gt, ge: the operands have equal scalar, vector or pointer types. The result is int 0 or 1; for
    vectors, a signed integer vector of the same width with components 0 or -1.
    land, lor: on vectors only, component by component, without short circuit; operands are compared with zero.
    """

    op: str
    left: Expr
    right: Expr


class Logical(Expr):
    """A short-circuit `land` or `lor` of scalars and pointers; the result is int 0 or 1."""

    op: str
    left: Expr
    right: Expr


class PointerAdd(Expr):
    """The pointer `pointer + index`; `index` is a long or ulong and counts elements."""

    pointer: Expr
    index: Expr


class PointerDifference(Expr):
    """The number of elements between two pointers of one type, a ptrdiff_t."""

    left: Expr
    right: Expr


class AddressOf(Expr):
    operand: LValue


class Assign(Expr):
    """An assignment of `value`, which has the target's type; the result is the stored value.

    If the target is a swizzle, only its components are stored.
    """

    target: LValue
    value: Expr


class CompoundAssign(Expr):
    """A compound assignment `target op= value`; the target is evaluated once.

    The target's value is converted by `widen` to the type `computation`, combined with `value` by `op`, and converted
    back by `narrow`. `widen` and `narrow` are None if the types are equal.
    Pointers: op is add or sub, `value` is a long index, and `computation` is the pointer type.
    Cooperative matrices: op is add, sub, mul, div, or scalar_mul with a scalar `value` of the component type.
    Matrix types: op is add, sub or mul as in a MatrixElementwise whose left operand is the target, or product as in a
    MatrixProduct.
    """

    op: str
    target: LValue
    value: Expr
    computation: Type
    widen: ConvertKind | None
    narrow: ConvertKind | None


class IncDec(Expr):
    """A `++` or `--` (`step` is 1 or -1) of a scalar, vector or pointer.

    The result is the new value if `prefix`, otherwise the old value.
    """

    target: LValue
    step: int
    prefix: bool


class Conditional(Expr):
    """`condition ? then : otherwise` with a scalar or pointer condition; only one side is evaluated. It may be void."""

    condition: Expr
    then: Expr
    otherwise: Expr


class VectorSelect(Expr):
    """A conditional operator with a vector condition; both sides are evaluated.

    In each component, the most significant bit of the condition selects the side.
    """

    condition: Expr
    then: Expr
    otherwise: Expr


class StatementExpression(Expr):
    """A statement expression `({ ...; value; })`.

    Control leaves the statements only at their end. The value is then evaluated in their scope; it is a Zero of type
    void if there is none.
    """

    body: Block
    value: Expr


class Comma(Expr):
    left: Expr
    right: Expr


class VectorLiteral(Expr):
    """A vector of the components of `items` in order: scalars and vectors of the element type, as many as it has."""

    items: list[Expr]


class ExtractSwizzle(Expr):
    """The components `indices` of a vector rvalue: a scalar (one index) or a vector."""

    operand: Expr
    indices: tuple[int, ...]


class ExtractMember(Expr):
    """A field of a struct or union rvalue."""

    operand: Expr
    index: int


class Aggregate(Expr):
    """The initial value of an array, struct or union.

    `items` are (index, value) pairs; all other parts are zero. A union has at most one pair. For a matrix type in a
    static object, `items` are the elements in memory order.
    """

    items: list[tuple[int, Expr]]


class Call(Expr):
    function: Reference[FunctionDecl]
    arguments: list[Expr]


class BuiltinCall(Expr):
    """A call of a builtin function whose overload is resolved; the arguments have the types `parameters`.

    name: the OpenCL C name.
    lowering: the row of the lowering table that says how the call is lowered.
    """

    name: str
    lowering: str
    parameters: tuple[Type, ...]
    arguments: list[Expr]


# --- objects -------------------------------------------------------------------------------------


class VarRef(LValue):
    decl: Reference[VarDecl]


class Deref(LValue):
    """The object `*pointer`; `pointer[i]` is a Deref of a PointerAdd."""

    pointer: Expr


class Index(LValue):
    """Element `index` (a long or ulong) of an array object.

    The array does not decay, so that optimizations can still analyse private arrays.
    """

    base: LValue
    index: Expr


class Member(LValue):
    """Field `index` of a struct or union object."""

    base: LValue
    index: int


class Swizzle(LValue):
    """Components of a vector object; they are assignable if no index repeats.

    The indices of `.hi` and `.odd` of a vector of 3 include 3, whose component is undefined.
    """

    base: LValue
    indices: tuple[int, ...]

    @property
    def names_undefined(self) -> bool:
        """Whether an index is that of the undefined component."""
        return isinstance(self.base.type, VectorType) and max(self.indices) >= self.base.type.count


class CompoundLiteral(LValue):
    """An unnamed automatic object."""

    initializer: Expr
