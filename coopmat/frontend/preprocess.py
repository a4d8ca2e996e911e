"""Source text to a stream of tokens with exact positions: directives, includes and macros dealt with.

Nothing is printed and nothing but diagnostics comes out of bad input. Limits, each with its own error:
a physical line of 65,535 characters, 200 nested includes, 10,000 included files, and the budgets of macros.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .. import budgets
from ..diagnostics import Diagnostics, Note, Span
from . import comments
from . import tokens as tk
from .conditionals import DYNAMIC, Condition, Conditionals
from .sources import Region, SourceFile, add_presumed, find_include, open_source
from .stream import TokenStream, quoted
from .tokens import Token, tokenize, with_blanks

if TYPE_CHECKING:
    from .macro_engine import MacroEngine

__all__ = ["PreprocessOptions", "TokenStream", "preprocess"]

DEEPEST_INCLUDE = 200
MOST_INCLUDES = 10_000
_RESERVED = frozenset({"defined", "__FILE__", "__LINE__", "__COUNTER__", "__DATE__", "__TIME__"})
_NAME = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
_DEEPEST_ARGUMENTS = 256


@dataclass(frozen=True, slots=True)
class PreprocessOptions:
    """What the command line says to the preprocessor.

    `defines` are ("NAME" or "NAME(parameters)", replacement); `extensions` is what -cl-ext said, by name, "all"
    included; `virtual_files` are includes held in memory, found by exact name before any directory.
    """

    defines: tuple[tuple[str, str], ...] = ()
    undefines: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    cl_std: str = "CL3.0"
    extensions: Mapping[str, bool] = field(default_factory=dict)
    fast_relaxed_math: bool = False
    virtual_files: Mapping[str, str] = field(default_factory=dict)


class _Stop(Exception):
    """A limit was hit: what was made so far is all there will be."""


@dataclass(slots=True)
class _File:
    """A file being read; `shift` and `presumed` are what #line said last, `regions` all that it said."""

    source: SourceFile
    lines: Iterator[list[Token]]
    conditions: list[Condition] = field(default_factory=list)
    shift: int = 0
    presumed: str | None = None
    regions: list[Region] = field(default_factory=list)
    # Physical lines after which text counts, or does not.
    switches: list[tuple[int, bool]] = field(default_factory=list)

    def presumed_line(self, line: int) -> tuple[str, int]:
        """What #line says of a physical line: its file and number."""
        region = next((r for r in reversed(self.regions) if r.physical <= line), None)
        return (region.name, region.line + line - region.physical) if region else (self.source.name, line)


