"""Expressions: the typed form of each class of syntax node (OpenCL C 3.0, section 6.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

from ...analysis import PRECEDENCE_CODES, check_conversion, check_discarded, check_precedence
from ...diagnostics import Note, Span
from .. import builtins, literals, syntax, typed
from ..typed import Expr
from ..types import (
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    SIZE_T,
    UINT,
    ULONG,
    VOID,
    AddressSpace,
    ArrayType,
    CoopMatrixType,
    FunctionType,
    Qualifiers,
    ScalarType,
    Type,
    VectorType,
    VoidType,
    align_of,
    contains_matrix,
    element_count,
    is_complete,
    size_of,
)
from . import calls, matrices, operators, parts, restricted_types, statement_expressions
from .context import MOST_ELEMENTS, UNKNOWN, Abandon, Context, EnumConstant, Overloads, Poisoned, R, T, Typedef
from .conversions import cast
from .declarations import alignment_of_base, base_type, declarator_type, type_name
from .initializers import initialize
from .operators import BINARY
from .values import convert_arithmetic, round_ratio, rvalue

Handler = Callable[[Context, Any, "Type | None"], Expr]


def analyse(c: Context, node: syntax.Expression, expected: Type | None = None) -> Expr:
    """Return the typed form of `node`; `expected` is the type that its context expects, which matrix loads need."""
    return _HANDLERS[type(node)](c, node, expected)


# --- constants and names ---------------------------------------------------------------------------


def _decoded(c: Context, decode: Callable[[T], R], text: T, span: Span) -> R:
    try:
        return decode(text)
    except literals.LiteralError as error:
        c.fail(error.code, error.message, span)


def _integer_types(decimal: bool, unsigned: bool, long: bool) -> list[tuple[ScalarType, int]]:
    """Return the types that a constant may have (C11 6.4.4.1), each with the smallest value that does not fit."""
    candidates = [UINT, ULONG] if unsigned else [INT, LONG, ULONG] if decimal else [INT, UINT, LONG, ULONG]
    return [(t, 1 << (t.bits - t.signed)) for t in candidates if t.bits == 64 or not long]


_INTEGER_TYPES = {key: _integer_types(*key) for key in product((False, True), repeat=3)}


def _integer(c: Context, node: syntax.IntegerLiteral, expected: Type | None) -> Expr:
    value, suffix, decimal = _decoded(c, literals.decode_integer, node.text, node.span)
    for t, limit in _INTEGER_TYPES[decimal, "u" in suffix, "l" in suffix]:
        if value < limit:
            return typed.IntConst(node.span, t, value)
    raise AssertionError("what no type holds is refused before")


def _float(c: Context, node: syntax.FloatLiteral, expected: Type | None) -> Expr:
    literal = _decoded(c, literals.decode_float, node.text, node.span)
    single = c.single or "cl_khr_fp64" not in c.features
    t = {"": FLOAT if single else DOUBLE, "f": FLOAT, "h": HALF, "l": DOUBLE}[literal.suffix]
    return typed.FloatConst(node.span, t, literal.value if t is DOUBLE else round_ratio(*literal.exact, t))


def _char(c: Context, node: syntax.CharLiteral, expected: Type | None) -> Expr:
    return typed.IntConst(node.span, INT, _decoded(c, literals.decode_char, node.text, node.span))


def _string(c: Context, node: syntax.StringLiteral, expected: Type | None) -> Expr:
    value = _decoded(c, literals.decode_string, node.texts, node.span)
    if len(value) >= MOST_ELEMENTS:
        c.unsupported(f"more than {MOST_ELEMENTS} characters of a string are", node.span)
    return _string_constant(node.span, value)


def _string_constant(span: Span, value: bytes) -> Expr:
    return typed.StringConst(span, ArrayType(CHAR, len(value) + 1), Qualifiers(AddressSpace.CONSTANT), value)


def _identifier(c: Context, node: syntax.Identifier, expected: Type | None) -> Expr:
    entity = c.scope.find(node.name)
    if isinstance(entity, typed.VarDecl):
        c.references[entity] = c.references.get(entity, 0) + 1
        return typed.VarRef(node.span, entity.type, entity.qualifiers, entity)
    if isinstance(entity, EnumConstant):
        assert isinstance(entity.type, ScalarType)
        return typed.IntConst(node.span, entity.type, entity.value)
    if isinstance(entity, Poisoned):
        c.abandon()
    if isinstance(entity, Typedef):
        c.fail("unexpected-type", f"'{node.name}' is a type, not a value", node.span)
    if isinstance(entity, (typed.FunctionDecl, Overloads)) or builtins.find(node.name) is not None:
        c.fail("function-pointer", f"function '{node.name}' is used without a call", node.span)
    if node.name in ("__func__", "__FUNCTION__") and c.function is not None:
        return _string_constant(node.span, c.function.decl.name.encode())
    if node.name.startswith("CLK_COOPERATIVE_MATRIX_"):
        matrices.require_extension(c, f"'{node.name}'", node.span)
    c.undeclared(f"'{node.name}' is not declared", node.name, node.span, c.scope.visible())


def _paren(c: Context, node: syntax.Paren, expected: Type | None) -> Expr:
    return analyse(c, node.inner, expected)


# --- operators -------------------------------------------------------------------------------------


def _unary(c: Context, node: syntax.Unary, expected: Type | None) -> Expr:
    operand = analyse(c, node.operand, matrices.target_beside("", None, expected) if node.op == "-" else None)
    if node.op in ("++", "--"):
        return operators.increment(c, node.op, operand, node.span, prefix=True)
    if node.op == "&":
        return operators.address_of(c, operand, node.span)
    if node.op == "*":
        return operators.dereference(c, operand, node.span)
    return operators.unary(c, node.op, operand, node.span)


def _postfix(c: Context, node: syntax.Postfix, expected: Type | None) -> Expr:
    return operators.increment(c, node.op, analyse(c, node.operand), node.span, prefix=False)


def _binary(c: Context, node: syntax.Binary, expected: Type | None) -> Expr:
    # Chains lean to the left and may have thousands of operators, so they are analysed without recursion.
    chain = [node]
    while isinstance(chain[-1].left, syntax.Binary):
        chain.append(chain[-1].left)
    chain.reverse()
    if c.diagnostics.wants(*PRECEDENCE_CODES):
        for link in reversed(chain):
            check_precedence(c, link)
    operands, target = _matrix_operands(c, chain, expected) if c.matrices else ({}, expected)
    result: Expr | None
    # A `with c.recover()` would take as long as the rest of the loop.
    try:
        result = operands[0] if 0 in operands else analyse(c, chain[0].left, target)
    except Abandon:
        result = None
    for number, link in enumerate(chain, 1):
        left = result
        try:
            if number in operands:
                right = operands[number]
            else:
                right = analyse(c, link.right, matrices.target_beside(link.op, left.type if left else None, target))
            if left is None or right is None:
                result = None
            else:
                result = operators.binary(c, link.op, left, right, link.span, link.op_span)
        except Abandon:
            result = None
    if result is None:
        c.abandon()
    return result


def _matrix_operands(
    c: Context, chain: list[syntax.Binary], expected: Type | None
) -> tuple[dict[int, Expr | None], Type | None]:
    """Analyse the operands of a chain that do not take their matrix type from the chain.

    Return operand number -> value (None if faulty), and the matrix type for the remaining operands. Operand 0 is the
    leftmost operand; operand i is the right operand of link i - 1.
    """
    if len(chain) == 1 and not (matrices.needs_target(c, chain[0].left) or matrices.needs_target(c, chain[0].right)):
        return {}, expected
    nodes = [chain[0].left, *(link.right for link in chain)]
    dependents = [number for number, operand in enumerate(nodes) if matrices.needs_target(c, operand)]
    if not dependents:
        return {}, expected
    operands: dict[int, Expr | None] = {}
    target: Type | None = None
    for number, operand in enumerate(nodes):
        if number not in dependents:
            operands[number] = None
            with c.recover():
                operands[number] = e = analyse(c, operand, expected)
                target = target or matrices.target_beside(chain[max(number - 1, 0)].op, e.type, None)
    broken = any(e is None for e in operands.values())
    return operands, target or matrices.target_beside("", None, UNKNOWN if broken else expected)


def _assign(c: Context, node: syntax.Assign, expected: Type | None) -> Expr:
    target: Expr | None
    try:
        target = analyse(c, node.target)
    except Abandon:
        target = None
    # `m *=` takes matrices and scalars, so the target's type does not determine the value's type.
    value_type = target.type if target is not None and node.op != "*=" else None
    value = analyse(c, node.value, value_type if target is not None else UNKNOWN)
    if target is None:
        c.abandon()
    if node.op == "=":
        return operators.assign(c, target, value, node.span, node.op_span)
    assert node.op[:-1] in BINARY
    return operators.compound_assign(c, node.op, target, value, node.span, node.op_span)


def _conditional(c: Context, node: syntax.Conditional, expected: Type | None) -> Expr:
    test: Expr | None = None
    with c.recover():
        test = analyse(c, node.condition)
    if node.then is None:
        otherwise = analyse(c, node.otherwise, expected)
        return c.abandon() if test is None else statement_expressions.short_conditional(c, test, otherwise, node.span)
    then, otherwise = _sides(c, node, node.then, expected)
    if test is None:
        c.abandon()
    return operators.conditional(c, test, then, otherwise, node.span)


def _sides(c: Context, node: syntax.Conditional, then: syntax.Expression, expected: Type | None) -> list[Expr]:
    """Analyse both sides of a conditional operator.

    Without an expected type, a side whose matrix type is known determines the type of the other side.
    """
    dependence = [matrices.needs_target(c, side) for side in (then, node.otherwise)]
    if expected is not None or dependence[0] == dependence[1]:
        return c.analyse_each(then, node.otherwise, expected=expected)
    sides = [then, node.otherwise]
    first = dependence[0]  # the index of the side that is analysed first
    results: dict[int, Expr] = {}
    with c.recover():
        results[first] = analyse(c, sides[first])
    side_type = matrices.target_beside("-", results[first].type, None) if first in results else UNKNOWN
    results[not first] = analyse(c, sides[not first], side_type)
    if first not in results:
        c.abandon()
    return [results[0], results[1]]


def _comma(c: Context, node: syntax.Comma, expected: Type | None) -> Expr:
    result = rvalue(analyse(c, node.items[0]))
    for i, item in enumerate(node.items[1:], 2):
        check_discarded(c, result.right if isinstance(result, typed.Comma) else result)
        value = rvalue(analyse(c, item, expected if i == len(node.items) else None))
        result = typed.Comma(node.span, value.type, result, value)
    return result


# --- calls, types as operands ----------------------------------------------------------------------


def _type_argument(c: Context, node: syntax.TypeArgument, expected: Type | None) -> Expr:
    c.fail("unexpected-type", "expected an expression, not a type", node.span)


def _size_of(c: Context, node: syntax.SizeOf, expected: Type | None) -> Expr:
    operand = node.operand
    op = node.op.strip("_")
    alignment: int | None = None
    if isinstance(operand, syntax.TypeName):
        base = base_type(c, operand.specifiers)
        t = declarator_type(c, base, operand.declarator)[0]
        alignment = alignment_of_base(base, operand.declarator)
    else:
        t = analyse(c, operand).type
    if contains_matrix(t):
        notes = [Note("coop_mat_length(m) is the number of components that a work-item has")]
        message = f"'{node.op}' of '{t}': a cooperative matrix is opaque and has no size"
        c.fail("coop-mat-opaque", message, node.span, notes=notes)
    if op == "vec_step":
        if not isinstance(t, (ScalarType, VectorType)):
            c.fail("invalid-operands", f"'vec_step' takes a scalar or a vector, not '{t}'", node.span)
        return typed.IntConst(node.span, INT, 4 if element_count(t) == 3 else element_count(t))
    if isinstance(t, (FunctionType, VoidType)) or not is_complete(t):
        c.fail("incomplete-type", f"'{node.op}' of incomplete type '{t}'", node.span)
    return typed.IntConst(node.span, SIZE_T, size_of(t) if op == "sizeof" else alignment or align_of(t))


def _generic(c: Context, node: syntax.GenericSelection, expected: Type | None) -> Expr:
    """Select the association whose type is that of the control's value, else the default (C11 6.5.1.1)."""
    t = rvalue(analyse(c, node.control)).type
    association: syntax.Association | None = None
    associations: dict[Type | None, syntax.Association] = {}
    for item in node.associations:
        with c.recover():
            other = type_name(c, item.type_name) if item.type_name is not None else None
            if other in associations:
                what = f"for '{other}'" if other is not None else "'default'"
                notes = [Note("the first is here", associations[other].span)]
                c.fail("generic-selection", f"a second association {what}", item.span, notes=notes)
            associations[other] = item
    association = associations.get(t) or associations.get(None)
    if association is None:
        c.fail("generic-selection", f"no association has the type '{t}' of the control expression", node.control.span)
    return analyse(c, association.value, expected)


