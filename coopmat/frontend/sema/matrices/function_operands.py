"""Functions as operands of operations on matrices: which one a name means, and that it has no effects (shared language
reference, "Further operations").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NoReturn

from ....diagnostics import Note, Span
from ... import builtins, syntax, typed
from ...nodes import walk
from ...typed import Expr
from ...types import (
    PLAIN,
    AddressSpace,
    CoopMatrixType,
    FunctionType,
    PointerType,
    Type,
    VoidType,
    contains_matrix,
)
from ..context import Context, Overloads, plural
from ..conversions import assign_convert
from ..values import rvalue

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
    """Return whether an argument is meant for a function, though its bare name alone is one: `f`, `&f`, `(f)`."""
    while isinstance(node, syntax.Paren) or (isinstance(node, syntax.Unary) and node.op in ("&", "*")):
        node = node.inner if isinstance(node, syntax.Paren) else node.operand
    return names_function(c, node)


def function_operand(
    c: Context, node: syntax.Expression, leading: tuple[Type, ...], result: Type, rest: Nodes = ()
) -> tuple[typed.FunctionDecl, list[Expr]]:
    """Return the function that an operand names, which takes `leading` and then arguments, and gives `result`; and
    those arguments, converted, which `rest` are in the source."""
    if not isinstance(node, syntax.Identifier) or not names_function(c, node):
        c.fail(
            "coop-mat-function",
            "expected the name of a function",
            node.span,
            notes=[Note(f"it is like {_signature('f', leading, len(rest), result)}; no address, no variable")],
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


def _value(c: Context, node: syntax.Expression, expected: Type | None = None) -> Expr:
    e = rvalue(c.analyse(node, expected))
    if isinstance(e.type, CoopMatrixType):
        message = f"an argument behind the function cannot be a matrix ('{e.type}')"
        c.fail(
            "coop-mat-function-type", message, node.span, notes=[Note("matrices stand before it, and have one type")]
        )
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
    notes = [Note(f"'{f.name}' is '{f.type}'", f.span) for f in functions[:8]]
    behind = f", and {plural(n, 'argument')} behind" if n else ""
    message = f"this operation calls {wanted}{behind}, which '{node.name}' does not take or give"
    c.fail("coop-mat-function-type", message, node.span, notes=notes)


# --- builtins --------------------------------------------------------------------------------------


def _of_builtin(
    c: Context, node: syntax.Identifier, leading: tuple[Type, ...], result: Type, rest: Nodes
) -> tuple[typed.FunctionDecl, list[Expr]]:
    """Return a function that calls the builtin: the overload with these parameters and result."""
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
    if not _has_no_effects(row):
        _refuse_effect(c, node.span, f"'{node.name}'", f"{_EFFECT} a function of values alone")
    what = f"an argument of '{node.name}'"
    converted = [
        assign_convert(c, a, t, a.span, what) for a, t in zip(arguments, overload.parameters[count:], strict=True)
    ]
    return _wrapper(c, overload, node.span), converted


def _wrapper(c: Context, overload: builtins.Overload, span: Span) -> typed.FunctionDecl:
    """Return a function of the unit's that calls the overload of a builtin."""
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


# --- effects ---------------------------------------------------------------------------------------

_EFFECT = "an operand must be"


def check_effects(c: Context) -> None:
    """Report what the functions that are operands, and those that they call, must not do."""
    for function, span in c.operand_functions.items():
        work, known = [function], {function}
        while work:
            current = work.pop()
            parameters = frozenset(current.parameters) if current is function else frozenset()
            effect = next(_effects(current, parameters), None)
            if effect is not None:
                what, place = effect
                message = f"'{function.name}' cannot be an operand: {what}"
                notes = [Note(f"here, in '{current.name}'" if current is not function else "here", place)]
                c.error("coop-mat-function-effect", message, span, notes=notes)
                break
            new = [f for f in c.calls.get(current, {}) if f not in known]
            known.update(new)
            work += new


def _effects(f: typed.FunctionDecl, parameters: frozenset[typed.VarDecl]) -> Iterator[tuple[str, Span]]:
    """Yield the effects of a function's own code, and where they are. Memory behind its `parameters` is not its own."""
    for node in walk(f.body) if f.body is not None else ():
        if isinstance(node, (typed.Assign, typed.CompoundAssign, typed.IncDec)) and _is_foreign(
            node.target, parameters
        ):
            yield "it stores to memory that is not its own", node.span
        elif isinstance(node, typed.LValue) and node.place.volatile:
            yield "it accesses volatile memory", node.span
        elif isinstance(node, typed.BuiltinCall):
            row = builtins.find(node.name)
            pointers = [a for a in node.arguments if isinstance(a.type, PointerType)]
            if row is not None and not _has_no_effects(row) and not _stores_privately(row, pointers, parameters):
                yield f"it calls '{node.name}'", node.span
        elif isinstance(node, typed.Call) and node.function.is_kernel:
            yield "it calls a kernel", node.span
        elif (
            isinstance(node, typed.VarDecl) and node.storage == "static" and node.qualifiers.space is AddressSpace.LOCAL
        ):
            yield "it has a variable in local memory", node.span
        elif _has_matrix(node):
            yield "it has cooperative matrices", node.span


def _has_matrix(node: object) -> bool:
    if isinstance(node, (typed.MatrixLength, typed.MatrixCoordinates, typed.MatrixStore, typed.MatrixPrefetch)):
        return True
    return isinstance(node, (typed.Expr, typed.VarDecl)) and contains_matrix(node.type)


_WITHOUT_EFFECTS = ("vload", "read_image", "get_image", "as_", "convert_")


def _has_no_effects(row: builtins.Builtin) -> bool:
    """Return whether a call only reads, and does not depend on the work-item."""
    if row.subgroup or row.convergent or row.section == "6.15.1":
        return False
    return row.pure or row.name.startswith(_WITHOUT_EFFECTS)


def _stores_privately(row: builtins.Builtin, pointers: list[Expr], parameters: frozenset[typed.VarDecl]) -> bool:
    """Return whether a builtin's only effects are stores to variables of the function: `fract`, `vstore4`."""
    is_store = row.name.startswith("vstore") or row.section.startswith("6.15.2")
    return is_store and all(_space(p) is AddressSpace.PRIVATE and not _root(p) & parameters for p in pointers)


def _space(pointer: Expr) -> AddressSpace:
    assert isinstance(pointer.type, PointerType)
    return pointer.type.qualifiers.space


def _is_foreign(target: typed.LValue, parameters: frozenset[typed.VarDecl]) -> bool:
    """Return whether an object may be another's: it outlives the function, or is behind a pointer from outside."""
    e: Expr = target
    while isinstance(e, (typed.Index, typed.Member, typed.Swizzle, typed.MatrixSubscript)):
        e = e.matrix if isinstance(e, typed.MatrixSubscript) else e.base
    if isinstance(e, typed.VarRef):
        return e.decl.storage == "static"
    if isinstance(e, typed.Deref):
        return _space(e.pointer) is not AddressSpace.PRIVATE or bool(_root(e.pointer) & parameters)
    return False


def _root(pointer: Expr) -> frozenset[typed.VarDecl]:
    """Return the pointer variables that an address is calculated from."""
    loads = (node for node in walk(pointer) if isinstance(node, typed.Load))
    return frozenset(e.operand.decl for e in loads if isinstance(e.operand, typed.VarRef))


def _refuse_effect(c: Context, span: Span, what: str, why: str) -> NoReturn:
    c.fail("coop-mat-function-effect", f"{what} cannot be an operand: {why}", span)
