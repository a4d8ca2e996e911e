"""Initialisers: braces, designators, brace elision, strings (C11 6.7.9)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...diagnostics import Span
from ...matrix_types.sema import refuse_list
from .. import syntax
from ..typed import (
    AddressOf,
    Aggregate,
    Convert,
    Expr,
    FloatConst,
    Index,
    IntConst,
    LValue,
    MatrixBroadcast,
    Member,
    PointerAdd,
    StringConst,
    VarRef,
    VectorLiteral,
    Zero,
)
from ..types import (
    CHAR,
    UCHAR,
    ArrayType,
    AtomicType,
    ConstantMatrixType,
    CoopMatrixType,
    RecordType,
    Type,
    VectorType,
    VoidType,
    element_count,
)
from .context import MOST_ELEMENTS, Context
from .conversions import assign_convert
from .matrices.targets import needs_target
from .values import integer_constant, rvalue, vector_components


def initialize(c: Context, t: Type, node: syntax.Initializer) -> tuple[Type, Expr]:
    """Return the type of an initialised object, with an open array size filled in, and its typed initial value.

    `t` is the declared type.
    """
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
    """Return `node` converted to `t` for `what` (initialisation, argument, ...)."""
    if isinstance(t, AtomicType):
        t = t.value
    return assign_convert(c, c.analyse(node, t), t, node.span, what)


def _scalar_in_braces(c: Context, t: Type, node: syntax.InitializerList) -> Expr:
    if isinstance(t, VectorType):
        return _vector_in_braces(c, t, node)
    if isinstance(t, ConstantMatrixType):
        refuse_list(c, t, node)
    if len(node.items) != 1 or node.items[0].designators:
        c.fail("invalid-initializer", f"'{t}' takes exactly one initial value", node.span)
    initializer = node.items[0].value
    if isinstance(initializer, syntax.InitializerList):
        c.fail("invalid-initializer", f"too many braces around the initial value of '{t}'", initializer.span)
    return value(c, t, initializer, "initialisation")


def _vector_in_braces(c: Context, t: VectorType, node: syntax.InitializerList) -> Expr:
    """Analyse a braced vector: scalars and vectors that add up.

    clang accepts this; the specification has only vector literals.
    """
    items: list[Expr] = []
    for item in node.items:
        if item.designators or isinstance(item.value, syntax.InitializerList):
            c.fail("invalid-initializer", f"'{t}' takes scalars and vectors only", item.span)
        part = rvalue(c.analyse(item.value))
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
    text = c.analyse(node)
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


def _aggregate(c: Context, span: Span, t: ArrayType | RecordType, items: list[tuple[int, Expr]]) -> Aggregate:
    """Return an aggregate value; if all items are zero, it has no items."""
    if all(_is_zero(item) for _, item in items):
        return Aggregate(span, t, [])
    if isinstance(t, ArrayType) and (t.size or 0) > MOST_ELEMENTS:
        c.unsupported(f"an initial value of more than {MOST_ELEMENTS} elements is", span)
    return Aggregate(span, t, items)


def _is_zero(e: Expr) -> bool:
    if isinstance(e, FloatConst):
        return str(e.value) == "0.0"  # -0.0 is not a zero
    return (
        isinstance(e, Zero) or (isinstance(e, IntConst) and e.value == 0) or (isinstance(e, Aggregate) and not e.items)
    )


@dataclass(slots=True)
class _Items:
    """A cursor over the items of one brace level, which aggregates with elided braces share.

    `entered`: whether the designators of the next item have been processed already.
    """

    items: list[syntax.InitializerItem]
    at: int = 0
    entered: bool = False

    def peek(self) -> syntax.InitializerItem | None:
        return self.items[self.at] if self.at < len(self.items) else None


def _braced(c: Context, t: Type, node: syntax.InitializerList) -> tuple[Type, Expr]:
    if isinstance(t, ArrayType) and len(node.items) == 1 and not node.items[0].designators:
        initializer = node.items[0].value
        text = _string(initializer) if isinstance(initializer, syntax.Expression) else None
        if text is not None and t.element in (CHAR, UCHAR):
            return _from_string(c, t, text)
    if isinstance(t, RecordType) and t in c.broken:
        c.abandon()
    cursor, level = _Items(list(node.items)), _Level(t)
    while (item := cursor.peek()) is not None:
        before = cursor.at
        _fill(c, level, cursor, item.designators)
        if cursor.at == before:
            c.warn("excess-initializers", f"more initial values than '{t}' holds", item.span)
            break
    result = level.value(c, node.span)
    return result.type, result


class _Level:
    """An aggregate whose values are being collected.

    parts: position -> value, or the level of an aggregate part whose values are collected one by one.
    position: the position of the next value.
    """

    __slots__ = ("parts", "position", "type")

    def __init__(self, t: Type) -> None:
        self.type = t
        self.parts: dict[int, Expr | _Level] = {}
        self.position = 0

    def put(self, position: int, part: Expr | _Level) -> None:
        if isinstance(self.type, RecordType) and self.type.kind == "union":
            self.parts.clear()  # only the last named member of a union has a value
        self.parts[position] = part
        self.position = position + 1
        if isinstance(self.type, RecordType) and self.type.kind == "union":
            self.position = _limit(self.type)

    def level(self, c: Context, position: int, span: Span) -> _Level:
        """Return the part at a position as a level whose values can be collected."""
        part = self.parts.get(position)
        if isinstance(part, _Level):
            return part
        level = _Level(_part(self.type, position))
        if isinstance(part, Aggregate):
            level.parts.update(part.items)
        elif part is not None:
            c.unsupported("a designator into a part that already has a value is", span)
        self.put(position, level)
        return level

    def value(self, c: Context, span: Span) -> Aggregate:
        values = [(i, p.value(c, span) if isinstance(p, _Level) else p) for i, p in sorted(self.parts.items())]
        t = self.type
        if isinstance(t, ArrayType) and t.size is None:
            t = ArrayType(t.element, max(self.parts, default=-1) + 1)
        assert isinstance(t, (ArrayType, RecordType))
        return _aggregate(c, span, t, values)


def _fill(c: Context, level: _Level, cursor: _Items, designators: list[syntax.Designator]) -> None:
    """Consume items from the position in the aggregate, up to its end or to the next item with designators.

    `designators` are the remaining designators of the first item and determine the position.
    """
    limit = _limit(level.type)
    while (item := cursor.peek()) is not None:
        if designators:
            level.position, last = _designated(c, level.type, designators[0])
        elif (item.designators and not cursor.entered) or level.position >= limit:
            break
        else:
            last = level.position
        cursor.entered = False
        rest, designators = _rest(level.type, designators), []
        if rest:
            if last != level.position:
                c.unsupported("a range of indices before another designator is", rest[0].span)
            position = level.position
            if not isinstance(_part(level.type, position), (ArrayType, RecordType)):
                c.fail("invalid-initializer", f"'{_part(level.type, position)}' has no members", rest[0].span)
            sublevel = level.level(c, position, rest[0].span)
            cursor.entered = True
            _fill(c, sublevel, cursor, rest)
            level.position = max(level.position, position + 1)
        else:
            _take(c, level, cursor, item, last)
    cursor.entered = False


def _take(c: Context, level: _Level, cursor: _Items, item: syntax.InitializerItem, last: int) -> None:
    """Store the value of the next item at the level's position, and at all positions up to `last`."""
    position, before = level.position, cursor.at
    level.position = last + 1
    with c.recover():
        value = _next(c, _part(level.type, position), cursor, item)
        for index in range(position, last + 1):
            level.put(index, value)
    cursor.at += 1 if cursor.at == before else 0


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


