"""Output of expressions.

Left-deep chains of operators, which are long in generated code, are iterated over, not recursed on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..frontend import typed
from ..frontend.types import (
    EVENT,
    ArrayType,
    PointerType,
    RecordType,
    ScalarType,
    Type,
    VectorType,
    VoidType,
    element_count,
    element_type,
    integer_type,
    is_float,
    with_count,
)
from . import builtins, conversions, literals
from .declarations import declared, type_name
from .statement_expressions import statement_expression
from .text import Binds, Text, call, constant

if TYPE_CHECKING:
    from .context import Context

# operation -> (symbol, precedence).
_OPERATORS: dict[str, tuple[str, Binds]] = {
    **{"mul": ("*", Binds.PRODUCT), "div": ("/", Binds.PRODUCT), "rem": ("%", Binds.PRODUCT)},
    **{"add": ("+", Binds.SUM), "sub": ("-", Binds.SUM), "shl": ("<<", Binds.SHIFT), "shr": (">>", Binds.SHIFT)},
    **{"lt": ("<", Binds.ORDER), "le": ("<=", Binds.ORDER), "gt": (">", Binds.ORDER), "ge": (">=", Binds.ORDER)},
    **{"eq": ("==", Binds.EQUAL), "ne": ("!=", Binds.EQUAL)},
    **{"and": ("&", Binds.AND), "xor": ("^", Binds.XOR), "or": ("|", Binds.OR)},
    **{"land": ("&&", Binds.LOGICAL_AND), "lor": ("||", Binds.LOGICAL_OR)},
}
# Nested arithmetic operators need no parentheses; for other nested operators compilers warn without them.
_ARITHMETIC = (Binds.PRODUCT, Binds.SUM)
_COMPARISONS = (Binds.EQUAL, Binds.ORDER)
_CHAINS = (Binds.AND, Binds.XOR, Binds.OR, Binds.LOGICAL_AND, Binds.LOGICAL_OR)
_COMPONENTS = "0123456789abcdef"


def value(c: Context, e: typed.Expr) -> Text:
    """Write an expression whose C type is the node's type, and record the type's requirements."""
    c.program.needs.value_of(c.program.held(e.type))
    return _VALUES[type(e)](c, e)


def place(c: Context, e: typed.LValue) -> Text:
    """Write an lvalue."""
    return _PLACES[type(e)](c, e)


def assigned(c: Context, e: typed.Expr) -> Text:
    """Write a value that is assigned to an object of the same type."""
    return value(c, conversions.assigned(e))


# --- operators -----------------------------------------------------------------------------------


def _binary(c: Context, e: typed.Binary | typed.Logical) -> Text:
    """Write a binary operator and its chain of left operands, innermost first."""
    chain: list[typed.Binary | typed.Logical] = [e]
    left, _ = _sides(e)
    while isinstance(left, (typed.Binary, typed.Logical)):
        chain.append(left)
        left, _ = _sides(left)
    result = value(c, left)
    for node in reversed(chain):
        symbol, level = _OPERATORS[node.op]
        right = value(c, _sides(node)[1])
        result = Text(f"{_side(result, level, 0)} {symbol} {_side(right, level, 1)}", level)
    return result


def _sides(e: typed.Binary | typed.Logical) -> tuple[typed.Expr, typed.Expr]:
    if isinstance(e, typed.Logical):
        return e.left, e.right
    if e.op in ("shl", "shr"):
        return conversions.promoted(e.left), conversions.amount(e.right)
    return conversions.operands(e.left, e.right)


def _side(side: Text, level: Binds, number: int) -> str:
    if level in _ARITHMETIC and side.binds in _ARITHMETIC:
        return side.at(Binds(level + number))
    if level in _COMPARISONS and side.binds in _ARITHMETIC:
        return side.text
    if number == 0 and side.binds == level and level in _CHAINS:
        return side.text
    return side.prefix if level >= Binds.AND or side.binds < Binds.EQUAL else side.text


def _unary(c: Context, e: typed.Unary) -> Text:
    if e.op == "lnot":
        return Text("!" + value(c, e.operand).prefix, Binds.PREFIX)
    if e.op == "neg" and is_float(element_type(e.type)) and c.hides_negations:
        return _hidden_negation(c, e)
    symbol = "-" if e.op == "neg" else "~"
    operand = value(c, conversions.promoted(e.operand)).prefix
    # Parenthesize -(-x), which would read as a decrement.
    return Text(symbol + (f"({operand})" if operand.startswith(symbol) else operand), Binds.PREFIX)


def _hidden_negation(c: Context, e: typed.Unary) -> Text:
    """Write a negation that flips the sign bits by a mask whose value the device's compiler cannot know."""
    element = element_type(e.type)
    assert isinstance(element, ScalarType)
    bits = integer_type(element.bits, signed=False)
    kind = with_count(bits, element_count(e.type))
    mask = c.opaque(bits, literals.integer(1 << (element.bits - 1), bits))
    flipped = f"{call(f'as_{kind}', value(c, e.operand)).text} ^ {mask}"
    return call(f"as_{e.type}", Text(f"({kind})({flipped})", Binds.PREFIX))


