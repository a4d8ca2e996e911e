"""The inverse of vectorization: a scalar function that returns one component of a vector function's result."""

from __future__ import annotations

from dataclasses import replace

from ..frontend import typed
from ..frontend.typed.construct import load, variable
from ..frontend.types import PLAIN, UINT, VectorType, with_count


def component_of(f: typed.FunctionDecl, vectors: int, down: bool) -> typed.FunctionDecl:
    """Return a function of a row, a column and `vectors` components that calls `f` and returns one component.

    `f` takes and returns vectors of neighbours in a row or, if `down`, in a column. Each operand is filled with the
    component's own value: the value at another place of a vector must not influence the result.
    """
    vector, span = f.type.result, f.span
    assert isinstance(vector, VectorType)
    types = [vector.element if 2 <= n < 2 + vectors else p.type for n, p in enumerate(f.parameters)]
    parameters = [typed.VarDecl(span, f"x{n}", t, PLAIN, "parameter") for n, t in enumerate(types)]
    arguments: list[typed.Expr] = [load(variable(p)) for p in parameters]
    for n in range(2, 2 + vectors):
        arguments[n] = typed.VectorLiteral(span, vector, [load(variable(parameters[n])) for _ in range(vector.count)])
    place = arguments[0 if down else 1]
    first = typed.IntConst(span, UINT, 2**32 - vector.count)
    arguments[0 if down else 1] = typed.Binary(span, UINT, "and", place, first)
    items: list[typed.Stmt] = []
    value: typed.Expr = typed.Call(span, vector, f, arguments)
    count = vector.count
    while count > 1:
        decl = typed.VarDecl(span, f"of{count}", value.type, PLAIN, "automatic", initializer=value)
        items.append(typed.DeclStmt(span, decl))
        count //= 2
        is_upper = typed.Binary(span, UINT, "and", place, typed.IntConst(span, UINT, count))
        halves = [
            typed.ExtractSwizzle(span, with_count(vector.element, count), load(variable(decl)), tuple(indices))
            for indices in (range(count, 2 * count), range(count))
        ]
        value = typed.Conditional(span, halves[0].type, is_upper, *halves)
    body = typed.Block(span, [*items, typed.Return(span, value)])
    kind = replace(f.type, result=vector.element, parameters=tuple(types))
    name = f"{f.name}.{'row' if down else 'column'}"
    return typed.FunctionDecl(span, name, kind, parameters, False, True, {"always_inline": True}, body)
