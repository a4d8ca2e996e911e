"""A module of SPIR-V from any front end: it goes through as it is, or has its matrices lowered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from .. import budgets
from ..diagnostics import CompileError, Diagnostic, InternalError, Note, Severity, TooManyErrors
from .module import Module
from .shared import collector, spirv_library, tuning

if TYPE_CHECKING:
    from ..frontend import syntax
    from ..frontend.preprocess import TokenStream
    from ..ir import LoweredModule
    from ..ir.kernel_info import KernelInfo
    from ..matrices.lowering import Instance, Target
    from ..spirv.lowering import Prepared
    from ..spirv.module import Module as BinaryModule

T = TypeVar("T")
# What a module that nobody validated may lead to: ids without a definition, missing operands, types in circles.
_BROKEN = (LookupError, ValueError, TypeError, OverflowError, RecursionError, AssertionError)


class SpirvModule(Module):
    """The source is a binary, or assembly text. It has no tokens, no tree and no LLVM IR.

    It is validated first, unless that is turned off; what spirv-val, or the lowering, does not take in it is a
    CompileError. Native matrices stay as they are, but for what their consumer needs in other words. The version stays
    the module's own, or becomes 1.2 where the library needs that.
    """

    _prepared: Prepared | None = None

    @property
    def _input_is_validated(self) -> bool:
        """Whoever made it is not known here: it is, unless that is turned off."""
        return self.options.validate is not False

    def _fields(self) -> dict[str, Any]:
        # What is still to be linked is no data: a pickled module is complete.
        self._emitted  # noqa: B018
        return {**super()._fields(), "_prepared": None}

    def _no_stage(self, what: str) -> CompileError:
        return self._refused("no-such-stage", f"{self.name} is SPIR-V, which {what}")

    @property
    def _tokens(self) -> TokenStream:
        raise self._no_stage("is not preprocessed")

    @property
    def _tree(self) -> syntax.TranslationUnit:
        raise self._no_stage("has no syntax tree")

    unit = _tree  # type: ignore[assignment]

    def _lower(self, flat_matrices: bool = False) -> LoweredModule:
        raise self._no_stage("is not made of LLVM IR here")

    @property
    def kernels(self) -> dict[str, KernelInfo]:
        return {kernel.name: kernel for kernel in self._kernels}

    def check(self) -> None:
        """Reads and validates the module, and lowers it. Raises CompileError, ToolsMissing."""
        self._bounded(self._check)

    def _check(self) -> None:
        from ..matrices.lowering import check_count
        from ..spirv.lowering import check_types, kernels_of, prepare, read

        self._findings.check_options()
        self._binary = self._timed("read", self._read)
        if len(self._binary) > budgets.limit("source-bytes"):
            raise budgets.Exceeded("source-bytes", self.name)
        module = self._guarded(lambda: read(self._binary))
        # spirv-val goes through all members of all types, too.
        self._guarded(lambda: check_types(module))
        if self._input_is_validated:
            self._timed("validate input", self._validate_input)
        with collector:
            if self.matrices == "native":
                self._kernels = self._guarded(lambda: kernels_of(module))
                # What goes through as it is was validated on its way in.
                self.validated = self._input_is_validated and self._emitted == self._binary
                self._guarded(lambda: self._lint(read(self._emitted)))
                self._guarded(lambda: self._check_device(module))
                return
            size, known = self.options.sub_group_size, tuning(self.options)

            def run() -> Prepared:
                return self._guarded(lambda: prepare(self._binary, self.matrices, size, known))

            prepared = self._timed("lower", run)
        check_count(sum(map(len, prepared.instances.values())))
        self._prepared, self._kernels = prepared, prepared.kernels
        for code, message, _ in prepared.notes:
            self._findings.warning(code, message)
        self._findings.raise_if_errors()

    def _lint(self, module: BinaryModule) -> None:
        """Valid modules may still do to matrices what devices refuse, or take in ways of their own."""
        from ..spirv.matrix_lint import lint

        try:
            lint(module)
        except InternalError as error:
            self._findings.warning("spirv-matrices", error.message)
            self._findings.raise_if_errors()

    def _check_device(self, module: BinaryModule) -> None:
        """Raises CompileError where it is known that the device lacks something that is native in the module."""
        from ..spirv.lowering.target_check import check, check_strides

        supported, rules = self._supported(), self._memory_rules()
        device = self.options.device or "the device"
        with suppress(TooManyErrors):
            if supported is not None:
                check(module, supported, device, self._tell)
            if rules is not None:
                check_strides(module, rules, device, self._tell)
        self._findings.raise_if_errors()

    def _tell(self, code: str, message: str, notes: list[Note]) -> None:
        self._findings.error(code, message, notes=notes)

    def _read(self) -> bytes:
        from ..spirv.tools import ToolError, assemble

        if isinstance(self._source, bytes) and not self._source.lstrip().startswith((b";", b"Op", b"%")):
            return self._source
        text = self._source if isinstance(self._source, str) else self._source.decode(errors="replace")
        self.sources.add(self.name, text)
        try:
            return assemble(text, self.options.target_env or f"spv{self.options.spirv_version}")
        except ToolError as error:
            message = f"{self.name} is not the text of SPIR-V {self.options.spirv_version}"
            raise self._refused("spirv-invalid", message, (Note(str(error)),)) from error

    def _messages(self, binary: bytes) -> list[str] | None:
        from ..spirv.native import standard
        from ..spirv.tools import validate

        binary = standard(binary)
        version = int.from_bytes(binary[4:8], "little" if binary[:1] == b"\x03" else "big")
        return validate(binary, self.options.target_env or f"spv{version >> 16}.{version >> 8 & 255}")

    def _validate_input(self) -> None:
        messages = self._messages(self._binary)
        if messages is not None:
            raise self._refused("spirv-invalid", f"{self.name} is not valid SPIR-V", tuple(map(Note, messages)))

    def _validate(self, binary: bytes) -> None:
        messages = self._messages(binary)
        if messages is not None:
            raise InternalError(f"the SPIR-V that {self.name} was lowered to is not valid", "\n".join(messages))
        self.validated = True

    def _emit(self) -> bytes:
        from ..spirv.lowering import complete

        prepared = self._prepared
        if prepared is None:
            with collector:
                return self._guarded(lambda: self._adapted(self._binary))
        with collector:
            return self._timed("link", lambda: self._guarded(lambda: complete(prepared, spirv_library())))

    def _guarded(self, run: Callable[[], T]) -> T:
        from ..spirv.lowering import Refused
        from ..spirv.module import MalformedModule

        try:
            return run()
        except Refused as error:
            raise self._refused(error.code, error.message) from error
        except MalformedModule as error:
            raise self._refused("spirv-invalid", f"{self.name} is not SPIR-V: {error}") from error
        except _BROKEN as error:
            if self._input_is_validated:
                raise
            message = f"{self.name} is not valid SPIR-V, and was not to be validated ({type(error).__name__}: {error})"
            raise self._refused("spirv-invalid", message) from error

    def _refused(self, code: str, message: str, notes: tuple[Note, ...] = ()) -> CompileError:
        self._findings.add(Diagnostic(Severity.ERROR, code, message, notes=notes))
        return CompileError(self._findings.in_order(), self.sources)


def complete_together(modules: Iterable[Module]) -> None:
    """Compiles at once what these modules of SPIR-V need of the matrix library; one by one, it takes much longer."""
    needed: dict[Target, dict[str, Instance]] = {}
    for module in modules:
        if isinstance(module, SpirvModule) and module._prepared is not None:
            for target, instances in module._prepared.instances.items():
                needed.setdefault(target, {}).update(instances)
    for target, found in needed.items():
        with collector:
            spirv_library().need(target, found.values())
