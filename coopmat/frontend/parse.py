"""The LALR(1) parser over the tables of `opencl_c.lark`: it builds the AST from tokens.

lark's parser is not used for two reasons: the parser must decide for each name whether the name is a type in the open
scopes, and it continues after errors (`recovery`). Its recursion depth does not depend on the input.

lark makes the tables. The cache keeps them as JSON, so that lark is rarely imported. Tables that are missing, damaged,
of another grammar, or that could not be written, are made again. The version of lark does not matter: the tables follow
from the grammar, and this module numbers the states.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..cache import Cache, Entry, key_of
from ..diagnostics import Diagnostics
from . import syntax as ast, tokens as tk
from .build import Scopes, TooDeep
from .declarations import Builder
from .portions import Portions, at_once
from .tokens import Token, TokenStream
from .words import TERMINALS

#: The deepest allowed nesting of brackets, statements, unary operators and declarators.
DEEPEST = 256

_LITERALS = {tk.INTEGER: "INTEGER", tk.FLOAT: "FLOAT", tk.CHAR: "CHAR", tk.STRING: "STRING", tk.PRAGMA: "PRAGMA"}
#: Symbols that open a nesting level: the symbols parsed after one become a child of the construct that it begins.
_NESTING = {
    *("LPAR", "LSQB", "LBRACE", "block_open", "for_open", "QMARK", "COLON", "DO", "EQUAL", "COMPOUND_ASSIGN"),
    *("STAR", "AMPERSAND", "PLUS", "MINUS", "UNARY", "INCREMENT", "SIZEOF"),
}


class Parser:
    """One run of the parser.

    `states` and `values` are the LALR stacks; `states` has one element more.
    """

    def __init__(self, stream: TokenStream, diagnostics: Diagnostics) -> None:
        self.tables = tables = load_tables()
        self.words = {**tables.words, **TERMINALS}
        self.stream = stream
        self.tokens = stream.tokens
        self.diagnostics = diagnostics
        self.states: list[int] = [tables.start]
        self.values: list[Any] = []
        self.scopes = Scopes()
        self.builder = Builder(self.scopes, self.states, self.values)
        # Rule -> (nonterminal, number of symbols, action). If the action is None, the rule has one symbol and keeps its
        # value.
        self.rules = [
            (origin, size, getattr(self.builder, name) if name else None) for origin, size, name in tables.rules
        ]
        self.check_depth_at = DEEPEST
        # Parsing stops before the token with this index.
        self.limit = len(self.tokens)

    # --- the loop ---

    def advance(self, index: int) -> tuple[int, str]:
        """Parse from the token at `index` to the first one that does not fit; return its index and terminal, or END."""
        tables, states, values, rules = self.tables, self.states, self.values, self.rules
        actions, gotos, defaults = tables.actions, tables.gotos, tables.defaults
        words, possible_types, tokens = self.words, self.scopes.possible_types, self.tokens
        state = states[-1]
        for index in range(index, self.limit):  # noqa: B020 - the index is what is returned
            token = tokens[index]
            value = token.value
            terminal = _LITERALS.get(token.type) or words.get(value)
            if terminal is None:
                terminal = "IDENTIFIER" if token.type == tk.ID else "UNKNOWN"
                if value in possible_types:
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
                    result = method(*children)
                else:
                    result = method()
                state = gotos[states[-1]][origin]
                states.append(state)
                values.append(result)
            if len(states) > self.check_depth_at:
                self.check_depth(token)
        return self.limit, END

    def reduce(self, rule: int) -> None:
        """Reduce by one rule, outside the fast loop."""
        origin, size, method = self.rules[rule]
        if method is None:
            self.states[-1] = self.tables.gotos[self.states[-2]][origin]
            return
        children = self.values[len(self.values) - size :]
        del self.values[len(self.values) - size :]
        del self.states[len(self.states) - size :]
        result = method(*children)
        self.states.append(self.tables.gotos[self.states[-1]][origin])
        self.values.append(result)

    def shift(self, terminal: str, token: Token) -> None:
        """Shift a terminal that is known to fit."""
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
        """Return the terminal of a name that is a type in some scope: TYPE_NAME if it is a type in the open scopes."""
        # If a rule is to be reduced for a type as well as for an identifier, reduce it first: the reduction may close
        # scopes, as after `for (...) if (a) b; T x;`.
        while True:
            row = self.tables.actions[self.states[-1]]
            action = row.get("TYPE_NAME")
            if action is None or action >= 0 or action != row.get("IDENTIFIER"):
                break
            self.reduce(~action)
        if not self.scopes.is_type(self.tokens[index].value):
            return "IDENTIFIER"
        if action is None:
            # The name is that of a declarator, member, tag or label, unless an operand is expected, which cannot be a
            # type.
            return "TYPE_NAME" if "INTEGER" in row else "IDENTIFIER"
        following = self.tokens[index + 1].value if index + 1 < len(self.tokens) else ""
        # A label may have the name of a type; for a bit-field of that type, an identifier would not fit.
        return "IDENTIFIER" if following == ":" and "IDENTIFIER" in row else "TYPE_NAME"

    def check_depth(self, token: Token) -> None:
        entering = self.tables.entering
        depth = sum(entering[state] in _NESTING for state in self.states)
        if depth > DEEPEST:
            raise TooDeep(token.span)
        self.check_depth_at = len(self.states) + DEEPEST - depth

    # --- the whole ---

    @property
    def out(self) -> list[Any]:
        """The external declarations so far."""
        declarations: list[Any] = self.values[0]
        return declarations

    @property
    def state(self) -> Any:
        """The effect of the tokens so far on those that follow; None within a declaration."""
        is_complete = len(self.states) == 2 and len(self.scopes.names) == 1
        return (self.scopes.names[0], self.scopes.possible_types, self.builder.semicolons) if is_complete else None

    @state.setter
    def state(self, state: Any) -> None:
        names, possible_types, semicolons = state
        self.scopes.names[0].update(names)
        self.scopes.possible_types |= possible_types
        self.builder.semicolons += semicolons

    def run(self, portions: Portions) -> list[Any]:
        """Return all external declarations that could be parsed; report errors and stray semicolons."""
        from .recovery import Recovery

        recovery, index = Recovery(self), 0
        try:
            for portion in portions(self, self.tokens):
                self.limit = portion.stop
                while index < self.limit:
                    index, terminal = self.advance(index)
                    if terminal != END:
                        index = recovery.recover(index, terminal)
            if not recovery.fits(END):
                recovery.at_end()
        except TooDeep as error:
            self.diagnostics.error("nesting-too-deep", f"nested more than {DEEPEST} levels deep", error.span)
            recovery.abandon()
        while self.states[-1] != self.tables.accept:
            self.reduce(~self.tables.actions[self.states[-1]][END])
        for span in self.builder.semicolons:
            self.diagnostics.warning("extra-semi", "this ';' is not part of any declaration", span)
        return self.out


def parse(stream: TokenStream, diagnostics: Diagnostics, portions: Portions = at_once) -> ast.TranslationUnit:
    """Return the AST of the tokens of a translation unit, which are parsed in portions.

    Errors go to `diagnostics`, and faulty declarations are omitted. Raises TooManyErrors if the diagnostics do.
    """
    first = stream.tokens[0].span if stream.tokens else stream.end
    declarations = Parser(stream, diagnostics).run(portions)
    return ast.TranslationUnit(first.to(stream.end), declarations)


# --- tables ----------------------------------------------------------------------------------------


GRAMMAR = Path(__file__).with_name("opencl_c.lark")
_FORMAT = 2
END = "$END"


@dataclass(frozen=True, slots=True)
class Tables:
    """The parser's tables.

    actions: for each state, terminal -> state to shift to (>= 0), or ~rule to reduce by.
    gotos: for each state, nonterminal -> next state.
    defaults: for each state, the rule if the state can only reduce, else -1. Such a reduction runs before the next
      token is read.
    rules: (nonterminal, number of symbols, builder method); for the method "", the rule keeps the value of its one
      symbol.
    words: text of a literal -> its terminal.
    entering: for each state, the symbol that leads into it.
    """

    actions: list[dict[str, int]]
    gotos: list[dict[str, int]]
    defaults: list[int]
    rules: list[tuple[str, int, str]]
    words: dict[str, str]
    entering: list[str]
    start: int
    accept: int


@lru_cache(maxsize=1)
def load_tables() -> Tables:
    """Return the tables, from the cache or made from the grammar; they are loaded once per process."""
    text = GRAMMAR.read_text(encoding="utf-8")
    key = key_of({"kind": "grammar", "format": _FORMAT, "text": text})

    def build() -> Entry:
        return Entry(json.dumps(_make_tables(text)).encode())

    return _tables(Cache.of_environment().get_or_build(key, build, _tables))


def _tables(entry: Entry) -> Tables:
    """Decode the tables of a cache entry. Raises ValueError, LookupError or TypeError for a malformed entry."""
    data: dict[str, Any] = json.loads(entry.payload)
    rules = [(str(rule[0]), int(rule[1]), str(rule[2])) for rule in data["rules"]]
    return Tables(**{**data, "rules": rules})


def _make_tables(text: str) -> dict[str, Any]:
    from lark import Lark
    from lark.lexer import Lexer, PatternStr
    from lark.parsers.lalr_analysis import Shift

    class NoLexer(Lexer):
        """A replacement for lark's lexer, which is not needed, since only the tables are used."""

        def __init__(self, conf: object) -> None:
            pass

        def lex(self, lexer_state: object, parser_state: object) -> object:  # type: ignore[override]
            return iter(())

    lark = Lark(text, start="unit", parser="lalr", lexer=NoLexer)
    conf = lark.parse_interactive("").parser_state.parse_conf
    terminals = {terminal.name for terminal in lark.terminals} | {END} | _declared(text)
    numbers = _numbered(conf.states, conf.start_state, Shift)
    rules: dict[object, int] = {}
    rows: list[tuple[str, int, str]] = []
    actions: list[dict[str, int]] = [{} for _ in numbers]
    gotos: list[dict[str, int]] = [{} for _ in numbers]
    entering = [""] * len(numbers)
    for state, row in numbers.items():
        for symbol, (kind, target) in sorted(conf.states[state].items()):
            if kind is Shift:
                entering[numbers[target]] = symbol
                (actions if symbol in terminals else gotos)[row][symbol] = numbers[target]
                continue
            if target not in rules:
                rules[target] = len(rows)
                name = target.alias or ""
                rows.append((target.origin.name, len(target.expansion), name))
            actions[row][symbol] = ~rules[target]
    return {
        "actions": actions,
        "gotos": gotos,
        "defaults": [_default(row) for row in actions],
        "rules": rows,
        "words": {t.pattern.value: t.name for t in lark.terminals if isinstance(t.pattern, PatternStr)},
        "entering": entering,
        "start": numbers[conf.start_state],
        "accept": numbers[conf.end_state],
    }


def _numbered(states: Any, start: Any, shift: Any) -> dict[Any, int]:
    """Return a number for each of lark's states, in the order of a traversal from the start state.

    lark's own order of states varies from run to run.
    """
    numbers = {start: 0}
    for state in (order := [start]):
        for _, (kind, target) in sorted(states[state].items(), key=lambda entry: str(entry[0])):
            if kind is shift and target not in numbers:
                numbers[target] = len(numbers)
                order.append(target)
    return numbers


def _declared(text: str) -> set[str]:
    return {name for line in text.splitlines() if line.startswith("%declare") for name in line.split()[1:]}


def _default(row: dict[str, int]) -> int:
    targets = set(row.values())
    if len(targets) == 1:
        (only,) = targets
        if only < 0:
            return ~only
    return -1
