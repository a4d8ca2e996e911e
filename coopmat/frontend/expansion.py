"""Macros and their expansion (C11 6.10.3), with bounded work; tokens keep their positions.

Tokens are read from a stack of token sequences: the source text at the bottom, above it the replacements that are being
read. While a macro's replacement is on the stack, the macro's name is not replaced. A token with that name that is read
meanwhile is painted: it is never replaced later. Arguments are read through the stack, so they may begin in a
replacement and end in the text after the macro's use.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .. import budgets
from ..diagnostics import Span
from . import macros as predefined, tokens as tk
from .tokens import Token

#: Macros whose replacement is computed at each use.
DYNAMIC = frozenset({"__LINE__", "__COUNTER__"})
VARIADIC = "__VA_ARGS__"
_DEEPEST_ARGUMENTS = 256


class ExpansionLimit(Exception):
    """An exception for a macro expansion that exceeds a limit; `budget` names the exhausted budget."""

    def __init__(self, budget: str) -> None:
        super().__init__(budget)
        self.budget = budget


class Unterminated(Exception):
    """An exception for a text that ends inside the arguments of a macro; `name` is the token of the macro's name."""

    def __init__(self, name: Token) -> None:
        super().__init__(name.value)
        self.name = name


@dataclass(frozen=True, slots=True)
class _Operand:
    """A token of a macro's replacement.

    argument: the index of the parameter that the token names, or None.
    stringized: whether `#` precedes the parameter.
    """

    token: Token
    argument: int | None = None
    stringized: bool = False


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro definition.

    parameters: None for an object-like macro. If `variadic`, the last parameter takes all remaining arguments, commas
      included.
    groups: the operands of the replacement. Operands joined by `##` form one group; a token that is neither joined nor
      a parameter is listed without a group.
    text: the source text of the definition.
    place: the span of the macro's name.
    """

    name: str
    parameters: tuple[str, ...] | None
    variadic: bool
    replacement: tuple[Token, ...]
    groups: tuple[Token | tuple[_Operand, ...], ...]
    text: str
    place: Span

    @property
    def form(self) -> object:
        """Return the parts that must be equal in two definitions of one name (C11 6.10.3, paragraph 2)."""
        return self.parameters, self.variadic, [(token.value, token.spaced) for token in self.replacement]


class _Source:
    """A sequence of tokens that is being read; `macro` is the macro they replace, `at` the index of the next token."""

    __slots__ = ("at", "macro", "tokens")

    def __init__(self, tokens: Sequence[Token], macro: str = "") -> None:
        self.tokens, self.macro, self.at = tokens, macro, 0


@dataclass(slots=True)
class _Room:
    """The remaining budgets of one use of a macro in the source text: numbers of tokens, steps and characters."""

    tokens: int
    work: int
    characters: int


class Expander:
    """The macros of one compilation, by name, and their expansion.

    `report` is called with the message and the place of an error in the use of a macro. `expanded` is called with the
    place of a use that was replaced by several tokens.
    """

    def __init__(self, report: Callable[[str, Span], None], expanded: Callable[[Span], None]) -> None:
        self.macros: dict[str, Macro] = {}
        self.report, self.expanded = report, expanded
        self.work = budgets.limit("expansion-work")
        self.counter = 0
        # The tokens that `##` has made; a preamble records them as names that were looked up.
        self.joined: set[str] = set()
        # Names of macros whose replacements are being read.
        self._open: set[str] = set()
        self._depth = 0
        # The macro name in the source text that is being expanded, its place (the place of all tokens of its
        # expansion), and its remaining budgets.
        self.use: Token | None = None
        self.place = tk.NOWHERE
        self._room = _Room(0, 0, 0)

    def define(self, text: str) -> None:
        """Define a macro from a well-formed text "NAME replacement" or "NAME(parameters) replacement"."""
        macro = defined(text)
        self.macros[macro.name] = macro

    def expand(self, tokens: Sequence[Token]) -> list[Token]:
        """Return a text with its macros replaced.

        Raises ExpansionLimit, Unterminated, and RecursionError for arguments that are nested too deeply.
        """
        self._open.clear()
        self._depth = 0
        return self._read([_Source(tokens)])

    def _read(self, stack: list[_Source]) -> list[Token]:
        out: list[Token] = []
        macros, outermost, start = self.macros, self._depth == 0, 0
        in_use = False
        while stack:
            source = stack[-1]
            if source.at == len(source.tokens):
                self._close(stack.pop())
                continue
            if outermost and in_use and len(stack) == 1:
                in_use = False
                self._end_use(len(out) - start)
            tokens, at = source.tokens, source.at
            for at in range(at, len(tokens)):  # noqa: B020 - the index is what is wanted
                token = tokens[at]
                if token.type == tk.ID and (token.value in macros or token.value in DYNAMIC) and not token.painted:
                    break
            else:
                out += tokens[source.at :]
                source.at = len(tokens)
                continue
            out += tokens[source.at : at]
            source.at = at + 1
            if outermost and len(stack) == 1:
                in_use, start = True, len(out)
                self.use, self.place = token, token.span
                self._room = _Room(*(budgets.limit(f"macro-{name}") for name in ("tokens", "work", "characters")))
            replacement = self._replacement(token, stack)
            if replacement is None:
                out.append(token)
            else:
                stack.append(replacement)
                self._open.add(replacement.macro)
            if len(out) - start > self._room.tokens:
                raise ExpansionLimit("macro-tokens")
        if outermost and in_use:
            self._end_use(len(out) - start)
        return out

    def _end_use(self, count: int) -> None:
        if count > self._room.tokens:
            raise ExpansionLimit("macro-tokens")
        if count > 1:
            self.expanded(self.place)

    def _close(self, source: _Source) -> None:
        self._open.discard(source.macro)

    def _replacement(self, token: Token, stack: list[_Source]) -> _Source | None:
        """Return the tokens that replace a name and its arguments, or None if the name is not replaced."""
        name = token.value
        macro = self.macros.get(name)
        if macro is None:
            return _Source([self._dynamic(token)])
        if name in self._open:
            return _Source([_painted(token)])
        arguments: list[list[Token]] = []
        if macro.parameters is not None:
            if not _opens_list(stack):
                return None
            arguments = self._arguments(macro, token, stack)
            if not self._fit(macro, arguments):
                return _Source([_painted(token)])
        tokens = self._substituted(macro, token, arguments)
        self._spend(tokens)
        return _Source(tokens, name)

    def _dynamic(self, token: Token) -> Token:
        value = self.counter if token.value == "__COUNTER__" else self.place.line
        self.counter += token.value == "__COUNTER__"
        return Token(tk.INTEGER, str(value), self.place, token.spaced)

    def _spend(self, tokens: Sequence[Token]) -> None:
        room, count = self._room, len(tokens) + 1
        self.work -= count
        room.work -= count
        room.characters -= sum(len(token.value) for token in tokens)
        for name, balance in (
            ("expansion-work", self.work),
            ("macro-work", room.work),
            ("macro-characters", room.characters),
        ):
            if balance < 0:
                raise ExpansionLimit(name)

    # --- arguments

    def _arguments(self, macro: Macro, name: Token, stack: list[_Source]) -> list[list[Token]]:
        """Read a list of arguments, beginning with the opening parenthesis. Raises Unterminated and RecursionError."""
        assert macro.parameters is not None
        arguments: list[list[Token]] = [[]]
        depth, deepest, last = 0, 0, len(macro.parameters) if macro.variadic else 0
        while True:
            while stack and stack[-1].at == len(stack[-1].tokens):
                self._close(stack.pop())
            if not stack:
                raise Unterminated(name)
            source = stack[-1]
            token = source.tokens[source.at]
            source.at += 1
            value = token.value
            if value in self._open:
                token = _painted(token)
            if value == "(" and token.type == tk.PUNCTUATOR:
                depth += 1
                deepest = max(depth, deepest)
                if depth == 1:
                    continue
            elif value == ")" and token.type == tk.PUNCTUATOR:
                depth -= 1
                if depth == 0:
                    if deepest > _DEEPEST_ARGUMENTS:
                        raise RecursionError
                    return [] if not macro.parameters and arguments == [[]] else arguments
            elif value == "," and depth == 1 and token.type == tk.PUNCTUATOR and len(arguments) != last:
                arguments.append([])
                continue
            arguments[-1].append(token)

    def _fit(self, macro: Macro, arguments: list[list[Token]]) -> bool:
        """Return whether the number of arguments fits, after an error if not.

        If the arguments of `...` are omitted, append an empty one.
        """
        assert macro.parameters is not None
        count, number = len(macro.parameters), len(arguments)
        if macro.variadic and number == count - 1:
            arguments.append([])
            return True
        if number == count:
            return True
        takes = f"at least {count - 1} arguments" if macro.variadic else f"{count} arguments, but {number} given"
        self.report(f"macro '{macro.name}' takes {takes}", self.place)
        return False

    # --- replacements

    def _substituted(self, macro: Macro, name: Token, arguments: list[list[Token]]) -> list[Token]:
        out: list[Token] = []
        expanded: dict[int, list[Token]] = {}
        # A long argument may be stringized thousands of times.
        strings: dict[int, str] = {}
        spaced, place = name.spaced, self.place
        for group in macro.groups:
            if isinstance(group, Token):
                out.append(Token(group.type, group.value, place, spaced or (group.spaced and bool(out))))
                spaced = False
                continue
            first = group[0]
            spaced = spaced or (first.token.spaced and bool(out))
            if len(group) > 1:
                part = self._pasted(macro, group, arguments, strings)
            elif first.argument is None or first.stringized:
                part = self._unexpanded(first, arguments, strings)
            else:
                number = first.argument
                if number not in expanded:
                    expanded[number] = self._expanded_argument(arguments[number])
                part = expanded[number]
            if part:
                out.append(_with_space(part[0], spaced))
                out += part[1:]
                spaced = False
        return out

    def _expanded_argument(self, argument: list[Token]) -> list[Token]:
        if not any(
            token.type == tk.ID and (token.value in self.macros or token.value in DYNAMIC) for token in argument
        ):
            return argument
        self._depth += 1
        if self._depth > _DEEPEST_ARGUMENTS:
            raise RecursionError
        expansion = self._read([_Source(argument)])
        self._depth -= 1
        return expansion

    def _pasted(
        self, macro: Macro, group: tuple[_Operand, ...], arguments: list[list[Token]], strings: dict[int, str]
    ) -> list[Token]:
        """Return the operands of `##` as one token, or as the tokens of their joined text; skip empty operands."""
        if _is_comma_before_rest(macro, group):
            # GNU's `, ## __VA_ARGS__`: if the variadic arguments are empty, the comma is removed, too.
            rest = arguments[-1]
            return [self._placed(group[0].token), *rest] if rest else []
        out: list[Token] = []
        for operand in group:
            part = self._unexpanded(operand, arguments, strings)
            if not part or operand is group[0] or not out:
                out = [*out, *part]
                continue
            previous = out.pop()
            joined = previous.value + part[0].value
            self._spend([Token(tk.ID, joined, self.place)])
            # Two operands whose joined text would begin a comment are not joined.
            tokens = [previous, part[0]] if joined in ("//", "/*") else tk.scanned(joined, self.place)
            self.joined.add(joined)
            out += [_with_space(tokens[0], previous.spaced), *tokens[1:], *part[1:]]
        return out

    def _unexpanded(self, operand: _Operand, arguments: list[list[Token]], strings: dict[int, str]) -> list[Token]:
        """Return an operand of `##`; arguments are not macro-expanded. `strings` caches stringized arguments."""
        number = operand.argument
        if number is None:
            return [self._placed(operand.token)]
        if not operand.stringized:
            return arguments[number]
        if number not in strings:
            strings[number] = _stringized(arguments[number])
        return [Token(tk.STRING, strings[number], self.place)]

    def _placed(self, token: Token) -> Token:
        return Token(token.type, token.value, self.place, token.spaced)


def _painted(token: Token) -> Token:
    return Token(token.type, token.value, token.span, token.spaced, painted=True)


def _with_space(token: Token, spaced: bool) -> Token:
    if token.spaced == spaced:
        return token
    return Token(token.type, token.value, token.span, spaced, token.painted)


def _opens_list(stack: list[_Source]) -> bool:
    for source in reversed(stack):
        if source.at < len(source.tokens):
            token = source.tokens[source.at]
            return token.value == "(" and token.type == tk.PUNCTUATOR
    return False


def _stringized(argument: list[Token]) -> str:
    """Return an argument as the text of a string literal (C11 6.10.3.2)."""
    text = ""
    for number, token in enumerate(argument):
        space = token.spaced or token.span.line > argument[number - 1].span.end_line
        value = re.sub(r'(["\\])', r"\\\1", token.value) if token.type in (tk.STRING, tk.CHAR) else token.value
        text += f"{' ' * (space and number > 0)}{value}"
    return f'"{text}"'


def _is_comma_before_rest(macro: Macro, group: tuple[_Operand, ...]) -> bool:
    """Return whether a group is a comma and `__VA_ARGS__`; false without a named parameter, as in clang's OpenCL C."""
    if not macro.variadic or macro.parameters is None or len(macro.parameters) < 2 or len(group) != 2:
        return False
    comma, rest = group
    return comma.token.value == "," and rest.argument == len(macro.parameters) - 1 and not rest.stringized


