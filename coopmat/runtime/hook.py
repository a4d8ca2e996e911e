"""`coopmat.hook()`: inside it pyopencl's own Program takes sources with matrices."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyopencl as cl

from .cl_program import (
    Program,
    build_matrices,
    compile_matrices,
    forget_object,
    kept,
    link_program,
    matrix_source,
    object_source,
    source_of,
)

# Set to "all": as `hook(everything=True)`.
ENVIRONMENT = "COOPMAT_HOOK"
_lock = threading.Lock()
_entered = 0
_entered_for_everything = 0
_original: Any = None
_original_compile: Any = None
_original_link: Any = None


@contextmanager
def hook(*, everything: bool | None = None) -> Iterator[None]:
    """Until it is left, in every thread, `pyopencl.Program(context, source).build(...)` compiles sources with matrices.

    Programs without matrices go where they went before, with the arguments that they were given; with `everything`
    they are compiled here, too, and have this compiler's diagnostics (None: where the environment variable
    COOPMAT_HOOK is "all"). `compile` and `pyopencl.link_program` do the same for programs that are compiled and linked
    in steps. Programs of SPIR-V or binaries are pyopencl's in any case. The hook may be entered again, by any thread;
    the last one to leave takes it away.
    """
    global _entered, _entered_for_everything, _original, _original_compile, _original_link
    whole = os.environ.get(ENVIRONMENT) == "all" if everything is None else everything
    with _lock:
        if _entered == 0:
            _original, _original_compile, _original_link = cl.Program.build, cl.Program.compile, cl.link_program
            cl.Program.build, cl.Program.compile, cl.link_program = _build, _compile, link_program
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
                cl.link_program = _original_link


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


def _compile(self: Any, options: Any = None, devices: Any = None, headers: Any = None) -> Any:
    if not isinstance(self, Program):
        options = kept(options)
        source = source_of(self) if _entered_for_everything else object_source(self, options, headers)
        if source is not None:
            compile_matrices(self, source, options, devices, headers)
            return self
        forget_object(self)
    return _original_compile(self, options, devices, headers)