# A larger range would make a table with an entry for each element.
_LONGEST_RANGE = 65_536


def _designated(c: Context, t: Type, designator: syntax.Designator) -> tuple[int, int]:
    """Return the first and the last position that a designator names.

    For a member of an unnamed member, that is the position of the unnamed member.
    """
    if isinstance(designator, syntax.FieldDesignator):
        path = t.path_of(designator.name) if isinstance(t, RecordType) else None
        if path is None:
            c.fail("no-member", f"'{t}' has no member '{designator.name}'", designator.span)
        return path[0], path[0]
    if not isinstance(t, ArrayType):
        c.fail("invalid-initializer", f"'{t}' is not an array", designator.span)
    first = last = integer_constant(c, designator.index, "an index in an initialiser")
    if designator.last is not None:
        last = integer_constant(c, designator.last, "an index in an initialiser")
    for index in (first, last):
        if not 0 <= index < _limit(t):
            c.fail("invalid-initializer", f"index {index} is outside of '{t}'", designator.span)
    if last < first:
        c.fail("invalid-initializer", f"the range {first} ... {last} is empty", designator.span)
    if last - first >= _LONGEST_RANGE:
        c.unsupported(f"a range of more than {_LONGEST_RANGE} indices is", designator.span)
    return first, last


def _rest(t: Type, designators: list[syntax.Designator]) -> list[syntax.Designator]:
    """Return the designators after the first, or all if the first names a member of an unnamed member."""
    if not designators:
        return []
    first = designators[0]
    if isinstance(first, syntax.FieldDesignator) and isinstance(t, RecordType):
        path = t.path_of(first.name)
        if path is not None and len(path) > 1:
            return designators
    return designators[1:]


def _next(c: Context, t: Type, cursor: _Items, item: syntax.InitializerItem) -> Expr:
    """Return the value of one part: braced, one expression, or, if its braces are elided, the following items."""
    node = item.value
    if isinstance(node, syntax.InitializerList):
        return initialize(c, t, node)[1]
    if not isinstance(t, (ArrayType, RecordType)) or isinstance(t, CoopMatrixType):
        return value(c, t, node, "initialisation")
    if _string(node) is not None and isinstance(t, ArrayType) and t.element in (CHAR, UCHAR):
        return initialize(c, t, node)[1]
    if isinstance(t, RecordType) and not needs_target(c, node):
        whole = c.analyse(node)
        if whole.type == t:
            return assign_convert(c, whole, t, node.span, "initialisation")
    level = _Level(t)
    cursor.entered = True
    _fill(c, level, cursor, [])
    return level.value(c, node.span)


def zero(span: Span, t: Type) -> Expr:
    assert not isinstance(t, VoidType)
    return Zero(span, t)


def folded(e: Expr) -> Expr:
    """Return a static object's initial value with constant vectors folded and matrices expanded.

    Expressions that are not constant are unchanged.
    """
    if isinstance(e, Aggregate):
        return replace(e, items=[(i, folded(item)) for i, item in e.items])
    if isinstance(e, MatrixBroadcast) and isinstance(e.type, ConstantMatrixType) and is_constant(e.value):
        if _is_zero(e.value):
            return Zero(e.span, e.type)
        if e.type.storage_elements <= MOST_ELEMENTS:
            return Aggregate(e.span, e.type, [(i, e.value) for i in range(e.type.storage_elements)])
    components = vector_components(e) if isinstance(e.type, VectorType) else None
    return e if components is None else VectorLiteral(e.span, e.type, components)


def is_constant(e: Expr) -> bool:
    """Return whether an initial value of a static object is constant."""
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
