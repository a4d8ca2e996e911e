"""Halves without cl_khr_fp16: a program may point to them, for vload_half and the like, and do nothing else with them
(OpenCL C 3.0, section 6.3.1.1)."""

from __future__ import annotations

from typing import NoReturn

from ...diagnostics import Note, Span
from .. import typed
from ..nodes import Node, children
from ..types import HALF, ArrayType, Type, element_type
from .context import Context


def _holds(t: Type) -> bool:
    while isinstance(t, ArrayType):
        t = t.element
    return element_type(t) is HALF


def refuse(c: Context, t: Type, span: Span) -> NoReturn:
    notes = [Note("remove -cl-ext=-cl_khr_fp16; without it vload_half and vstore_half access halves")]
    c.fail("extension-off", f"a value of type '{t}' needs cl_khr_fp16, which is turned off", span, notes=notes)


def check_object(c: Context, t: Type, span: Span) -> None:
    """Gives up on an object that would be or hold halves."""
    if "cl_khr_fp16" not in c.features and _holds(t):
        refuse(c, t, span)


def check_function(c: Context, decl: typed.FunctionDecl) -> None:
    """Tells the halves that a function declares, takes, returns or computes with, where the extension is off."""
    with c.recover():
        check_object(c, decl.type.result, decl.span)
    for parameter in decl.parameters:
        with c.recover():
            check_object(c, parameter.type, parameter.span)
    work: list[Node] = [decl.body] if decl.body is not None else []
    while work:
        node = work.pop()
        if (isinstance(node, typed.VarDecl) and _holds(node.type)) or (
            isinstance(node, typed.Expr) and not isinstance(node, typed.LValue) and _holds(node.type)
        ):
            with c.recover():
                refuse(c, node.type, node.span)
        else:
            work += reversed(children(node))
