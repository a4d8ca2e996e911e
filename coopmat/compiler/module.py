"""The class Module, a compiled source as users of the package see it, and the functions that return one."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..diagnostics import (
    Diagnostic,
    Span,
    TooManyErrors,
)
from ..matrices.routes import OPENCL_C_ONLY
from ..options import CompileOptions, UsageError
from .compilation import Compilation
from .from_source import collector
from .pipelines import PIPELINES
from .stages import EMITTED, FLAT, INFOS, LOWERED, PASSED, TOKENS, TREE, UNIT, VULKAN, WRITTEN

if TYPE_CHECKING:
    from ..frontend import typed
    from ..ir.kernel_info import KernelInfo
    from ..vulkan.modules import LaunchDescription


_IN_OTHER_WORDS = "; The module has instructions of SPV_INTEL_joint_matrix, shown as those of Khronos' extensions.\n"


class Module(Compilation):
    """A compiled source.

    The properties give its forms, each of which is made on demand: `.spirv` is the legalised binary, `.llvm_ir` the
    module before emission, and `.kernels` describes each kernel for a host.

    A binary with native matrices or for Vulkan is always validated; another one only if a spirv-val is available. The
    options `--validate` and `--no-validate` override this, and `.validated` states whether spirv-val has run.

    A module can be pickled. The pickle contains the preprocessed source and the program for a device; all other forms
    are made again on demand, without the files.

    Errors: CompileError for the input, InternalError for the compiler, ToolsMissing if something must be validated and
    no sufficient spirv-val is installed.
    """

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return self.findings.in_order()

    @property
    def preprocessed(self) -> str:
        return self.full_result(TOKENS).to_text()

    @property
    def macros(self) -> str:
        """A `#define` for each macro that is defined at the end of the source, predefined macros included."""
        return self.result(TOKENS).definitions()

    @property
    def dependencies(self) -> list[str]:
        return list(self.result(TOKENS).dependencies)

    @property
    def absent(self) -> list[str]:
        """The names under which includes were not found; a new file of such a name would be included."""
        return list(self.result(TOKENS).absent)

    @property
    def ast(self) -> str:
        from ..frontend.syntax import dump

        return dump(self.full_result(TREE))

    @property
    def unit(self) -> typed.Unit:
        """The typed AST of a source without errors. Raises CompileError otherwise."""
        return self.full_result(UNIT)

    def multiplies_by(self, options: CompileOptions) -> bool:
        """Return whether an OpenCL C source has a multiply-add for which the devices of the route have an instruction.

        For other languages, return False.
        """
        from .from_source import has_products

        return self.language == "cl" and has_products(self.result(UNIT), options)

    def advise(self, kernel: str, arguments: Mapping[str, int]) -> None:
        """Add the performance warnings about a launch of `kernel` with these integer arguments, if they are on.

        Raises CompileError if an option makes errors of them.
        """
        from .from_source import advice

        if self.language == "cl":
            self.warn_of(advice(self, kernel, arguments))

    @property
    def typed_ast(self) -> str:
        from ..frontend.typed_dump import dump

        return dump(self.unit)

    def typed_ast_after(self, name: str, *, alone: bool = False) -> str:
        """Return a dump of the typed AST after the pass `name`. Raises UsageError if the route has no such pass.

        alone: run only this pass, verify its result, and omit the bodies of the matrix library's functions.
        """
        from .. import passes
        from ..frontend.typed_dump import dump
        from .from_source import passes_for

        full = self.full
        sequence = passes_for(full, self.code, every=True)
        names = [item.name for item in sequence]
        if name not in names:
            option = "--run-pass" if alone else "--print-after"
            raise UsageError(f"{option}={name}: unknown pass (this route has {', '.join(names)})")
        unit, last = full.result(UNIT), names.index(name)
        chosen = sequence[last if alone else 0 : last + 1]
        report = passes.Report()
        unit = self.with_budgets(lambda: full.with_sources(lambda: passes.run(unit, chosen, report, verify=alone)))
        return dump(unit, library=not alone)

    @property
    def llvm_ir(self) -> str:
        return self.with_budgets(self._llvm_ir)

    def _llvm_ir(self) -> str:
        from ..foreign import llvm_ir as dialects
        from ..spirv.emit import EmitOptions, emit, reprint

        if self.options.dialect == "llvm":
            return reprint(self.result(FLAT))
        text = self.result(LOWERED).text
        if self.options.dialect == "khr":
            return text
        text = reprint(text)
        try:
            if self.options.dialect in dialects.INTEL and self.options.matrices == "native":
                dialects.check_for_intel(text)
                # Promote variables with matrices to SSA values: the dialect's rewriting does not change the types of
                # variables, which would keep the canonical matrix type.
                text = emit(text, EmitOptions(passes="sroa", want=frozenset({"llvm_ir"}))).llvm_ir or text
            return reprint(dialects.rewrite(text, self.options.dialect))
        except dialects.Malformed as error:
            # The dialect cannot express a construct of the module, such as 8-bit floating point.
            raise self.refused(error.code, f"--dialect {self.options.dialect}: {error.message}") from error

    @property
    def matrix_plans(self) -> str:
        """The plans of all expressions of Clang's matrix types, in the order of the source."""
        _, report = self.result(PASSED[self.code])
        trees = sorted(report.trees, key=lambda item: (item[0].file, item[0].line, item[0].column))
        return "\n".join(f"{_where(span)}{tree.description}" for span, tree in trees)

    @property
    def opencl_c(self) -> str:
        """The program as plain OpenCL C with lowered matrices; native matrices are lowered by the route `one`."""
        return self.result(WRITTEN).text

    @property
    def opencl_c_options(self) -> tuple[str, ...]:
        """The options with which clBuildProgram must build `opencl_c`."""
        return (f"-cl-std={self.result(WRITTEN).cl_std}", "-w", *self.options.build_options)

    @property
    def device_options(self) -> tuple[str, ...]:
        """The options with which the device must build the module: its OpenCL C if `code` is "c", else its SPIR-V."""
        return self.opencl_c_options if self.code == "c" else self.options.hints

    @property
    def functions(self) -> dict[str, KernelInfo]:
        """The functions that other programs may call (-c) and that require certain subgroups, by name."""
        if not self.options.separate or self.language != "cl":
            return {}
        program = self.result(WRITTEN) if self.code == "c" else self.result(LOWERED)
        return {info.name: info for info in program.functions}

    @property
    def kernels(self) -> dict[str, KernelInfo]:
        """The kernels of the program for a device, by name; of the SPIR-V, unless the options select OpenCL C."""
        return {kernel.name: kernel for kernel in self.result(INFOS)}

    @property
    def launch(self) -> LaunchDescription | None:
        """The description of a Vulkan module for its host; None for modules for OpenCL."""
        return self.result(VULKAN).launch if self.options.is_vulkan else None

    @property
    def spirv_text(self) -> str:
        from ..foreign.consumers import standard
        from ..spirv.tools import disassemble

        spirv = self.spirv
        standard_form = standard(spirv)
        text = self.with_budgets(lambda: disassemble(standard_form))
        return text if standard_form == spirv else _IN_OTHER_WORDS + text

    @property
    def spirv(self) -> bytes:
        with self._lock:
            if not self.validated and self._is_to_be_validated():
                self.validate()
            return self.result(EMITTED)

    def _is_to_be_validated(self) -> bool:
        from ..spirv import tools

        if self.options.validate is not None:
            return self.options.validate
        if self.options.is_vulkan:
            return True
        # A device may accept an invalid native module, whose behavior is undefined: validate such a module always. It
        # rejects an invalid lowered module: validate that only if the validator is installed.
        return tools.has_native_matrices(self.result(EMITTED)) or tools.find_tools() is not None


