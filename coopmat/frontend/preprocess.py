"""The preprocessor: it turns source text into tokens with exact positions, and handles directives and macros.

It prints nothing, and reports malformed input only as diagnostics. Each limit has a separate error: a physical line of
65,535 characters, 200 nested includes, 10,000 included files, and the budgets of macros.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import budgets, file_table
from ..diagnostics import Diagnostics, Note, Span
from . import tokens as tk
from .conditionals import Condition, Conditionals
from .expansion import Expander, ExpansionLimit, InvalidMacro, Macro, Unterminated, defined, definition, predefine
from .portions import Portions, at_once
from .preprocess_options import PreprocessOptions
from .sources import Region, SourceFile, add_presumed, find_include, open_source
from .tokens import Token, TokenStream, quoted, unquoted

__all__ = ["PreprocessOptions", "TokenStream", "preprocess"]

COMMAND_LINE = "<command line>"
DEEPEST_INCLUDE = 200
MOST_INCLUDES = 10_000
_RESERVED = frozenset({"defined", "__FILE__", "__LINE__", "__COUNTER__", "__DATE__", "__TIME__"})
_NAME = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)


class _Stop(Exception):
    """An exception for an exceeded limit: preprocessing stops with the tokens so far."""


@dataclass(slots=True)
class _File:
    """A file that is being read.

    scanner: the scanner of the current portion.
    parts: the rest of the file as (whether the tokens are a directive, tokens).
    conditions: the open conditions.
    shift, presumed: the line offset and the file name that the last #line set.
    regions: the effects of all #line directives.
    switches: (physical line, whether the text after it is compiled).
    """

    source: SourceFile
    scanner: tk.Scanner = field(init=False)
    parts: Iterator[tuple[bool, list[Token]]] = field(init=False)
    conditions: list[Condition] = field(default_factory=list)
    shift: int = 0
    presumed: str | None = None
    regions: list[Region] = field(default_factory=list)
    switches: list[tuple[int, bool]] = field(default_factory=list)

    def presumed_line(self, line: int) -> tuple[str, int]:
        """Return the file name and line number that #line gives to a physical line."""
        region = next((r for r in reversed(self.regions) if r.physical <= line), None)
        return (region.name, region.line + line - region.physical) if region else (self.source.name, line)


