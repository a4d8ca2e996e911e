"""One source on its way through the stages of its language, each of which runs when its result is first asked for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from .. import budgets
from ..diagnostics import (
    CompileError,
    Diagnostic,
    Diagnostics,
    Note,
    Severity,
    SourceMap,
    Span,
    TooManyErrors,
)
from ..options import CompileOptions, UsageError
from .pipelines import PIPELINES

if TYPE_CHECKING:
    from ..matrices.memory_rules import MemoryRules
    from ..matrices.supported import Supported

T = TypeVar("T")
# Stages whose results go along with a pickled module: the source as it was preprocessed, and what a device is given.
_CARRIED = ("tokens", "infos", "emitted")


def _unpickled(kind: type[Compilation], fields: dict[str, Any]) -> Compilation:
    compilation = kind.__new__(kind)
    compilation.__dict__.update(fields, _lock=threading.RLock())
    return compilation


class Compilation:
    """The results of the stages that have run, what they found, and how long they took."""

    def __init__(self, source: str | bytes, name: str, options: CompileOptions, language: str = "cl") -> None:
        self.source = source
        self.name = name
        self.options = options
        self.language = language
        self.timings: dict[str, float] = {}
        self.validated = False
        self.findings = Diagnostics(
            error_limit=options.error_limit, no_warnings=options.no_warnings, warnings=options.warnings
        )
        self._results: dict[str, Any] = {}
        self._lock = threading.RLock()

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:
            for stage in PIPELINES[self.language].pickled:
                self.result(stage)
            carried = {stage: self._results[stage] for stage in _CARRIED if stage in self._results}
            fields = {name: value for name, value in vars(self).items() if name != "_lock"}
            return _unpickled, (type(self), {**fields, "_results": carried})

    @property
    def sources(self) -> SourceMap:
        return self.findings.sources

    @property
    def matrices(self) -> str:
        """The route: "native", or the name of a lowering."""
        return self.options.matrices

    @property
    def code(self) -> str:
        """What a device is given: "spirv" or "c"."""
        return self.options.given

    # --- stages

    def result(self, stage: str) -> Any:
        """What the stage of that name gives. Raises CompileError where the language has no such stage."""
        with self._lock:
            if stage not in self._results:
                pipeline = PIPELINES[self.language]
                run = pipeline.stages.get(stage)
                if run is None:
                    reason = pipeline.lacks[stage]
                    raise self.refused("no-such-stage", f"{self.name} is {pipeline.title}, which {reason}")
                self._results[stage] = run(self)
            return self._results[stage]

    def check(self) -> None:
        """Runs the stage that finds what is wrong with the source. Raises CompileError."""
        self.result(PIPELINES[self.language].first)

    def validate(self) -> None:
        """Runs spirv-val, whatever the options said. Raises InternalError where it finds fault, ToolsMissing."""
        with self._lock:
            if not self.validated:
                binary = self.result("emitted")
                self.timed("validate", lambda: PIPELINES[self.language].validate(self, binary))
                self.validated = True

    def timed(self, name: str, run: Callable[[], T]) -> T:
        """What `run` gives; how long it took is added to the timings."""
        start = time.perf_counter()
        try:
            return self.bounded(run, name)
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - start

    def bounded(self, run: Callable[[], T], name: str = "compile") -> T:
        """Runs a part of the work under the budgets of the options. Raises CompileError where one is used up, or the
        source is nested deeper than Python goes."""
        try:
            with budgets.use(dict(self.options.budgets)):
                return run()
        except budgets.Exceeded as error:
            item = Diagnostic(Severity.FATAL, "budget", f"{self.name}: {error}")
        except RecursionError:
            item = Diagnostic(Severity.FATAL, "nesting-too-deep", f"{self.name} is nested too deeply to {name}")
        raise self.failure(item)

    # --- findings

    def failure(self, *items: Diagnostic) -> CompileError:
        """An error with these findings and those before."""
        for item in items:
            self.findings.add(item)
        return CompileError(self.findings.in_order(), self.sources)

    def refused(self, code: str, message: str, span: Span | None = None, notes: tuple[Note, ...] = ()) -> CompileError:
        """An error of the input."""
        return self.failure(Diagnostic(Severity.ERROR, code, message, span, notes=notes))

    def placed(self, run: Callable[[], T]) -> T:
        """What `run` gives: it knows the places of its errors, but not the text that stands there."""
        try:
            return run()
        except CompileError as error:
            raise self.failure(*error.diagnostics) from None

    def warn(self, code: str, message: str, span: Span | None = None) -> None:
        """Adds a warning, as -W options allow it. Raises CompileError under -Werror."""
        self.findings.warning(code, message, span)
        self.findings.raise_if_errors()

    def warn_of(self, items: Iterable[Diagnostic]) -> None:
        """Adds warnings of a stage. Raises CompileError under -Werror."""
        for item in items:
            self.findings.warning(item.code, item.message, item.span)
        self.findings.raise_if_errors()

    # --- the device

    def check_device(
        self, subject: Any, check_matrices: Callable[..., None], check_memory: Callable[..., None], findings: Any
    ) -> None:
        """Raises CompileError where the device does not support what the subject asks for, UsageError for bad variants.

        The checks are called with the subject, what is known of the device, its name, and where findings go.
        """
        device = self.options.device or "the device"
        with suppress(TooManyErrors):
            for known, check in ((self._supported(), check_matrices), (self.memory_rules(), check_memory)):
                if known is not None:
                    check(subject, known, device, findings)
        self.findings.raise_if_errors()

    def memory_rules(self) -> MemoryRules | None:
        """What the device wants of matrices in memory; None where that is not known, or does not matter."""
        from ..matrices.memory_rules import MemoryRules

        sizes = self.options.pointer_alignment, self.options.stride_multiple
        if self.matrices != "native" or self.code == "c" or sizes == (None, None):
            return None
        return MemoryRules(sizes[0] or 1, sizes[1] or 1)

    def _supported(self) -> Supported | None:
        """What the device supports; None where that is not known, or does not matter. UsageError for bad variants."""
        from ..matrices.supported import Supported, parse_variants

        if self.matrices != "native" or self.options.variants is None:
            return None
        try:
            return Supported(parse_variants(" ".join(self.options.variants)))
        except ValueError as error:
            raise UsageError(f"--matrix-variants: {error}") from None
