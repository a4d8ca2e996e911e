"""The stages of LLVM IR in any dialect: the text is read, takes the place of the front end's result, and is emitted.

Whatever LLVM, a dialect or a later stage refuses is a CompileError with a place in the text, since the text is the
user's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from ..diagnostics import CompileError, InternalError, Note, Span
from . import from_source
from .from_source import collector, library, spirv_library, tuning
from .stages import READ_IR

if TYPE_CHECKING:
    from ..foreign.llvm_ir import Module as IrText
    from ..ir import LoweredModule
    from ..ir.kernel_info import KernelInfo
    from .compilation import Compilation

T = TypeVar("T")
_POINTERS = re.compile(r"<\d+ x ptr\b")
# code of a diagnostic of the SPIR-V lowering -> the code that is reported for LLVM IR
_CODES = {"spirv-operation": "ir-operation"}


@dataclass(frozen=True, slots=True)
class Read:
    """A module that was read: `text`, its canonical form as LLVM prints it, and `module`, the parsed form."""

    text: str
    module: IrText


@dataclass(frozen=True, slots=True)
class Emission:
    spirv: bytes
    kernels: tuple[KernelInfo, ...]


def read(c: Compilation) -> Read:
    from ..foreign import llvm_ir as dialects

    c.findings.check_options()
    c.require_opencl()
    text = _source_text(c)
    with collector:
        module = c.timed("read", lambda: _guarded(c, lambda: dialects.read_module(_reprinted(c, text))))
        c.check_device(dialects.find_requirements(module), partial(_place, c))
        return Read(c.timed("read", lambda: _reprinted(c, str(module))), module)


def lower(c: Compilation) -> LoweredModule:
    from ..foreign.llvm_ir import link_library, reread

    entry = c.result(READ_IR)
    # The text already states fast-math flags, alignments and memory operands.
    options = replace(from_source.lower_options(c), float_flags=(), align_frames=False, memory_rules=None)
    with collector:
        return c.timed(
            "lower", lambda: _guarded(c, lambda: link_library(reread(entry.text, entry.module), options, library))
        )


def emit(c: Compilation) -> Emission:
    from ..foreign.llvm_ir import spellings
    from ..foreign.spirv import kernels_of, read

    module = c.result(READ_IR).module
    try:
        spirv = from_source.emit(c)
    except InternalError as error:
        _refuse_widths(c, module)
        raise _not_emitted(c, error) from error
    types = spellings(module)
    if c.matrices != "native":
        return _without_matrices(c, spirv, types)
    return Emission(spirv, kernels_of(read(spirv), types))


def _without_matrices(c: Compilation, emitted: bytes, types: dict[str, list[str]]) -> Emission:
    from ..foreign.spirv import Refused, complete, prepare
    from ..matrices.lowering import check_count

    def run() -> Emission:
        size = c.options.sub_group_size
        prepared = prepare(emitted, c.matrices, size, tuning(c.options), types, without_small_floats=True)
        check_count(sum(map(len, prepared.library_functions.values())))
        for code, message, kernel in prepared.notes:
            c.findings.warning(code, message, _head(c, kernel))
        c.findings.raise_if_errors()
        return Emission(complete(prepared, spirv_library()), prepared.kernels)

    try:
        with collector:
            return c.timed("lower matrices", run)
    except Refused as error:
        span = _of_instruction(c, error.function, error.message) or _head(c, error.function)
        raise c.refused(_CODES.get(error.code, "ir-not-supported"), error.message, span) from error


def validate(c: Compilation, binary: bytes) -> None:
    """Validate the binary; an error counts as the input's, since the user wrote the IR."""
    try:
        from_source.validate(c, binary)
    except InternalError as error:
        raise _not_emitted(c, error) from error


# --- text --------------------------------------------------------------------------------------------


