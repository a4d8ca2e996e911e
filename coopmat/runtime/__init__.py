"""Compiled modules on OpenCL devices: builds, launches and checks."""

from __future__ import annotations

from .executor import LocalMemory
from .launch import RunResult, compile_for, launch, resolve_options, run_file, run_source
from .launch_rules import launch_error
from .program import BuildError, Program
from .runheader import parse_header

__all__ = [
    "BuildError",
    "LocalMemory",
    "Program",
    "RunResult",
    "compile_for",
    "launch",
    "launch_error",
    "parse_header",
    "resolve_options",
    "run_file",
    "run_source",
]
