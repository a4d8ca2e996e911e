"""Compiled modules on OpenCL devices: builds, launches and checks."""

from __future__ import annotations

from .launch import RunResult, launch, resolve_options, run_file, run_source
from .program import BuildError, Program
from .runheader import parse_header

__all__ = [
    "BuildError",
    "Program",
    "RunResult",
    "launch",
    "parse_header",
    "resolve_options",
    "run_file",
    "run_source",
]
