"""Compile a kernel, and list the files of coopmat/ whose functions run, in the order in which they are entered.

Modules of tables, whose functions only look up rows, are listed separately. Code that runs while a module is imported
does not count. The work of LLVM's process is done in this process.

Usage: tools/dev walk FILE [OPTION...]     (the options of the file's first run, if any, come first)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import llvmlite.binding as llvm

from coopmat import compiler
from coopmat.runtime.runheader import parse_header
from coopmat.spirv import emit, emitter

PACKAGE = Path(compiler.__file__).resolve().parents[1]
# Modules with tables of rows, and functions that select rows.
TABLES = ("frontend/builtins/", "frontend/types.py", "frontend/words.py", "warning_options/", "matrices/variants.py",
          "features.py", "frontend/foreign_names.py")  # fmt: skip


class _SameProcess(emit._Emitter):
    """An emitter that runs LLVM in this process, once: a second emission in one process is not supported."""

    def request(self, request: Any, text: bytes) -> tuple[Any, list[bytes]]:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        for option in emitter.LLVM_OPTIONS:
            llvm.set_option("emitter", option)
        return emitter.compile_ir(request, text.decode())


def walked(path: Path, options: list[str]) -> dict[str, list[str]]:
    """Compile a kernel, and return file -> names of its functions that ran, in order."""
    found: dict[str, dict[str, None]] = {}

    importing: list[FrameType] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if code.co_name == "<module>":
            if event == "call":
                importing.append(frame)
            elif event == "return" and frame in importing:
                importing.remove(frame)
        elif event == "call" and not importing and code.co_filename.startswith(str(PACKAGE)):
            found.setdefault(code.co_filename, {})[code.co_name] = None

    source = path.read_bytes()
    runs = parse_header(source.decode(), path.name)
    options = [*(runs[0].options if runs else ()), *options]
    emit._emitter = _SameProcess()
    sys.setprofile(note)
    try:
        module = compiler.compile(source, options, name=path.name)
        module.opencl_c if module.code == "c" else module.spirv  # noqa: B018
    finally:
        sys.setprofile(None)
    return {str(Path(name).relative_to(PACKAGE)): list(functions) for name, functions in found.items()}


def lines(files: dict[str, list[str]]) -> Iterator[str]:
    """Yield the lines of the report: each file with its first functions that ran."""
    tables = [name for name in files if name.startswith(TABLES)]
    walk = [name for name in files if name not in tables]
    for name in walk:
        shown = ", ".join(files[name][:4])
        yield f"{name}: {shown}{' ...' if len(files[name]) > 4 else ''}"
    yield f"tables: {', '.join(tables)}"
    yield f"{len(walk)} files and {len(tables)} of tables"


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    print("\n".join(lines(walked(Path(sys.argv[1]), sys.argv[2:]))))
