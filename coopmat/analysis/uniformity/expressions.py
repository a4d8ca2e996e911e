"""The uniformity analysis of expressions and builtin functions: their values and their stores."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Any

from ...diagnostics import Span
from ...frontend import typed
from ...frontend.nodes import child_fields, children
from ...frontend.types import AddressSpace, CoopMatrixType, PointerType, RecordType, ScalarType
from ...matrices.subgroup_table import ROWS as SUB_GROUP_BUILTINS
from .state import UNIFORM, Cause, Finding, Group, Operand, Summary, Value, Walk, add, join, of_binary

Step = Generator[Any, Any, Any]
"""Yields the steps whose results it needs, and is sent them."""

# class of operation -> the subject of the warning's sentence.
_WORDS = {
    typed.MatrixLoad: "this load",
    typed.MatrixStore: "this store",
    typed.MatrixMulAdd: "this multiply-add",
    typed.MatrixMulAddScaled: "this multiply-add",
    typed.MatrixFill: "this matrix",
    typed.MatrixConvert: "this conversion",
    typed.MatrixMap: "this map",
    typed.MatrixReduce: "this reduction",
    typed.MatrixPrefetch: "this prefetch",
    typed.MatrixPrint: "this print",
}


# Operations that the whole group executes. Access to components, the length and coordinates are per work-item.
OPERATIONS = (
    typed.MatrixLoad,
    typed.MatrixStore,
    typed.MatrixMulAdd,
    typed.MatrixMulAddScaled,
    typed.MatrixFill,
    typed.MatrixBinary,
    typed.MatrixScale,
    typed.MatrixNegate,
    typed.MatrixConvert,
    typed.MatrixComponentWise,
    typed.MatrixMap,
    typed.MatrixReduce,
    typed.MatrixPrefetch,
    typed.MatrixPrint,
)

_PARTS = (typed.Index, typed.Member, typed.Swizzle, typed.MatrixSubscript)
_CONSTANTS = (typed.IntConst, typed.FloatConst, typed.Zero, typed.StringConst)


def is_operation(node: object, group: Group) -> bool:
    """Return whether `node` is an operation of the whole group on matrices of that group's scope.

    For the group BARRIERS, only operations with barriers count, and calls of subgroup functions with barriers.
    """
    if group.has_barriers_only and not _has_barriers(node):
        return False
    if isinstance(node, typed.BuiltinCall):
        return group.has_barriers_only
    if isinstance(node, (typed.MatrixStore, typed.MatrixPrefetch, typed.MatrixPrint)):
        matrix = node.matrix if isinstance(node, typed.MatrixPrefetch) else node.matrix.type
    elif isinstance(node, typed.CompoundAssign):
        matrix = node.target.type
    elif isinstance(node, OPERATIONS):
        matrix = node.type
    else:
        return False
    return isinstance(matrix, CoopMatrixType) and matrix.scope == group.scope


def _has_barriers(node: object) -> bool:
    """Return whether the route scratch implements a node with barriers of the work-group."""
    if isinstance(node, typed.BuiltinCall):
        row = SUB_GROUP_BUILTINS.get(node.name)
        return row is not None and row.has_barriers
    if isinstance(node, typed.MatrixStore):
        pointer, matrix = node.pointer.type, node.matrix.type
        is_global = isinstance(pointer, PointerType) and pointer.qualifiers.space is AddressSpace.GLOBAL
        return not is_global or (isinstance(matrix, CoopMatrixType) and matrix.component.is_nibble)
    if isinstance(node, typed.MatrixPrint):
        return not node.by_lanes
    if isinstance(node, typed.MatrixConvert):
        return node.how.transposed
    return isinstance(node, (typed.MatrixMulAdd, typed.MatrixReduce))


class Expressions(Walk, ABC):
    """An analysis of expressions; each method is a `Step` that returns a Value."""

    def store(self, target: typed.LValue, value: Value, span: Span) -> Step:
        whole = isinstance(target, typed.VarRef)
        while isinstance(target, _PARTS):
            for index in _indices(target):
                value = join(value, self.quick(index) or (yield self.expression(index)))
            target = _whole(target)
        if isinstance(target, typed.VarRef):
            self.set(target.decl, value, span, whole=whole)
        elif isinstance(target, typed.Deref):
            where = self.quick(target.pointer) or (yield self.expression(target.pointer))
            self.stores = join(self.stores, value, where, self.current())
        elif isinstance(target, typed.MatrixElement):
            yield self.expression(target.index)

    def address(self, e: typed.LValue) -> Step:
        """Return the value of the address of lvalue `e`."""
        places = []
        while isinstance(e, _PARTS):
            for index in _indices(e):
                places.append(self.quick(index) or (yield self.expression(index)))
            e = _whole(e)
        if isinstance(e, typed.Deref):
            places.append(self.quick(e.pointer) or (yield self.expression(e.pointer)))
        return _no_id(join(*places))

    def expression(self, e: typed.Expr) -> Step:
        if is_operation(e, self.group):
            what = f"this '{e.name}'" if isinstance(e, typed.BuiltinCall) else "this operation on matrices"
            self.operation(_WORDS.get(type(e), what), e.span)
        special = _EXPRESSIONS.get(type(e))
        return special(self, e) if special is not None else self.any_expression(e)

    def quick(self, e: typed.Expr) -> Value | None:
        """Return the value of a constant or variable without the cost of a generator; None for other expressions."""
        if isinstance(e, _CONSTANTS):
            return UNIFORM
        if isinstance(e, typed.Load):
            e = e.operand
        return self.state.get(e.decl, UNIFORM) if isinstance(e, typed.VarRef) else None

    def any_expression(self, e: Any) -> Step:
        """Return the join of the operands' values, for expressions without a method."""
        values = []
        for child in children(e):
            if isinstance(child, typed.Expr):
                values.append(self.quick(child) or (yield self.expression(child)))
        return UNIFORM if isinstance(e.type, CoopMatrixType) else _no_id(join(*values))

    def matrix_operands(self, e: Any) -> Step:
        """Check a matrix operation with operands that must be uniform in the group."""
        yield self.parts(e, is_operation(e, self.group))
        return UNIFORM

    def parts(self, e: Any, is_own: bool) -> Step:
        """Evaluate the operands of `e`; with `is_own`, an operation of this group, check that they are uniform."""
        names = _OPERANDS[type(e)]
        for name in child_fields(type(e)):
            field = getattr(e, name)
            for part in field if isinstance(field, list) else [field]:
                if isinstance(part, typed.MatrixBounds):
                    yield self.parts(part, is_own)
                elif part is not None:
                    value = self.quick(part) or (yield self.expression(part))
                    if is_own and name in names and not isinstance(part.type, CoopMatrixType):
                        self.operand(Operand(names[name], part.span), value)

    def load(self, e: typed.Load) -> Step:
        value = self.quick(e.operand) or (yield self.expression(e.operand))
        if isinstance(e.operand, (typed.Deref, typed.Index, typed.MatrixSubscript)) and value.cause is not None:
            return Value(Cause("each work-item reads a different location here", e.span, value.cause), value.parameters)
        return value

    def variable(self, e: typed.VarRef) -> Step:
        return self.state.get(e.decl, UNIFORM)
        yield

    def component(self, e: typed.MatrixElement) -> Step:
        yield self.expression(e.matrix)
        yield self.expression(e.index)
        return Value(Cause("each work-item holds different components", e.span))

    def coordinates(self, e: typed.MatrixCoordinates) -> Step:
        yield self.expression(e.index)
        return Value(Cause("each work-item holds different components", e.span))

    def convert(self, e: typed.Convert) -> Step:
        if e.kind is typed.ConvertKind.DECAY and isinstance(e.operand, typed.LValue):
            return (yield self.address(e.operand))
        value = self.quick(e.operand) or (yield self.expression(e.operand))
        return value if e.kind is typed.ConvertKind.INT_TO_INT else _no_id(value)

    def address_of(self, e: typed.AddressOf) -> Step:
        return (yield self.address(e.operand))

    def binary(self, e: typed.Binary) -> Step:
        left = self.quick(e.left) or (yield self.expression(e.left))
        right = self.quick(e.right) or (yield self.expression(e.right))
        return of_binary(e, left, right, self.size, self.group)

    def pointer_add(self, e: typed.PointerAdd) -> Step:
        pointer = self.quick(e.pointer) or (yield self.expression(e.pointer))
        back = isinstance(e.index, typed.Unary) and e.index.op == "neg"
        index = e.index.operand if back and isinstance(e.index, typed.Unary) else e.index
        offset = self.quick(index) or (yield self.expression(index))
        if back and pointer.is_id and pointer.cause is not None and offset.is_id:
            return UNIFORM  # the difference of two ids
        ahead = offset.is_id and not back and pointer.cause is None
        return replace(join(pointer, offset), is_id=ahead)

    def logical(self, e: typed.Logical) -> Step:
        left = self.quick(e.left) or (yield self.expression(e.left))
        right = yield self.branch(e.right, self.under(left, e.left.span))
        return _no_id(join(left, right))

    def conditional(self, e: typed.Conditional) -> Step:
        condition = self.quick(e.condition) or (yield self.expression(e.condition))
        control = self.under(condition, e.condition.span)
        before = dict(self.state)
        values = [condition]
        ends = []
        for side in (e.then, e.otherwise):
            self.state = dict(before)
            values.append((yield self.branch(side, control)))
            ends.append(self.state)
        self.state = ends[0]
        add(self.state, ends[1])
        return UNIFORM if isinstance(e.type, CoopMatrixType) else _no_id(join(*values))

    def branch(self, e: typed.Expr, control: Value) -> Step:
        """Evaluate `e` under the divergence `control`."""
        outside, self.control = self.control, control
        value = self.quick(e) or (yield self.expression(e))
        self.control = outside
        return value

    @abstractmethod
    def statement(self, s: typed.Stmt | None) -> Step: ...

    def nested(self, e: typed.StatementExpression) -> Step:
        yield self.statement(e.body)
        return self.quick(e.value) or (yield self.expression(e.value))

    def comma(self, e: typed.Comma) -> Step:
        yield self.expression(e.left)
        return self.quick(e.right) or (yield self.expression(e.right))

    def assign(self, e: typed.Assign) -> Step:
        value = self.quick(e.value) or (yield self.expression(e.value))
        yield self.store(e.target, value, e.span)
        return value

    def compound_assign(self, e: typed.CompoundAssign) -> Step:
        value = self.quick(e.value) or (yield self.expression(e.value))
        if isinstance(e.target.type, CoopMatrixType):
            if isinstance(e.value.type, ScalarType) and is_operation(e, self.group):
                self.operand(Operand(_FACTOR, e.value.span), value)
            return UNIFORM
        value = _no_id(join(self.quick(e.target) or (yield self.expression(e.target)), value))
        yield self.store(e.target, value, e.span)
        return value

    def increment(self, e: typed.IncDec) -> Step:
        value = _no_id(self.quick(e.target) or (yield self.expression(e.target)))
        yield self.store(e.target, value, e.span)
        return value

    def builtin(self, e: typed.BuiltinCall) -> Step:
        values = []
        for argument in e.arguments:
            values.append(self.quick(argument) or (yield self.expression(argument)))
        result = _builtin_value(e, values, self.dimensions, self.group)
        self.set_through(e.arguments, result, e.span)
        return result

    def call(self, e: typed.Call) -> Step:
        values = []
        for argument in e.arguments:
            values.append(self.quick(argument) or (yield self.expression(argument)))
        if e.function in self.with_matrices:
            self.operation(f"the {self.group.operation} in '{e.function.name}'", e.span)
        summary = self.summaries.get(e.function, Summary())
        self.deciding_arguments(e, summary, values)
        self.operands_of_callee(e, summary, values)
        result, stored = (_at_call(e, value, values) for value in (summary.returns, summary.stores))
        self.set_through(e.arguments, stored, e.span)
        return UNIFORM if isinstance(e.type, CoopMatrixType) else result

    def deciding_arguments(self, e: typed.Call, summary: Summary, values: list[Value]) -> None:
        """Check the arguments that decide whether the callee reaches a matrix operation.

        Arguments of record type are skipped: the callee's condition may depend on another member.
        """
        for n, place in summary.decides.items():
            parameter, value = e.function.parameters[n], values[n]
            if self.dead or isinstance(parameter.type, RecordType):
                continue
            if value.cause is not None:
                cause = Cause(
                    f"whether this operation is reached depends on parameter '{parameter.name}'", place, value.cause
                )
                message = f"an {self.group.operation} in '{e.function.name}' {self.unreached}"
                finding = Finding(message, e.arguments[n].span, cause)
                self.reports.setdefault((cause.text, finding.span), finding)
            self.decided_by(value, place)

    def operands_of_callee(self, e: typed.Call, summary: Summary, values: list[Value]) -> None:
        """Check the arguments from which the callee computes an operand that must be uniform."""
        for n, operand in summary.operands.items():
            parameter, value = e.function.parameters[n], values[n]
            if isinstance(parameter.type, RecordType):
                continue
            if value.cause is not None:
                value = replace(
                    value,
                    cause=Cause(f"this operand depends on parameter '{parameter.name}'", operand.span, value.cause),
                )
            what = operand.what if " in '" in operand.what else f"{operand.what} in '{e.function.name}'"
            self.operand(Operand(what, e.arguments[n].span), value)

    def set_through(self, arguments: list[typed.Expr], value: Value, span: Span) -> None:
        """Join `value`, which a callee stores through pointers, into the variables whose addresses are arguments."""
        if value.is_plain and self.current().is_plain:
            return
        for e in arguments:
            while isinstance(e, typed.Convert):
                e = e.operand
            target: typed.Expr = e.operand if isinstance(e, typed.AddressOf) else e
            while isinstance(target, _PARTS):
                target = _whole(target)
            if isinstance(target, typed.VarRef):
                self.set(target.decl, value, span, whole=False)


