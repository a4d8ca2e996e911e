"""The stages in a row: a kernel enters at the preprocessor and leaves as SPIR-V.

`Module` holds one compilation; each stage runs when its result is first asked for, and once.
"""

from __future__ import annotations

import gc
import shlex
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .diagnostics import (
    CompileError,
    Diagnostic,
    Diagnostics,
    InternalError,
    Note,
    Severity,
    SourceMap,
    Span,
    TooManyErrors,
)
from .options import CompileOptions, UsageError

if TYPE_CHECKING:
    from .frontend import syntax, typed
    from .frontend.preprocess import TokenStream
    from .ir import LoweredModule
    from .ir.kernel_info import KernelInfo

__all__ = ["CompileOptions", "Module", "UsageError", "compile"]

T = TypeVar("T")


class _stage(Generic[T]):
    """A result of a Module that is made when first asked for, under that module's own lock.

    functools.cached_property has one lock for all modules before Python 3.12, and none from there on.
    """

    def __init__(self, make: Callable[[Module], T]) -> None:
        self.make = make

    def __get__(self, module: Module, owner: type[Module]) -> T:
        with module._lock:
            if self not in module._results:
                module._results[self] = self.make(module)
            result: T = module._results[self]
            return result


class Module:
    """A compiled source.

    `.spirv` is the legalised, and unless turned off validated, binary; `.llvm_ir` the module as lowered;
    `.kernels` what a host needs to know of each kernel. Errors: CompileError for the input, InternalError for the
    compiler, ToolsMissing where validation is on and no able spirv-val is found.
    """

    def __init__(self, source: str | bytes, name: str, options: CompileOptions) -> None:
        self.name = name
        self.options = options
        self.timings: dict[str, float] = {}
        self.validated = False
        self._source = source
        self._lock = threading.RLock()
        self._results: dict[_stage[Any], Any] = {}
        self._findings = Diagnostics(
            error_limit=options.error_limit,
            no_warnings=options.no_warnings,
            warnings=options.warnings,
        )

    # --- what a user asks for

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return self._findings.in_order()

    @property
    def sources(self) -> SourceMap:
        return self._findings.sources

    @property
    def matrices(self) -> str:
        """The route: native, one, lanes or scratch."""
        return self.options.matrices

    @property
    def preprocessed(self) -> str:
        return self._tokens.to_text()

    @property
    def dependencies(self) -> list[str]:
        return self._tokens.dependencies

    @property
    def ast(self) -> str:
        from .frontend.syntax import dump

        return dump(self._tree)

    @property
    def typed_ast(self) -> str:
        from .frontend.typed_dump import dump

        return dump(self.unit)

    @property
    def llvm_ir(self) -> str:
        text = self._lowered.text
        if self.options.dialect == "khr":
            return text
        from .ir import dialects
        from .spirv.emit import reprint

        return reprint(dialects.rewrite(reprint(text), self.options.dialect))

    @property
    def opencl_c(self) -> str:
        """Plain OpenCL C with the matrices lowered: not supported yet, so always a CompileError."""
        raise CompileError([Diagnostic(Severity.ERROR, "not-supported", "OpenCL C as output is not supported yet")])

    @property
    def kernels(self) -> dict[str, KernelInfo]:
        return {kernel.name: kernel for kernel in self._lowered.kernels}

    @property
    def spirv_text(self) -> str:
        from .spirv.tools import disassemble

        return disassemble(self.spirv)

    @property
    def spirv(self) -> bytes:
        with self._lock:
            if self.options.validate:
                self.validate()
            return self._emitted

    def validate(self) -> None:
        """Runs spirv-val, whatever the options said. Raises InternalError where it finds fault, ToolsMissing."""
        with self._lock:
            if not self.validated:
                binary = self._emitted
                self._timed("validate", lambda: self._validate(binary))

    def warn(self, code: str, message: str) -> None:
        """Adds a warning about the whole module, as -W options allow it. Raises CompileError under -Werror."""
        self._findings.warning(code, message)
        self._findings.raise_if_errors()

    # --- the stages

    @_stage
    def _tokens(self) -> TokenStream:
        from .frontend.preprocess import PreprocessOptions, preprocess

        self._findings.check_options()
        options = self.options
        wanted = PreprocessOptions(
            defines=options.defines,
            undefines=options.undefines,
            include_dirs=options.include_dirs,
            cl_std=options.cl_std,
            extensions=options.extensions,
            fast_relaxed_math=options.fast_relaxed_math,
        )
        return self._timed("preprocess", lambda: preprocess(self._source, self.name, wanted, self._findings))

    @_stage
    def _tree(self) -> syntax.TranslationUnit:
        from .frontend.parse import parse

        tokens = self._tokens
        return self._timed("parse", lambda: parse(tokens, self._findings))

    @_stage
    def unit(self) -> typed.Unit:
        """The typed AST of a source without errors; CompileError otherwise."""
        from .frontend.sema import analyse

        with self._lock:
            try:
                tree = self._tree
                features, single = self.options.features, self.options.single_precision_constant
                unit = self._timed("analyse", lambda: analyse(tree, self._findings, features, single))
            except TooManyErrors:
                self._findings.raise_if_errors()
                raise
            self._findings.raise_if_errors()
            if unit.has_matrices and self.matrices == "native" and self.options.variants is not None:
                self._check_target(unit, self.options.variants)
            return unit

    def _check_target(self, unit: typed.Unit, variants: Sequence[str]) -> None:
        """Raises CompileError where the device does not support what the unit asks for, UsageError for bad variants."""
        from .frontend.target_check import check
        from .matrices.supported import Supported, parse_variants

        try:
            supported = Supported(parse_variants(" ".join(variants)))
        except ValueError as error:
            raise UsageError(f"--matrix-variants: {error}") from None
        with suppress(TooManyErrors):
            check(unit, supported, self.options.device or "the device", self._findings)
        self._findings.raise_if_errors()

    @_stage
    def _lowered(self) -> LoweredModule:
        return self._lower()

    def _lower(self) -> LoweredModule:
        from .ir import LowerOptions
        from .ir.lower import lower

        unit, options = self.unit, self.options
        wanted = LowerOptions(
            matrices=options.matrices,
            spirv_version=options.spirv_version,
            sub_group_size=options.sub_group_size,
            float_flags=options.float_flags,
            opt_disable=options.level == 0,
        )

        def run() -> LoweredModule:
            try:
                return lower(unit, wanted, _library)
            except CompileError as error:
                # The lowering knows places, but not the text that stands there.
                for item in error.diagnostics:
                    self._findings.add(item)
                raise CompileError(self._findings.in_order(), self.sources) from None

        with _collector:
            lowered = self._timed("lower", run)
        for item in lowered.warnings:
            self._findings.warning(item.code, item.message, item.span)
        self._findings.raise_if_errors()
        return lowered

    @_stage
    def _emitted(self) -> bytes:
        return self._emit()

    def _emit(self) -> bytes:
        from .spirv.emit import EmitOptions, emit
        from .spirv.legalize import legalize

        lowered = self._lowered
        passes = lowered.passes
        if passes.startswith("O"):
            passes = f"O{self.options.level}" if self.options.level else "none"
        wanted = EmitOptions(self.options.spirv_version, lowered.extensions, passes)  # type: ignore[arg-type]
        result = self._timed("emit", lambda: emit(lowered.text, wanted))
        emitted = result.spirv
        assert emitted is not None
        with _collector:
            return self._timed("legalize", lambda: legalize(emitted))

    def _validate(self, binary: bytes) -> None:
        from .spirv.tools import target_env_for, validate

        messages = validate(binary, self.options.target_env or target_env_for(self.options.spirv_version, binary))
        if messages is not None:
            raise InternalError(f"the SPIR-V made from {self.name} is not valid", "\n".join(messages))
        self.validated = True

    def _timed(self, name: str, run: Callable[[], T]) -> T:
        start = time.perf_counter()
        try:
            return run()
        except RecursionError:
            message = f"{self.name} is nested too deeply to {name}"
            self._findings.add(Diagnostic(Severity.FATAL, "nesting-too-deep", message))
            raise CompileError(self._findings.in_order(), self.sources) from None
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - start


