"""Statements (OpenCL C 3.0, section 6.10; C11 6.8), and the variables that blocks declare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ...analysis import check_condition, check_discarded, check_if, check_loop, has_unused_attribute
from ...diagnostics import Note, Span
from ...features import PROGRAM_SCOPE, TABLE
from .. import syntax, typed
from ..types import (
    INT,
    VOID,
    AddressSpace,
    ArrayType,
    ConstantMatrixType,
    CoopMatrixType,
    Qualifiers,
    ScalarType,
    Type,
    VoidType,
    contains_matrix,
    is_complete,
    is_opaque,
)
from . import attributes, restricted_types
from .context import MOST_CASES, UNKNOWN, Context, FunctionState, SwitchState
from .conversions import assign_convert, condition
from .declarations import (
    Base,
    each_declarator,
    own_alignment,
    static_assert,
)
from .initializers import folded, initialize, is_constant
from .statement_expressions import check_leaving
from .values import integer_constant, promote, rvalue, wrap

Handler = Callable[[Context, Any], typed.Stmt]


def statement(c: Context, node: syntax.Statement) -> typed.Stmt:
    return _HANDLERS[type(node)](c, node)


def _state(c: Context) -> FunctionState:
    assert c.function is not None
    return c.function


# --- blocks and declarations -----------------------------------------------------------------------


def block(c: Context, node: syntax.Compound) -> typed.Block:
    """Analyse a compound statement without opening a scope; the caller opens one."""
    items: list[typed.Stmt] = []
    unroll: int | None = None
    contract = c.contract
    for number, item in enumerate(node.items, 1):
        if isinstance(item, (syntax.For, syntax.While)):
            check_loop(c, item, node.items[number] if number < len(node.items) else None)
        with c.recover():
            if isinstance(item, syntax.Pragma):
                unroll = pragma(c, item)
                continue
            if isinstance(item, syntax.StaticAssert):
                static_assert(c, item)
            elif isinstance(item, syntax.Declaration):
                items.extend(local_declaration(c, item))
            else:
                result = statement(c, item)
                if unroll is not None:
                    _apply_unroll(c, result, unroll, item.span)
                items.append(result)
        unroll = None
    c.contract = contract
    return typed.Block(node.span, items)


def pragma(c: Context, node: syntax.Pragma) -> int | None:
    """Process a pragma; return the unroll factor for the loop that follows, or None."""
    words = node.text.split()
    if words[1:2] == ["FP_CONTRACT"] and words[0] in ("OPENCL", "STDC"):
        _fp_contract(c, words[2:], node.span)
    if words[:2] == ["OPENCL", "EXTENSION"]:
        _extension(c, node)
    if words[:1] in (["OPENCL"], ["STDC"]):
        return None
    factor = attributes.unroll_pragma(c, node.text, node.span)
    if factor is None:
        c.warn("unknown-pragmas", f"unknown pragma '{node.text}' ignored", node.span)
    return factor


def _fp_contract(c: Context, words: list[str], span: Span) -> None:
    """Process FP_CONTRACT.

    In SPIR-V, contraction can be disabled only for a whole kernel and cannot be required. So OFF holds for the whole
    function and for every kernel.
    """
    if words not in (["ON"], ["OFF"], ["DEFAULT"]):
        c.fail("pragma", "'FP_CONTRACT' takes ON, OFF or DEFAULT", span)
    c.contract = c.contract_default if words == ["DEFAULT"] else words == ["ON"]
    if c.function is not None and not c.contract:
        c.function.decl.attributes["fp_contract"] = False


_MATRIX_EXTENSIONS = ("cl_khr_cooperative_matrix", "cl_ext_kernel_cooperative_matrix")
_EXTENSIONS = frozenset((*(row.name for row in TABLE), *_MATRIX_EXTENSIONS))


def _extension(c: Context, node: syntax.Pragma) -> None:
    """Process `#pragma OPENCL EXTENSION name : behaviour`; extensions are available without it."""
    left, colon, right = node.text.partition("EXTENSION")[2].partition(":")
    name, behaviour = left.strip(), right.strip()
    behaviours = ("disable",) if name == "all" else ("enable", "disable", "begin", "end")
    if not colon:
        fault = f"'#pragma OPENCL EXTENSION {name}' has no ':' and behaviour"
    elif behaviour not in behaviours:
        fault = f"the behaviour of OpenCL extension '{name}' must be {' or '.join(behaviours)}, not '{behaviour}'"
    elif name != "all" and name not in _EXTENSIONS:
        fault = f"OpenCL extension '{name}' is not known"
    else:
        if name == "all" or name in _MATRIX_EXTENSIONS:
            c.matrix_pragma = behaviour in ("enable", "begin")
        return
    c.warn("ignored-pragmas", f"{fault}; the pragma is ignored", node.span)


def _apply_unroll(c: Context, s: typed.Stmt, factor: int, span: Span, code: str = "ignored-pragmas") -> None:
    while isinstance(s, typed.Label):
        s = s.body
    if isinstance(s, (typed.For, typed.While, typed.DoWhile)):
        s.unroll = factor
    else:
        c.warn(code, "an unroll hint must precede a loop", span)


def local_declaration(c: Context, node: syntax.Declaration) -> list[typed.Stmt]:
    storage = {word.text for word in node.specifiers.storage}
    result: list[typed.Stmt] = []

    def variable(base: Base, item: syntax.InitDeclarator, t: Type, qualifiers: Qualifiers) -> None:
        decl = _local_variable(c, base, item, storage, t, qualifiers)
        if decl is not None:
            result.append(typed.DeclStmt(decl.span, decl))

    each_declarator(c, node, variable)
    return result


def _local_variable(
    c: Context, base: Base, item: syntax.InitDeclarator, storage: set[str], t: Type, qualifiers: Qualifiers
) -> typed.VarDecl | None:
    d = item.declarator
    if d.name is None:
        c.fail("missing-name", "a declaration needs a name", d.span)
    if "extern" in storage:
        c.unsupported("'extern' inside a function is", item.span)
    if is_opaque(t):
        return restricted_types.declare_variable(c, d, t, qualifiers, item.initializer)
    decl = typed.VarDecl(d.span, d.name, t, qualifiers, "automatic")
    decl.alignment = own_alignment(c, base, d)
    _check_space(c, decl, static="static" in storage, initialised=item.initializer is not None)
    restricted_types.check_atomic_variable(c, decl, item.initializer.span if item.initializer is not None else None)
    open_array = isinstance(t, ArrayType) and t.size is None and item.initializer is not None
    if not open_array and not is_complete(t):
        c.fail("incomplete-type", f"variable '{d.name}' has incomplete type '{t}'", d.span)
    if not open_array:
        c.declare(decl)  # the name is in scope within its initialiser
    state = _state(c)
    if not has_unused_attribute(base.marks(d)):
        state.locals.append(decl)
    if item.initializer is not None:
        decl.type, decl.initializer = initialize(c, t, item.initializer)
        if decl.storage == "static":
            decl.initializer = folded(decl.initializer)
            if not is_constant(decl.initializer):
                c.fail("not-constant", f"the initial value of '{d.name}' must be constant", item.initializer.span)
    if open_array:
        c.declare(decl)
    if decl.storage == "automatic" and (decl.initializer is None or decl in c.references):
        state.bare.append(decl)
    if decl.storage == "static":
        restricted_types.check_half(c, decl.type, decl.span)
        c.unit.variables.append(decl)
        return None
    if (decl.alignment or 1) > attributes.MOST_ALIGNED:
        c.unsupported(f"aligning a private variable to more than {attributes.MOST_ALIGNED} bytes is", decl.span)
    return decl


def _check_space(c: Context, decl: typed.VarDecl, *, static: bool, initialised: bool) -> None:
    space, name = decl.qualifiers.space, decl.name
    if contains_matrix(decl.type) and (space is not AddressSpace.PRIVATE or static):
        where = f"{space} memory" if space is not AddressSpace.PRIVATE else "static storage"
        notes = [Note("declare an array of components there, and access it with coop_mat_load and coop_mat_store")]
        message = f"a cooperative matrix must be private; '{name}' is in {where}"
        c.fail("coop-mat-address-space", message, decl.span, notes=notes)
    if space is AddressSpace.LOCAL:
        if not _state(c).decl.is_kernel:
            c.fail("address-space", f"'{name}': local variables can be declared in kernels only", decl.span)
        if c.scope is not _state(c).outermost:
            message = f"'{name}': local variables can be declared in a kernel's outermost block only"
            c.fail("address-space", message, decl.span)
        if initialised:
            c.fail("address-space", f"'{name}': a variable in local memory cannot be initialised", decl.span)
        decl.storage = "static"
    elif space is AddressSpace.CONSTANT:
        if not initialised:
            c.fail("address-space", f"'{name}': a variable in constant memory must be initialised", decl.span)
        decl.storage = "static"
    elif static:
        if PROGRAM_SCOPE not in c.features:
            message = f"'{name}': static variables outside of constant memory come with -cl-std=CL2.0 and newer"
            c.fail("address-space", message, decl.span)
        decl.storage, decl.qualifiers = "static", replace(decl.qualifiers, space=AddressSpace.GLOBAL)
    elif space is not AddressSpace.PRIVATE:
        c.fail("address-space", f"'{name}': a variable of a function cannot be in {space} memory", decl.span)


# --- simple statements -----------------------------------------------------------------------------


def _compound(c: Context, node: syntax.Compound) -> typed.Stmt:
    with c.nested_scope():
        return block(c, node)


def _expression(c: Context, node: syntax.ExpressionStatement) -> typed.Stmt:
    if node.expression is None:
        return typed.Block(node.span, [])
    e = rvalue(c.analyse(node.expression))
    check_discarded(c, e)
    return typed.ExprStmt(node.span, e)


def _if(c: Context, node: syntax.If) -> typed.Stmt:
    # Chains of else-ifs may be long, so they are built from their end, without recursion.
    chain: list[tuple[syntax.If, typed.Expr, typed.Stmt]] = []
    tail: syntax.Statement | None = node
    while isinstance(tail, syntax.If):
        check_if(c, tail)
        test = _tested(c, tail.condition, "the condition of 'if'")
        chain.append((tail, test, _scoped(c, tail.then)))
        tail = tail.otherwise
    otherwise = _scoped(c, tail) if tail is not None else None
    for link, test, then in reversed(chain):
        otherwise = typed.If(link.span, test, then, otherwise)
    assert otherwise is not None
    return otherwise


def _tested(c: Context, node: syntax.Expression, what: str) -> typed.Expr:
    """Analyse a condition; a faulty one becomes 1, so that the statements it controls are still analysed."""
    with c.recover():
        return condition(c, c.analyse(node), what)
    return typed.IntConst(node.span, INT, 1)


def _scoped(c: Context, node: syntax.Statement) -> typed.Stmt:
    """Analyse a statement in a new scope; a faulty one becomes an empty block."""
    with c.nested_scope(), c.recover():
        if isinstance(node, syntax.Compound):
            return block(c, node)
        return statement(c, node)
    return typed.Block(node.span, [])


# --- loops -----------------------------------------------------------------------------------------


@contextmanager
def _loop(c: Context) -> Iterator[None]:
    state = _state(c)
    state.loops += 1
    state.breakable += 1
    try:
        yield
    finally:
        state.loops -= 1
        state.breakable -= 1


def _body(c: Context, node: syntax.Statement) -> typed.Stmt:
    with _loop(c):
        return _scoped(c, node)


def _while(c: Context, node: syntax.While) -> typed.Stmt:
    check_condition(c, node.condition)
    test = _tested(c, node.condition, "the condition of 'while'")
    return typed.While(node.span, test, _body(c, node.body))


def _do_while(c: Context, node: syntax.DoWhile) -> typed.Stmt:
    body = _body(c, node.body)
    check_condition(c, node.condition)
    return typed.DoWhile(node.span, body, _tested(c, node.condition, "the condition of 'do'"))


def _for(c: Context, node: syntax.For) -> typed.Stmt:
    with c.nested_scope():
        init: list[typed.Stmt] = []
        if isinstance(node.init, syntax.Declaration):
            with c.recover():
                init = local_declaration(c, node.init)
        elif node.init is not None:
            with c.recover():
                value = rvalue(c.analyse(node.init))
                check_discarded(c, value)
                init = [typed.ExprStmt(node.init.span, value)]
        test = _tested(c, node.condition, "the condition of 'for'") if node.condition is not None else None
        step: typed.Expr | None = None
        if node.step is not None:
            with c.recover():
                step = rvalue(c.analyse(node.step))
                check_discarded(c, step)
        return typed.For(node.span, init, test, step, _body(c, node.body))


def _attributed(c: Context, node: syntax.Attributed) -> typed.Stmt:
    if _falls_through(c, node):
        return typed.Block(node.span, [])
    body = statement(c, node.body)
    factor = attributes.unroll_hint(c, node.attributes)
    if factor is not None:
        _apply_unroll(c, body, factor, node.span, "ignored-attributes")
    return body


def _falls_through(c: Context, node: syntax.Attributed) -> bool:
    """Return whether a statement is `__attribute__((fallthrough));`, which marks a deliberate fall-through."""
    alone = isinstance(node.body, syntax.ExpressionStatement) and node.body.expression is None
    if not alone or [item.name.strip("_") for item in node.attributes] != ["fallthrough"]:
        return False
    _state(c).deliberate.add(node.span)
    return True


# --- switch ----------------------------------------------------------------------------------------


def _switch(c: Context, node: syntax.Switch) -> typed.Stmt:
    value: typed.Expr = typed.IntConst(node.condition.span, INT, 0)
    with c.recover():
        value = _switched(c, node.condition)
    state, labels = _state(c), SwitchState(value.type)
    state.switched = True
    state.switches.append(labels)
    state.breakable += 1
    body = _scoped(c, node.body)
    state.breakable -= 1
    state.switches.pop()
    if any(values <= labels.cases.keys() and names & labels.named for names, values in c.enumerations):
        state.complete.add(node.span)
    c.check_count(len(labels.cases), MOST_CASES, "cases of a switch", node.condition.span)
    return typed.Switch(node.span, value, body, list(labels.cases), labels.default is not None)


def _switched(c: Context, node: syntax.Expression) -> typed.Expr:
    value = rvalue(c.analyse(node))
    if isinstance(value.type, CoopMatrixType):
        c.fail("coop-mat-condition", f"a switch cannot test a cooperative matrix ('{value.type}')", value.span)
    if isinstance(value.type, ConstantMatrixType):
        c.fail("matrix-type-condition", f"a switch cannot test a matrix ('{value.type}')", value.span)
    if not isinstance(value.type, ScalarType) or not value.type.is_integer:
        c.fail("invalid-condition", f"a switch needs an integer, not '{value.type}'", value.span)
    return promote(value)


def _case(c: Context, node: syntax.Case) -> typed.Stmt:
    # Consecutive labels nest; they are analysed in a loop instead of recursion.
    labels: list[tuple[Span, int | None]] = []
    body_node: syntax.Statement = node
    while isinstance(body_node, syntax.Case):
        with c.recover():
            labels += [(body_node.span, value) for value in _case_values(c, body_node)]
        body_node = body_node.body
    body = statement(c, body_node)
    for span, value in reversed(labels):
        body = typed.Case(span, value, body)
    return body


# A range of case labels becomes a label for each value.
_MOST_CASES = 1024


def _case_values(c: Context, node: syntax.Case) -> list[int | None]:
    """Return the values of a `case` label, or [None] for `default`."""
    switches = _state(c).switches
    word = "case" if node.value is not None else "default"
    if not switches:
        check_leaving(c, f"'{word}' of a switch around", node.span)
        c.fail("outside-switch", f"'{word}' is outside of a switch", node.span)
    current = switches[-1]
    if node.value is None:
        if current.default is not None:
            c.fail("duplicate-case", "a second 'default'", node.span, notes=[Note("the first", current.default)])
        current.default = node.span
        return [None]
    assert isinstance(current.type, ScalarType)
    if isinstance(node.value, syntax.Identifier):
        current.named.add(node.value.name)
    first = last = wrap(integer_constant(c, node.value, "a case label"), current.type)
    if node.last is not None:
        last = wrap(integer_constant(c, node.last, "a case label"), current.type)
    if last - first >= _MOST_CASES:
        c.unsupported(f"a range of more than {_MOST_CASES} cases is", node.value.span)
    for value in range(first, last + 1):
        if value in current.cases:
            notes = [Note("the first", current.cases[value])]
            c.fail("duplicate-case", f"a second case {value}", node.value.span, notes=notes)
        current.cases[value] = node.value.span
    return list(range(first, last + 1))


# --- jumps -----------------------------------------------------------------------------------------


def _label(c: Context, node: syntax.Label) -> typed.Stmt:
    check_leaving(c, "a label in", node.span)
    labels = _state(c).labels
    if node.name in labels:
        notes = [Note("the previous definition is here", labels[node.name])]
        c.error("redefinition", f"redefinition of label '{node.name}'", node.span, notes=notes)
    labels[node.name] = node.span
    return typed.Label(node.span, node.name, statement(c, node.body))


def _goto(c: Context, node: syntax.Goto) -> typed.Stmt:
    check_leaving(c, "'goto' in", node.span)
    _state(c).gotos.append((node.label, node.span))
    return typed.Goto(node.span, node.label)


def _break(c: Context, node: syntax.Break) -> typed.Stmt:
    if not _state(c).breakable:
        check_leaving(c, "'break' out of", node.span)
        c.fail("outside-loop", "'break' is outside of a loop or switch", node.span)
    return typed.Break(node.span)


def _continue(c: Context, node: syntax.Continue) -> typed.Stmt:
    if not _state(c).loops:
        check_leaving(c, "'continue' out of", node.span)
        c.fail("outside-loop", "'continue' is outside of a loop", node.span)
    return typed.Continue(node.span)


def _return(c: Context, node: syntax.Return) -> typed.Stmt:
    check_leaving(c, "'return' in", node.span)
    function = _state(c).decl
    result = function.type.result
    if result is UNKNOWN:
        if node.value is not None:
            c.analyse(node.value, UNKNOWN)
        return typed.Return(node.span, None)
    if node.value is None:
        if not isinstance(result, VoidType):
            c.fail("return-type", f"'{function.name}' must return a value of type '{result}'", node.span)
        return typed.Return(node.span, None)
    value = rvalue(c.analyse(node.value, result if result != VOID else None))
    if isinstance(result, VoidType):
        if not isinstance(value.type, VoidType):
            c.fail("return-type", f"'{function.name}' returns void, not '{value.type}'", node.value.span)
        return typed.Block(node.span, [typed.ExprStmt(node.span, value), typed.Return(node.span, None)])
    return typed.Return(node.span, assign_convert(c, value, result, node.value.span, "return"))


_HANDLERS: dict[type, Handler] = {
    syntax.Compound: _compound,
    syntax.ExpressionStatement: _expression,
    syntax.If: _if,
    syntax.Switch: _switch,
    syntax.While: _while,
    syntax.DoWhile: _do_while,
    syntax.For: _for,
    syntax.Case: _case,
    syntax.Label: _label,
    syntax.Goto: _goto,
    syntax.Break: _break,
    syntax.Continue: _continue,
    syntax.Return: _return,
    syntax.Attributed: _attributed,
}
