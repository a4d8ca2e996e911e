"""The abstract syntax of OpenCL C as the parser produces it: without types, and with unresolved names.

Every node has the `Span` of its source text. Declarators are flat: `modifiers` lists the modifiers of the name, reading
outwards, so that `int *a[3]` has [ArrayModifier, PointerModifier].
"""

from __future__ import annotations

from dataclasses import field, fields

from ..diagnostics import Span
from . import nodes
from .nodes import Node as Node

# --- expressions ---------------------------------------------------------------------------------


class Expression(Node):
    pass


class IntegerLiteral(Expression):
    text: str


class FloatLiteral(Expression):
    text: str


class CharLiteral(Expression):
    text: str


class StringLiteral(Expression):
    """Adjacent string literals; `texts` are their spellings, quotes included, in order."""

    texts: list[str]


class Identifier(Expression):
    name: str


class Paren(Expression):
    """A parenthesized expression.

    It is a node because `(float4)(a, b, c, d)` is a vector literal and not a cast of a comma expression.
    """

    inner: Expression


class Unary(Expression):
    """A prefix operator: `+ - ! ~ * & ++ --`."""

    op: str
    operand: Expression


class Postfix(Expression):
    """A postfix operator: `++ --`."""

    op: str
    operand: Expression


class Binary(Expression):
    op: str
    op_span: Span
    left: Expression
    right: Expression


class Assign(Expression):
    """An assignment; `op` is `=` or the spelling of a compound assignment, such as `+=`."""

    op: str
    op_span: Span
    target: Expression
    value: Expression


class Conditional(Expression):
    condition: Expression
    then: Expression | None
    otherwise: Expression


class StatementExpression(Expression):
    body: Compound


class Comma(Expression):
    items: list[Expression]


class TypeArgument(Expression):
    """A type in place of an argument: `coop_mat_length(M)`."""

    type_name: TypeName


class Call(Expression):
    callee: Expression
    arguments: list[Expression]


class Subscript(Expression):
    base: Expression
    index: Expression


class Member(Expression):
    """A member or a vector swizzle: `base.name`, or, if `arrow`, `base->name`."""

    base: Expression
    name: str
    name_span: Span
    arrow: bool


class Cast(Expression):
    type_name: TypeName
    operand: Expression


class CompoundLiteral(Expression):
    type_name: TypeName
    initializer: InitializerList


class SizeOf(Expression):
    """`sizeof`, `_Alignof` or `vec_step` of a type or an unevaluated expression; `op` is the keyword."""

    op: str
    operand: Expression | TypeName


class Association(Node):
    """An association `type: value` in a generic selection; `type_name` is None for `default: value`."""

    type_name: TypeName | None
    value: Expression


class GenericSelection(Expression):
    """`_Generic(control, associations)`; the control expression is not evaluated."""

    control: Expression
    associations: list[Association]


class FieldDesignator(Node):
    name: str


class IndexDesignator(Node):
    """A designator `[index]`, or GNU C's `[index ... last]`."""

    index: Expression
    last: Expression | None = None


Designator = FieldDesignator | IndexDesignator


class InitializerItem(Node):
    designators: list[Designator]
    value: Expression | InitializerList


class InitializerList(Node):
    items: list[InitializerItem]


Initializer = Expression | InitializerList


# --- types and declarations ----------------------------------------------------------------------


class Attribute(Node):
    """An entry of `__attribute__((...))`; `arguments` is None if there are no parentheses."""

    name: str
    arguments: list[Expression] | None


class Word(Node):
    """A storage class, qualifier, type keyword or typedef name among specifiers, or a qualifier of a declarator."""

    text: str


class MemberDeclarator(Node):
    declarator: Declarator
    bit_width: Expression | None


class MemberDeclaration(Node):
    specifiers: Specifiers
    declarators: list[MemberDeclarator]


class StructSpecifier(Node):
    """A `struct` or `union` (in `kind`); `members` is None if there is no body."""

    kind: str
    name: str | None
    members: list[MemberDeclaration] | None
    attributes: list[Attribute]


class Enumerator(Node):
    name: str
    value: Expression | None


class EnumSpecifier(Node):
    name: str | None
    enumerators: list[Enumerator] | None
    attributes: list[Attribute]


