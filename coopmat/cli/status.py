"""Exit statuses, and the table of the errors that cause each."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from enum import IntEnum

from coopmat.diagnostics import CompileError, Diagnostic, InternalError, Note, Severity, SourceMap


class ExitStatus(IntEnum):
    """An exit status of `coopmat`.

    DONE: success.
    INPUT: an error in the input, or of the machine.
    USAGE: a wrong command line.
    INTERNAL: an error of the compiler.
    INTERRUPTED: Ctrl-C.
    """

    DONE = 0
    INPUT = 1
    USAGE = 2
    INTERNAL = 70
    INTERRUPTED = 130


_SHOWN_FRAMES = 8
_REPORT = (
    Note("this is a bug in coopmat: please report it with the source, the command line and the text above"),
    Note(f"python {sys.version.split()[0]} on {sys.platform}; `coopmat doctor` prints the other versions"),
)


def findings(error: Exception) -> tuple[list[Diagnostic], SourceMap | None, ExitStatus]:
    """Return an error's diagnostics, the texts on which they are shown (or None), and the exit status."""
    from coopmat.budgets import Exceeded
    from coopmat.options import UsageError
    from coopmat.runtime.program import BuildError
    from coopmat.spirv.tools import ToolError, ToolsMissing

    if isinstance(error, UsageError):
        return [Diagnostic(Severity.ERROR, "usage", str(error))], None, ExitStatus.USAGE
    if isinstance(error, CompileError):
        return error.diagnostics, error.sources, ExitStatus.INPUT
    if isinstance(error, Exceeded):
        return [Diagnostic(Severity.ERROR, "budget", str(error))], None, ExitStatus.INPUT
    if isinstance(error, (ToolsMissing, ToolError)):
        return [Diagnostic(Severity.ERROR, "spirv-tools", str(error))], None, ExitStatus.INPUT
    if isinstance(error, OSError):
        return [Diagnostic(Severity.ERROR, "file", _os_message(error))], None, ExitStatus.INPUT
    if isinstance(error, BuildError) and error.device_failure is not None:
        return [Diagnostic(Severity.ERROR, "dead-device", str(error))], None, ExitStatus.INPUT
    if isinstance(error, BuildError):
        whole = Diagnostic(Severity.FATAL, "device-build", str(error), notes=_REPORT)
        return [*error.diagnostics, whole], error.sources, ExitStatus.INTERNAL
    if isinstance(error, InternalError):
        notes = (Note(error.details), *_REPORT) if error.details else _REPORT
        return [Diagnostic(Severity.FATAL, "internal-error", error.message, notes=notes)], None, ExitStatus.INTERNAL
    text = "".join(traceback.format_exception(error, limit=-_SHOWN_FRAMES))
    message = f"{type(error).__name__}: {error}"
    item = Diagnostic(Severity.FATAL, "internal-error", message, notes=(Note(text), *_REPORT))
    return [item], None, ExitStatus.INTERNAL


def _os_message(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{os.fsdecode(error.filename)}: {reason}" if error.filename else reason


def run_guarded(command: Callable[[], int], show: Callable[[Exception], int]) -> int:
    """Run a command and return its exit status, also if it raises; `show` prints an error and returns its status."""
    try:
        status = command()
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except BrokenPipeError:
        # The reader of standard output has closed the pipe; Python must not flush into it again when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitStatus.INPUT
    except Exception as error:
        return show(error)
