"""`coopmat.hook()`: inside it pyopencl's own Program takes sources with matrices."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyopencl as cl

from .cl_program import Program, build_matrices, kept, matrix_source, refuse_separate_compilation, source_of

# Set to "all": as `hook(everything=True)`.
ENVIRONMENT = "COOPMAT_HOOK"
_lock = threading.Lock()
_entered = 0
_entered_for_everything = 0
_original: Any = None
_original_compile: Any = None


@contextmanager
def hook(*, everything: bool | None = None) -> Iterator[None]:
    """Until it is left, in every thread, `pyopencl.Program(context, source).build(...)` compiles sources with matrices.

    Programs without matrices go where they went before, with the arguments that they were given; with `everything`
    they are compiled here, too, and have this compiler's diagnostics (None: where the environment variable
    COOPMAT_HOOK is "all"). Programs of SPIR-V or binaries, and those that are compiled and linked in steps, are
    pyopencl's in any case. The hook may be entered again, by any thread; the last one to leave takes it away.
    """
    global _entered, _entered_for_everything, _original, _original_compile
    whole = os.environ.get(ENVIRONMENT) == "all" if everything is None else everything
    with _lock:
        if _entered == 0:
            _original, _original_compile = cl.Program.build, cl.Program.compile
            cl.Program.build, cl.Program.compile = _build, _compile
        _entered += 1
        _entered_for_everything += whole
    try:
        yield
    finally:
        with _lock:
            _entered -= 1
            _entered_for_everything -= whole
            if _entered == 0:
                cl.Program.build, cl.Program.compile = _original, _original_compile


def _build(self: Any, options: Any = None, *arguments: Any, **others: Any) -> Any:
    # Our own come here without matrices.
    if _entered_for_everything or not isinstance(self, Program):
        options = kept(options)
        source = source_of(self) if _entered_for_everything else matrix_source(self, options)
        if source is not None:
            build_matrices(self, source, options, _devices(*arguments, **others))
            return self
    return _original(self, options, *arguments, **others)


def _devices(devices: Sequence[Any] | None = None, cache_dir: str | None = None) -> Sequence[Any] | None:
    """pyopencl's other arguments of build()."""
    return devices


def _compile(self: Any, options: Any = None, *arguments: Any, **others: Any) -> Any:
    if not isinstance(self, Program):
        refuse_separate_compilation(self, options)
    return _original_compile(self, options, *arguments, **others)
