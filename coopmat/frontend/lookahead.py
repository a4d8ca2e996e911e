"""Queries of error recovery to the parser: which terminals could follow, and which brackets are open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import parse as lalr, tokens as tk
from .build import ForHead
from .tokens import Token

if TYPE_CHECKING:
    from .parse import Parser

CLOSERS = {"(": ")", "[": "]", "{": "}"}
OPENERS = {closer: opener for opener, closer in CLOSERS.items()}


class Lookahead:
    """Queries about the state of a parse that do not change the state."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self.tables = parser.tables
        self.tokens = parser.tokens

    def fits(self, *terminals: str) -> bool:
        """Return whether the parser would accept these terminals, one after the other."""
        tables = self.tables
        states = list(self.parser.states)
        for terminal in terminals:
            while True:
                if terminal == lalr.END and states[-1] == tables.accept:
                    return True
                rule = tables.defaults[states[-1]]
                if rule < 0:
                    action = tables.actions[states[-1]].get(terminal)
                    if action is None:
                        return False
                    if action >= 0:
                        states.append(action)
                        break
                    rule = ~action
                origin, size, _ = tables.rules[rule]
                if size:
                    del states[-size:]
                states.append(tables.gotos[states[-1]][origin])
        return True

    def terminal(self, index: int) -> str:
        if index >= len(self.tokens):
            return lalr.END
        token = self.tokens[index]
        if token.type in (tk.ID, tk.PUNCTUATOR):
            word_terminal = self.parser.words.get(token.value)
            if word_terminal is not None:
                return word_terminal
            if token.type == tk.PUNCTUATOR:
                return "UNKNOWN"
            return "TYPE_NAME" if self.parser.scopes.is_type(token.value) else "IDENTIFIER"
        return token.type if token.type in (tk.INTEGER, tk.FLOAT, tk.CHAR, tk.STRING) else "UNKNOWN"

    def text(self, index: int) -> str:
        """Return the text of the token at `index`, or "" after the last token."""
        return self.tokens[index].value if index < len(self.tokens) else ""

    def open_brackets(self) -> list[Token]:
        """Return the brackets that are open in the parsed input, outermost first."""
        stack: list[Token] = []
        for value in self.parser.values:
            opener = value.opener if isinstance(value, ForHead) else value
            if not isinstance(opener, Token):
                continue
            if opener.value in CLOSERS:
                stack.append(opener)
            elif opener.value in OPENERS and stack:
                stack.pop()
        return stack

    def group_end(self, index: int) -> int:
        """Return the index after the bracket that closes the one at `index`, or the number of tokens if none does."""
        opener = self.tokens[index].value
        depth = 0
        for at in range(index, len(self.tokens)):
            value = self.tokens[at].value
            depth += (value == opener) - (value == CLOSERS[opener])
            if not depth:
                return at + 1
        return len(self.tokens)
