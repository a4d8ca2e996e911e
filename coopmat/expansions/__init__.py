"""The pass for operations that are written in OpenCL C with matrices: each becomes a call of a function made for it.

The functions (`prints`, `scaled`) use cooperative matrices like the program itself, so the pass of each route lowers
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..diagnostics import Span
from ..frontend import typed
from ..frontend.nodes import children
from ..matrices.routes import LoweredRoute
from ..matrices.variants import MatrixType, Operands
from ..native_profiles import NativeProfile
from ..passes import Library, Report
from ..passes.functions import FunctionRewriter, copied
from . import prints, scaled
from .prints import title as title

# class of node -> (prefix of the names of its functions, function that returns the text of the function for a node).
# That function has the node's children as parameters.
_ROWS: dict[type, tuple[str, Callable[[str, Any, NativeProfile | None, scaled.Multiplies], str]]] = {
    typed.MatrixPrint: ("cm_print", prints.text),
    typed.MatrixMulAddScaled: ("cm_scaled", scaled.text),
}


@dataclass(frozen=True, slots=True)
class Expansions:
    """The pass `expansions`.

    library: compiles the text of the functions.
    profile: the native profile; None on lowered routes.
    route: the lowered route; None on the native one.
    sub_group_size: the value of --sub-group-size.
    """

    library: Library
    profile: NativeProfile | None = None
    route: LoweredRoute | None = None
    sub_group_size: int | None = None
    name: str = "expansions"
    removes: tuple[type, ...] = ()
    only: str = "has_expansions"

    def run(self, unit: typed.Unit, report: Report) -> typed.Unit:
        functions = {f: copied(f) for f in unit.functions}
        calls: list[tuple[typed.Expr, typed.Call]] = []
        for source, new in functions.items():
            if source.body is not None:
                _Function(new, functions, calls).rewrite()
        texts: dict[str, str] = {}
        for number, (node, _) in enumerate(calls):
            prefix, text = _ROWS[type(node)]
            name = f"{prefix}_{number}"
            texts[name] = text(name, node, self.profile, self._multiplies)
        library = self.library("\n".join(texts.values()))
        expanded = {f.name: copied(f) if f.name in texts else f for f in library.functions}
        for name, (node, call) in zip(texts, calls, strict=True):
            call.function = expanded[name]
            _Located(call.function, node.span).rewrite()
        small = unit.has_small_floats or library.has_small_floats
        new_functions = [*expanded.values(), *functions.values()]
        return replace(unit, functions=new_functions, has_expansions=False, has_small_floats=small)

    def _multiplies(self, a: MatrixType, b: MatrixType, c: MatrixType) -> bool:
        """Return whether the route has an instruction for the multiply-add of these types."""
        if self.route is None:
            return False
        return self.route.product(a, b, c, Operands(0), self.route.size(self.sub_group_size)) is not None


class _Function(FunctionRewriter):
    """A rewriter of one function that appends each node and its call, still without a callee, to `calls`."""

    def __init__(
        self,
        decl: typed.FunctionDecl,
        functions: Mapping[typed.FunctionDecl, typed.FunctionDecl],
        calls: list[tuple[typed.Expr, typed.Call]],
    ) -> None:
        super().__init__(decl, lambda t: t, functions)
        self.calls = calls

    def handlers(self) -> Mapping[type, Callable[..., Any]]:
        return _HANDLERS

    def expand(self, e: typed.Expr, new: typed.Expr) -> typed.Call:
        call = typed.Call(e.span, e.type, self.decl, [part for part in children(new) if isinstance(part, typed.Expr)])
        self.calls.append((e, call))
        return call


_HANDLERS: dict[type, Callable[..., Any]] = dict.fromkeys(_ROWS, _Function.expand)


class _Located(FunctionRewriter):
    """A rewriter that gives multiply-adds the place of the user's call, for remarks."""

    def __init__(self, decl: typed.FunctionDecl, span: Span) -> None:
        super().__init__(decl, lambda t: t)
        self.span = span

    def handlers(self) -> Mapping[type, Callable[..., Any]]:
        return {typed.MatrixMulAdd: _Located.multiply_add}

    def multiply_add(self, e: typed.MatrixMulAdd, new: typed.MatrixMulAdd) -> typed.MatrixMulAdd:
        result: typed.MatrixMulAdd = copied(new, span=self.span)
        return result
