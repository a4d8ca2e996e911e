"""What the parser does for the rules of declarations: specifiers, tags, declarators, functions."""

from __future__ import annotations

from typing import Any

from ..diagnostics import Span
from . import syntax as ast
from .build import LONGEST_CHAIN, Scopes, StatementBuilder, TooDeep, _span, join, plain_word, word
from .tokens import Token


class Builder(StatementBuilder):
    """All rules of the grammar. `values` is the parser's value stack."""

    def __init__(self, scopes: Scopes, states: list[int], values: list[Any]) -> None:
        self.scopes, self.states, self.values = scopes, states, values
        self.depths = {}
        self.semicolons = []

    # --- specifiers ---

    def add_type_word(self, specifiers: ast.Specifiers, token: Token) -> ast.Specifiers:
        specifiers.type_words.append(plain_word(token))
        return _widen(specifiers, _span(token))

    def add_type_name(self, specifiers: ast.Specifiers, token: Token) -> ast.Specifiers:
        if self.scopes.is_builtin(token.value):
            specifiers.type_words.append(word(token, token.value))
        else:
            specifiers.typedef_name = word(token, token.value)
        return _widen(specifiers, _span(token))

    def add_tag(self, specifiers: ast.Specifiers, tag: ast.StructSpecifier | ast.EnumSpecifier) -> ast.Specifiers:
        specifiers.tag = tag
        return _widen(specifiers, tag.span)

    def add_qualifier(self, specifiers: ast.Specifiers, token: Token) -> ast.Specifiers:
        specifiers.qualifiers.append(plain_word(token))
        return _widen(specifiers, _span(token))

    def add_storage(self, specifiers: ast.Specifiers, token: Token) -> ast.Specifiers:
        specifiers.storage.append(plain_word(token))
        return _widen(specifiers, _span(token))

    def add_function_word(self, specifiers: ast.Specifiers, token: Token) -> ast.Specifiers:
        specifiers.functions.append(plain_word(token))
        return _widen(specifiers, _span(token))

    def add_attribute(self, specifiers: ast.Specifiers, attributes: list[ast.Attribute]) -> ast.Specifiers:
        tag = specifiers.tag
        if tag is not None and tag.span.end_line == specifiers.span.end_line and _ends_alike(tag, specifiers):
            # Right after a struct's body they are the struct's.
            tag.attributes += attributes
            if attributes:
                tag.span = join(tag.span, attributes[-1].span)
        else:
            specifiers.attributes += attributes
        return _widen(specifiers, attributes[-1].span) if attributes else specifiers

    def type_word(self, token: Token) -> ast.Specifiers:
        return self.add_type_word(ast.Specifiers(_span(token)), token)

    def type_name_word(self, token: Token) -> ast.Specifiers:
        return self.add_type_name(ast.Specifiers(_span(token)), token)

    def tag_word(self, tag: ast.StructSpecifier | ast.EnumSpecifier) -> ast.Specifiers:
        return ast.Specifiers(tag.span, tag=tag)

    def qualifier(self, token: Token) -> ast.Specifiers:
        return self.add_qualifier(ast.Specifiers(_span(token)), token)

    def storage(self, token: Token) -> ast.Specifiers:
        return self.add_storage(ast.Specifiers(_span(token)), token)

    def function_word(self, token: Token) -> ast.Specifiers:
        return self.add_function_word(ast.Specifiers(_span(token)), token)

    def attributes_type_word(self, attributes: list[ast.Attribute], token: Token) -> ast.Specifiers:
        return self.add_type_word(_attributed(attributes, _span(token)), token)

    def attributes_type_name(self, attributes: list[ast.Attribute], token: Token) -> ast.Specifiers:
        return self.add_type_name(_attributed(attributes, _span(token)), token)

    def attributes_tag(
        self, attributes: list[ast.Attribute], tag: ast.StructSpecifier | ast.EnumSpecifier
    ) -> ast.Specifiers:
        return self.add_tag(_attributed(attributes, tag.span), tag)

    def attributes_qualifier(self, attributes: list[ast.Attribute], token: Token) -> ast.Specifiers:
        return self.add_qualifier(_attributed(attributes, _span(token)), token)

    def attributes_storage(self, attributes: list[ast.Attribute], token: Token) -> ast.Specifiers:
        return self.add_storage(_attributed(attributes, _span(token)), token)

    def attributes_function_word(self, attributes: list[ast.Attribute], token: Token) -> ast.Specifiers:
        return self.add_function_word(_attributed(attributes, _span(token)), token)

    # --- attributes: one __attribute__ is a list of entries ---

    def attribute_list(self, entries: list[ast.Attribute]) -> list[ast.Attribute]:
        return entries

    def more_attributes(self, all_entries: list[ast.Attribute], entries: list[ast.Attribute]) -> list[ast.Attribute]:
        return all_entries + entries

    def attribute(
        self, _: Token, __: Token, ___: Token, entries: list[ast.Attribute], *____: Token
    ) -> list[ast.Attribute]:
        return entries

    def entry(self, name: Token) -> ast.Attribute:
        return ast.Attribute(_span(name), _attribute_name(name), None)

    def entry_call(self, name: Token, _: Token, closer: Token) -> ast.Attribute:
        return ast.Attribute(join(_span(name), _span(closer)), _attribute_name(name), [])

    def entry_call_arguments(
        self, name: Token, _: Token, arguments: list[ast.Expression], closer: Token
    ) -> ast.Attribute:
        return ast.Attribute(join(_span(name), _span(closer)), _attribute_name(name), arguments)

    # --- struct, union, enum ---

    def struct_reference(self, kind: Token, name: Token) -> ast.StructSpecifier:
        return self._struct(kind, [], name, None, name)

    def struct_reference_attributes(
        self, kind: Token, attributes: list[ast.Attribute], name: Token
    ) -> ast.StructSpecifier:
        return self._struct(kind, attributes, name, None, name)

    def struct_anonymous(
        self, kind: Token, _: Token, members: list[ast.MemberDeclaration], closer: Token
    ) -> ast.StructSpecifier:
        return self._struct(kind, [], None, members, closer)

    def struct_anonymous_attributes(
        self,
        kind: Token,
        attributes: list[ast.Attribute],
        _: Token,
        members: list[ast.MemberDeclaration],
        closer: Token,
    ) -> ast.StructSpecifier:
        return self._struct(kind, attributes, None, members, closer)

    def struct_body(
        self, kind: Token, name: Token, _: Token, members: list[ast.MemberDeclaration], closer: Token
    ) -> ast.StructSpecifier:
        return self._struct(kind, [], name, members, closer)

    def struct_body_attributes(
        self,
        kind: Token,
        attributes: list[ast.Attribute],
        name: Token,
        _: Token,
        members: list[ast.MemberDeclaration],
        closer: Token,
    ) -> ast.StructSpecifier:
        return self._struct(kind, attributes, name, members, closer)

    @staticmethod
    def _struct(
        kind: Token,
        attributes: list[ast.Attribute],
        name: Token | None,
        members: list[ast.MemberDeclaration] | None,
        last: Token,
    ) -> ast.StructSpecifier:
        tag = name.value if name is not None else None
        return ast.StructSpecifier(join(_span(kind), _span(last)), kind.value, tag, members, attributes)

    def bare_member(self, specifiers: ast.Specifiers, semicolon: Token) -> ast.MemberDeclaration:
        return ast.MemberDeclaration(join(specifiers.span, _span(semicolon)), specifiers, [])

    def member(
        self, specifiers: ast.Specifiers, declarators: list[ast.MemberDeclarator], semicolon: Token
    ) -> ast.MemberDeclaration:
        return ast.MemberDeclaration(join(specifiers.span, _span(semicolon)), specifiers, declarators)

    def member_declarator(self, declarator: ast.Declarator) -> ast.MemberDeclarator:
        return ast.MemberDeclarator(declarator.span, declarator, None)

    def bit_field(self, declarator: ast.Declarator, _: Token, width: ast.Expression) -> ast.MemberDeclarator:
        return ast.MemberDeclarator(join(declarator.span, width.span), declarator, width)

    def bit_field_attributes(
        self, declarator: ast.Declarator, colon: Token, width: ast.Expression, attributes: list[ast.Attribute]
    ) -> ast.MemberDeclarator:
        declarator.attributes += attributes
        return self.bit_field(declarator, colon, width)

    def unnamed_bit_field(self, colon: Token, width: ast.Expression) -> ast.MemberDeclarator:
        return self.bit_field(ast.Declarator(_span(colon), None, [], []), colon, width)

    def enum_head(self, keyword: Token) -> tuple[Token, list[ast.Attribute]]:
        return keyword, []

    def enum_head_attributes(
        self, keyword: Token, attributes: list[ast.Attribute]
    ) -> tuple[Token, list[ast.Attribute]]:
        return keyword, attributes

    def enum_reference(self, head: tuple[Token, list[ast.Attribute]], name: Token) -> ast.EnumSpecifier:
        return ast.EnumSpecifier(join(_span(head[0]), _span(name)), name.value, None, head[1])

    def enum_anonymous(
        self, head: tuple[Token, list[ast.Attribute]], _: Token, enumerators: list[ast.Enumerator], __: None, end: Token
    ) -> ast.EnumSpecifier:
        return ast.EnumSpecifier(join(_span(head[0]), _span(end)), None, enumerators, head[1])

    def enum_body(
        self,
        head: tuple[Token, list[ast.Attribute]],
        name: Token,
        _: Token,
        enumerators: list[ast.Enumerator],
        __: None,
        end: Token,
    ) -> ast.EnumSpecifier:
        return ast.EnumSpecifier(join(_span(head[0]), _span(end)), name.value, enumerators, head[1])

    def enumerator(self, name: Token) -> ast.Enumerator:
        self.scopes.declare(name.value, is_type=False)
        return ast.Enumerator(_span(name), name.value, None)

    def enumerator_value(self, name: Token, _: Token, value: ast.Expression) -> ast.Enumerator:
        self.scopes.declare(name.value, is_type=False)
        return ast.Enumerator(join(_span(name), value.span), name.value, value)

    # --- declarators: modifiers read outwards from the name ---

    def name_declarator(self, name: Token) -> ast.Declarator:
        return ast.Declarator(_span(name), name.value, [], [])

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

    def pointer(self, star: Token) -> ast.PointerModifier:
        return ast.PointerModifier(_span(star), [], [])

    def pointer_qualifier(self, pointer: ast.PointerModifier, token: Token) -> ast.PointerModifier:
        pointer.qualifiers.append(plain_word(token))
        pointer.span = join(pointer.span, _span(token))
        return pointer

    def pointer_attribute(self, pointer: ast.PointerModifier, attributes: list[ast.Attribute]) -> ast.PointerModifier:
        pointer.attributes += attributes
        return pointer

    def array(self, opener: Token, closer: Token) -> ast.ArrayModifier:
        return ast.ArrayModifier(join(_span(opener), _span(closer)), [], None)

    def array_star(self, opener: Token, star: Token, closer: Token) -> ast.ArrayModifier:
        return ast.ArrayModifier(join(_span(opener), _span(closer)), [word(star, "*")], None)

    def array_size(self, opener: Token, size: ast.Expression, closer: Token) -> ast.ArrayModifier:
        return ast.ArrayModifier(join(_span(opener), _span(closer)), [], size)

    def array_words(self, opener: Token, words: list[Token], closer: Token) -> ast.ArrayModifier:
        return ast.ArrayModifier(join(_span(opener), _span(closer)), [plain_word(w) for w in words], None)

    def array_words_size(
        self, opener: Token, words: list[Token], size: ast.Expression, closer: Token
    ) -> ast.ArrayModifier:
        return ast.ArrayModifier(join(_span(opener), _span(closer)), [plain_word(w) for w in words], size)

    def old_style(self, opener: Token, closer: Token) -> ast.FunctionModifier:
        return ast.FunctionModifier(join(_span(opener), _span(closer)), None, False)

    def parameters(self, opener: Token, items: list[ast.Parameter], closer: Token) -> ast.FunctionModifier:
        if len(items) == 1 and _is_void(items[0]):
            items = []
        return ast.FunctionModifier(join(_span(opener), _span(closer)), items, False)

    def variadic(
        self, opener: Token, items: list[ast.Parameter], _: Token, __: Token, closer: Token
    ) -> ast.FunctionModifier:
        return ast.FunctionModifier(join(_span(opener), _span(closer)), items, True)

    def plain_parameter(self, specifiers: ast.Specifiers) -> ast.Parameter:
        return ast.Parameter(specifiers.span, specifiers, _no_declarator(specifiers.span))

    def parameter(self, specifiers: ast.Specifiers, declarator: ast.Declarator) -> ast.Parameter:
        return ast.Parameter(join(specifiers.span, _declarator_end(declarator)), specifiers, declarator)

    def plain_type_name(self, specifiers: ast.Specifiers) -> ast.TypeName:
        return ast.TypeName(specifiers.span, specifiers, _no_declarator(specifiers.span))

    def type_name(self, specifiers: ast.Specifiers, declarator: ast.Declarator) -> ast.TypeName:
        return ast.TypeName(join(specifiers.span, _declarator_end(declarator)), specifiers, declarator)

    # --- declarations ---

    def declare(self, declarator: ast.Declarator) -> ast.Declarator:
        # The specifiers are on the stack below, the declarators before this one and a comma between them.
        below = self.values[-1] if isinstance(self.values[-1], ast.Specifiers) else self.values[-3]
        if declarator.name is not None:
            self.scopes.declare(declarator.name, any(w.text == "typedef" for w in below.storage))
        return declarator

    def init_declarator(self, declarator: ast.Declarator) -> ast.InitDeclarator:
        return ast.InitDeclarator(declarator.span, declarator, None)

    def init_declarator_value(
        self, declarator: ast.Declarator, _: Token, initializer: ast.Initializer
    ) -> ast.InitDeclarator:
        return ast.InitDeclarator(join(declarator.span, initializer.span), declarator, initializer)

    def bare_declaration(self, specifiers: ast.Specifiers, semicolon: Token) -> ast.Declaration:
        return ast.Declaration(join(specifiers.span, _span(semicolon)), specifiers, [])

    def declaration(
        self, specifiers: ast.Specifiers, declarators: list[ast.InitDeclarator], semicolon: Token
    ) -> ast.Declaration:
        return ast.Declaration(join(specifiers.span, _span(semicolon)), specifiers, declarators)

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
        specifiers, declarator = head
        return ast.FunctionDefinition(join(specifiers.span, _declarator_end(declarator)), specifiers, declarator, body)


def _attributed(attributes: list[ast.Attribute], otherwise: Span) -> ast.Specifiers:
    return ast.Specifiers(attributes[0].span if attributes else otherwise, attributes=list(attributes))


def _widen(specifiers: ast.Specifiers, last: Span) -> ast.Specifiers:
    specifiers.span = join(specifiers.span, last)
    return specifiers


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


def _no_declarator(after: Span) -> ast.Declarator:
    end = Span(after.file, after.end_line, after.end_column, after.end_line, after.end_column)
    return ast.Declarator(end, None, [], [])


def _declarator_end(declarator: ast.Declarator) -> Span:
    """The span that ends last among a declarator's name and modifiers."""
    last = declarator.span
    for modifier in declarator.modifiers:
        span = modifier.span
        if span.file == last.file and (span.end_line, span.end_column) > (last.end_line, last.end_column):
            last = span
    return last
