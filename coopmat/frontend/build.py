"""What the parser does when it recognises a rule: one method a rule, each makes its node of the AST.

Methods get the values of the rule's symbols in order: tokens for terminals. `Scopes` holds which names are types.
"""

from __future__ import annotations

from typing import Any

from ..diagnostics import Span
from . import syntax as ast
from .tokens import Token
from .words import TYPE_NAMES, plain

#: Binary operators by binding strength (C99, 6.5.5 to 6.5.14); all associate to the left.
_LEVELS = ("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %")
PRECEDENCE = {op: level for level, ops in enumerate(_LEVELS) for op in ops.split()}


def join(first: Span, last: Span) -> Span:
    """From the start of one span to the end of the other; the first alone where macros put them out of order."""
    if first is last:
        return first
    line, column, end_line, end_column = first.line, first.column, last.end_line, last.end_column
    if first.file != last.file or end_line < line or (end_line == line and end_column <= column):
        return first
    return Span(first.file, line, column, end_line, end_column)


#: Longest chain of postfix operators, and most modifiers of one declarator.
LONGEST_CHAIN = 256


class TooDeep(Exception):
    """Raised where nesting passes a limit; the parser reports it at `span` and stops."""

    def __init__(self, span: Span) -> None:
        self.span = span
        super().__init__()


class Scopes:
    """Which names are types, innermost scope last. Only names that are a type somewhere are kept."""

    def __init__(self) -> None:
        self.names: list[dict[str, bool]] = [{}]
        self.marks: list[int] = []
        self.known = set(TYPE_NAMES)

    def push(self, depth: int) -> None:
        """Open a scope that lives while the parser's stack is deeper than `depth`."""
        self.names.append({})
        self.marks.append(depth)

    def pop(self) -> None:
        self.names.pop()
        self.marks.pop()

    def unwind(self, depth: int) -> None:
        """Close the scopes that the parser's stack, cut to `depth`, is no longer in."""
        while self.marks and self.marks[-1] >= depth:
            self.pop()

    def declare(self, name: str, is_type: bool) -> None:
        if is_type:
            self.known.add(name)
        if name in self.known:
            self.names[-1][name] = is_type

    def is_type(self, name: str) -> bool:
        if name not in self.known:
            return False
        for scope in reversed(self.names):
            if name in scope:
                return scope[name]
        return name in TYPE_NAMES

    def is_builtin(self, name: str) -> bool:
        return name in TYPE_NAMES and not any(name in scope for scope in self.names)

    def all_types(self) -> list[str]:
        return [name for name in self.known if self.is_type(name)]


class ForHead:
    """`for (`, until its loop is complete."""

    __slots__ = ("opener", "span")

    def __init__(self, keyword: Token, opener: Token) -> None:
        self.span, self.opener = keyword.span, opener


class Chain:
    """Operands and operators of one expression; what binds tighter than the next operator is already combined."""

    __slots__ = ("nodes", "operators")

    def __init__(self, first: ast.Expression) -> None:
        self.nodes = [first]
        self.operators: list[Token] = []

    def add(self, operator: Token, operand: ast.Expression) -> None:
        self.fold(PRECEDENCE[operator.value])
        self.operators.append(operator)
        self.nodes.append(operand)

    def fold(self, lowest: int) -> ast.Expression:
        """Combine from the right while the operators bind at least that tight."""
        nodes, operators = self.nodes, self.operators
        while operators and PRECEDENCE[operators[-1].value] >= lowest:
            right, operator, left = nodes.pop(), operators.pop(), nodes.pop()
            nodes.append(ast.Binary(join(left.span, right.span), operator.value, _span(operator), left, right))
        return nodes[-1]


def _span(token: Token) -> Span:
    span = token.span
    assert span is not None
    return span


class ListBuilder:
    """The rules that only collect or pick values. `semicolons` are those that stand alone outside of functions."""

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
            self.semicolons.append(_span(parts[0]))


