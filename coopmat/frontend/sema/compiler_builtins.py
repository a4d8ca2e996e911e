"""Builtin functions of clang that kernels use, such as `__builtin_expect`: a table with a row for each."""

from __future__ import annotations

from collections.abc import Callable

from .. import syntax, typed
from ..typed import Expr
from ..types import INT, LONG, VOID, Type
from . import elementwise
from .context import Context, plural
from .conversions import assign_convert, condition
from .values import constant_value, rvalue


def _values(c: Context, name: str, node: syntax.Call, count: int) -> list[Expr]:
    if len(node.arguments) != count:
        message = f"'{name}' takes {plural(count, 'argument')}, not {len(node.arguments)}"
        c.fail("argument-count", message, node.span)
    return [rvalue(c.analyse(argument)) for argument in node.arguments]


def _expect(c: Context, name: str, node: syntax.Call) -> Expr:
    """Return the first argument; its likely value, the second argument, is a hint that is ignored."""
    value = _values(c, name, node, 2)[0]
    return assign_convert(c, value, LONG, node.arguments[0].span, f"argument 1 of '{name}'")


def _assume(c: Context, name: str, node: syntax.Call) -> Expr:
    """Check the condition of an assumption and return a void value; the condition is not evaluated."""
    condition(c, _values(c, name, node, 1)[0], f"argument 1 of '{name}'")
    return typed.Zero(node.span, VOID)


def _unreachable(c: Context, name: str, node: syntax.Call) -> Expr:
    _values(c, name, node, 0)
    return typed.Zero(node.span, VOID)


def _constant_p(c: Context, name: str, node: syntax.Call) -> Expr:
    return typed.IntConst(node.span, INT, int(constant_value(_values(c, name, node, 1)[0]) is not None))


def _value_and_type(c: Context, name: str, node: syntax.Call) -> tuple[Type, Expr]:
    last = node.arguments[-1] if node.arguments else None
    if len(node.arguments) != 2 or not isinstance(last, syntax.TypeArgument):
        c.fail("argument-count", f"'{name}' takes a value and a type", node.span)
    return c.type_name(last.type_name), rvalue(c.analyse(node.arguments[0]))


def _astype(c: Context, name: str, node: syntax.Call) -> Expr:
    from .calls import reinterpret

    t, value = _value_and_type(c, name, node)
    return reinterpret(c, name, t, [value], node)


def _convertvector(c: Context, name: str, node: syntax.Call) -> Expr:
    from .calls import convert_by_name

    t, value = _value_and_type(c, name, node)
    return convert_by_name(c, name, t, [value], node)


_TABLE: dict[str, Callable[[Context, str, syntax.Call], Expr]] = {
    "__builtin_expect": _expect,
    "__builtin_assume": _assume,
    "__builtin_unreachable": _unreachable,
    "__builtin_constant_p": _constant_p,
    "__builtin_astype": _astype,
    "__builtin_convertvector": _convertvector,
    **elementwise.TABLE,
}
NAMES = frozenset(_TABLE)


def call(c: Context, name: str, node: syntax.Call) -> Expr:
    """Analyse a call of one of `NAMES`."""
    return _TABLE[name](c, name, node)