def _pointer_add(c: Context, e: typed.PointerAdd) -> Text:
    index = value(c, conversions.bare(e.index)).at(Binds.PRODUCT)
    return Text(f"{value(c, e.pointer).at(Binds.SUM)} + {index}", Binds.SUM)


def _pointer_difference(c: Context, e: typed.PointerDifference) -> Text:
    return Text(f"{value(c, e.left).at(Binds.SUM)} - {value(c, e.right).at(Binds.PRODUCT)}", Binds.SUM)


def _conditional(c: Context, e: typed.Conditional) -> Text:
    arms = _arm(c, e.then), _arm(c, e.otherwise)
    condition = value(c, e.condition).at(Binds.LOGICAL_OR)
    return Text(f"{condition} ? {arms[0].at(Binds.CONDITION)} : {arms[1].at(Binds.CONDITION)}", Binds.CONDITION)


def _arm(c: Context, e: typed.Expr) -> Text:
    return Text("(void)0", Binds.PREFIX) if isinstance(e.type, VoidType) and isinstance(e, typed.Zero) else value(c, e)


def _vector_select(c: Context, e: typed.VectorSelect) -> Text:
    parts = [value(c, part).at(Binds.LOGICAL_OR) for part in (e.condition, e.then, e.otherwise)]
    return Text(f"{parts[0]} ? {parts[1]} : {parts[2]}", Binds.CONDITION)


def _comma(c: Context, e: typed.Comma) -> Text:
    return _comma_chain(c, e, value(c, e.right))


def _comma_chain(c: Context, e: typed.Comma, last: Text) -> Text:
    """Write a chain of commas: the left operands for their side effects, then `last`."""
    parts = [last]
    left = e.left
    while isinstance(left, typed.Comma):
        parts.append(effect(c, left.right))
        left = left.left
    parts.append(effect(c, left))
    return Text(", ".join(part.at(Binds.ASSIGN) for part in reversed(parts)), Binds.COMMA)


# --- changes -------------------------------------------------------------------------------------


def effect(c: Context, e: typed.Expr) -> Text:
    """Write an expression whose value is not used."""
    if isinstance(e, typed.Comma):
        return _comma_chain(c, e, effect(c, e.right))
    return _arm(c, e)


def _assign(c: Context, e: typed.Assign) -> Text:
    return _assignment(place(c, e.target), "=", assigned(c, e.value))


def _assignment(target: Text, symbol: str, new: Text) -> Text:
    return Text(f"{target.prefix} {symbol} {new.at(Binds.ASSIGN)}", Binds.ASSIGN)


