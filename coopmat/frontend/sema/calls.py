"""Calls: user functions, builtins of the tables, conversions by name, matrix builtins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NoReturn

from ...diagnostics import FixIt, Note
from ...matrix_types import sema as matrix_types
from .. import builtins, syntax, typed
from ..foreign_names import METHODS, NAMES
from ..storage_types import is_storage_vector
from ..typed import Convert, ConvertKind, Expr
from ..types import (
    CoopMatrixType,
    PointerType,
    ScalarType,
    Type,
    VectorType,
    VoidType,
    element_count,
    element_type,
    is_bits,
    size_of,
)
from . import address_spaces, compiler_builtins, matrices, printf, restricted_types
from .context import Context, Overloads, Poisoned, plural
from .conversions import assign_convert
from .hints import spelled
from .values import constant_value, convert_arithmetic, fold_bits, rvalue


def call(c: Context, node: syntax.Call, expected: Type | None) -> Expr:
    callee = node.callee
    while isinstance(callee, syntax.Paren):
        callee = callee.inner
    if not isinstance(callee, syntax.Identifier):
        _not_a_name(c, callee, node)
    entity = c.scope.find(callee.name)
    if isinstance(entity, typed.FunctionDecl):
        return _user_call(c, entity, node)
    if isinstance(entity, Overloads):
        return _overloaded_call(c, entity, node)
    if isinstance(entity, Poisoned):
        c.abandon()
    if entity is not None:
        c.fail("not-a-function", f"'{callee.name}' is not a function", callee.span)
    if callee.name in matrices.BUILTINS:
        return matrices.call(c, callee.name, node, expected)
    if callee.name in matrix_types.BUILTINS:
        return matrix_types.call(c, callee.name, node)
    return _builtin_call(c, callee.name, node, expected)


def _not_a_name(c: Context, callee: syntax.Expression, node: syntax.Call) -> NoReturn:
    """Report a call whose callee is no name, such as a member function of another language."""
    if not isinstance(callee, syntax.Member):
        c.fail("not-a-function", "only a function can be called, by its name", callee.span)
    equivalent = METHODS.get(callee.name) or NAMES.get(callee.name)
    base = spelled(c, callee.base.span)
    fixits = []
    if callee.name in METHODS and not node.arguments and base and not callee.arrow:
        fixits = [FixIt(node.span, f"{METHODS[callee.name].name}({base})")]
    message = f"OpenCL C has no member functions such as '{callee.name}': only a function can be called, by its name"
    notes = [equivalent.note()] if equivalent else []
    c.fail("not-a-function", message, callee.span, notes=notes, fixits=fixits)


def _user_call(c: Context, function: typed.FunctionDecl, node: syntax.Call) -> Expr:
    types = function.type.parameters
    note = Note(f"'{function.name}' is declared here", function.span)
    if len(node.arguments) != len(types):
        message = f"'{function.name}' takes {plural(len(types), 'argument')}, not {len(node.arguments)}"
        c.fail("argument-count", message, node.span, notes=[note])
    _record_call(c, function, node)

    def converted(number: int) -> Expr:
        argument, t = node.arguments[number], types[number]
        what = f"argument {number + 1} of '{function.name}'"
        return assign_convert(c, c.analyse(argument, t), t, argument.span, what, [note])

    return typed.Call(node.span, function.type.result, function, c.each(range(len(types)), converted))


def _record_call(c: Context, function: typed.FunctionDecl, node: syntax.Call) -> None:
    c.calls.setdefault(c.function.decl if c.function else None, {}).setdefault(function, node.callee.span)


def _overloaded_call(c: Context, family: Overloads, node: syntax.Call) -> Expr:
    """Analyse a call of a function with overloads of the user's.

    If the name is also a builtin's, the builtin's overloads are candidates, too.
    """
    arguments = _overload_values(c, family, node)
    row = builtins.find(family.name)
    candidates = [_Candidate(f.type.parameters, f) for f in family.functions]
    if row is not None and row.status == builtins.SUPPORTED:
        candidates += [_Candidate(overload.parameters, overload) for overload in builtins.overloads(row)]
        candidates += _component_wise(family, arguments)
    best, unbeaten = builtins.best_of(candidates, [argument.type for argument in arguments])
    if best is None:
        names = ", ".join(str(argument.type) for argument in arguments)
        notes = [Note(f"candidate: {f.type}", f.span) for f in family.functions[:8]]
        if unbeaten:
            c.fail("ambiguous-call", f"the call of '{family.name}' with ({names}) is ambiguous", node.span, notes=notes)
        c.fail("no-matching-function", f"no '{family.name}' takes ({names})", node.span, notes=notes)
    if best.function is None:
        return matrices.component_wise(c, family.name, arguments, node)
    if isinstance(best.function, builtins.Overload):
        return resolved(c, family.name, arguments, node)
    function = best.function
    _record_call(c, function, node)
    converted = [
        assign_convert(c, argument, t, argument.span, f"argument {i} of '{function.name}'")
        for i, (argument, t) in enumerate(zip(arguments, function.type.parameters, strict=True), 1)
    ]
    return typed.Call(node.span, function.type.result, function, converted)


def _overload_values(c: Context, family: Overloads, node: syntax.Call) -> list[Expr]:
    """Return the arguments.

    An argument may take its matrix type from its context. Such an argument gets the parameter type of those functions
    that the other arguments fit, if these functions agree on the type.
    """
    dependents = {i for i, argument in enumerate(node.arguments) if matrices.needs_target(c, argument)}
    if not dependents:
        return _values(c, node.arguments)
    values = iter(_values(c, [a for i, a in enumerate(node.arguments) if i not in dependents]))
    arguments = [None if i in dependents else next(values) for i in range(len(node.arguments))]
    signatures = [
        f.type.parameters
        for f in family.functions
        if len(f.type.parameters) == len(arguments)
        and all(
            isinstance(t, CoopMatrixType) if e is None else builtins.converts(e.type, t)
            for e, t in zip(arguments, f.type.parameters, strict=True)
        )
    ]

    def value(number: int) -> Expr:
        types = {parameters[number] for parameters in signatures}
        return arguments[number] or _value(c, node.arguments[number], types.pop() if len(types) == 1 else None)

    return c.each(range(len(arguments)), value)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A function that a call may mean; None is the builtin for matrices, component by component."""

    parameters: tuple[Type, ...]
    function: typed.FunctionDecl | builtins.Overload | None


