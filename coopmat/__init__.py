"""Cooperative matrices for OpenCL C.

    import coopmat
    module = coopmat.compile(source, ["-DTILE=16"])
    module.spirv      # bytes, validated
    module.llvm_ir    # the canonical IR
    module.kernels    # name -> KernelInfo

Importing this package loads nothing heavy and changes no global state.
"""

from __future__ import annotations

from .compiler import Module, compile
from .diagnostics import CompileError, Diagnostic, InternalError, Severity
from .options import CompileOptions, UsageError

__version__ = "0.1.0"

__all__ = [
    "CompileError",
    "CompileOptions",
    "Diagnostic",
    "InternalError",
    "Module",
    "Severity",
    "UsageError",
    "compile",
]