def _compound_assign(c: Context, e: typed.CompoundAssign) -> Text:
    symbol = _OPERATORS[e.op][0] + "="
    if e.op in ("shl", "shr"):
        return _assignment(place(c, e.target), symbol, value(c, conversions.amount(e.value)))
    if isinstance(e.computation, PointerType):
        return _assignment(place(c, e.target), symbol, value(c, conversions.bare(e.value)))
    own: typed.Expr = typed.Load(e.span, e.target.type, e.target)
    if e.widen is not None:
        own = typed.Convert(e.span, e.computation, e.widen, own)
    left, right = conversions.operands(own, e.value)
    new = right if left.type == e.target.type else e.value
    return _assignment(place(c, e.target), symbol, value(c, new))


def _inc_dec(c: Context, e: typed.IncDec) -> Text:
    symbol = "++" if e.step > 0 else "--"
    if e.prefix:
        return Text(symbol + place(c, e.target).prefix, Binds.PREFIX)
    return Text(place(c, e.target).postfix + symbol)


# --- other values --------------------------------------------------------------------------------


def _zero(c: Context, e: typed.Zero) -> Text:
    t = e.type
    if isinstance(t, VoidType):
        return Text("(void)0", Binds.PREFIX)
    if isinstance(t, (ArrayType, RecordType)):
        return Text(f"({type_name(c.program, t)})" + initializer(c, e))
    if isinstance(t, ScalarType):
        return constant(literals.integer(0, t) if t.is_integer else literals.floating(0.0, t, c.program.held(t)))
    if isinstance(t, VectorType):
        return Text(f"({type_name(c.program, t)})(0)", Binds.PREFIX)
    return Text("0") if t == EVENT else Text(f"({type_name(c.program, t)})0", Binds.PREFIX)


def _load(c: Context, e: typed.Load) -> Text:
    return place(c, e.operand)


def _address_of(c: Context, e: typed.AddressOf) -> Text:
    target = conversions.with_object(c, e.operand)
    if isinstance(target, typed.Deref):
        return value(c, target.pointer)
    return Text("&" + place(c, target).prefix, Binds.PREFIX)


def _vector_literal(c: Context, e: typed.VectorLiteral) -> Text:
    if len(e.items) == 1 and e.items[0].type == e.type:
        return value(c, e.items[0])
    items = ", ".join(value(c, item).argument for item in e.items)
    return Text(f"({type_name(c.program, e.type)})({items})", Binds.PREFIX)


def _components(indices: tuple[int, ...]) -> str:
    if max(indices) < 4:
        return "".join("xyzw"[i] for i in indices)
    return "s" + "".join(_COMPONENTS[i] for i in indices)


def _extract_swizzle(c: Context, e: typed.ExtractSwizzle) -> Text:
    return Text(f"{value(c, e.operand).postfix}.{_components(e.indices)}")


def _extract_member(c: Context, e: typed.ExtractMember) -> Text:
    return Text(f"{value(c, e.operand).postfix}.{c.program.names.member(e.operand.type, e.index)}")


def _aggregate(c: Context, e: typed.Aggregate) -> Text:
    return Text(f"({type_name(c.program, e.type)})" + initializer(c, e))


def _call(c: Context, e: typed.Call) -> Text:
    arguments = [assigned(c, argument) for argument in e.arguments]
    return call(c.program.names.function(e.function), *arguments)


# --- initial values ------------------------------------------------------------------------------


def initializer(c: Context, e: typed.Expr) -> str:
    """Return the initializer of an object that has the expression's type."""
    if isinstance(e, typed.Zero) and isinstance(e.type, (ArrayType, RecordType)):
        return _zeros(c, e)
    if isinstance(e, typed.Aggregate):
        return "{" + ", ".join(_items(c, e)) + "}" if e.items else _zeros(c, typed.Zero(e.span, e.type))
    if isinstance(e, typed.StringConst):
        return literals.string(e.value)
    if isinstance(e, typed.Load) and isinstance(e.operand, typed.StringConst):
        return literals.string(e.operand.value)
    return assigned(c, e).argument


def _zeros(c: Context, e: typed.Zero) -> str:
    """Return {0}, nested as deep as the aggregates around the first scalar; {} if there is none."""
    t: Type = e.type
    inner: Type | None = None
    if isinstance(t, ArrayType):
        inner = t.element
    elif isinstance(t, RecordType):
        inner = t.fields[0].type if t.fields else None
    if inner is None:
        return "{}"
    return "{" + initializer(c, typed.Zero(e.span, inner)) + "}"


