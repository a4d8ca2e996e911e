"""The stages in a row: a kernel enters at the preprocessor and leaves as SPIR-V.

`Module` holds one compilation; each stage runs when its result is first asked for, and once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .. import budgets
from ..diagnostics import (
    CompileError,
    Diagnostic,
    Diagnostics,
    InternalError,
    Severity,
    SourceMap,
    Span,
    TooManyErrors,
)
from ..options import CompileOptions, UsageError
from .shared import collector, library, machine, tuning

if TYPE_CHECKING:
    from ..frontend import syntax, typed
    from ..frontend.preprocess import TokenStream
    from ..ir import LoweredModule
    from ..ir.kernel_info import KernelInfo
    from ..matrices.memory_rules import MemoryRules
    from ..matrices.supported import Supported
    from ..opencl_c import Written
    from ..passes import Pass, Report

T = TypeVar("T")


_IN_OTHER_WORDS = "; The module has words of SPV_INTEL_joint_matrix; here are those of Khronos' extensions.\n"


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


# What goes along with a pickled module: the source as it was preprocessed, and what a device is given.
_CARRIED = ("_tokens", "_infos", "_emitted")


def _unpickled(kind: type[Module], fields: dict[str, Any], made: dict[str, Any]) -> Module:
    module = kind.__new__(kind)
    module.__dict__.update(fields, _lock=threading.RLock())
    module._results = {vars(Module)[name]: value for name, value in made.items()}
    return module


class Module:
    """A compiled source.

    `.spirv` is the legalised binary; `.llvm_ir` the module as lowered; `.kernels` what a host needs to know of each
    kernel. A binary with native matrices is always validated, one without where a spirv-val is at hand: `.validated`
    tells, and `--validate` and `--no-validate` decide otherwise. It can be pickled: what was made for a device goes
    along, the rest is made again from the preprocessed source where it is asked for, without the files.
    Errors: CompileError for the input, InternalError for the compiler, ToolsMissing where something must be validated
    and no able spirv-val is found.
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

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:
            fields = self._fields()
            made = {name: self._results[vars(Module)[name]] for name in _CARRIED if vars(Module)[name] in self._results}
            return _unpickled, (type(self), fields, made)

    def _fields(self) -> dict[str, Any]:
        """Of a pickled module."""
        return {name: value for name, value in vars(self).items() if name not in ("_lock", "_results")}

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
    def code(self) -> str:
        """What a device is given: "spirv" or "c"."""
        return "c" if self.options.code == "c" else "spirv"

    @property
    def preprocessed(self) -> str:
        return self._tokens.to_text()

    @property
    def macros(self) -> str:
        """A `#define` for each macro that is defined at the end of the source, predefined ones included."""
        return self._tokens.definitions()

    @property
    def dependencies(self) -> list[str]:
        return self._tokens.dependencies

    @property
    def absent(self) -> list[str]:
        """Names that includes were looked for under in vain: a file that turns up there would be read instead."""
        return self._tokens.absent

    @property
    def ast(self) -> str:
        from ..frontend.syntax import dump

        return dump(self._tree)

    @property
    def typed_ast(self) -> str:
        from ..frontend.typed_dump import dump

        return dump(self.unit)

    def typed_ast_after(self, name: str) -> str:
        """The typed AST after the pass of that name. Raises UsageError where there is no such pass on the route."""
        from .. import passes
        from ..frontend.typed_dump import dump

        wanted = self._passes(self.code)
        names = [item.name for item in wanted]
        if name not in names:
            raise UsageError(f"--print-after={name}: this route has {', '.join(names)}")
        unit = self.unit
        return dump(self._bounded(lambda: passes.run(unit, wanted[: names.index(name) + 1], passes.Report())))

    @property
    def llvm_ir(self) -> str:
        return self._bounded(self._llvm_ir)

    def _llvm_ir(self) -> str:
        from ..ir import dialects
        from ..spirv.emit import EmitOptions, emit, reprint

        if self.options.dialect == "llvm":
            return reprint(self._flat_ir)
        text = self._lowered.text
        if self.options.dialect == "khr":
            return text
        text = reprint(text)
        if self.options.dialect in dialects.INTEL and self.options.matrices == "native":
            # Its matrices are values: variables would keep the canonical type.
            text = emit(text, EmitOptions(passes="sroa", want=frozenset({"llvm_ir"}))).llvm_ir or text
        return reprint(dialects.rewrite(text, self.options.dialect))

    @property
    def matrix_plans(self) -> str:
        """How each expression of Clang's matrix types is calculated, in the order of the source."""
        from ..matrices.trees.plan import plan

        trees = sorted(self._passed[1].trees, key=lambda item: (item[0].file, item[0].line, item[0].column))
        return "\n".join(f"{_where(span)}{plan(tree).describe()}" for span, tree in trees)

    @property
    def opencl_c(self) -> str:
        """Plain OpenCL C; matrices are lowered, by `one` where the options say native."""
        return self._written.text

    @property
    def opencl_c_options(self) -> tuple[str, ...]:
        """What clBuildProgram needs to be told together with that text."""
        return (f"-cl-std={self._written.cl_std}", "-w", *self.options.build_options)

    @property
    def kernels(self) -> dict[str, KernelInfo]:
        """Of what the device is given: SPIR-V, unless the options say OpenCL C."""
        return {kernel.name: kernel for kernel in self._infos}

    @_stage
    def _infos(self) -> tuple[KernelInfo, ...]:
        return tuple(self._written.kernels if self.code == "c" else self._described())

    def _described(self) -> tuple[KernelInfo, ...]:
        return self._lowered.kernels

    @property
    def spirv_text(self) -> str:
        from ..spirv.native import standard
        from ..spirv.tools import disassemble

        spirv = self.spirv
        shown = standard(spirv)
        text = self._bounded(lambda: disassemble(shown))
        return text if shown == spirv else _IN_OTHER_WORDS + text

    @property
    def spirv(self) -> bytes:
        with self._lock:
            if not self.validated and self._is_to_be_validated():
                self.validate()
            return self._emitted

    def _is_to_be_validated(self) -> bool:
        from ..spirv import tools

        if self.options.validate is not None:
            return self.options.validate
        # A device refuses a lowered module that is wrong; a native one it may take, and do anything.
        return tools.has_native_matrices(self._emitted) or tools.find_tools() is not None

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
        from ..frontend.preprocess import PreprocessOptions, preprocess

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
        from ..frontend.parse import parse

        tokens = self._tokens
        return self._timed("parse", lambda: parse(tokens, self._findings))

    @_stage
    def unit(self) -> typed.Unit:
        """The typed AST of a source without errors; CompileError otherwise."""
        from ..frontend.sema import analyse

        with self._lock:
            try:
                tree = self._tree
                features, single = self.options.features, self.options.single_precision_constant
                contract, wrap = self.options.fp_contract != "off", self.options.wrap
                unit = self._timed("analyse", lambda: analyse(tree, self._findings, features, single, contract, wrap))
            except TooManyErrors:
                self._findings.raise_if_errors()
                raise
            self._findings.raise_if_errors()
            if unit.has_matrices:
                self._check_target(unit)
            return unit

    def _check_target(self, unit: typed.Unit) -> None:
        """Raises CompileError where the device does not support what the unit asks for, UsageError for bad variants."""
        from ..frontend import memory_check, target_check

        supported, rules = self._supported(), self._memory_rules()
        device = self.options.device or "the device"
        with suppress(TooManyErrors):
            if supported is not None:
                target_check.check(unit, supported, device, self._findings)
            if rules is not None:
                memory_check.check(unit, rules, device, self._findings)
        self._findings.raise_if_errors()

    def _memory_rules(self) -> MemoryRules | None:
        """What the device wants of matrices in memory; None where that is not known, or does not matter."""
        from ..matrices.memory_rules import MemoryRules

        given = self.options.pointer_alignment, self.options.stride_multiple
        if self.matrices != "native" or self.code == "c" or given == (None, None):
            return None
        return MemoryRules(given[0] or 1, given[1] or 1)

    def _supported(self) -> Supported | None:
        """What the device supports; None where that is not known, or does not matter. UsageError for bad variants."""
        from ..matrices.supported import Supported, parse_variants

        if self.matrices != "native" or self.options.variants is None:
            return None
        try:
            return Supported(parse_variants(" ".join(self.options.variants)))
        except ValueError as error:
            raise UsageError(f"--matrix-variants: {error}") from None

    @_stage
    def _passed(self) -> tuple[typed.Unit, Report]:
        """The typed AST without what the device does not have, and what the passes have to say."""
        return self._pass(self._passes(self.code))

    def _passed_for(self, code: str) -> tuple[typed.Unit, Report]:
        """As for a device that is given that code."""
        return self._passed if code == self.code else self._pass(self._passes(code))

    def _passes(self, code: str, flat_matrices: bool = False) -> list[Pass]:
        from ..matrices.strategies import STRATEGIES
        from ..passes.matrices import Matrices
        from ..passes.matrix_types import MatrixTypes
        from ..passes.native import NO_RULES, NativeMatrices
        from ..passes.small_floats import SmallFloats

        options, c = self.options, code == "c"
        functions = partial(library, wrap=not c)
        route = "one" if c and self.matrices == "native" else self.matrices
        wanted: list[Pass] = []
        if route == "native":
            wanted.append(NativeMatrices(functions, self._memory_rules() or NO_RULES, options.sub_group_size))
        else:
            half_bits = c and "cl_khr_fp16" not in options.features
            strategy = STRATEGIES[route].tuned(tuning(options))
            wanted.append(Matrices(strategy, functions, options.sub_group_size, half_bits))
        if not flat_matrices:
            wanted.append(MatrixTypes(functions, machine(options), options.fp_contract == "matrix"))
        return [*wanted, SmallFloats(functions)]

    def _pass(self, wanted: list[Pass]) -> tuple[typed.Unit, Report]:
        from .. import passes

        unit, report, verify = self.unit, passes.Report(), self.options.verify_passes
        with collector:
            unit = self._timed("passes", lambda: self._placed(lambda: passes.run(unit, wanted, report, verify=verify)))
        for item in report.warnings:
            self._findings.warning(item.code, item.message, item.span)
        self._findings.raise_if_errors()
        return unit, report

    def _placed(self, run: Callable[[], T]) -> T:
        """What `run` gives: it knows the places of its errors, but not the text that stands there."""
        try:
            return run()
        except CompileError as error:
            for item in error.diagnostics:
                self._findings.add(item)
            raise CompileError(self._findings.in_order(), self.sources) from None

    @_stage
    def _lowered(self) -> LoweredModule:
        return self._lower()

    def _lower(self, flat_matrices: bool = False) -> LoweredModule:
        from ..ir import LowerOptions
        from ..ir.lower import lower

        options = self.options
        flat = flat_matrices and self._pass(self._passes("spirv", flat_matrices=True))
        unit, _ = flat or self._passed_for("spirv")
        wanted = LowerOptions(
            matrices=options.matrices,
            spirv_version=options.spirv_version,
            sub_group_size=options.sub_group_size,
            float_flags=options.float_flags,
            opt_disable=options.level == 0,
            contract_matrices=options.fp_contract == "matrix",
            machine=machine(options),
            align_frames=options.matrix_registers is not None,
            memory_rules=self._memory_rules(),
            tuning=tuning(options),
        )

        with collector:
            lowered = self._timed("lower", lambda: self._placed(lambda: lower(unit, wanted)))
        return self._told(lowered)

    @_stage
    def _flat_ir(self) -> str:
        """The dialect `llvm`: values of Clang's matrix types are vectors."""
        return self._lower(flat_matrices=True).text

    @_stage
    def _written(self) -> Written:
        return self._write()

    def _write(self) -> Written:
        from ..opencl_c import WriteOptions
        from ..opencl_c.write import write

        unit, _ = self._passed_for("c")
        wanted = WriteOptions(self.options.cl_std)
        with collector:
            return self._timed("write", lambda: self._placed(lambda: write(unit, wanted)))

    def _told(self, lowered: LoweredModule) -> LoweredModule:
        for item in lowered.warnings:
            self._findings.warning(item.code, item.message, item.span)
        self._findings.raise_if_errors()
        return lowered

    @_stage
    def _emitted(self) -> bytes:
        return self._emit()

    def _emit(self) -> bytes:
        from ..spirv.aligned_accesses import with_alignment
        from ..spirv.emit import EmitOptions, emit
        from ..spirv.legalize import legalize

        lowered = self._lowered
        passes = lowered.passes
        if passes.startswith("O"):
            passes = f"O{self.options.level}" if self.options.level else "none"
        wanted = EmitOptions(self.options.spirv_version, lowered.extensions, passes)  # type: ignore[arg-type]
        result = self._timed("emit", lambda: emit(lowered.text, wanted))
        emitted = result.spirv
        assert emitted is not None
        rules = self._memory_rules()
        with collector:
            legal = self._timed("legalize", lambda: legalize(emitted))
            placed = legal if rules is None else with_alignment(legal, rules.pointer_alignment)
            return self._adapted(placed) if self.matrices == "native" else placed

    def _adapted(self, spirv: bytes) -> bytes:
        """A native module as its consumer takes it. Raises CompileError for what cannot be said to that one."""
        from ..spirv.lowering import Refused
        from ..spirv.native import adapt

        try:
            return self._timed("adapt", lambda: adapt(spirv, self.options.consumer))
        except Refused as error:
            message = f"{self.name} cannot be native under the profile {self.options.consumer.name}: {error.message}"
            self._findings.add(Diagnostic(Severity.ERROR, "native-matrix", message))
            raise CompileError(self._findings.in_order(), self.sources) from error

    def _validate(self, binary: bytes) -> None:
        from ..spirv.native import standard
        from ..spirv.tools import target_env_for, validate

        target_env = self.options.target_env or target_env_for(self.options.spirv_version, binary)
        messages = validate(standard(binary), target_env)
        if messages is not None:
            raise InternalError(f"the SPIR-V made from {self.name} is not valid", "\n".join(messages))
        self.validated = True

    def _timed(self, name: str, run: Callable[[], T]) -> T:
        start = time.perf_counter()
        try:
            return self._bounded(run, name)
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - start

    def _bounded(self, run: Callable[[], T], name: str = "compile") -> T:
        """Runs a part of the work under the budgets of the options. Raises CompileError where one is used up, or the
        source is nested deeper than Python goes."""
        try:
            with budgets.use(dict(self.options.budgets)):
                return run()
        except budgets.Exceeded as error:
            item = Diagnostic(Severity.FATAL, "budget", f"{self.name}: {error}")
        except RecursionError:
            item = Diagnostic(Severity.FATAL, "nesting-too-deep", f"{self.name} is nested too deeply to {name}")
        self._findings.add(item)
        raise CompileError(self._findings.in_order(), self.sources)


def _where(span: Span | None) -> str:
    return f"{span.file}:{span.line}:{span.column}: " if span is not None else ""
