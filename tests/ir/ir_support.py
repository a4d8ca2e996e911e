"""Sources to LLVM IR, checked by LLVM, and to machine code that Python can call."""

from __future__ import annotations

import ctypes
from typing import Any

import llvmlite.binding as llvm

from coopmat.compiler import compile as compile_source
from coopmat.compiler.from_source import library
from coopmat.frontend import typed
from coopmat.ir import LoweredModule, LowerOptions
from coopmat.ir.lower import lower
from coopmat.matrices.routes import LOWERED_ROUTES
from coopmat.matrix_types.lowering import MatrixTypes
from coopmat.passes import Library, Pass, Report, run
from coopmat.passes.matrices import Matrices
from coopmat.passes.native_calls import NO_RULES, NativeMatrices
from coopmat.passes.small_floats import SmallFloats


def unit_of(source: str) -> typed.Unit:
    return compile_source(source).unit


def lower_source(source: str, **options: Any) -> LoweredModule:
    """The lowered module, which LLVM has accepted."""
    module = lower_unit(unit_of(source), LowerOptions(**options), library)
    with llvm.parse_assembly(module.text) as parsed:
        parsed.verify()
    return module


def lower_unit(unit: typed.Unit, options: LowerOptions, library: Library, size: int | None = None) -> LoweredModule:
    """As the compiler does it: the pass for the route first, where the options name one."""
    wanted: list[Pass] = [MatrixTypes(library, options.machine, options.contract_matrices), SmallFloats(library)]
    if options.is_native:
        wanted.insert(0, NativeMatrices(library, options.memory_rules or NO_RULES, size))
    else:
        wanted.insert(0, Matrices(LOWERED_ROUTES[options.matrices], library, size))
    return lower(run(unit, wanted, Report(), verify=True), options)


def _machine() -> llvm.TargetMachine:
    # A new one each time: the engine takes it over.
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine()


class Jit:
    """The functions of a source that has no kernels, compiled for the host."""

    def __init__(self, source: str, **options: Any) -> None:
        text = lower_source(source, **options).text
        # The host knows neither the calling convention nor, for functions to be found by name, internal ones.
        text = text.replace("define internal spir_func", "define").replace("spir_func ", "")
        machine = _machine()
        head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{llvm.get_default_triple()}"\n'
        module = llvm.parse_assembly(head + text)
        module.verify()
        self._engine = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()

    def call(self, name: str, result: Any, *arguments: Any) -> Any:
        """`arguments` are ctypes values; `result` a ctypes type or None."""
        types = [type(argument) for argument in arguments]
        function = ctypes.CFUNCTYPE(result, *types)(self._engine.get_function_address(name))
        return function(*arguments)

    def int(self, name: str, *arguments: int) -> int:
        """Of a function from ints to int."""
        return int(self.call(name, ctypes.c_int32, *map(ctypes.c_int32, arguments)))
