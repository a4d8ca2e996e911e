"""The verifier's rules: for each class of node of the typed AST, a condition that holds in every valid unit.

A rule sees the node and its children. `verify` checks that the children of a node are lvalues or rvalues as its class
declares, and what depends on the function or the unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain
from typing import Any

from ...frontend import typed
from ...frontend.nodes import walk
from ...frontend.sema.values import comparison_type, kind_between, round_to, wrap
from ...frontend.storage_types import is_storage_vector
from ...frontend.typed import ConvertKind, Expr, LValue
from ...frontend.types import (
    BOOL,
    CHAR,
    INT,
    LONG,
    PTRDIFF_T,
    SAMPLER,
    UCHAR,
    UINT,
    ULONG,
    VOID,
    AddressSpace,
    ArrayType,
    AtomicType,
    ConstantMatrixType,
    CoopMatrixType,
    FunctionType,
    MatrixUse,
    PointerType,
    RecordType,
    ScalarType,
    Type,
    VectorType,
    VoidType,
    element_count,
    element_type,
    in_space,
    is_float,
    is_integer,
    size_of,
    with_count,
)

Rule = Callable[[Any], bool]

_INTEGER_OPERATIONS = frozenset({"rem", "and", "or", "xor", "shl", "shr"})
_ARITHMETIC = frozenset({"add", "sub", "mul", "div", *_INTEGER_OPERATIONS})
_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "land", "lor"})
_INDEX = frozenset({LONG, ULONG})
_NO_ADDRESS = (typed.Swizzle, typed.MatrixElement, typed.MatrixSubscript)


def _no_rule(reason: str) -> Rule:
    """Return a rule that accepts every node of a class; `reason` states why none is needed."""
    return lambda _: True


def agree(a: Type, b: Type) -> bool:
    """Return whether a value of type `a` is acceptable where type `b` is expected.

    Pointees may differ in qualifiers other than the address space. A pointer to void, or an array of unknown size,
    agrees with any.
    """
    if isinstance(a, PointerType) and isinstance(b, PointerType):
        to_void = VoidType() in (a.pointee, b.pointee)
        return a.qualifiers.space is b.qualifiers.space and (to_void or agree(a.pointee, b.pointee))
    if isinstance(a, ArrayType) and isinstance(b, ArrayType):
        return (None in (a.size, b.size) or a.size == b.size) and agree(a.element, b.element)
    return a is b or a == b


def _all_agree(values: Iterable[Expr], types: Iterable[Type]) -> bool:
    found, wanted = [value.type for value in values], list(types)
    return len(found) == len(wanted) and all(map(agree, found, wanted))


def _points_to(e: Expr, t: Type) -> bool:
    return isinstance(e.type, PointerType) and agree(e.type.pointee, t)


def _in_space_of(e: LValue, pointer: Expr) -> bool:
    return isinstance(pointer.type, PointerType) and e.place.space is pointer.type.qualifiers.space


def _is_tested(e: Expr | None) -> bool:
    """Return whether the value can be a condition."""
    return e is None or isinstance(e.type, (ScalarType, PointerType))


def _modifiable(e: LValue) -> bool:
    return not (e.place.const or e.place.space is AddressSpace.CONSTANT or isinstance(e.type, ArrayType))


# --- values ----------------------------------------------------------------------------------------


def _numbers(source_fits: Callable[[Type], bool], fits: Callable[[Type], bool]) -> Callable[[Type, Type], bool]:
    """Return the rule of a conversion between numbers, or between the components of vectors of one length."""

    def rule(source: Type, t: Type) -> bool:
        same_count = element_count(source) == element_count(t)
        return same_count and source_fits(element_type(source)) and fits(element_type(t))

    return rule


def _decay(source: Type, t: Type) -> bool:
    return isinstance(source, ArrayType) and isinstance(t, PointerType) and agree(source.element, t.pointee)


def _spaces(source: Type, t: Type, *, equal: bool) -> bool:
    if not (isinstance(source, PointerType) and isinstance(t, PointerType)):
        return False
    a, b = source.qualifiers.space, t.qualifiers.space
    return a is b if equal else a is not b and (in_space(a, b) or in_space(b, a)) and agree(source.pointee, t.pointee)


# kind -> whether a value of the first type converts to the second.
_CONVERSIONS: dict[ConvertKind, Callable[[Type, Type], bool]] = {
    ConvertKind.INT_TO_INT: _numbers(is_integer, is_integer),
    ConvertKind.INT_TO_FLOAT: _numbers(is_integer, is_float),
    ConvertKind.FLOAT_TO_INT: _numbers(is_float, is_integer),
    ConvertKind.FLOAT_TO_FLOAT: _numbers(is_float, is_float),
    ConvertKind.TO_BOOL: lambda source, t: t is BOOL and isinstance(source, (ScalarType, PointerType)),
    ConvertKind.SPLAT: lambda source, t: isinstance(t, VectorType) and source is t.element,
    ConvertKind.BITCAST: lambda source, t: size_of(source) == size_of(t) > 0,
    ConvertKind.DECAY: _decay,
    ConvertKind.POINTER: lambda source, t: _spaces(source, t, equal=True),
    ConvertKind.ADDRESS_SPACE: lambda source, t: _spaces(source, t, equal=False),
    ConvertKind.POINTER_TO_INT: lambda source, t: isinstance(source, PointerType) and is_integer(t),
    ConvertKind.INT_TO_POINTER: lambda source, t: is_integer(source) and isinstance(t, PointerType),
    ConvertKind.SAMPLER: lambda source, t: is_integer(source) and t == SAMPLER,
}


def _unary(e: typed.Unary) -> bool:
    t = e.operand.type
    element = element_type(t)
    if e.op == "lnot":
        return isinstance(element, ScalarType) and e.type == comparison_type(t)
    return e.type == t and (is_integer(element) or (e.op == "neg" and is_float(element)))


def _binary(e: typed.Binary) -> bool:
    left, right = e.left.type, e.right.type
    if e.op in _COMPARISONS:
        return agree(left, right) and e.type == comparison_type(left)
    element = element_type(left)
    is_number = is_integer(element) if e.op in _INTEGER_OPERATIONS else isinstance(element, ScalarType)
    return left == e.type == right and is_number and e.op in _ARITHMETIC


def _logical(e: typed.Logical) -> bool:
    return e.op in ("land", "lor") and e.type is INT and _is_tested(e.left) and _is_tested(e.right)


def _difference(e: typed.PointerDifference) -> bool:
    return isinstance(e.left.type, PointerType) and agree(e.left.type, e.right.type) and e.type is PTRDIFF_T


def _compound_assign(e: typed.CompoundAssign) -> bool:
    t, value, computation = e.target.type, e.value.type, e.computation
    if not (_modifiable(e.target) and e.type == t):
        return False
    if isinstance(t, PointerType):
        return computation == t and value is LONG and e.op in ("add", "sub")
    if isinstance(t, CoopMatrixType):
        return computation == t and value == (t.component if e.op == "scalar_mul" else t)
    if isinstance(t, ConstantMatrixType):
        return computation == t and isinstance(value, ConstantMatrixType)
    kinds = kind_between(t, computation), kind_between(computation, t)
    return e.op in _ARITHMETIC and value == computation and (e.widen, e.narrow) == kinds


def _select(e: typed.VectorSelect) -> bool:
    mask = e.condition.type
    if not (isinstance(mask, VectorType) and isinstance(e.type, VectorType) and mask.element.is_integer):
        return False
    same_width = mask.element.bits == e.type.element.bits and mask.count == e.type.count
    return same_width and e.then.type == e.type == e.otherwise.type


_LEAVING = (typed.Return, typed.Goto, typed.Label)


def _statement_expression(e: typed.StatementExpression) -> bool:
    return e.value.type == e.type and not any(isinstance(node, _LEAVING) for node in walk(e.body))


def _components(e: typed.VectorLiteral) -> bool:
    count = sum(element_count(item.type) for item in e.items)
    same_element = all(element_type(item.type) == element_type(e.type) for item in e.items)
    return isinstance(e.type, VectorType) and same_element and count == e.type.count


def _swizzled(vector: Type, e: Expr, indices: tuple[int, ...]) -> bool:
    """Return whether `e` has the type of these components; an object's index may be that of a vec3's fourth."""
    if not isinstance(vector, VectorType):
        return False
    last = vector.count if isinstance(e, LValue) and vector.count == 3 else vector.count - 1
    return all(0 <= i <= last for i in indices) and e.type == with_count(vector.element, len(indices))


def _member(record: Type, index: int, t: Type) -> bool:
    return isinstance(record, RecordType) and agree((record.fields or ())[index].type, t)


def _aggregate(e: typed.Aggregate) -> bool:
    t = e.type
    if isinstance(t, RecordType):
        return all(_member(t, index, item.type) for index, item in e.items)
    if not isinstance(t, (ArrayType, ConstantMatrixType)):
        return False
    count = t.size if isinstance(t, ArrayType) else t.storage_elements
    return count is not None and all(0 <= index < count and agree(item.type, t.element) for index, item in e.items)


_VALUES: dict[type, Rule] = {
    typed.IntConst: lambda e: is_integer(e.type) and wrap(e.value, e.type) == e.value,
    typed.FloatConst: lambda e: is_float(e.type) and (e.value != e.value or round_to(e.value, e.type) == e.value),
    typed.Zero: lambda e: not isinstance(e.type, FunctionType),
    typed.Load: lambda e: e.operand.type == e.type and not isinstance(e.type, (ArrayType, VoidType)),
    typed.Convert: lambda e: _CONVERSIONS[e.kind](e.operand.type, e.type),
    typed.Unary: _unary,
    typed.Binary: _binary,
    typed.Logical: _logical,
    typed.PointerAdd: lambda e: (
        isinstance(e.type, PointerType) and agree(e.pointer.type, e.type) and e.index.type in _INDEX
    ),
    typed.PointerDifference: _difference,
    typed.AddressOf: lambda e: (
        not isinstance(e.operand, _NO_ADDRESS) and _points_to(e, e.operand.type) and _in_space_of(e.operand, e)
    ),
    typed.Assign: lambda e: _modifiable(e.target) and agree(e.value.type, e.target.type) and e.type == e.target.type,
    typed.CompoundAssign: _compound_assign,
    typed.IncDec: lambda e: (
        _modifiable(e.target)
        and e.type == e.target.type
        and isinstance(e.type, (ScalarType, VectorType, PointerType))
        and e.step in (1, -1)
    ),
    typed.Conditional: lambda e: _is_tested(e.condition) and _all_agree((e.then, e.otherwise), (e.type, e.type)),
    typed.VectorSelect: _select,
    typed.StatementExpression: _statement_expression,
    typed.Comma: lambda e: e.right.type == e.type,
    typed.VectorLiteral: _components,
    typed.ExtractSwizzle: lambda e: _swizzled(e.operand.type, e, e.indices),
    typed.ExtractMember: lambda e: _member(e.operand.type, e.index, e.type),
    typed.Aggregate: _aggregate,
    typed.Call: lambda e: _all_agree(e.arguments, e.function.type.parameters) and agree(e.type, e.function.type.result),
    typed.BuiltinCall: lambda e: _all_agree(e.arguments, e.parameters),
}

# --- objects and declarations ----------------------------------------------------------------------


def _declaration(e: typed.VarDecl) -> bool:
    is_parameter = e.storage == "parameter"
    if e.initializer is None:
        return not isinstance(e.type, (VoidType, FunctionType))
    # An atomic object is initialized with a value of the type that it contains.
    expected = e.type.value if isinstance(e.type, AtomicType) else e.type
    return not is_parameter and agree(e.initializer.type, expected)


def _function(e: typed.FunctionDecl) -> bool:
    same = e.body is None or e.type.parameters == tuple(p.type for p in e.parameters)
    return same and all(p.storage == "parameter" for p in e.parameters) and (not e.is_kernel or e.type.result == VOID)


_OBJECTS: dict[type, Rule] = {
    typed.StringConst: lambda e: e.type == ArrayType(CHAR, len(e.value) + 1) and e.place.space is AddressSpace.CONSTANT,
    typed.VarRef: lambda e: agree(e.decl.type, e.type) and e.place.space is e.decl.qualifiers.space,
    typed.Deref: lambda e: _points_to(e.pointer, e.type) and _in_space_of(e, e.pointer),
    typed.Index: lambda e: (
        isinstance(e.base.type, ArrayType)
        and agree(e.base.type.element, e.type)
        and e.index.type in _INDEX
        and e.place.space is e.base.place.space
    ),
    typed.Member: lambda e: _member(e.base.type, e.index, e.type) and e.place.space is e.base.place.space,
    typed.Swizzle: lambda e: _swizzled(e.base.type, e, e.indices) and e.place.space is e.base.place.space,
    typed.CompoundLiteral: lambda e: agree(e.initializer.type, e.type) and e.place.space is AddressSpace.PRIVATE,
    typed.VarDecl: _declaration,
    typed.FunctionDecl: _function,
}

# --- cooperative matrices --------------------------------------------------------------------------


def _access(e: Any, matrix: Type) -> bool:
    """Return whether a load, store or prefetch of this matrix has a pointer to components and a valid stride."""
    is_matrix = isinstance(matrix, CoopMatrixType) and _points_to(e.pointer, matrix.component)
    return is_matrix and e.stride.type is ULONG and e.layout in (0, 1, 2)


def _multiply_add(e: typed.MatrixMulAdd) -> bool:
    a, b, c = e.a.type, e.b.type, e.c.type
    if not (isinstance(a, CoopMatrixType) and isinstance(b, CoopMatrixType) and isinstance(c, CoopMatrixType)):
        return False
    uses = (a.use, b.use, c.use) == (MatrixUse.A, MatrixUse.B, MatrixUse.ACCUMULATOR)
    return uses and e.type == c and (a.rows, a.columns, b.columns) == (c.rows, b.rows, c.columns)


def _convert(e: typed.MatrixConvert) -> bool:
    a, b = e.operand.type, e.type
    if not (isinstance(a, CoopMatrixType) and isinstance(b, CoopMatrixType)):
        return False
    return (replace(a, rows=a.columns, columns=a.rows) if e.how.transposed else a).converts_to(b)


def _component_wise(e: typed.MatrixComponentWise) -> bool:
    types = [operand.type for operand in e.operands]
    if not isinstance(e.type, CoopMatrixType) or e.type not in types or len(types) != len(e.parameters):
        return False
    return all(t in (e.type, e.type.component) for t in types)


def _map(e: typed.MatrixMap) -> bool:
    if not isinstance(e.type, CoopMatrixType) or any(operand.type != e.type for operand in e.operands):
        return False
    component = with_count(e.type.component, element_count(e.function.type.result))
    if is_storage_vector(component) and e.function.type.result != component:
        component = with_count(UCHAR, element_count(component))  # after the pass storage-vectors
    leading = (UINT, UINT, *(component for _ in e.operands))
    parameters, count = e.function.type.parameters, len(leading)
    return (
        parameters[:count] == leading
        and _all_agree(e.arguments, parameters[count:])
        and (e.function.type.result == component)
    )


def _reduce(e: typed.MatrixReduce) -> bool:
    a, b = e.operand.type, e.type
    if not (isinstance(a, CoopMatrixType) and isinstance(b, CoopMatrixType)) or e.how not in (1, 2, 3, 4):
        return False
    component = a.component
    accumulators = a.use is b.use is MatrixUse.ACCUMULATOR and component is b.component
    return accumulators and e.function.type == FunctionType(component, (component, component))


_COOPERATIVE: dict[type, Rule] = {
    typed.MatrixElement: lambda e: (
        isinstance(e.matrix.type, CoopMatrixType) and e.type == e.matrix.type.component and e.index.type is UINT
    ),
    typed.MatrixBounds: lambda e: e.type == VOID and _all_agree((e.row, e.column, e.rows, e.columns), (UINT,) * 4),
    typed.MatrixLoad: lambda e: _access(e, e.type),
    typed.MatrixStore: lambda e: e.type == VOID and _access(e, e.matrix.type),
    typed.MatrixMulAdd: _multiply_add,
    typed.MatrixMulAddScaled: lambda e: (
        (_multiply_add(e) and _points_to(e.scales_a, UCHAR) and _points_to(e.scales_b, UCHAR))
        and _all_agree((e.stride_a, e.stride_b), (ULONG, ULONG))
    ),
    typed.MatrixFill: lambda e: isinstance(e.type, CoopMatrixType) and e.value.type is e.type.component,
    typed.MatrixLength: lambda e: e.type is UINT,
    typed.MatrixCoordinates: lambda e: e.type == VectorType(UINT, 2) and e.index.type is UINT,
    typed.MatrixConvert: _convert,
    typed.MatrixBinary: lambda e: (
        isinstance(e.type, CoopMatrixType)
        and e.left.type == e.type == e.right.type
        and e.op in ("add", "sub", "mul", "div")
    ),
    typed.MatrixScale: lambda e: (
        isinstance(e.type, CoopMatrixType) and e.matrix.type == e.type and e.scalar.type is e.type.component
    ),
    typed.MatrixNegate: lambda e: isinstance(e.type, CoopMatrixType) and e.operand.type == e.type,
    typed.MatrixComponentWise: _component_wise,
    typed.MatrixMap: _map,
    typed.MatrixReduce: _reduce,
    typed.MatrixPrefetch: lambda e: e.type == VOID and _access(e, e.matrix),
    typed.MatrixPrint: lambda e: e.type == VOID and isinstance(e.matrix.type, CoopMatrixType),
}

# --- Clang's matrix types --------------------------------------------------------------------------


def _is_shaped(t: Type, other: Type, rows: int | None = None, columns: int | None = None) -> bool:
    """Return whether `t` is a matrix of the other's elements, with that many rows and columns (None: as many)."""
    if not (isinstance(t, ConstantMatrixType) and isinstance(other, ConstantMatrixType)):
        return False
    shape = (other.rows if rows is None else rows, other.columns if columns is None else columns)
    return t.element == other.element and (t.rows, t.columns) == shape


