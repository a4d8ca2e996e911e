"""`coopmat.compile`: a compilation that issues its warnings and remarks as Python warnings."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..diagnostics import Diagnostic, SourceMap, render_text
from ..options import CompileOptions
from ..reporting import warn
from .module import Module, compile as compile_quietly


def compile(
    source: str | bytes | os.PathLike[str],
    options: str | Sequence[str] | CompileOptions = (),
    *,
    name: str | None = None,
    language: str | None = None,
) -> Module:
    """Compile a source: check it at once, and generate code on demand.

    The source is OpenCL C. With the `language` "ir" it is LLVM IR in any dialect of docs/dialects.md; with "spv" it is
    SPIR-V, a binary or assembly text. If the source is a path (pathlib.Path), the file is read, and its suffix
    determines the language. The path is the `name` in messages, and its directory is searched for includes. A str is
    always the source itself.

    `options` are those of the command line, as a list (`["-DTILE=16", "--matrices", "one"]`) or as one string as for
    OpenCL builds; `-c` makes an object to link with others. Warnings and remarks (`-Rpass=matrix`) are issued as
    `CompilerWarning` when the stage that finds them runs; `-w` turns them off.

    Raises CompileError, UsageError, and OSError for a path that cannot be read.
    """
    module = compile_quietly(source, options, name=name, language=language)
    for item in module.diagnostics:
        _warn(item, module.sources)
    module.findings.listener = _warn
    return module


def _warn(item: Diagnostic, sources: SourceMap) -> None:
    if not item.severity.is_error:
        warn(render_text([item], sources).rstrip())