def _indices(e: typed.Index | typed.Member | typed.Swizzle | typed.MatrixSubscript) -> list[typed.Expr]:
    """Return the expressions that select the element."""
    if isinstance(e, typed.MatrixSubscript):
        return [e.row, e.column]
    return [e.index] if isinstance(e, typed.Index) else []


def _whole(e: typed.Index | typed.Member | typed.Swizzle | typed.MatrixSubscript) -> typed.LValue:
    return e.matrix if isinstance(e, typed.MatrixSubscript) else e.base


def _no_id(value: Value) -> Value:
    return replace(value, is_id=False) if value.is_id else value


def _at_call(e: typed.Call, value: Value, arguments: list[Value]) -> Value:
    """Substitute the arguments for the parameters in `value`, a returned or stored value of the callee."""
    own = UNIFORM
    if value.cause is not None:
        own = Value(Cause(f"'{e.function.name}' may return a different value for each work-item", e.span, value.cause))
    return _no_id(join(own, *(argument for n, argument in enumerate(arguments) if value.parameters >> n & 1)))


_FACTOR = "the factor of this product"
_ACCESS = {"pointer": "the pointer of this {}", "stride": "the stride of this {}"}
# class of operation -> field of an operand that must be uniform in the group -> description for messages.
_OPERANDS: dict[type, dict[str, str]] = {
    typed.MatrixLoad: {name: what.format("load") for name, what in _ACCESS.items()},
    typed.MatrixStore: {name: what.format("store") for name, what in _ACCESS.items()},
    typed.MatrixBounds: {
        **{"row": "the row where this tile starts", "column": "the column where this tile starts"},
        **{"rows": "the number of rows of this access", "columns": "the number of columns of this access"},
    },
    typed.MatrixMulAddScaled: {
        **{f"scales_{use.lower()}": f"the pointer to the scales of {use}" for use in "AB"},
        **{f"stride_{use.lower()}": f"the stride of the scales of {use}" for use in "AB"},
    },
    typed.MatrixFill: {"value": "the value of this matrix"},
    typed.MatrixScale: {"scalar": _FACTOR},
    typed.MatrixComponentWise: {"operands": "this scalar argument"},
    typed.MatrixMap: {"arguments": "this argument of the function"},
    typed.MatrixPrefetch: {name: what.format("prefetch") for name, what in _ACCESS.items()},
}

