"""Tokens to the AST: an LALR(1) parser over the tables of `opencl_c.lark`.

The parser runs its own loop, since each name must be judged a type or not when it is reached, by the scopes that
are open at that point, and since it goes on after errors (`recovery`). Nothing here recurses with the input.
"""

from __future__ import annotations

from typing import Any

from ..diagnostics import Diagnostics
from . import syntax as ast, tables as lalr, tokens as tk
from .build import Scopes, TooDeep
from .declarations import Builder
from .stream import TokenStream
from .tokens import Token
from .words import TERMINALS

#: How deep anything may nest: brackets, statements, unary operators, declarators.
DEEPEST = 256

_LITERALS = {tk.INTEGER: "INTEGER", tk.FLOAT: "FLOAT", tk.CHAR: "CHAR", tk.STRING: "STRING", tk.PRAGMA: "PRAGMA"}
#: Symbols that open a level: what is parsed after them becomes a child of what they begin.
_NESTING = {
    *("LPAR", "LSQB", "LBRACE", "block_open", "for_open", "QMARK", "COLON", "DO", "EQUAL", "COMPOUND_ASSIGN"),
    *("STAR", "AMPERSAND", "PLUS", "MINUS", "UNARY", "INCREMENT", "SIZEOF"),
}


class Parser:
    """One parse. `states` and `values` are the LALR stacks; `states` is one longer."""

    def __init__(self, stream: TokenStream, diagnostics: Diagnostics) -> None:
        self.tables = tables = lalr.load()
        self.words = {**tables.words, **TERMINALS}
        self.stream = stream
        self.tokens = stream.tokens
        self.diagnostics = diagnostics
        self.states: list[int] = [tables.start]
        self.values: list[Any] = []
        self.scopes = Scopes()
        self.builder = Builder(self.scopes, self.states, self.values)
        # Each rule with what makes its value; None where that is the one symbol's.
        self.rules = [
            (origin, size, getattr(self.builder, name) if name else None) for origin, size, name in tables.rules
        ]
        self.check_depth_at = DEEPEST

    # --- the loop ---

    def advance(self, index: int) -> tuple[int, str]:
        """Parse from a token on, up to one that does not fit: its index and terminal; END is past the last."""
        tables, states, values, rules = self.tables, self.states, self.values, self.rules
        actions, gotos, defaults = tables.actions, tables.gotos, tables.defaults
        words, known, tokens = self.words, self.scopes.known, self.tokens
        state = states[-1]
        for index in range(index, len(tokens)):  # noqa: B020 - the index is what is returned
            token = tokens[index]
            value = token.value
            terminal = _LITERALS.get(token.type) or words.get(value)
            if terminal is None:
                terminal = "IDENTIFIER" if token.type == tk.ID else "UNKNOWN"
                if value in known:
                    terminal = self.classify(index)
                    state = states[-1]
            shifted = False
            while True:
                rule = defaults[state]
                if rule < 0:
                    if shifted:
                        break
                    action = actions[state].get(terminal)
                    if action is None:
                        return index, terminal
                    if action >= 0:
                        state = action
                        states.append(state)
                        values.append(token)
                        shifted = True
                        continue
                    rule = ~action
                origin, size, method = rules[rule]
                if method is None:
                    state = gotos[states[-2]][origin]
                    states[-1] = state
                    continue
                if size:
                    children = values[-size:]
                    del values[-size:]
                    del states[-size:]
                    made = method(*children)
                else:
                    made = method()
                state = gotos[states[-1]][origin]
                states.append(state)
                values.append(made)
            if len(states) > self.check_depth_at:
                self.check_depth(token)
        return len(tokens), lalr.END

    def reduce(self, rule: int) -> None:
        """One reduction, outside the fast loop."""
        origin, size, method = self.rules[rule]
        if method is None:
            self.states[-1] = self.tables.gotos[self.states[-2]][origin]
            return
        children = self.values[len(self.values) - size :]
        del self.values[len(self.values) - size :]
        del self.states[len(self.states) - size :]
        made = method(*children)
        self.states.append(self.tables.gotos[self.states[-1]][origin])
        self.values.append(made)

    def shift(self, terminal: str, token: Token) -> None:
        """Take a terminal that is known to fit."""
        while True:
            rule = self.tables.defaults[self.states[-1]]
            if rule < 0:
                action = self.tables.actions[self.states[-1]][terminal]
                if action >= 0:
                    break
                rule = ~action
            self.reduce(rule)
        self.states.append(action)
        self.values.append(token)
        self.settle_defaults()

    def settle_defaults(self) -> None:
        while (rule := self.tables.defaults[self.states[-1]]) >= 0:
            self.reduce(rule)

    def classify(self, index: int) -> str:
        """Whether a name that is a type somewhere is one here."""
        # What ends whichever the name turns out to be ends now, and with it its scope: `for (...) if (a) b; T x;`.
        while True:
            row = self.tables.actions[self.states[-1]]
            action = row.get("TYPE_NAME")
            if action is None or action >= 0 or action != row.get("IDENTIFIER"):
                break
            self.reduce(~action)
        if not self.scopes.is_type(self.tokens[index].value):
            return "IDENTIFIER"
        if action is None:
            # A declarator, member, tag or label of that name; but a type is no operand.
            return "TYPE_NAME" if "INTEGER" in row else "IDENTIFIER"
        following = self.tokens[index + 1].value if index + 1 < len(self.tokens) else ""
        # A label may be called as a type is; a bit-field of that type stands where no name could.
        return "IDENTIFIER" if following == ":" and "IDENTIFIER" in row else "TYPE_NAME"

    def check_depth(self, token: Token) -> None:
        entering = self.tables.entering
        depth = sum(entering[state] in _NESTING for state in self.states)
        if depth > DEEPEST:
            raise TooDeep(token.span)
        self.check_depth_at = len(self.states) + DEEPEST - depth

    # --- the whole ---

    def run(self) -> list[Any]:
        """All external declarations that could be made."""
        from .recovery import Recovery

        recovery = Recovery(self)
        index = 0
        try:
            while True:
                index, terminal = self.advance(index)
                if terminal == lalr.END:
                    if not recovery.fits(lalr.END):
                        recovery.at_end()
                    break
                index = recovery.recover(index, terminal)
        except TooDeep as error:
            self.diagnostics.error("nesting-too-deep", f"nested more than {DEEPEST} levels deep", error.span)
            recovery.abandon()
        while self.states[-1] != self.tables.accept:
            self.reduce(~self.tables.actions[self.states[-1]][lalr.END])
        for span in self.builder.semicolons:
            self.diagnostics.warning("extra-semi", "this ';' belongs to nothing", span)
        declarations: list[Any] = self.values[-1]
        return declarations


def parse(stream: TokenStream, diagnostics: Diagnostics) -> ast.TranslationUnit:
    """The AST of a translation unit; what is wrong with it goes to `diagnostics`, and is left out.

    Raises TooManyErrors as the collector does.
    """
    end = stream.end
    if not stream.tokens:
        return ast.TranslationUnit(end, [])
    first = stream.tokens[0].span
    declarations = Parser(stream, diagnostics).run()
    return ast.TranslationUnit(first.to(end), declarations)
