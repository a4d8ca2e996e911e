"""LLVM IR modules that call builtin overloads, made without a front end."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from coopmat.diagnostics import Span
from coopmat.frontend import builtins as table
from coopmat.frontend.builtins import Overload
from coopmat.frontend.typed import BuiltinCall
from coopmat.frontend.types import EVENT, VOID, CoopMatrixType, PointerType, Type
from coopmat.ir import LowerOptions
from coopmat.ir.lower.builtins import lower_builtin
from coopmat.ir.module import Builder, ModuleBuilder, PointeeAttributes
from coopmat.ir.type_map import TypeMap

HERE = Span("<test>", 1, 1, 1, 1)


def supported_names() -> list[str]:
    """Return the builtins whose calls `lower_builtin` lowers."""
    rows = {name: table.find(name) for name in sorted(table.names())}
    return [name for name, row in rows.items() if row is not None and row.supported and row.signatures]


class Function:
    """A function under construction, with the interface that `lower_builtin` needs."""

    def __init__(
        self,
        module: ModuleBuilder,
        name: str,
        result: Type,
        parameters: Sequence[Type],
        convention: str = "spir_func",
    ) -> None:
        self.module = module
        self.types = module.types
        self.options = LowerOptions()
        signature = ir.FunctionType(self.types.of(result), [self.types.of(t) for t in parameters])
        self.function = ir.Function(module.ir, signature, name)
        self.function.calling_convention = convention
        self.builder = Builder(self.function.append_basic_block("entry"))

    def call(
        self, name: str, result: ir.Type, arguments: Sequence[ir.Value], attributes: Sequence[str] = ("nounwind",)
    ) -> ir.Value:
        function = self.module.declare(name, result, [argument.type for argument in arguments], attributes)
        return self.builder.call(function, arguments)

    def builtin(self, overload: Overload, arguments: Sequence[ir.Value]) -> ir.Value | None:
        call = BuiltinCall(HERE, overload.result, overload.name, overload.lowering, overload.parameters, [])
        return lower_builtin(self, call, arguments)


class NoMatrices:
    def variable_type(self, matrix: CoopMatrixType) -> ir.Type:
        raise AssertionError(matrix)

    def align(self, matrix: CoopMatrixType) -> int:
        raise AssertionError(matrix)


def new_module() -> ModuleBuilder:
    context = ir.Context()
    return ModuleBuilder(context, TypeMap(context, NoMatrices()))


def one_function_each(overloads: Sequence[Overload], version: str = "1.4") -> str:
    """Return a module with a function for each overload, which passes its parameters on and returns the result.

    If an argument must be a constant, the function passes a constant.
    """
    module = new_module()
    for number, overload in enumerate(overloads):
        function = Function(module, f"call{number}", overload.result, overload.parameters)
        function.options = LowerOptions(spirv_version=version)
        arguments = list(function.function.args)
        for argument, t in zip(arguments, overload.parameters, strict=True):
            if isinstance(t, PointerType) and t.pointee == EVENT:
                # Needed for the pointee type: no other instruction in this function has it.
                argument.attributes = PointeeAttributes("byref", module.types.of(EVENT), 8)
        if overload.row.power_of_two is not None:
            arguments[overload.row.power_of_two] = ir.Constant(ir.IntType(32), 4)
        value = function.builtin(overload, arguments)
        if overload.result == VOID:
            function.builder.ret_void()
        else:
            function.builder.ret(value)
    return module.finish()
