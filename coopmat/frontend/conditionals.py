"""The conditional directives of the preprocessor, which decide which text is compiled.

Conditions are constant expressions of 64-bit integers, signed or unsigned (C99, section 6.10.1).
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from ..diagnostics import Diagnostics
from . import tokens as tk
from .expansion import DYNAMIC, Expander
from .literals import LiteralError, decode_char, decode_integer
from .tokens import Token
from .words import PRECEDENCE

#: The names for which `__has_extension(X)` and `__has_feature(X)` are 1: clang's, with or without `__` around them.
EXTENSIONS = frozenset(
    {"matrix_types", "c_static_assert", "c_generic_selections", "attribute_ext_vector_type", "attribute_overloadable"}
)
_EXTENSION_TESTS = frozenset({"__has_extension", "__has_feature"})


@dataclass(slots=True)
class Condition:
    """An open `#if` or related directive.

    opener: the directive's name.
    outer: whether the text around the directive is compiled.
    taken_branch: whether one of the branches was compiled.
    has_else: whether `#else` has been read.
    """

    opener: Token
    outer: bool
    taken_branch: bool
    has_else: bool = False


class Conditionals(ABC):
    """The part of the preprocessor that handles `#if`; the rest of the preprocessor defines the abstract members."""

    diagnostics: Diagnostics
    expander: Expander
    enabled: bool
    pending: list[Token]

    @property
    @abstractmethod
    def conditions(self) -> list[Condition]:
        """Return the open conditions of the file that is being read, outermost first."""

    @abstractmethod
    def expand_directive(self, tokens: list[Token]) -> list[Token]: ...

    @abstractmethod
    def macro_name(self, name: Token, rest: list[Token]) -> str | None: ...

    @abstractmethod
    def extra(self, name: Token, rest: list[Token]) -> None: ...

    def conditional(self, tokens: list[Token]) -> bool:
        """Process a directive (its tokens from the name on) if it is conditional, and return whether it is."""
        handler = _HANDLERS.get(tokens[0].value)
        if handler is not None:
            handler(self, tokens[0], tokens[1:])
        return handler is not None

    def close_file(self) -> None:
        """Report the conditions that are still open at the end of a file."""
        for condition in self.conditions:
            message = f"unterminated #{condition.opener.value}"
            self.diagnostics.error("unterminated-conditional", message, condition.opener.span)
        if self.conditions:
            self.enabled = self.conditions[0].outer

    def open_condition(self, name: Token, rest: list[Token]) -> None:
        holds = self.enabled and self.condition(name, rest)
        self.conditions.append(Condition(name, self.enabled, holds))
        self.enabled = holds

    def condition(self, name: Token, rest: list[Token]) -> bool:
        if name.value in ("if", "elif"):
            return self.evaluate(name, rest)
        macro = self.macro_name(name, rest)
        if macro is None:
            return False
        self.extra(name, rest[1:])
        return self.is_defined(macro) == name.value.endswith("ifdef")

    def is_defined(self, name: str) -> bool:
        return name in self.expander.macros or name in DYNAMIC or name in _EXTENSION_TESTS

    def evaluate(self, name: Token, rest: list[Token]) -> bool:
        if not rest:
            self.diagnostics.error("invalid-condition", f"#{name.value} has no expression", name.span)
            return False
        # The pending text stays pending: a condition may be inside the arguments of a macro.
        pending = self.pending
        try:
            # `defined` is replaced again after the expansion, since macros may produce it.
            return value(self.replace_defined(self.expand_directive(self.replace_defined(rest)))) != 0
        except ConditionError as error:
            place = error.token if error.token is not None else rest[-1]
            self.diagnostics.error("invalid-condition", error.message, place.span)
            return False
        finally:
            self.pending = pending

    def replace_defined(self, tokens: list[Token]) -> list[Token]:
        """Replace `defined X`, `defined(X)` and `__has_...(X)` by 0 or 1.

        Raise ConditionError for a malformed operand.
        """
        out: list[Token] = []
        at = 0
        while at < len(tokens):
            token, values = tokens[at], [t.value for t in tokens[at + 1 : at + 4]]
            at += 1
            if token.value == "defined":
                bracketed = values[:1] == ["("]
                operand = tokens[at + bracketed : at + bracketed + 1]
                if not operand or operand[0].type != tk.ID or (bracketed and values[2:] != [")"]):
                    raise ConditionError("'defined' takes a macro name", token)
                at += 3 if bracketed else 1
                token = Token(tk.INTEGER, str(int(self.is_defined(operand[0].value))), token.span)
            elif token.value.startswith("__has_") and values[:1] == ["("] and token.value not in self.expander.macros:
                holds = token.value in _EXTENSION_TESTS and values[2:] == [")"] and values[1].strip("_") in EXTENSIONS
                while at < len(tokens) and tokens[at].value != ")":
                    at += 1
                at += 1
                token = Token(tk.INTEGER, str(int(holds)), token.span)
            out.append(token)
        return out

    def innermost(self, name: Token) -> Condition | None:
        conditions = self.conditions
        if not conditions:
            self.diagnostics.error("unmatched-conditional", f"#{name.value} without #if", name.span)
            return None
        return conditions[-1]

    def else_if(self, name: Token, rest: list[Token]) -> None:
        condition = self.innermost(name)
        if condition is None:
            return
        if condition.has_else:
            self.diagnostics.error("unmatched-conditional", f"#{name.value} after #else", name.span)
        self.enabled = False
        if condition.outer and not condition.taken_branch:
            self.enabled = condition.taken_branch = self.condition(name, rest)

    def otherwise(self, name: Token, rest: list[Token]) -> None:
        condition = self.innermost(name)
        if condition is None:
            return
        if condition.has_else:
            self.diagnostics.error("unmatched-conditional", "#else after #else", name.span)
        self.extra(name, rest)
        condition.has_else = True
        self.enabled = condition.outer and not condition.taken_branch
        condition.taken_branch = True

    def close_condition(self, name: Token, rest: list[Token]) -> None:
        condition = self.innermost(name)
        if condition is not None:
            self.extra(name, rest)
            self.conditions.pop()
            self.enabled = condition.outer


_HANDLERS: dict[str, Callable[[Conditionals, Token, list[Token]], None]] = {
    "if": Conditionals.open_condition,
    "ifdef": Conditionals.open_condition,
    "ifndef": Conditionals.open_condition,
    "elif": Conditionals.else_if,
    "elifdef": Conditionals.else_if,
    "elifndef": Conditionals.else_if,
    "else": Conditionals.otherwise,
    "endif": Conditionals.close_condition,
}


# --- expressions -----------------------------------------------------------------------------------


_MASK = (1 << 64) - 1
_DEEPEST = 200


class ConditionError(Exception):
    """An exception for a malformed expression; `token` is the faulty token, or None at the end of the expression."""

    def __init__(self, message: str, token: Token | None) -> None:
        self.message, self.token = message, token
        super().__init__(message)


class _Number:
    """A 64-bit integer, signed or unsigned, whose value wraps."""

    __slots__ = ("unsigned", "value")

    def __init__(self, value: int, unsigned: bool = False) -> None:
        self.unsigned = unsigned
        value &= _MASK
        self.value = value if unsigned or value <= _MASK >> 1 else value - (1 << 64)


def _truncated(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _shift(left: int, right: int) -> int:
    # In C, a shift by the width or more is undefined. As in clang, all bits are shifted out.
    if right < 0:
        return left >> min(-right, 64)
    return left << right if right < 64 else 0


_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    **{"*": operator.mul, "/": _truncated, "%": lambda a, b: a - _truncated(a, b) * b},
    **{"+": operator.add, "-": operator.sub, "&": operator.and_, "^": operator.xor, "|": operator.or_},
}
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    **{"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge},
    **{"==": operator.eq, "!=": operator.ne},
}


class _Evaluator:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0

    def peek(self) -> Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def accept(self, text: str) -> bool:
        token = self.peek()
        if token is None or token.value != text:
            return False
        self.at += 1
        return True

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise ConditionError(f"expected '{text}' in preprocessor expression", self.peek())

    def conditional(self, live: bool) -> _Number:
        self.enter()
        condition = self.binary(0, live)
        if self.accept("?"):
            then = self.conditional(live and condition.value != 0)
            self.expect(":")
            otherwise = self.conditional(live and condition.value == 0)
            branch = then if condition.value else otherwise
            condition = _Number(branch.value, then.unsigned or otherwise.unsigned)
        self.depth -= 1
        return condition

    def enter(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise ConditionError("preprocessor expression is nested too deeply", self.peek())

    def binary(self, lowest: int, live: bool) -> _Number:
        left = self.unary(live)
        while (token := self.peek()) is not None and PRECEDENCE.get(token.value, -1) >= lowest:
            self.at += 1
            op = token.value
            needed = live
            if op in ("&&", "||"):
                needed = live and (left.value != 0) == (op == "&&")
            right = self.binary(PRECEDENCE[op] + 1, needed)
            left = _apply(token, left, right, live)
        return left

    def unary(self, live: bool) -> _Number:
        token = self.peek()
        if token is None:
            raise ConditionError("expected a value in preprocessor expression", None)
        self.at += 1
        if token.value in ("+", "-", "!", "~"):
            self.enter()
            operand = self.unary(live)
            self.depth -= 1
            if token.value == "!":
                return _Number(not operand.value)
            value = {"+": operand.value, "-": -operand.value, "~": ~operand.value}[token.value]
            return _Number(value, operand.unsigned)
        if token.value == "(":
            number = self.conditional(live)
            self.expect(")")
            return number
        return self.operand(token)

    def operand(self, token: Token) -> _Number:
        try:
            if token.type == tk.INTEGER:
                literal = decode_integer(token.value)
                return _Number(literal.value, "u" in literal.suffix or literal.value > _MASK >> 1)
            if token.type == tk.CHAR:
                return _Number(decode_char(token.value))
        except LiteralError as error:
            raise ConditionError(error.message, token) from None
        if token.type == tk.ID:
            following = self.peek()
            if following is not None and following.value == "(":
                raise ConditionError(f"function-like macro '{token.value}' is not defined", token)
            return _Number(0)
        raise ConditionError(f"'{token.value}' is not valid in a preprocessor expression", token)


def _apply(token: Token, left: _Number, right: _Number, live: bool) -> _Number:
    op = token.value
    if op == "&&":
        return _Number(left.value != 0 and right.value != 0)
    if op == "||":
        return _Number(left.value != 0 or right.value != 0)
    if op in ("<<", ">>"):
        return _Number(_shift(left.value, right.value if op == "<<" else -right.value), left.unsigned)
    unsigned = left.unsigned or right.unsigned
    a, b = (left.value & _MASK, right.value & _MASK) if unsigned else (left.value, right.value)
    if op in _COMPARISONS:
        return _Number(_COMPARISONS[op](a, b))
    if op in ("/", "%") and b == 0:
        if live:
            raise ConditionError("division by zero in preprocessor expression", token)
        return _Number(0, unsigned)
    return _Number(_ARITHMETIC[op](a, b), unsigned)


def value(tokens: list[Token]) -> int:
    """Return the value of a directive's constant expression, whose macros are expanded.

    Raise ConditionError if the expression is malformed.
    """
    evaluator = _Evaluator(tokens)
    result = evaluator.conditional(live=True)
    extra = evaluator.peek()
    if extra is not None:
        raise ConditionError(f"unexpected '{extra.value}' after preprocessor expression", extra)
    return result.value