class Preprocessor(Conditionals):
    def __init__(self, expander: Expander, options: PreprocessOptions, diagnostics: Diagnostics) -> None:
        self.expander = expander
        self.options = options
        self.diagnostics = diagnostics
        self.out: list[Token] = []
        self.pending: list[Token] = []
        self.stack: list[_File] = []
        self.enabled = True
        # Name of a file with #pragma once -> identity of the file, since two names may be links to one file.
        self.once_files: dict[str, str] = {}
        self.includes = 0
        self.complete = True
        self.dependencies: list[str] = []
        self.absent: list[str] = []
        self.has_regions = False
        # The macros that the options define.
        self.predefined: dict[str, Macro] = {}

    @property
    def conditions(self) -> list[Condition]:
        return self.stack[-1].conditions

    @property
    def state(self) -> Any:
        """The effect of the text so far on the text that follows in the main file.

        None if there are errors, open conditions, `#line` directives or pragmas about warnings.
        """
        file, macros, first = self.stack[-1], self.expander.macros, self.predefined
        if not self.complete or file.conditions or file.regions or self.has_regions or not self.diagnostics.is_plain:
            return None
        changed = {name: macro for name, macro in macros.items() if first.get(name) is not macro}
        undefined = [name for name in first if name not in macros]
        counts = self.expander.counter, self.expander.work, self.includes
        files = list(self.once_files), self.dependencies, self.absent, file.switches
        return changed, undefined, counts, files, self.diagnostics.kept_texts()

    @state.setter
    def state(self, state: Any) -> None:
        changed, undefined, counts, files, kept_texts = state
        for name in undefined:
            self.expander.macros.pop(name, None)
        self.expander.macros.update(changed)
        self.expander.counter, self.expander.work, self.includes = counts
        once_files, self.dependencies, self.absent, self.stack[-1].switches = files
        self.once_files = {name: file_table.identity(name) for name in once_files}
        self.diagnostics.keep_texts(kept_texts)

    # --- files ---

    def enter(self, source: SourceFile, portions: Portions = at_once) -> None:
        file = _File(source)
        file.parts = self.read(file, portions)
        self.stack.append(file)
        if not source.virtual and source.name not in self.dependencies:
            self.dependencies.append(source.name)
        self.set_file(source.name)

    def read(self, file: _File, portions: Portions) -> Iterator[tuple[bool, list[Token]]]:
        """Yield the parts of a file (see `_File`), and expand the last text lines of each portion."""
        text, name = file.source.text, file.source.name
        for portion in portions(self, text):
            first = 1 + text.count("\n", 0, portion.start)
            file.scanner = tk.Scanner(text[portion.start : portion.stop], name, first)
            yield from file.scanner.parts()
            self.flush()

    def set_file(self, name: str) -> None:
        self.expander.define(f'__FILE__ "{quoted(name)}"')

    def run(self) -> None:
        try:
            # A loop instead of recursion: a chain of 200 includes must not exhaust Python's stack.
            while self.stack:
                part = next(self.stack[-1].parts, None)
                if part is None:
                    self.leave()
                else:
                    self.part(*part)
            self.pragma_operators()
        except _Stop:
            self.complete = False

    def leave(self) -> None:
        self.close_file()
        file = self.stack.pop()
        if any(map(self.diagnostics.wants, tk.COMMENT_WARNINGS)):
            tk.check_comments(file.source.text, file.presumed_line, self.diagnostics, file.switches)
        tk.check_trigraphs(file.source.text, file.presumed_line, self.diagnostics, file.switches)
        add_presumed(file.source, file.regions, self.diagnostics)
        self.has_regions = self.has_regions or bool(file.regions)
        if self.stack:
            outer = self.stack[-1]
            self.set_file(outer.presumed or outer.source.name)

    def part(self, is_directive: bool, tokens: list[Token]) -> None:
        file = self.stack[-1]
        if file.shift or file.presumed is not None:
            for token in tokens:
                token.span = self.presumed_span(file, token.span)
        if is_directive:
            self.directive(tokens)
        elif self.enabled:
            self.pending += tokens

    @staticmethod
    def presumed_span(file: _File, span: Span) -> Span:
        name = file.presumed if file.presumed is not None else span.file
        return Span(name, span.line + file.shift, span.column, span.end_line + file.shift, span.end_column)

    def error(self, code: str, message: str, span: Span | None, notes: tuple[Note, ...] = ()) -> None:
        self.diagnostics.error(code, message, span, notes=notes)

    # --- text ---

    def flush(self) -> None:
        """Expand the text lines since the last directive that affects them."""
        pending, self.pending = self.pending, []
        if self.diagnostics.wants("dollar-in-identifier-extension"):
            for token in pending:
                if token.type == tk.ID and "$" in token.value:
                    self.diagnostics.warning("dollar-in-identifier-extension", "'$' in an identifier", token.span)
        tokens = self.expanded(pending)
        bad = [token for token in tokens if token.type == tk.BAD]
        for token in bad:
            self.bad_token(token)
        self.out += [token for token in tokens if token.type != tk.BAD] if bad else tokens

    def expanded(self, tokens: list[Token]) -> list[Token]:
        try:
            return self.expander.expand(tokens)
        except Unterminated as error:
            message = f"unterminated argument list of macro '{error.name.value}'"
            self.error("unterminated-invocation", message, error.name.span)
        except ExpansionLimit as error:
            what = f"{self.in_use()} expands to too much"
            self.error("expansion-too-large", f"{what}, more than {budgets.phrase(error.budget)}", self.expander.place)
        except RecursionError:
            self.error("expansion-too-deep", f"{self.in_use()} is nested too deeply", self.expander.place)
        raise _Stop

    def in_use(self) -> str:
        use = self.expander.use
        assert use is not None
        return f"macro '{use.value}'"

    def bad_token(self, token: Token) -> None:
        first = next((c for c in token.value if not (c == "$" or f"_{c}".isidentifier())), token.value[0])
        if first == '"' or first == "'":
            what = f"missing terminating {first} character"
            self.error("unterminated-literal", what, token.span)
        elif token.value.startswith("/*"):
            self.error("unterminated-comment", "unterminated /* comment", token.span)
        else:
            spelling = first if first.isprintable() else f"U+{ord(first):04X}"
            self.error("unexpected-character", f"unexpected character '{spelling}'", token.span)

    def pragma_operators(self) -> None:
        """Replace each `_Pragma("text")` by the token that `#pragma text` becomes."""
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
                text, span = " ".join(unquoted(parts[1].value).split()), token.span.to(parts[2].span)
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
            file.switches.append((name.span.line - file.shift, self.enabled))
            file.scanner.skipping = not self.enabled
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
        try:
            new_macro = definition(rest)
        except InvalidMacro as error:
            self.error("invalid-macro", error.message, error.token.span)
            return
        previous = self.expander.macros.get(macro)
        self.expander.macros[macro] = new_macro
        if previous is not None and previous.form != new_macro.form:
            notes = (Note("previous definition is here", previous.place),) if previous.place != tk.NOWHERE else ()
            self.diagnostics.warning("macro-redefined", f"'{macro}' macro redefined", rest[0].span, notes=notes)

    def undef(self, name: Token, rest: list[Token]) -> None:
        self.flush()
        macro = self.macro_name(name, rest)
        if macro in _RESERVED:
            self.error("invalid-macro-name", f"'{macro}' cannot be undefined", rest[0].span)
        elif macro is not None:
            self.expander.macros.pop(macro, None)
            self.extra(name, rest[1:])

    def include(self, name: Token, rest: list[Token]) -> None:
        self.flush()
        if rest and rest[0].type != tk.STRING and rest[0].value != "<":
            rest = self.expand_directive(rest)
        if rest and rest[0].type == tk.STRING:
            target, place, angled = rest[0].value[1:-1], rest[0].span, False
            self.extra(name, rest[1:])
        else:
            closing = next((i for i, token in enumerate(rest) if token.value == ">"), 0)
            if not closing or rest[0].value != "<":
                span = rest[0].span if rest else name.span
                self.error("invalid-include", 'expected "FILENAME" or <FILENAME>', span)
                return
            target, place, angled = tk.spelled(rest[1:closing]), rest[0].span.to(rest[closing].span), True
        self.open_include(target, angled, place)

    def open_include(self, target: str, angled: bool, place: Span) -> None:
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
        elif not self.once_files or file_table.identity(source.name) not in self.once_files.values():
            self.enter(source)

    def expand_directive(self, tokens: list[Token]) -> list[Token]:
        """Return the macro-expanded arguments of a directive."""
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
            own = self.stack[-1].source.name
            self.once_files[own] = file_table.identity(own)
            return
        if rest[0].value == "unroll":
            self.flush()
            rest = [rest[0], *self.expand_directive(rest[1:])]
        text, span = tk.spelled(rest), name.span.to(rest[-1].span)
        if not self.diagnostic_pragma(text, span):
            # The pragma is appended to the pending text, so that it keeps its position among the tokens.
            self.pending.append(Token(tk.PRAGMA, text, span))

    def diagnostic_pragma(self, text: str, span: Span) -> bool:
        """Apply a pragma about warnings and return True; return False for any other pragma."""
        words = text.split()
        return words[:2] == ["clang", "diagnostic"] and self.diagnostics.pragma(words[2:], span)

    def message(self, name: Token, rest: list[Token]) -> None:
        text, span = f"#{name.value} {tk.spelled(rest)}".rstrip(), name.span.to([name, *rest][-1].span)
        if name.value == "error":
            self.error("error-directive", text, span)
        else:
            self.diagnostics.warning("#warnings", text, span)

    def ignore(self, name: Token, rest: list[Token]) -> None:
        """Ignore #ident and #sccs."""

    def line_directive(self, name: Token, rest: list[Token]) -> None:
        self.flush()
        rest = self.expand_directive(rest)
        if not rest:
            self.error("invalid-line", "#line takes a line number", name.span)
            return
        self.line_marker(rest)

    def line_marker(self, rest: list[Token]) -> None:
        """Process `#line 12 "file"`, or a line marker `# 12 "file" flags` as -E prints."""
        number = rest[0].value
        if not number.isdigit() or len(number) > 10 or not 0 < int(number) < 1 << 31:
            self.error("invalid-line", "#line takes a positive line number", rest[0].span)
            return
        self.flush()
        file = self.stack[-1]
        physical = rest[0].span.line - file.shift
        if len(rest) > 1:
            if rest[1].type != tk.STRING:
                self.error("invalid-line", "#line takes a file name in quotes", rest[1].span)
                return
            file.presumed = unquoted(rest[1].value)
            self.set_file(file.presumed)
        file.shift = int(number) - physical - 1
        file.regions.append(Region(file.presumed or file.source.name, int(number), physical + 1))