def _cast(c: Context, node: syntax.Cast, expected: Type | None) -> Expr:
    target = type_name(c, node.type_name)
    if isinstance(target, VectorType):
        if isinstance(node.operand, syntax.Paren):
            return _vector_literal(c, target, node)
        literal = _literal_first(node)
        if literal is not None:
            return analyse(c, literal)
    if isinstance(target, VoidType):
        e = rvalue(analyse(c, node.operand))
        return typed.Comma(node.span, VOID, e, typed.Zero(node.span, VOID))
    if isinstance(target, (ArrayType, FunctionType)):
        c.fail("invalid-cast", f"a cast to '{target}' is not allowed", node.span)
    matrix_type = target if isinstance(target, CoopMatrixType) else None
    return cast(c, analyse(c, node.operand, matrix_type), target, node.span)


def _literal_first(node: syntax.Cast) -> syntax.Expression | None:
    """Return `(int2)(5, 6).y` as `((int2)(5, 6)).y`, since a vector literal is a primary expression and a cast is not.

    Return None if no parenthesis follows the type.
    """
    chain: list[syntax.Member | syntax.Subscript] = []
    operand = node.operand
    while isinstance(operand, (syntax.Member, syntax.Subscript)):
        chain.append(operand)
        operand = operand.base
    if not isinstance(operand, syntax.Paren):
        return None
    result: syntax.Expression = syntax.Cast(node.span.to(operand.span), node.type_name, operand)
    for link in reversed(chain):
        result = replace(link, base=result)
    return result