class IrModule(Module):
    """A module of LLVM IR in any dialect: read, then emitted like our own. It has no tokens and no tree.

    What LLVM or the dialects refuse in it is a CompileError with the place in the text, and so is whatever stages
    behind find wrong: they were handed it.
    """

    @property
    def _tokens(self) -> TokenStream:
        raise self._refused("no-such-stage", f"{self.name} is LLVM IR, which is not preprocessed")

    @property
    def _tree(self) -> syntax.TranslationUnit:
        raise self._refused("no-such-stage", f"{self.name} is LLVM IR, which has no syntax tree")

    unit = _tree  # type: ignore[assignment]

    def check(self) -> None:
        """Reads the text. Raises CompileError."""
        from .ir import dialects

        self._findings.check_options()
        text = self._text()
        with _collector:
            read = self._timed("read", lambda: self._guarded(lambda: dialects.read(self._reprinted(text))))
            self._canonical = self._timed("read", lambda: self._reprinted(read))

    def _lower(self) -> LoweredModule:
        from .ir import LowerOptions
        from .ir.dialects import parse_module
        from .ir.dialects.link import link

        text, options = self._canonical, self.options
        wanted = LowerOptions(
            matrices=options.matrices,
            spirv_version=options.spirv_version,
            sub_group_size=options.sub_group_size,
            opt_disable=options.level == 0,
        )
        with _collector:
            return self._timed("lower", lambda: self._guarded(lambda: link(parse_module(text), wanted, _library)))

    def _emit(self) -> bytes:
        return self._blaming(super()._emit)

    def _validate(self, binary: bytes) -> None:
        self._blaming(lambda: super(IrModule, self)._validate(binary))

    def _text(self) -> str:
        source = self._source
        try:
            text = source if isinstance(source, str) else source.decode()
            text.encode()
        except UnicodeError:
            raise self._refused("ir-syntax", f"{self.name} is not text in UTF-8") from None
        self.sources.add(self.name, text)
        if "\0" in text:
            line = text[: text.index("\0")].count("\n") + 1
            raise self._refused("ir-syntax", "the text has a null character", self._line(line))
        return text

    def _line(self, number: int) -> Span | None:
        from .ir.dialects import places

        text = self.sources.line(self.name, number)
        return None if text is None else places.of_line(self.name, number, text)

    def _reprinted(self, text: str) -> str:
        from .ir.dialects import places
        from .spirv.emit import RefusedIR, reprint

        try:
            return reprint(text)
        except RefusedIR as error:
            if text != self.sources.files.get(self.name):
                raise InternalError("the IR that was read is not IR any more", error.message) from error
            span = places.find(text, self.name, error.context)
            if error.line:
                span = Span(self.name, error.line, error.column, error.line, error.column + 1)
            raise self._refused("ir-syntax", f"LLVM refuses this: {error.message}", span) from error

    def _guarded(self, run: Callable[[], T]) -> T:
        from .ir.dialects import Malformed, places

        try:
            return run()
        except Malformed as error:
            text = self.sources.files.get(self.name, "")
            raise self._refused(error.code, error.message, places.find(text, self.name, error.line)) from error

    def _blaming(self, run: Callable[[], T]) -> T:
        """What goes wrong behind is in what we were given."""
        try:
            return run()
        except InternalError as error:
            notes = (Note(error.details),) if error.details else ()
            raise self._refused("ir-not-supported", f"{self.name}: {error.message}", notes=notes) from error

    def _refused(self, code: str, message: str, span: Span | None = None, notes: tuple[Note, ...] = ()) -> CompileError:
        self._findings.add(Diagnostic(Severity.ERROR, code, message, span, notes=notes))
        return CompileError(self._findings.in_order(), self.sources)