def _items(c: Context, e: typed.Aggregate) -> list[str]:
    """Return the items of an aggregate's initializer; they have designators if items are missing or out of order."""
    in_order = [index for index, _ in e.items] == list(range(len(e.items)))
    texts = []
    for index, item in e.items:
        text = initializer(c, item)
        if not in_order or (isinstance(e.type, RecordType) and e.type.kind == "union" and index):
            name = f".{c.program.names.member(e.type, index)}" if isinstance(e.type, RecordType) else f"[{index}]"
            text = f"{name} = {text}"
        texts.append(text)
    return texts


# --- objects -------------------------------------------------------------------------------------


def _var_ref(c: Context, e: typed.VarRef) -> Text:
    return Text(c.program.names.variable(e.decl))


def _deref(c: Context, e: typed.Deref) -> Text:
    if isinstance(e.pointer, typed.PointerAdd):
        pointer = value(c, e.pointer.pointer).postfix
        return Text(f"{pointer}[{value(c, conversions.bare(e.pointer.index)).text}]")
    return Text("*" + value(c, e.pointer).prefix, Binds.PREFIX)


def _index(c: Context, e: typed.Index) -> Text:
    return Text(f"{place(c, e.base).postfix}[{value(c, conversions.bare(e.index)).text}]")


def _member(c: Context, e: typed.Member) -> Text:
    name = c.program.names.member(e.base.type, e.index)
    if isinstance(e.base, typed.Deref) and not isinstance(e.base.pointer, typed.PointerAdd):
        return Text(f"{value(c, e.base.pointer).postfix}->{name}")
    return Text(f"{place(c, e.base).postfix}.{name}")


def _swizzle(c: Context, e: typed.Swizzle) -> Text:
    components = ("hi" if 2 in e.indices else "odd") if e.names_undefined else _components(e.indices)
    return Text(f"{place(c, e.base).postfix}.{components}")


def _string(c: Context, e: typed.StringConst) -> Text:
    return Text(literals.string(e.value))


def _compound_literal(c: Context, e: typed.CompoundLiteral) -> Text:
    inner = initializer(c, e.initializer)
    if isinstance(e.type, RecordType) and not isinstance(e.initializer, (typed.Aggregate, typed.Zero)):
        # A record returned by a call needs no object: its members can be accessed directly.
        return value(c, e.initializer)
    if not inner.startswith("{"):
        inner = f"{{{inner}}}"
    return Text(f"({declared(c.program, e.type, '')}){inner}")


_PLACES: dict[type, Callable[[Any, Any], Text]] = {
    typed.VarRef: _var_ref,
    typed.Deref: _deref,
    typed.Index: _index,
    typed.Member: _member,
    typed.Swizzle: _swizzle,
    typed.StringConst: _string,
    typed.CompoundLiteral: _compound_literal,
}
_VALUES: dict[type, Callable[[Any, Any], Text]] = {
    typed.IntConst: conversions.integer,
    typed.FloatConst: conversions.floating,
    typed.Zero: _zero,
    typed.Load: _load,
    typed.Convert: conversions.convert,
    typed.Unary: _unary,
    typed.Binary: _binary,
    typed.Logical: _binary,
    typed.PointerAdd: _pointer_add,
    typed.PointerDifference: _pointer_difference,
    typed.AddressOf: _address_of,
    typed.Assign: _assign,
    typed.CompoundAssign: _compound_assign,
    typed.IncDec: _inc_dec,
    typed.Conditional: _conditional,
    typed.VectorSelect: _vector_select,
    typed.Comma: _comma,
    typed.StatementExpression: statement_expression,
    typed.VectorLiteral: _vector_literal,
    typed.ExtractSwizzle: _extract_swizzle,
    typed.ExtractMember: _extract_member,
    typed.Aggregate: _aggregate,
    typed.Call: _call,
    typed.BuiltinCall: builtins.call_builtin,
    **_PLACES,
}