def _vector_literal(c: Context, target: VectorType, node: syntax.Cast) -> Expr:
    """Analyse `(float4)(a, b, ...)`: scalars and vectors that add up, or one scalar for all components (6.1.6)."""
    assert isinstance(node.operand, syntax.Paren)
    content = node.operand.inner
    parts = content.items if isinstance(content, syntax.Comma) else [content]
    values = [rvalue(part) for part in c.analyse_each(*parts)]
    if len(values) == 1:
        return cast(c, values[0], target, node.span)
    items: list[Expr] = []
    for value in values:
        if isinstance(value.type, ScalarType):
            check_conversion(c, value, target.element)
            items.append(convert_arithmetic(value, target.element))
        elif isinstance(value.type, VectorType) and value.type.element == target.element:
            items.append(value)
        else:
            c.fail("vector-literal", f"'{value.type}' cannot be part of a '{target}'", value.span)
    count = sum(element_count(item.type) for item in items)
    if count != target.count:
        c.fail("vector-literal", f"a '{target}' needs {target.count} components, not {count}", node.span)
    return typed.VectorLiteral(node.span, target, items)


def _compound_literal(c: Context, node: syntax.CompoundLiteral, expected: Type | None) -> Expr:
    if c.function is None:
        c.unsupported("a compound literal at file scope is", node.span)
    named = type_name(c, node.type_name)
    restricted_types.refuse(c, named, "variable", node.span)
    t, value = initialize(c, named, node.initializer)
    return typed.CompoundLiteral(node.span, t, Qualifiers(), value)


_HANDLERS: dict[type, Handler] = {
    syntax.IntegerLiteral: _integer,
    syntax.FloatLiteral: _float,
    syntax.CharLiteral: _char,
    syntax.StringLiteral: _string,
    syntax.Identifier: _identifier,
    syntax.Paren: _paren,
    syntax.Unary: _unary,
    syntax.Postfix: _postfix,
    syntax.Binary: _binary,
    syntax.Assign: _assign,
    syntax.Conditional: _conditional,
    syntax.Comma: _comma,
    syntax.StatementExpression: statement_expressions.statement_expression,
    syntax.Call: calls.call,
    syntax.TypeArgument: _type_argument,
    syntax.SizeOf: _size_of,
    syntax.GenericSelection: _generic,
    syntax.Cast: _cast,
    syntax.CompoundLiteral: _compound_literal,
    syntax.Subscript: parts.subscript,
    syntax.Member: parts.member,
}
