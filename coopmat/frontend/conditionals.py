"""The conditional directives: which text counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from ..diagnostics import Diagnostics
from . import tokens as tk
from .conditions import ConditionError, evaluate
from .expansion import DYNAMIC, Expander
from .tokens import Token

#: clang's names, with or without `__` around them: what `__has_extension(X)` and `__has_feature(X)` hold for.
EXTENSIONS = frozenset(
    {"matrix_types", "c_static_assert", "c_generic_selections", "attribute_ext_vector_type", "attribute_overloadable"}
)
_EXTENSION_TESTS = frozenset({"__has_extension", "__has_feature"})


@dataclass(slots=True)
class Condition:
    """One open `#if`: whether the text around it counts, a branch was taken, `#else` was seen."""

    opener: Token
    outer: bool
    taken: bool
    has_else: bool = False


class Conditionals(ABC):
    """The `#if` part of the preprocessor; the rest of it provides what is only declared here."""

    diagnostics: Diagnostics
    expander: Expander
    enabled: bool
    pending: list[Token]

    @property
    @abstractmethod
    def conditions(self) -> list[Condition]:
        """Those open in the file that is being read, outermost first."""

    @abstractmethod
    def expand_directive(self, tokens: list[Token]) -> list[Token]: ...

    @abstractmethod
    def macro_name(self, name: Token, rest: list[Token]) -> str | None: ...

    @abstractmethod
    def extra(self, name: Token, rest: list[Token]) -> None: ...

    def conditional(self, tokens: list[Token]) -> bool:
        """Deal with a directive (from its name on) if it is a conditional one."""
        handler = _HANDLERS.get(tokens[0].value)
        if handler is not None:
            handler(self, tokens[0], tokens[1:])
        return handler is not None

    def close_file(self) -> None:
        """At the end of a file no condition stays open."""
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
        # The text before keeps waiting: a condition may stand inside a macro's arguments.
        pending = self.pending
        try:
            # A second time for what macros make.
            return evaluate(self.replace_defined(self.expand_directive(self.replace_defined(rest))))
        except ConditionError as error:
            place = error.token if error.token is not None else rest[-1]
            self.diagnostics.error("invalid-condition", error.message, place.span)
            return False
        finally:
            self.pending = pending

    def replace_defined(self, tokens: list[Token]) -> list[Token]:
        """`defined X`, `defined(X)` and `__has_...(X)` as 0 or 1."""
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
        if condition.outer and not condition.taken:
            self.enabled = condition.taken = self.condition(name, rest)

    def otherwise(self, name: Token, rest: list[Token]) -> None:
        condition = self.innermost(name)
        if condition is None:
            return
        if condition.has_else:
            self.diagnostics.error("unmatched-conditional", "#else after #else", name.span)
        self.extra(name, rest)
        condition.has_else = True
        self.enabled = condition.outer and not condition.taken
        condition.taken = True

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
