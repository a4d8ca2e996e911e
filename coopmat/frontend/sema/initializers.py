"""Initialisers: braces, designators, brace elision, strings (C11 6.7.9)."""

from __future__ import annotations

from dataclasses import dataclass

from ...diagnostics import Span
from .. import syntax
from ..typed import Aggregate, Expr, FloatConst, IntConst, LValue, StringConst, VectorLiteral, Zero
from ..types import CHAR, UCHAR, ArrayType, CoopMatrixType, RecordType, Type, VectorType, VoidType, element_count
from .context import Context
from .conversions import assign_convert, rvalue


def initialize(c: Context, t: Type, node: syntax.Initializer) -> tuple[Type, Expr]:
    """The typed initial value of an object of type `t`, and that type with an open array size filled in."""
    if isinstance(node, syntax.InitializerList):
        if isinstance(t, (ArrayType, RecordType)):
            return _braced(c, t, node)
        return t, _scalar_in_braces(c, t, node)
    if isinstance(t, ArrayType):
        text = _string(node)
        if text is not None and t.element in (CHAR, UCHAR):
            return _from_string(c, t, text)
        c.fail("invalid-initializer", f"an array of type '{t}' needs an initialiser in braces", node.span)
    return t, value(c, t, node, "initialisation")


def value(c: Context, t: Type, node: syntax.Expression, what: str) -> Expr:
    """`node` converted to `t`, as `what` (initialisation, argument, ...) does it."""
    from .expressions import analyse

    return assign_convert(c, analyse(c, node, t), t, node.span, what)


def _scalar_in_braces(c: Context, t: Type, node: syntax.InitializerList) -> Expr:
    if isinstance(t, VectorType):
        return _vector_in_braces(c, t, node)
    if len(node.items) != 1 or node.items[0].designators:
        c.fail("invalid-initializer", f"'{t}' takes exactly one initial value", node.span)
    inner = node.items[0].value
    if isinstance(inner, syntax.InitializerList):
        c.fail("invalid-initializer", f"too many braces around the initial value of '{t}'", inner.span)
    return value(c, t, inner, "initialisation")


def _vector_in_braces(c: Context, t: VectorType, node: syntax.InitializerList) -> Expr:
    """Scalars and vectors that add up, as clang has it; the specification knows vector literals only."""
    from .expressions import analyse

    items: list[Expr] = []
    for item in node.items:
        if item.designators or isinstance(item.value, syntax.InitializerList):
            c.fail("invalid-initializer", f"'{t}' takes scalars and vectors only", item.span)
        part = rvalue(analyse(c, item.value))
        whole = isinstance(part.type, VectorType) and part.type.element == t.element
        items.append(part if whole else assign_convert(c, part, t.element, item.span, "initialisation"))
    count = sum(element_count(item.type) for item in items)
    if count != t.count:
        c.fail("invalid-initializer", f"a '{t}' needs {t.count} components, not {count}", node.span)
    return VectorLiteral(node.span, t, items)


def _string(node: syntax.Expression) -> syntax.StringLiteral | None:
    while isinstance(node, syntax.Paren):
        node = node.inner
    return node if isinstance(node, syntax.StringLiteral) else None


def _from_string(c: Context, t: ArrayType, node: syntax.StringLiteral) -> tuple[Type, Expr]:
    from .expressions import analyse

    text = analyse(c, node)
    assert isinstance(text, StringConst)
    size = len(text.value) + 1 if t.size is None else t.size
    if len(text.value) > size:
        c.fail("invalid-initializer", f"the string of {len(text.value)} characters does not fit '{t}'", node.span)
    element = t.element
    items: list[tuple[int, Expr]] = [
        (i, IntConst(node.span, element, byte - 256 if element is CHAR and byte > 127 else byte))
        for i, byte in enumerate(text.value)
    ]
    full = ArrayType(element, size)
    return full, _aggregate(c, node.span, full, items)


# An OpConstantComposite has at most 65,535 words (SPIR-V, section 2.3), three of them for itself.
_MOST_ELEMENTS = 65_532


def _aggregate(c: Context, span: Span, t: ArrayType | RecordType, items: list[tuple[int, Expr]]) -> Aggregate:
    """An aggregate value; one of nothing but zeros has no items."""
    if all(_is_zero(item) for _, item in items):
        return Aggregate(span, t, [])
    if isinstance(t, ArrayType) and (t.size or 0) > _MOST_ELEMENTS:
        c.unsupported(f"an initial value of more than {_MOST_ELEMENTS} elements is", span)
    return Aggregate(span, t, items)


def _is_zero(e: Expr) -> bool:
    if isinstance(e, FloatConst):
        return str(e.value) == "0.0"  # and not -0.0
    return (
        isinstance(e, Zero) or (isinstance(e, IntConst) and e.value == 0) or (isinstance(e, Aggregate) and not e.items)
    )


@dataclass(slots=True)
class _Items:
    """A cursor over the items of one brace level, which elided inner braces share."""

    items: list[syntax.InitializerItem]
    at: int = 0

    def peek(self) -> syntax.InitializerItem | None:
        return self.items[self.at] if self.at < len(self.items) else None


