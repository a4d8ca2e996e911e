"""The LALR tables of `opencl_c.lark`: made by lark, kept on disk as JSON, so that lark is rarely imported.

A table that is missing, damaged, of another grammar or cannot be written is simply made again (`coopmat.cache`).
Which lark made it does not matter: the grammar has one table, and the order of its states is ours.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from coopmat.cache import Cache, Entry, key_of

GRAMMAR = Path(__file__).with_name("opencl_c.lark")
_FORMAT = 2
END = "$END"


@dataclass(frozen=True, slots=True)
class Tables:
    """Per state: `actions` maps a terminal to a state to shift to (>= 0) or to ~rule to reduce by.

    `gotos` maps a nonterminal to the next state. `defaults` is the rule of a state that can only reduce, or -1:
    such reductions run before the next token is looked at. A rule is (nonterminal, size, builder method; "" hands
    its one value on). `words` maps a literal's text to its terminal; `entering` names the symbol that leads into
    each state.
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
def load() -> Tables:
    """The tables, from the cache or from the grammar; once per process."""
    text = GRAMMAR.read_text(encoding="utf-8")
    key = key_of({"kind": "grammar", "format": _FORMAT, "text": text})

    def build() -> Entry:
        return Entry(json.dumps(_make(text)).encode())

    return _tables(Cache.of_environment().get_or_build(key, build, _tables))


def _tables(entry: Entry) -> Tables:
    """Raises ValueError, LookupError or TypeError for a table that is none of ours."""
    data: dict[str, Any] = json.loads(entry.payload)
    rules = [(str(rule[0]), int(rule[1]), str(rule[2])) for rule in data["rules"]]
    return Tables(**{**data, "rules": rules})


def _make(text: str) -> dict[str, Any]:
    from lark import Lark
    from lark.lexer import Lexer, PatternStr
    from lark.parsers.lalr_analysis import Shift

    class NoLexer(Lexer):
        """The tables are all that is wanted."""

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
    """lark's states in the order of a walk from the start, since its own order changes from run to run."""
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
