"""Calls of the matrix library: created without a callee, then linked to the typed AST of all required functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..diagnostics import InternalError, Span
from ..frontend import typed
from ..frontend.typed import ConvertKind
from ..frontend.types import (
    FLOATS,
    HALF,
    INTEGERS,
    PLAIN,
    SIZE_T,
    ULONG,
    USHORT,
    VECTOR_SIZES,
    VOID,
    AddressSpace,
    ArrayType,
    FunctionType,
    PointerType,
    Qualifiers,
    Type,
    held_as,
    is_bits,
    with_count,
)
from ..matrices import lowering
from ..matrices.library_function import SCRATCH, LibraryFunction, Parameter
from ..matrices.routes import Target
from . import Library
from .operand_functions import Names, operand_name, with_operands
from .storage import LIBRARY_SPAN

_VALUES: dict[str, Type] = {
    "size_t": SIZE_T,
    "void": VOID,
    **{str(t): t for scalar in (*INTEGERS, *FLOATS) for t in (with_count(scalar, n) for n in (1, *VECTOR_SIZES))},
}
_SPACES = {str(space): space for space in AddressSpace}
_LOCAL = Qualifiers(AddressSpace.LOCAL)
_SCRATCH_POINTER = PointerType(ULONG, _LOCAL)
_UNLINKED = typed.FunctionDecl(LIBRARY_SPAN, "unlinked", FunctionType(VOID, ()), [], False, True)


class LibraryCalls:
    """The calls of library functions in one unit.

    Some library functions exchange values through local memory. Kernels, and functions that other programs call, own
    that memory; all other functions receive a pointer to the memory as their last parameter.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._library_functions: dict[Target, dict[str, LibraryFunction]] = {}
        self._calls: list[tuple[Target, str, typed.Call]] = []
        self._callers: dict[typed.FunctionDecl, list[typed.Call]] = {}
        self._scratch: dict[typed.FunctionDecl, typed.VarDecl] = {}
        self._bytes: dict[typed.FunctionDecl, int] = {}
        self._operands: Names = {}

    def operand_name(self, function: typed.FunctionDecl, own: int) -> str:
        """Return the name by which the library's text calls `function`, an operand of a map or reduction.

        The library computes the first `own` arguments of each call. All others are the builtin's own further arguments.
        """
        return operand_name(self._operands, function, own)

    def call(
        self,
        caller: typed.FunctionDecl,
        target: Target,
        function: LibraryFunction,
        arguments: Sequence[typed.Expr],
        span: Span,
        passed_on: Sequence[typed.Expr] = (),
    ) -> typed.Call:
        """Return a call, in the body of `caller`, of the library function `function` compiled for `target`.

        `passed_on` are further arguments for the program function that is the library function's operand.
        """
        signature, name = function.signature, function.function_name
        self._library_functions.setdefault(target, {})[name] = function
        operands = [passed(a, parameter_type(p)) for a, p in zip(arguments, signature.parameters, strict=True)]
        size = function.scratch_bytes(target)
        if size:
            operands.append(self._scratch_pointer(caller, span))
            self._bytes[caller] = max(self._bytes.get(caller, 0), size)
        operands += passed_on
        result = typed.Call(span, _VALUES[signature.returns], _UNLINKED, operands)
        self._calls.append((target, name, result))
        return result

    def note_call(self, caller: typed.FunctionDecl, call: typed.Call) -> None:
        """Record that `caller` calls a function of the unit, which may need a pointer to local memory."""
        self._callers.setdefault(caller, []).append(call)

    def link(self) -> typed.Unit:
        """Compile the library functions, set the callees of all calls, and return the library's declarations."""
        lowering.check_count(sum(map(len, self._library_functions.values())))
        result = typed.Unit([], [], [])
        linked: dict[tuple[Target, str], typed.FunctionDecl] = {}
        for target, called in self._library_functions.items():
            unit = self._library(lowering.instantiate(target, called.values()))
            functions = with_operands(unit.functions, self._operands)
            result.functions += functions
            result.records += unit.records
            linked.update({(target, f.name): f for f in functions if f.body is not None})
        for target, name, call in self._calls:
            if (target, name) not in linked:
                raise InternalError(f"the matrix library does not define '{name}'")
            call.function = linked[target, name]
        return result

    # --- local memory ----------------------------------------------------------------------------

    def pass_scratch(self, functions: Sequence[typed.FunctionDecl]) -> list[typed.VarDecl]:
        """Add the parameters for local memory to `functions` (callees first) and arguments to their calls.

        Return the arrays in local memory that the owning functions declare.
        """
        objects = []
        for function in functions:
            for call in self._callers.get(function, ()):
                size = self._bytes.get(call.function, 0)
                if size and not _owns_memory(call.function):
                    call.arguments = [*call.arguments, self._scratch_pointer(function, call.span)]
                    self._bytes[function] = max(self._bytes.get(function, 0), size)
            if function in self._scratch:
                objects += self._declare_scratch(function, self._bytes[function])
        return objects

    def _scratch_pointer(self, function: typed.FunctionDecl, span: Span) -> typed.Expr:
        decl = self._scratch.get(function)
        if decl is None:
            storage = "automatic" if _owns_memory(function) else "parameter"
            decl = typed.VarDecl(function.span, f"{SCRATCH.name}.pointer", _SCRATCH_POINTER, PLAIN, storage)
            self._scratch[function] = decl
        return typed.Load(span, decl.type, typed.VarRef(span, decl.type, PLAIN, decl))

    def _declare_scratch(self, function: typed.FunctionDecl, size: int) -> list[typed.VarDecl]:
        decl = self._scratch[function]
        if not _owns_memory(function):
            function.parameters = [*function.parameters, decl]
            function.type = replace(function.type, parameters=(*function.type.parameters, decl.type))
            return []
        assert function.body is not None
        span = function.body.span
        memory = ArrayType(ULONG, -(-size // 8))
        home = typed.VarDecl(span, f"{SCRATCH.name}.memory", memory, _LOCAL, "static", alignment=16)
        array = typed.VarRef(span, memory, _LOCAL, home)
        decl.initializer = typed.Convert(span, decl.type, ConvertKind.DECAY, array)
        function.body = typed.Block(span, [typed.DeclStmt(span, decl), *function.body.items])
        return [home]


def _owns_memory(function: typed.FunctionDecl) -> bool:
    return function.is_kernel or function.symbol is not None


def parameter_type(p: Parameter) -> Type:
    value = _VALUES[p.type]
    return value if p.space is None else PointerType(value, Qualifiers(_SPACES[p.space], p.const, p.volatile))


def passed(e: typed.Expr, t: Type) -> typed.Expr:
    """Convert argument `e` to the library's parameter type `t`.

    Small floats are bitcast to their bit patterns, integers change their signedness, and pointers are cast to the
    address space and component type of `t`.
    """
    if (is_bits(e.type) and t == held_as(e.type)) or (e.type is HALF and t == USHORT):
        return typed.Convert(e.span, t, ConvertKind.BITCAST, e)
    if not isinstance(t, PointerType):
        return e if e.type == t else typed.Convert(e.span, t, ConvertKind.INT_TO_INT, e)
    assert isinstance(e.type, PointerType)
    if e.type.qualifiers.space is not t.qualifiers.space:
        pointer_type = PointerType(e.type.pointee, replace(e.type.qualifiers, space=t.qualifiers.space))
        e = typed.Convert(e.span, pointer_type, ConvertKind.ADDRESS_SPACE, e)
    if e.type.pointee == t.pointee:  # type: ignore[attr-defined]
        return e
    return typed.Convert(e.span, t, ConvertKind.POINTER, e)
