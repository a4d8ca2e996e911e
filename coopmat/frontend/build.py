"""The parser's semantic actions for expressions and statements.

A rule that only makes an AST node has a table row, which `node` or `leaf` makes; every other rule has a method, which
is called when the rule is reduced. Both receive the values of the rule's symbols in order; the value of a terminal is
its token. `Scopes` records which names are types.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

from ..diagnostics import Span
from . import syntax as ast
from .tokens import Token
from .words import PRECEDENCE, TYPE_NAMES

# Calling `tuple.__new__` directly takes half the time of calling Span, and every AST node needs a span.
_new = tuple.__new__


def join(first: Span, last: Span) -> Span:
    """Return the span from the start of `first` to the end of `last`.

    If macro expansion put the two spans out of order or in different files, return `first` alone.
    """
    if first is last:
        return first
    file, line, column, _, _ = first
    last_file, _, _, end_line, end_column = last
    if file != last_file or end_line < line or (end_line == line and end_column <= column):
        return first
    return _new(Span, (file, line, column, end_line, end_column))


#: The largest number of postfix operators in a row, and of modifiers (pointer, array, function) of one declarator.
LONGEST_CHAIN = 256


class TooDeep(Exception):
    """An exception that says that the nesting exceeds a limit; the parser reports an error at `span` and stops."""

    def __init__(self, span: Span) -> None:
        self.span = span
        super().__init__()


class Scopes:
    """A stack of scopes that records which names denote types; the innermost scope is last.

    Only names that denote a type in some scope are recorded.
    names: for each scope, name -> whether the name is a type in it.
    marks: for each scope but the outermost, the depth of the parser's stack at which the scope was opened.
    possible_types: every name that denotes a type in some scope.
    """

    def __init__(self) -> None:
        self.names: list[dict[str, bool]] = [{}]
        self.marks: list[int] = []
        self.possible_types = set(TYPE_NAMES)

    def push(self, depth: int) -> None:
        """Open a scope that is open as long as the parser's stack is deeper than `depth`."""
        self.names.append({})
        self.marks.append(depth)

    def pop(self) -> None:
        self.names.pop()
        self.marks.pop()

    def unwind(self, depth: int) -> None:
        """Close the scopes opened at a stack depth of at least `depth`, to which the parser's stack was cut."""
        while self.marks and self.marks[-1] >= depth:
            self.pop()

    def declare(self, name: str, is_type: bool) -> None:
        if is_type:
            self.possible_types.add(name)
        if name in self.possible_types:
            self.names[-1][name] = is_type

    def is_type(self, name: str) -> bool:
        if name not in self.possible_types:
            return False
        for scope in reversed(self.names):
            if name in scope:
                return scope[name]
        return name in TYPE_NAMES

    def is_builtin(self, name: str) -> bool:
        return name in TYPE_NAMES and not any(name in scope for scope in self.names)

    def all_types(self) -> list[str]:
        return [name for name in self.possible_types if self.is_type(name)]


class ForHead:
    """The tokens `for (`, kept on the value stack until the loop is complete."""

    __slots__ = ("opener", "span")

    def __init__(self, keyword: Token, opener: Token) -> None:
        self.span, self.opener = keyword.span, opener


class Chain:
    """The operands and operators of a chain of binary operators.

    `add` combines the operands of operators that bind tighter than the next operator.
    """

    __slots__ = ("nodes", "operators")

    def __init__(self, first: ast.Expression) -> None:
        self.nodes = [first]
        self.operators: list[Token] = []

    def add(self, operator: Token, operand: ast.Expression) -> None:
        self.fold(PRECEDENCE[operator.value])
        self.operators.append(operator)
        self.nodes.append(operand)

    def fold(self, lowest: int) -> ast.Expression:
        """Combine operands from the right while operators bind at least as tightly as `lowest`; return the last one."""
        nodes, operators = self.nodes, self.operators
        while operators and PRECEDENCE[operators[-1].value] >= lowest:
            right, operator, left = nodes.pop(), operators.pop(), nodes.pop()
            nodes.append(ast.Binary(join(left.span, right.span), operator.value, operator.span, left, right))
        return nodes[-1]


class Text(int):
    """The index of a symbol that is a token; the rule takes the token's text."""


