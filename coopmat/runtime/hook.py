"""`coopmat.hook()`: a context in which pyopencl's own Program accepts sources with matrices."""

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

# The environment variable whose value "all" means `hook(everything=True)`.
ENVIRONMENT = "COOPMAT_HOOK"
_lock = threading.Lock()
_entered = 0
_entered_for_everything = 0
_original: Any = None
_original_compile: Any = None
_original_link: Any = None


@contextmanager
def hook(*, everything: bool | None = None) -> Iterator[None]:
    """Let pyopencl's own Program compile sources with matrices, in all threads, inside the context.

    The call is `pyopencl.Program(context, source).build(...)`, as without matrices.

    Programs without matrices are still built by pyopencl, with the same arguments. If `everything` is true, they are
    compiled here too, with this compiler's diagnostics. If `everything` is None, this is the case if the environment
    variable COOPMAT_HOOK is "all". `compile` and `pyopencl.link_program` behave likewise. Programs of SPIR-V or
    binaries always remain pyopencl's.

    The hook may be entered several times, by any thread. The last exit restores pyopencl's functions.
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
    """Replace pyopencl.Program.build inside the hook."""
    # A `Program` of this package calls this function only if it has no matrices.
    if _entered_for_everything or not isinstance(self, Program):
        options = kept(options)
        source = source_of(self) if _entered_for_everything else matrix_source(self, options)
        if source is not None:
            build_matrices(self, source, options, _devices(*arguments, **others))
            return self
    return _original(self, options, *arguments, **others)


def _devices(devices: Sequence[Any] | None = None, cache_dir: str | None = None) -> Sequence[Any] | None:
    """Return the argument `devices` from the further arguments of pyopencl's build()."""
    return devices


def _compile(self: Any, options: Any = None, devices: Any = None, headers: Any = None) -> Any:
    """Replace pyopencl.Program.compile inside the hook."""
    if not isinstance(self, Program):
        options = kept(options)
        source = source_of(self) if _entered_for_everything else object_source(self, options, headers)
        if source is not None:
            compile_matrices(self, source, options, devices, headers)
            return self
        forget_object(self)
    return _original_compile(self, options, devices, headers)
