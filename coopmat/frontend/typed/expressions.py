"""Values and objects."""

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
    """A char array in the constant address space; `value` without the final NUL."""

    value: bytes


class Zero(Expr):
    """The all-zero value of any type; the null pointer."""


class Load(Expr):
    """The value of an object (lvalue conversion, C11 6.3.2.1)."""

    operand: LValue


class ConvertKind(Enum):
    """The kind of a conversion. Vectors are converted component by component, with equal counts."""

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


class Convert(Expr):
    """A conversion of `operand`, which is an rvalue, except for DECAY."""

    kind: ConvertKind
    operand: Expr


class Unary(Expr):
    """A unary operation: `neg` (arithmetic), `not` (bitwise): type of the operand. `lnot`: int; on vectors -1 or 0 per
    component."""

    op: str
    operand: Expr


class Binary(Expr):
    """A binary operation. add sub mul div rem shl shr and or xor: both operands have the node's type (shl, shr: the
    right operand has the left one's type, its value is taken modulo the width). eq ne lt le gt ge: operands have equal
    scalar, vector or pointer types; the result is int 0 or 1, or for vectors the signed integer vector of the same
    width with 0 or -1. On vectors `land` and `lor` too (component-wise, no short circuit, operands are compared with
    zero)."""

    op: str
    left: Expr
    right: Expr


class Logical(Expr):
    """`land` and `lor` of scalars and pointers: short circuit, result int 0 or 1."""

    op: str
    left: Expr
    right: Expr


class PointerAdd(Expr):
    """pointer + index elements; `index` is long or ulong."""

    pointer: Expr
    index: Expr


class PointerDifference(Expr):
    """Elements between two pointers of one type; the result is ptrdiff_t."""

    left: Expr
    right: Expr


class AddressOf(Expr):
    operand: LValue


class Assign(Expr):
    """An assignment of `value` (of the target's type); the result is the stored value. On a swizzle: those
    components."""

    target: LValue
    value: Expr


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


class IncDec(Expr):
    """++ or -- (`step` is 1 or -1) on a scalar, vector or pointer; the result is the value before it unless
    `prefix`."""

    target: LValue
    step: int
    prefix: bool


class Conditional(Expr):
    """`condition ? then : otherwise` with a scalar or pointer condition: only one side is evaluated. May be void."""

    condition: Expr
    then: Expr
    otherwise: Expr


class VectorSelect(Expr):
    """Ternary with a vector condition: per component, the most significant bit chooses; both sides are evaluated."""

    condition: Expr
    then: Expr
    otherwise: Expr


class StatementExpression(Expr):
    """`({ ...; value; })`: the statements, which control only leaves at their end, and then the value, which is in
    their scope; the Zero of void without a value."""

    body: Block
    value: Expr


class Comma(Expr):
    left: Expr
    right: Expr


class VectorLiteral(Expr):
    """Components in order from `items`: scalars and vectors of the element type, counts adding up to the type's."""

    items: list[Expr]


class ExtractSwizzle(Expr):
    """Components `indices` of a vector rvalue: a scalar (one index) or a vector."""

    operand: Expr
    indices: tuple[int, ...]


class ExtractMember(Expr):
    """A field of a struct rvalue."""

    operand: Expr
    index: int


class Aggregate(Expr):
    """The initial value of an array, struct or union: `items` are (index, value) pairs, everything else is zero. For a
    union at most one pair. For a matrix type, in a static object, `items` are the elements in the order of memory."""

    items: list[tuple[int, Expr]]


class Call(Expr):
    function: Reference[FunctionDecl]
    arguments: list[Expr]


class BuiltinCall(Expr):
    """A call of a builtin function, its overload chosen: `parameters` are that overload's types, arguments have them.

    `lowering` names the row in the builtins table that says how it is lowered; `name` is the OpenCL C name.
    """

    name: str
    lowering: str
    parameters: tuple[Type, ...]
    arguments: list[Expr]


# --- objects -------------------------------------------------------------------------------------


class VarRef(LValue):
    decl: Reference[VarDecl]


class Deref(LValue):
    """`*pointer`; `pointer[i]` is Deref of PointerAdd."""

    pointer: Expr


class Index(LValue):
    """Element `index` (long or ulong) of an array object, without decay, so that private arrays stay analysable."""

    base: LValue
    index: Expr


class Member(LValue):
    """Field `index` of a struct or union object."""

    base: LValue
    index: int


class Swizzle(LValue):
    """Components of a vector object: readable, assignable where no index repeats. The indices of `.hi` and `.odd` of a
    vector of 3 include 3, whose component is undefined."""

    base: LValue
    indices: tuple[int, ...]

    @property
    def names_undefined(self) -> bool:
        """Whether an index is that of the undefined component."""
        return isinstance(self.base.type, VectorType) and max(self.indices) >= self.base.type.count


class CompoundLiteral(LValue):
    """An unnamed automatic object."""

    initializer: Expr