class _Driver(Conditionals):
    def __init__(self, engine: MacroEngine, options: PreprocessOptions, diagnostics: Diagnostics) -> None:
        self.engine = engine
        self.options = options
        self.diagnostics = diagnostics
        self.out: list[Token] = []
        self.pending: list[Token] = []
        self.stack: list[_File] = []
        self.enabled = True
        self.once: set[str] = set()
        self.includes = 0
        self.complete = True
        self.dependencies: list[str] = []
        self.absent: list[str] = []

    @property
    def conditions(self) -> list[Condition]:
        return self.stack[-1].conditions

    # --- files ---

    def enter(self, source: SourceFile) -> None:
        self.stack.append(_File(source, tk.scan_lines(source.text, source.name)))
        if not source.virtual and source.name not in self.dependencies:
            self.dependencies.append(source.name)
        self.set_file(source.name)

    def set_file(self, name: str) -> None:
        self.engine.define_line(f'__FILE__ "{quoted(name)}"')

    def run(self) -> None:
        try:
            # Not recursive: an include chain of 200 files must not lean on Python's stack.
            while self.stack:
                tokens = next(self.stack[-1].lines, None)
                if tokens is None:
                    self.leave()
                else:
                    self.line(tokens)
            self.pragma_operators()
        except _Stop:
            self.complete = False

    def leave(self) -> None:
        self.flush()
        self.close_file()
        file = self.stack.pop()
        if any(map(self.diagnostics.wants, comments.NAMES)):
            comments.check(file.source.text, file.presumed_line, self.diagnostics, file.switches)
        add_presumed(file.source, file.regions, self.diagnostics)
        if self.stack:
            outer = self.stack[-1]
            self.set_file(outer.presumed or outer.source.name)

    def line(self, tokens: list[Token]) -> None:
        file = self.stack[-1]
        if file.shift or file.presumed is not None:
            for token in tokens:
                token.span = self.presumed_span(file, token.span)
        if tokens[0].value == "#":
            self.directive(tokens)
        elif self.enabled:
            self.pending += tokens

    @staticmethod
    def presumed_span(file: _File, span: Span | None) -> Span:
        assert span is not None
        name = file.presumed if file.presumed is not None else span.file
        return Span(name, span.line + file.shift, span.column, span.end_line + file.shift, span.end_column)

    def error(self, code: str, message: str, span: Span | None, notes: tuple[Note, ...] = ()) -> None:
        self.diagnostics.error(code, message, span, notes=notes)

    # --- text ---

    def flush(self) -> None:
        """Expand the text lines since the last directive that matters to them."""
        pending, out, macros = self.pending, self.out, self.engine.macros
        self.pending = []
        at, end = 0, len(pending)
        while at < end:
            token = pending[at]
            if token.type == tk.ID and (token.value in macros or token.value in DYNAMIC):
                at = self.expand_at(pending, at)
            elif token.type == tk.BAD:
                self.bad_token(token)
                at += 1
            else:
                out.append(token)
                at += 1

    def expand_at(self, tokens: list[Token], at: int) -> int:
        """Expand the macro use at an index onto the output; the index after it."""
        end = self.use_end(tokens, tokens[at], at + 1)
        if end is None:
            self.error(
                "unterminated-invocation",
                f"unterminated argument list of macro '{tokens[at].value}'",
                tokens[at].span,
            )
            raise _Stop
        result = self.expand(tokens[at:end])
        # The expansion may end in the name of a macro whose arguments follow in the text.
        while result and end < len(tokens) and tokens[end].value == "(" and self.may_call(result[-1]):
            after = self.use_end(tokens, result[-1], end)
            if after is None:
                break
            self.emit(result[:-1])
            result, end = self.expand([result[-1], *tokens[end:after]]), after
        self.emit(result)
        return end

    def may_call(self, token: Token) -> bool:
        painted = getattr(token, "expanded_from", ())
        return token.type == tk.ID and token.value in self.engine.macros and token.value not in painted

    def use_end(self, tokens: list[Token], name: Token, at: int) -> int | None:
        """The index after a use of the macro `name`, whose arguments would start at `at`; None if they never end."""
        macro = self.engine.macros.get(name.value)
        if macro is None or macro.arglist is None or at >= len(tokens) or tokens[at].value != "(":
            return at
        depth = 0
        for index in range(at, len(tokens)):
            value = tokens[index].value
            if value == "(":
                depth += 1
            elif value == ")":
                depth -= 1
                if depth == 0:
                    return index + 1
        return None

    def emit(self, tokens: list[Token]) -> None:
        for token in tokens:
            if token.type == tk.BAD:
                self.bad_token(token)
            else:
                self.out.append(token)

    def expand(self, tokens: list[Token]) -> list[Token]:
        from .macro_engine import ExpansionLimit

        place = tokens[0].span
        try:
            _check_nesting(tokens)
            found = self.engine.expand(tokens)
            if len(found) > 1 and place is not None:
                self.diagnostics.keep_text(place)
            return found
        except ExpansionLimit as error:
            what = f"macro '{tokens[0].value}' expands to too much"
            self.error("expansion-too-large", f"{what}, more than {budgets.told(error.budget)}", place)
        except RecursionError:
            self.error("expansion-too-deep", f"macro '{tokens[0].value}' is nested too deeply", place)
        except (IndexError, ValueError, TypeError, AttributeError):
            # pcpp checks little of what it is given.
            self.error("invalid-expansion", f"macro '{tokens[0].value}' cannot be expanded", place)
        raise _Stop

    def bad_token(self, token: Token) -> None:
        first = token.value[0]
        if first == '"' or first == "'":
            what = f"missing terminating {first} character"
            self.error("unterminated-literal", what, token.span)
        elif token.value.startswith("/*"):
            self.error("unterminated-comment", "unterminated /* comment", token.span)
        else:
            shown = first if first.isprintable() else f"U+{ord(first):04X}"
            self.error("unexpected-character", f"unexpected character '{shown}'", token.span)

    def pragma_operators(self) -> None:
        """`_Pragma("text")` to the token that `#pragma text` makes."""
        out = self.out
        if not any(token.value == "_Pragma" for token in out):
            return
        self.out = []
        at = 0
        while at < len(out):
            token = out[at]
            parts = out[at + 1 : at + 4]
            if token.value != "_Pragma":
                self.out.append(token)
                at += 1
            elif len(parts) == 3 and (parts[0].value, parts[1].type, parts[2].value) == ("(", tk.STRING, ")"):
                assert token.span is not None and parts[2].span is not None
                text = parts[1].value[1:-1].replace('\\"', '"').replace("\\\\", "\\")
                text, span = " ".join(text.split()), token.span.to(parts[2].span)
                if not self.diagnostic_pragma(text, span):
                    self.out.append(Token(tk.PRAGMA, text, span))
                at += 4
            else:
                self.error("invalid-pragma", "_Pragma takes one string in parentheses", token.span)
                at += 1

    # --- directives ---

    def directive(self, tokens: list[Token]) -> None:
        if len(tokens) == 1:
            return
        name = tokens[1]
        if self.conditional(tokens[1:]):
            file = self.stack[-1]
            if name.span is not None:
                file.switches.append((name.span.line - file.shift, self.enabled))
        elif self.enabled:
            if name.type == tk.INTEGER:
                self.line_marker(tokens[1:])
            elif name.value in _DIRECTIVES:
                _DIRECTIVES[name.value](self, name, tokens[2:])
            else:
                message = f"invalid preprocessing directive '#{name.value}'"
                self.error("invalid-directive", message, name.span)

    def extra(self, name: Token, rest: list[Token]) -> None:
        if rest:
            self.diagnostics.warning("extra-tokens", f"extra tokens at end of #{name.value} directive", rest[0].span)

    def macro_name(self, name: Token, rest: list[Token]) -> str | None:
        if not rest:
            self.error("invalid-macro-name", f"macro name missing after #{name.value}", name.span)
        elif rest[0].type != tk.ID or rest[0].value == "defined":
            self.error("invalid-macro-name", "macro name must be an identifier", rest[0].span)
        else:
            return rest[0].value
        return None

    def define(self, name: Token, rest: list[Token]) -> None:
        self.flush()
        macro = self.macro_name(name, rest)
        if macro is None:
            return
        if macro in _RESERVED:
            self.error("invalid-macro-name", f"'{macro}' cannot be redefined", rest[0].span)
            return
        body = rest[1:]
        if body and body[0].value == "(" and not body[0].spaced:
            bad, body = _parameters(body)
            if bad is not None:
                self.error("invalid-macro", "invalid parameter list of a macro", bad.span)
                return
        elif body:
            # Between the name and the replacement pcpp wants a blank.
            body[0].spaced = True
        for end in (body[:1], body[-1:]):
            if end and end[0].type == tk.PASTE:
                self.error("invalid-macro", "'##' cannot stand at either end of a macro", end[0].span)
                return
        previous = self.engine.macros.get(macro)
        self.engine.define_tokens(with_blanks(rest))
        if previous is not None and _differ(previous, self.engine.macros[macro]):
            notes = (Note("previous definition is here", previous.place),) if previous.place else ()
            self.diagnostics.warning("macro-redefined", f"'{macro}' macro redefined", rest[0].span, notes=notes)

    def undef(self, name: Token, rest: list[Token]) -> None:
        self.flush()
        macro = self.macro_name(name, rest)
        if macro in _RESERVED:
            self.error("invalid-macro-name", f"'{macro}' cannot be undefined", rest[0].span)
        elif macro is not None:
            self.engine.macros.pop(macro, None)
            self.extra(name, rest[1:])

    def include(self, name: Token, rest: list[Token]) -> None:
        self.flush()
        if rest and rest[0].type != tk.STRING and rest[0].value != "<":
            rest = self.expand_directive(rest)
        if rest and rest[0].type == tk.STRING:
            target, angled = rest[0].value[1:-1], False
            self.extra(name, rest[1:])
        else:
            closing = next((i for i, token in enumerate(rest) if token.value == ">"), 0)
            if not closing or rest[0].value != "<":
                span = rest[0].span if rest else name.span
                self.error("invalid-include", 'expected "FILENAME" or <FILENAME>', span)
                return
            inner = rest[1:closing]
            target, angled = "".join(" " * token.spaced + token.value for token in inner).strip(), True
        place = (
            rest[0].span
            if not angled or rest[0].span is None
            else rest[0].span.to(rest[closing].span or name_span(name))
        )
        self.open_include(target, angled, place)

    def open_include(self, target: str, angled: bool, place: Span | None) -> None:
        self.includes += 1
        if len(self.stack) > DEEPEST_INCLUDE or self.includes > MOST_INCLUDES:
            nested = len(self.stack) > DEEPEST_INCLUDE
            self.error("include-too-deep", f"#include nested too {'deeply' if nested else 'often'}", place)
            raise _Stop
        directory = str(Path(self.stack[-1].source.name).parent)
        beside = None if angled else directory
        source = find_include(target, beside, self.options, self.diagnostics, place, self.absent)
        if source is None:
            self.complete = False
        elif source.name not in self.once:
            self.enter(source)

    def expand_directive(self, tokens: list[Token]) -> list[Token]:
        """The arguments of a directive, macro-expanded."""
        saved, self.out = self.out, []
        self.pending = tokens
        try:
            self.flush()
            return self.out
        finally:
            self.out = saved

    def pragma(self, name: Token, rest: list[Token]) -> None:
        if not rest:
            return
        if rest[0].value == "once" and len(rest) == 1:
            self.once.add(self.stack[-1].source.name)
            return
        if rest[0].value == "unroll":
            self.flush()
            rest = [rest[0], *self.expand_directive(rest[1:])]
        text = "".join(" " * token.spaced + token.value for token in rest).strip()
        last = rest[-1].span
        assert name.span is not None and last is not None
        if self.diagnostic_pragma(text, name.span.to(last)):
            return
        # Into the pending text, so that it keeps its place among the tokens.
        self.pending.append(Token(tk.PRAGMA, text, name.span.to(last)))

    def diagnostic_pragma(self, text: str, span: Span) -> bool:
        """Obeys a pragma that is about warnings; False for any other."""
        words = text.split()
        return words[:2] == ["clang", "diagnostic"] and self.diagnostics.pragma(words[2:], span)

    def message(self, name: Token, rest: list[Token]) -> None:
        text = "".join(" " * token.spaced + token.value for token in rest).strip()
        span = name.span if not rest or name.span is None or rest[-1].span is None else name.span.to(rest[-1].span)
        if name.value == "error":
            self.error("error-directive", f"#error {text}".rstrip(), span)
        else:
            self.diagnostics.warning("#warnings", f"#warning {text}".rstrip(), span)

    def ignore(self, name: Token, rest: list[Token]) -> None:
        """#ident and #sccs mean nothing here."""

    def line_directive(self, name: Token, rest: list[Token]) -> None:
        self.flush()
        rest = self.expand_directive(rest)
        if not rest:
            self.error("invalid-line", "#line takes a line number", name.span)
            return
        self.line_marker(rest)

    def line_marker(self, rest: list[Token]) -> None:
        """`#line 12 "file"`, or a marker `# 12 "file" flags` as -E prints it."""
        number = rest[0].value
        if not number.isdigit() or len(number) > 10 or not 0 < int(number) < 1 << 31:
            self.error("invalid-line", "#line takes a positive line number", rest[0].span)
            return
        self.flush()
        file = self.stack[-1]
        assert rest[0].span is not None
        physical = rest[0].span.line - file.shift
        if len(rest) > 1:
            if rest[1].type != tk.STRING:
                self.error("invalid-line", "#line takes a file name in quotes", rest[1].span)
                return
            file.presumed = rest[1].value[1:-1].replace('\\"', '"').replace("\\\\", "\\")
            self.set_file(file.presumed)
        file.shift = int(number) - physical - 1
        file.regions.append(Region(file.presumed or file.source.name, int(number), physical + 1))