class ExpressionBuilder(ListBuilder):
    """Expressions and initializers.

    `depths` tells how many postfix operators end in a node, with the node, so that its id stays its own.
    """

    depths: dict[int, tuple[ast.Expression, int]]

    def _postfix(self, base: ast.Expression, node: ast.Expression) -> ast.Expression:
        known = self.depths.get(id(base))
        depth = known[1] + 1 if known else 1
        if depth > LONGEST_CHAIN:
            raise TooDeep(node.span)
        self.depths[id(node)] = node, depth
        return node

    def identifier(self, name: Token) -> ast.Identifier:
        return ast.Identifier(_span(name), name.value)

    def integer(self, token: Token) -> ast.IntegerLiteral:
        return ast.IntegerLiteral(_span(token), token.value)

    def floating(self, token: Token) -> ast.FloatLiteral:
        return ast.FloatLiteral(_span(token), token.value)

    def character(self, token: Token) -> ast.CharLiteral:
        return ast.CharLiteral(_span(token), token.value)

    def string(self, token: Token) -> ast.StringLiteral:
        return ast.StringLiteral(_span(token), [token.value])

    def more_string(self, strings: ast.StringLiteral, token: Token) -> ast.StringLiteral:
        strings.texts.append(token.value)
        strings.span = join(strings.span, _span(token))
        return strings

    def paren(self, opener: Token, inner: ast.Expression, closer: Token) -> ast.Paren:
        return ast.Paren(join(_span(opener), _span(closer)), inner)

    def statement_expression(self, opener: Token, body: ast.Compound, closer: Token) -> ast.StatementExpression:
        return ast.StatementExpression(join(_span(opener), _span(closer)), body)

    def subscript(self, base: ast.Expression, _: Token, index: ast.Expression, closer: Token) -> ast.Expression:
        return self._postfix(base, ast.Subscript(join(base.span, _span(closer)), base, index))

    def call(self, callee: ast.Expression, _: Token, closer: Token) -> ast.Expression:
        return self._postfix(callee, ast.Call(join(callee.span, _span(closer)), callee, []))

    def call_arguments(
        self, callee: ast.Expression, _: Token, arguments: list[ast.Expression], closer: Token
    ) -> ast.Expression:
        return self._postfix(callee, ast.Call(join(callee.span, _span(closer)), callee, arguments))

    def member_access(self, base: ast.Expression, operator: Token, name: Token) -> ast.Expression:
        span = _span(name)
        member = ast.Member(join(base.span, span), base, name.value, span, operator.value == "->")
        return self._postfix(base, member)

    def postfix(self, operand: ast.Expression, operator: Token) -> ast.Expression:
        return self._postfix(operand, ast.Postfix(join(operand.span, _span(operator)), operator.value, operand))

    def unary(self, operator: Token, operand: ast.Expression) -> ast.Unary:
        return ast.Unary(join(_span(operator), operand.span), operator.value, operand)

    def sizeof(self, keyword: Token, operand: ast.Expression) -> ast.SizeOf:
        return ast.SizeOf(join(_span(keyword), operand.span), keyword.value, operand)

    def sizeof_type(self, keyword: Token, _: Token, type_name: ast.TypeName, closer: Token) -> ast.SizeOf:
        return ast.SizeOf(join(_span(keyword), _span(closer)), keyword.value, type_name)

    def cast(self, opener: Token, type_name: ast.TypeName, _: Token, operand: ast.Expression) -> ast.Cast:
        return ast.Cast(join(_span(opener), operand.span), type_name, operand)

    def compound_literal(
        self, opener: Token, type_name: ast.TypeName, _: Token, initializer: ast.InitializerList
    ) -> ast.CompoundLiteral:
        return ast.CompoundLiteral(join(_span(opener), initializer.span), type_name, initializer)

    def chain(self, left: ast.Expression | Chain, operator: Token, right: ast.Expression) -> Chain:
        chain = left if isinstance(left, Chain) else Chain(left)
        chain.add(operator, right)
        return chain

    def finish_chain(self, value: ast.Expression | Chain) -> ast.Expression:
        return value.fold(0) if isinstance(value, Chain) else value

    def conditional(
        self, condition: ast.Expression, _: Token, then: ast.Expression, __: Token, otherwise: ast.Expression
    ) -> ast.Conditional:
        return ast.Conditional(join(condition.span, otherwise.span), condition, then, otherwise)

    def short_conditional(
        self, condition: ast.Expression, _: Token, __: Token, otherwise: ast.Expression
    ) -> ast.Conditional:
        return ast.Conditional(join(condition.span, otherwise.span), condition, None, otherwise)

    def assign(self, target: ast.Expression, operator: Token, value: ast.Expression) -> ast.Assign:
        return ast.Assign(join(target.span, value.span), operator.value, _span(operator), target, value)

    def comma(self, items: list[ast.Expression]) -> ast.Comma:
        return ast.Comma(join(items[0].span, items[-1].span), items)

    def type_argument(self, type_name: ast.TypeName) -> ast.TypeArgument:
        return ast.TypeArgument(type_name.span, type_name)

    def braced_empty(self, opener: Token, closer: Token) -> ast.InitializerList:
        return ast.InitializerList(join(_span(opener), _span(closer)), [])

    def braced(self, opener: Token, items: list[ast.InitializerItem], _: None, closer: Token) -> ast.InitializerList:
        return ast.InitializerList(join(_span(opener), _span(closer)), items)

    def item(self, value: ast.Initializer) -> ast.InitializerItem:
        return ast.InitializerItem(value.span, [], value)

    def designated(self, designators: list[ast.Designator], _: Token, value: ast.Initializer) -> ast.InitializerItem:
        return ast.InitializerItem(join(designators[0].span, value.span), designators, value)

    def index_designator(self, opener: Token, index: ast.Expression, closer: Token) -> ast.IndexDesignator:
        return ast.IndexDesignator(join(_span(opener), _span(closer)), index)

    def range_designator(
        self, opener: Token, first: ast.Expression, _: Token, last: ast.Expression, closer: Token
    ) -> ast.IndexDesignator:
        return ast.IndexDesignator(join(_span(opener), _span(closer)), first, last)

    def generic_selection(
        self,
        keyword: Token,
        _: Token,
        control: ast.Expression,
        __: Token,
        associations: list[ast.Association],
        closer: Token,
    ) -> ast.GenericSelection:
        return ast.GenericSelection(join(_span(keyword), _span(closer)), control, associations)

    def association(self, type_name: ast.TypeName, _: Token, value: ast.Expression) -> ast.Association:
        return ast.Association(join(type_name.span, value.span), type_name, value)

    def default_association(self, keyword: Token, _: Token, value: ast.Expression) -> ast.Association:
        return ast.Association(join(_span(keyword), value.span), None, value)

    def field_designator(self, dot: Token, name: Token) -> ast.FieldDesignator:
        return ast.FieldDesignator(join(_span(dot), _span(name)), name.value)