def _component_wise(family: Overloads, arguments: list[Expr]) -> list[_Candidate]:
    """Return the builtin for matrices of these types, unless the user has the same function."""
    matrix = next((a.type for a in arguments if isinstance(a.type, CoopMatrixType)), None)
    if matrix is None or not matrices.is_component_wise(family.name):
        return []
    parameters = tuple(a.type if isinstance(a.type, CoopMatrixType) else matrix.component for a in arguments)
    is_users = any(f.type.parameters == parameters for f in family.functions)
    return [] if is_users else [_Candidate(parameters, None)]


def _builtin_call(c: Context, name: str, node: syntax.Call, expected: Type | None) -> Expr:
    as_type = builtins.parse_as(name)
    conversion = builtins.parse_conversion(name)
    row = builtins.find(name)
    if name in compiler_builtins.NAMES:
        return compiler_builtins.call(c, name, node)
    if row is None and as_type is None and conversion is None:
        candidates = [*c.scope.visible(), *builtins.names(), *matrices.BUILTINS]
        c.undeclared(f"no function '{name}' is declared", name, node.callee.span, candidates)
    if row is not None and row.status != "supported":
        c.unsupported(f"'{name}' is", node.callee.span)
    if row is not None and (missing := c.features.missing(row.needs)) is not None:
        c.fail("extension-off", f"'{name}' needs {missing}, which is off", node.callee.span)
    dependents = {i for i, argument in enumerate(node.arguments) if matrices.needs_target(c, argument)}
    if dependents and matrices.is_component_wise(name):
        arguments = matrices.values_with_matrices(c, node.arguments, dependents, expected, partial(_value, c))
    else:
        arguments = _values(c, node.arguments)
    target = as_type or (conversion.target if conversion is not None else None)
    if target is not None:
        c.unit.has_small_floats |= is_bits(element_type(target))
        c.unit.has_storage_vectors |= is_storage_vector(target)
    if as_type is not None:
        return reinterpret(c, name, as_type, arguments, node)
    if conversion is not None and conversion.rounding is None and not conversion.saturate:
        return convert_by_name(c, name, conversion.target, arguments, node)
    if name == "printf":
        return printf.call(c, node, arguments)
    if name in address_spaces.SPACES:
        return address_spaces.to_space(c, name, arguments, node.span)
    if any(isinstance(argument.type, CoopMatrixType) for argument in arguments):
        return matrices.component_wise(c, name, arguments, node)
    return resolved(c, name, arguments, node)


