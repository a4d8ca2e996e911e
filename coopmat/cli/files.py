"""Reading inputs and writing outputs, each completely or not at all."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from coopmat import budgets, file_table
from coopmat.options import UsageError

STANDARD_INPUT = "<stdin>"


def read_source(name: str) -> bytes:
    """Return the bytes of a source file, or of standard input for the name `-`.

    Raises OSError. Raises budgets.Exceeded for a source that is too large, without reading the rest.
    """
    most = budgets.limit("source-bytes")
    data = sys.stdin.buffer.read(most + 1) if name == "-" else file_table.read(name, most)
    if data is None or len(data) > most:
        raise budgets.Exceeded("source-bytes", STANDARD_INPUT if name == "-" else name)
    return data


def keep_input(output: str, name: str) -> None:
    """Raise UsageError if an output would overwrite the input `name`; `-` is no file."""
    if output != "-" and Path(output).exists() and Path(name).exists() and Path(output).samefile(name):
        raise UsageError(f"the output '{output}' is the input")


def write_outputs(outputs: Mapping[str, bytes]) -> None:
    """Write every output: file name -> contents; `-` is standard output.

    Files are written under a temporary name, and renamed once all of them are complete. Raises OSError. In that case no
    output has been changed, unless a renaming failed.
    """
    temporaries: list[tuple[str, Path]] = []
    try:
        for name, data in outputs.items():
            path = Path(name)
            if name != "-" and not _is_special(path):
                temporaries.append((_write_beside(path, data), path))
        while temporaries:
            temporary, path = temporaries[0]
            os.replace(temporary, path)  # noqa: PTH105 - a string from mkstemp
            del temporaries[0]
    finally:
        for temporary, _ in temporaries:
            os.unlink(temporary)  # noqa: PTH108
    for name, data in outputs.items():
        if name == "-":
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        elif _is_special(Path(name)):
            Path(name).write_bytes(data)


def _is_special(path: Path) -> bool:
    """Return whether a path is a device or a pipe, which is written to instead of being replaced."""
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
