"""The stages of SPIR-V from any front end, binary or assembly text: it stays native, or its matrices are lowered.

The input is validated first, unless the options turn this off. If spirv-val or the lowering refuses it, the error is a
CompileError. Native matrices are changed only into forms that the module's consumer requires. The module keeps its
SPIR-V version, unless the library requires 1.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from .. import budgets
from ..diagnostics import InternalError, Note
from . import from_source
from .from_source import collector, spirv_library, tuning
from .stages import READ_SPIRV

if TYPE_CHECKING:
    from ..foreign.spirv import Prepared
    from ..ir.kernel_info import KernelInfo
    from ..matrices.lowering import LibraryFunction, Target
    from ..spirv.module import Module
    from .compilation import Compilation

T = TypeVar("T")
# The errors that an unvalidated, invalid module may cause: undefined ids, missing operands, cyclic types.
_BROKEN = (LookupError, ValueError, TypeError, OverflowError, RecursionError, AssertionError)


@dataclass(frozen=True, slots=True)
class Read:
    """A module that was read: `native`, in the form that its consumer accepts, or `prepared` for the library."""

    kernels: tuple[KernelInfo, ...]
    native: bytes = b""
    prepared: Prepared | None = None


def read(c: Compilation) -> Read:
    """Read, validate and lower the module under the budgets. Raises CompileError, ToolsMissing."""
    return c.with_budgets(lambda: _read(c))


def _read(c: Compilation) -> Read:
    from ..foreign.spirv import check_types, read

    c.findings.check_options()
    c.require_opencl()
    binary = c.timed("read", lambda: _binary(c))
    if len(binary) > budgets.limit("source-bytes"):
        raise budgets.Exceeded("source-bytes", c.name)
    module = _guarded(c, lambda: read(binary))
    # Before spirv-val, which would also traverse all members of all types.
    _guarded(c, lambda: check_types(module))
    if _input_is_validated(c):
        c.timed("validate input", lambda: _validate_input(c, binary))
    with collector:
        return _guarded(c, lambda: _native(c, binary, module)) if c.matrices == "native" else _prepared(c, binary)


def _native(c: Compilation, binary: bytes, module: Module) -> Read:
    """Return a native module for its consumer. Raises CompileError if the device lacks something that it uses."""
    from ..foreign.spirv import find_requirements, kernels_of, read
    from ..spirv.checks import lint

    result = Read(kernels_of(module), from_source.legalize_native(c, binary))
    # A module that the consumer's passes leave unchanged was validated as the input.
    c.validated = _input_is_validated(c) and result.native == binary
    try:
        lint(read(result.native))
    except InternalError as error:
        # A valid module may use matrices in ways that devices refuse or interpret differently.
        c.warn("spirv-matrices", error.message)
    c.check_device(find_requirements(module))
    return result


def _prepared(c: Compilation, binary: bytes) -> Read:
    from ..foreign.spirv import prepare
    from ..matrices.lowering import check_count

    size, device_tuning = c.options.sub_group_size, tuning(c.options)
    prepared = c.timed("lower", lambda: _guarded(c, lambda: prepare(binary, c.matrices, size, device_tuning)))
    check_count(sum(map(len, prepared.library_functions.values())))
    for code, message, _ in prepared.notes:
        c.findings.warning(code, message)
    c.findings.raise_if_errors()
    return Read(prepared.kernels, prepared=prepared)


def emit(c: Compilation) -> bytes:
    from ..foreign.spirv import complete

    entry = c.result(READ_SPIRV)
    prepared = entry.prepared
    if prepared is None:
        return entry.native
    with collector:
        return c.timed("link", lambda: _guarded(c, lambda: complete(prepared, spirv_library())))


def link_together(compilations: Iterable[Compilation]) -> None:
    """Compile the library functions that these modules need in one go, which is much faster than one by one."""
    needed: dict[Target, dict[str, LibraryFunction]] = {}
    for c in compilations:
        if c.language == "spv" and (prepared := c.result(READ_SPIRV).prepared) is not None:
            for target, functions in prepared.library_functions.items():
                needed.setdefault(target, {}).update(functions)
    for target, by_name in needed.items():
        with collector:
            spirv_library().need(target, by_name.values())


def validate(c: Compilation, binary: bytes) -> None:
    messages = _messages(c, binary)
    if messages is not None:
        raise InternalError(f"the SPIR-V that {c.name} was lowered to is not valid", "\n".join(messages))


# --- the input ---------------------------------------------------------------------------------------


def _input_is_validated(c: Compilation) -> bool:
    """Return whether the input is validated; by default it is, since its origin is unknown."""
    return c.options.validate is not False


def _binary(c: Compilation) -> bytes:
    from ..spirv.tools import ToolError, assemble

    if isinstance(c.source, bytes) and not c.source.lstrip().startswith((b";", b"Op", b"%")):
        return c.source
    text = c.source if isinstance(c.source, str) else c.source.decode(errors="replace")
    c.sources.add(c.name, text)
    try:
        return assemble(text, c.options.target_env or f"spv{c.options.spirv_version}")
    except ToolError as error:
        message = f"{c.name} is not the text of SPIR-V {c.options.spirv_version}"
        raise c.refused("spirv-invalid", message, notes=(Note(str(error)),)) from error


def _messages(c: Compilation, binary: bytes) -> list[str] | None:
    from ..foreign.consumers import standard
    from ..spirv.tools import validate

    binary = standard(binary)
    version = int.from_bytes(binary[4:8], "little" if binary[:1] == b"\x03" else "big")
    return validate(binary, c.options.target_env or f"spv{version >> 16}.{version >> 8 & 255}")


def _validate_input(c: Compilation, binary: bytes) -> None:
    messages = _messages(c, binary)
    if messages is not None:
        raise c.refused("spirv-invalid", f"{c.name} is not valid SPIR-V", notes=tuple(map(Note, messages)))


def _guarded(c: Compilation, run: Callable[[], T]) -> T:
    from ..foreign.spirv import Refused
    from ..spirv.module import MalformedModule

    try:
        return run()
    except Refused as error:
        raise c.refused(error.code, error.message) from error
    except MalformedModule as error:
        raise c.refused("spirv-invalid", f"{c.name} is not SPIR-V: {error}") from error
    except _BROKEN as error:
        if _input_is_validated(c):
            raise
        message = f"{c.name} is not valid SPIR-V, and validation is turned off ({type(error).__name__}: {error})"
        raise c.refused("spirv-invalid", message) from error