def _braced(c: Context, t: Type, node: syntax.InitializerList) -> tuple[Type, Expr]:
    if isinstance(t, ArrayType) and len(node.items) == 1 and not node.items[0].designators:
        inner = node.items[0].value
        text = _string(inner) if isinstance(inner, syntax.Expression) else None
        if text is not None and t.element in (CHAR, UCHAR):
            return _from_string(c, t, text)
    if isinstance(t, RecordType) and t in c.broken:
        c.abandon()
    cursor = _Items(list(node.items))
    result = _fill(c, t, cursor, node.span, designators=True)
    extra = cursor.peek()
    if extra is not None:
        c.fail("invalid-initializer", f"more initial values than '{t}' holds", extra.span)
    return result.type, result


def _fill(c: Context, t: Type, cursor: _Items, span: Span, *, designators: bool) -> Aggregate:
    """Takes the values that an aggregate needs; stops at a designator that belongs to the level above."""
    values: dict[int, Expr] = {}
    position, highest = 0, 0
    limit = _limit(t)
    while (item := cursor.peek()) is not None:
        if item.designators:
            if not designators:
                break
            position = _designated(c, t, item.designators)
            if isinstance(t, RecordType) and t.kind == "union":
                values.clear()  # only one member has a value: the last one named
        elif position >= limit:
            break
        inner_type = _part(t, position)
        with c.recover():
            values[position] = _next(c, inner_type, cursor, item)
        cursor.at += 1 if cursor.peek() is item else 0
        position += 1
        highest = max(highest, position)
        if isinstance(t, RecordType) and t.kind == "union":
            position = limit
    if isinstance(t, ArrayType) and t.size is None:
        t = ArrayType(t.element, highest)
    assert isinstance(t, (ArrayType, RecordType))
    return _aggregate(c, span, t, sorted(values.items(), key=lambda item: item[0]))


def _limit(t: Type) -> int:
    if isinstance(t, ArrayType):
        return (1 << 40) if t.size is None else t.size
    assert isinstance(t, RecordType)
    return min(len(t.fields or ()), 1) if t.kind == "union" else len(t.fields or ())


def _part(t: Type, position: int) -> Type:
    if isinstance(t, ArrayType):
        return t.element
    assert isinstance(t, RecordType) and t.fields is not None
    return t.fields[position].type


def _designated(c: Context, t: Type, designators: list[syntax.Designator]) -> int:
    if len(designators) > 1:
        c.unsupported("a designator of more than one step is", designators[1].span)
    first = designators[0]
    if isinstance(first, syntax.FieldDesignator):
        index = t.index_of(first.name) if isinstance(t, RecordType) else None
        if index is None:
            c.fail("no-member", f"'{t}' has no member '{first.name}'", first.span)
        return index
    from .declarations import integer_constant

    if not isinstance(t, ArrayType):
        c.fail("invalid-initializer", f"'{t}' is not an array", first.span)
    index = integer_constant(c, first.index, "an index in an initialiser")
    if not 0 <= index < _limit(t):
        c.fail("invalid-initializer", f"index {index} is outside of '{t}'", first.span)
    return index


def _next(c: Context, t: Type, cursor: _Items, item: syntax.InitializerItem) -> Expr:
    """The value of one part: braced, a single expression, or the following items where inner braces are left out."""
    node = item.value
    if isinstance(node, syntax.InitializerList):
        return initialize(c, t, node)[1]
    if not isinstance(t, (ArrayType, RecordType)) or isinstance(t, CoopMatrixType):
        return value(c, t, node, "initialisation")
    if _string(node) is not None and isinstance(t, ArrayType) and t.element in (CHAR, UCHAR):
        return initialize(c, t, node)[1]
    if isinstance(t, RecordType):
        from .expressions import analyse

        whole = analyse(c, node)
        if whole.type == t:
            return assign_convert(c, whole, t, node.span, "initialisation")
    if item.designators:
        cursor.items[cursor.at] = syntax.InitializerItem(item.span, [], node)
    return _fill(c, t, cursor, node.span, designators=False)


def zero(span: Span, t: Type) -> Expr:
    assert not isinstance(t, VoidType)
    return Zero(span, t)


def is_constant(e: Expr) -> bool:
    """Whether the value is known when the program is built (initialisers of static objects)."""
    from ..typed import AddressOf, Convert, Index, Member, PointerAdd, VarRef

    if isinstance(e, (IntConst, FloatConst, Zero, StringConst)):
        return True
    if isinstance(e, Aggregate):
        return all(is_constant(item) for _, item in e.items)
    if isinstance(e, VectorLiteral):
        return all(is_constant(item) for item in e.items)
    if isinstance(e, Convert):
        return is_constant(e.operand)
    if isinstance(e, AddressOf):
        return is_constant(e.operand)
    if isinstance(e, PointerAdd):
        return is_constant(e.pointer) and is_constant(e.index)
    if isinstance(e, VarRef):
        return e.decl.storage == "static"
    if isinstance(e, Index):
        return is_constant(e.base) and is_constant(e.index)
    return isinstance(e, Member) and isinstance(e, LValue) and is_constant(e.base)
