"""The abstract syntax of OpenCL C as the parser produces it: without types, and with names that are not resolved.

Every node has the `Span` of its source text. Declarators are flat: `modifiers` lists what is applied to the name,
reading outwards, so `int *a[3]` has [ArrayModifier, PointerModifier].
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
    """Adjacent literals, to be concatenated by the reader of `texts` (each with its quotes)."""

    texts: list[str]


class Identifier(Expression):
    name: str


class Paren(Expression):
    """Parentheses, which are a node because `(float4)(a, b, c, d)` is a vector literal and not a cast of a comma
    expression."""

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
    """`=` or a compound assignment; `op` is spelled with its `=`."""

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
    """`base.name`, or `base->name` where `arrow`; also vector swizzles."""

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
    """`sizeof`, `_Alignof`, `vec_step` of a type or an unevaluated expression; `op` is the keyword."""

    op: str
    operand: Expression | TypeName


class Association(Node):
    """`type: value` in a generic selection; `default: value` where there is no type."""

    type_name: TypeName | None
    value: Expression


class GenericSelection(Expression):
    """`_Generic(control, associations)`; the control is not evaluated."""

    control: Expression
    associations: list[Association]


class FieldDesignator(Node):
    name: str


class IndexDesignator(Node):
    """`[index]`, or GNU C's `[index ... last]`."""

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
    """One entry of `__attribute__((...))`; arguments are None without parentheses."""

    name: str
    arguments: list[Expression] | None


class Word(Node):
    """A keyword or typedef name inside specifiers: storage class, qualifier, type word."""

    text: str


class MemberDeclarator(Node):
    declarator: Declarator
    bit_width: Expression | None


class MemberDeclaration(Node):
    specifiers: Specifiers
    declarators: list[MemberDeclarator]


class StructSpecifier(Node):
    """`struct` or `union` (in `kind`); `members` is None without a body."""

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
    """Declaration specifiers, sorted by kind, in source order within each.

    storage: typedef extern static auto register; qualifiers: const volatile restrict, address spaces and access
    qualifiers without their underscores; functions: inline kernel _Noreturn; type_words: builtin type keywords.
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
    """A declarator; `span` is that of its name if it has one. `attributes` are those after the declarator."""

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
    """`#pragma` or `_Pragma`: the text after the word, whitespace normalised to single blanks."""

    text: str


class FunctionDefinition(Node):
    """A function definition; `span` covers the head, and the body has its own."""

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
    """A block; `end` is the closing brace."""

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
    """`case value:`, or GNU C's `case value ... last:`; `default:` where value is None. `body` is the statement that
    follows the label."""

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
    """A statement with attributes in front of it, such as opencl_unroll_hint on a loop."""

    attributes: list[Attribute]
    body: Statement


# --- printing ------------------------------------------------------------------------------------


def dump(root: Node) -> str:
    """Return an indented tree: one node a line with its start position, plain fields beside the node's name."""
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
