"""A module of LLVM IR: it enters behind the front end."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from ..diagnostics import CompileError, Diagnostic, InternalError, Note, Severity, Span, TooManyErrors
from .module import Module
from .shared import collector, library, machine, spirv_library, tuning

if TYPE_CHECKING:
    from ..frontend import syntax
    from ..frontend.preprocess import TokenStream
    from ..ir import LoweredModule
    from ..ir.dialects import Module as IrText
    from ..ir.kernel_info import KernelInfo

T = TypeVar("T")
# Of what the lowering of SPIR-V refuses: the diagnostics' codes here.
_CODES = {"spirv-operation": "ir-operation"}


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
        from ..ir import dialects

        self._findings.check_options()
        text = self._text()
        with collector:
            read = self._timed("read", lambda: self._guarded(lambda: dialects.read_module(self._reprinted(text))))
            self._check_module(read)
            self._canonical = self._timed("read", lambda: self._reprinted(str(read)))
            self._read = read

    @property
    def _flat_ir(self) -> str:
        """Matrix types are vectors in IR already: they stay as they were read."""
        return self._canonical

    def _lower(self, flat_matrices: bool = False) -> LoweredModule:
        from ..ir import LowerOptions
        from ..ir.dialects import reread
        from ..ir.dialects.link import link

        text, options = self._canonical, self.options
        wanted = LowerOptions(
            matrices=options.matrices,
            spirv_version=options.spirv_version,
            sub_group_size=options.sub_group_size,
            opt_disable=options.level == 0,
            contract_matrices=options.fp_contract == "matrix",
            machine=machine(options),
            tuning=tuning(options),
        )

        def run() -> LoweredModule:
            return self._guarded(lambda: link(reread(text, self._read), wanted, library))

        with collector:
            return self._timed("lower", run)

    def _described(self) -> tuple[KernelInfo, ...]:
        self._emitted  # noqa: B018
        return self._kernels

    def _check_module(self, read: IrText) -> None:
        """As `_check_target`, of matrices in IR."""
        from ..ir.dialects.target_check import check, check_strides

        supported, rules = self._supported(), self._memory_rules()
        device = self.options.device or "the device"
        with suppress(TooManyErrors):
            if supported is not None:
                check(read, supported, device, self._tell)
            if rules is not None:
                check_strides(read, rules, device, self._tell)
        self._findings.raise_if_errors()

    def _tell(self, code: str, text: tuple[str, list[Note]], line: str) -> None:
        self._findings.error(code, text[0], self._place(line), notes=text[1])

    def _place(self, line: str) -> Span | None:
        from ..ir.dialects import places

        return places.find(self.sources.files.get(self.name, ""), self.name, line)

    def _emit(self) -> bytes:
        from ..ir.dialects.kernels import spellings
        from ..spirv.lowering import kernels_of, read

        try:
            emitted = super()._emit()
        except InternalError as error:
            self._refuse_widths()
            raise self._not_emitted(error) from error
        types = spellings(self._read)
        if self.matrices != "native":
            return self._without_matrices(emitted, types)
        self._kernels = kernels_of(read(emitted), types)
        return emitted

    def _without_matrices(self, emitted: bytes, types: dict[str, list[str]]) -> bytes:
        from ..matrices.lowering import check_count
        from ..spirv.lowering import Refused, complete, prepare

        size, known = self.options.sub_group_size, tuning(self.options)

        def run() -> bytes:
            prepared = prepare(emitted, self.matrices, size, known, types, without_bfloat16=True)
            check_count(sum(map(len, prepared.instances.values())))
            for code, message, kernel in prepared.notes:
                self._findings.warning(code, message, self._head(kernel))
            self._findings.raise_if_errors()
            self._kernels = prepared.kernels
            return complete(prepared, spirv_library())

        try:
            with collector:
                return self._timed("lower matrices", run)
        except Refused as error:
            code = _CODES.get(error.code, "ir-not-supported")
            span = self._of_instruction(error.function, error.message) or self._head(error.function)
            raise self._refused(code, error.message, span) from error

    def _head(self, function: str) -> Span | None:
        return self._place(f'define @"{function}"(') if function else None

    def _of_instruction(self, function: str, message: str) -> Span | None:
        """The place of the first call in a function that may be of the instruction that a message begins with."""
        word = message.partition(" ")[0].partition(":")[0].removeprefix("Op")
        words = (word, "sub_group") if "roup" in word else (word,)
        for item in next((f.instructions() for f in self._read.functions if f.name == function), ()):
            if "call" in item.text and any(word in item.text for word in words):
                return self._place(item.source)
        return None

    def _refuse_widths(self) -> None:
        """Raises CompileError at the first instruction on integers of a width that SPIR-V lacks, if there is one."""
        from ..spirv.llvm_text import illegal_types

        for function in self._read.functions:
            for item in function.instructions():
                odd = [kind for kind in illegal_types(item.text) if kind.startswith("i")]
                if odd:
                    message = (
                        f"'{item.opcode}' of {odd[0]} is not supported: SPIR-V has integers of 8, 16, 32 and 64 bits"
                    )
                    raise self._refused("ir-not-supported", message, self._place(item.source))

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
        from ..ir.dialects import places

        text = self.sources.line(self.name, number)
        return None if text is None else places.of_line(self.name, number, text)

    def _reprinted(self, text: str) -> str:
        from ..ir import dialects
        from ..ir.dialects import places
        from ..spirv.emit import RefusedIR, reprint

        given = text == self.sources.files.get(self.name)
        try:
            return reprint(dialects.modern(text) if given else text)
        except RefusedIR as error:
            if not given:
                raise InternalError("the IR that was read is not IR any more", error.message) from error
            span = places.find(text, self.name, error.context)
            if error.line:
                span = Span(self.name, error.line, error.column, error.line, error.column + 1)
            raise self._refused("ir-syntax", f"LLVM refuses this: {error.message}", span) from error

    def _guarded(self, run: Callable[[], T]) -> T:
        from ..ir.dialects import Malformed

        try:
            return run()
        except Malformed as error:
            raise self._refused(error.code, error.message, self._place(error.line)) from error

    def _blaming(self, run: Callable[[], T]) -> T:
        """What goes wrong behind is in what we were given."""
        try:
            return run()
        except InternalError as error:
            raise self._not_emitted(error) from error

    def _not_emitted(self, error: InternalError) -> CompileError:
        notes = (Note(error.details),) if error.details else ()
        return self._refused("ir-not-supported", f"{self.name}: {error.message}", notes=notes)

    def _refused(self, code: str, message: str, span: Span | None = None, notes: tuple[Note, ...] = ()) -> CompileError:
        self._findings.add(Diagnostic(Severity.ERROR, code, message, span, notes=notes))
        return CompileError(self._findings.in_order(), self.sources)