# --- definitions -----------------------------------------------------------------------------------


class InvalidMacro(Exception):
    """An exception for a malformed definition; `token` is the faulty token, `message` the reason."""

    def __init__(self, message: str, token: Token) -> None:
        super().__init__(message)
        self.message, self.token = message, token


def definition(tokens: Sequence[Token]) -> Macro:
    """Return the macro that the tokens after `#define` define, the name first. Raises InvalidMacro."""
    name, body = tokens[0], list(tokens[1:])
    parameters: list[str] | None = None
    variadic = False
    head = name.value
    if body and body[0].value == "(" and not body[0].spaced:
        parameters, variadic, end = _parameters(body)
        head += tk.spelled(body[:end])
        body = body[end:]
    for token in body[:1] + body[-1:]:
        if token.type == tk.PASTE:
            raise InvalidMacro("'##' cannot be the first or last token of a macro's replacement", token)
    replacement = tuple(
        Token(token.type, token.value, tk.NOWHERE, token.spaced and number > 0) for number, token in enumerate(body)
    )
    text = f"{head} {tk.spelled(body)}".rstrip()
    names = None if parameters is None else tuple(parameters)
    return Macro(name.value, names, variadic, replacement, tuple(_groups(replacement, names)), text, name.span)


def defined(text: str) -> Macro:
    """Return the macro that "NAME replacement" or "NAME(parameters) replacement" defines. Raises InvalidMacro."""
    return definition(tk.scanned(text))


