"""The errors of programs on a device, as exceptions of this package that are pyopencl's too."""

from __future__ import annotations

from typing import Any

import pyopencl as cl

from coopmat.diagnostics import CompileError, render_text

from .program import BuildError

_cl = cl._cl


class _Told:
    """An error whose text stands in `_text`, and in a record of pyopencl's."""

    _text: str

    def __str__(self) -> str:
        return self._text


class ProgramCompileError(_Told, CompileError, cl.RuntimeError):  # type: ignore[misc]
    """A CompileError that is a failed build of pyopencl's too: `code` is BUILD_PROGRAM_FAILURE."""

    def __init__(self, error: CompileError) -> None:
        CompileError.__init__(self, error.diagnostics, error.sources)
        self._text = str(error)
        self.args = (record(self._text),)

    def __reduce__(self) -> Any:
        return CompileError, (self.diagnostics, self.sources)


class ProgramBuildError(_Told, BuildError, cl.RuntimeError):  # type: ignore[misc]
    """A BuildError that is a failed build of pyopencl's too; its text says what the log tells of the source."""

    def __init__(self, *fields: Any) -> None:
        BuildError.__init__(self, *fields)
        text = render_text(self.diagnostics, self.sources) if self.diagnostics else ""
        self._text = BaseException.__str__(self) + (f"\n{text}" if text else "")
        self.args = (record(self._text),)


class ArgumentError(_Told, cl.LogicError, TypeError):  # type: ignore[misc]
    """A call whose arguments do not fit the kernel; str() names the kernel, the argument, what it needs and got."""

    def __init__(self, message: str) -> None:
        super().__init__(record(message, cl.status_code.INVALID_ARG_VALUE, "clSetKernelArg"))
        self._text = message

    def __reduce__(self) -> Any:
        return type(self), (self._text,)


class LaunchError(_Told, CompileError, cl.LogicError):  # type: ignore[misc]
    """Sizes that a kernel cannot be launched with, such as ones that make partial subgroups; str() names them."""

    def __init__(self, error: CompileError) -> None:
        CompileError.__init__(self, error.diagnostics, error.sources)
        self._text = str(error)
        self.args = (record(self._text, cl.status_code.INVALID_WORK_GROUP_SIZE, "clEnqueueNDRangeKernel"),)

    def __reduce__(self) -> Any:
        return type(self), (CompileError(self.diagnostics, self.sources),)


def record(text: str, code: int | None = None, routine: str = "clBuildProgram") -> Any:
    """Return the record from which pyopencl's errors are constructed."""
    code = cl.status_code.BUILD_PROGRAM_FAILURE if code is None else code
    return _cl._ErrorRecord(msg=text, code=code, routine=routine)