class Specifiers(Node):
    """Declaration specifiers, sorted by kind; the words of a kind are in source order.

    storage: typedef, extern, static, auto, register.
    qualifiers: const, volatile, restrict, address spaces and access qualifiers, without their underscores.
    functions: inline, kernel, _Noreturn.
    type_words: keywords of builtin types.
    """

    storage: list[Word] = field(default_factory=list)
    qualifiers: list[Word] = field(default_factory=list)
    functions: list[Word] = field(default_factory=list)
    type_words: list[Word] = field(default_factory=list)
    typedef_name: Word | None = None
    tag: StructSpecifier | EnumSpecifier | None = None
    attributes: list[Attribute] = field(default_factory=list)


class PointerModifier(Node):
    qualifiers: list[Word]
    attributes: list[Attribute]


class ArrayModifier(Node):
    qualifiers: list[Word]
    size: Expression | None


class FunctionModifier(Node):
    """A function declarator's parameter list; `parameters` is None for an old-style `()`."""

    parameters: list[Parameter] | None
    variadic: bool


Modifier = PointerModifier | ArrayModifier | FunctionModifier


class Declarator(Node):
    """A declarator; `span` is that of its name if there is one, and `attributes` are those after it."""

    name: str | None
    modifiers: list[Modifier]
    attributes: list[Attribute]


class Parameter(Node):
    specifiers: Specifiers
    declarator: Declarator


class TypeName(Node):
    specifiers: Specifiers
    declarator: Declarator


class InitDeclarator(Node):
    declarator: Declarator
    initializer: Initializer | None


class Declaration(Node):
    specifiers: Specifiers
    declarators: list[InitDeclarator]


class StaticAssert(Node):
    condition: Expression
    message: StringLiteral | None


class Pragma(Node):
    """A `#pragma` or `_Pragma`; `text` is the text after the word, with whitespace reduced to single blanks."""

    text: str


class FunctionDefinition(Node):
    """A function definition; `span` is that of the specifiers and the declarator."""

    specifiers: Specifiers
    declarator: Declarator
    body: Compound


ExternalDeclaration = Declaration | FunctionDefinition | StaticAssert | Pragma


class TranslationUnit(Node):
    declarations: list[ExternalDeclaration]


# --- statements ----------------------------------------------------------------------------------


class Statement(Node):
    pass


BlockItem = Declaration | Statement | StaticAssert | Pragma


class Compound(Statement):
    """A block; `end` is the span of the closing brace."""

    items: list[BlockItem]
    end: Span


class ExpressionStatement(Statement):
    """An expression statement; `expression` is None for a lone `;`."""

    expression: Expression | None


class If(Statement):
    condition: Expression
    then: Statement
    otherwise: Statement | None


class Switch(Statement):
    condition: Expression
    body: Statement


class While(Statement):
    condition: Expression
    body: Statement


class DoWhile(Statement):
    body: Statement
    condition: Expression


class For(Statement):
    init: Declaration | Expression | None
    condition: Expression | None
    step: Expression | None
    body: Statement


class Case(Statement):
    """A label `case value:` or GNU C's `case value ... last:`, or, if `value` is None, `default:`.

    `body` is the statement after the label.
    """

    value: Expression | None
    body: Statement
    last: Expression | None = None


class Label(Statement):
    name: str
    body: Statement


class Goto(Statement):
    label: str


class Break(Statement):
    pass


class Continue(Statement):
    pass


class Return(Statement):
    value: Expression | None


class Attributed(Statement):
    """A statement preceded by attributes, such as opencl_unroll_hint on a loop."""

    attributes: list[Attribute]
    body: Statement


# --- printing ------------------------------------------------------------------------------------


def dump(root: Node) -> str:
    """Return an indented tree: one node a line with its start position and those fields that hold no children."""
    return "\n".join(nodes.dump(root, 0, _head)) + "\n"


def _head(value: object) -> str | None:
    if isinstance(value, list):
        words = all(isinstance(item, Word) for item in value)
        return " ".join(item.text for item in value) if words else None
    assert isinstance(value, Node)
    text = f"{type(value).__name__} <{value.span.line}:{value.span.column}>"
    of_children = nodes.child_fields(type(value))
    for item in fields(value):
        content = getattr(value, item.name)
        if item.name not in of_children and not isinstance(content, Span) and content is not None:
            text += f" {item.name}={content!r}"
    return text
