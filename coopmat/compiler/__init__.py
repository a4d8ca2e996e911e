"""OpenCL C, or what other front ends make, to SPIR-V."""

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