_DIRECTIVES = {
    "define": _Driver.define,
    "undef": _Driver.undef,
    "include": _Driver.include,
    "pragma": _Driver.pragma,
    "error": _Driver.message,
    "warning": _Driver.message,
    "line": _Driver.line_directive,
    "ident": _Driver.ignore,
    "sccs": _Driver.ignore,
}


def _check_nesting(tokens: list[Token]) -> None:
    """Refuses arguments nested deeper than the parser would take them, before pcpp expands each level again."""
    depth = 0
    for token in tokens:
        depth += (token.value == "(") - (token.value == ")")
        if depth > _DEEPEST_ARGUMENTS:
            raise RecursionError


def _parameters(tokens: list[Token]) -> tuple[Token | None, list[Token]]:
    """Check `(a, b, ...)`: the first wrong token, and what follows the list."""
    at, want_name = 1, True
    if len(tokens) > 1 and tokens[1].value == ")":
        return None, tokens[2:]
    seen: set[str] = set()
    while at < len(tokens):
        token = tokens[at]
        if want_name:
            if token.value == "...":
                closed = at + 1 < len(tokens) and tokens[at + 1].value == ")"
                return (None, tokens[at + 2 :]) if closed else (token, [])
            if token.type != tk.ID or token.value in seen:
                return token, []
            seen.add(token.value)
        elif token.value == ")":
            return None, tokens[at + 1 :]
        elif token.value == "...":
            closed = at + 1 < len(tokens) and tokens[at + 1].value == ")"
            return (None, tokens[at + 2 :]) if closed else (token, [])
        elif token.value != ",":
            return token, []
        want_name = not want_name
        at += 1
    return tokens[-1], []


