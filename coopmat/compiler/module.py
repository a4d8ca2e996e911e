"""A compiled source, as its users see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..diagnostics import Diagnostic, Span
from ..options import CompileOptions, UsageError
from .compilation import Compilation

if TYPE_CHECKING:
    from ..frontend import typed
    from ..ir.kernel_info import KernelInfo

_IN_OTHER_WORDS = "; The module has words of SPV_INTEL_joint_matrix; here are those of Khronos' extensions.\n"


class Module(Compilation):
    """A compiled source.

    `.spirv` is the legalised binary; `.llvm_ir` the module as lowered; `.kernels` what a host needs to know of each
    kernel. A binary with native matrices is always validated, one without where a spirv-val is at hand: `.validated`
    tells, and `--validate` and `--no-validate` decide otherwise. It can be pickled: what was made for a device goes
    along, the rest is made again from the preprocessed source where it is asked for, without the files.
    Errors: CompileError for the input, InternalError for the compiler, ToolsMissing where something must be validated
    and no able spirv-val is found.
    """

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return self.findings.in_order()

    @property
    def preprocessed(self) -> str:
        return str(self.result("tokens").to_text())

    @property
    def macros(self) -> str:
        """A `#define` for each macro that is defined at the end of the source, predefined ones included."""
        return str(self.result("tokens").definitions())

    @property
    def dependencies(self) -> list[str]:
        return list(self.result("tokens").dependencies)

    @property
    def absent(self) -> list[str]:
        """Names that includes were looked for under in vain: a file that turns up there would be read instead."""
        return list(self.result("tokens").absent)

    @property
    def ast(self) -> str:
        from ..frontend.syntax import dump

        return dump(self.result("tree"))

    @property
    def unit(self) -> typed.Unit:
        """The typed AST of a source without errors; CompileError otherwise."""
        unit: typed.Unit = self.result("unit")
        return unit

    def multiplies_by(self, options: CompileOptions) -> bool:
        """Whether the source has a multiply-add that a device's instructions do, by those options."""
        from .from_source import has_products

        return self.language == "cl" and has_products(self.unit, options)

    @property
    def typed_ast(self) -> str:
        from ..frontend.typed_dump import dump

        return dump(self.unit)

    def typed_ast_after(self, name: str) -> str:
        """The typed AST after the pass of that name. Raises UsageError where there is no such pass on the route."""
        from .. import passes
        from ..frontend.typed_dump import dump
        from .from_source import passes_for

        wanted = passes_for(self, self.code)
        names = [item.name for item in wanted]
        if name not in names:
            raise UsageError(f"--print-after={name}: this route has {', '.join(names)}")
        unit = self.unit
        return dump(self.bounded(lambda: passes.run(unit, wanted[: names.index(name) + 1], passes.Report())))

    @property
    def llvm_ir(self) -> str:
        return self.bounded(self._llvm_ir)

    def _llvm_ir(self) -> str:
        from ..ir import dialects
        from ..spirv.emit import EmitOptions, emit, reprint

        if self.options.dialect == "llvm":
            return reprint(self.result("flat"))
        text: str = self.result("lowered").text
        if self.options.dialect == "khr":
            return text
        text = reprint(text)
        if self.options.dialect in dialects.INTEL and self.options.matrices == "native":
            # Its matrices are values: variables would keep the canonical type.
            text = emit(text, EmitOptions(passes="sroa", want=frozenset({"llvm_ir"}))).llvm_ir or text
        try:
            return reprint(dialects.rewrite(text, self.options.dialect))
        except dialects.Malformed as error:
            # Of what has no word there, as 8-bit floating point.
            raise self.refused(error.code, f"--dialect {self.options.dialect}: {error.message}") from error

    @property
    def matrix_plans(self) -> str:
        """How each expression of Clang's matrix types is calculated, in the order of the source."""
        from ..matrices.trees.plan import plan

        _, report = self.result(f"passed {self.code}")
        trees = sorted(report.trees, key=lambda item: (item[0].file, item[0].line, item[0].column))
        return "\n".join(f"{_where(span)}{plan(tree).describe()}" for span, tree in trees)

    @property
    def opencl_c(self) -> str:
        """Plain OpenCL C; matrices are lowered, by `one` where the options say native."""
        return str(self.result("written").text)

    @property
    def opencl_c_options(self) -> tuple[str, ...]:
        """What clBuildProgram needs to be told together with that text."""
        return (f"-cl-std={self.result('written').cl_std}", "-w", *self.options.build_options)

    @property
    def kernels(self) -> dict[str, KernelInfo]:
        """Of what the device is given: SPIR-V, unless the options say OpenCL C."""
        return {kernel.name: kernel for kernel in self.result("infos")}

    @property
    def spirv_text(self) -> str:
        from ..spirv.native import standard
        from ..spirv.tools import disassemble

        spirv = self.spirv
        shown = standard(spirv)
        text = self.bounded(lambda: disassemble(shown))
        return text if shown == spirv else _IN_OTHER_WORDS + text

    @property
    def spirv(self) -> bytes:
        with self._lock:
            if not self.validated and self._is_to_be_validated():
                self.validate()
            spirv: bytes = self.result("emitted")
            return spirv

    def _is_to_be_validated(self) -> bool:
        from ..spirv import tools

        if self.options.validate is not None:
            return self.options.validate
        # A device refuses a lowered module that is wrong; a native one it may take, and do anything.
        return tools.has_native_matrices(self.result("emitted")) or tools.find_tools() is not None


def _where(span: Span | None) -> str:
    return f"{span.file}:{span.line}:{span.column}: " if span is not None else ""