def _values(c: Context, arguments: list[syntax.Expression]) -> list[Expr]:
    return c.each(arguments, lambda argument: _value(c, argument))


def _value(c: Context, argument: syntax.Expression, expected: Type | None = None) -> Expr:
    value = rvalue(c.analyse(argument, expected))
    if isinstance(value.type, VoidType):
        c.fail("void-value", "a void value cannot be an argument", argument.span)
    return value


def resolved(c: Context, name: str, arguments: list[Expr], node: syntax.Call) -> Expr:
    types = [argument.type for argument in arguments]
    overload = builtins.resolve(name, types)
    if not isinstance(overload, builtins.Overload):
        names = ", ".join(map(str, types))
        notes = [Note(f"candidate: {text}") for text in overload.candidates[:8]]
        if isinstance(overload, builtins.Ambiguous):
            c.fail("ambiguous-call", f"the call of '{name}' with ({names}) is ambiguous", node.span, notes=notes)
        c.fail("no-matching-function", f"no '{name}' takes ({names})", node.span, notes=notes)
    if (missing := c.features.missing(overload.needs)) is not None:
        c.fail("extension-off", f"'{overload}' needs {missing}, which is off", node.callee.span)
    converted = [
        assign_convert(c, argument, t, argument.span, f"argument {i + 1} of '{name}'")
        for i, (argument, t) in enumerate(zip(arguments, overload.parameters, strict=True))
    ]
    _check_power_of_two(c, overload.row, converted)
    restricted_types.check_memory_order(c, overload, converted)
    return typed.BuiltinCall(node.span, overload.result, name, overload.lowering, overload.parameters, converted)


def _check_power_of_two(c: Context, row: builtins.Builtin, arguments: list[Expr]) -> None:
    """Check the size of a cluster: SPIR-V requires a constant."""
    if row.power_of_two is None:
        return
    argument = arguments[row.power_of_two]
    value = constant_value(argument)
    if not isinstance(value, int) or value <= 0 or value & (value - 1):
        what = f"argument {row.power_of_two + 1} of '{row.name}'"
        c.fail("not-constant", f"{what} must be a constant power of two", argument.span)


def _single(c: Context, name: str, arguments: list[Expr], node: syntax.Call) -> Expr:
    if len(arguments) != 1:
        c.fail("argument-count", f"'{name}' takes 1 argument, not {len(arguments)}", node.span)
    return arguments[0]


def convert_by_name(c: Context, name: str, target: Type, arguments: list[Expr], node: syntax.Call) -> Expr:
    e = _single(c, name, arguments, node)
    both = isinstance(e.type, (ScalarType, VectorType)) and isinstance(target, (ScalarType, VectorType))
    if not both or element_count(e.type) != element_count(target):
        c.fail("no-matching-function", f"'{name}' does not take '{e.type}'", node.span)
    assert isinstance(target, (ScalarType, VectorType))
    return convert_arithmetic(e, target, node.span)


def reinterpret(c: Context, name: str, target: Type, arguments: list[Expr], node: syntax.Call) -> Expr:
    e = _single(c, name, arguments, node)
    if isinstance(e.type, (PointerType, CoopMatrixType)) or not isinstance(e.type, (ScalarType, VectorType)):
        c.fail("no-matching-function", f"'{name}' does not take '{e.type}'", node.span)
    if size_of(e.type) != size_of(target):
        c.fail(
            "no-matching-function",
            f"'{name}' needs a value of {size_of(target)} bytes, but '{e.type}' has {size_of(e.type)}",
            node.span,
        )
    if e.type == target:
        return e
    folded = fold_bits(node.span, e, target) if isinstance(target, ScalarType) else None
    return folded or Convert(node.span, target, ConvertKind.BITCAST, e)
