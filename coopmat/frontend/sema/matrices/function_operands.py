"""Functions as operands of matrix operations: resolution of their names.

See the shared language reference, "Further operations". `effects` checks that they have no side effects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from ....diagnostics import Note, Span
from ... import builtins, syntax, typed
from ...typed import Expr
from ...types import (
    PLAIN,
    CoopMatrixType,
    FunctionType,
    Type,
    VectorType,
    VoidType,
    contains_matrix,
)
from ..context import Context, Overloads, plural
from ..conversions import assign_convert
from ..restricted_types import check_builtin_of_half
from ..values import rvalue
from .effects import has_no_effects

Nodes = Sequence[syntax.Expression]


def names_function(c: Context, node: syntax.Expression) -> bool:
    """Return whether an argument is the bare name of a function."""
    if not isinstance(node, syntax.Identifier):
        return False
    entity = c.scope.find(node.name)
    return isinstance(entity, (typed.FunctionDecl, Overloads)) or (
        entity is None and builtins.find(node.name) is not None
    )


def means_function(c: Context, node: syntax.Expression) -> bool:
    """Return whether an argument means a function: `f`, `&f` or `(f)`; only the bare name `f` is valid."""
    while isinstance(node, syntax.Paren) or (isinstance(node, syntax.Unary) and node.op in ("&", "*")):
        node = node.inner if isinstance(node, syntax.Paren) else node.operand
    return names_function(c, node)


def function_operand(
    c: Context, node: syntax.Expression, leading: tuple[Type, ...], result: Type, rest: Nodes = ()
) -> tuple[typed.FunctionDecl, list[Expr]]:
    """Return the function that an operand names, and the arguments that follow the operand, converted.

    The function takes parameters of the types `leading`, then one for each of `rest`, and returns `result`.
    """
    if not isinstance(node, syntax.Identifier) or not names_function(c, node):
        c.fail(
            "coop-mat-function",
            "expected the name of a function",
            node.span,
            notes=[Note(f"its signature must be {_signature('f', leading, len(rest), result)}")],
        )
    entity = c.scope.find(node.name)
    if isinstance(entity, typed.FunctionDecl):
        functions = [entity]
    elif isinstance(entity, Overloads):
        functions = entity.functions
    else:
        return _of_builtin(c, node, leading, result, rest)
    function = next((f for f in functions if _fits(f, leading, result, len(rest))), None)
    if function is None:
        _refuse_type(c, node, functions, leading, result, len(rest))
    if function.is_kernel:
        notes = [Note("declared here", function.span)]
        c.fail("coop-mat-function", f"kernel '{node.name}' cannot be an operand", node.span, notes=notes)
    c.calls.setdefault(c.function.decl if c.function else None, {}).setdefault(function, node.span)
    c.operand_functions.setdefault(function, node.span)
    types = function.type.parameters[len(leading) :]
    what = f"an argument of '{function.name}'"
    numbers = range(len(types))
    return function, c.each(
        numbers, lambda n: assign_convert(c, _value(c, rest[n], types[n]), types[n], rest[n].span, what)
    )


def result_of_operand(c: Context, node: syntax.Expression, matrix: CoopMatrixType, down: bool = False) -> Type:
    """Return the type of a map's result: the component type, or a vector of neighbours in a row or, `down`, a column.

    The function that the operand names determines it.
    """
    entity = c.scope.find(node.name) if isinstance(node, syntax.Identifier) else None
    functions = entity.functions if isinstance(entity, Overloads) else [entity]
    functions = [f for f in functions if isinstance(f, typed.FunctionDecl)]
    results = [f.type.result for f in functions]
    vectors = [t for t in results if isinstance(t, VectorType) and t.element is matrix.component]
    if vectors and matrix.component.is_nibble:
        c.unsupported(f"a function that returns vectors '{vectors[0]}', whose components share bytes, is", node.span)
    if matrix.component in results or not vectors:
        return matrix.component
    length, line = (matrix.rows, "column") if down else (matrix.columns, "row")
    if (fits := next((t for t in vectors if t.count != 3 and length % t.count == 0), None)) is not None:
        return fits
    message = f"a {line} of '{matrix}' has {length} components, which cannot be divided into vectors '{vectors[0]}'"
    if vectors[0].count == 3:
        message = f"a function of components returns a component or 2, 4, 8 or 16 neighbours, not '{vectors[0]}'"
    c.fail("coop-mat-function-type", message, node.span, notes=_types(functions))


def _value(c: Context, node: syntax.Expression, expected: Type | None = None) -> Expr:
    e = rvalue(c.analyse(node, expected))
    if isinstance(e.type, CoopMatrixType):
        message = f"an argument after the function cannot be a matrix ('{e.type}')"
        c.fail("coop-mat-function-type", message, node.span, notes=[Note("matrices of one type precede the function")])
    if isinstance(e.type, VoidType):
        c.fail("void-value", "a void value cannot be an argument", node.span)
    return e


def _fits(f: typed.FunctionDecl, leading: tuple[Type, ...], result: Type, count: int) -> bool:
    types = f.type.parameters
    fits = types[: len(leading)] == leading and len(types) == len(leading) + count and f.type.result == result
    return fits and not any(map(contains_matrix, types))


def _signature(name: str, leading: tuple[Type, ...], count: int, result: Type) -> str:
    return f"{result} {name}({', '.join([*map(str, leading), *('x' for _ in range(count))])})"


def _refuse_type(
    c: Context,
    node: syntax.Identifier,
    functions: list[typed.FunctionDecl],
    leading: tuple[Type, ...],
    result: Type,
    n: int,
) -> NoReturn:
    wanted = _signature(node.name, leading, n, result)
    behind = f", with {plural(n, 'parameter')} more" if n else ""
    message = f"this operation needs {wanted}{behind}, but no '{node.name}' has that type"
    c.fail("coop-mat-function-type", message, node.span, notes=_types(functions))


def _types(functions: Sequence[typed.FunctionDecl]) -> list[Note]:
    return [Note(f"'{f.name}' is '{f.type}'", f.span) for f in functions[:8]]


# --- builtins --------------------------------------------------------------------------------------


def _of_builtin(
    c: Context, node: syntax.Identifier, leading: tuple[Type, ...], result: Type, rest: Nodes
) -> tuple[typed.FunctionDecl, list[Expr]]:
    """Return a function that calls the overload of the builtin with these types, and the converted `rest`."""
    arguments = c.each(rest, lambda argument: _value(c, argument))
    row = builtins.find(node.name)
    assert row is not None
    overload = builtins.resolve(node.name, [*leading, *(a.type for a in arguments)]) if row.supported else None
    count = len(leading)
    fits = isinstance(overload, builtins.Overload) and overload.parameters[:count] == leading
    if not isinstance(overload, builtins.Overload) or not fits or overload.result != result:
        message = f"'{node.name}' has no overload like {_signature(node.name, leading, len(rest), result)}"
        c.fail("coop-mat-function-type", message, node.span)
    if (missing := c.features.missing(f"{row.needs} {overload.needs}".strip())) is not None:
        c.fail("extension-off", f"'{overload}' needs {missing}, which is off", node.span)
    for t in (result, *overload.parameters):
        check_builtin_of_half(c, t, node.span)
    if not has_no_effects(row):
        message = f"'{node.name}' cannot be an operand: an operand must only compute with its arguments"
        c.fail("coop-mat-function-effect", message, node.span)
    what = f"an argument of '{node.name}'"
    converted = [
        assign_convert(c, a, t, a.span, what) for a, t in zip(arguments, overload.parameters[count:], strict=True)
    ]
    return _wrapper(c, overload, node.span), converted


def _wrapper(c: Context, overload: builtins.Overload, span: Span) -> typed.FunctionDecl:
    """Return a function of the unit that calls the overload of a builtin; it is made once."""
    name = "_".join(["coop_mat", overload.name, *(str(t) for t in overload.parameters)])
    if name in c.functions:
        return c.functions[name]
    parameters = [typed.VarDecl(span, f"x{n}", t, PLAIN, "parameter") for n, t in enumerate(overload.parameters)]
    values = [typed.Load(span, p.type, typed.VarRef(span, p.type, PLAIN, p)) for p in parameters]
    call = typed.BuiltinCall(span, overload.result, overload.name, overload.lowering, overload.parameters, list(values))
    body = typed.Block(span, [typed.Return(span, call)])
    kind = FunctionType(overload.result, overload.parameters)
    decl = typed.FunctionDecl(span, name, kind, parameters, False, True, {"always_inline": True}, body)
    c.functions[name] = decl
    c.excused.add(decl)
    c.unit.functions.append(decl)
    return decl
