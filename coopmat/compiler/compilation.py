"""The compilation of one source: the results of the stages of its language, each of which runs on demand."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

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
from .from_source import preamble_of
from .pipelines import PIPELINES
from .stages import EMITTED, INFOS, TOKENS, UNIT, VULKAN, Stage, T

if TYPE_CHECKING:
    import pickle

    from ..analysis.target_check import Requirement
    from ..matrices.memory_rules import MemoryRules
    from ..matrices.supported import Supported
    from ..preambles import Snapshot


# The stages whose results are pickled with a module: the preprocessed source, and the program for a device.
_CARRIED = (TOKENS, INFOS, VULKAN, EMITTED)
# The number of tokens from which a source counts as long (`release_early`).
_MANY_TOKENS = 50_000


def _unpickle(version: str, data: bytes) -> Compilation:
    """Return the pickled compilation. Raise UnpicklingError unless this version of the package has pickled it."""
    if version != _version():
        raise _of_another_version(f"coopmat {version}")
    import pickle

    try:
        kind, fields = pickle.loads(data)
    except (AttributeError, ImportError) as error:
        raise _of_another_version(f"another build of coopmat {version}") from error
    compilation: Compilation = kind.__new__(kind)
    compilation.__dict__.update(fields, _lock=threading.RLock())
    return compilation


def _version() -> str:
    from importlib import metadata  # slow to import, as pickle is

    return metadata.version("coopmat")


def _of_another_version(version: str) -> pickle.UnpicklingError:
    import pickle

    return pickle.UnpicklingError(f"the module was pickled by {version}; coopmat {_version()} must compile it again")


def __getattr__(name: str) -> Any:
    """Raise UnpicklingError for the names by which pickles of earlier versions begin, which state no version."""
    if name in ("Module", "_unpickled"):
        raise _of_another_version("an earlier coopmat")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class Compilation:
    """A compilation of one source: the results of the stages that have run, their diagnostics and durations.

    timings: stage -> its duration in seconds.
    validated: whether spirv-val has accepted the binary.
    findings: the collector of diagnostics.
    preamble: the snapshot after an OpenCL C source's preamble; None if each stage processes its input at once.
    retain: whether a long source's tokens, trees and unreachable functions are kept (see `release_early`).
    """

    def __init__(self, source: str | bytes, name: str, options: CompileOptions, language: str = "cl") -> None:
        self.source = source
        self.name = name
        self.options = options
        self.language = language
        self.timings: dict[str, float] = {}
        self.validated = False
        self.findings = self._collector()
        # A stored preamble has only the bodies of functions that were reached. With -c, other programs may call any
        # function, so no preamble is used.
        self.preamble = preamble_of(options) if language == "cl" and not options.separate else None
        self.retain = False
        self._results: dict[Stage[Any], Any] = {}
        self._lock = threading.RLock()

    def __reduce__(self) -> tuple[Any, ...]:
        import pickle

        with self._lock:
            for stage in PIPELINES[self.language].pickled:
                self.result(stage)
            carried = {stage: self._results[stage] for stage in _CARRIED if stage in self._results}
            if TOKENS in carried:
                carried[TOKENS] = self.full.result(TOKENS)
            fields = {name: value for name, value in vars(self).items() if name != "_lock"} | {"preamble": None}
            return _unpickle, (_version(), pickle.dumps((type(self), {**fields, "_results": carried})))

    @property
    def sources(self) -> SourceMap:
        return self.findings.sources

    @property
    def matrices(self) -> str:
        """The route: "native", or a name in `LOWERED_ROUTES`."""
        return self.options.matrices

    @property
    def code(self) -> str:
        """The form of the program for a device: "spirv" or "c"."""
        return self.options.form

    # --- stages

    def result(self, stage: Stage[T]) -> T:
        """Return the result of a stage; run the stage first if needed. Raises CompileError if the language lacks it."""
        with self._lock:
            if stage not in self._results:
                pipeline = PIPELINES[self.language]
                run = pipeline.stages.get(stage)
                if run is None:
                    reason = pipeline.lacks[stage]
                    raise self.refused("no-such-stage", f"{self.name} is {pipeline.title}, which {reason}")
                self._results[stage] = run(self)
            result: T = self._results[stage]
            return result

    @property
    def full(self) -> Compilation:
        """Itself, if this compilation has all tokens and functions of the source; otherwise a new one that has them."""
        if self.result(TOKENS).is_whole and not self.release_early:
            return self
        other = Compilation(self.source, self.name, self.options, self.language)
        other.preamble, other.retain = None, True
        return other

    @property
    def release_early(self) -> bool:
        """Whether a long source's tokens, trees and unreachable functions are dropped once the next stage is finished.

        A long source has millions of such objects, which Python's garbage collector would traverse repeatedly.
        """
        return not self.retain and len(self.result(TOKENS).tokens) > _MANY_TOKENS

    def full_result(self, stage: Stage[T]) -> T:
        """Return the result of a stage for the whole source: without a preamble, and with all functions."""
        if not self._results:
            self.preamble, self.retain = None, True
        return self.full.result(stage)

    def drop(self, *stages: Stage[Any]) -> None:
        """Drop the results of stages; of the tokens, only the list is emptied (macros and dependencies remain)."""
        for stage in stages:
            result = self._results.pop(stage)
            if stage == TOKENS:
                self._results[stage] = replace(result, tokens=[], is_whole=False)

    def start_again(self, preamble: Snapshot | None) -> None:
        """Drop the results and findings of all stages, and set the preamble."""
        self._results.clear()
        self.findings = self._collector()
        self.preamble = preamble

    def _collector(self) -> Diagnostics:
        options = self.options
        return Diagnostics(
            error_limit=options.error_limit,
            no_warnings=options.no_warnings,
            warnings=options.warnings,
            system_dirs=options.system_dirs,
        )

    def __repr__(self) -> str:
        unit = self._results.get(UNIT)
        kernels = [kernel.name for kernel in unit.kernels] if unit is not None else []
        listing = f", kernels {', '.join(kernels)}" if kernels else ""
        return f"<coopmat.{type(self).__name__} of {self.name}: {self.language}, matrices {self.matrices}{listing}>"

    def check(self) -> None:
        """Run the stage that finds the source's errors. Raises CompileError."""
        self.result(PIPELINES[self.language].first)

    def validate(self) -> None:
        """Run spirv-val, whatever the options say. Raises InternalError if the module is invalid, ToolsMissing."""
        with self._lock:
            if not self.validated:
                binary = self.result(EMITTED)
                self.timed("validate", lambda: PIPELINES[self.language].validate(self, binary))
                self.validated = True

    def timed(self, name: str, run: Callable[[], T]) -> T:
        """Return the result of `run`, which runs under the budgets; add its duration to `timings[name]`."""
        start = time.perf_counter()
        try:
            return self.with_budgets(run, name)
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - start

    def with_budgets(self, run: Callable[[], T], name: str = "compile") -> T:
        """Return the result of `run`, which runs under the budgets of the options.

        Raises CompileError if a budget is exhausted, or the source is nested more deeply than Python's recursion limit.
        """
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
        """Add diagnostics to the findings; return an error with all findings so far, for the caller to raise."""
        for item in items:
            self.findings.add(item)
        return CompileError(self.findings.in_order(), self.sources)

    def refused(self, code: str, message: str, span: Span | None = None, notes: tuple[Note, ...] = ()) -> CompileError:
        """Add an error of the input to the findings, and return it as an exception, for the caller to raise."""
        return self.failure(Diagnostic(Severity.ERROR, code, message, span, notes=notes))

    def require_opencl(self) -> None:
        """Raise CompileError if the options ask for a Vulkan module, which only OpenCL C can become."""
        if self.options.is_vulkan:
            what = f"--target-env {self.options.target_env} of {PIPELINES[self.language].title}"
            raise self.refused("not-supported", f"{self.name}: {what} is not supported yet")

    def with_sources(self, run: Callable[[], T]) -> T:
        """Return the result of `run`; add its errors to the findings and raise them again with the source text."""
        try:
            return run()
        except CompileError as error:
            raise self.failure(*error.diagnostics) from None

    def warn(self, code: str, message: str, span: Span | None = None) -> None:
        """Add a warning if the -W options turn it on. Raises CompileError under -Werror."""
        self.findings.warning(code, message, span)
        self.findings.raise_if_errors()

    def warn_of(self, items: Iterable[Diagnostic]) -> None:
        """Add those warnings of a stage that the -W options turn on. Raises CompileError under -Werror."""
        for item in items:
            self.findings.warning(item.code, item.message, item.span)
        self.findings.raise_if_errors()

    def remark(self, code: str, items: Iterable[tuple[Span, str]]) -> None:
        """Add a stage's remarks, sorted by file, line and column."""
        for span, text in sorted(items, key=lambda item: (item[0].file, item[0].line, item[0].column)):
            self.findings.add(Diagnostic(Severity.REMARK, code, text, span))

    # --- the device

    def check_device(
        self, requirements: Iterable[Requirement], span: Callable[[Any], Span | None] = lambda place: place
    ) -> None:
        """Raise CompileError if the device does not support what a program requires; `span` converts the places.

        Only properties of the device that are known are checked. Raises UsageError for invalid variants.
        """
        supported, rules = self._supported(), self.memory_rules()
        if supported is not None or rules is not None:
            from ..analysis.target_check import TargetCheck

            device = self.options.device or "the device"
            with suppress(TooManyErrors):
                TargetCheck(supported, rules, device, self.findings, span).run(requirements)
        self.findings.raise_if_errors()

    def memory_rules(self) -> MemoryRules | None:
        """Return the device's requirements on matrices in memory, None if it has or needs none (lowered routes, C)."""
        from ..matrices.memory_rules import VULKAN_ALIGNMENT, MemoryRules

        sizes, is_vulkan = (self.options.pointer_alignment, self.options.stride_multiple), self.options.is_vulkan
        if self.matrices != "native" or self.code == "c" or (sizes == (None, None) and not is_vulkan):
            return None
        usual = VULKAN_ALIGNMENT if is_vulkan else 1
        return MemoryRules(sizes[0] or usual, sizes[1] or usual, by_line=is_vulkan)

    def _supported(self) -> Supported | None:
        """Return the matrix variants that the device supports; None if they are unknown or the route is not native.

        Raises UsageError if an option states them in a wrong form.
        """
        from ..matrices.supported import Supported, parse_variants

        if self.matrices != "native" or self.options.variants is None:
            return None
        try:
            return Supported(parse_variants(" ".join(self.options.variants)))
        except ValueError as error:
            raise UsageError(f"--matrix-variants: {error}") from None
