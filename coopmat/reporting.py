"""Errors and warnings in a user's Python program: warnings at the user's line, and short tracebacks."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

_PACKAGES = ("coopmat", "pyopencl", "pytools")


class CompilerWarning(UserWarning):
    """A Python warning that carries warnings or remarks of the compiler; str() includes the source lines."""


def warn(text: str, category: type[Warning] = CompilerWarning) -> None:
    """Issue a Python warning at the innermost stack frame outside of this package, pyopencl and pytools."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _PACKAGES:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


class ShortTraceback(Exception):
    """An exception that IPython shows with only the message and the stack frames of the user's program."""

    def _render_traceback_(self) -> list[str]:
        import sysconfig
        import traceback

        paths = sysconfig.get_paths()
        packages = (str(Path(__file__).parent), *(paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")))
        frames = [item for item in traceback.extract_tb(self.__traceback__) if not item.filename.startswith(packages)]
        lines = [*traceback.format_list(frames), f"{type(self).__name__}: {self}"]
        return "\n".join(map(str.rstrip, lines)).splitlines()