_EXPRESSIONS: dict[type, Callable[[Expressions, Any], Step]] = {
    typed.Load: Expressions.load,
    typed.VarRef: Expressions.variable,
    typed.MatrixElement: Expressions.component,
    typed.MatrixCoordinates: Expressions.coordinates,
    typed.Convert: Expressions.convert,
    typed.AddressOf: Expressions.address_of,
    typed.Binary: Expressions.binary,
    typed.PointerAdd: Expressions.pointer_add,
    typed.Logical: Expressions.logical,
    typed.Conditional: Expressions.conditional,
    typed.Comma: Expressions.comma,
    typed.StatementExpression: Expressions.nested,
    typed.Assign: Expressions.assign,
    typed.CompoundAssign: Expressions.compound_assign,
    typed.IncDec: Expressions.increment,
    typed.BuiltinCall: Expressions.builtin,
    typed.Call: Expressions.call,
    **dict.fromkeys(_OPERANDS, Expressions.matrix_operands),
}


# --- builtin functions -----------------------------------------------------------------------------


_IDS = frozenset({"get_local_id", "get_global_id", "get_local_linear_id", "get_global_linear_id"})
# Builtins whose result varies between work-items, whatever the arguments are.
_OWN = re.compile(
    r"get_sub_group_local_id|get_sub_group_(eq|ge|gt|le|lt)_mask|sub_group_elect"
    r"|sub_group_(non_uniform_)?scan_\w+|sub_group_inverse_ballot|(intel_)?sub_group_block_read\w*|work_group_scan_\w+"
    r"|atom(ic)?_(?!init|store|work_item_fence|flag_clear)\w+"
)
# Builtins whose result is uniform in a subgroup, whatever the arguments are.
_OF_SUB_GROUP = re.compile(
    r"get_sub_group_id|sub_group_(all|any|ballot|broadcast|broadcast_first|reduce_\w+)"
    r"|sub_group_non_uniform_(all|any|all_equal|broadcast)|sub_group_non_uniform_reduce_\w+"
)
# Builtins whose result is uniform in a work-group.
_OF_WORK_GROUP = re.compile(r"work_group_(all|any|broadcast|reduce_\w+)")
# Builtins that return another work-item's value: uniform if the argument is uniform. Shuffles (`_FROM`) are also
# uniform if the index of the source lane is uniform.
_EXCHANGE = re.compile(r"(intel_)?sub_group_(shuffle|rotate|clustered)\w*")
_FROM = frozenset({"sub_group_shuffle", "intel_sub_group_shuffle"})


