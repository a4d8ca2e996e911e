"""The parser's error recovery.

For a token that does not fit, an error is reported. If the change of one token repairs the input, that change is made,
and everything parsed so far is kept. Repairs are a missing `;`, `)` or `]`, a surplus bracket, or an unknown type.

Otherwise the stacks are cut back to a state in which ERROR fits: in an external declaration, a struct member or a
statement. Tokens are then skipped up to the end of that construct. Every call consumes a token or makes the next token
fit, so that the time is linear in the input.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from ..diagnostics import Details, FixIt, Label, Note, Span
from . import parse as lalr, syntax as ast, tokens as tk
from .build import ForHead
from .foreign_names import NAMES, QUALIFIERS, TYPES
from .lookahead import CLOSERS, OPENERS, Lookahead
from .tokens import Token
from .words import CPP_WORDS, TERMINALS

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .parse import Parser

_CLOSING_TERMINALS = {")": "RPAR", "]": "RSQB", "}": "RBRACE"}
_ASSEMBLY = ("asm", "__asm", "__asm__")
_ASSEMBLY_WORDS = ("volatile", "__volatile", "__volatile__", "goto", "inline")
#: If one of these follows an unknown name, the name was meant as a variable, not as a type.
_AFTER_VARIABLE = frozenset({"=", ";", ",", ")", "[", "(", ":", "{", "}"})
#: Expected constructs, tried in order: (terminal that indicates the construct, error code, description).
_FIRST_EXPECTED = (
    ("INTEGER", "expected-expression", "an expression"),
    ("STORAGE", "expected-declaration", "a declaration"),
    ("IDENTIFIER", "expected-identifier", "a name"),
)
#: Tried if none of those fits, nor a closing bracket or `;`: (terminal, description).
_LAST_EXPECTED = (
    ("COLON", "':'"),
    ("LPAR", "'('"),
    ("LBRACE", "'{'"),
    ("EQUAL", "'='"),
    ("WHILE", "'while'"),
    ("STRING", "a string"),
    ("COMMA", "','"),
)
#: The tokens before the name in `[[clang::name]]`.
_ATTRIBUTE_PREFIX = ("clang", "gnu", ":")
#: If one of these terminals fits after a comma, the comma separates the entries of a list.
_AFTER_LIST_COMMA = ("STORAGE", "TYPE_WORD", "RBRACE")
#: Spelling suggestions are slow, so they are limited to the first errors, where they help most.
_MOST_SUGGESTIONS = 50


class Recovery(Lookahead):
    """The error recovery of one parse."""

    def __init__(self, parser: Parser) -> None:
        super().__init__(parser)
        self.diagnostics = parser.diagnostics
        self.errors = 0
        #: Index of the token at which the input was last repaired: no second error is reported there.
        self.mended_at = -1
        #: Index at which parsing last resumed without consuming a token, and the stack depth at that time.
        self.resumed_at, self.resumed_in = -1, 0

    def recover(self, index: int, terminal: str) -> int:
        """Handle a token that does not fit; return the index at which to continue."""
        token = self.tokens[index]
        if terminal == "PRAGMA":
            self.diagnostics.warning("ignored-pragmas", "#pragma is ignored here", token.span)
            return index + 1
        if terminal == "TYPE_NAME" and self.fits("IDENTIFIER") and not self.fits("INTEGER"):
            self.parser.shift("IDENTIFIER", token)
            return index + 1
        next_index = self.rewrite_standard_attribute(index) if terminal == "LSQB" else None
        if next_index is None:
            next_index = self.foreign_qualifier(index)
        if next_index is None and terminal == "IDENTIFIER":
            next_index = self.unknown_type(index)
        if next_index is None:
            next_index = self.unsupported(index, terminal)
        if next_index is None:
            next_index = self.insert(index, terminal)
        if next_index is None:
            next_index = self.delete(index)
        if next_index is not None:
            return next_index
        self.report(index)
        return self.resume(index)

    def error(self, code: str, message: str, span: Span, **details: Unpack[Details]) -> None:
        self.errors += 1
        self.diagnostics.error(code, message, span, **details)

    # --- repairs ---

    def rewrite_standard_attribute(self, index: int) -> int | None:
        """Replace the tokens `[[name(...)]]` by `__attribute__((name(...)))`; return the index at which to continue.

        `index` is that of the syntax error: the first or the second `[`. If there is no such attribute, return None.
        """
        tokens, values, states = self.tokens, self.parser.values, self.parser.states
        start = index
        if self.text(index + 1) != "[" and index and values and values[-1] is tokens[index - 1]:
            start -= 1
        end = self.group_end(start) if self.text(start) == "[" == self.text(start + 1) else 0
        if end < start + 5 or self.text(end - 2) != "]" or tokens[start + 2].type != tk.ID:
            return None
        parsed = states[:], values[:]
        if start < index:
            states.pop()
            values.pop()
        if not self.fits("ATTRIBUTE"):
            states[:], values[:] = parsed
            return None
        names = [token for token in tokens[start + 2 : end - 2] if token.value not in _ATTRIBUTE_PREFIX]
        spelled = [(tk.ID, "__attribute__"), (tk.PUNCTUATOR, "("), (tk.PUNCTUATOR, "(")]
        opening = [Token(kind, text, tokens[start].span) for kind, text in spelled]
        closing = [Token(tk.PUNCTUATOR, ")", token.span) for token in tokens[end - 2 : end]]
        tokens[start:end] = [*opening, *names, *closing]
        self.parser.limit += len(opening) + len(names) + len(closing) - (end - start)
        return start

    def foreign_qualifier(self, index: int) -> int | None:
        """Remove a qualifier of another language, which may have been parsed as an expression.

        Return the index at which to continue, or None if there is no such qualifier.
        """
        token = self.tokens[index]
        if token.type == tk.ID and token.value in QUALIFIERS and self.fits("TYPE_NAME"):
            self.report_qualifier(token)
            return index + 1
        before = self.name_that_begins_a_statement(index)
        if before is None or before.value not in QUALIFIERS or token.type != tk.ID:
            return None
        self.report_qualifier(before)
        self.parser.states.pop()
        self.parser.values.pop()
        return index

    def report_qualifier(self, token: Token) -> None:
        equivalent = QUALIFIERS[token.value]
        message = f"unknown qualifier '{token.value}'"
        fixits = [FixIt(token.span, equivalent.name)] if equivalent.name else []
        self.error("unknown-type", message, token.span, notes=[equivalent.note()], fixits=fixits)

    def unknown_type(self, index: int) -> int | None:
        """Accept an unknown name as a type if a type fits; return the index at which to continue, or None."""
        token = self.tokens[index]
        following = self.text(index + 1) or ";"
        if not self.fits("TYPE_NAME"):
            return self.unknown_type_before(index)
        if following in _AFTER_VARIABLE:
            values = self.parser.values
            if values and isinstance(values[-1], ast.Specifiers):
                self.missing_type(token, values[-1])
                return self.resume(index)
            if following != ")" and self.fits("ERROR"):
                return None
        self.report_type(token)
        self.parser.shift("TYPE_NAME", token)
        return index + 1

    def missing_type(self, token: Token, specifiers: ast.Specifiers) -> None:
        message = f"'{token.value}' is declared without a type"
        if any(word.text == "auto" for word in specifiers.storage):
            message = f"'auto' does not deduce types in OpenCL C: '{token.value}' is declared without a type"
        self.error("missing-type", message, token.span)

    def name_that_begins_a_statement(self, index: int) -> Token | None:
        """Return the name before the token at `index` if it was parsed as the beginning of an expression statement."""
        values, states = self.parser.values, self.parser.states
        before = self.tokens[index - 1] if index else None
        if before is None or before.type != tk.ID or not values or values[-1] is not before:
            return None
        row = self.tables.actions[states[-2]]
        return before if "IF" in row and "TYPE_NAME" in row else None

    def unknown_type_before(self, index: int) -> int | None:
        """Repair `foo x` in a block, whose first name was parsed as an expression, by taking `foo` as a type.

        Return the index at which to continue, or None.
        """
        before = self.name_that_begins_a_statement(index)
        if before is None:
            return None
        self.report_type(before)
        self.parser.states.pop()
        self.parser.values.pop()
        self.parser.shift("TYPE_NAME", before)
        return index

    def report_type(self, token: Token) -> None:
        name = token.value
        if name in CPP_WORDS:
            self.error("unsupported-cpp", f"'{name}' is C++, which OpenCL C does not have", token.span)
        elif name in ("pipe", "__pipe"):
            self.error("not-supported", "pipes are not supported", token.span)
        else:
            near = None if name in TYPES else self.nearest(name)
            notes = [Note(f"did you mean '{near}'?")] if near else _foreign(name)
            fixits = [FixIt(token.span, near)] if near else []
            self.error("unknown-type", f"unknown type name '{_shown(token)}'", token.span, notes=notes, fixits=fixits)
        # Each unknown type is reported once: from here on, the name is a type.
        self.parser.scopes.names[0][name] = True
        self.parser.scopes.possible_types.add(name)

    def nearest(self, name: str) -> str | None:
        """Return the type or keyword with the most similar spelling, or None."""
        if self.errors > _MOST_SUGGESTIONS or len(name) > 40:
            return None
        words = [word for word, terminal in TERMINALS.items() if word.isidentifier() and terminal != "UNSUPPORTED"]
        return next(iter(difflib.get_close_matches(name, words + self.parser.scopes.all_types(), 1, 0.75)), None)

    def unsupported(self, index: int, terminal: str) -> int | None:
        """Report a recognised but unsupported part of the language.

        Return the index at which to continue, or None if the token begins no such part.
        """
        token = self.tokens[index]
        following = self.text(index + 1)
        if token.value in _ASSEMBLY and following in (*_ASSEMBLY_WORDS, "("):
            return self.inline_assembly(index)
        if terminal == "UNSUPPORTED":
            self.error("not-supported", f"'{token.value}' is not supported yet", token.span)
        elif token.value == "^" and ((following in ("{", "(") and self.fits("INTEGER")) or self.fits("STAR")):
            self.error("not-supported", "blocks are not supported", token.span)
        elif token.value == ":" and index and self.tokens[index - 1].value == ":":
            cpp = "'::' is C++, which OpenCL C does not have"
            self.error("unsupported-cpp", cpp, token.span, notes=_foreign(following))
        elif index > 1 and self.tokens[index - 1].value == "<" and self.tokens[index - 2].value in TYPES:
            self.report_type(self.tokens[index - 2])
        else:
            return None
        return self.resume(index)

    def inline_assembly(self, index: int) -> int:
        """Report and skip inline assembly in a statement, a declaration or a declarator.

        Return the index after it; the rest of the construct is parsed as if it were absent.
        """
        token = self.tokens[index]
        notes = [Note("SPIR-V has no assembly: call a builtin function, or exclude this by #ifndef __SPIRV__")]
        self.error("not-supported", "inline assembly is not supported", token.span, notes=notes)
        at = index + 1
        while self.text(at) in _ASSEMBLY_WORDS:
            at += 1
        end = self.group_end(at) if self.text(at) == "(" else at
        alone = self.fits("STORAGE") and not self.fits("IF")
        return end + (alone and self.text(end) == ";")

    def insert(self, index: int, terminal: str) -> int | None:
        """Insert the missing `;`, `)` or `]` that makes the token fit; return `index`, or None if nothing helps."""
        if not index or (self.tokens[index].value == "{" and self.after_function_declarator()):
            return None
        token, before = self.tokens[index], self.tokens[index - 1]
        end = _after(before)
        closers: list[str] = []
        if token.value in (";", "{", "}", ")", "]"):
            brackets = self.open_brackets()
            while brackets and brackets[-1].value != "{" and len(closers) < 8:
                opener = brackets.pop()
                closer = CLOSERS[opener.value]
                if closer == token.value:
                    break
                closers.append(_CLOSING_TERMINALS[closer])
                if self.fits(*closers, terminal):
                    if self.mended_at != index:
                        self.unmatched(opener, closer, token, end)
                    self.mended_at = index
                    for name in closers:
                        self.parser.shift(name, Token(tk.PUNCTUATOR, closer, end))
                    return index
        if self.fits("SEMICOLON", terminal) and self.mended_at != index:
            self.mended_at = index
            if self.fits("IF"):
                self.error("expected-statement", f"expected a statement before '{_shown(token)}'", token.span)
            else:
                what = f"expected ';' after '{_shown(before)}'"
                self.error("expected-semicolon", what, end, fixits=[FixIt(end, ";")])
            self.parser.shift("SEMICOLON", Token(tk.PUNCTUATOR, ";", end))
            return index
        return None

    def unmatched(self, opener: Token, closer: str, token: Token, place: Span) -> None:
        self.error(
            "unmatched-bracket",
            f"expected '{closer}' before '{_shown(token)}'",
            place,
            labels=_here(opener, "is open here"),
            fixits=[FixIt(place, closer)],
        )

    def delete(self, index: int) -> int | None:
        """Delete an unmatched closing bracket, or an `else` without its `if`; return the next index, or None."""
        token = self.tokens[index]
        if token.value == "else" and self.fits("IF"):
            if not self.errors:
                self.error("syntax-error", "'else' without an 'if'", token.span)
            return index + 1
        if token.value not in OPENERS or token.type != tk.PUNCTUATOR:
            return None
        opener = OPENERS[token.value]
        if any(bracket.value == opener for bracket in self.open_brackets()):
            return None
        if token.value == "}" or self.fits(self.terminal(index + 1)):
            if token.value == "}" and not self.fits("ERROR"):
                return None
            self.error("unmatched-bracket", f"'{token.value}' has no matching '{opener}'", token.span)
            return index + 1
        return None

    # --- reporting ---

    def report(self, index: int) -> None:
        token = self.tokens[index]
        where = f"before '{_shown(token)}'"
        brackets = self.open_brackets()
        innermost = brackets[-1] if brackets else None
        if token.value == "{" and self.after_function_declarator():
            self.error("syntax-error", "a function cannot be defined inside another", token.span)
        elif self.terminal(index) == "UNKNOWN":
            self.error("syntax-error", f"unexpected '{_shown(token)}'", token.span)
        elif token.value in OPENERS and innermost is not None and CLOSERS[innermost.value] != token.value:
            message = f"'{token.value}' does not match '{innermost.value}'"
            self.error("unmatched-bracket", message, token.span, labels=_here(innermost, "is open here"))
        elif expected := next((row for row in _FIRST_EXPECTED if self.fits(row[0])), None):
            notes = self.type_in_expression(index) if expected[0] == "INTEGER" else []
            self.error(expected[1], f"expected {expected[2]} {where}", token.span, notes=notes)
        elif self.fits("SEMICOLON"):
            before = _shown(self.tokens[index - 1])
            self.error("expected-semicolon", f"expected ';' after '{before}'", token.span)
        elif innermost is not None and self.fits(_CLOSING_TERMINALS[CLOSERS[innermost.value]]):
            closer = f"'{CLOSERS[innermost.value]}'"
            if any(self.fits("COMMA", terminal) for terminal in _AFTER_LIST_COMMA):
                closer = f"',' or {closer}"
            labels = _here(innermost, "is open here")
            self.error("unmatched-bracket", f"expected {closer} {where}", token.span, labels=labels)
        else:
            what = next((f"expected {text} {where}" for name, text in _LAST_EXPECTED if self.fits(name)), None)
            self.error("syntax-error", what or f"unexpected '{_shown(token)}'", token.span)

    def after_function_declarator(self) -> bool:
        values = self.parser.values
        top = values[-1] if values else None
        return isinstance(top, ast.Declarator) and any(isinstance(m, ast.FunctionModifier) for m in top.modifiers)

    def type_in_expression(self, index: int) -> list[Note]:
        token = self.tokens[index]
        following = self.text(index + 1)
        if following == "(" and self.terminal(index) in ("TYPE_NAME", "TYPE_WORD"):
            return [Note(f"to make a value of the type, write ({token.value})(...)")]
        return []

    # --- resuming ---

    def resume(self, index: int) -> int:
        """Cut the stacks back to a state in which ERROR fits and skip the tokens of the broken construct.

        Return the index at which to continue.
        """
        states, values = self.parser.states, self.parser.values
        # If recovery resumed at this token before, the construct in which it resumed does not accept the token either.
        keep = self.resumed_in - 1 if index == self.resumed_at else len(states)
        while self.tables.actions[states[keep - 1]].get("ERROR", -1) < 0:
            keep -= 1
        parentheses = braces = 0
        in_for = False
        for value in values[keep - 1 :]:
            in_for |= isinstance(value, ForHead)
            opener = value.opener if isinstance(value, ForHead) else value
            if isinstance(opener, Token):
                parentheses += (opener.value in ("(", "[")) - (opener.value in (")", "]"))
                braces += (opener.value == "{") - (opener.value == "}")
        statement = "IF" in self.tables.actions[states[keep - 1]]
        external = keep <= 2
        self.cut(keep)
        span = self.tokens[index].span
        after = self.skip(index, parentheses, braces, in_for, statement, external)
        self.parser.shift("ERROR", Token(tk.BAD, "", span))
        self.resumed_at, self.resumed_in = (index, keep) if after == index else (-1, 0)
        return after

    def cut(self, keep: int) -> None:
        del self.parser.states[keep:]
        del self.parser.values[keep - 1 :]
        self.parser.scopes.unwind(keep)

    def skip(self, index: int, parentheses: int, braces: int, in_for: bool, statement: bool, external: bool) -> int:
        """Return the index after the broken construct.

        The construct ends after its `;` or closing brace, or before a brace of an outer construct.
        """
        tokens = self.tokens
        for at in range(index, len(tokens)):
            token = tokens[at]
            value = token.value if token.type == tk.PUNCTUATOR else ""
            if value in ("(", "["):
                parentheses += 1
            elif value in (")", "]"):
                parentheses = max(0, parentheses - 1)
            elif value == "{":
                if statement and not braces:
                    return at
                braces += 1
            elif value == "}":
                if not braces:
                    return at + 1 if external else at
                braces -= 1
                if not braces and not statement and self.text(at + 1) not in (";", ",", "=", ")", "__attribute__"):
                    return at + 1
            elif value == ";" and not braces and not (in_for and parentheses):
                return at + 1
        return len(tokens)

    def at_end(self) -> None:
        """Report an input that ends inside a construct."""
        end = self.parser.stream.end
        brackets = self.open_brackets()
        if not self.parser.stream.complete:
            # The cause of the missing text has been reported already.
            pass
        elif brackets:
            closer = CLOSERS[brackets[-1].value]
            labels = _here(brackets[-1], "is open here")
            self.error("unmatched-bracket", f"expected '{closer}' at the end of the file", end, labels=labels)
        elif self.fits("SEMICOLON"):
            self.insert_at_end()
        else:
            self.error("syntax-error", "unexpected end of the file", end)
        self.abandon()

    def insert_at_end(self) -> None:
        last = self.tokens[-1]
        place = _after(last)
        what = f"expected ';' after '{_shown(last)}'"
        self.error("expected-semicolon", what, place, fixits=[FixIt(place, ";")])
        self.parser.shift("SEMICOLON", Token(tk.PUNCTUATOR, ";", place))

    def abandon(self) -> None:
        """Keep only the external declarations that are complete."""
        if self.fits(lalr.END):
            return
        self.cut(2)
        self.parser.settle_defaults()
        self.parser.shift("ERROR", Token(tk.BAD, "", self.parser.stream.end))


def _after(token: Token) -> Span:
    """Return the empty span right after a token."""
    span = token.span
    return Span(span.file, span.end_line, span.end_column, span.end_line, span.end_column)


def _here(opener: Token, what: str) -> list[Label]:
    return [Label(opener.span, f"'{opener.value}' {what}")]


def _foreign(name: str) -> list[Note]:
    """Return a note about the equivalent of a foreign name, or no note."""
    equivalent = TYPES.get(name) or NAMES.get(name)
    return [equivalent.note()] if equivalent else []


def _shown(token: Token) -> str:
    text = token.value
    return text if len(text) <= 40 else text[:37] + "..."
