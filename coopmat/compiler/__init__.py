"""The compiler: from OpenCL C, or from LLVM IR or SPIR-V of other front ends, to SPIR-V or OpenCL C for a device."""

from __future__ import annotations

from ..options import CompileOptions as CompileOptions, UsageError as UsageError
from .from_spirv import link_together as link_together
from .module import (
    Module as Module,
    compile as compile,
    language_of as language_of,
    preprocess_only as preprocess_only,
    recompile as recompile,
)
