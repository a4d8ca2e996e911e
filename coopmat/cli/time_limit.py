"""A command in a process of its own, with a time limit: a kernel that does not end cannot be interrupted otherwise."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import click

from coopmat.diagnostics import CompileError, Diagnostic, Severity

# As in `devices.probe`, the new process uses the modules of this one.
_START = (
    "import sys; sys.path[:] = sys.argv[1].split('\\n'); from coopmat.cli.app import run_command;"
    " sys.exit(run_command(sys.argv[2:]))"
)


def run_limited(context: click.Context, seconds: float) -> int:
    """Run the command that `context` was parsed from, without its `--timeout`; return its exit status.

    Raises CompileError if it takes longer: then it, and the processes that it started, are ended.
    """
    sys.stdout.flush()
    words = [context.info_name or "", *_words(context)]
    command = [sys.executable, "-c", _START, "\n".join(filter(None, sys.path)), *words]
    process = subprocess.Popen(command, start_new_session=True)
    try:
        status = process.wait(seconds)
    except subprocess.TimeoutExpired:
        message = f"the run took longer than {seconds:g} s, and was ended"
        raise CompileError([Diagnostic(Severity.ERROR, "timeout", message)]) from None
    finally:
        if process.poll() is None:
            _end(process)
    if status < 0:
        message = f"the run was ended by {signal.Signals(-status).name}"
        raise CompileError([Diagnostic(Severity.ERROR, "crash", message)])
    return status


def _words(context: click.Context) -> Iterator[str]:
    """Yield the arguments, as they were parsed."""
    options: tuple[str, ...] = ()
    for parameter in context.command.params:
        value = context.params[parameter.name or ""]
        if isinstance(parameter, click.Argument):
            options = value
        elif parameter.name != "timeout" and value is not None:
            for item in value if isinstance(value, tuple) else (value,):
                yield f"{parameter.opts[0]}={item}"
    yield from options


def _end(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
