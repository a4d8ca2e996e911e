"""`coopmat.compile`: a compilation whose warnings and remarks become Python warnings."""

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
    """Compile OpenCL C; the source is checked on return, code is generated on demand.

    With the `language` "ir" the source is LLVM IR, of any dialect that docs/dialects.md lists; with "spv" it is SPIR-V,
    a binary or assembly text. A path (pathlib.Path) is read: it is the `name` in messages, its directory is searched
    for includes, and its suffix determines the language; a str is always the source itself.

    `options` are those of the command line, a list (`["-DTILE=16", "--matrices", "one"]`) or one string as for OpenCL
    builds; `-c` makes an object to link with others. Warnings and remarks (`-Rpass=matrix`) are issued as
    `CompilerWarning` when the stage that finds them runs; `-w` turns them off. Raises CompileError, UsageError, OSError
    for a path that cannot be read.
    """
    module = compile_quietly(source, options, name=name, language=language)
    for item in module.diagnostics:
        _warn(item, module.sources)
    module.findings.listener = _warn
    return module


def _warn(item: Diagnostic, sources: SourceMap) -> None:
    if not item.severity.is_error:
        warn(render_text([item], sources).rstrip())
