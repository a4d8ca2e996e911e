"""What stages share: the garbage collector at rest, and the matrix library's text, parsed once."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from ..diagnostics import CompileError, Diagnostics, InternalError
from ..matrices.strategies import Tuning

if TYPE_CHECKING:
    from ..frontend import typed
    from ..matrices.trees import Machine
    from ..options import CompileOptions
    from ..spirv.lowering import Library

# Without the generic address space, where no pointer needs it: one of the library's that says nothing is private.
_LIBRARY_STANDARDS = {False: "CL1.2", True: "CL2.0"}


class _PausedCollector:
    """While entered, by however many threads, Python's cyclic garbage collector rests.

    The stages make millions of objects that live on and few cycles; the collector would go through them all again and
    again, which takes as long as the stages themselves where the file is long. Where threads keep each other in here,
    one that leaves collects: otherwise nobody would.
    """

    # Objects made since the last collection.
    _MOST = 2_000_000

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entered = 0
        self._was_on = False

    def __enter__(self) -> None:
        with self._lock:
            if self._entered == 0:
                self._was_on = gc.isenabled()
                gc.disable()
            self._entered += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._entered -= 1
            if self._entered == 0 and self._was_on:
                gc.enable()
            overdue = self._entered > 0 and gc.get_count()[0] > self._MOST
        if overdue:
            gc.collect()


collector = _PausedCollector()


def machine(options: CompileOptions) -> Machine:
    """What the cost model of Clang's matrix types knows of the device."""
    from ..matrices.trees import Machine

    known = Machine(widest=options.widest, members=options.packed_members, fma=options.fma)
    bits, count = options.matrix_registers or (known.register_bits, known.registers)
    return replace(known, register_bits=bits, registers=count)


def tuning(options: CompileOptions) -> Tuning:
    """What the lowerings of cooperative matrices know of it."""
    size = options.usual_sub_group_size
    return Tuning(options.widest, options.fma, options.guarded_loads, size, options.instructions)


@lru_cache(maxsize=64)
def library(text: str, wrap: bool = True) -> typed.Unit:
    """The typed AST of matrix library text; kept, since the same matrices are asked for again and again. `wrap`:
    components of matrices wrap, whatever the calculation; the text says so itself, at greater length."""
    from ..features import Features
    from ..frontend.parse import parse
    from ..frontend.preprocess import PreprocessOptions, preprocess
    from ..frontend.sema import analyse

    findings = Diagnostics(no_warnings=True)
    standard = _LIBRARY_STANDARDS["__generic" in text]
    tokens = preprocess(text, "<matrix library>", PreprocessOptions(cl_std=standard), findings)
    unit = analyse(parse(tokens, findings), findings, Features.of(standard), wrap=wrap)
    if findings.has_errors:
        raise InternalError("the matrix library does not compile", str(CompileError(findings.items, findings.sources)))
    return unit


@lru_cache(maxsize=1)
def spirv_library() -> Library:
    """The matrix library as SPIR-V, for all modules of this process; its instances are kept in the cache on disk."""
    from ..spirv.lowering import Library

    return Library(library, _kept)


def _kept(text: str, build: Callable[[], bytes]) -> bytes:
    from ..cache import Cache, Entry, key_of, package_version

    key = key_of({"kind": "matrix library", "version": package_version(), "text": text})
    return Cache.of_environment().get_or_build(key, lambda: Entry(build())).payload
