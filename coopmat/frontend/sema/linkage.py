"""The linkage of functions and variables at program scope (C11 6.2.2): which symbols programs share."""

from __future__ import annotations

from ...diagnostics import Note, Span
from ...matrix_types.sema import holds
from .. import syntax, typed
from ..types import CoopMatrixType, contained
from .context import Context


def is_inline(specifiers: syntax.Specifiers) -> bool:
    return any(word.text.strip("_") == "inline" for word in specifiers.functions)


def note_function(c: Context, decl: typed.FunctionDecl, specifiers: syntax.Specifiers, overloadable: bool) -> None:
    """Record one declaration of a function.

    If all declarations are inline and none is extern, the definition is for this program only (C11 6.7.4).
    """
    external = any(word.text == "extern" for word in specifiers.storage)
    c.inline[decl] = c.inline.get(decl, True) and is_inline(specifiers) and not external
    if overloadable:
        c.overloadable.add(decl)


def note_variable(c: Context, decl: typed.VarDecl, specifiers: syntax.Specifiers) -> None:
    """Record one declaration of a program-scope variable; a static one is for this program only."""
    is_static = any(word.text == "static" for word in specifiers.storage)
    c.external[decl] = c.external.get(decl, True) and not is_static


def resolve(c: Context) -> None:
    """Report functions that are called, and variables that are declared, but that have no definition.

    With `c.separate`, the program is linked with others, which may define them. Then report only a missing definition
    that no other program can provide, and set `symbol`, the name for the linker, of each function and variable that
    this program imports or exports.
    """
    called: dict[typed.FunctionDecl, Span] = {}
    for calls in c.calls.values():
        called = {**calls, **called}
    for function, span in called.items():
        if function.body is None and not (c.separate and not function.internal):
            notes = [Note("declared here", function.span)]
            c.error("undefined-function", f"'{function.name}' is never defined", span, notes=notes)
        elif function.body is None and names_matrices(function):
            message = (
                f"'{function.name}', which another program must define, has a matrix in its signature: each program "
                "chooses how matrices are represented, so that matrices cannot be passed between programs"
            )
            c.error("matrix-between-programs", message, span, notes=[Note("declared here", function.span)])
    for decl, external in c.tentative.values():
        if external and c.separate:
            decl.imported = True
        elif external:
            c.error("undefined-variable", f"'{decl.name}' is declared, but never defined", decl.span)
    c.unit.functions = [f for f in c.unit.functions if f.body is not None or (c.separate and f in called)]
    if c.separate:
        for function in c.unit.functions:
            is_shared = not (function.internal or (c.inline[function] and function.body is not None))
            is_kernel_here = function.is_kernel and function.body is not None
            if is_shared and not is_kernel_here and not names_matrices(function):
                function.symbol = function.name
                function.attributes.update({"overloadable": True} if function in c.overloadable else {})
        for variable, is_external in c.external.items():
            variable.symbol = variable.name if is_external else None


def names_matrices(function: typed.FunctionDecl) -> bool:
    """Return whether a function's signature has matrices: by value, or cooperative ones behind a pointer."""
    types = (function.type.result, *function.type.parameters)
    parts = (part for t in types for part in contained(t, pointees=True))
    return any(map(holds, types)) or any(isinstance(part, CoopMatrixType) for part in parts)
