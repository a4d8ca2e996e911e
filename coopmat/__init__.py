"""Cooperative matrices for OpenCL C.

    import coopmat
    module = coopmat.compile(source, ["-DTILE=16"])
    module.spirv      # bytes
    module.llvm_ir    # the canonical IR
    module.kernels    # name -> KernelInfo
    program = coopmat.Program(coopmat.context(), source).build()

Importing this package does not import pyopencl or numpy, and changes no global state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .compiler import Module
from .compiler.with_warnings import compile
from .diagnostics import CompileError, Diagnostic, InternalError, Severity
from .options import CompileOptions, UsageError
from .reporting import CompilerWarning

if TYPE_CHECKING:
    from .devices.context import context
    from .devices.variants import SubGroupSizeError
    from .ir.kernel_info import KernelInfo
    from .matrices.variants import Variant
    from .runtime.cl_errors import ArgumentError, LaunchError
    from .runtime.cl_program import Program, link_program
    from .runtime.hook import hook
    from .runtime.program import BuildError
    from .runtime.variants import variants

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "BuildError",
    "CompileError",
    "CompileOptions",
    "CompilerWarning",
    "Diagnostic",
    "InternalError",
    "KernelInfo",
    "LaunchError",
    "Module",
    "Program",
    "Severity",
    "SubGroupSizeError",
    "UsageError",
    "Variant",
    "compile",
    "context",
    "hook",
    "link_program",
    "variants",
]


# Public name -> module that defines the name, imported on first use.
_LATER = {
    "ArgumentError": "runtime.cl_errors",
    "BuildError": "runtime.program",
    "KernelInfo": "ir.kernel_info",
    "LaunchError": "runtime.cl_errors",
    "Program": "runtime.cl_program",
    "SubGroupSizeError": "devices.variants",
    "Variant": "matrices.variants",
    "context": "devices.context",
    "hook": "runtime.hook",
    "link_program": "runtime.cl_program",
    "variants": "runtime.variants",
}


def __getattr__(name: str) -> object:
    # Most of these names need pyopencl, which is imported only on demand.
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
