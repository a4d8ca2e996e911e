"""Reading inputs and writing outputs: whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from coopmat.diagnostics import CompileError, Diagnostic, Severity, SourceMap, Span

STANDARD_INPUT = "<stdin>"


def read_source(name: str) -> str:
    """The text of a source file, or of standard input for `-`.

    Raises CompileError, at the place, for what is not UTF-8; OSError for what cannot be read.
    """
    data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    shown = STANDARD_INPUT if name == "-" else name
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig", errors="replace")
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        sources = SourceMap()
        sources.add(shown, data.decode("utf-8-sig", errors="replace"))
        message = f"the source is not UTF-8 (byte 0x{data[error.start]:02x})"
        span = Span(shown, line, column, line, column + 1)
        raise CompileError([Diagnostic(Severity.ERROR, "invalid-utf8", message, span)], sources) from None


def write_outputs(outputs: Mapping[str, bytes]) -> None:
    """Write every output, `-` being standard output.

    Files are written beside their place and moved there once all of them are complete. Raises OSError; then
    no output has been touched, unless a move itself failed.
    """
    written: list[tuple[str, Path]] = []
    try:
        for name, data in outputs.items():
            path = Path(name)
            if name != "-" and not _is_special(path):
                written.append((_write_beside(path, data), path))
        while written:
            temporary, path = written[0]
            os.replace(temporary, path)  # noqa: PTH105 - a name from mkstemp
            del written[0]
    finally:
        for temporary, _ in written:
            os.unlink(temporary)  # noqa: PTH108
    for name, data in outputs.items():
        if name == "-":
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        elif _is_special(Path(name)):
            Path(name).write_bytes(data)


def _is_special(path: Path) -> bool:
    """A device or a pipe is written to, not replaced."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _write_beside(path: Path, data: bytes) -> str:
    if path.is_dir():
        raise IsADirectoryError(21, "is a directory", str(path))
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # noqa: PTH101 - mkstemp makes it private, an output is not
    except BaseException:
        os.unlink(temporary)  # noqa: PTH108
        raise
    return temporary