# Without the generic address space, where no pointer needs it: one of the library's that says nothing is private.
_LIBRARY_STANDARDS = {False: "CL1.2", True: "CL2.0"}


class _PausedCollector:
    """While entered, by however many threads, Python's cyclic garbage collector rests.

    The stages make millions of objects that live on and few cycles; the collector would go through them all again and
    again, which takes as long as the stages themselves where the file is long.
    """

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


_collector = _PausedCollector()


@lru_cache(maxsize=256)
def _library(text: str) -> typed.Unit:
    """The typed AST of matrix library text; kept, since the same matrices are asked for again and again."""
    from .features import Features
    from .frontend.parse import parse
    from .frontend.preprocess import PreprocessOptions, preprocess
    from .frontend.sema import analyse

    findings = Diagnostics(no_warnings=True)
    standard = _LIBRARY_STANDARDS["__generic" in text]
    tokens = preprocess(text, "<matrix library>", PreprocessOptions(cl_std=standard), findings)
    unit = analyse(parse(tokens, findings), findings, Features.of(standard))
    if findings.has_errors:
        raise InternalError("the matrix library does not compile", str(CompileError(findings.items, findings.sources)))
    return unit


def preprocess_only(source: str | bytes, options: CompileOptions, *, name: str) -> Module:
    """A Module of which only the preprocessor ran; its findings raise CompileError."""
    module = Module(source, name, options)
    with suppress(TooManyErrors), _collector:
        module._tokens  # noqa: B018
    module._findings.raise_if_errors()
    return module


def compile(
    source: str | bytes,
    options: str | Sequence[str] | CompileOptions = (),
    *,
    name: str = "<source>",
    language: str = "cl",
) -> Module:
    """Compiles OpenCL C; the source is checked on return, code is generated when it is first asked for.

    With the `language` "ir" the source is LLVM IR, of any dialect that docs/dialects.md lists.

    `options` are as on the command line, a list (`["-DTILE=16", "--matrices", "one"]`) or one string as OpenCL builds
    take it. Raises CompileError, UsageError.
    """
    if isinstance(options, str):
        options = shlex.split(options)
    parsed = options if isinstance(options, CompileOptions) else CompileOptions.from_arguments(options)
    later = [f"--dialect {parsed.dialect}"] if parsed.dialect in ("intel", "llvm") else []
    if later:
        message = f"{later[0]} is not supported yet"
        raise CompileError([Diagnostic(Severity.ERROR, "not-supported", message)])
    if parsed.matrices == "auto":
        parsed = replace(parsed, matrices="native")
    module = IrModule(source, name, parsed) if language == "ir" else Module(source, name, parsed)
    if parsed.debug:
        module.warn("unused-command-line-argument", "-g: debug information is not supported yet")
    if isinstance(module, IrModule):
        module.check()
        return module
    with _collector:
        module.unit  # noqa: B018
    return module
