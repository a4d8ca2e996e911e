"""OpenCL C, or what other front ends make, to SPIR-V."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ..diagnostics import TooManyErrors
from ..matrices.strategies import OPENCL_C_ONLY
from ..options import CompileOptions as CompileOptions, UsageError as UsageError
from .from_spirv import link_together as link_together
from .module import Module as Module
from .pipelines import PIPELINES
from .shared import collector


def preprocess_only(source: str | bytes, options: CompileOptions, *, name: str) -> Module:
    """A Module of which only the preprocessor ran; its findings raise CompileError."""
    module = Module(source, name, options)
    with suppress(TooManyErrors), collector:
        module.result("tokens")
    module.findings.raise_if_errors()
    return module


_SUFFIXES = {".ll": "ir", ".spv": "spv", ".spvasm": "spv"}


def language_of(path: str | os.PathLike[str]) -> str:
    """What a file holds, by its suffix: cl, ir or spv."""
    return _SUFFIXES.get(Path(path).suffix, "cl")


def compile(
    source: str | bytes | os.PathLike[str],
    options: str | Sequence[str] | CompileOptions = (),
    *,
    name: str | None = None,
    language: str | None = None,
) -> Module:
    """Compiles OpenCL C; the source is checked on return, code is generated when it is first asked for.

    With the `language` "ir" the source is LLVM IR, of any dialect that docs/dialects.md lists; with "spv" it is SPIR-V,
    a binary or assembly text. A path (pathlib.Path) is read: it is the `name` in messages, includes are looked for
    beside it, and its suffix tells the language; a str is always the source itself.

    `options` are as on the command line, a list (`["-DTILE=16", "--matrices", "one"]`) or one string as OpenCL builds
    take it. Raises CompileError, UsageError, OSError for a path that cannot be read.
    """
    if isinstance(source, os.PathLike):
        path = Path(source)
        name, language = name or str(path), language or language_of(path)
        source = path.read_bytes()
    name, language = name or "<source>", language or "cl"
    if isinstance(options, str):
        options = shlex.split(options)
    parsed = options if isinstance(options, CompileOptions) else CompileOptions.from_arguments(options)
    if parsed.matrices == "auto":
        parsed = replace(parsed, matrices="native")
    if parsed.matrices in OPENCL_C_ONLY and (parsed.code == "spirv" or language != "cl"):
        text = f"--matrices {parsed.matrices} takes OpenCL C, and gives it to a device"
        raise UsageError(f"{text}: use {parsed.matrices}:emulated for SPIR-V")
    module = Module(source, name, parsed, language if language in PIPELINES else "cl")
    if parsed.debug:
        module.warn("unused-command-line-argument", "-g: debug information is not supported yet")
    module.check()
    return module


def recompile(module: Module, options: CompileOptions) -> Module:
    """The source of a module, compiled with other options. Raises CompileError, UsageError."""
    return compile(module.source, options, name=module.name, language=module.language)
