"""The placement of static variables: at program scope, or at the beginning of the kernel that uses them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..diagnostics import CompileError, Diagnostic, Severity, Span
from ..frontend import typed
from ..frontend.nodes import walk
from ..frontend.types import AddressSpace
from .context import Program


def sort_out(program: Program) -> list[typed.VarDecl]:
    """Return the variables for program scope in order; add those in local memory to `program.statics`.

    A variable declared in a function is renamed if its name is not unique. Raise CompileError if a function that is not
    a kernel has a variable in local memory.
    """
    unit = program.unit
    if not unit.variables:
        return []
    names = Counter(decl.name for decl in _all_variables(unit))
    names.update(decl.name for decl in unit.functions)
    names_in = {function: _named_in(function) for function in unit.functions}
    outside = []
    for decl in unit.variables:
        # A source file that is included twice yields several functions with the same span.
        enclosing = [f for f in unit.functions if f.body is not None and _within(decl.span, f.body.span)]
        function = next((f for f in enclosing if decl in names_in[f]), enclosing[0] if enclosing else None)
        if function is not None and names[decl.name] > 1:
            program.names.rename(decl)
        if function is not None and decl.qualifiers.space is AddressSpace.LOCAL:
            if not function.is_kernel:
                text = (
                    f"'{function.name}' exchanges values in local memory, which OpenCL C allows only kernels to declare"
                )
                text += ": on this route, other programs cannot call the function"
                raise CompileError([Diagnostic(Severity.ERROR, "not-supported", text, function.span)])
            program.statics.setdefault(function, []).append(decl)
        else:
            outside.append(decl)
    return outside


def _all_variables(unit: typed.Unit) -> Iterator[typed.VarDecl]:
    yield from unit.variables
    for function in unit.functions:
        yield from (node for node in walk(*function.parameters, function.body) if isinstance(node, typed.VarDecl))


def _named_in(function: typed.FunctionDecl) -> set[typed.VarDecl]:
    """Return the static variables that a function's body refers to."""
    references = (node.decl for node in walk(function.body) if isinstance(node, typed.VarRef))
    return {decl for decl in references if decl.storage == "static"}


def _within(inner: Span, outer: Span) -> bool:
    start, end = (outer.line, outer.column), (outer.end_line, outer.end_column)
    return inner.file == outer.file and start <= (inner.line, inner.column) < end