def _builtin_value(e: typed.BuiltinCall, arguments: Sequence[Value], dimensions: frozenset[int], group: Group) -> Value:
    """Return the value of a builtin call; ids vary between work-items of the group in `dimensions`."""
    if e.name in _IDS:
        dimension = e.arguments[0] if e.arguments else None
        number = dimension.value if isinstance(dimension, typed.IntConst) else 0
        if number not in dimensions:
            return UNIFORM
        return Value(_origin(e, "work-item"), is_id=number == 0)
    if _OF_WORK_GROUP.fullmatch(e.name):
        return UNIFORM
    if _OF_SUB_GROUP.fullmatch(e.name):
        return Value(_origin(e, "subgroup")) if group.is_work_group else UNIFORM
    if _OWN.fullmatch(e.name):
        is_id = e.name == "get_sub_group_local_id" and not group.is_work_group
        return Value(_origin(e, "work-item"), is_id=is_id)
    if e.name in _FROM and not group.is_work_group and len(arguments) == 2 and arguments[1].is_plain:
        return UNIFORM
    if _EXCHANGE.fullmatch(e.name):
        return arguments[0] if arguments else UNIFORM
    return join(*arguments)


def _origin(e: typed.BuiltinCall, owner: str) -> Cause:
    return Cause(f"'{e.name}' may return a different value for each {owner}", e.span)