def _differ(a: object, b: object) -> bool:
    def form(macro: object) -> tuple[object, list[str]]:
        return getattr(macro, "arglist"), [token.value for token in getattr(macro, "value")]  # noqa: B009

    return form(a) != form(b)


def preprocess(source: str | bytes, name: str, options: PreprocessOptions, diagnostics: Diagnostics) -> TokenStream:
    """The tokens of a source text called `name` (its place decides where quoted includes are looked for).

    Every text that is read is added to `diagnostics.sources`. Raises TooManyErrors as the collector does.
    """
    from .macro_engine import new_engine

    opened = open_source(source, name, False, diagnostics)
    if opened is None:
        return TokenStream([], Span(name, 1, 1, 1, 1), [name], False)
    engine = new_engine(
        options.cl_std,
        tuple(sorted(options.extensions.items())),
        options.fast_relaxed_math,
        lambda message, place: diagnostics.error("invalid-macro-use", message, place),
    )
    driver = _Driver(engine, options, diagnostics)
    for macro, value in options.defines:
        define_option(driver, macro, value)
    for macro in options.undefines:
        engine.macros.pop(macro, None)
    driver.enter(opened)
    driver.run()
    text = opened.text
    line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
    end, absent = Span(name, line, column, line, column), list(dict.fromkeys(driver.absent))
    return TokenStream(driver.out, end, driver.dependencies, driver.complete, absent, engine.macros)


def define_option(driver: _Driver, macro: str, value: str) -> None:
    """A macro of the command line; what is wrong with it has no place in a file."""
    line = f"{macro} {value.splitlines()[0] if value else ''}"
    tokens = [token for token in tokenize(line) if token.type != tk.SPACE]
    name = macro.partition("(")[0]
    well_formed = _NAME.match(name) and name not in _RESERVED and (name == macro or _parameters(tokens[1:])[0] is None)
    if not well_formed:
        driver.error("invalid-macro-name", f"-D {macro}: not a macro name", None)
        return
    driver.engine.define_line(line)


def name_span(name: Token) -> Span:
    assert name.span is not None
    return name.span