def _transpose(e: typed.MatrixTranspose) -> bool:
    m = e.operand.type
    return isinstance(m, ConstantMatrixType) and _is_shaped(e.type, m, m.columns, m.rows)


def _product(e: typed.MatrixProduct) -> bool:
    a, b = e.left.type, e.right.type
    if not (isinstance(a, ConstantMatrixType) and isinstance(b, ConstantMatrixType)):
        return False
    return a.columns == b.rows and a.element == b.element and _is_shaped(e.type, a, a.rows, b.columns)


def _cast(e: typed.MatrixCast) -> bool:
    a, b = e.operand.type, e.type
    is_matrices = isinstance(a, ConstantMatrixType) and isinstance(b, ConstantMatrixType)
    return is_matrices and (a.rows, a.columns) == (b.rows, b.columns)  # type: ignore[attr-defined]


def _line(matrix: Type, vector: Type) -> bool:
    """Return whether a matrix is one row or one column, and has the elements of the vector."""
    if not isinstance(matrix, ConstantMatrixType) or 1 not in (matrix.rows, matrix.columns):
        return False
    return with_count(matrix.element, matrix.rows * matrix.columns) == vector


def _part(which: str, part: Type, matrix: Type) -> bool:
    if which == "element":
        return isinstance(matrix, ConstantMatrixType) and part == matrix.element
    return _is_shaped(part, matrix, **{"row": {"rows": 1}, "column": {"columns": 1}}[which])


