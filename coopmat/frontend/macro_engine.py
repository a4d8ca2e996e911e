"""pcpp's macro table and expansion, bounded, with positions kept and without its printing.

Files, directives and conditions are ours (`preprocess`): pcpp's own loop has no columns, prints, and takes
quadratic time. What is used of pcpp is `define`, and the expansion with arguments, stringizing and pasting.
"""

from __future__ import annotations

import copy
import re
import threading
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from pcpp import Preprocessor

from .. import budgets
from ..diagnostics import Span
from . import macros as predefined
from . import tokens as tk
from .tokens import PcppLexer, Token, tokenize, with_blanks

_MESSAGES = (
    (r"Macro (\S+) requires (\d+) arguments but was passed (\d+)", "macro '{0}' takes {1} arguments, but {2} given"),
    (r"Macro (\S+) must have at least (\d+) argument", "macro '{0}' takes at least {1} arguments"),
)


class ExpansionLimit(Exception):
    """Raised when macro expansion makes too much; `budget` is the one that is used up."""

    def __init__(self, budget: str) -> None:
        super().__init__(budget)
        self.budget = budget


class MacroEngine(Preprocessor):  # type: ignore[misc]
    """The macros of one compilation: `macros` maps a name to pcpp's Macro."""

    macros: dict[str, Any]
    report: Callable[[str, Span | None], None]

    def __init__(self) -> None:
        super().__init__(PcppLexer())
        self.macros = {}
        self.allow()
        self.place: Span | None = None

    def allow(self) -> None:
        """Starts with whole budgets."""
        self.left = budgets.limit("expansion-work")
        self._allow_one()

    def _allow_one(self) -> None:
        # Of the use that is being expanded.
        self.longest = budgets.limit("macro-tokens")
        self.room = {name: budgets.limit(name) for name in ("macro-work", "macro-characters")}

    def define_line(self, text: str) -> None:
        """Define from "NAME replacement" or "NAME(parameters) replacement"."""
        self.define_tokens(tokenize(text))

    def define_tokens(self, tokens: list[Token]) -> None:
        """Define from the tokens after `#define`, blanks included; the caller has checked their form."""
        # pcpp takes `#` and `##` out of what it keeps.
        text = "".join(token.value for token in tokens)
        self.define(tokens)
        macro = self.macros[tokens[0].value]
        macro.text = text
        macro.place = tokens[0].span
        for token in macro.value:
            # Marks what comes from a macro's body: it gets the place of the use.
            token.span = None

    def expand(self, tokens: list[Token]) -> list[Token]:
        """One macro use, from its name to its closing parenthesis, fully expanded; may raise ExpansionLimit."""
        place = self.place = tokens[0].span
        self.linemacrodepth = 0
        self._allow_one()
        out: list[Token] = []
        spaced = tokens[0].spaced
        for token in self.expand_macros(with_blanks(tokens)):
            if token.type == tk.SPACE or token.type == tk.BLOCK_COMMENT:
                spaced = True
                continue
            if token.span is None:
                token.span = place
            token.spaced = spaced
            spaced = False
            out.append(token)
        return out

    # --- overridden: bounds, the empty argument, errors ---

    def expand_macros(self, tokens: list[Token], expanding_from: Any = ()) -> list[Token]:
        # On the way in: pasted names double before anything comes back.
        self._spend(0, sum(len(token.value) for token in tokens))
        result: list[Token] = super().expand_macros(tokens, list(expanding_from))
        if len(result) > self.longest:
            raise ExpansionLimit("macro-tokens")
        self._spend(len(result))
        return result

    def collect_args(self, tokenlist: list[Token], ignore_errors: bool = False) -> Any:
        # pcpp hands over a copy of all that follows, so long argument lists cost by the square.
        self._spend(len(tokenlist) // 32)
        return super().collect_args(tokenlist, ignore_errors)

    def macro_prescan(self, macro: Any) -> None:
        super().macro_prescan(macro)
        if len(macro.arglist) < 2:
            # As in standard C, and clang's OpenCL C: with nothing before it, an empty __VA_ARGS__ is an empty argument.
            macro.var_comma_patch = []

    def macro_expand_args(self, macro: Any, args: list[list[Token]]) -> Any:
        # C's placemarker: without it `x a##b` with an empty `a` would paste x and b.
        pasted = {number for kind, number, _ in macro.patch if kind == "t"}
        if macro.var_comma_patch:
            pasted.discard(len(macro.arglist) - 1)
        marked = [[Token(tk.SPACE, "", None)] if not arg and i in pasted else arg for i, arg in enumerate(args)]
        return super().macro_expand_args(macro, marked)

    def on_error(self, file: str, line: int, msg: str) -> None:
        for pattern, text in _MESSAGES:
            match = re.match(pattern, msg)
            if match:
                msg = text.format(*match.groups())
        self.report(msg, self.place)

    def _spend(self, count: int, characters: int = 0) -> None:
        self.left -= count
        self.room["macro-work"] -= count
        self.room["macro-characters"] -= characters
        for name, left in (("expansion-work", self.left), *self.room.items()):
            if left < 0:
                raise ExpansionLimit(name)


_lock = threading.Lock()


@lru_cache(maxsize=1)
def _prototype() -> MacroEngine:
    engine = MacroEngine()
    for name, value in predefined.FIXED:
        engine.define_line(f"{name} {value}")
    return engine


@lru_cache(maxsize=64)
def _option_macros(cl_std: str, extensions: tuple[tuple[str, bool], ...], relaxed: bool) -> dict[str, Any]:
    engine = MacroEngine()
    for name, value in predefined.option_macros(cl_std, dict(extensions), relaxed):
        engine.define_line(f"{name} {value}")
    return engine.macros


def new_engine(
    cl_std: str,
    extensions: tuple[tuple[str, bool], ...],
    relaxed: bool,
    report: Callable[[str, Span | None], None],
) -> MacroEngine:
    """An engine with the predefined macros; their Macro objects are shared and never changed."""
    with _lock:
        prototype = _prototype()
        optional = _option_macros(cl_std, extensions, relaxed)
    engine = copy.copy(prototype)
    engine.macros = {**prototype.macros, **optional}
    engine.report = report
    engine.lexer = PcppLexer()
    engine.allow()
    now = time.localtime()
    engine.define_line(f'__DATE__ "{time.strftime("%b %d %Y", now)}"')
    engine.define_line(f'__TIME__ "{time.strftime("%H:%M:%S", now)}"')
    return engine
