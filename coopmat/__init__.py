"""Cooperative matrices for OpenCL C.

    import coopmat
    module = coopmat.compile(source, ["-DTILE=16"])
    module.spirv      # bytes
    module.llvm_ir    # the canonical IR
    module.kernels    # name -> KernelInfo
    program = coopmat.Program(coopmat.context(), source).build()

Importing this package imports no other module of it before a name is used, and changes no global state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .compiler import Module as Module
    from .compiler.with_warnings import compile as compile
    from .devices.context import context as context
    from .devices.variants import SubGroupSizeError as SubGroupSizeError
    from .diagnostics import (
        CompileError as CompileError,
        Diagnostic as Diagnostic,
        InternalError as InternalError,
        Severity as Severity,
    )
    from .ir.kernel_info import KernelInfo as KernelInfo
    from .matrices.variants import Variant as Variant
    from .options import CompileOptions as CompileOptions, UsageError as UsageError
    from .reporting import CompilerWarning as CompilerWarning
    from .runtime.cl_errors import ArgumentError as ArgumentError, LaunchError as LaunchError
    from .runtime.cl_program import Program as Program, link_program as link_program
    from .runtime.hook import hook as hook
    from .runtime.program import BuildError as BuildError
    from .runtime.variants import variants as variants

__version__ = "0.1.0"

# Public name -> module that defines the name, imported on first use.
_LATER = {
    "ArgumentError": "runtime.cl_errors",
    "BuildError": "runtime.program",
    "CompileError": "diagnostics",
    "CompileOptions": "options",
    "CompilerWarning": "reporting",
    "Diagnostic": "diagnostics",
    "InternalError": "diagnostics",
    "KernelInfo": "ir.kernel_info",
    "LaunchError": "runtime.cl_errors",
    "Module": "compiler",
    "Program": "runtime.cl_program",
    "Severity": "diagnostics",
    "SubGroupSizeError": "devices.variants",
    "UsageError": "options",
    "Variant": "matrices.variants",
    "compile": "compiler.with_warnings",
    "context": "devices.context",
    "hook": "runtime.hook",
    "link_program": "runtime.cl_program",
    "variants": "runtime.variants",
}


__all__ = list(_LATER)


def __getattr__(name: str) -> object:
    # The compiler takes time to import, and some names need pyopencl, which may not be installed.
    if name not in _LATER:
        raise AttributeError(f"module 'coopmat' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f".{_LATER[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: object) -> None:
    """Register pyopencl's `%%cl_kernel` cells in IPython, extended by sources with matrices.

    IPython calls this function for `%load_ext coopmat`. `shell` is the interactive shell.
    """
    from .runtime.ipython import load

    load(shell)