_DIRECTIVES = {
    "define": Preprocessor.define,
    "undef": Preprocessor.undef,
    "include": Preprocessor.include,
    "pragma": Preprocessor.pragma,
    "error": Preprocessor.message,
    "warning": Preprocessor.message,
    "line": Preprocessor.line_directive,
    "ident": Preprocessor.ignore,
    "sccs": Preprocessor.ignore,
}


def preprocess(
    source: str | bytes,
    name: str,
    options: PreprocessOptions,
    diagnostics: Diagnostics,
    portions: Portions = at_once,
) -> TokenStream:
    """Return the tokens of a source text, which is read in portions.

    `name` is the name of the source, in whose directory quoted includes are searched first. Every text that is read is
    added to `diagnostics.sources`. Raises TooManyErrors if the diagnostics do.
    """
    opened = open_source(source, name, False, diagnostics)
    if opened is None:
        return TokenStream([], Span(name, 1, 1, 1, 1), [name], False)
    expander = Expander(
        lambda message, place: diagnostics.error("invalid-macro-use", message, place), diagnostics.keep_text
    )
    predefine(expander, options.cl_std, tuple(sorted(options.extensions.items())), options.fast_relaxed_math)
    driver = Preprocessor(expander, options, diagnostics)
    for macro, value in options.defines:
        define_option(driver, macro, value)
    for macro in options.undefines:
        expander.macros.pop(macro, None)
    text = opened.text
    driver.predefined = expander.macros.copy()
    driver.enter(opened, portions)
    if options.includes:
        lines = "".join(f'#include "{file}"\n' for file in options.includes)
        diagnostics.sources.add(COMMAND_LINE, lines)
        driver.enter(SourceFile(COMMAND_LINE, lines, True))
    driver.run()
    line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
    end, absent = Span(name, line, column, line, column), list(dict.fromkeys(driver.absent))
    return TokenStream(driver.out, end, driver.dependencies, driver.complete, absent, expander.macros)


def define_option(driver: Preprocessor, macro: str, value: str) -> None:
    """Define a macro of the command line; errors in its definition have no source location."""
    name = macro.partition("(")[0]
    if _NAME.match(name) and name not in _RESERVED:
        with suppress(InvalidMacro):
            new_macro = defined(f"{macro} {value.splitlines()[0] if value else ''}")
            if (name == macro) == (new_macro.parameters is None):
                driver.expander.macros[name] = new_macro
                return
    driver.error("invalid-macro-name", f"-D {macro}: not a macro name", None)
