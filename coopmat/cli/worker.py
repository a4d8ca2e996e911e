"""A worker process for a command: if a kernel crashes or never ends, only that process is lost."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from coopmat.diagnostics import CompileError, Diagnostic, Note, Severity

from .report import Reporter
from .status import run_guarded


class Step(NamedTuple):
    """A step of a worker.

    subject: the subject of the message if the worker crashes, such as "kernel 'k'".
    notes: notes of that message, on possible causes.
    """

    subject: str
    notes: tuple[str, ...] = ()


# The seconds that a worker which has returned its status gets to end.
_PATIENCE = 5.0
_LINE_BUFFERED = 1  # _IOLBF of the C library

Report = Callable[[Step], None]

# signal -> its usual cause in a kernel
_CAUSES = {
    "SIGSEGV": "an access outside an argument's array: compare the arrays' sizes with the indices of the global size",
    "SIGBUS": "an access outside an argument's array, or one that is not aligned",
    "SIGFPE": "an integer division by zero, or of the smallest integer by -1",
    "SIGILL": "an instruction that the processor lacks",
    "SIGABRT": "an error that the device's driver found, or an access that overwrote its memory",
    "SIGKILL": "too little memory, or another process that ended it",
}
_OUTSIDE = ("SIGSEGV", "SIGBUS", "SIGABRT")
_ADVICE = "`--device oclgrind` reports invalid accesses with their places (pip install 'coopmat[oclgrind]')"


def run_in_worker(work: Callable[[Report], int], seconds: float | None) -> int:
    """Call `work` in a worker process and return its exit status; `work` gets a function that reports its steps.

    Raises CompileError if the process crashes, or takes longer than `seconds`. In the latter case, the process and
    those that it started are killed.
    """
    sys.stdout.flush()
    # A fork needs no new interpreter. It is safe: OpenCL is not loaded yet, and there is one thread.
    context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(work, theirs, ours if sys.platform == "linux" else None))
    process.start()
    theirs.close()
    step = Step("the run")
    deadline = None if seconds is None else time.monotonic() + seconds
    try:
        while ours.poll(None if deadline is None else max(0.0, deadline - time.monotonic())):
            answer = ours.recv()
            if isinstance(answer, int):
                process.join(_PATIENCE)
                return answer
            step = Step(*answer)
    except (EOFError, OSError):
        process.join()
        raise CompileError([_crash(step, process.exitcode)]) from None
    finally:
        _end(process)
    message = f"the run took longer than {seconds:g} s, and was ended"
    raise CompileError([Diagnostic(Severity.ERROR, "timeout", message)])


def _serve(work: Callable[[Report], int], pipe: Connection, parents: Connection | None) -> None:
    """Call `work` in the worker process, and send its steps and its exit status through the pipe.

    The process leads a new process group, and ends when its parent ends. `parents` is the parent's end of the pipe,
    which a forked process must close.
    """
    if parents is not None:
        parents.close()
    if hasattr(os, "setsid"):
        os.setsid()
    threading.Thread(target=_follow, args=(pipe,), daemon=True).start()
    _write_lines_at_once()
    status = run_guarded(partial(work, lambda step: pipe.send(tuple(step))), Reporter().show_error)
    sys.stdout.flush()
    if sys.platform == "linux":
        ctypes.CDLL(None).fflush(None)  # the last line that a kernel prints may have no end
    pipe.send(int(status))


def _write_lines_at_once() -> None:
    """Let the C library write each line that a kernel prints when it ends.

    Otherwise, lines for a file or a pipe would follow those of Python, or be lost if a kernel crashes.
    """
    if sys.platform == "linux":
        library = ctypes.CDLL(None)
        library.setvbuf(ctypes.c_void_p.in_dll(library, "stdout"), None, _LINE_BUFFERED, 0)


def _follow(pipe: Connection) -> None:
    """Kill this process group when the parent's end of the pipe is closed."""
    try:
        pipe.recv()
    except (EOFError, OSError):
        _kill(os.getpid())


def _crash(step: Step, status: int | None) -> Diagnostic:
    """Return the error for a worker that ended during a step, with the likely cause as a note."""
    from coopmat.child_process import ending

    name = signal.Signals(-status).name if status is not None and -status in set(signal.Signals) else ""
    notes = list(step.notes)
    if cause := _CAUSES.get(name):
        notes.append(f"the likely cause: {cause}")
    if name in _OUTSIDE:
        notes.append(_ADVICE)
    message = f"{step.subject} {ending(status)}"
    return Diagnostic(Severity.ERROR, "crash", message, notes=tuple(map(Note, notes)))


def _end(process: Any) -> None:
    """Kill a process that still runs, with the processes that it started, and wait for its end."""
    if process.is_alive():
        _kill(process.pid)
    process.join()


def _kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (AttributeError, ProcessLookupError, PermissionError):
        os.kill(group, signal.SIGTERM)