class StatementBuilder(ExpressionBuilder):
    """Statements. `scopes` and the parser's `states` are shared with the parser."""

    scopes: Scopes
    states: list[int]

    def block_open(self, opener: Token) -> Token:
        self.scopes.push(len(self.states))
        return opener

    def block(self, opener: Token, items: list[ast.BlockItem], closer: Token) -> ast.Compound:
        self.scopes.pop()
        return ast.Compound(join(_span(opener), _span(closer)), items, _span(closer))

    def empty_statement(self, semicolon: Token) -> ast.ExpressionStatement:
        return ast.ExpressionStatement(_span(semicolon), None)

    def error_statement(self, error: Token) -> ast.ExpressionStatement:
        return ast.ExpressionStatement(_span(error), None)

    def expression_statement(self, expression: ast.Expression, semicolon: Token) -> ast.ExpressionStatement:
        return ast.ExpressionStatement(join(expression.span, _span(semicolon)), expression)

    def label(self, name: Token, _: Token, body: ast.Statement) -> ast.Label:
        return ast.Label(join(_span(name), body.span), name.value, body)

    def case(self, keyword: Token, value: ast.Expression, _: Token, body: ast.Statement) -> ast.Case:
        return ast.Case(join(_span(keyword), body.span), value, body)

    def case_range(
        self, keyword: Token, first: ast.Expression, _: Token, last: ast.Expression, __: Token, body: ast.Statement
    ) -> ast.Case:
        return ast.Case(join(_span(keyword), body.span), first, body, last)

    def default(self, keyword: Token, _: Token, body: ast.Statement) -> ast.Case:
        return ast.Case(join(_span(keyword), body.span), None, body)

    def if_(self, keyword: Token, _: Token, condition: ast.Expression, __: Token, then: ast.Statement) -> ast.If:
        return ast.If(join(_span(keyword), then.span), condition, then, None)

    def if_else(
        self,
        keyword: Token,
        _: Token,
        condition: ast.Expression,
        __: Token,
        then: ast.Statement,
        ___: Token,
        otherwise: ast.Statement,
    ) -> ast.If:
        return ast.If(join(_span(keyword), otherwise.span), condition, then, otherwise)

    def switch(self, keyword: Token, _: Token, value: ast.Expression, __: Token, body: ast.Statement) -> ast.Switch:
        return ast.Switch(join(_span(keyword), body.span), value, body)

    def while_(self, keyword: Token, _: Token, condition: ast.Expression, __: Token, body: ast.Statement) -> ast.While:
        return ast.While(join(_span(keyword), body.span), condition, body)

    def do_while(
        self, keyword: Token, body: ast.Statement, _: Token, __: Token, condition: ast.Expression, *rest: Token
    ) -> ast.DoWhile:
        return ast.DoWhile(join(_span(keyword), _span(rest[-1])), body, condition)

    def for_open(self, keyword: Token, opener: Token) -> ForHead:
        self.scopes.push(len(self.states))
        return ForHead(keyword, opener)

    def for_(
        self,
        head: ForHead,
        init: ast.Expression | None,
        _: Token,
        condition: ast.Expression | None,
        __: Token,
        step: ast.Expression | None,
        ___: Token,
        body: ast.Statement,
    ) -> ast.For:
        return self._for(head, init, condition, step, body)

    def for_declaration(
        self,
        head: ForHead,
        init: ast.Declaration,
        condition: ast.Expression | None,
        _: Token,
        step: ast.Expression | None,
        __: Token,
        body: ast.Statement,
    ) -> ast.For:
        return self._for(head, init, condition, step, body)

    def _for(
        self,
        head: ForHead,
        init: ast.Declaration | ast.Expression | None,
        condition: ast.Expression | None,
        step: ast.Expression | None,
        body: ast.Statement,
    ) -> ast.For:
        self.scopes.pop()
        assert head.span is not None
        return ast.For(join(head.span, body.span), init, condition, step, body)

    def goto(self, keyword: Token, name: Token, semicolon: Token) -> ast.Goto:
        return ast.Goto(join(_span(keyword), _span(semicolon)), name.value)

    def break_(self, keyword: Token, semicolon: Token) -> ast.Break:
        return ast.Break(join(_span(keyword), _span(semicolon)))

    def continue_(self, keyword: Token, semicolon: Token) -> ast.Continue:
        return ast.Continue(join(_span(keyword), _span(semicolon)))

    def return_(self, keyword: Token, value: ast.Expression | None, semicolon: Token) -> ast.Return:
        return ast.Return(join(_span(keyword), _span(semicolon)), value)

    def attributed_statement(self, attributes: list[ast.Attribute], body: ast.Statement) -> ast.Attributed:
        return ast.Attributed(join(attributes[0].span, body.span) if attributes else body.span, attributes, body)

    def pragma(self, token: Token) -> ast.Pragma:
        return ast.Pragma(_span(token), token.value)

    def pragma_body(self, token: Token, body: ast.Statement) -> ast.Compound:
        """A pragma and the statement it is about, as a block."""
        return ast.Compound(join(_span(token), body.span), [self.pragma(token), body], body.span)

    def static_assert(
        self, keyword: Token, _: Token, condition: ast.Expression, __: Token, semicolon: Token
    ) -> ast.StaticAssert:
        return ast.StaticAssert(join(_span(keyword), _span(semicolon)), condition, None)

    def static_assert_message(
        self,
        keyword: Token,
        _: Token,
        condition: ast.Expression,
        __: Token,
        message: ast.StringLiteral,
        ___: Token,
        semicolon: Token,
    ) -> ast.StaticAssert:
        return ast.StaticAssert(join(_span(keyword), _span(semicolon)), condition, message)


def word(token: Token, text: str) -> ast.Word:
    return ast.Word(_span(token), text)


def plain_word(token: Token) -> ast.Word:
    return ast.Word(_span(token), plain(token.value))
