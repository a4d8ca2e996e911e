"""`coopmat.hook()`: inside it pyopencl's own Program takes sources with matrices."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyopencl as cl

from .cl_program import build_matrices
from .device_build import has_matrices

_lock = threading.Lock()
_entered = 0
_original: Any = None


@contextmanager
def hook() -> Iterator[None]:
    """Until it is left, in every thread, `pyopencl.Program(context, source).build(...)` compiles sources with matrices.

    Programs without matrices go where they went before, with the arguments that they were given. It may be entered
    again, by any thread; the last one to leave takes it away.
    """
    global _entered, _original
    with _lock:
        if _entered == 0:
            _original = cl.Program.build
            cl.Program.build = _build
        _entered += 1
    try:
        yield
    finally:
        with _lock:
            _entered -= 1
            if _entered == 0:
                cl.Program.build = _original


def _build(
    self: Any,
    options: str | Sequence[str] | None = None,
    devices: Sequence[Any] | None = None,
    cache_dir: str | None = None,
) -> Any:
    source = getattr(self, "_source", None)
    text = source.decode(errors="replace") if isinstance(source, bytes) else source
    if type(self) is cl.Program and text is not None and has_matrices(text, options):
        build_matrices(self, text, options, devices)
        return self
    return _original(self, options, devices, cache_dir)