def node(kind: Callable[..., ast.Node], *fields: int | type[list[Any]] | None) -> staticmethod[..., ast.Node]:
    """Return the table row of a rule that makes an AST node of class `kind`.

    Each field is the index of a symbol, None, or `list` for a new empty list. The node's span extends from the first
    symbol to the last.
    """
    getters = [_getter(field) for field in fields]
    if len(getters) == 1:
        only = getters[0]
        return staticmethod(lambda *symbols: kind(join(symbols[0].span, symbols[-1].span), only(symbols)))
    return staticmethod(
        lambda *symbols: kind(join(symbols[0].span, symbols[-1].span), *[get(symbols) for get in getters])
    )


def _getter(field: int | type[list[Any]] | None) -> Callable[[Any], Any]:
    if isinstance(field, Text):
        return lambda symbols: symbols[field].value
    if isinstance(field, int):
        return itemgetter(field)
    return lambda symbols: field and field()


def leaf(kind: Callable[[Span, str], ast.Node]) -> staticmethod[[Token], ast.Node]:
    """Return the table row of a rule whose only symbol is a token; the node gets the token's span and text."""
    return staticmethod(lambda token: kind(token.span, token.value))


class ListBuilder:
    """The semantic actions that only collect or select values.

    `semicolons` are the spans of the stray semicolons outside of functions.
    """

    semicolons: list[Span]

    def empty(self) -> list[Any]:
        return []

    def one(self, item: Any) -> list[Any]:
        return [item]

    def two(self, first: Any, _: Token, second: Any) -> list[Any]:
        return [first, second]

    def append(self, items: list[Any], item: Any) -> list[Any]:
        if item is not None:
            items.append(item)
        return items

    def append_after(self, items: list[Any], _: Token, item: Any) -> list[Any]:
        items.append(item)
        return items

    def first(self, value: Any, *_: Any) -> Any:
        return value

    def second(self, _: Any, value: Any, *__: Any) -> Any:
        return value

    def nothing(self, *parts: Any) -> None:
        if parts and isinstance(parts[0], Token) and parts[0].value == ";":
            self.semicolons.append(parts[0].span)


class ExpressionBuilder(ListBuilder):
    """The semantic actions of expressions and initializers.

    `depths` maps the id of a postfix expression to the expression and the number of nested postfix operators in it. The
    reference to the expression keeps the id from being reused.
    """

    depths: dict[int, tuple[ast.Expression, int]]

    identifier = leaf(ast.Identifier)
    integer = leaf(ast.IntegerLiteral)
    floating = leaf(ast.FloatLiteral)
    character = leaf(ast.CharLiteral)
    paren = node(ast.Paren, 1)
    statement_expression = node(ast.StatementExpression, 1)
    unary = node(ast.Unary, Text(0), 1)
    sizeof = node(ast.SizeOf, Text(0), 1)
    sizeof_type = node(ast.SizeOf, Text(0), 2)
    cast = node(ast.Cast, 1, 3)
    compound_literal = node(ast.CompoundLiteral, 1, 3)
    conditional = node(ast.Conditional, 0, 2, 4)
    short_conditional = node(ast.Conditional, 0, None, 3)
    type_argument = node(ast.TypeArgument, 0)
    braced_empty = node(ast.InitializerList, list)
    braced = node(ast.InitializerList, 1)
    item = node(ast.InitializerItem, list, 0)
    index_designator = node(ast.IndexDesignator, 1)
    range_designator = node(ast.IndexDesignator, 1, 3)
    field_designator = node(ast.FieldDesignator, Text(1))
    generic_selection = node(ast.GenericSelection, 2, 4)
    association = node(ast.Association, 0, 2)
    default_association = node(ast.Association, None, 2)

    def string(self, token: Token) -> ast.StringLiteral:
        return ast.StringLiteral(token.span, [token.value])

    def more_string(self, strings: ast.StringLiteral, token: Token) -> ast.StringLiteral:
        strings.texts.append(token.value)
        strings.span = join(strings.span, token.span)
        return strings

    def _postfix(self, base: ast.Expression, node: ast.Expression) -> ast.Expression:
        entry = self.depths.get(id(base))
        depth = entry[1] + 1 if entry else 1
        if depth > LONGEST_CHAIN:
            raise TooDeep(node.span)
        self.depths[id(node)] = node, depth
        return node

    def subscript(self, base: ast.Expression, _: Token, index: ast.Expression, closer: Token) -> ast.Expression:
        return self._postfix(base, ast.Subscript(join(base.span, closer.span), base, index))

    def call(self, callee: ast.Expression, _: Token, *parts: Any) -> ast.Expression:
        """Make a call; `parts` are the arguments (absent if there are none) and the closing parenthesis."""
        arguments = parts[0] if len(parts) > 1 else []
        return self._postfix(callee, ast.Call(join(callee.span, parts[-1].span), callee, arguments))

    def member_access(self, base: ast.Expression, operator: Token, name: Token) -> ast.Expression:
        span = name.span
        member = ast.Member(join(base.span, span), base, name.value, span, operator.value == "->")
        return self._postfix(base, member)

    def postfix(self, operand: ast.Expression, operator: Token) -> ast.Expression:
        return self._postfix(operand, ast.Postfix(join(operand.span, operator.span), operator.value, operand))

    def chain(self, left: ast.Expression | Chain, operator: Token, right: ast.Expression) -> Chain:
        chain = left if isinstance(left, Chain) else Chain(left)
        chain.add(operator, right)
        return chain

    def finish_chain(self, value: ast.Expression | Chain) -> ast.Expression:
        return value.fold(0) if isinstance(value, Chain) else value

    def assign(self, target: ast.Expression, operator: Token, value: ast.Expression) -> ast.Assign:
        return ast.Assign(join(target.span, value.span), operator.value, operator.span, target, value)

    def comma(self, items: list[ast.Expression]) -> ast.Comma:
        return ast.Comma(join(items[0].span, items[-1].span), items)

    def designated(self, designators: list[ast.Designator], _: Token, value: ast.Initializer) -> ast.InitializerItem:
        return ast.InitializerItem(join(designators[0].span, value.span), designators, value)