def _memory(e: Any, matrix: Type) -> bool:
    return isinstance(matrix, ConstantMatrixType) and _points_to(e.pointer, matrix.element) and e.stride.type is ULONG


_MATRIX_TYPES: dict[type, Rule] = {
    typed.MatrixSubscript: lambda e: (
        isinstance(e.matrix.type, ConstantMatrixType)
        and e.type == e.matrix.type.element
        and is_integer(e.row.type)
        and is_integer(e.column.type)
    ),
    typed.MatrixBroadcast: lambda e: isinstance(e.type, ConstantMatrixType) and e.value.type is e.type.element,
    typed.MatrixElementwise: lambda e: (
        _is_shaped(e.left.type, e.type) and _is_shaped(e.right.type, e.type) and e.op in ("add", "sub", "mul")
    ),
    typed.MatrixProduct: _product,
    typed.MatrixTranspose: _transpose,
    typed.MatrixCast: _cast,
    typed.MatrixOfVector: lambda e: _line(e.type, e.operand.type),
    typed.VectorOfMatrix: lambda e: _line(e.operand.type, e.type),
    typed.MatrixPart: lambda e: _part(e.which, e.type, e.operand.type) and is_integer(e.index.type),
    typed.MatrixWithPart: lambda e: (
        e.type == e.operand.type
        and _part(e.which, e.part.type, e.type)
        and is_integer(e.index.type)
        and (e.column is not None) == (e.which == "element")
    ),
    typed.MatrixMemoryLoad: lambda e: _memory(e, e.type),
    typed.MatrixMemoryStore: lambda e: e.type == VOID and _memory(e, e.matrix.type),
}