def _parameters(tokens: Sequence[Token]) -> tuple[list[str], bool, int]:
    """Return the names in `(a, b, ...)`, whether the list is variadic, and the index after it. Raises InvalidMacro."""
    names: list[str] = []
    at, wants_name = 1, True
    if len(tokens) > 1 and tokens[1].value == ")":
        return names, False, 2
    while at < len(tokens):
        token = tokens[at]
        if token.value == "...":
            if at + 1 == len(tokens) or tokens[at + 1].value != ")":
                break
            # GNU's `rest...` names the variadic parameter.
            return [*names, VARIADIC] if wants_name else names, True, at + 2
        if wants_name and (token.type != tk.ID or token.value in names):
            break
        if wants_name:
            names.append(token.value)
        elif token.value == ")":
            return names, False, at + 1
        elif token.value != ",":
            break
        wants_name = not wants_name
        at += 1
    raise InvalidMacro("invalid parameter list of a macro", tokens[min(at, len(tokens) - 1)])


def _groups(
    replacement: tuple[Token, ...], parameters: tuple[str, ...] | None
) -> Iterator[Token | tuple[_Operand, ...]]:
    numbers = {name: number for number, name in enumerate(parameters or ())}
    group: list[_Operand] = []
    joins, at = True, 0
    while at < len(replacement):
        token = replacement[at]
        after = replacement[at + 1] if at + 1 < len(replacement) else None
        at += 1
        if token.type == tk.PASTE:
            joins = True
            continue
        operand = _Operand(token, numbers.get(token.value) if token.type == tk.ID else None)
        if token.value == "#" and parameters is not None and after is not None and after.value in numbers:
            operand = _Operand(token, numbers[after.value], stringized=True)
            at += 1
        if group and not joins:
            yield _group(group)
            group = []
        group.append(operand)
        joins = False
    if group:
        yield _group(group)


def _group(operands: list[_Operand]) -> Token | tuple[_Operand, ...]:
    first = operands[0]
    is_plain = len(operands) == 1 and first.argument is None and not first.stringized
    return first.token if is_plain else tuple(operands)


# --- predefined macros -------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _predefined(cl_std: str, extensions: tuple[tuple[str, bool], ...], relaxed: bool) -> dict[str, Macro]:
    rows = [*predefined.FIXED, *predefined.option_macros(cl_std, dict(extensions), relaxed)]
    return {macro.name: macro for macro in (defined(f"{name} {value}") for name, value in rows)}


def predefine(
    expander: Expander, cl_std: str, extensions: tuple[tuple[str, bool], ...], fast_relaxed_math: bool
) -> None:
    """Define the macros that OpenCL C predefines (`macros`), and the macros for date and time."""
    expander.macros.update(_predefined(cl_std, extensions, fast_relaxed_math))
    local_time = time.localtime()
    expander.define(f'__DATE__ "{time.strftime("%b %d %Y", local_time)}"')
    expander.define(f'__TIME__ "{time.strftime("%H:%M:%S", local_time)}"')
