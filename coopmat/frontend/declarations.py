"""The parser's semantic actions for declarations: specifiers, tags, declarators, functions."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..diagnostics import Span
from . import syntax as ast
from .build import LONGEST_CHAIN, Scopes, StatementBuilder, Text, TooDeep, join, node
from .tokens import ID, Token
from .words import TERMINALS, plain

_LISTS = {"TYPE_WORD": "type_words", "QUALIFIER": "qualifiers", "STORAGE": "storage", "FUNCTION_WORD": "functions"}
#: keyword -> (field of `Specifiers` that lists the keyword, spelling of the keyword in that list).
_KEYWORDS = {word: (_LISTS[kind], plain(word)) for word, kind in TERMINALS.items() if kind in _LISTS}


class TagHead(NamedTuple):
    """The keyword `struct`, `union` or `enum`, with the attributes that follow it."""

    keyword: Token
    attributes: list[ast.Attribute]


class Builder(StatementBuilder):
    """The semantic actions of all grammar rules.

    `values` is the parser's value stack.
    """

    def __init__(self, scopes: Scopes, states: list[int], values: list[Any]) -> None:
        self.scopes, self.states, self.values = scopes, states, values
        self.depths = {}
        self.semicolons = []

    # --- specifiers ---

    def specifier(self, *parts: Any) -> ast.Specifiers:
        """Append a keyword, name, tag or list of attributes to a declaration's specifiers, and return the specifiers.

        `parts` is (item,) or (before, item), where `before` is the specifiers so far, or a list of attributes at the
        beginning. Unless `before` is specifiers, new ones are created.
        """
        item = parts[-1]
        if len(parts) == 1 or not parts[0]:
            specifiers = ast.Specifiers(item.span)
        elif isinstance(parts[0], list):
            specifiers = ast.Specifiers(parts[0][0].span, attributes=list(parts[0]))
        else:
            specifiers = parts[0]
        if isinstance(item, list):
            return _add_attributes(specifiers, item)
        if not isinstance(item, Token):
            specifiers.tag = item
        elif keyword := _KEYWORDS.get(item.value):
            name, text = keyword
            getattr(specifiers, name).append(ast.Word(item.span, text))
        elif self.scopes.is_builtin(item.value):
            specifiers.type_words.append(ast.Word(item.span, item.value))
        else:
            specifiers.typedef_name = ast.Word(item.span, item.value)
        specifiers.span = join(specifiers.span, item.span)
        return specifiers

    # --- attributes: one __attribute__ is a list of entries ---

    def more_attributes(self, all_entries: list[ast.Attribute], entries: list[ast.Attribute]) -> list[ast.Attribute]:
        return all_entries + entries

    def attribute(
        self, _: Token, __: Token, ___: Token, entries: list[ast.Attribute], *____: Token
    ) -> list[ast.Attribute]:
        return entries

    def entry(self, name: Token, *parts: Any) -> ast.Attribute:
        """Make an attribute from its name and, if parentheses follow, the arguments in them."""
        arguments = next((part for part in parts if isinstance(part, list)), [] if parts else None)
        return ast.Attribute(join(name.span, (name, *parts)[-1].span), _attribute_name(name), arguments)

    # --- struct, union, enum ---

    def tag_head(self, keyword: Token, attributes: list[ast.Attribute] | None = None) -> TagHead:
        return TagHead(keyword, attributes or [])

    def struct(self, head: TagHead, *parts: Any) -> ast.StructSpecifier:
        keyword, name, members = head.keyword, _tag_name(parts), _tag_body(parts)
        return ast.StructSpecifier(join(keyword.span, parts[-1].span), keyword.value, name, members, head.attributes)

    def enum(self, head: TagHead, *parts: Any) -> ast.EnumSpecifier:
        span = join(head.keyword.span, parts[-1].span)
        return ast.EnumSpecifier(span, _tag_name(parts), _tag_body(parts), head.attributes)

    bare_member = node(ast.MemberDeclaration, 0, list)
    member = node(ast.MemberDeclaration, 0, 1)
    member_declarator = node(ast.MemberDeclarator, 0, None)
    bit_field = node(ast.MemberDeclarator, 0, 2)

    def bit_field_attributes(
        self, declarator: ast.Declarator, colon: Token, width: ast.Expression, attributes: list[ast.Attribute]
    ) -> ast.Node:
        declarator.attributes += attributes
        return self.bit_field(declarator, colon, width)

    def unnamed_bit_field(self, colon: Token, width: ast.Expression) -> ast.Node:
        return self.bit_field(ast.Declarator(colon.span, None, [], []), colon, width)

    def enumerator(self, name: Token, *value: Any) -> ast.Enumerator:
        """Make an enumerator from its name and, if `=` follows, its value."""
        self.scopes.declare(name.value, is_type=False)
        return ast.Enumerator(join(name.span, (name, *value)[-1].span), name.value, value[-1] if value else None)

    # --- declarators: modifiers read outwards from the name ---

    name_declarator = node(ast.Declarator, Text(0), list, list)
    pointer = node(ast.PointerModifier, list, list)

    def attributed_declarator(self, declarator: ast.Declarator, attributes: list[ast.Attribute]) -> ast.Declarator:
        declarator.attributes += attributes
        return declarator

    def paren_attributes(
        self, _: Token, attributes: list[ast.Attribute], declarator: ast.Declarator, __: Token
    ) -> ast.Declarator:
        return self.attributed_declarator(declarator, attributes)

    def modified(self, declarator: ast.Declarator, modifier: ast.Modifier) -> ast.Declarator:
        declarator.modifiers.append(modifier)
        return _bounded(declarator)

    def pointer_declarator(self, pointers: list[ast.PointerModifier], declarator: ast.Declarator) -> ast.Declarator:
        declarator.modifiers.extend(reversed(pointers))
        return _bounded(declarator)

    def abstract_pointer(self, pointers: list[ast.PointerModifier]) -> ast.Declarator:
        span = join(pointers[0].span, pointers[-1].span)
        return _bounded(ast.Declarator(span, None, list(reversed(pointers)), []))

    def abstract_modifier(self, modifier: ast.Modifier) -> ast.Declarator:
        return ast.Declarator(modifier.span, None, [modifier], [])

    def pointer_qualifier(self, pointer: ast.PointerModifier, token: Token) -> ast.PointerModifier:
        pointer.qualifiers.append(_word(token))
        pointer.span = join(pointer.span, token.span)
        return pointer

    def pointer_attribute(self, pointer: ast.PointerModifier, attributes: list[ast.Attribute]) -> ast.PointerModifier:
        pointer.attributes += attributes
        return pointer

    def array(self, opener: Token, *parts: Any) -> ast.ArrayModifier:
        """Make an array modifier from its parts.

        `parts` are the optional qualifiers or `*`, the optional size, and the closing bracket.
        """
        *content, closer = parts
        words = next((part for part in content if isinstance(part, list)), [p for p in content if isinstance(p, Token)])
        size = next((part for part in content if isinstance(part, ast.Expression)), None)
        return ast.ArrayModifier(join(opener.span, closer.span), [_word(token) for token in words], size)

    def old_style(self, opener: Token, closer: Token) -> ast.FunctionModifier:
        return ast.FunctionModifier(join(opener.span, closer.span), None, False)

    def parameters(self, opener: Token, items: list[ast.Parameter], *closing: Token) -> ast.FunctionModifier:
        """Make a function modifier.

        `closing` is the closing parenthesis; for a variadic function, a comma and `...` precede it.
        """
        if len(closing) == 1 and len(items) == 1 and _is_void(items[0]):
            items = []
        return ast.FunctionModifier(join(opener.span, closing[-1].span), items, len(closing) > 1)

    def parameter(self, specifiers: ast.Specifiers, declarator: ast.Declarator | None = None) -> ast.Parameter:
        return ast.Parameter(*_declared(specifiers, declarator))

    def type_name(self, specifiers: ast.Specifiers, declarator: ast.Declarator | None = None) -> ast.TypeName:
        return ast.TypeName(*_declared(specifiers, declarator))

    # --- declarations ---

    init_declarator = node(ast.InitDeclarator, 0, None)
    init_declarator_value = node(ast.InitDeclarator, 0, 2)
    bare_declaration = node(ast.Declaration, 0, list)
    declaration = node(ast.Declaration, 0, 1)

    def declare(self, declarator: ast.Declarator) -> ast.Declarator:
        # On the value stack, the specifiers are below this declarator. Earlier declarators and a comma may be between
        # them.
        below = self.values[-1] if isinstance(self.values[-1], ast.Specifiers) else self.values[-3]
        if declarator.name is not None:
            self.scopes.declare(declarator.name, any(w.text == "typedef" for w in below.storage))
        return declarator

    def function_head(self, specifiers: ast.Specifiers, declarator: ast.Declarator) -> tuple[Any, ...]:
        if declarator.name is not None:
            self.scopes.declare(declarator.name, is_type=False)
        self.scopes.push(len(self.states))
        first = declarator.modifiers[0] if declarator.modifiers else None
        if isinstance(first, ast.FunctionModifier):
            for parameter in first.parameters or ():
                if parameter.declarator.name is not None:
                    self.scopes.declare(parameter.declarator.name, is_type=False)
        return specifiers, declarator

    def function(self, head: tuple[ast.Specifiers, ast.Declarator], body: ast.Compound) -> ast.FunctionDefinition:
        self.scopes.pop()
        return ast.FunctionDefinition(*_declared(*head), body)


def _word(token: Token) -> ast.Word:
    return ast.Word(token.span, plain(token.value))


def _add_attributes(specifiers: ast.Specifiers, attributes: list[ast.Attribute]) -> ast.Specifiers:
    if not attributes:
        return specifiers
    last, tag = attributes[-1].span, specifiers.tag
    if tag is not None and tag.span.end_line == specifiers.span.end_line and _ends_alike(tag, specifiers):
        # Attributes directly after the body of a struct, union or enum belong to the tag.
        tag.attributes += attributes
        tag.span = join(tag.span, last)
    else:
        specifiers.attributes += attributes
    specifiers.span = join(specifiers.span, last)
    return specifiers


def _tag_name(parts: tuple[Any, ...]) -> str | None:
    first: Token = parts[0]
    return first.value if first.type == ID else None


def _tag_body(parts: tuple[Any, ...]) -> list[Any] | None:
    return next((part for part in parts if isinstance(part, list)), None)


def _declared(
    specifiers: ast.Specifiers, declarator: ast.Declarator | None
) -> tuple[Span, ast.Specifiers, ast.Declarator]:
    """Return the span, specifiers and declarator of a declaration.

    If `declarator` is None, return an empty declarator located after the specifiers.
    """
    if declarator is None:
        after = specifiers.span
        end = Span(after.file, after.end_line, after.end_column, after.end_line, after.end_column)
        return after, specifiers, ast.Declarator(end, None, [], [])
    return join(specifiers.span, _declarator_end(declarator)), specifiers, declarator


def _ends_alike(tag: ast.StructSpecifier | ast.EnumSpecifier, specifiers: ast.Specifiers) -> bool:
    body = tag.members if isinstance(tag, ast.StructSpecifier) else tag.enumerators
    return body is not None and tag.span.end_column == specifiers.span.end_column


def _attribute_name(token: Token) -> str:
    text = token.value
    return text[2:-2] if len(text) > 4 and text.startswith("__") and text.endswith("__") else text


def _is_void(parameter: ast.Parameter) -> bool:
    specifiers, declarator = parameter.specifiers, parameter.declarator
    return (
        [w.text for w in specifiers.type_words] == ["void"]
        and declarator.name is None
        and not declarator.modifiers
        and not specifiers.qualifiers
        and not specifiers.storage
    )


def _bounded(declarator: ast.Declarator) -> ast.Declarator:
    if len(declarator.modifiers) > LONGEST_CHAIN:
        raise TooDeep(declarator.span)
    return declarator


def _declarator_end(declarator: ast.Declarator) -> Span:
    """Return the span that ends last among a declarator's name and modifiers."""
    last = declarator.span
    for modifier in declarator.modifiers:
        span = modifier.span
        if span.file == last.file and (span.end_line, span.end_column) > (last.end_line, last.end_column):
            last = span
    return last