# --- statements ------------------------------------------------------------------------------------


def _loop(e: Any) -> bool:
    return _is_tested(e.condition) and (e.unroll is None or e.unroll >= 0)


def _switch(e: typed.Switch) -> bool:
    t = e.value.type
    if not (isinstance(t, ScalarType) and t.is_integer and t.rank >= INT.rank):
        return False
    return len(set(e.cases)) == len(e.cases) and all(wrap(value, t) == value for value in e.cases)


_PLACED = "`verify` checks that it belongs to a statement or label around it"
_STATEMENTS: dict[type, Rule] = {
    typed.Block: lambda e: all(isinstance(item, typed.Stmt) for item in e.items),
    typed.DeclStmt: lambda e: e.decl.storage != "parameter",
    typed.ExprStmt: _no_rule("a statement may have a value of any type"),
    typed.If: lambda e: _is_tested(e.condition),
    typed.While: _loop,
    typed.DoWhile: _loop,
    typed.For: lambda e: _loop(e) and all(isinstance(s, (typed.DeclStmt, typed.ExprStmt)) for s in e.init),
    typed.Switch: _switch,
    typed.Case: _no_rule(_PLACED),
    typed.Label: lambda e: bool(e.name),
    typed.Goto: _no_rule(_PLACED),
    typed.Break: _no_rule(_PLACED),
    typed.Continue: _no_rule(_PLACED),
    typed.Return: _no_rule("`verify` compares its value with the function's result"),
}

#: Class of node -> its rule.
RULES: dict[type, Rule] = dict(
    chain.from_iterable(table.items() for table in (_VALUES, _OBJECTS, _COOPERATIVE, _MATRIX_TYPES, _STATEMENTS))
)