def _where(span: Span | None) -> str:
    return f"{span.file}:{span.line}:{span.column}: " if span is not None else ""


# --- sources -------------------------------------------------------------------------------------


def preprocess_only(source: str | bytes, options: CompileOptions, *, name: str) -> Module:
    """Return a Module of which only the preprocessor has run. Raises CompileError for its errors."""
    module = Module(source, name, options)
    with suppress(TooManyErrors), collector:
        module.result(TOKENS)
    module.findings.raise_if_errors()
    return module


NAMES_FILE = "the source is the file name '{0}': give a path, pathlib.Path('{0}'), to read a file"
_FILE_NAME = re.compile(r"[\w./\\:~ -]+\.(?:cl|clc|h|ll|spv|spvasm)")
_SUFFIXES = {".ll": "ir", ".spv": "spv", ".spvasm": "spv"}


def language_of(path: str | os.PathLike[str]) -> str:
    """Return the language of a file by its suffix: "cl", "ir" or "spv"."""
    return _SUFFIXES.get(Path(path).suffix, "cl")


def is_file_name(source: object) -> bool:
    """Return whether a source looks like the name of a file, although it must be the text itself."""
    return isinstance(source, str) and _FILE_NAME.fullmatch(source) is not None


def compile(
    source: str | bytes | os.PathLike[str],
    options: str | Sequence[str] | CompileOptions = (),
    *,
    name: str | None = None,
    language: str | None = None,
) -> Module:
    """Compile a source as `coopmat.compile` does, but issue no Python warnings; see there for the parameters.

    Raises CompileError, UsageError, and OSError for a path that cannot be read.
    """
    if isinstance(source, os.PathLike):
        path = Path(source)
        name, language = name or str(path), language or language_of(path)
        source = path.read_bytes()
    elif is_file_name(source):
        raise UsageError(NAMES_FILE.format(source))
    name, language = name or "<source>", language or "cl"
    if isinstance(options, str):
        try:
            options = shlex.split(options)
        except ValueError as error:
            raise UsageError(f"options {options}: {error}") from None
    if isinstance(options, CompileOptions):
        settings = options
    else:
        settings = CompileOptions.from_arguments([word for word in options if word != "-c"])
        settings = replace(settings, separate="-c" in options)
    if settings.matrices == "auto":
        settings = replace(settings, matrices="native")
    if settings.matrices in OPENCL_C_ONLY and (settings.code == "spirv" or language != "cl"):
        text = f"--matrices {settings.matrices} requires OpenCL C, which the device compiles"
        raise UsageError(f"{text}: use {settings.matrices}:emulated for SPIR-V")
    module = Module(source, name, settings, language if language in PIPELINES else "cl")
    if settings.debug:
        module.warn("unused-command-line-argument", "-g: debug information is not supported yet")
    module.check()
    return module


def recompile(module: Module, options: CompileOptions) -> Module:
    """Compile the source of a module with other options; return the new module. Raises CompileError, UsageError."""
    return compile(module.source, options, name=module.name, language=module.language)