class StatementBuilder(ExpressionBuilder):
    """The semantic actions of statements.

    `scopes` and the stack of `states` are shared with the parser.
    """

    scopes: Scopes
    states: list[int]

    empty_statement = node(ast.ExpressionStatement, None)
    error_statement = node(ast.ExpressionStatement, None)
    expression_statement = node(ast.ExpressionStatement, 0)
    label = node(ast.Label, Text(0), 2)
    case = node(ast.Case, 1, 3)
    case_range = node(ast.Case, 1, 5, 3)
    default = node(ast.Case, None, 2)
    if_ = node(ast.If, 2, 4, None)
    if_else = node(ast.If, 2, 4, 6)
    switch = node(ast.Switch, 2, 4)
    while_ = node(ast.While, 2, 4)
    do_while = node(ast.DoWhile, 1, 4)
    goto = node(ast.Goto, Text(1))
    break_ = node(ast.Break)
    continue_ = node(ast.Continue)
    return_ = node(ast.Return, 1)
    static_assert = node(ast.StaticAssert, 2, None)
    static_assert_message = node(ast.StaticAssert, 2, 4)
    pragma = leaf(ast.Pragma)

    def block_open(self, opener: Token) -> Token:
        self.scopes.push(len(self.states))
        return opener

    def block(self, opener: Token, items: list[ast.BlockItem], closer: Token) -> ast.Compound:
        self.scopes.pop()
        return ast.Compound(join(opener.span, closer.span), items, closer.span)

    def for_open(self, keyword: Token, opener: Token) -> ForHead:
        self.scopes.push(len(self.states))
        return ForHead(keyword, opener)

    def for_(self, head: ForHead, init: ast.Declaration | ast.Expression | None, *rest: Any) -> ast.For:
        """Make a `for` loop; `rest` is the condition, the step and the body, with tokens between them.

        If `init` is a declaration, it includes the first of these tokens, the semicolon.
        """
        self.scopes.pop()
        condition, step, body = (part for part in rest if not isinstance(part, Token))
        return ast.For(join(head.span, body.span), init, condition, step, body)

    def attributed_statement(self, attributes: list[ast.Attribute], body: ast.Statement) -> ast.Attributed:
        return ast.Attributed(join(attributes[0].span, body.span) if attributes else body.span, attributes, body)

    def pragma_body(self, token: Token, body: ast.Statement) -> ast.Compound:
        """Make a block from a pragma and the statement that the pragma applies to."""
        pragma = ast.Pragma(token.span, token.value)
        return ast.Compound(join(token.span, body.span), [pragma, body], body.span)