def _source_text(c: Compilation) -> str:
    from ..foreign.llvm_ir import span_of_line

    try:
        text = c.source if isinstance(c.source, str) else c.source.decode()
        text.encode()
    except UnicodeError:
        raise c.refused("ir-syntax", f"{c.name} is not text in UTF-8") from None
    c.sources.add(c.name, text)
    if "\0" in text:
        number = text[: text.index("\0")].count("\n") + 1
        line = c.sources.line(c.name, number)
        span = None if line is None else span_of_line(c.name, number, line)
        raise c.refused("ir-syntax", "the text has a null character", span)
    return text


def _reprinted(c: Compilation, text: str) -> str:
    from ..foreign import llvm_ir as dialects
    from ..foreign.llvm_ir import find_place
    from ..spirv.emit import RefusedIR, reprint

    is_source = text == c.sources.files.get(c.name)
    try:
        return reprint(dialects.modern(text) if is_source else text)
    except RefusedIR as error:
        if not is_source:
            raise InternalError("the canonical form of the IR is not valid", error.message) from error
        span = find_place(text, c.name, error.context)
        if error.line:
            span = Span(c.name, error.line, error.column, error.line, error.column + 1)
        raise c.refused("ir-syntax", f"LLVM refuses this: {error.message}", span) from error


# --- errors and their places ---------------------------------------------------------------------------


def _guarded(c: Compilation, run: Callable[[], T]) -> T:
    from ..foreign.llvm_ir import Malformed

    try:
        return run()
    except Malformed as error:
        raise c.refused(error.code, error.message, _place(c, error.line)) from error


def _not_emitted(c: Compilation, error: InternalError) -> CompileError:
    notes = (Note(error.details),) if error.details else ()
    return c.refused("ir-not-supported", f"{c.name}: {error.message}", notes=notes)


def _refuse_widths(c: Compilation, module: IrText) -> None:
    """Raise CompileError at the first instruction or function whose types SPIR-V lacks; return if there is none.

    Such types are integers of widths other than 8, 16, 32 and 64 bits, and vectors of pointers in memory.
    """
    from ..spirv.llvm_text import illegal_types

    for function in module.functions:
        kind = next((kind for kind in illegal_types(str(function.head)) if kind.startswith("i")), None)
        if kind is not None:
            message = f"'{function.name}' has {kind}: SPIR-V has integers of 8, 16, 32 and 64 bits"
            span = _head(c, function.name)
            line = c.sources.line(c.name, span.line) or "" if span else ""
            if span and kind in line:
                column = line.index(kind) + 1
                span = Span(c.name, span.line, column, span.line, column + len(kind))
            raise c.refused("ir-not-supported", message, span)
        for item in function.instructions():
            if item.opcode in ("load", "store") and _POINTERS.search(item.text):
                message = f"'{item.opcode}' of a vector of pointers is not supported"
                raise c.refused("ir-not-supported", message, _place(c, item.source))
            odd = [kind for kind in illegal_types(item.text) if kind.startswith("i")]
            if odd:
                message = f"'{item.opcode}' of {odd[0]} is not supported: SPIR-V has integers of 8, 16, 32 and 64 bits"
                raise c.refused("ir-not-supported", message, _place(c, item.source))


def _place(c: Compilation, line: str) -> Span | None:
    from ..foreign.llvm_ir import find_place

    return find_place(c.sources.files.get(c.name, ""), c.name, line)


def _head(c: Compilation, function: str) -> Span | None:
    return _place(c, f'define @"{function}"(') if function else None


def _of_instruction(c: Compilation, function: str, message: str) -> Span | None:
    """Return the place of the first call in a function that may be the instruction that begins a message, or None."""
    word = message.partition(" ")[0].partition(":")[0].removeprefix("Op")
    words = (word, "sub_group") if "roup" in word else (word,)
    for item in next((f.instructions() for f in c.result(READ_IR).module.functions if f.name == function), ()):
        if "call" in item.text and any(word in item.text for word in words):
            return _place(c, item.source)
    return None
