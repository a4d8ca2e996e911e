"""The constant expressions of `#if`: 64-bit integers, signed or unsigned (C99, section 6.10.1)."""

from __future__ import annotations

import operator
from collections.abc import Callable

from . import tokens as tk
from .literals import LiteralError, decode_char, decode_integer
from .tokens import Token
from .words import PRECEDENCE

_MASK = (1 << 64) - 1
_DEEPEST = 200


class ConditionError(Exception):
    """What is wrong with the expression, and at which token (None: at its end)."""

    def __init__(self, message: str, token: Token | None) -> None:
        self.message, self.token = message, token
        super().__init__(message)


class _Number:
    """A 64-bit value; arithmetic wraps."""

    __slots__ = ("unsigned", "value")

    def __init__(self, value: int, unsigned: bool = False) -> None:
        self.unsigned = unsigned
        value &= _MASK
        self.value = value if unsigned or value <= _MASK >> 1 else value - (1 << 64)


def _truncated(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _shift(left: int, right: int) -> int:
    # Beyond the width C leaves it undefined; like clang, shift everything out.
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
            chosen = then if condition.value else otherwise
            condition = _Number(chosen.value, then.unsigned or otherwise.unsigned)
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
            inner = self.conditional(live)
            self.expect(")")
            return inner
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


def evaluate(tokens: list[Token]) -> bool:
    """Whether a fully macro-expanded `#if` expression holds; `defined` is replaced already.

    Raises ConditionError.
    """
    return value(tokens) != 0


def value(tokens: list[Token]) -> int:
    """The value of a fully macro-expanded constant expression of a directive. Raises ConditionError."""
    evaluator = _Evaluator(tokens)
    result = evaluator.conditional(live=True)
    extra = evaluator.peek()
    if extra is not None:
        raise ConditionError(f"unexpected '{extra.value}' after preprocessor expression", extra)
    return result.value
